/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/heal_state.h - what jfr/heal.h works on: elements, and types by their ids.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_HEAL_STATE_H
#define BBF_JFR_HEAL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/arena.h"
#include "jfr/salvage.h"
#include "jfr/tree.h"
#include "jfr/types.h"

/* Of keys whose type is lost; no pool has its values. */
#define BBF_JFR_LOST_TYPE "bbflow.Lost"

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
    struct bbf_jfr_salvage report; /* lost NULL: report nothing */
    struct bbf_jfr_arena arena;
    struct bbf_jfr_element *metadata;
    struct bbf_jfr_heal_type *types, **by_id; /* in the order of the elements; ascending */
    size_t n, n_by_id;
    const char *lost_id;
    bool changed;
};

/* The type of that id, NULL: none. */
struct bbf_jfr_heal_type *bbf_jfr_heal_type(const struct bbf_jfr_healing *healing,
                                            const char *id_text);
/* Types by their ids, after one was added. Of two with one id the second is lost. */
void bbf_jfr_heal_index(struct bbf_jfr_healing *healing);
void bbf_jfr_heal_lose(struct bbf_jfr_healing *healing, struct bbf_jfr_heal_type *type,
                       const char *what);
/* Report the element, `all`: with its children. */
void bbf_jfr_heal_lost(struct bbf_jfr_healing *healing, const struct bbf_jfr_element *element,
                       bool all, const char *what);
/* Set, add, or with NULL remove an attribute. */
void bbf_jfr_heal_set(struct bbf_jfr_healing *healing, struct bbf_jfr_element *element,
                      const char *name, const char *value);
/* A new last child without attributes. NULL: no memory. */
struct bbf_jfr_element *bbf_jfr_heal_add(struct bbf_jfr_healing *healing,
                                         struct bbf_jfr_element *element, const char *name);

#endif
