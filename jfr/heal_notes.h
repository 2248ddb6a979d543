/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/heal_notes.h - inside of jfr/heal.h: its state, and annotations and settings.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_HEAL_NOTES_H
#define BBF_JFR_HEAL_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/arena.h"
#include "jfr/heal.h"
#include "jfr/tree.h"
#include "jfr/types.h"

enum { BBF_JFR_RESERVED_ID = 1 }; /* 0 are metadata, 1 checkpoints */

struct bbf_jfr_heal_type {
    struct bbf_jfr_element *element;
    uint64_t id;
    const char *name;
    size_t n_fields;
    enum bbf_jfr_kind kind;
    int height; /* of the types in it that are not pooled; 0: none, or not known yet */
    bool is_event, is_simple, is_gone;
};

struct bbf_jfr_healing {
    const struct bbf_jfr_heal *how;
    struct bbf_jfr_arena arena;
    struct bbf_jfr_element *metadata;
    struct bbf_jfr_heal_type *types, **by_id; /* in the order of the elements; ascending */
    size_t n, n_by_id;
    const char *lost_id;
    bool changed, no_memory;
};

/* The type of that id, NULL: none. */
struct bbf_jfr_heal_type *bbf_jfr_heal_type(const struct bbf_jfr_healing *healing,
                                            const char *id_text);
/* Report the element, `all`: with its children. */
void bbf_jfr_heal_lost(struct bbf_jfr_healing *healing, const struct bbf_jfr_element *element,
                       bool all, const char *what);
/* Leave out what is wrong of the type's annotations and settings, and of its fields' annotations.
 */
void bbf_jfr_heal_notes(struct bbf_jfr_healing *healing, const struct bbf_jfr_heal_type *type);

#endif
