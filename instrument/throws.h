/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/throws.h - private to instrument/: which called methods may throw, and which make a
 * buffer, by their names (ADR 47).
 *
 * Threads: any; constant tables.
 */
#ifndef BBF_INSTRUMENT_THROWS_H
#define BBF_INSTRUMENT_THROWS_H

#include "classfile/classfile.h"

/* Set the callbacks of bbf_cf_config for exceptions. */
void bbf__plan_throws(struct bbf_cf_config *config);

#endif
