/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/tree.h - the tree of a metadata event, as it is stored: elements with attributes.
 *
 * Threads: one owner at a time. Text: UTF-8, NUL-terminated; it and the elements are the arena's.
 */
#ifndef BBF_JFR_TREE_H
#define BBF_JFR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "jfr/arena.h"
#include "jfr/decode.h"

/* Children are a list: a count in the file could claim more than there is. A string that the file
 * has as null is "". */
struct bbf_jfr_element {
    const char *name;
    const char **names, **values; /* attributes */
    size_t n_attributes;
    struct bbf_jfr_element *first, *next; /* child, sibling */
    uint64_t at, end;                     /* its bytes, children included: offsets in the event */
};

struct bbf_jfr_tree {
    uint64_t ticks, duration, id; /* of the event */
    struct bbf_jfr_element root;
    bool has_null; /* a name is null */
    const char *why;
};

/* Read the metadata event at `event`; all memory is `arena`'s, also after an error. BBF_EFORMAT:
 * `why` says what is wrong (constant text). BBF_ENOMEM. */
int bbf_jfr_tree_read(struct bbf_jfr_tree *tree, struct bbf_jfr_cursor event,
                      struct bbf_jfr_arena *arena);

/* Append it as a metadata event. BBF_ENOMEM. */
int bbf_jfr_tree_put(struct bbf_buf *out, const struct bbf_jfr_tree *tree);

/* The text as UTF-8, "" for null; NULL: no memory. */
const char *bbf_jfr_copy_text(struct bbf_jfr_arena *arena, const struct bbf_jfr_text *text);

/* NULL: it has none. */
const char *bbf_jfr_attribute(const struct bbf_jfr_element *element, const char *name);
const struct bbf_jfr_element *bbf_jfr_child(const struct bbf_jfr_element *element,
                                            const char *name);
bool bbf_jfr_is_element(const struct bbf_jfr_element *element, const char *name);
/* Digits only, as the JVM writes them, and no more than a Java long has. */
bool bbf_jfr_read_id(const char *text, uint64_t *id);

#endif
