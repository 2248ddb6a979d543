/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/nettys.h - the copies of Netty that were seen: for each, by its prefix ("io.netty",
 * or that of a relocated copy), whether its ByteBuf has the hidden field, and if not, why; and
 * whether Netty's hooks are idle because no class that include= names is there yet (docs/adr/0029).
 *
 * Threads: any. A short lock unless a function says otherwise.
 */
#ifndef BBF_AGENT_CLASSES_NETTYS_H
#define BBF_AGENT_CLASSES_NETTYS_H

#include <stdbool.h>
#include <stddef.h>

#include "instrument/plan.h"

/* Is the class of that internal name a ByteBuf of Netty's, by its name? *prefix: the length of
 * "io/netty/". */
bool bbf_nettys_is_bytebuf(const char *name, size_t *prefix);

/* Record a ByteBuf class; `why` is constant text, the reason why it has no field. `name` and
 * `prefix` as of bbf_nettys_is_bytebuf(). */
void bbf_nettys_remember(const char *name, size_t prefix, bool has_field, const char *why);
/* Is a ByteBuf without the field known for that Netty? Then the reason is also known. */
bool bbf_nettys_is_known_without(const char *name, size_t prefix);
/* Did every ByteBuf of that Netty get the field as it was loaded, and was there one? */
bool bbf_nettys_always_with_field(const char *name, size_t prefix);
/* Was any ByteBuf loaded with the field? */
bool bbf_nettys_have_field(void);

/* From here on a step may meet a ByteBuf without the field: the shim tests classes (design.md: hot
 * path). No lock. */
void bbf_nettys_set_fieldless(void);

/*
 * Idle: until a class loads, or is met by bbf_loaded_apply(), that is beside what include= or
 * trackConstructors= names (core/pattern.h), the hooks in Netty do nothing. They are awake before
 * any method of that class can run. No lock.
 */
void bbf_nettys_set_idle(void);
bool bbf_nettys_are_idle(void);
/* `unseen`: the hooks were there and idle, and what was opened meanwhile has no life. So where
 * Netty was loaded already, a first sight may be of a released buffer. */
void bbf_nettys_wake(bool unseen);
/* Wake if a class of that internal name is beside what `rules` include. */
void bbf_nettys_wake_for(const char *name, const struct bbf_rules *rules, bool unseen);

#endif
