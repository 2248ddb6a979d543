/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/context.h - private to instrument/: the calls of context=on. A step also says where it
 * was seen; touch() and what a pipeline does with an exception have calls of their own.
 *
 * Threads: any; no state.
 */
#ifndef BBF_INSTRUMENT_CONTEXT_H
#define BBF_INSTRUMENT_CONTEXT_H

#include "instrument/insert.h"

/* Is it a class of Netty that has such hooks? */
bool bbf__plan_is_of_context(const char *name, size_t len);

/* Which of Netty's own classes it is; after the other facts of the class. */
void bbf__plan_context_class(struct bbf_plan_class *c, const char *name, size_t len);

/* The slot of the method's first parameter that has or is a channel and keeps its value;
 * BBF_PLAN_NO_SLOT: there is none. */
uint16_t bbf__plan_channel_slot(const struct bbf_cf_method *m);

/* The step of a buffer, pushed by `what` and `value`. `exact`: its type is ByteBuf. */
struct bbf_cf_call bbf__plan_sight(const struct bbf_plan_class *c, enum bbf_cf_push what,
                                   uint32_t value, bool exact, uint32_t site);

/* A call where each handler of exceptions begins. */
void bbf__plan_caught(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                      struct bbf_cf_plan *plan);

/* The hooks of Netty's own methods. */
void bbf__plan_context(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                       struct bbf_cf_plan *plan);

#endif
