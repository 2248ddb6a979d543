/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text for a language model: first the gaps in what bbflow saw, then numbers as key=value, a
 * line for each leak and for each path that ended in a release. No indentation, no repeated lines.
 */

#include "render/formats.h"

#include "core/err.h"
#include "render/balance.h"
#include "render/callers.h"
#include "render/context.h"
#include "render/cost.h"
#include "render/fingerprint.h"
#include "render/growth.h"
#include "render/head.h"
#include "render/json_names.h"
#include "render/leaks.h"
#include "render/misuse.h"
#include "render/owner_throws.h"
#include "render/pins.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/usage.h"
#include "render/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a path longer than this only both ends are written: a reader needs where the buffer came from
 * and who had it last, and text is what this render has to save. The JSON document has it all. */
enum { PATH_MAX_STEPS = 100, PATH_HEAD = 10, PATH_TAIL = 80 };

struct llm {
    struct bbf_buf *out;
    const struct bbf_snapshot *snapshot;
    struct bbf_view *view;
};

static void add_ref(const struct llm *llm, uint32_t node)
{
    bbf_buf_str(llm->out, "[ref=");
    bbf_buf_str(llm->out, bbf_ref_name(llm->snapshot->nodes[node].ref));
    bbf_buf_char(llm->out, ']');
}

static void add_root(const struct llm *llm, const struct bbf_view_path *path)
{
    bbf_buf_str(llm->out, "|root=");
    bbf_view_name(llm->out, llm->view, path->nodes[0]);
}

static void add_path(const struct llm *llm, const struct bbf_view_path *path)
{
    struct bbf_buf *out = llm->out;

    bbf_buf_str(out, "|path=");
    for (size_t i = 0; i < path->n; i++) {
        bbf_buf_str(out, i > 0 ? " -> " : "");
        if (i == PATH_HEAD && path->left_out > 0)
            bbf_buf_printf(out, "[%zu steps left out] -> ", path->left_out);
        bbf_view_name(out, llm->view, path->nodes[i]);
        add_ref(llm, path->nodes[i]);
        bbf_buf_str(out, llm->snapshot->nodes[path->nodes[i]].loop ? "(loop)" : "");
    }
    bbf_buf_char(out, '\n');
}

static struct bbf_view_path path_to(const struct llm *llm, uint32_t node)
{
    return bbf_view_ends(llm->view, node, PATH_MAX_STEPS, PATH_TAIL);
}

static void add_metadata(const struct llm *llm)
{
    const struct bbf_snap_totals *t = &llm->snapshot->totals;
    const struct bbf_view_counts nodes = bbf_view_count(llm->view);

    bbf_buf_printf(llm->out,
                   "METADATA:\ntotal_roots=%" PRIu64 "\ntotal_traversals=%" PRIu64
                   "\ntotal_paths=%" PRIu64 "\nleak_paths=%" PRIu64 "\nclean_count=%" PRIu64
                   "\nleak_count=%" PRIu64 "\nleak_rate=",
                   nodes.roots, t->lives_, nodes.paths, nodes.leak_paths, t->released_, t->leaked_);
    bbf_text_percent(llm->out, t->leaked_, t->lives_);
    bbf_buf_char(llm->out, '\n');
#define XX(name) bbf_buf_printf(llm->out, #name "=%" PRIu64 "\n", t->name##_);
    BBF_TOTALS(XX)
#undef XX
}

/* |throws=Json.parse:26,Validator.check:31 */
static void add_throws(const struct llm *llm, uint32_t last)
{
    const struct bbf_snap_throw *most[BBF_THROWS_SHOWN];
    uint32_t owner;
    size_t n = bbf_owner_throws(llm->view, last, most, &owner);

    for (size_t i = 0; i < n; i++) {
        bbf_buf_str(llm->out, i > 0 ? "," : "|throws=");
        bbf_owner_throw_name(llm->out, most[i], '|');
        if (most[i]->line != 0)
            bbf_buf_printf(llm->out, ":%" PRIu32, most[i]->line);
    }
}

