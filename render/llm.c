/*
 * The text for a language model: what was not seen, numbers as key=value, a line for each leak and
 * for each path that ended in a release. No indentation, no repetition of lines.
 */
#include "render/formats.h"

#include "core/err.h"
#include "render/names.h"
#include "render/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a path longer than this only both ends are written: a reader needs where the buffer came from
 * and who had it last, and text is what this render has to save. The JSON document has it all. */
enum { PATH_MAX_STEPS = 100, PATH_HEAD = 10, PATH_TAIL = 80 };

static const char *const ref_text[] = {"0", "1", "3", "6"};

struct llm {
    struct bbf_buf *out;
    const struct bbf_snapshot *snapshot;
    struct bbf_names names;
    uint32_t *parents;
    uint32_t *steps; /* scratch: a path from its end */
};

static uint32_t root_of(const struct llm *llm, uint32_t node)
{
    while (llm->parents[node] != BBF_NO_PARENT)
        node = llm->parents[node];
    return node;
}

static void add_name(const struct llm *llm, uint32_t node)
{
    const struct bbf_name *name = &llm->names.names[llm->snapshot->nodes[node].site];
    bbf_buf_add(llm->out, name->text, name->len);
}

static void add_path(const struct llm *llm, uint32_t node)
{
    size_t count = 0;

    for (uint32_t i = node; i != BBF_NO_PARENT; i = llm->parents[i])
        llm->steps[count++] = i;
    bbf_buf_str(llm->out, "|path=");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            bbf_buf_str(llm->out, " -> ");
        if (i == PATH_HEAD && count > PATH_MAX_STEPS) {
            bbf_buf_printf(llm->out, "[%zu steps left out] -> ", count - PATH_HEAD - PATH_TAIL);
            i = count - PATH_TAIL;
        }
        uint32_t step = llm->steps[count - 1 - i];
        add_name(llm, step);
        bbf_buf_printf(llm->out, "[ref=%s]", ref_text[llm->snapshot->nodes[step].ref]);
        if (llm->snapshot->nodes[step].loop)
            bbf_buf_str(llm->out, "(loop)");
    }
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

static void add_leak(const struct llm *llm, const struct bbf_snap_leak *leak)
{
    struct bbf_buf *out = llm->out;
    bool aged = leak->verdict == BBF_VERDICT_AGED;
    const char *word = leak->memory == BBF_MEM_DIRECT ? "CRITICAL_LEAK" : "MODERATE_LEAK";

    bbf_buf_printf(out, "%s|root=", aged ? "AGED" : word);
    add_name(llm, root_of(llm, leak->node));
    bbf_buf_printf(out, "|%s=%" PRIu64 "|bytes=%" PRIu64 "|memory=%s|verdict=%s|",
                   aged ? "aged" : "leaked", leak->count, leak->bytes,
                   bbf_memory_name(leak->memory), aged ? "aged" : "leaked");
    if (!aged) {
        bbf_buf_str(out, "leak_rate=");
        bbf_text_percent(out, leak->count, llm->snapshot->nodes[leak->node].passed_);
        bbf_buf_char(out, '|');
    }
    bbf_buf_printf(out, "oldest_s=%" PRIu64, leak->oldest_seconds);
    add_path(llm, leak->node);
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
        bbf_buf_str(llm->out, "flow|root=");
        add_name(llm, root_of(llm, flows[i]));
        bbf_buf_printf(llm->out, "|total=%" PRIu64 "|has_leak=%s", node->released_,
                       node->leaked_ != 0 ? "true" : "false");
        add_path(llm, flows[i]);
    }
    if (count == 0)
        bbf_buf_str(llm->out, "(none)\n");
    free(flows);
    return 0;
}

int bbf_render_llm(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    struct llm llm = {.out = out, .snapshot = snapshot};
    int err = bbf_names_init(&llm.names, snapshot, '|');

    llm.parents = calloc(snapshot->n_nodes + 1, sizeof *llm.parents);
    llm.steps = calloc(snapshot->n_nodes + 1, sizeof *llm.steps);
    if (err == 0 && (llm.parents == NULL || llm.steps == NULL))
        err = BBF_ENOMEM;
    if (err == 0)
        err = bbf_snapshot_parents(snapshot, llm.parents, NULL);
    if (err == 0) {
        bbf_buf_str(out, "NOT SEEN:\n");
        if (bbf_text_head(out, snapshot, "") == 0)
            bbf_buf_str(out, "(none)\n");
        bbf_buf_char(out, '\n');
        add_metadata(&llm);
        bbf_buf_str(out, "\nLEAKS:\n");
        for (size_t i = 0; i < snapshot->n_leaks && !out->failed; i++)
            add_leak(&llm, &snapshot->leaks[i]);
        if (snapshot->n_leaks == 0)
            bbf_buf_str(out, "(none)\n");
        err = add_flows(&llm);
    }
    free(llm.steps);
    free(llm.parents);
    bbf_names_free(&llm.names);
    return err;
}
