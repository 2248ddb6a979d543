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
    const struct bbf_jfr_field *field;
    const struct bbf_jfr_type *type; /* of the value or of the list's elements, unwrapped */
    int64_t integer;                 /* INTEGER, BOOLEAN, CHARACTER */
    double real;
    struct bbf_jfr_text text; /* resolved */
    struct bbf_jfr_cursor at; /* STRUCT, LIST: its fields, its elements */
    size_t n;                 /* LIST: elements */
    uint64_t key;             /* where the value is a constant; otherwise 0 */
};

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
