/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/capture.c - copies the live trie into a bbf_snapshot while the application runs. Nodes that
 * a life has reached since the last reset get a row, as far as `memory` has room; a node without a
 * row is part of its parent's. The totals are sums of the rows.
 *
 * Two passes over everything: the first counts the lives that passed each node, which decides which
 * nodes get rows; the second fills the rows. Changes in between are counted in the row that the
 * node is part of.
 */
#include "trie/capture.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "snapshot/regroup.h"
#include "snapshot/snapshot.h"
#include "trie/after_release.h"
#include "trie/aged.h"
#include "trie/facts.h"
#include "trie/lives.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/open_life.h"
#include "trie/site.h"
#include "trie/sums.h"
#include "trie/tombs.h"

enum { INDEX_MASK = (1 << BBF_L_ARENA_SHIFT) - 1, RESERVED = 2 };

/* The nodes ?raced, ?before-reset and those of one arena, as places 0 to RESERVED + nodes - 1. */
struct columns {
    uint32_t arena, nodes;
    uint32_t *row_of; /* by place: while rows are chosen, its lives and those below it, up to
                       * UINT32_MAX; then its row's number + 1, or that of the nearest ancestor */
    struct bbf_snap_node *rows;
    uint32_t kept;
    uint32_t now;
    struct bbf_aged aged;
};

enum { NO_PLACE = UINT32_MAX };

static uint32_t id_at(const struct columns *c, uint32_t place)
{
    return place < RESERVED ? BBF_L_NODE_RACED + place
                            : (c->arena << BBF_L_ARENA_SHIFT) + place - RESERVED;
}

/* NO_PLACE: below a root that was made after the capture began. */
static uint32_t place_of(const struct bbf_tracker *t, const struct columns *c, uint32_t node)
{
    /* A node made after the capture began: this time its lives count at the nearest known
     * ancestor. */
    while (node >> BBF_L_ARENA_SHIFT == c->arena && (node & INDEX_MASK) >= c->nodes)
        node = bbf_node_at(t, node)->parent;
    if (node == BBF_L_NODE_RACED || node == BBF_L_NODE_BEFORE_RESET)
        return node - BBF_L_NODE_RACED;
    if (node >> BBF_L_ARENA_SHIFT == c->arena)
        return RESERVED + (node & INDEX_MASK);
    return node == BBF_L_NODE_NONE ? NO_PLACE : 1; /* an older arena */
}

/* The parent's place; NO_PLACE for roots. */
static uint32_t parent_of(const struct bbf_tracker *t, const struct columns *c, uint32_t place)
{
    return place < RESERVED ? NO_PLACE : place_of(t, c, bbf_node_at(t, id_at(c, place))->parent);
}

static struct bbf_snap_node *row_at(const struct columns *c, uint32_t place)
{
    return place == NO_PLACE || c->row_of[place] == 0 ? NULL : &c->rows[c->row_of[place] - 1];
}

/* ---- which rows ---- */

static void weigh(struct columns *c, uint32_t place, uint64_t lives)
{
    uint64_t sum = c->row_of[place] + lives;
    c->row_of[place] = lives > UINT32_MAX || sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static void weigh_run(void *columns, uint32_t index, uint64_t count)
{
    weigh(columns, RESERVED + index, count);
}

uint64_t bbf_tracker_live(const struct bbf_tracker *t, bool *estimated)
{
    uint64_t live = 0;
    struct bbf_open_life life;
    /* Acquire: pairs with bbf_record_bump(). */
    uint32_t end = atomic_load_explicit(&((struct bbf_tracker *)(uintptr_t)t)->next_record,
                                        memory_order_acquire);
    *estimated = false;
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        if (!bbf_open_life_read(t, r, 0, &life))
            continue;
        uint32_t weight = bbf_node_weight(t, life.node);
        live += weight;
        *estimated = *estimated || weight > 1;
    }
    return live;
}

