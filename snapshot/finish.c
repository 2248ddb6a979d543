/* SPDX-License-Identifier: Apache-2.0 */
/* bbf_snapshot_finish(): rows that are the same become one, in their order, and what follows from
 * them. */
#include "snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"

static int compare_leak_keys(const void *a, const void *b)
{
    const struct bbf_snap_leak *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->lost > y->lost) - (x->lost < y->lost);
}

/* Most bytes first, then most lives, then by node; the other keys only make the order total. */
static int compare_leaks(const void *a, const void *b)
{
    const struct bbf_snap_leak *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return compare_leak_keys(a, b);
}

static void merge_leak(struct bbf_snap_leak *to, const struct bbf_snap_leak *from)
{
    if (from->count > to->count) { /* two medians cannot be merged: keep that of the larger part */
        to->p50_seconds = from->p50_seconds;
        to->thread = from->thread;
        to->thread_count = from->thread_count;
    }
    to->count += from->count;
    to->bytes += from->bytes;
    to->references += from->references;
    if (from->oldest_seconds > to->oldest_seconds)
        to->oldest_seconds = from->oldest_seconds;
}

/* Remove rows without lives; merge rows with the same node, verdict, memory and loss. */
static void merge_leaks(struct bbf_snapshot *snapshot)
{
    struct bbf_snap_leak *leaks = snapshot->leaks;
    size_t kept = 0;

    if (snapshot->n_leaks > 1)
        qsort(leaks, snapshot->n_leaks, sizeof *leaks, compare_leak_keys);
    for (size_t i = 0; i < snapshot->n_leaks; i++) {
        if (leaks[i].count == 0)
            continue;
        if (kept > 0 && compare_leak_keys(&leaks[kept - 1], &leaks[i]) == 0) {
            merge_leak(&leaks[kept - 1], &leaks[i]);
        } else {
            leaks[kept++] = leaks[i];
        }
    }
    snapshot->n_leaks = kept;
}

static int compare_pin_keys(const void *a, const void *b)
{
    const struct bbf_snap_pin *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return (x->memory > y->memory) - (x->memory < y->memory);
}

static int compare_pins(const void *a, const void *b)
{
    const struct bbf_snap_pin *x = a, *y = b;
    if (x->reserved != y->reserved)
        return x->reserved > y->reserved ? -1 : 1;
    if (x->buffers != y->buffers)
        return x->buffers > y->buffers ? -1 : 1;
    return compare_pin_keys(a, b);
}

static void merge_pin(struct bbf_snap_pin *to, const struct bbf_snap_pin *from)
{
    to->buffers += from->buffers;
    to->bytes += from->bytes;
    to->chunks += from->chunks;
    to->reserved += from->reserved;
    if (from->smallest < to->smallest)
        to->smallest = from->smallest;
    if (from->largest > to->largest)
        to->largest = from->largest;
}

/* Remove rows without buffers; merge rows with the same node, pool and memory; order them. */
static int compare_callers(const void *a, const void *b)
{
    const struct bbf_snap_caller *x = a, *y = b;

    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->leaked != y->leaked)
        return x->leaked > y->leaked ? -1 : 1;
    if (x->sampled != y->sampled)
        return x->sampled > y->sampled ? -1 : 1;
    return (x->caller > y->caller) - (x->caller < y->caller);
}

static void merge_pins(struct bbf_snapshot *snapshot)
{
    struct bbf_snap_pin *pins = snapshot->pins;
    size_t kept = 0;

    if (snapshot->n_pins == 0)
        return;
    qsort(pins, snapshot->n_pins, sizeof *pins, compare_pin_keys);
    for (size_t i = 0; i < snapshot->n_pins; i++) {
        if (pins[i].buffers == 0)
            continue;
        if (kept > 0 && compare_pin_keys(&pins[kept - 1], &pins[i]) == 0)
            merge_pin(&pins[kept - 1], &pins[i]);
        else
            pins[kept++] = pins[i];
    }
    snapshot->n_pins = kept;
    qsort(pins, kept, sizeof *pins, compare_pins);
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

/* By node, the last that was lost first; the other keys only make the order total. */
static int compare_contexts(const void *a, const void *b)
{
    const struct bbf_snap_context *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->lost_ms != y->lost_ms)
        return x->lost_ms > y->lost_ms ? -1 : 1;
    if (x->open_seconds != y->open_seconds)
        return x->open_seconds < y->open_seconds ? -1 : 1;
    int order = compare_texts(x->channel, y->channel);
    if (order == 0)
        order = compare_texts(x->address, y->address);
    return order != 0 ? order : compare_texts(x->hint, y->hint);
}

