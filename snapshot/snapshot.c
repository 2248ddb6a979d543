/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/snapshot.h"

#include "core/err.h"

#include <stdlib.h>
#include <string.h>

struct bbf_snapshot *bbf_snapshot_new(void)
{
    return calloc(1, sizeof(struct bbf_snapshot));
}

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

void bbf_snap_context_free(struct bbf_snap_context *context)
{
    free(context->channel);
    free(context->address);
    free(context->hint);
    free(context->thrown);
    free(context->caught_in);
    *context = (struct bbf_snap_context){0};
}

static int copy_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from != NULL && *to == NULL ? BBF_ENOMEM : BBF_OK;
}

int bbf_snap_context_copy(struct bbf_snap_context *to, const struct bbf_snap_context *from)
{
    int err = BBF_OK;

    *to = (struct bbf_snap_context){.node = from->node,
                                    .lost_ms = from->lost_ms,
                                    .open_seconds = from->open_seconds,
                                    .hint_is = from->hint_is};
    err |= copy_text(&to->channel, from->channel);
    err |= copy_text(&to->address, from->address);
    err |= copy_text(&to->hint, from->hint);
    err |= copy_text(&to->thrown, from->thrown);
    err |= copy_text(&to->caught_in, from->caught_in);
    return err != BBF_OK ? BBF_ENOMEM : BBF_OK;
}

void bbf_snapshot_free(struct bbf_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    free(snapshot->jvm.main);
    free(snapshot->jvm.version);
    free_strings(snapshot->jvm.netty, snapshot->jvm.n_netty);
    free_strings(snapshot->jvm.map_mode, snapshot->jvm.n_map_mode);
    for (size_t i = 0; i < snapshot->n_settings; i++) {
        free(snapshot->settings[i].name);
        free(snapshot->settings[i].value);
    }
    free(snapshot->settings);
    for (size_t i = 0; i < snapshot->n_limits; i++)
        free(snapshot->limits[i].name);
    free(snapshot->limits);
    free_strings(snapshot->notes, snapshot->n_notes);
    free(snapshot->reconciled.pools);
    free_strings(snapshot->reconciled.causes, snapshot->reconciled.n_causes);
    for (size_t i = 0; i < snapshot->n_sites; i++) {
        free(snapshot->sites[i].class_name);
        free(snapshot->sites[i].method);
        free(snapshot->sites[i].descriptor);
        free(snapshot->sites[i].enclosing);
        free(snapshot->sites[i].calls);
        for (uint32_t k = 0; k < snapshot->sites[i].n_throws; k++) {
            free(snapshot->sites[i].throws[k].class_name);
            free(snapshot->sites[i].throws[k].method);
        }
        free(snapshot->sites[i].throws);
    }
    free(snapshot->sites);
    free(snapshot->nodes);
    for (size_t i = 0; i < snapshot->n_threads; i++)
        free(snapshot->threads[i].name);
    free(snapshot->threads);
    free(snapshot->leaks);
    free(snapshot->pins);
    for (size_t i = 0; i < snapshot->n_growth; i++)
        free(snapshot->growth[i].at);
    free(snapshot->growth);
    free(snapshot->usage);
    for (size_t i = 0; i < snapshot->n_contexts; i++)
        bbf_snap_context_free(&snapshot->contexts[i]);
    free(snapshot->contexts);
    free(snapshot->callers);
    for (size_t i = 0; i < snapshot->n_misuses; i++) {
        free_strings(snapshot->misuses[i].path, snapshot->misuses[i].n_path);
        free_strings(snapshot->misuses[i].used_by, snapshot->misuses[i].n_used_by);
    }
    free(snapshot->misuses);
    if (snapshot->charged.used != NULL)
        atomic_fetch_sub(snapshot->charged.used, snapshot->charged.bytes);
    if (snapshot->charged.lent != NULL)
        atomic_store(snapshot->charged.lent, false);
    free(snapshot);
}

static uint32_t id_at(const uint32_t *ids, size_t i, size_t stride)
{
    return *(const uint32_t *)(const void *)((const char *)ids + i * stride);
}

static int fill_direct(struct bbf_id_index *index, const uint32_t *ids, size_t count, size_t stride,
                       size_t *bad)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = &index->direct[id_at(ids, i, stride) - index->base];
        if (*slot != 0) {
            *bad = i;
            return BBF_EFORMAT;
        }
        *slot = (uint32_t)(i + 1);
    }
    return 0;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int fill_pairs(struct bbf_id_index *index, const uint32_t *ids, size_t count, size_t stride,
                      size_t *bad)
{
    for (size_t i = 0; i < count; i++)
        index->pairs[i] = (uint64_t)id_at(ids, i, stride) << 32 | (uint64_t)i;
    qsort(index->pairs, count, sizeof *index->pairs, compare_pairs);
    for (size_t i = 1; i < count; i++)
        if (index->pairs[i] >> 32 == index->pairs[i - 1] >> 32) {
            *bad = (size_t)(index->pairs[i] & UINT32_MAX);
            return BBF_EFORMAT;
        }
    return 0;
}