static uint64_t ends_at(const struct bbf_tracker *t, const struct bbf_sums *sums,
                        const struct columns *c, uint32_t place, uint64_t *released,
                        uint64_t *unknown)
{
    if (place < RESERVED) {
        *released = sums->reserved_released[BBF_L_NODE_RACED + place];
        *unknown = sums->reserved_unknown[BBF_L_NODE_RACED + place];
    } else {
        uint32_t id = id_at(c, place);
        *released = atomic_load_explicit(bbf_released_count(t, id), memory_order_relaxed);
        *unknown = atomic_load_explicit(&bbf_node_at(t, id)->unknown, memory_order_relaxed);
    }
    return *released + *unknown;
}

/* The place's counts at the last reset. */
static void before(const struct bbf_tracker *t, const struct columns *c, uint32_t place,
                   uint64_t *released, uint64_t *unknown)
{
    const struct bbf_sums *base = t->baseline;
    *released = *unknown = 0;
    if (base == NULL || base->arena != c->arena || place < RESERVED ||
        place - RESERVED >= base->nodes)
        return; /* ?raced and ?before-reset: bbf_sums_subtract() */
    *released = base->released[place - RESERVED];
    *unknown = base->unknown[place - RESERVED];
}

/* Sum the lives at each place, then those below it: children have higher numbers than their
 * parents. A leak weighs more than anything else. */
static void fill_weights(struct bbf_tracker *t, struct columns *c, const struct bbf_sums *totals)
{
    struct bbf_sums sums = *totals;
    uint32_t places = RESERVED + c->nodes;
    uint64_t released, unknown, was, was_unknown;
    struct bbf_open_life life;
    bbf_sums_runs(t, &sums, weigh_run, c);
    if (t->baseline != NULL)
        bbf_sums_subtract(&sums, t->baseline);
    for (uint32_t i = 0; i < places; i++) {
        uint64_t now = ends_at(t, &sums, c, i, &released, &unknown) + c->row_of[i];
        before(t, c, i, &was, &was_unknown);
        c->row_of[i] = 0;
        weigh(c, i, now > was + was_unknown ? now - was - was_unknown : 0);
        if (bbf_node_at(t, id_at(c, i))->leaked != 0)
            weigh(c, i, UINT32_MAX);
    }
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        if (bbf_open_life_read(t, r, c->now, &life) && place_of(t, c, life.node) != NO_PLACE)
            weigh(c, place_of(t, c, life.node), 1);
    for (uint32_t i = 1; i <= t->n_tombs; i++) {
        const struct bbf_tomb *tomb = bbf_tomb_at(t, i);
        /* Never NO_PLACE: only the agent makes tombs, and their nodes are older than this
         * capture. */
        weigh(c, place_of(t, c, bbf_node_charged(t, tomb->node, 0)),
              tomb->end == BBF_END_LEAKED ? UINT32_MAX : tomb->count);
    }
    for (uint32_t i = places; i-- > RESERVED;) {
        uint32_t parent = parent_of(t, c, i);
        if (c->row_of[i] != 0 && parent != NO_PLACE)
            weigh(c, parent, c->row_of[i]);
        else if (c->row_of[i] != 0)
            weigh(c, i, UINT32_MAX); /* a root has no ancestor whose row could include it */
    }
}

static size_t at_least(const struct columns *c, uint32_t weight)
{
    size_t n = 0;
    for (uint32_t i = 0; i < RESERVED + c->nodes; i++)
        n += c->row_of[i] >= weight;
    return n;
}

/*
 * Keep the `most` heaviest rows. A parent weighs at least as much as its child and has a smaller
 * number, so the parent of a kept row is also kept.
 */
