/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text for a language model: what was not seen, numbers as key=value, a line for each leak and
 * for each path that ended in a release. No indentation, no repetition of lines.
 */
#include "render/formats.h"

#include "core/err.h"
#include "render/balance.h"
#include "render/cost.h"
#include "render/diverge.h"
#include "render/head.h"
#include "render/json_names.h"
#include "render/leaks.h"
#include "render/misuse.h"
#include "render/names.h"
#include "render/reconciled.h"
#include "render/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a path longer than this only both ends are written: a reader needs where the buffer came from
 * and who had it last, and text is what this render has to save. The JSON document has it all. */
enum { PATH_MAX_STEPS = 100, PATH_HEAD = 10, PATH_TAIL = 80 };

struct llm {
    struct bbf_buf *out;
    const struct bbf_snapshot *snapshot;
    struct bbf_names names;
    uint32_t *parents;
    uint32_t *depths; /* by node: steps from its root, 0 for a root */
    uint32_t *steps;  /* room for a path */
    uint32_t *heads;  /* by node: the last step of the head of its path, itself if that is short */
};

/* So that the ends of a path are found without walking all of it. */
static int fill_paths(struct llm *llm)
{
    size_t n = llm->snapshot->n_nodes;

    llm->parents = calloc(n + 1, sizeof *llm->parents);
    llm->depths = calloc(n + 1, sizeof *llm->depths);
    llm->heads = calloc(n + 1, sizeof *llm->heads);
    llm->steps = calloc(n + 1, sizeof *llm->steps);
    if (llm->steps == NULL || llm->parents == NULL || llm->depths == NULL || llm->heads == NULL)
        return BBF_ENOMEM;
    int err = bbf_snapshot_parents(llm->snapshot, llm->parents, NULL);
    for (size_t i = 0; i < n && err == 0; i++) {
        uint32_t parent = llm->parents[i];
        llm->depths[i] = parent == BBF_NO_PARENT ? 0 : llm->depths[parent] + 1;
        llm->heads[i] = llm->depths[i] < PATH_HEAD ? (uint32_t)i : llm->heads[parent];
    }
    return err;
}

static void add_name(const struct llm *llm, uint32_t node)
{
    const struct bbf_name *name = &llm->names.names[llm->snapshot->nodes[node].site];
    bbf_buf_add(llm->out, name->text, name->len);
}

static void add_root(const struct llm *llm, uint32_t node)
{
    uint32_t root = llm->heads[node];

    while (llm->parents[root] != BBF_NO_PARENT)
        root = llm->parents[root];
    bbf_buf_str(llm->out, "|root=");
    add_name(llm, root);
}

static void add_ref(const struct llm *llm, uint32_t node)
{
    bbf_buf_str(llm->out, "[ref=");
    bbf_buf_str(llm->out, bbf_ref_name(llm->snapshot->nodes[node].ref));
    bbf_buf_char(llm->out, ']');
}

/* The `count` steps that end at `node`, with arrows between them. */
static void add_steps(const struct llm *llm, uint32_t node, size_t count)
{
    uint32_t steps[PATH_MAX_STEPS];

    for (size_t i = count; i-- > 0; node = llm->parents[node])
        steps[i] = node;
    for (size_t i = 0; i < count; i++) {
        const struct bbf_snap_node *step = &llm->snapshot->nodes[steps[i]];
        bbf_buf_str(llm->out, i > 0 ? " -> " : "");
        add_name(llm, steps[i]);
        add_ref(llm, steps[i]);
        bbf_buf_str(llm->out, step->loop ? "(loop)" : "");
    }
}

static void add_path(const struct llm *llm, uint32_t node)
{
    size_t count = (size_t)llm->depths[node] + 1;

    bbf_buf_str(llm->out, "|path=");
    if (count > PATH_MAX_STEPS) {
        add_steps(llm, llm->heads[node], PATH_HEAD);
        bbf_buf_printf(llm->out, " -> [%zu steps left out] -> ", count - PATH_HEAD - PATH_TAIL);
        count = PATH_TAIL;
    }
    add_steps(llm, node, count);
    bbf_buf_char(llm->out, '\n');
}

