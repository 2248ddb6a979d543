/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/schema.h - the types of a recording as constant tables, and the metadata event made of them.
 *
 * A writer's types are the common ones (primitives, Class, Thread, StackTrace, the annotations of
 * jdk.jfr) and then its own, numbered from BBF_JFR_FIRST_ID in that order. The first id is far
 * above those that JVMs give out (2,200 seen), so that joined files do not mix up types.
 *
 * Threads: constants. Text: UTF-8, constant.
 */
#ifndef BBF_JFR_SCHEMA_H
#define BBF_JFR_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum {
    BBF_JFR_FIRST_ID = 1000000,
    BBF_JFR_METADATA_ID = 0x7FFFBBF, /* unlikely to be another producer's */
    BBF_JFR_NOTES = 5,
    BBF_JFR_FIELDS = 20
};

/* An annotation: the type's name without "jdk.jfr." where it is one of these; `value` NULL for a
 * marker, "a|b" for two values. */
struct bbf_jfr_note {
    const char *name, *value;
};

enum { BBF_JFR_IS_POOLED = 1, BBF_JFR_IS_ARRAY = 2 };

struct bbf_jfr_field_decl {
    const char *name, *type; /* NULL: end of the list */
    unsigned flags;
    struct bbf_jfr_note notes[BBF_JFR_NOTES]; /* ends at a NULL name */
};

struct bbf_jfr_type_decl {
    const char *name, *super; /* super: NULL, or a type that every JVM has */
    bool is_simple;           /* one field, stored and shown unwrapped */
    struct bbf_jfr_note notes[BBF_JFR_NOTES];
    struct bbf_jfr_field_decl fields[BBF_JFR_FIELDS];
};

/* The common types: index of each in the table, and so its id. */
enum bbf_jfr_common {
    BBF_JFR_BOOLEAN,
    BBF_JFR_CHAR,
    BBF_JFR_FLOAT,
    BBF_JFR_DOUBLE,
    BBF_JFR_BYTE,
    BBF_JFR_SHORT,
    BBF_JFR_INT,
    BBF_JFR_LONG,
    BBF_JFR_STRING,
    BBF_JFR_SYMBOL,
    BBF_JFR_FRAME_TYPE,
    BBF_JFR_MODULE,
    BBF_JFR_PACKAGE,
    BBF_JFR_CLASS_LOADER,
    BBF_JFR_CLASS,
    BBF_JFR_THREAD_GROUP,
    BBF_JFR_THREAD,
    BBF_JFR_METHOD,
    BBF_JFR_STACK_FRAME,
    BBF_JFR_STACK_TRACE,
    BBF_JFR_ANNOTATIONS /* and from here the annotation types */
};

/* A writer's own types; the tables outlive the writer. */
struct bbf_jfr_schema {
    const struct bbf_jfr_type_decl *types;
    size_t n_types;
};

/* The id of a common type, and of a type of the schema's table. */
static inline uint32_t bbf_jfr_common_id(enum bbf_jfr_common type)
{
    return (uint32_t)BBF_JFR_FIRST_ID + (uint32_t)type;
}
uint32_t bbf_jfr_own_id(size_t index);

/* The whole metadata event. BBF_EINVAL: a field or annotation names a type that is not there, which
 * readers would refuse the whole file for; `why` (may be NULL) is that name. BBF_ENOMEM. */
int bbf_jfr_put_metadata(struct bbf_buf *out, const struct bbf_jfr_schema *schema, uint64_t ticks,
                         const char **why);

#endif
