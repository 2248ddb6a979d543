/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/carriers.h - the names of carriers: types of frameworks and applications that have a
 * buffer in a field (docs/adr/0043). A table of what the known frameworks have, of what carriers=
 * gives, and of what was learned as classes loaded. It knows no JVM.
 *
 * A name says only where a hook is worth its while. The class of each object decides whether and
 * where it is looked into, so a name that two class loaders share costs time, never truth.
 *
 * Threads: any. Look-ups take no lock; a name that was added is never removed.
 */
#ifndef BBF_INSTRUMENT_CARRIERS_H
#define BBF_INSTRUMENT_CARRIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/classfile.h"

enum { BBF_MOST_CARRIERS = 4096 };

enum bbf_carrier {
    BBF_CARRIER_NONE,
    BBF_CARRIER_TYPE, /* a super class or interface of a carrier: a declared type may be it */
    BBF_CARRIER_CLASS /* it has the field, or inherits it */
};

struct bbf_carriers;

/* With the known frameworks' names and the classes of `given` (core/track.h, NULL: none). NULL: no
 * memory. The caller frees it when no thread reads it any more. */
struct bbf_carriers *bbf_carriers_new(const char *given);
void bbf_carriers_free(struct bbf_carriers *carriers);
size_t bbf_carriers_bytes(const struct bbf_carriers *carriers);

/* Add the classes of another list of carriers=. */
void bbf_carriers_give(struct bbf_carriers *carriers, const char *given);
/* Add a name (internal, copied), or make a TYPE a CLASS. False: it was that already, or there is no
 * room, which is counted. */
bool bbf_carriers_add(struct bbf_carriers *carriers, const char *name, size_t len,
                      enum bbf_carrier what);

/* NULL has no names. */
enum bbf_carrier bbf_carriers_find(const struct bbf_carriers *carriers, const char *name,
                                   size_t len);
/* Does this constant of a class, a name, a descriptor or a generic signature, contain the name of a
 * type that was added after `since`? 0: any. */
bool bbf_carriers_mentioned(const struct bbf_carriers *carriers, const char *utf8, size_t len,
                            uint64_t since);

/* Can a class with this constant be a carrier: by the type of a field or its super class, by names
 * that were added after `since`? 0: by any, also Netty's. */
bool bbf_carriers_may(const struct bbf_carriers *carriers, const char *utf8, size_t len,
                      uint64_t since);

/* How often something was added; names that were learned; names that had no room. */
uint64_t bbf_carriers_version(const struct bbf_carriers *carriers);
size_t bbf_carriers_learned(const struct bbf_carriers *carriers);
size_t bbf_carriers_refused(const struct bbf_carriers *carriers);

/* The field of that class that is looked into whatever its type, as the known frameworks' table and
 * the list `given` have it; NULL after the last. i: 0 … . *len characters, borrowed. */
const char *bbf_carriers_field(const char *given, const char *class_name, unsigned i, size_t *len);

/* May an instance field of this descriptor, in a class of that name, lead to a buffer? A link to
 * another object of the same class does not. */
bool bbf_carriers_leads(const struct bbf_carriers *carriers, struct bbf_cf_str class_name,
                        struct bbf_cf_str descriptor);

/* Learn what the head and the fields of a class file say. False: nothing new. A class of the JDK or
 * of a language's library is no carrier; of a class of Netty only the name is learned, if it
 * extends a holder. */
bool bbf_carriers_learn(struct bbf_carriers *carriers, const char *name, const uint8_t *bytes,
                        size_t len);
/* Is a class that extends this one a carrier, whatever its fields? */
bool bbf_carriers_inherits(const struct bbf_carriers *carriers, const char *super, size_t len);
/* Learn the name of a carrier; of a super class or interface of one, unless it is a library's. */
bool bbf_carriers_learn_class(struct bbf_carriers *carriers, const char *name, size_t len);
bool bbf_carriers_learn_type(struct bbf_carriers *carriers, const char *name, size_t len);

#endif