static void choose_rows(const struct bbf_tracker *t, struct columns *c, size_t most)
{
    uint32_t low = 1, high = UINT32_MAX; /* the least weight that fits, with all heavier rows */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at_least(c, middle) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    bool all = at_least(c, high) <= most; /* false: not even the leaks, UINT32_MAX, fit */
    uint32_t less = all ? high - 1 : UINT32_MAX;
    size_t spare = all ? most - at_least(c, high) : most;
    for (uint32_t i = 0; i < RESERVED + c->nodes; i++) {
        uint32_t weight = c->row_of[i], parent = parent_of(t, c, i);
        bool kept = weight > less || (weight == less && weight != 0 && spare > 0);
        spare -= kept && weight == less ? 1 : 0;
        if (parent == NO_PLACE && weight != 0)
            kept = true; /* also ?raced and ?before-reset */
        kept = kept && bbf_site_get(t, bbf_node_at(t, id_at(c, i))->site) != NULL;
        c->row_of[i] = kept ? ++c->kept : parent != NO_PLACE ? c->row_of[parent] : 0;
    }
}

/* How many of the `wanted` rows have room. Their memory is charged to the snapshot. */
static size_t take_room(struct bbf_tracker *t, struct bbf_snapshot *s, size_t wanted, bool leaks)
{
    size_t row = BBF_REPORT_BYTES + (leaks ? BBF_LEAK_BYTES : 0);
    uint64_t need = wanted > BBF_NODES_PER_STEP ? (wanted - BBF_NODES_PER_STEP) * row : 0;
    uint64_t kept_free = 0, limit = atomic_load(&t->budget.limit);
    if (!atomic_exchange(&t->reserve_lent, true)) {
        s->charged.lent = &t->reserve_lent;
        kept_free = bbf_reserved_bytes(BBF_LOW(atomic_load(&t->window)));
    }
    uint64_t more = need > kept_free ? need - kept_free : 0, used = atomic_load(&t->budget.used);
    if (more > 0 && more > (used < limit ? limit - used : 0)) {
        more = used < limit ? limit - used : 0;
        atomic_fetch_add(&t->budget.refused, 1);
    }
    if (more > 0 && !bbf_budget_charge(&t->budget, more))
        more = 0;
    s->charged.used = &t->budget.used;
    s->charged.bytes = more;
    return BBF_NODES_PER_STEP + (size_t)((kept_free + more) / row);
}

/* ---- the columns ---- */

static void count_run(void *ctx, uint32_t index, uint64_t count)
{
    struct bbf_snap_node *row = row_at(ctx, RESERVED + index);
    if (row != NULL)
        row->released_ += count;
}

/*
 * Compute the age limit of each row, for now in its column `passed`, which gets its own value when
 * all rows exist: sum the releases up to each root, then copy the root's limit down.
 */
static void fill_age_limits(const struct bbf_tracker *t, const struct columns *c)
{
    uint32_t places = RESERVED + c->nodes;
    for (uint32_t i = places; i-- > 0;) {
        struct bbf_snap_node *row = row_at(c, i), *parent = row_at(c, parent_of(t, c, i));
        if (row == NULL || row == parent)
            continue; /* part of its parent's row */
        row->passed_ += row->released_;
        if (parent != NULL)
            parent->passed_ += row->passed_;
    }
    for (uint32_t i = 0; i < places; i++) {
        struct bbf_snap_node *row = row_at(c, i), *parent = row_at(c, parent_of(t, c, i));
        if (row == NULL || row == parent)
            continue;
        row->passed_ = parent != NULL
                           ? parent->passed_
                           : bbf_aged_limit(t, bbf_node_at(t, id_at(c, i))->site, row->passed_);
    }
}

/* The leak that retains this open life: a lost composite that it is a component of, or a lost
 * buffer that was derived from it. Such a life will never be released, even if other objects refer
 * to it. NULL: there is none. */
static struct bbf_tomb *kept_by(const struct bbf_tracker *t, uint32_t r, uint32_t g)
{
    const struct bbf_record_extra *extra = bbf_extra_at(t, r);
    const struct bbf_loss loss = {
        .node = extra->node, .end = BBF_END_LEAKED, .memory = extra->memory, .lost = extra->lost};
    return extra->held == g && extra->leaked ? bbf_tomb_find(t, &loss) : NULL;
}