int bbf_id_index_init(struct bbf_id_index *index, const uint32_t *ids, size_t count, size_t stride,
                      size_t *bad)
{
    uint32_t low = UINT32_MAX, high = 0;
    int err;

    *index = (struct bbf_id_index){0};
    if (count == 0)
        return 0;
    /* Both an index and index + 1 must fit in 32 bits. */
    if (count >= UINT32_MAX) {
        *bad = UINT32_MAX;
        return BBF_EFORMAT;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t id = id_at(ids, i, stride);
        low = id < low ? id : low;
        high = id > high ? id : high;
    }
    if ((uint64_t)high - low < 4 * (uint64_t)count) {
        index->base = low;
        index->count = (size_t)high - low + 1;
        index->direct = calloc(index->count, sizeof *index->direct);
        if (index->direct == NULL)
            return BBF_ENOMEM;
        err = fill_direct(index, ids, count, stride, bad);
    } else {
        index->count = count;
        index->pairs = calloc(count, sizeof *index->pairs);
        if (index->pairs == NULL)
            return BBF_ENOMEM;
        err = fill_pairs(index, ids, count, stride, bad);
    }
    if (err != 0)
        bbf_id_index_free(index);
    return err;
}

void bbf_id_index_free(struct bbf_id_index *index)
{
    free(index->direct);
    free(index->pairs);
    *index = (struct bbf_id_index){0};
}

bool bbf_id_index_find(const struct bbf_id_index *index, uint64_t id, uint32_t *at)
{
    if (id > UINT32_MAX)
        return false;
    if (index->direct != NULL) {
        if (id < index->base || id - index->base >= index->count ||
            index->direct[id - index->base] == 0)
            return false;
        *at = index->direct[id - index->base] - 1;
        return true;
    }
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->pairs[middle] >> 32 < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->count || index->pairs[low] >> 32 != id)
        return false;
    *at = (uint32_t)(index->pairs[low] & UINT32_MAX);
    return true;
}

int bbf_snapshot_parents(const struct bbf_snapshot *snapshot, uint32_t *parents, size_t *bad)
{
    struct bbf_id_index index;
    size_t ignored;

    if (bad == NULL)
        bad = &ignored;
    if (snapshot->n_nodes == 0)
        return 0;
    int err = bbf_id_index_init(&index, &snapshot->nodes[0].id, snapshot->n_nodes,
                                sizeof snapshot->nodes[0], bad);
    if (err != 0)
        return err;
    for (size_t i = 0; i < snapshot->n_nodes && err == 0; i++) {
        int64_t parent = snapshot->nodes[i].parent;
        parents[i] = BBF_NO_PARENT;
        if (parent == -1)
            continue;
        if (parent < 0 || !bbf_id_index_find(&index, (uint64_t)parent, &parents[i]) ||
            parents[i] >= i) {
            *bad = i;
            err = BBF_EFORMAT;
        }
    }
    bbf_id_index_free(&index);
    return err;
}

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

static bool strings_are_valid(char *const *strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strings[i] == NULL)
            return false;
    return true;
}

static bool head_is_valid(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_settings; i++)
        if (snapshot->settings[i].name == NULL || snapshot->settings[i].value == NULL)
            return false;
    for (size_t i = 0; i < snapshot->n_limits; i++)
        if (snapshot->limits[i].name == NULL)
            return false;
    for (size_t i = 0; i < snapshot->reconciled.n_pools; i++)
        if ((unsigned)snapshot->reconciled.pools[i].pool >= BBF_POOLS ||
            (unsigned)snapshot->reconciled.pools[i].memory > BBF_MEM_HEAP)
            return false;
    if (!strings_are_valid(snapshot->reconciled.causes, snapshot->reconciled.n_causes))
        return false;
    return strings_are_valid(snapshot->jvm.netty, snapshot->jvm.n_netty) &&
           strings_are_valid(snapshot->jvm.map_mode, snapshot->jvm.n_map_mode) &&
           strings_are_valid(snapshot->notes, snapshot->n_notes);
}

static bool threads_are_valid(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_threads; i++)
        if (snapshot->threads[i].name == NULL ||
            (i > 0 && snapshot->threads[i].id <= snapshot->threads[i - 1].id))
            return false;
    return true;
}

static bool growth_is_valid(const struct bbf_snapshot *snapshot)
{
    const uint64_t seconds = snapshot->history.seconds;

    if (snapshot->history.intervals > BBF_HISTORY_MAX || seconds > BBF_HISTORY_SECONDS ||
        (seconds == 0 && snapshot->n_growth > 0) ||
        (seconds != 0 && snapshot->history.current_seconds >= seconds))
        return false;
    for (size_t i = 0; i < snapshot->n_growth; i++) {
        const struct bbf_snap_growth *row = &snapshot->growth[i];
        if (row->node >= snapshot->n_nodes || (unsigned)row->of > BBF_GROWTH_HELD ||
            (unsigned)row->memory > BBF_MEM_UNKNOWN || (unsigned)row->lost > BBF_LOST_NOTHING ||
            row->n > snapshot->history.intervals)
            return false;
    }
    return true;
}

