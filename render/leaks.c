/* SPDX-License-Identifier: Apache-2.0 */
#include "render/leaks.h"

#include "core/err.h"
#include "render/estimate.h"
#include "render/text.h"

#include <inttypes.h>
#include <stdlib.h>

unsigned bbf_leak_rank(const struct bbf_snap_leak *leak)
{
    static const unsigned of_lost[] = {[BBF_LOST_FOR_GOOD] = 0,
                                       [BBF_LOST_COUNTER] = 1,
                                       [BBF_LOST_UNKNOWN] = 2,
                                       [BBF_LOST_NOTHING] = 3};
    return (leak->verdict == BBF_VERDICT_AGED ? 8 : 0) + 2 * of_lost[leak->lost] +
           (leak->memory != BBF_MEM_DIRECT);
}

struct ranked {
    uint32_t rank, row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

uint32_t *bbf_leak_ranking(const struct bbf_snapshot *snapshot)
{
    size_t n = snapshot->n_leaks;
    struct ranked *rows = calloc(n + 1, sizeof *rows);
    uint32_t *order = calloc(n + 1, sizeof *order);

    if (rows == NULL || order == NULL) {
        free(rows);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct ranked){bbf_leak_rank(&snapshot->leaks[i]), (uint32_t)i};
    qsort(rows, n, sizeof *rows, compare_ranked);
    for (size_t i = 0; i < n; i++)
        order[i] = rows[i].row;
    free(rows);
    return order;
}

struct key {
    uint32_t node, row;
    uint8_t verdict, memory;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

int bbf_leak_index_init(struct bbf_leak_index *index, const struct bbf_snapshot *snapshot)
{
    size_t count = snapshot->n_leaks;

    *index = (struct bbf_leak_index){snapshot, NULL};
    if (count == 0)
        return 0;
    struct key *keys = calloc(count, sizeof *keys);
    index->order = calloc(count, sizeof *index->order);
    if (keys == NULL || index->order == NULL) {
        free(keys);
        bbf_leak_index_free(index);
        return BBF_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const struct bbf_snap_leak *leak = &snapshot->leaks[i];
        keys[i] =
            (struct key){leak->node, (uint32_t)i, (uint8_t)leak->verdict, (uint8_t)leak->memory};
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        index->order[i] = keys[i].row;
    free(keys);
    return 0;
}

void bbf_leak_index_free(struct bbf_leak_index *index)
{
    free(index->order);
    index->order = NULL;
}

/* Place in order of the node's first row, or of the first row of a later node. */
static size_t first_row(const struct bbf_leak_index *index, uint32_t node)
{
    size_t low = 0, high = index->order != NULL ? index->snapshot->n_leaks : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->snapshot->leaks[index->order[middle]].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_leak(struct bbf_buf *out, const struct bbf_snapshot *snapshot, const char **glue,
                     const struct bbf_snap_leak *leak)
{
    const char *word = "⚠️ LEAK";

    if (leak->verdict == BBF_VERDICT_AGED)
        word = "⏳ AGED";
    else if (leak->memory == BBF_MEM_DIRECT)
        word = "🚨 LEAK";
    bbf_buf_printf(out, "%s%s %" PRIu64 " (", *glue, word, leak->count);
    bbf_text_lost_bytes(out, leak->bytes, leak->memory);
    bbf_buf_char(out, ')');
    bbf_estimate_text(out, snapshot, leak->count);
    if (leak->oldest_seconds != 0)
        bbf_buf_printf(out, " oldest %" PRIu64 " s", leak->oldest_seconds);
    if (leak->thread != 0) {
        bbf_buf_str(out, " by ");
        bbf_text_opener(out, snapshot, leak, '\0');
    }
    *glue = ", ";
}

static void add_count(struct bbf_buf *out, const char **glue, const char *word, uint64_t count)
{
    if (count == 0)
        return;
    bbf_buf_printf(out, "%s%s %" PRIu64, *glue, word, count);
    *glue = ", ";
}

void bbf_leak_marker(struct bbf_buf *out, const struct bbf_leak_index *index, uint32_t node)
{
    const struct bbf_snapshot *snapshot = index->snapshot;
    const struct bbf_snap_node *row = &snapshot->nodes[node];
    const char *glue = " ";

    if (index->order != NULL && (row->leaked_ | row->aged_) != 0)
        for (size_t i = first_row(index, node); i < snapshot->n_leaks; i++) {
            const struct bbf_snap_leak *leak = &snapshot->leaks[index->order[i]];
            if (leak->node != node)
                break;
            add_leak(out, snapshot, &glue, leak);
        }
    /* At a limit there was no room for the release's own line (ref=0, which needs no word). */
    if (row->ref != BBF_REF_0)
        add_count(out, &glue, "released", row->released_);
    if (row->live_ != 0) {
        add_count(out, &glue, "live", row->live_);
        bbf_buf_str(out, " (");
        bbf_text_bytes(out, row->live_bytes_);
        bbf_buf_char(out, ')');
    }
    add_count(out, &glue, "static", row->static_);
    add_count(out, &glue, "held", row->held_);
    add_count(out, &glue, "harmless", row->harmless_);
    add_count(out, &glue, "unknown", row->unknown_);
}