static void count_live(struct bbf_tracker *t, struct columns *c, uint32_t r)
{
    struct bbf_open_life life;
    if (!bbf_open_life_read(t, r, c->now, &life))
        return;
    struct bbf_snap_node *row = row_at(c, place_of(t, c, life.node));
    if (row == NULL)
        return; /* opened after the rows were chosen */
    row->live_++;
    struct bbf_tomb *leak = kept_by(t, r, life.generation);
    if (leak == NULL) {
        row->live_bytes_ += life.loss.bytes;
    } else {
        uint64_t own = bbf_node_weight(t, life.node), theirs = bbf_node_weight(t, leak->node);
        leak->kept += (life.loss.bytes * own + theirs / 2) / theirs;
    }
    if ((life.mem & BBF_L_MEM_STATIC) != 0)
        row->static_++;
    if (life.loss.memory == BBF_MEM_HEAP)
        t->live_heap++;
    /* One bug is one entry: a life that a leak retains is not also aged. */
    if (life.loss.seconds < row->passed_ || !bbf_open_life_is_judged(&life) || leak != NULL)
        return;
    row->aged_++;
    life.loss.node = (uint32_t)(row - c->rows);
    (void)bbf_aged_add(&c->aged, t, c->kept, &life.loss); /* false: the row has no details */
}

static void count_tombs(const struct bbf_tracker *t, const struct columns *c)
{
    for (uint32_t i = 1; i <= t->n_tombs; i++) {
        const struct bbf_tomb *tomb = bbf_tomb_at(t, i);
        /* Never NULL: the place had a weight when rows were chosen. */
        struct bbf_snap_node *row = row_at(c, place_of(t, c, bbf_node_charged(t, tomb->node, 0)));
        switch ((enum bbf_end)tomb->end) {
        case BBF_END_LEAKED:
            row->leaked_ += tomb->count;
            row->leaked_bytes_ += tomb->bytes + tomb->kept;
            break;
        case BBF_END_HELD:
            row->held_ += tomb->count;
            break;
        case BBF_END_HARMLESS:
            row->harmless_ += tomb->count;
            break;
        case BBF_END_UNKNOWN:
            row->unknown_ += tomb->count;
            break;
        }
    }
}

static void take(uint64_t *from, uint64_t what)
{
    *from = *from > what ? *from - what : 0;
}

static void fill_columns(struct bbf_tracker *t, struct columns *c, struct bbf_sums *sums)
{
    uint32_t places = RESERVED + c->nodes;
    uint64_t released, unknown;
    bbf_sums_runs(t, sums, count_run, c);
    if (t->baseline != NULL)
        bbf_sums_subtract(sums, t->baseline);
    for (uint32_t i = 0; i < places; i++) {
        struct bbf_snap_node *row = row_at(c, i);
        if (row == NULL)
            continue;
        ends_at(t, sums, c, i, &released, &unknown);
        row->released_ += released;
        row->unknown_ += unknown;
        row->leaked_ += bbf_node_at(t, id_at(c, i))->leaked;
    }
    for (uint32_t i = 0; i < places && t->baseline != NULL; i++) {
        struct bbf_snap_node *row = row_at(c, i);
        before(t, c, i, &released, &unknown);
        if (row != NULL) {
            take(&row->released_, released);
            take(&row->unknown_, unknown);
        }
    }
    fill_age_limits(t, c);
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    t->live_heap = 0;
    for (uint32_t i = 1; i <= t->n_tombs; i++)
        bbf_tomb_at(t, i)->kept = 0;
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        count_live(t, c, r);
    count_tombs(t, c);
}

/* Scale the counts of a sample: columns of raw counts become estimates of all lives. */
static void scale_rows(const struct bbf_tracker *t, const struct columns *c, struct bbf_snapshot *s)
{
    uint32_t now = atomic_load(bbf_shared_int(t, BBF_L_SHARED_SAMPLE)) & BBF_L_SAMPLE_N;
    s->totals.sampled_ = now;
    for (uint32_t i = 0, next = 1; i < RESERVED + c->nodes; i++) {
        if (c->row_of[i] != next)
            continue;
        struct bbf_snap_node *row = &c->rows[next++ - 1];
        uint32_t n = bbf_node_weight(t, id_at(c, i));
        if (n > s->totals.sampled_ && n > 1)
            s->totals.sampled_ = n;
#define XX(name) row->name##_ *= n;
        BBF_NODE_COLUMNS(XX)
#undef XX
    }
}