/* A row says something, and a hint has its kind. */
static bool contexts_are_valid(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_contexts; i++) {
        const struct bbf_snap_context *row = &snapshot->contexts[i];
        if (row->node >= snapshot->n_nodes || (unsigned)row->hint_is > BBF_HINT_CLASS ||
            (row->hint_is == BBF_HINT_NONE) != (row->hint == NULL) ||
            (row->thrown == NULL && row->caught_in != NULL))
            return false;
    }
    return true;
}

int bbf_snapshot_check(const struct bbf_snapshot *snapshot)
{
    if (!head_is_valid(snapshot) || !threads_are_valid(snapshot) || !growth_is_valid(snapshot) ||
        !contexts_are_valid(snapshot))
        return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_sites; i++) {
        const struct bbf_snap_site *site = &snapshot->sites[i];
        if (site->class_name == NULL || site->method == NULL || site->descriptor == NULL ||
            (unsigned)site->kind > BBF_SITE_DECREMENT)
            return BBF_EFORMAT;
        for (uint32_t k = 0; k < site->n_throws; k++)
            if (site->throws[k].class_name == NULL || site->throws[k].method == NULL)
                return BBF_EFORMAT;
        for (uint32_t k = 0; k < site->n_calls; k++)
            if (site->calls[k] >= snapshot->n_sites ||
                (k > 0 && site->calls[k] <= site->calls[k - 1]))
                return BBF_EFORMAT;
    }
    for (size_t i = 0; i < snapshot->n_nodes; i++)
        if (snapshot->nodes[i].site >= snapshot->n_sites || snapshot->nodes[i].ref > BBF_REF_6)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &snapshot->leaks[i];
        if (leak->node >= snapshot->n_nodes || (unsigned)leak->verdict > BBF_VERDICT_AGED ||
            (unsigned)leak->memory > BBF_MEM_UNKNOWN || (unsigned)leak->lost > BBF_LOST_NOTHING)
            return BBF_EFORMAT;
    }
    for (size_t i = 0; i < snapshot->n_pins; i++)
        if (snapshot->pins[i].node >= snapshot->n_nodes ||
            (unsigned)snapshot->pins[i].pool >= BBF_POOLS ||
            (unsigned)snapshot->pins[i].memory > BBF_MEM_HEAP)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_usage; i++)
        if (snapshot->usage[i].node >= snapshot->n_nodes ||
            (unsigned)snapshot->usage[i].memory > BBF_MEM_UNKNOWN)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_callers; i++)
        if (snapshot->callers[i].root >= snapshot->n_sites ||
            snapshot->callers[i].caller >= snapshot->n_sites ||
            (unsigned)snapshot->callers[i].kind >= BBF_CALLERS ||
            snapshot->callers[i].leaked > snapshot->callers[i].sampled)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_misuses; i++) {
        const struct bbf_snap_misuse *row = &snapshot->misuses[i];
        if ((unsigned)row->use > BBF_USE_STEP || !strings_are_valid(row->path, row->n_path) ||
            !strings_are_valid(row->used_by, row->n_used_by))
            return BBF_EFORMAT;
    }
    return 0;
}

int bbf_snapshot_add_text(char ***list, size_t *n, const char *text)
{
    char **grown = realloc(*list, (*n + 1) * sizeof *grown);

    if (grown == NULL)
        return BBF_ENOMEM;
    *list = grown;
    grown[*n] = strdup(text);
    return grown[*n] != NULL ? (++*n, BBF_OK) : BBF_ENOMEM;
}

/* The thread's place in the sorted table, or the place to insert it. */
static size_t thread_place(const struct bbf_snapshot *snapshot, uint64_t id)
{
    size_t low = 0, high = snapshot->n_threads;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (snapshot->threads[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *bbf_snapshot_thread(const struct bbf_snapshot *snapshot, uint64_t id)
{
    size_t at = thread_place(snapshot, id);

    return at < snapshot->n_threads && snapshot->threads[at].id == id ? snapshot->threads[at].name
                                                                      : NULL;
}

int bbf_snapshot_add_thread(struct bbf_snapshot *snapshot, uint64_t id, const char *name)
{
    size_t at = thread_place(snapshot, id);

    if (bbf_snapshot_thread(snapshot, id) != NULL)
        return 0;
    char *copy = strdup(name);
    struct bbf_snap_thread *threads =
        reallocarray(snapshot->threads, snapshot->n_threads + 1, sizeof *threads);
    if (threads != NULL)
        snapshot->threads = threads;
    if (threads == NULL || copy == NULL) {
        free(copy);
        return BBF_ENOMEM;
    }
    memmove(&threads[at + 1], &threads[at], (snapshot->n_threads - at) * sizeof *threads);
    threads[at] = (struct bbf_snap_thread){id, copy};
    snapshot->n_threads++;
    return 0;
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
