/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/heal_inner.h - inside of jfr/heal.h: its state, and what its files ask of each other.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_HEAL_INNER_H
#define BBF_JFR_HEAL_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/arena.h"
#include "jfr/heal.h"
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
    const struct bbf_jfr_heal *how;
    struct bbf_jfr_arena arena;
    struct bbf_jfr_element *metadata;
    struct bbf_jfr_heal_type *types, **by_id; /* in the order of the elements; ascending */
    size_t n, n_by_id;
    const char *lost_id;
    bool changed, no_memory;
};

/* ---- heal.c ---- */

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
/* Memory of the arena; NULL: `no_memory` is set. */
void *bbf_jfr_heal_take(struct bbf_jfr_healing *healing, size_t n, size_t size);
/* Set, add, or with NULL remove an attribute. */
void bbf_jfr_heal_set(struct bbf_jfr_healing *healing, struct bbf_jfr_element *element,
                      const char *name, const char *value);
/* A new last child without attributes. NULL: no memory. */
struct bbf_jfr_element *bbf_jfr_heal_add(struct bbf_jfr_healing *healing,
                                         struct bbf_jfr_element *element, const char *name);

/* ---- heal_fields.c ---- */

/* Is the type simple, and may it be? */
void bbf_jfr_heal_simple(struct bbf_jfr_healing *healing, struct bbf_jfr_heal_type *type);
/* Lose each type whose fields are not all known. */
void bbf_jfr_heal_unknown(struct bbf_jfr_healing *healing);
/* Set right what is wrong with the fields of a type that stays. */
void bbf_jfr_heal_fields(struct bbf_jfr_healing *healing, struct bbf_jfr_heal_type *type);

/* ---- heal_notes.c ---- */

/* Leave out what is wrong of the type's annotations and settings, and of its fields' annotations.
 */
void bbf_jfr_heal_notes(struct bbf_jfr_healing *healing, const struct bbf_jfr_heal_type *type);

#endif
