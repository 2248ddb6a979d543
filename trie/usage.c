/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/usage.h"

#include <stdlib.h>

#include "core/err.h"
#include "snapshot/snapshot.h"
#include "trie/fault.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/open_life.h"
#include "trie/section.h"

enum {
    PROBES = 16,
    MEMORY_BITS = 8,
    MEMORY_MASK = (1 << MEMORY_BITS) - 1,
    /* Of a report: rows while it is made, a power of two, half of them filled at most; and listed.
     */
    PLACES = 4 * BBF_USAGE_ROWS,
    LISTED = 1024
};

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40);
}

static uint64_t key_of(uint32_t node, uint8_t memory)
{
    return (uint64_t)node << MEMORY_BITS | memory;
}

static uint32_t now_of(const struct bbf_tracker *t)
{
    return atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
}

/* ---- lives that ended ---- */

/* The key's row, or a free one that becomes it; NULL: neither is near its place. */
static struct bbf_usage_row *row_of(struct bbf_usage_table *table, uint64_t key)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        struct bbf_usage_row *row = &table->rows[(hash(key) + i) % BBF_USAGE_ROWS];
        uint64_t is = atomic_load_explicit(&row->key, memory_order_relaxed);
        /* Relaxed: a key says all, and no other word is read because of it. */
        if (is == 0 && atomic_compare_exchange_strong_explicit(
                           &row->key, &is, key, memory_order_relaxed, memory_order_relaxed))
            return row;
        if (is == key)
            return row;
    }
    return NULL;
}

/* Sums: relaxed, each is complete at rest. */
static void add(_Atomic uint64_t *to, uint64_t what)
{
    atomic_fetch_add_explicit(to, what, memory_order_relaxed);
}

static void add_life(struct bbf_usage_row *row, const struct bbf_usage_life *life, uint64_t seconds)
{
    const bool is_known = life->written >= 0 && (uint32_t)life->written <= life->bytes;
    if (!is_known) {
        add(&row->other_lives, 1);
        add(&row->other_byte_seconds, life->bytes * seconds);
        if (life->written != BBF_USAGE_NOT_ASKED)
            add(&row->not_read, 1);
        return;
    }
    const uint32_t unwritten = life->bytes - (uint32_t)life->written;
    add(&row->measured, 1);
    add(&row->measured_bytes, life->bytes);
    add(&row->measured_byte_seconds, life->bytes * seconds);
    if (unwritten != 0)
        add(&row->unwritten_byte_seconds, unwritten * seconds);
}

/* Seconds of the life that are not before the last reset. */
static uint32_t seconds_of(const struct bbf_tracker *t, uint32_t seconds)
{
    uint32_t now = now_of(t), since = atomic_load_explicit(&t->usage.since, memory_order_relaxed);
    uint32_t most = now > since ? now - since : 0;
    return seconds < most ? seconds : most;
}

void bbf_usage_add(struct bbf_tracker *t, const struct bbf_usage_life *life)
{
    if (life->bytes == 0)
        return;
    if (!bbf_section_enter()) {
        bbf_tracker_fault(t);
        return;
    }
    /* Acquire: with bbf_usage_reset(), so that the table is empty, and `since` that of the reset.
     */
    uint32_t current = atomic_load_explicit(&t->usage.current, memory_order_acquire);
    struct bbf_usage_table *table = &t->usage.table[current];
    uint64_t seconds = seconds_of(t, life->seconds);
    uint32_t node = bbf_node_charged(t, life->node, 0);
    struct bbf_usage_row *row = seconds != 0 ? row_of(table, key_of(node, life->memory)) : NULL;
    if (row != NULL) {
        add_life(row, life, seconds);
    } else if (seconds != 0) {
        add(&table->beyond, life->bytes * seconds * bbf_node_weight(t, node));
    }
    bbf_section_leave();
}