static void add_fingerprint(const struct llm *llm, uint32_t last)
{
    bbf_buf_str(llm->out, "|fingerprint=");
    bbf_fingerprint_text(llm->out, bbf_fingerprint_leak(llm->view, last));
}

static void add_leak(const struct llm *llm, const struct bbf_snap_leak *leak)
{
    struct bbf_buf *out = llm->out;
    bool aged = leak->verdict == BBF_VERDICT_AGED;
    const char *word = leak->memory == BBF_MEM_DIRECT ? "CRITICAL_LEAK" : "MODERATE_LEAK";

    bbf_buf_str(out, aged ? "AGED" : word);
    struct bbf_view_path path = path_to(llm, leak->node);
    add_root(llm, &path);
    bbf_buf_printf(out, "|%s=%" PRIu64 "|bytes=%" PRIu64 "|memory=%s|verdict=%s|",
                   aged ? "aged" : "leaked", leak->count, leak->bytes,
                   bbf_memory_name(leak->memory), aged ? "aged" : "leaked");
    if (!aged) {
        bbf_buf_str(out, "leak_rate=");
        bbf_text_percent(out, leak->count, llm->snapshot->nodes[leak->node].passed_);
        bbf_buf_char(out, '|');
    }
    bbf_buf_printf(out, "lost=%s|oldest_s=%" PRIu64 "|p50_s=%" PRIu64, bbf_json_lost[leak->lost],
                   leak->oldest_seconds, leak->p50_seconds);
    if (leak->thread != 0) {
        bbf_buf_str(out, "|opened_by=");
        bbf_text_opener(out, llm->snapshot, leak, '|');
    }
    if (leak->references != 0)
        bbf_buf_printf(out, "|references=%" PRIu64, leak->references);
    bbf_buf_str(out, "|owner=");
    bbf_view_name(out, llm->view, bbf_owner_to_mend(llm->view, leak->node));
    bbf_callers_field(out, llm->view, leak->node);
    bbf_balance_text(out, llm->view, leak->node, BBF_SITE_RETAIN, "|retained_by=", ", ");
    bbf_balance_text(out, llm->view, leak->node, BBF_SITE_DECREMENT, "|released_by=", ", ");
    add_fingerprint(llm, leak->node);
    path = path_to(llm, leak->node); /* the balance took the steps of the first */
    add_path(llm, &path);
}

static int add_leaks(const struct llm *llm)
{
    const struct bbf_snapshot *snapshot = llm->snapshot;
    uint32_t *ranking = bbf_leak_ranking(snapshot);

    if (ranking == NULL)
        return BBF_ENOMEM;
    bbf_buf_str(llm->out, "\nLEAKS:\n");
    for (size_t i = 0; i < snapshot->n_leaks && !llm->out->failed; i++)
        if (bbf_view_shows_leak(llm->view, ranking[i]))
            add_leak(llm, &snapshot->leaks[ranking[i]]);
    if (snapshot->n_leaks == 0)
        bbf_buf_str(llm->out, "(none)\n");
    free(ranking);
    return 0;
}

static void add_step(const struct llm *llm, const char *key, uint32_t node)
{
    bbf_buf_printf(llm->out, "|%s=", key);
    if (node == BBF_NO_NODE) {
        bbf_buf_char(llm->out, '-');
        return;
    }
    bbf_view_name(llm->out, llm->view, node);
    add_ref(llm, node);
}

