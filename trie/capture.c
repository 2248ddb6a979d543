/*
 * trie/capture.c - the live trie as a bbf_snapshot, while the application goes on. Rows are made
 * for nodes that any life reached since the last reset; the totals are sums of those rows.
 */
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "trie/snapshot.h"
#include "trie/sums.h"
#include "trie/tracker.h"

enum { INDEX_MASK = (1 << BBF_L_ARENA_SHIFT) - 1, RESERVED = 2 };

/* Columns by row before rows are chosen: 0 and 1 are ?raced and ?before-reset, then the arena. */
struct columns {
    uint32_t arena, nodes;
    struct bbf_snap_node *rows; /* RESERVED + nodes; those kept are moved to the front */
    uint32_t *row_of;           /* number among the rows that are kept, plus 1 */
};

/* NULL: below a root that was made since we looked. */
static struct bbf_snap_node *row_at(const struct bbf_tracker *t, const struct columns *c,
                                    uint32_t node)
{
    /* A node made since we looked: its lives stand at the ancestor that we know, this time. */
    while (node >> BBF_L_ARENA_SHIFT == c->arena && (node & INDEX_MASK) >= c->nodes)
        node = bbf_node_at(t, node)->parent;
    if (node == BBF_L_NODE_RACED || node == BBF_L_NODE_BEFORE_RESET)
        return &c->rows[node - BBF_L_NODE_RACED];
    if (node >> BBF_L_ARENA_SHIFT == c->arena)
        return &c->rows[RESERVED + (node & INDEX_MASK)];
    return node == BBF_L_NODE_NONE ? NULL : &c->rows[1]; /* an older arena */
}

static uint32_t id_at(const struct columns *c, uint32_t row)
{
    return row < RESERVED ? BBF_L_NODE_RACED + row
                          : (c->arena << BBF_L_ARENA_SHIFT) + row - RESERVED;
}

/* ---- the columns ---- */

static void count_live(struct bbf_tracker *t, const struct columns *c, uint32_t r)
{
    struct bbf_record *record = bbf_record_at(t, r);
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    if ((life & BBF_L_STATE) != BBF_L_OPEN)
        return;
    uint32_t g = BBF_GENERATION(life);
    uint64_t path = atomic_load_explicit(&record->path, memory_order_acquire);
    uint64_t refs = atomic_load_explicit(&record->refs, memory_order_relaxed);
    uint64_t size = atomic_load_explicit(&record->size, memory_order_relaxed);
    uint64_t again = atomic_load_explicit(&record->life, memory_order_acquire);
    if (BBF_GENERATION(again) != g || (again & BBF_L_STATE) != BBF_L_OPEN)
        return; /* ended while we read: its end is counted elsewhere */
    struct bbf_snap_node *row = row_at(t, c, bbf_node_charged(t, path, g));
    if (row == NULL)
        return; /* opened since we looked */
    row->live_++;
    if (BBF_GENERATION(size) == g)
        row->live_bytes_ += BBF_LOW(size);
    uint64_t mem = BBF_GENERATION(refs) == g ? refs >> BBF_L_MEM_SHIFT : BBF_MEM_UNKNOWN;
    if ((mem & BBF_L_MEM_STATIC) != 0)
        row->static_++;
    if ((mem & BBF_L_MEM_KIND) == BBF_MEM_HEAP)
        t->live_heap++;
}