static int compare_growth_keys(const void *a, const void *b)
{
    const struct bbf_snap_growth *x = a, *y = b;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->lost > y->lost) - (x->lost < y->lost);
}

/* Lost in all intervals, or held now. */
static uint64_t growth_bytes(const struct bbf_snap_growth *row)
{
    uint64_t bytes = 0;

    for (uint32_t i = row->of == BBF_GROWTH_LOST || row->n == 0 ? 0 : row->n - 1; i < row->n; i++)
        bytes += row->at[i].bytes;
    return bytes;
}

static int compare_growth(const void *a, const void *b)
{
    const struct bbf_snap_growth *x = a, *y = b;
    uint64_t of_x = growth_bytes(x), of_y = growth_bytes(y);
    if (x->of == y->of && of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return compare_growth_keys(a, b);
}

/* Both end with the same interval. `from` is empty then. */
static void merge_growth_row(struct bbf_snap_growth *to, struct bbf_snap_growth *from)
{
    if (from->n > to->n) {
        struct bbf_snap_interval *at = to->at;
        uint32_t n = to->n;
        to->at = from->at;
        to->n = from->n;
        from->at = at;
        from->n = n;
    }
    for (uint32_t i = 0; i < from->n; i++) {
        to->at[to->n - from->n + i].lives += from->at[i].lives;
        to->at[to->n - from->n + i].bytes += from->at[i].bytes;
    }
    to->first_ms = from->first_ms < to->first_ms ? from->first_ms : to->first_ms;
    to->last_ms = from->last_ms > to->last_ms ? from->last_ms : to->last_ms;
    free(from->at);
}

/* Merge rows with the same kind, node, memory and loss; order them. */
static void merge_growth(struct bbf_snapshot *snapshot)
{
    struct bbf_snap_growth *rows = snapshot->growth;
    size_t kept = 0;

    if (snapshot->n_growth == 0)
        return;
    qsort(rows, snapshot->n_growth, sizeof *rows, compare_growth_keys);
    for (size_t i = 0; i < snapshot->n_growth; i++)
        if (kept > 0 && compare_growth_keys(&rows[kept - 1], &rows[i]) == 0)
            merge_growth_row(&rows[kept - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    snapshot->n_growth = kept;
    qsort(rows, kept, sizeof *rows, compare_growth);
}

static int compare_usage_keys(const void *a, const void *b)
{
    const struct bbf_snap_usage *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->memory > y->memory) - (x->memory < y->memory);
}

static int compare_usage(const void *a, const void *b)
{
    const struct bbf_snap_usage *x = a, *y = b;
    if (x->byte_seconds != y->byte_seconds)
        return x->byte_seconds > y->byte_seconds ? -1 : 1;
    return compare_usage_keys(a, b);
}

/* Remove rows without lives; merge rows with the same node and memory; order them. */
static void merge_usage(struct bbf_snapshot *snapshot)
{
    struct bbf_snap_usage *rows = snapshot->usage;
    size_t kept = 0;

    if (snapshot->n_usage == 0)
        return;
    qsort(rows, snapshot->n_usage, sizeof *rows, compare_usage_keys);
    for (size_t i = 0; i < snapshot->n_usage; i++) {
        if (rows[i].lives == 0)
            continue;
        if (kept == 0 || compare_usage_keys(&rows[kept - 1], &rows[i]) != 0) {
            rows[kept++] = rows[i];
            continue;
        }
#define XX(name) rows[kept - 1].name += rows[i].name;
        BBF_USAGE_COLUMNS(XX)
#undef XX
    }
    snapshot->n_usage = kept;
    qsort(rows, kept, sizeof *rows, compare_usage);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/*
 * Store the lost lives of node `i` that no leak row names in `out`, as up to two rows. *at walks
 * through the leaks, which are sorted by node, as `i` goes up: this needs no table by node, of
 * which there may be a million.
 */
static size_t unlisted(const struct bbf_snapshot *snapshot, size_t count, size_t i, size_t *at,
                       struct bbf_snap_leak out[2])
{
    const struct bbf_snap_node *node = &snapshot->nodes[i];
    uint64_t leaked = node->leaked_, bytes = node->leaked_bytes_, aged = node->aged_;
    size_t n = 0;

    for (; *at < count && snapshot->leaks[*at].node == i; ++*at) {
        const struct bbf_snap_leak *leak = &snapshot->leaks[*at];
        if (leak->verdict == BBF_VERDICT_AGED) {
            aged = less(aged, leak->count);
        } else {
            leaked = less(leaked, leak->count);
            bytes = less(bytes, leak->bytes);
        }
    }
    if (leaked != 0)
        out[n++] = (struct bbf_snap_leak){.node = (uint32_t)i,
                                          .verdict = BBF_VERDICT_LEAKED,
                                          .memory = BBF_MEM_UNKNOWN,
                                          .count = leaked,
                                          .bytes = bytes};
    if (aged != 0)
        out[n++] = (struct bbf_snap_leak){.node = (uint32_t)i,
                                          .verdict = BBF_VERDICT_AGED,
                                          .memory = BBF_MEM_UNKNOWN,
                                          .count = aged};
    return n;
}

/* Sorts and merges the leaks first, and again if rows were added. */
static int list_all_leaks(struct bbf_snapshot *snapshot)
{
    struct bbf_snap_leak two[2];
    size_t listed = snapshot->n_leaks, more = 0;

    for (size_t i = 0, at = 0; i < snapshot->n_nodes; i++)
        more += unlisted(snapshot, listed, i, &at, two);
    if (more == 0)
        return 0;
    struct bbf_snap_leak *leaks = reallocarray(snapshot->leaks, listed + more, sizeof *leaks);
    if (leaks == NULL)
        return BBF_ENOMEM;
    snapshot->leaks = leaks;
    for (size_t i = 0, at = 0; i < snapshot->n_nodes; i++) {
        size_t n = unlisted(snapshot, listed, i, &at, two);
        for (size_t k = 0; k < n; k++)
            leaks[snapshot->n_leaks++] = two[k];
    }
    merge_leaks(snapshot);
    return 0;
}

static void sum_columns(struct bbf_snapshot *snapshot, const uint32_t *parents)
{
    struct bbf_snap_totals *totals = &snapshot->totals;

    totals->lives_ = totals->released_ = totals->live_ = totals->aged_ = totals->static_ = 0;
    totals->leaked_ = totals->held_ = totals->harmless_ = totals->unknown_ = 0;
    totals->live_bytes_ = totals->leaked_bytes_ = 0;
    for (size_t i = 0; i < snapshot->n_nodes; i++) {
        struct bbf_snap_node *node = &snapshot->nodes[i];
        node->passed_ = node->released_ + node->live_ + node->leaked_ + node->held_ +
                        node->harmless_ + node->unknown_;
        totals->lives_ += node->passed_;
        totals->released_ += node->released_;
        totals->live_ += node->live_;
        totals->aged_ += node->aged_;
        totals->static_ += node->static_;
        totals->leaked_ += node->leaked_;
        totals->held_ += node->held_;
        totals->harmless_ += node->harmless_;
        totals->unknown_ += node->unknown_;
        totals->live_bytes_ += node->live_bytes_;
        totals->leaked_bytes_ += node->leaked_bytes_;
    }
    /* Children come after their parents, so one walk backwards carries every sum to its root. */
    for (size_t i = snapshot->n_nodes; i-- > 0;)
        if (parents[i] != BBF_NO_PARENT)
            snapshot->nodes[parents[i]].passed_ += snapshot->nodes[i].passed_;
}

int bbf_snapshot_finish(struct bbf_snapshot *snapshot)
{
    int err = bbf_snapshot_check(snapshot);

    if (err != 0)
        return err;
    uint32_t *parents = calloc(snapshot->n_nodes + 1, sizeof *parents);
    if (parents == NULL)
        return BBF_ENOMEM;
    err = bbf_snapshot_parents(snapshot, parents, NULL);
    if (err == 0) {
        merge_leaks(snapshot);
        merge_pins(snapshot);
        merge_growth(snapshot);
        merge_usage(snapshot);
        if (snapshot->n_contexts > 1)
            qsort(snapshot->contexts, snapshot->n_contexts, sizeof *snapshot->contexts,
                  compare_contexts);
        if (snapshot->n_callers > 1)
            qsort(snapshot->callers, snapshot->n_callers, sizeof *snapshot->callers,
                  compare_callers);
        err = list_all_leaks(snapshot);
    }
    if (err == 0) {
        sum_columns(snapshot, parents);
        if (snapshot->n_leaks > 1)
            qsort(snapshot->leaks, snapshot->n_leaks, sizeof *snapshot->leaks, compare_leaks);
    }
    free(parents);
    return err;
}
