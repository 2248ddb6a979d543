/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/value.h - a field's value: simple types unwrapped, constants looked up, structs and arrays
 * left where they are until a caller walks into them.
 *
 * Threads: as the chunk's.
 */
#ifndef BBF_JFR_VALUE_H
#define BBF_JFR_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk.h"

enum { BBF_JFR_DEPTH_MAX = 64 };

enum bbf_jfr_what {
    BBF_JFR_IS_NULL,
    BBF_JFR_IS_INTEGER, /* byte, short, int, long; sign-extended, or zero-extended if unsigned */
    BBF_JFR_IS_REAL,
    BBF_JFR_IS_BOOLEAN,
    BBF_JFR_IS_CHARACTER,
    BBF_JFR_IS_TEXT,
    BBF_JFR_IS_STRUCT,
    BBF_JFR_IS_LIST
};

struct bbf_jfr_value {
    enum bbf_jfr_what what;
    bool is_inline; /* STRUCT: its fields are where it was read, and not in a pool */
    const struct bbf_jfr_field *field;
    const struct bbf_jfr_type *type; /* of the value or of the list's elements, unwrapped */
    int64_t integer;                 /* INTEGER, BOOLEAN, CHARACTER; otherwise 0 */
    union {
        double real; /* REAL */
        size_t n;    /* LIST: elements */
    };
    union {
        struct bbf_jfr_text text; /* TEXT, resolved */
        struct bbf_jfr_cursor at; /* STRUCT, LIST: its fields, its elements */
    };
    uint64_t key; /* where the value is a constant; otherwise 0 */
    /* STRUCT that is a constant: where its fields are once they are decoded. NULL: nowhere. */
    const struct bbf_jfr_value **decoded;
};

/*
 * The fields of a struct or the elements of a list, one after the other. What a constant has is
 * decoded once and remembered with the chunk (constants.h has the limit); so this is the way to
 * read all of a value. Of any other value there are no parts.
 */
struct bbf_jfr_parts {
    const struct bbf_jfr_chunk *chunk;
    const struct bbf_jfr_value *next; /* decoded; NULL: they are read from `c` */
    struct bbf_jfr_cursor c;          /* its `bad`: the bytes were cut or malformed */
    const struct bbf_jfr_field *field;
    size_t left;
    bool is_list;
    bool is_behind; /* `c` is at the value that was given last, not after it */
    struct bbf_jfr_value value;
};

void bbf_jfr_parts_begin(struct bbf_jfr_parts *parts, const struct bbf_jfr_chunk *chunk,
                         const struct bbf_jfr_value *of);
const struct bbf_jfr_value *bbf_jfr_parts_read(struct bbf_jfr_parts *parts);
/* The next one, valid until the one after it. NULL: the end, which in a list is also where an
 * element cannot be read. A struct's field that cannot be read is null, and so are those behind it.
 */
static inline const struct bbf_jfr_value *bbf_jfr_parts_next(struct bbf_jfr_parts *parts)
{
    if (parts->left == 0)
        return NULL;
    parts->left--;
    return parts->next != NULL ? parts->next++ : bbf_jfr_parts_read(parts);
}

/* Read the field's value and move behind it. False: the bytes are cut or malformed. */
bool bbf_jfr_read_value(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                        const struct bbf_jfr_field *field, struct bbf_jfr_value *to);
/* The same for the next element of a list, whose cursor moves. */
bool bbf_jfr_read_element(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_value *list,
                          struct bbf_jfr_value *to);
/* The field `name` of a struct; a value that is null if there is none, or the struct is null. */
struct bbf_jfr_value bbf_jfr_member(const struct bbf_jfr_chunk *chunk,
                                    const struct bbf_jfr_value *of, const char *name);
/* The event as a struct. */
struct bbf_jfr_value bbf_jfr_event_value(const struct bbf_jfr_event *event);

#endif