static void count_tombs(const struct bbf_tracker *t, const struct columns *c)
{
    for (size_t i = 0; i < t->cap_tombs; i++) {
        const struct bbf_tomb *tomb = &t->tombs[i];
        if (!tomb->used)
            continue;
        /* Never NULL: only the agent makes tombs, and their nodes were there before it looked. */
        struct bbf_snap_node *row = row_at(t, c, bbf_node_charged(t, tomb->node, 0));
        switch ((enum bbf_end)tomb->end) {
        case BBF_END_LEAKED:
            row->leaked_ += tomb->count;
            row->leaked_bytes_ += tomb->bytes;
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

static void fill_columns(struct bbf_tracker *t, struct columns *c, const struct bbf_sums *sums)
{
    for (uint32_t i = 0; i < c->nodes; i++) {
        c->rows[RESERVED + i].released_ = sums->released[i];
        c->rows[RESERVED + i].unknown_ = sums->unknown[i];
    }
    for (uint32_t i = 0; i < RESERVED; i++) {
        c->rows[i].released_ = sums->reserved_released[BBF_L_NODE_RACED + i];
        c->rows[i].unknown_ = sums->reserved_unknown[BBF_L_NODE_RACED + i];
    }
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    t->live_heap = 0;
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        count_live(t, c, r);
    count_tombs(t, c);
}

/* passed = own ends plus all below; children have higher numbers than their parents. */
static void fill_passed(const struct bbf_tracker *t, struct columns *c)
{
    for (uint32_t i = RESERVED + c->nodes; i-- > 0;) {
        struct bbf_snap_node *row = &c->rows[i];
        const struct bbf_node *n = bbf_node_at(t, id_at(c, i));
        row->passed_ += row->released_ + row->live_ + row->leaked_ + row->held_ + row->harmless_ +
                        row->unknown_;
        if (i >= RESERVED && row->passed_ > 0 && n->parent != BBF_L_NODE_NONE)
            row_at(t, c, n->parent)->passed_ += row->passed_;
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
    s->n_sites++; /* before the check: what was copied is freed with the snapshot */
    index_of[id] = (uint32_t)s->n_sites;
    return to->class_name && to->method && to->descriptor ? BBF_OK : BBF_ENOMEM;
}

/* An alias or a node that lost its race has a parent but no lives; site 0 is never shown. */
static bool is_row(const struct bbf_tracker *t, const struct columns *c, uint32_t i)
{
    struct bbf_node *n = bbf_node_at(t, id_at(c, i));
    return c->rows[i].passed_ > 0 && n->site != 0 && bbf_site_get(t, n->site) != NULL;
}

/* The rows that are kept move to the front: a second array would be the largest thing we ever
 * allocate. */
static int add_rows(struct bbf_tracker *t, struct columns *c, struct bbf_snapshot *s)
{
    uint32_t *index_of = calloc(BBF_L_MAX_SITES, sizeof *index_of);
    uint32_t kept = 0, total = RESERVED + c->nodes;
    for (uint32_t i = 0; i < total; i++)
        if (is_row(t, c, i))
            c->row_of[i] = ++kept;
    s->sites = calloc(kept < BBF_L_MAX_SITES ? kept + 1 : BBF_L_MAX_SITES, sizeof *s->sites);
    int err = index_of == NULL || s->sites == NULL ? BBF_ENOMEM : BBF_OK;
    for (uint32_t i = 0; i < total && err == BBF_OK; i++) {
        if (c->row_of[i] == 0)
            continue;
        struct bbf_node *n = bbf_node_at(t, id_at(c, i));
        uint32_t flags = atomic_load_explicit(&n->flags, memory_order_relaxed);
        err = add_site(s, t, n->site, index_of);
        struct bbf_snap_node *to = &c->rows[c->row_of[i] - 1];
        *to = c->rows[i];
        to->id = id_at(c, i);
        to->parent = i < RESERVED || n->parent == BBF_L_NODE_NONE ? -1 : (int64_t)n->parent;
        to->site = index_of[n->site] - 1;
        to->ref = (uint8_t)(flags >> BBF_L_FLAG_BUCKET_SHIFT & 3);
        to->loop = (flags & BBF_L_FLAG_LOOP) != 0;
    }
    if (err == BBF_OK)
        s->n_nodes = kept;
    free(index_of);
    return err;
}

static int add_leaks(const struct bbf_tracker *t, const struct columns *c, struct bbf_snapshot *s)
{
    s->leaks = calloc(t->n_tombs + 1, sizeof *s->leaks);
    if (s->leaks == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < t->cap_tombs; i++) {
        const struct bbf_tomb *tomb = &t->tombs[i];
        if (!tomb->used || tomb->end != BBF_END_LEAKED || tomb->count == 0)
            continue;
        const struct bbf_snap_node *row = row_at(t, c, bbf_node_charged(t, tomb->node, 0));
        uint32_t kept = c->row_of[row - c->rows];
        if (kept != 0)
            s->leaks[s->n_leaks++] = (struct bbf_snap_leak){
                .node = kept - 1,
                .verdict = BBF_VERDICT_LEAKED,
                .memory = (enum bbf_memory)tomb->memory,
                .count = tomb->count,
                .bytes = tomb->bytes,
                .oldest_seconds = tomb->oldest,
            };
    }
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
    s->totals.holders_unknown_ = sums->tally[BBF_L_TALLY_HOLDERS_UNKNOWN];
    s->totals.undone_ = sums->undone;
    s->totals.untracked_buffers_ = sums->untracked;
    s->totals.no_weakref_ = t->no_weakref;
    s->totals.internal_errors_ += sums->errors + t->empty_slots;
}

/* Before a baseline is taken off `sums`. Each counter is read once: exact at rest only. */
static void add_since_start(const struct bbf_tracker *t, const struct bbf_sums *sums,
                            struct bbf_snap_since_start *to)
{
    uint64_t ends[BBF_ENDS];
    memcpy(ends, t->forgotten, sizeof ends);
    for (size_t i = 0; i < t->cap_tombs; i++)
        if (t->tombs[i].used)
            ends[t->tombs[i].end] += t->tombs[i].count;
    *to = (struct bbf_snap_since_start){.released_ = t->forgotten_released,
                                        .leaked_ = ends[BBF_END_LEAKED],
                                        .held_ = ends[BBF_END_HELD],
                                        .harmless_ = ends[BBF_END_HARMLESS],
                                        .unknown_ = ends[BBF_END_UNKNOWN] + t->forgotten_unknown,
                                        .undone_ = sums->undone,
                                        .dropped_lives_ = sums->tally[BBF_L_TALLY_DROPPED_LIVES],
                                        .raced_steps_ = sums->tally[BBF_L_TALLY_RACED_STEPS]};
    for (uint32_t i = 0; i < sums->nodes; i++) {
        to->released_ += sums->released[i];
        to->unknown_ += sums->unknown[i];
    }
    for (uint32_t i = BBF_L_NODE_RACED; i <= BBF_L_NODE_BEFORE_RESET; i++) {
        to->released_ += sums->reserved_released[i];
        to->unknown_ += sums->reserved_unknown[i];
    }
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
    const struct {
        const char *name;
        uint64_t used, limit, hit;
    } all[] = {
        {"maxNodes", next & INDEX_MASK, atomic_load(&t->max_nodes), atomic_load(&t->hit_nodes)},
        {"maxDepth", 0, atomic_load(&t->max_depth),
         atomic_load(&t->hit_depth) + sums->tally[BBF_L_TALLY_DEEP_STEPS]},
        {"maxChildren", 0, atomic_load(&t->max_children), atomic_load(&t->hit_children)},
        {"maxLives", records, atomic_load(&t->max_lives), atomic_load(&t->hit_lives)},
        {"maxSites", t->n_sites - 1, t->max_sites - 1, atomic_load(&t->hit_sites)},
        {"memory", atomic_load(&t->budget.used), atomic_load(&t->budget.limit),
         atomic_load(&t->budget.refused)},
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

int bbf_tracker_capture(struct bbf_tracker *t, struct bbf_snapshot *s)
{
    struct bbf_sums *sums = bbf_sums_new(t);
    if (sums == NULL)
        return BBF_ENOMEM;
    add_since_start(t, sums, &s->since_start);
    if (t->baseline != NULL)
        bbf_sums_subtract(sums, t->baseline);
    struct columns c = {.arena = sums->arena, .nodes = sums->nodes};
    c.rows = calloc(RESERVED + (size_t)c.nodes, sizeof *c.rows);
    c.row_of = calloc(RESERVED + (size_t)c.nodes, sizeof *c.row_of);
    int err = c.rows == NULL || c.row_of == NULL ? BBF_ENOMEM : BBF_OK;
    if (err == BBF_OK) {
        fill_columns(t, &c, sums);
        add_totals(t, sums, s);
        err = add_limits(t, sums, s);
    }
    bbf_sums_free(sums); /* what is not needed any more goes before more is needed */
    if (err == BBF_OK) {
        fill_passed(t, &c);
        err = add_rows(t, &c, s);
    }
    if (err == BBF_OK)
        err = add_leaks(t, &c, s);
    free(c.row_of);
    if (err != BBF_OK) {
        s->n_nodes = 0;
        free(c.rows);
        return err;
    }
    struct bbf_snap_node *fitting = realloc(c.rows, (s->n_nodes + 1) * sizeof *fitting);
    s->nodes = fitting != NULL ? fitting : c.rows;
    return bbf_snapshot_finish(s);
}