static void add_metadata(const struct llm *llm)
{
    const struct bbf_snapshot *snapshot = llm->snapshot;
    const struct bbf_snap_totals *t = &snapshot->totals;
    uint64_t roots = 0, paths = 0, leak_paths = 0;

    for (size_t i = 0; i < snapshot->n_nodes; i++) {
        const struct bbf_snap_node *node = &snapshot->nodes[i];
        roots += node->parent == -1;
        paths += (node->released_ | node->live_ | node->leaked_ | node->held_ | node->harmless_ |
                  node->unknown_) != 0;
        leak_paths += node->leaked_ != 0;
    }
    bbf_buf_printf(llm->out,
                   "METADATA:\ntotal_roots=%" PRIu64 "\ntotal_traversals=%" PRIu64
                   "\ntotal_paths=%" PRIu64 "\nleak_paths=%" PRIu64 "\nclean_count=%" PRIu64
                   "\nleak_count=%" PRIu64 "\nleak_rate=",
                   roots, t->lives_, paths, leak_paths, t->released_, t->leaked_);
    bbf_text_percent(llm->out, t->leaked_, t->lives_);
    bbf_buf_char(llm->out, '\n');
#define XX(name) bbf_buf_printf(llm->out, #name "=%" PRIu64 "\n", t->name##_);
    BBF_TOTALS(XX)
#undef XX
}

/* With refs=on; nothing if there is none. */
static void add_balance(const struct llm *llm, const char *key, uint32_t node,
                        enum bbf_site_kind kind)
{
    size_t n = bbf_balance_sites(llm->snapshot, llm->parents, node, kind, llm->steps);

    for (size_t i = 0; i < n; i++) {
        const struct bbf_name *name = &llm->names.names[llm->steps[i]];
        bbf_buf_str(llm->out, i == 0 ? key : ", ");
        bbf_buf_add(llm->out, name->text, bbf_balance_name_len(name->text, name->len));
    }
}

static void add_leak(const struct llm *llm, const struct bbf_snap_leak *leak)
{
    struct bbf_buf *out = llm->out;
    bool aged = leak->verdict == BBF_VERDICT_AGED;
    const char *word = leak->memory == BBF_MEM_DIRECT ? "CRITICAL_LEAK" : "MODERATE_LEAK";

    bbf_buf_str(out, aged ? "AGED" : word);
    add_root(llm, leak->node);
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
    add_balance(llm, "|retained_by=", leak->node, BBF_SITE_RETAIN);
    add_balance(llm, "|released_by=", leak->node, BBF_SITE_DECREMENT);
    add_path(llm, leak->node);
}

static int add_leaks(const struct llm *llm)
{
    const struct bbf_snapshot *snapshot = llm->snapshot;
    uint32_t *ranking = bbf_leak_ranking(snapshot);

    if (ranking == NULL)
        return BBF_ENOMEM;
    bbf_buf_str(llm->out, "\nLEAKS:\n");
    for (size_t i = 0; i < snapshot->n_leaks && !llm->out->failed; i++)
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
    add_name(llm, node);
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
    bbf_buf_printf(out, "|kept_released=%" PRIu64 "|ways=%" PRIu32, d->kept_released, d->ways);
    bbf_buf_char(out, '\n');
}

static int add_divergences(const struct llm *llm)
{
    struct bbf_divergences d;
    int err = bbf_divergences_init(&d, llm->snapshot, llm->parents);

    if (err != 0)
        return err;
    bbf_buf_str(llm->out, "DIVERGENCES:\n");
    for (size_t i = 0; i < d.count && !llm->out->failed; i++)
        add_divergence(llm, &d.rows[i]);
    bbf_buf_str(llm->out, d.count == 0 ? "(none)\n\n" : "\n");
    bbf_divergences_free(&d);
    return 0;
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
        bbf_buf_str(llm->out, "flow");
        add_root(llm, flows[i]);
        bbf_buf_printf(llm->out, "|total=%" PRIu64 "|has_leak=%s", node->released_,
                       node->leaked_ != 0 ? "true" : "false");
        add_path(llm, flows[i]);
    }
    if (count == 0)
        bbf_buf_str(llm->out, "(none)\n");
    free(flows);
    return 0;
}

int bbf_render_llm(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                   const struct bbf_render_options *options)
{
    (void)options;
    struct llm llm = {.out = out, .snapshot = snapshot};
    int err = bbf_names_init(&llm.names, snapshot, '|');

    if (err == 0)
        err = fill_paths(&llm);
    if (err == 0) {
        bbf_buf_str(out, "NOT SEEN:\n");
        if (bbf_head_text(out, snapshot, "") == 0)
            bbf_buf_str(out, "(none)\n");
        bbf_buf_char(out, '\n');
        err = add_divergences(&llm);
    }
    if (err == 0) {
        add_metadata(&llm);
        bbf_reconciled_rows(out, &snapshot->reconciled);
        bbf_cost_rows(out, &snapshot->cost);
        bbf_misuse_rows(out, snapshot);
        err = add_leaks(&llm);
    }
    if (err == 0) {
        err = add_flows(&llm);
    }
    free(llm.steps);
    free(llm.heads);
    free(llm.depths);
    free(llm.parents);
    bbf_names_free(&llm.names);
    return err;
}