/* Only the rows that were in use: the pages of the others are not there. */
static void clear(struct bbf_usage_table *table)
{
    for (size_t i = 0; i < BBF_USAGE_ROWS; i++) {
        struct bbf_usage_row *row = &table->rows[i];
        if (atomic_load_explicit(&row->key, memory_order_relaxed) == 0)
            continue;
        _Atomic uint64_t *words[] = {&row->other_lives,
                                     &row->other_byte_seconds,
                                     &row->measured,
                                     &row->measured_bytes,
                                     &row->measured_byte_seconds,
                                     &row->unwritten_byte_seconds,
                                     &row->not_read,
                                     &row->key};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            atomic_store_explicit(words[k], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&table->beyond, 0, memory_order_relaxed);
}

void bbf_usage_reset(struct bbf_tracker *t)
{
    uint32_t old = atomic_load_explicit(&t->usage.current, memory_order_relaxed);
    atomic_store_explicit(&t->usage.since, now_of(t), memory_order_relaxed);
    /* Release: with bbf_usage_add(). The other table is empty since the reset before this one. */
    atomic_store_explicit(&t->usage.current, 1 - old, memory_order_release);
    bbf_section_synchronize();
    clear(&t->usage.table[old]);
}

void bbf_usage_set(struct bbf_tracker *t, bool on)
{
    _Atomic uint32_t *flags = bbf_shared_int(t, BBF_L_SHARED_FLAGS);
    if (on == t->usage.on)
        return;
    t->usage.on = on;
    if (on) {
        bbf_usage_reset(t);
        atomic_fetch_or(flags, (uint32_t)BBF_L_SHARED_USAGE);
    } else {
        atomic_fetch_and(flags, ~(uint32_t)BBF_L_SHARED_USAGE);
    }
}

/* ---- a report ---- */

/* Rows by their key, while they are collected. */
struct sums {
    struct bbf_snap_usage *rows;
    uint32_t *places; /* open addressing: index + 1 */
    size_t n;
    uint64_t unlisted;
};

/* NULL: no room. */
static struct bbf_snap_usage *find(struct sums *s, uint32_t node, uint8_t memory)
{
    for (uint32_t at = hash(key_of(node, memory));; at++) {
        uint32_t *place = &s->places[at % PLACES];
        if (*place == 0) {
            if (s->n == PLACES / 2)
                return NULL;
            *place = (uint32_t)++s->n;
            s->rows[s->n - 1].node = node;
            s->rows[s->n - 1].memory = (enum bbf_memory)memory;
        }
        struct bbf_snap_usage *row = &s->rows[*place - 1];
        if (row->node == node && row->memory == (enum bbf_memory)memory)
            return row;
    }
}

static uint64_t load(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

/* Lives of a sample stand for others; those that were measured, and how large they were, do not. */
static void take_row(const struct bbf_tracker *t, struct sums *s, const struct bbf_usage_row *from,
                     uint64_t key)
{
    uint32_t node = (uint32_t)(key >> MEMORY_BITS);
    uint64_t weight = bbf_node_weight(t, node);
    struct bbf_snap_usage *to = find(s, node, (uint8_t)(key & MEMORY_MASK));
    if (to == NULL) /* never: there are more places than rows */
        return;
    const uint64_t measured = load(&from->measured);
    const uint64_t byte_seconds = load(&from->measured_byte_seconds);
    to->lives += (load(&from->other_lives) + measured) * weight;
    to->byte_seconds += (load(&from->other_byte_seconds) + byte_seconds) * weight;
    to->measured += measured;
    to->measured_bytes += load(&from->measured_bytes);
    to->measured_byte_seconds += byte_seconds * weight;
    /* A life may be added meanwhile. */
    const uint64_t unwritten = load(&from->unwritten_byte_seconds);
    to->unwritten_byte_seconds += (unwritten < byte_seconds ? unwritten : byte_seconds) * weight;
    to->not_read += load(&from->not_read);
}

static void take_open(struct bbf_tracker *t, struct sums *s, uint32_t r, uint32_t now)
{
    struct bbf_open_life life;
    if (!bbf_open_life_read(t, r, now, &life) || life.stopped ||
        (life.mem & BBF_L_MEM_FOREIGN) != 0)
        return; /* its release may have been unseen */
    uint64_t seconds = seconds_of(t, life.loss.seconds), weight = bbf_node_weight(t, life.node);
    uint64_t byte_seconds = life.loss.bytes * seconds * weight;
    if (byte_seconds == 0)
        return;
    struct bbf_snap_usage *to = find(s, life.node, life.loss.memory);
    if (to == NULL) {
        s->unlisted += byte_seconds;
        return;
    }
    to->lives += weight;
    to->byte_seconds += byte_seconds;
}

static void collect(struct bbf_tracker *t, struct sums *s)
{
    struct bbf_usage_table *table = &t->usage.table[atomic_load(&t->usage.current)];
    const uint32_t now = now_of(t);
    for (size_t i = 0; i < BBF_USAGE_ROWS; i++) {
        uint64_t key = load(&table->rows[i].key);
        if (key != 0)
            take_row(t, s, &table->rows[i], key);
    }
    s->unlisted += load(&table->beyond);
    /* Acquire: pairs with bbf_record_bump(). */
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        take_open(t, s, r, now);
}

static int compare(const void *a, const void *b)
{
    const struct bbf_snap_usage *x = a, *y = b;
    return (x->byte_seconds < y->byte_seconds) - (x->byte_seconds > y->byte_seconds);
}

/* The largest, in memory of their size. */
static int list(struct sums *s, struct bbf_snapshot *to)
{
    if (s->n > LISTED) {
        qsort(s->rows, s->n, sizeof *s->rows, compare);
        for (size_t i = LISTED; i < s->n; i++)
            s->unlisted += s->rows[i].byte_seconds;
        s->n = LISTED;
    }
    to->usage = calloc(s->n + 1, sizeof *to->usage);
    if (to->usage == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n; i++)
        to->usage[to->n_usage++] = s->rows[i];
    to->usage_of.unlisted = s->unlisted;
    return BBF_OK;
}

int bbf_usage_fill(struct bbf_tracker *t, struct bbf_snapshot *snapshot)
{
    const size_t bytes = PLACES * sizeof(uint32_t) + PLACES / 2 * sizeof(struct bbf_snap_usage);
    const uint32_t now = now_of(t), since = atomic_load(&t->usage.since);
    struct sums s = {0};
    int err = BBF_ENOMEM;

    if (!t->usage.on || now <= since)
        return BBF_OK;
    if (!bbf_budget_charge(&t->budget, bytes))
        return bbf_snapshot_add_text(&snapshot->notes, &snapshot->n_notes,
                                     "memory over time: memory= has no room to sum it up");
    s.rows = calloc(PLACES / 2, sizeof *s.rows);
    s.places = calloc(PLACES, sizeof *s.places);
    if (s.rows != NULL && s.places != NULL) {
        collect(t, &s);
        err = list(&s, snapshot);
        snapshot->usage_of.seconds = now - since;
    }
    free(s.rows);
    free(s.places);
    bbf_budget_uncharge(&t->budget, bytes);
    return err;
}
