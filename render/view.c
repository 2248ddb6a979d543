/* SPDX-License-Identifier: Apache-2.0 */
#include "render/view.h"

#include "core/err.h"
#include "core/terms.h"
#include "render/diverge_find.h"

#include <stdlib.h>
#include <string.h>

static bool has_balance(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_sites; i++)
        if (snapshot->sites[i].kind == BBF_SITE_RETAIN ||
            snapshot->sites[i].kind == BBF_SITE_DECREMENT)
            return true;
    return false;
}

int bbf_view_init(struct bbf_view *view, const struct bbf_snapshot *snapshot)
{
    int err = bbf_snapshot_check(snapshot);

    *view = (struct bbf_view){.snapshot = snapshot, .names = {.texts = BBF_BUF_INIT}};
    if (err != BBF_OK)
        return err;
    view->parents = calloc(snapshot->n_nodes + 1, sizeof *view->parents);
    view->steps = calloc(snapshot->n_nodes + 1, sizeof *view->steps);
    err = view->parents != NULL && view->steps != NULL
              ? bbf_snapshot_parents(snapshot, view->parents, NULL)
              : BBF_ENOMEM;
    view->has_balance = has_balance(snapshot);
    if (err != BBF_OK)
        bbf_view_free(view);
    return err;
}

void bbf_view_free(struct bbf_view *view)
{
    bbf_owners_free(&view->owners);
    bbf_chosen_free(&view->chosen);
    bbf_divergences_free(&view->divergences);
    bbf_forest_free(&view->forest);
    bbf_names_free(&view->names);
    free(view->depths);
    free(view->heads);
    free(view->steps);
    free(view->parents);
    *view = (struct bbf_view){.names = {.texts = BBF_BUF_INIT}};
}

int bbf_view_add_names(struct bbf_view *view, char separator)
{
    return bbf_names_init(&view->names, view->snapshot, separator, view->lines);
}

int bbf_view_add_forest(struct bbf_view *view)
{
    return bbf_forest_init(&view->forest, view->snapshot, view->parents, &view->names);
}

int bbf_view_add_divergences(struct bbf_view *view)
{
    int err =
        bbf_divergences_init(&view->divergences, view->snapshot, view->parents, view->by_method);

    if (err == BBF_OK && view->choice != NULL)
        err = bbf_chosen_init(&view->chosen, view->snapshot, view->parents, &view->divergences,
                              view->choice);
    return err;
}

void bbf_view_choice_note(struct bbf_buf *out, const struct bbf_view *view, const char *prefix)
{
    if (view->choice == NULL)
        return;
    bbf_buf_printf(out, "%s%zu of %zu places that lose buffers are shown (", prefix,
                   view->chosen.n_entries, view->divergences.count);
    bbf_choice_text(out, view->choice);
    bbf_buf_str(out, "); all numbers are of all lives\n");
}

int bbf_view_add_owners(struct bbf_view *view)
{
    return bbf_owners_init(&view->owners, view->snapshot, view->parents);
}

int bbf_view_add_ends(struct bbf_view *view, size_t head)
{
    size_t n = view->snapshot->n_nodes;

    view->head = head;
    view->depths = calloc(n + 1, sizeof *view->depths);
    view->heads = calloc(n + 1, sizeof *view->heads);
    if (view->depths == NULL || view->heads == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = view->parents[i];
        view->depths[i] = parent == BBF_NO_PARENT ? 0 : view->depths[parent] + 1;
        view->heads[i] = view->depths[i] < head ? (uint32_t)i : view->heads[parent];
    }
    return BBF_OK;
}

/* ---- owners ---- */

bool bbf_view_is_gap(const struct bbf_view *view, uint32_t node)
{
    const struct bbf_snapshot *s = view->snapshot;

    return strcmp(s->sites[s->nodes[node].site].method, BBF_GAP_STEP) == 0;
}

uint32_t bbf_owner_of(const struct bbf_view *view, uint32_t node)
{
    return bbf_owners_of(&view->owners, view->snapshot, node);
}

uint32_t bbf_owner_to_mend(const struct bbf_view *view, uint32_t node)
{
    bool is_gap = bbf_view_is_gap(view, node) && view->parents[node] != BBF_NO_PARENT;

    return bbf_owner_of(view, is_gap ? view->parents[node] : node);
}

uint32_t bbf_owner_lent_to(const struct bbf_view *view, uint32_t node)
{
    uint32_t owner = bbf_owner_of(view, node);

    while (node != owner && view->owners.caller[node] != owner)
        node = view->owners.caller[node];
    return node;
}

void bbf_owner_text(struct bbf_buf *out, const struct bbf_view *view, uint32_t node)
{
    uint32_t owner = bbf_owner_of(view, node), first = bbf_owner_lent_to(view, node);

    bbf_view_name(out, view, owner);
    if (owner == node)
        return;
    bbf_buf_str(out, ", which lent it to ");
    if (first != node) {
        bbf_view_name(out, view, first);
        bbf_buf_str(out, view->owners.caller[node] != first ? " → … → " : " → ");
    }
    bbf_view_name(out, view, node);
}

/* ---- paths ---- */

/* `node` and its `n` - 1 ancestors to steps[0] … steps[n - 1]. */
static void climb(const struct bbf_view *view, uint32_t node, uint32_t *steps, size_t n)
{
    for (; n > 0; node = view->parents[node])
        steps[--n] = node;
}

struct bbf_view_path bbf_view_path(struct bbf_view *view, uint32_t node)
{
    uint32_t *end = view->steps + view->snapshot->n_nodes, *first = end;

    for (; node != BBF_NO_PARENT; node = view->parents[node])
        *--first = node;
    return (struct bbf_view_path){.nodes = first, .n = (size_t)(end - first)};
}

struct bbf_view_path bbf_view_ends(struct bbf_view *view, uint32_t node, size_t most, size_t tail)
{
    struct bbf_view_path path = {.nodes = view->steps, .n = (size_t)view->depths[node] + 1};

    if (path.n > most) {
        path.left_out = path.n - view->head - tail;
        path.n = view->head + tail;
        climb(view, view->heads[node], view->steps, view->head);
        climb(view, node, view->steps + view->head, tail);
    } else {
        climb(view, node, view->steps, path.n);
    }
    return path;
}

void bbf_view_join(struct bbf_buf *out, const struct bbf_view *view, const uint32_t *nodes,
                   size_t n, const char *between)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bbf_buf_str(out, between);
        bbf_view_name(out, view, nodes[i]);
    }
}

void bbf_view_join_ends(struct bbf_buf *out, const struct bbf_view *view, const uint32_t *nodes,
                        size_t n, size_t head, size_t tail)
{
    if (n <= head + tail + 1) {
        bbf_view_join(out, view, nodes, n, " -> ");
        return;
    }
    bbf_view_join(out, view, nodes, head, " -> ");
    bbf_buf_printf(out, " -> [%zu steps] -> ", n - head - tail);
    bbf_view_join(out, view, nodes + (n - tail), tail, " -> ");
}

struct bbf_view_counts bbf_view_count(const struct bbf_view *view)
{
    struct bbf_view_counts counts = {0};

    for (size_t i = 0; i < view->snapshot->n_nodes; i++) {
        const struct bbf_snap_node *node = &view->snapshot->nodes[i];
        counts.roots += node->parent == -1;
        counts.paths += bbf_view_has_end(node);
        counts.leak_paths += node->leaked_ != 0;
    }
    return counts;
}