/* ---- the rows ---- */

static int add_site(struct bbf_snapshot *s, const struct bbf_tracker *t, uint32_t id,
                    uint32_t *index_of)
{
    const struct bbf_site *site = bbf_site_get(t, id);
    if (site == NULL || index_of[id] != 0)
        return BBF_OK;
    struct bbf_snap_site *to = &s->sites[s->n_sites];
    to->id = id;
    to->kind = site->kind;
    to->class_name = strdup(site->class_name);
    to->method = strdup(site->method);
    to->descriptor = strdup(site->descriptor);
    to->line = site->line;
    to->enclosing = site->enclosing != NULL ? strdup(site->enclosing) : NULL;
    s->n_sites++; /* before the check, so that the copies are freed with the snapshot */
    index_of[id] = (uint32_t)s->n_sites;
    return to->class_name && to->method && to->descriptor &&
                   (to->enclosing != NULL) == (site->enclosing != NULL)
               ? BBF_OK
               : BBF_ENOMEM;
}

/* The first place of a row is its own; places that are part of it come later. */
static int name_rows(struct bbf_tracker *t, const struct columns *c, struct bbf_snapshot *s)
{
    uint32_t *index_of = calloc(BBF_L_MAX_SITES, sizeof *index_of);
    size_t sites = c->kept + 1 + 2 * s->n_callers;
    sites = sites < BBF_L_MAX_SITES ? sites : BBF_L_MAX_SITES;
    s->sites = calloc(sites, sizeof *s->sites);
    int err = index_of == NULL || s->sites == NULL ? BBF_ENOMEM : BBF_OK;
    for (uint32_t i = 0, next = 1; i < RESERVED + c->nodes && err == BBF_OK; i++) {
        if (c->row_of[i] != next)
            continue;
        struct bbf_node *n = bbf_node_at(t, id_at(c, i));
        uint32_t flags = atomic_load_explicit(&n->flags, memory_order_relaxed);
        struct bbf_snap_node *to = &c->rows[next++ - 1];
        err = add_site(s, t, n->site, index_of);
        to->id = id_at(c, i);
        to->parent = i < RESERVED || n->parent == BBF_L_NODE_NONE ? -1 : (int64_t)n->parent;
        to->site = index_of[n->site] - 1;
        to->ref = (uint8_t)(flags >> BBF_L_FLAG_BUCKET_SHIFT & 3);
        to->loop = (flags & BBF_L_FLAG_LOOP) != 0;
    }
    for (size_t i = 0; i < s->n_callers && err == BBF_OK; i++) {
        struct bbf_snap_caller *row = &s->callers[i];
        err = add_site(s, t, row->root, index_of);
        if (err == BBF_OK)
            err = add_site(s, t, row->caller, index_of);
        row->root = index_of[row->root] - 1;
        row->caller = index_of[row->caller] - 1;
    }
    free(index_of);
    return err;
}

/* `n`: the number of lives that a life of this row represents. */
static void add_leak(struct bbf_snapshot *s, uint32_t row, enum bbf_verdict verdict,
                     const struct bbf_tomb *tomb, uint32_t n)
{
    struct bbf_snap_leak *leak = &s->leaks[s->n_leaks++];
    *leak = (struct bbf_snap_leak){
        .node = row,
        .verdict = verdict,
        .memory = (enum bbf_memory)tomb->memory,
        .count = tomb->count * n,
        .bytes = (tomb->bytes + tomb->kept) * n,
        .references = tomb->references * n,
        .oldest_seconds = tomb->oldest,
        .p50_seconds = bbf_tomb_p50(tomb),
        .lost = (enum bbf_lost)tomb->lost,
    };
    leak->thread = bbf_tomb_opener(tomb, &leak->thread_count);
    leak->thread_count *= n;
}

