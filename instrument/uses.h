/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/uses.h - private to instrument/: what a called method does with a buffer, by the names
 * of its class and of itself, where its own code is not looked at (ADR 44). Source of Netty's:
 * docs/netty-internals.md; of the others: what their documentation promises, and for unknown
 * classes what such a name means by custom.
 *
 * Threads: any; constant tables.
 */
#ifndef BBF_INSTRUMENT_USES_H
#define BBF_INSTRUMENT_USES_H

#include "classfile/classfile.h"
#include "instrument/class_plan.h"

/* Set the callbacks of bbf_cf_config for facts about parameters, of a class that gets steps;
 * ctx is a struct bbf_plan_class. `classify` has the kind of a type, also by track=. */
void bbf__plan_facts(struct bbf_cf_config *config, bbf_plan_type_of *classify);

#endif
