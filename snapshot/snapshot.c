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