static int add_leaks(const struct bbf_tracker *t, const struct columns *c, struct bbf_snapshot *s)
{
    s->leaks = calloc((size_t)t->n_tombs + c->aged.n + 1, sizeof *s->leaks);
    if (s->leaks == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 1; i <= t->n_tombs; i++) {
        const struct bbf_tomb *tomb = bbf_tomb_at(t, i);
        if (tomb->end != BBF_END_LEAKED || tomb->count == 0)
            continue;
        uint32_t place = place_of(t, c, bbf_node_charged(t, tomb->node, 0));
        uint32_t row = c->row_of[place] - 1;
        add_leak(s, row, BBF_VERDICT_LEAKED, tomb, bbf_node_weight(t, c->rows[row].id));
    }
    for (uint32_t i = 0; i < c->aged.n; i++)
        add_leak(s, c->aged.tombs[i].node, BBF_VERDICT_AGED, &c->aged.tombs[i],
                 bbf_node_weight(t, c->rows[c->aged.tombs[i].node].id));
    return BBF_OK;
}

/* ---- totals and limits ---- */

static void add_totals(const struct bbf_tracker *t, const struct bbf_sums *sums,
                       struct bbf_snapshot *s)
{
    s->totals.raced_steps_ = sums->tally[BBF_L_TALLY_RACED_STEPS];
    s->totals.dropped_steps_ = sums->tally[BBF_L_TALLY_DROPPED_STEPS];
    s->totals.dropped_lives_ = sums->tally[BBF_L_TALLY_DROPPED_LIVES];
    s->totals.misuse_ = sums->tally[BBF_L_TALLY_MISUSE];
    s->totals.steps_after_release_ = bbf_after_release_sum(t);
    s->totals.holders_unknown_ = sums->tally[BBF_L_TALLY_HOLDERS_UNKNOWN];
    s->totals.undone_ = sums->undone;
    s->totals.untracked_buffers_ = sums->untracked;
    s->totals.out_of_memory_ = sums->exhausted;
    s->totals.elements_cut_ = sums->cut;
    s->totals.no_weakref_ = t->no_weakref;
    s->totals.internal_errors_ += sums->errors + t->empty_slots + t->kept_slots;
}

static void add_count(void *ctx, uint32_t index, uint64_t count)
{
    (void)index;
    *(uint64_t *)ctx += count;
}

/* The baseline is not yet subtracted from `totals`. Each counter is read once: exact at rest
 * only. */
static void add_since_start(struct bbf_tracker *t, const struct columns *c,
                            const struct bbf_sums *totals, struct bbf_snap_since_start *to)
{
    struct bbf_sums sums = *totals;
    uint64_t ends[BBF_ENDS], released, unknown;
    memcpy(ends, t->forgotten, sizeof ends);
    for (uint32_t i = 1; i <= t->n_tombs; i++)
        ends[bbf_tomb_at(t, i)->end] += bbf_tomb_at(t, i)->count;
    *to = (struct bbf_snap_since_start){.released_ = t->forgotten_released,
                                        .held_ = ends[BBF_END_HELD],
                                        .harmless_ = ends[BBF_END_HARMLESS],
                                        .unknown_ = ends[BBF_END_UNKNOWN] + t->forgotten_unknown,
                                        .undone_ = sums.undone,
                                        .dropped_lives_ = sums.tally[BBF_L_TALLY_DROPPED_LIVES],
                                        .raced_steps_ = sums.tally[BBF_L_TALLY_RACED_STEPS]};
    bbf_sums_runs(t, &sums, add_count, &to->released_);
    for (uint32_t i = 0; i < RESERVED + c->nodes; i++) {
        ends_at(t, &sums, c, i, &released, &unknown);
        to->released_ += released;
        to->unknown_ += unknown;
        ends[BBF_END_LEAKED] += bbf_node_at(t, id_at(c, i))->leaked;
    }
    to->leaked_ = ends[BBF_END_LEAKED];
    uint32_t generations = 0, end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        uint64_t life = atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_relaxed);
        generations += BBF_GENERATION(life);
        to->live_ += (life & BBF_L_STATE) == BBF_L_OPEN;
    }
    to->generations_ = generations;
}

