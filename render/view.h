/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/view.h - a snapshot and what the formats derive from it: parents, paths, the steps' names,
 * the forest, the divergences. bbf_render() makes it once and hands it to the format. Checking and
 * parents cost every format the same; the other parts are made only for the format that adds them.
 *
 *     nodes   0:A  1:B(0)  2:C(0)  3:D(1)      parents  -  0  0  1      path of 3:  0 1 3
 *
 * Threads: one owner; the snapshot is only read and must outlive the view. Errors: BBF_ENOMEM;
 * BBF_EFORMAT (a snapshot that bbf_snapshot_finish() would refuse). Nodes are indexes into
 * snapshot->nodes.
 */
#ifndef BBF_RENDER_VIEW_H
#define BBF_RENDER_VIEW_H

#include "core/buf.h"
#include "render/choice.h"
#include "render/diverge.h"
#include "render/forest.h"
#include "render/names.h"
#include "render/owner.h"
#include "snapshot/snapshot.h"

struct bbf_view {
    const struct bbf_snapshot *snapshot;
    uint32_t *parents;                  /* by node; BBF_NO_PARENT: a root */
    struct bbf_names names;             /* by bbf_view_add_names(), or the format's own */
    struct bbf_forest forest;           /* by bbf_view_add_forest() */
    bool by_method;                     /* how divergences are joined: render/diverge.h */
    struct bbf_divergences divergences; /* by bbf_view_add_divergences() */
    const struct bbf_choice *choice;    /* NULL: all losses are shown */
    struct bbf_chosen chosen;           /* with the divergences, if there is a choice */
    struct bbf_owners owners;           /* by bbf_view_add_owners() */
    uint32_t *depths;                   /* by node, 0 for a root; by bbf_view_add_ends() */
    uint32_t *heads;  /* by node: the last step of the head of its path, or itself */
    size_t head;      /* steps of a head */
    uint32_t *steps;  /* room for the longest path */
    bool lines;       /* names get their line numbers; set before the names are added */
    bool has_balance; /* there are steps that retain or release: refs=on */
};

/* Are there lives at exactly this node, or did some end there? */
static inline bool bbf_view_has_end(const struct bbf_snap_node *node)
{
    return (node->released_ | node->live_ | node->leaked_ | node->held_ | node->harmless_ |
            node->unknown_) != 0;
}

/* Steps of a path, root first. They are the view's, until it is asked for the next path. */
struct bbf_view_path {
    const uint32_t *nodes;
    size_t n;
    size_t left_out; /* behind the first view->head of them */
};

/* Check the snapshot and find the parents. After an error there is nothing to free. */
int bbf_view_init(struct bbf_view *view, const struct bbf_snapshot *snapshot);
void bbf_view_free(struct bbf_view *view);

/* `separator`: a byte that must not be in a name ('\0': none), see bbf_text_safe(). */
int bbf_view_add_names(struct bbf_view *view, char separator);
int bbf_view_add_forest(struct bbf_view *view); /* after the names */
int bbf_view_add_divergences(struct bbf_view *view);
int bbf_view_add_owners(struct bbf_view *view);
/* For bbf_view_ends(): where the first `head` steps of each path end. */
int bbf_view_add_ends(struct bbf_view *view, size_t head);

/* Is it shown? `row`: of snapshot->leaks. */
static inline bool bbf_view_shows_leak(const struct bbf_view *view, size_t row)
{
    return view->chosen.leaks == NULL || view->chosen.leaks[row];
}
static inline bool bbf_view_shows_entry(const struct bbf_view *view,
                                        const struct bbf_divergence *entry)
{
    return view->chosen.entries == NULL || view->chosen.entries[entry->number];
}

/* "note: 2 of 12 places that lose buffers are shown (--lost --older 600s); all numbers are of all
 * lives" and a line end; nothing without a choice. */
void bbf_view_choice_note(struct bbf_buf *out, const struct bbf_view *view, const char *prefix);

/* All steps from the root to `node`. */
struct bbf_view_path bbf_view_path(struct bbf_view *view, uint32_t node);
/* The same; of a path of more than `most` steps its head and its last `tail` steps, without a walk
 * over what is between. */
struct bbf_view_path bbf_view_ends(struct bbf_view *view, uint32_t node, size_t most, size_t tail);

/* One step's name. */
static inline void bbf_view_name(struct bbf_buf *out, const struct bbf_view *view, uint32_t node)
{
    const struct bbf_name *name = &view->names.names[view->snapshot->nodes[node].site];
    bbf_buf_add(out, name->text, name->len);
}

/* The step of the method that owned a buffer lost at `node` (render/owner.h); `node` itself where
 * nothing else is known, or without bbf_view_add_owners(). */
uint32_t bbf_owner_of(const struct bbf_view *view, uint32_t node);
/* Is the step no method, but the gap of a buffer that outlived its window (core/terms.h)? */
bool bbf_view_is_gap(const struct bbf_view *view, uint32_t node);
/* The step to look at for a buffer lost at `node`: its owner; behind the gap of a window
 * (core/terms.h), which is no method, the owner before it. */
uint32_t bbf_owner_to_mend(const struct bbf_view *view, uint32_t node);
/* The step that the owner of `node`'s buffer lent it to; the owner's where that is `node` itself.
 */
uint32_t bbf_owner_lent_to(const struct bbf_view *view, uint32_t node);
/* "X", or where the owner is another than `node`: "X, which lent it to Y → … → Z". */
void bbf_owner_text(struct bbf_buf *out, const struct bbf_view *view, uint32_t node);

/* The names of `n` steps with `between` between them. */
void bbf_view_join(struct bbf_buf *out, const struct bbf_view *view, const uint32_t *nodes,
                   size_t n, const char *between);
/* "A.a -> B.b -> [12 steps] -> C.c": all of them up to head + tail + 1, else both ends. */
void bbf_view_join_ends(struct bbf_buf *out, const struct bbf_view *view, const uint32_t *nodes,
                        size_t n, size_t head, size_t tail);

/* Numbers that the totals do not have: nodes that are roots, at which lives are or ended, at which
 * lives leaked. */
struct bbf_view_counts {
    uint64_t roots, paths, leak_paths;
};
struct bbf_view_counts bbf_view_count(const struct bbf_view *view);

#endif
