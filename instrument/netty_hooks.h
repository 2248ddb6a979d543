/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/netty_hooks.h - private to instrument/: what is inserted into Netty's own methods, one
 * function for each kind of hook.
 *
 * Threads: any, no state.
 */
#ifndef BBF_INSTRUMENT_NETTY_HOOKS_H
#define BBF_INSTRUMENT_NETTY_HOOKS_H

#include "classfile/classfile.h"
#include "instrument/class_plan.h"
#include "instrument/netty.h"

/* Plan one of Netty's own methods by its row `hook`. `m` is borrowed for the call. */
void bbf__plan_netty(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                     const struct bbf_netty_hook *hook, struct bbf_cf_plan *plan);

/* Plan a method of the counting class of a Netty before 4.1.35, beside bbf__plan_netty(). */
void bbf__plan_old_release(const struct bbf_cf_method *m, struct bbf_cf_plan *plan);

#endif