static int add_limits(struct bbf_tracker *t, const struct bbf_sums *sums, struct bbf_snapshot *s)
{
    uint32_t next = atomic_load(&t->next_node);
    uint32_t records = atomic_load(&t->next_record) - BBF_L_FIRST_RECORD;
    struct bbf_facts_usage facts;
    bbf_facts_usage(t, &facts);
    const uint32_t *places = t->growth.n;
    uint32_t growth = places[places[BBF_GROWTH_HELD] > places[BBF_GROWTH_LOST]];
    const struct {
        const char *name;
        uint64_t used, limit, hit;
    } all[] = {
        {"maxNodes", next & INDEX_MASK, atomic_load(&t->max_nodes), atomic_load(&t->hit_nodes)},
        {"maxDepth", 0, atomic_load(&t->max_depth),
         atomic_load(&t->hit_depth) + sums->tally[BBF_L_TALLY_DEEP_STEPS]},
        {"maxChildren", 0, atomic_load(&t->max_children), atomic_load(&t->hit_children)},
        {"maxLives", records, atomic_load(&t->max_lives), atomic_load(&t->hit_lives)},
        {"maxSites", t->n_steps, t->max_sites, atomic_load(&t->hit_sites)},
        {"memory", atomic_load(&t->budget.used), atomic_load(&t->budget.limit),
         atomic_load(&t->budget.refused)},
        {"maxFacts", facts.used, facts.limit, facts.dropped},
        {"maxGrowth", growth, t->growth.most, t->growth.hit},
        {"maxContexts", t->contexts.n, t->contexts.most, t->contexts.hit},
    };
    size_t n = sizeof all / sizeof *all;
    uint64_t deepest = 0, widest = 0;
    for (uint32_t id = next & ~(uint32_t)INDEX_MASK; id < next; id++) {
        const struct bbf_node *node = bbf_node_at(t, id);
        uint32_t children =
            atomic_load_explicit(&bbf_node_at(t, id)->children, memory_order_relaxed);
        uint32_t flags = atomic_load_explicit(&bbf_node_at(t, id)->flags, memory_order_relaxed);
        bool step = node->site != 0 && (flags & BBF_L_FLAG_ALIAS) == 0 &&
                    (flags >> BBF_L_FLAG_BUCKET_SHIFT & 3) != BBF_REF_0; /* no release row */
        deepest = step && node->depth > deepest ? node->depth : deepest;
        widest = children > widest ? children : widest;
    }
    if ((s->limits = calloc(n, sizeof *s->limits)) == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct bbf_snap_limit *to = &s->limits[s->n_limits++];
        *to = (struct bbf_snap_limit){strdup(all[i].name), all[i].used, all[i].limit, all[i].hit};
        if (to->name == NULL)
            return BBF_ENOMEM;
    }
    s->limits[1].used = deepest;
    s->limits[2].used = widest;
    return BBF_OK;
}

/* A life without a tomb (no memory) also makes a leak row. */
static bool has_bare_leaks(const struct bbf_tracker *t, const struct columns *c)
{
    for (uint32_t i = 0; i < RESERVED + c->nodes; i++)
        if (bbf_node_at(t, id_at(c, i))->leaked != 0)
            return true;
    return false;
}

/* From the tracker's nodes to rows. */
static void place_growth(const struct bbf_tracker *t, const struct columns *c,
                         struct bbf_snapshot *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_growth; i++) {
        const struct bbf_snap_node *row = row_at(c, place_of(t, c, s->growth[i].node));
        if (row == NULL) {
            free(s->growth[i].at); /* its tree is not part of this capture */
            continue;
        }
        s->growth[kept] = s->growth[i];
        s->growth[kept++].node = (uint32_t)(row - c->rows);
    }
    s->n_growth = kept;
}

