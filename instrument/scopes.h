/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/scopes.h - private to instrument/: the calls of scopes=on, in Netty's event loops and
 * channels. Steps and roots have none of their own: the shim's slow way does what they need.
 *
 * Threads: any; no state.
 */
#ifndef BBF_INSTRUMENT_SCOPES_H
#define BBF_INSTRUMENT_SCOPES_H

#include "instrument/insert.h"

/* Is it a class of Netty that has such hooks? */
bool bbf__plan_is_of_scopes(const char *name, size_t len);

/* Which of these it is; after the other facts of the class. */
void bbf__plan_scopes_class(struct bbf_plan_class *c, const char *name, size_t len);

void bbf__plan_scopes(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                      struct bbf_cf_plan *plan);

#endif