static void add_divergence(const struct llm *llm, const struct bbf_divergence *d)
{
    struct bbf_buf *out = llm->out;

    bbf_buf_printf(out,
                   "divergence|lost=%" PRIu64 "|aged=%" PRIu64 "|bytes=%" PRIu64
                   "|memory=%s|of=%" PRIu64 "|lost_rate=",
                   d->leaked, d->aged, d->bytes, bbf_memory_name(d->memory), d->passed);
    bbf_text_percent(out, d->leaked + d->aged, d->passed);
    bbf_buf_printf(out, "|released=%" PRIu64 "|released_rate=", d->released);
    bbf_text_percent(out, d->released, d->passed);
    add_step(llm, "origin", d->origin);
    add_step(llm, "shared", d->shared);
    add_step(llm, "losing", d->losing);
    add_step(llm, "last", d->last);
    add_step(llm, "kept", d->kept);
    add_step(llm, "owner", bbf_owner_to_mend(llm->view, d->last));
    add_throws(llm, d->last);
    bbf_callers_field(out, llm->view, d->last);
    bbf_buf_printf(out, "|kept_released=%" PRIu64 "|ways=%" PRIu32, d->kept_released, d->ways);
    add_fingerprint(llm, d->last);
    bbf_buf_char(out, '\n');
}

static void add_divergences(const struct llm *llm)
{
    const struct bbf_divergences *d = &llm->view->divergences;

    bbf_buf_str(llm->out, "DIVERGENCES:\n");
    for (size_t i = 0; i < d->count && !llm->out->failed; i++)
        if (bbf_view_shows_entry(llm->view, &d->rows[i]))
            add_divergence(llm, &d->rows[i]);
    bbf_buf_str(llm->out, d->count == 0 ? "(none)\n\n" : "\n");
}

static int compare_flows(const void *a, const void *b, void *nodes_of)
{
    const struct bbf_snap_node *nodes = nodes_of;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (nodes[x].released_ != nodes[y].released_)
        return nodes[x].released_ > nodes[y].released_ ? -1 : 1;
    return (x > y) - (x < y);
}

static int add_flows(const struct llm *llm)
{
    const struct bbf_snapshot *snapshot = llm->snapshot;
    size_t count = 0;
    uint32_t *flows = calloc(snapshot->n_nodes + 1, sizeof *flows);

    if (flows == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < snapshot->n_nodes; i++)
        if (snapshot->nodes[i].released_ != 0)
            flows[count++] = (uint32_t)i;
    if (count > 1)
        qsort_r(flows, count, sizeof *flows, compare_flows, snapshot->nodes);
    bbf_buf_str(llm->out, "\nFLOWS:\n");
    for (size_t i = 0; i < count && !llm->out->failed; i++) {
        const struct bbf_snap_node *node = &snapshot->nodes[flows[i]];
        const struct bbf_view_path path = path_to(llm, flows[i]);
        bbf_buf_str(llm->out, "flow");
        add_root(llm, &path);
        bbf_buf_printf(llm->out, "|total=%" PRIu64 "|has_leak=%s", node->released_,
                       node->leaked_ != 0 ? "true" : "false");
        add_path(llm, &path);
    }
    if (count == 0)
        bbf_buf_str(llm->out, "(none)\n");
    free(flows);
    return 0;
}

int bbf_render_llm(struct bbf_buf *out, struct bbf_view *view,
                   const struct bbf_render_options *options)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    struct llm llm = {.out = out, .snapshot = snapshot, .view = view};
    int err = bbf_view_add_names(view, '|');

    (void)options;
    if (err == 0)
        err = bbf_view_add_ends(view, PATH_HEAD);
    if (err == 0)
        err = bbf_view_add_divergences(view);
    if (err == 0)
        err = bbf_view_add_owners(view);
    if (err != 0)
        return err;
    bbf_buf_str(out, "NOT SEEN:\n");
    bbf_view_choice_note(out, view, "");
    if (bbf_head_text(out, snapshot, "") == 0)
        bbf_buf_str(out, "(none)\n");
    bbf_buf_char(out, '\n');
    add_divergences(&llm);
    add_metadata(&llm);
    bbf_reconciled_rows(out, &snapshot->reconciled);
    bbf_pins_rows(out, view);
    bbf_usage_rows(out, view);
    err = bbf_growth_rows(out, view);
    bbf_context_rows(out, view);
    bbf_cost_rows(out, &snapshot->cost);
    bbf_misuse_rows(out, snapshot);
    if (err == 0)
        err = add_leaks(&llm);
    return err == 0 ? add_flows(&llm) : err;
}