/* The same. */
static void place_contexts(const struct bbf_tracker *t, const struct columns *c,
                           struct bbf_snapshot *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_contexts; i++) {
        const struct bbf_snap_node *row = row_at(c, place_of(t, c, s->contexts[i].node));
        if (row == NULL) {
            bbf_snap_context_free(&s->contexts[i]); /* its tree is not part of this capture */
            continue;
        }
        s->contexts[kept] = s->contexts[i];
        s->contexts[kept++].node = (uint32_t)(row - c->rows);
    }
    s->n_contexts = kept;
}

/* The same. */
static void place_pins(const struct bbf_tracker *t, const struct columns *c, struct bbf_snapshot *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_pins; i++) {
        const struct bbf_snap_node *row = row_at(c, place_of(t, c, s->pins[i].node));
        if (row == NULL)
            continue; /* its tree is not part of this capture */
        s->pins[kept] = s->pins[i];
        s->pins[kept++].node = (uint32_t)(row - c->rows);
    }
    s->n_pins = kept;
}

/* The same; lives of another tree count together. */
static void place_usage(const struct bbf_tracker *t, const struct columns *c,
                        struct bbf_snapshot *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_usage; i++) {
        const struct bbf_snap_node *row = row_at(c, place_of(t, c, s->usage[i].node));
        if (row == NULL) {
            s->usage_of.unlisted += s->usage[i].byte_seconds;
            continue;
        }
        s->usage[kept] = s->usage[i];
        s->usage[kept++].node = (uint32_t)(row - c->rows);
    }
    s->n_usage = kept;
}

static int make_rows(struct bbf_tracker *t, struct columns *c, struct bbf_sums *sums,
                     struct bbf_snapshot *s, size_t most)
{
    add_since_start(t, c, sums, &s->since_start);
    fill_weights(t, c, sums);
    size_t wanted = at_least(c, 1);
    size_t room = take_room(t, s, wanted < most ? wanted : most, has_bare_leaks(t, c));
    choose_rows(t, c, room < most ? room : most);
    s->folded_rows = wanted - c->kept;
    s->nodes = c->rows = calloc((size_t)c->kept + 1, sizeof *c->rows);
    if (c->rows == NULL)
        return BBF_ENOMEM;
    fill_columns(t, c, sums);
    add_totals(t, sums, s);
    scale_rows(t, c, s);
    place_pins(t, c, s);
    place_growth(t, c, s);
    place_usage(t, c, s);
    place_contexts(t, c, s);
    int err = add_limits(t, sums, s);
    if (err == BBF_OK)
        err = name_rows(t, c, s);
    if (err == BBF_OK)
        err = add_leaks(t, c, s);
    s->n_nodes = err == BBF_OK ? c->kept : 0;
    if (err == BBF_OK)
        bbf_facts_fill(t, s);
    return err;
}

int bbf_tracker_capture(struct bbf_tracker *t, struct bbf_snapshot *s)
{
    return bbf_tracker_capture_most(t, s, SIZE_MAX);
}

int bbf_tracker_capture_most(struct bbf_tracker *t, struct bbf_snapshot *s, size_t most)
{
    struct bbf_sums sums;
    bbf_sums_total(t, &sums);
    struct columns c = {.arena = sums.arena, .nodes = sums.nodes};
    c.now = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    c.row_of = calloc(RESERVED + (size_t)c.nodes, sizeof *c.row_of);
    int err = c.row_of == NULL ? BBF_ENOMEM : make_rows(t, &c, &sums, s, most);
    bbf_aged_free(&c.aged, t);
    free(c.row_of);
    if (err == BBF_OK && atomic_load(&t->rates[1]) != 0)
        err = bbf_snapshot_merge_rates(s);
    return err == BBF_OK ? bbf_snapshot_finish(s) : err;
}
