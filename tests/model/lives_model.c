/*
 * tests/model/lives_model.c - design D12.3 to D12.8 as a model: the shim's open, step and close,
 * the agent's convert and collect (trie/lives.c), a collector that runs whenever something is
 * unreachable. Every load, store and CAS of a shared word is one step; two threads, the agent and
 * the collector take them in any order. Change the shim, trie/lives.c and this together.
 *
 * Options (KEY=VALUE): records=1..2 objects=1..2 ops=N (roots, steps and releases a thread)
 * passes=N (scans) memory=0 SC, 1 TSO, 2 PSO (stores to different words reorder; CAS drains)
 * double=1 (late and double release) share=1 hand over, 2 share strict=1 (only a holder uses a
 * buffer: then nothing may end at ?raced) escape=1 (`this` is seen before its root hook) spill=1
 * (records move through the shared stack) plain=1 (sticky close by plain stores: legal without
 * double) mutant=N (below) states=N expect=green|red.
 *
 * Not modelled: derived lives and views, map mode, stripes (tests/stress), loads that reorder.
 * Findings that this model made are in the design's D12; the first form was C++.
 */
#include "tests/model/search.h"

#include <stdio.h>
#include <string.h>

enum mutant {
    LIFE_BEFORE_SLOT = 1, /* D12.4 */
    PLAIN_CLOSE,          /* D12.6: no CAS, not sticky either */
    PATH_AFTER_CAS,       /* D12.6 */
    IGNORE_CONV,          /* D12.6 */
    NO_GENERATION,        /* D12.5, D12.6 */
    PLAIN_CONV,           /* D12.8: convert by a store */
    LIFE_BEFORE_WEAK, /* D12.8: the weak reference is asked after `life` was read, freed by a store
                       */
    NO_RELEASE,       /* D12.4: life is no release store (PSO) */
    ROOT_STORE,       /* D12.4: a first root writes the handle by a store */
    NODE_NONE_CHARGED /* D12.6: a winner that read node 0 charges it */
};

enum { MAX_R = 2, MAX_O = 2, THREADS = 2, BUFFER = 4 };

/* A word is generation << 4 | low. path: the node; life: STICKY, CONV, state; handle: the record.
 */
enum { GONE = 9 }; /* a cleared weak reference */
enum { OPEN = 1, CLOSED = 2, DEAD = 3, STATE = 3, CONV = 4, STICKY = 8 };
enum { NONE, ROOT, CHILD, RACED, FIRST };
enum { IGN = 15 };

/* Shared words, records and objects counted from 1. */
#define PATH(r) ((r)-1)
#define LIFE(r) (MAX_R + (r)-1)
#define SLOT(r) (2 * MAX_R + (r)-1)
#define NEXT(r) (3 * MAX_R + (r)-1)
#define REFS(r) (4 * MAX_R + (r)-1)
#define BBF(o)  (5 * MAX_R + (o)-1)
#define STACK   (5 * MAX_R + MAX_O)
enum { WORDS = STACK + 1 };

struct thread {
    uint8_t pc, ops, object, record, sticky, tries, list, held, stale, kind, head, after, n;
    uint16_t f, life, path;
    uint8_t at[BUFFER], release[BUFFER]; /* stores not seen by the others yet */
    uint16_t value[BUFFER];
};

struct state {
    uint16_t word[WORDS];
    uint8_t weak[MAX_R + 1]; /* the agent's weak references: an object, or GONE */
    struct thread t[THREADS];
    uint8_t apc, ar, aobject, apass, agone;
    uint16_t alife, atop;
    uint8_t born, counted, pool, dead, used, bump; /* sets of objects; records in use; fresh ones */
    /* What became of the lives of a record, one bit a generation; whose they are. */
    uint8_t released[MAX_R], leaked[MAX_R], begun[MAX_R], undone[MAX_R], unknown[MAX_R];
    uint8_t of[MAX_R][8];
    uint16_t current[MAX_O]; /* the handle of an object's life, by the application's own account */
};

static int n_records, n_objects, n_ops, n_passes, memory, twice, share, strict, escape, spill,
    plain, mutant;

static uint16_t high(uint16_t word)
{
    return word & 0xfff0;
}

static unsigned low(uint16_t word)
{
    return word & 15u;
}

static unsigned generation(uint16_t word)
{
    return word >> 4;
}

static bool same(uint16_t a, uint16_t b)
{
    return high(a) == high(b);
}

static uint8_t bit(unsigned n)
{
    return (uint8_t)(1u << n);
}

/* ---- memory ---- */

static uint16_t load(const struct state *s, unsigned t, unsigned at)
{
    for (unsigned i = s->t[t].n; i-- > 0;)
        if (s->t[t].at[i] == at)
            return s->t[t].value[i];
    return s->word[at];
}

static void commit(struct state *s, unsigned at, uint16_t value)
{
    if (at >= LIFE(1) && at <= LIFE(MAX_R) && generation(value) < generation(s->word[at]))
        model_fail("generation of record %u runs backwards: a life is lost", at - LIFE(1) + 1);
    s->word[at] = value;
}

static bool full(const struct state *s, unsigned t)
{
    return memory != 0 && s->t[t].n == BUFFER;
}

static void store(struct state *s, unsigned t, unsigned at, uint16_t value, bool release)
{
    struct thread *x = &s->t[t];
    if (memory == 0) {
        commit(s, at, value);
        return;
    }
    x->at[x->n] = (uint8_t)at;
    x->value[x->n] = value;
    x->release[x->n++] = release;
}

static void flush_one(struct state *s, unsigned t, unsigned i)
{
    struct thread *x = &s->t[t];
    commit(s, x->at[i], x->value[i]);
    for (x->n--; i < x->n; i++) {
        x->at[i] = x->at[i + 1];
        x->value[i] = x->value[i + 1];
        x->release[i] = x->release[i + 1];
    }
    x->at[x->n] = x->release[x->n] = 0;
    x->value[x->n] = 0;
}

static int move_flush(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t];
    model_note = "(a store becomes visible)";
    if (choice >= x->n || (memory == 1 && choice > 0))
        return 0;
    for (unsigned i = 0; i < choice; i++)
        if (x->at[i] == x->at[choice] || x->release[choice])
            return -1;
    flush_one(s, t, choice);
    return 1;
}

static bool cas(struct state *s, unsigned at, uint16_t expected, uint16_t value)
{
    if (s->word[at] != expected)
        return false;
    commit(s, at, value);
    return true;
}

/* ---- the accounts ---- */

static void opened(struct state *s, unsigned r, unsigned g, unsigned o)
{
    if (g > 7)
        model_fail("bound: generation above 7, give fewer ops");
    else
        s->of[r - 1][g] = (uint8_t)o;
}

static void take_record(struct state *s, unsigned r)
{
    if ((s->used & bit(r)) != 0)
        model_fail("record %u is used by two lives", r);
    s->used |= bit(r);
}

static void free_record(struct state *s, int t, unsigned r)
{
    if ((s->used & bit(r)) == 0)
        model_fail("record %u is freed twice", r);
    s->used &= (uint8_t)~bit(r);
    if ((t < 0 ? s->word[SLOT(r)] : load(s, (unsigned)t, SLOT(r))) != 0)
        model_fail("record %u is free and its slot is filled", r);
    if (s->weak[r] != 0)
        model_fail("record %u is free and has a weak reference", r);
}

/* Where a winner charges: a node 0 is ?raced. */
static void charge_released(struct state *s, unsigned t, unsigned r)
{
    struct thread *x = &s->t[t];
    unsigned g = generation(x->f);
    if ((s->released[r - 1] & bit(g)) != 0)
        model_fail("life %u.%u is released twice", r, g);
    if ((s->leaked[r - 1] & bit(g)) != 0)
        model_fail("life %u.%u is leaked and released", r, g);
    s->released[r - 1] |= bit(g);
    if (s->of[r - 1][g] != x->object)
        model_fail("life %u.%u of object %u is ended by a release of object %u", r, g,
                   s->of[r - 1][g], x->object);
    bool known = same(x->path, x->f) && low(x->path) != NONE;
    if (strict && (!known || low(x->path) == RACED))
        model_fail("life %u.%u ends at ?raced and nobody raced", r, g);
    if (mutant == NODE_NONE_CHARGED && same(x->path, x->f) && low(x->path) == NONE)
        model_fail("life %u.%u is charged at node 0", r, g);
}

/* ---- an application thread ---- */

enum {
    IDLE,
    ROOT_HANDLE,
    ROOT_LIFE,
    ROOT_REFS,
    RENAME_PATH,
    RENAME_REFS,
    REOPEN_PATH,
    REOPEN_REFS,
    REOPEN_LIFE,
    REOPEN_HANDLE,
    TAKE,
    POP_TOP,
    POP_NEXT,
    POP_CAS,
    OPEN_SLOT,
    OPEN_OLD_LIFE,
    OPEN_PATH,
    OPEN_REFS,
    OPEN_LIFE,
    OPEN_HANDLE,
    FENCE,
    END_LIFE,
    END_PATH,
    END_PATH_NONE,
    END_CAS,
    CLOSE_HANDLE,
    CLOSE_LIFE,
    CLOSE_PATH,
    CLOSE_PATH_NONE,
    CLOSE_CAS,
    CLOSE_AGAIN,
    CLOSE_PLAIN,
    CLOSE_PATH_LATE,
    GIVE_SLOT,
    GIVE,
    PUSH_TOP,
    PUSH_NEXT,
    PUSH_CAS,
    AFTER,
    STEP_HANDLE,
    STEP_PATH,
    STEP_STORE,
    MISS_LIFE,
    MISS_STORE
};

static const char *const pc_names[] = {
    "idle",
    "root: handle",
    "root: life",
    "root of an open life: refs",
    "rename: path",
    "rename: refs",
    "reopen: path = {g+1|root}",
    "reopen: refs",
    "reopen: life = OPEN(g+1)",
    "reopen: handle",
    "take a record",
    "pop: top",
    "pop: next",
    "pop: CAS",
    "open: slot",
    "open: life of before",
    "open: path",
    "open: refs",
    "open: life = OPEN",
    "open: handle",
    "store fence",
    "end: life",
    "end: path",
    "end: path = {g|0}",
    "end: CAS life",
    "close: handle",
    "close: life",
    "close: path",
    "close: path = {g|0}",
    "close: CAS life",
    "close: life again",
    "close: life = CLOSED (plain)",
    "close: path = {g|0} (late)",
    "give back: slot = 0",
    "give back: list or stack",
    "push: top",
    "push: next",
    "push: CAS",
    "after",
    "step: handle",
    "step: path",
    "step: path = {g|child}",
    "miss: life",
    "miss: path = {g|?raced}",
};

enum { ALLOCATE, STEP, RELEASE, RELEASE_LATE, DROP, POOL_DROP, HAND_OVER, KINDS };
static const char *const kind_names[] = {
    "== root", "== step",           "== release",  "== release after release",
    "== drop", "== the pool drops", "== hand over"};

static void finish(struct thread *x)
{
    struct thread y = {0};
    y.ops = x->ops;
    y.list = x->list;
    y.held = x->held;
    y.stale = x->stale;
    y.n = x->n;
    memcpy(y.at, x->at, sizeof y.at);
    memcpy(y.release, x->release, sizeof y.release);
    memcpy(y.value, x->value, sizeof y.value);
    memcpy(x, &y, sizeof y);
}

static int begin_allocate(struct state *s, unsigned t, unsigned o)
{
    struct thread *x = &s->t[t], *other = &s->t[1 - t];
    uint8_t b = bit(o);
    if ((s->born & b) != 0 ? (s->pool & b) == 0 : o > 1 && (s->born & bit(o - 1)) == 0)
        return -1;
    if (generation(s->current[o - 1]) >= 6)
        return -1;
    s->born |= b;
    s->pool &= (uint8_t)~b;
    x->held |= b;
    x->stale &= (uint8_t)~b;
    if (memory != 0)
        other->stale |= other->held & b;
    if (escape) {
        other->held |= b;
        other->stale |= b; /* may step, not release */
    }
    x->pc = ROOT_HANDLE;
    return 1;
}

static int begin_release(struct state *s, unsigned t, unsigned o, bool late)
{
    struct thread *x = &s->t[t];
    uint8_t b = bit(o);
    uint16_t handle = s->current[o - 1];
    if ((x->held & b) == 0 ||
        (late ? !twice || (s->counted & b) != 0 : (s->counted & b) == 0 || (x->stale & b) != 0))
        return -1;
    if (!late) { /* Netty's own count is at zero from here on: one winner */
        s->counted &= (uint8_t)~b;
        if (handle != 0)
            s->begun[low(handle) - 1] |= bit(generation(handle));
    }
    x->pc = CLOSE_HANDLE;
    return 1;
}

static int begin(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t], *other = &s->t[1 - t];
    unsigned kind = choice / (unsigned)n_objects, o = choice % (unsigned)n_objects + 1;
    uint8_t b = bit(o);
    int ok = 1;
    if (kind >= KINDS)
        return 0;
    model_note = kind_names[kind];
    if ((s->dead & b) != 0)
        return -1;
    if (kind == DROP || kind == POOL_DROP || kind == HAND_OVER) {
        uint8_t *from = kind == POOL_DROP ? &s->pool : &x->held;
        if ((*from & b) == 0)
            return -1;
        if (kind == HAND_OVER) {
            if (!share || x->n > 0 || (other->held & b) != 0 || (x->stale & b) != 0)
                return -1;
            other->held |= b;
            other->stale &= (uint8_t)~b;
            if (share == 2)
                return 1;
        }
        *from &= (uint8_t)~b;
        x->stale &= (uint8_t)~b;
        return 1;
    }
    if (x->ops >= n_ops)
        return -1;
    if (kind == ALLOCATE)
        ok = begin_allocate(s, t, o);
    else if (kind == STEP && ((x->held & b) == 0 || (strict && (s->counted & b) == 0)))
        ok = -1;
    else if (kind == STEP)
        x->pc = STEP_HANDLE;
    else
        ok = begin_release(s, t, o, kind == RELEASE_LATE);
    if (ok == 1) {
        x->kind = (uint8_t)kind;
        x->object = (uint8_t)o;
        x->ops++;
    }
    return ok;
}

static bool stores(unsigned pc)
{
    switch (pc) {
    case RENAME_PATH:
    case RENAME_REFS:
    case REOPEN_PATH:
    case REOPEN_REFS:
    case REOPEN_LIFE:
    case REOPEN_HANDLE:
    case OPEN_SLOT:
    case OPEN_PATH:
    case OPEN_REFS:
    case OPEN_LIFE:
    case OPEN_HANDLE:
    case END_PATH_NONE:
    case CLOSE_PATH_NONE:
    case CLOSE_PLAIN:
    case CLOSE_PATH_LATE:
    case GIVE_SLOT:
    case GIVE:
    case PUSH_NEXT:
    case STEP_STORE:
    case MISS_STORE:
        return true;
    default:
        return false;
    }
}

/* Roots, and the open of a record (kind STEP: at first sight). */
static void move_open(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned o = x->object, r = x->record;
    uint16_t up = (uint16_t)(high(x->f) + 16);
    switch (x->pc) {
    case ROOT_HANDLE:
        x->f = load(s, t, BBF(o));
        x->record = (uint8_t)low(x->f);
        x->sticky = x->f != 0 ? STICKY : 0;
        x->pc = x->f == 0 || x->record == IGN ? TAKE : ROOT_LIFE;
        break;
    case ROOT_LIFE:
        x->life = load(s, t, LIFE(r));
        if (same(x->life, x->f) && (x->life & STATE) == OPEN)
            x->pc = ROOT_REFS;
        else if (x->after) /* the other's life is over already: rename() does nothing */
            finish(x);
        else
            x->pc = same(x->life, x->f) && (x->life & 15) == (STICKY | CLOSED) ? REOPEN_PATH : TAKE;
        break;
    case ROOT_REFS: /* only first seen so far: it is this root's; else it ends as unknown */
        if (load(s, t, REFS(r)) == (high(x->f) | FIRST))
            x->pc = RENAME_PATH;
        else if (x->after)
            finish(x);
        else
            x->pc = END_PATH;
        break;
    case RENAME_PATH:
        store(s, t, PATH(r), high(x->f) | ROOT, false);
        x->pc = RENAME_REFS;
        break;
    case RENAME_REFS:
        store(s, t, REFS(r), high(x->f) | ROOT, false);
        s->current[o - 1] = x->f;
        finish(x);
        break;
    case REOPEN_PATH:
        store(s, t, PATH(r), up | ROOT, false);
        x->pc = REOPEN_REFS;
        break;
    case REOPEN_REFS:
        store(s, t, REFS(r), up | ROOT, false);
        x->pc = REOPEN_LIFE;
        break;
    case REOPEN_LIFE:
        opened(s, r, generation(up), o);
        store(s, t, LIFE(r), (uint16_t)(up | STICKY | OPEN), true);
        x->pc = REOPEN_HANDLE;
        break;
    case REOPEN_HANDLE:
        store(s, t, BBF(o), (uint16_t)(up | r), false);
        s->current[o - 1] = (uint16_t)(up | r);
        x->pc = FENCE;
        break;
    case FENCE:
        finish(x);
        break;
    default:
        break;
    }
}

static void not_followed(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    if (x->kind == ALLOCATE) {
        s->word[BBF(x->object)] = IGN; /* drained: see needs_drain() */
        s->current[x->object - 1] = 0;
    }
    finish(x);
}

static void move_take(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned first = mutant == LIFE_BEFORE_SLOT ? OPEN_OLD_LIFE : OPEN_SLOT;
    switch (x->pc) {
    case TAKE:
        x->record = x->list;
        if (x->list != 0)
            x->list = (uint8_t)load(s, t, NEXT(x->list));
        x->pc = (uint8_t)(x->record != 0 ? first : POP_TOP);
        break;
    case POP_TOP:
        x->path = s->word[STACK];
        x->head = (uint8_t)low(x->path);
        if (x->head != 0) {
            x->pc = POP_NEXT;
        } else if (s->bump < n_records) {
            x->record = ++s->bump;
            x->pc = (uint8_t)first;
        } else {
            not_followed(s, t);
            return;
        }
        break;
    case POP_NEXT:
        x->life = s->word[NEXT(x->head)];
        x->pc = POP_CAS;
        break;
    default:
        x->pc = POP_TOP;
        if (cas(s, STACK, x->path, (uint16_t)(high(x->path) + 16) | (uint16_t)low(x->life))) {
            x->record = x->head;
            x->pc = (uint8_t)first;
        }
        break;
    }
    if (x->pc == first)
        take_record(s, x->record);
}

static void move_fill(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned o = x->object, r = x->record, node = x->kind == ALLOCATE ? ROOT : FIRST;
    switch (x->pc) {
    case OPEN_SLOT:
        store(s, t, SLOT(r), (uint16_t)o, false);
        x->pc = mutant == LIFE_BEFORE_SLOT ? OPEN_HANDLE : OPEN_OLD_LIFE;
        break;
    case OPEN_OLD_LIFE:
        x->life = (uint16_t)(high(load(s, t, LIFE(r))) + 16);
        x->pc = OPEN_PATH;
        break;
    case OPEN_PATH:
        store(s, t, PATH(r), (uint16_t)(x->life | ROOT), false);
        x->pc = OPEN_REFS;
        break;
    case OPEN_REFS:
        store(s, t, REFS(r), (uint16_t)(x->life | node), false);
        x->pc = OPEN_LIFE;
        break;
    case OPEN_LIFE:
        opened(s, r, generation(x->life), o);
        store(s, t, LIFE(r), (uint16_t)(x->life | OPEN | x->sticky), mutant != NO_RELEASE);
        x->pc = mutant == LIFE_BEFORE_SLOT ? OPEN_SLOT : OPEN_HANDLE;
        break;
    case OPEN_HANDLE:
        x->life = (uint16_t)(high(x->life) | r);
        if (x->sticky != 0 || (mutant == ROOT_STORE && x->kind == ALLOCATE)) {
            store(s, t, BBF(o), x->life, false);
            s->current[o - 1] = x->life;
            x->pc = FENCE;
        } else if (cas(s, BBF(o), 0, x->life)) {
            s->current[o - 1] = x->life;
            finish(x);
        } else { /* another thread saw it first: this is no life */
            x->f = x->life;
            x->after = 1;
            x->pc = END_PATH;
        }
        break;
    default:
        break;
    }
}

/* endBy(): the loser of a race to open (after = 1), or a life that its root found open. */
static void move_end(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record, g = generation(x->f);
    switch (x->pc) {
    case END_PATH:
        x->path = load(s, t, PATH(r));
        x->pc = END_PATH_NONE;
        break;
    case END_PATH_NONE:
        store(s, t, PATH(r), high(x->f), false);
        x->pc = END_LIFE;
        break;
    case END_LIFE:
        x->life = s->word[LIFE(r)];
        if (!same(x->life, x->f) || (x->life & STATE) != OPEN)
            x->pc = x->after ? ROOT_HANDLE : TAKE;
        else
            x->pc = END_CAS;
        break;
    default:
        x->pc = END_LIFE;
        if (!cas(s, LIFE(r), x->life, x->life ^ (OPEN ^ CLOSED)))
            break;
        *(x->after ? &s->undone[r - 1] : &s->unknown[r - 1]) |= bit(g);
        if ((x->life & (CONV | STICKY)) == 0)
            x->pc = GIVE_SLOT;
        else
            x->pc = x->after ? (x->kind == ALLOCATE ? ROOT_HANDLE : FENCE) : ROOT_LIFE;
        break;
    }
}

static void end_of_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    charge_released(s, t, x->record);
    if ((x->life & STICKY) != 0 || ((x->life & CONV) != 0 && mutant != IGNORE_CONV))
        x->pc = AFTER;
    else
        x->pc = GIVE_SLOT;
    if (mutant == PATH_AFTER_CAS) {
        x->after = x->pc;
        x->pc = CLOSE_PATH_LATE;
    }
}

static void move_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    bool by_store;
    switch (x->pc) {
    case CLOSE_HANDLE:
        x->f = load(s, t, BBF(x->object));
        x->record = (uint8_t)low(x->f);
        x->pc = x->f == 0 || x->record == IGN ? AFTER : CLOSE_LIFE;
        break;
    case CLOSE_LIFE:
        x->life = load(s, t, LIFE(r));
        if (mutant == NO_GENERATION)
            x->f = high(x->life) | (uint16_t)r;
        x->pc = !same(x->life, x->f) || (x->life & STATE) != OPEN ? AFTER : CLOSE_PATH;
        break;
    case CLOSE_PATH:
        x->path = load(s, t, PATH(r));
        x->pc = CLOSE_PATH_NONE;
        break;
    case CLOSE_PATH_NONE:
        if (mutant != PATH_AFTER_CAS)
            store(s, t, PATH(r), high(x->f), false);
        by_store = mutant == PLAIN_CLOSE || (plain && (x->life & STICKY) != 0);
        x->pc = by_store ? CLOSE_PLAIN : CLOSE_CAS;
        break;
    case CLOSE_PLAIN:
        store(s, t, LIFE(r), x->life ^ (OPEN ^ CLOSED), true);
        end_of_close(s, t);
        break;
    case CLOSE_CAS:
        if (cas(s, LIFE(r), x->life, x->life ^ (OPEN ^ CLOSED))) {
            end_of_close(s, t);
            break;
        }
        if (++x->tries > 1 + twice)
            model_fail("a close's CAS fails %u times", x->tries);
        x->pc = CLOSE_AGAIN;
        break;
    case CLOSE_AGAIN:
        x->life = s->word[LIFE(r)];
        x->pc = !same(x->life, x->f) || (x->life & STATE) != OPEN ? AFTER : CLOSE_CAS;
        break;
    default: /* CLOSE_PATH_LATE */
        store(s, t, PATH(r), high(x->f), false);
        x->pc = x->after;
        x->after = 0;
        break;
    }
}

/* Whatever follows a record given back. */
static uint8_t after_give(const struct thread *x)
{
    if (x->kind == RELEASE || x->kind == RELEASE_LATE)
        return AFTER;
    if (x->kind == ALLOCATE)
        return x->after ? ROOT_HANDLE : TAKE;
    return FENCE;
}

static int move_give(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    switch (x->pc) {
    case GIVE_SLOT:
        store(s, t, SLOT(r), 0, false);
        x->pc = GIVE;
        break;
    case GIVE: /* to the thread's own list, or to the shared stack */
        if (choice > (unsigned)spill)
            return 0;
        if (choice == 0) {
            free_record(s, (int)t, r);
            store(s, t, NEXT(r), x->list, false);
            x->list = (uint8_t)r;
            x->pc = after_give(x);
        } else {
            x->pc = PUSH_TOP;
        }
        break;
    case PUSH_TOP:
        x->path = s->word[STACK];
        x->pc = PUSH_NEXT;
        break;
    case PUSH_NEXT:
        store(s, t, NEXT(r), (uint16_t)low(x->path), false);
        x->pc = PUSH_CAS;
        break;
    default:
        x->pc = PUSH_TOP;
        if (s->word[STACK] == x->path) {
            free_record(s, (int)t, r);
            s->word[STACK] = (uint16_t)(high(x->path) + 16) | (uint16_t)r;
            x->pc = after_give(x);
        }
        break;
    }
    return 1;
}

static void move_step(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    switch (x->pc) {
    case STEP_HANDLE:
        x->f = load(s, t, BBF(x->object));
        x->record = (uint8_t)low(x->f);
        if (x->record == IGN)
            finish(x);
        else
            x->pc = x->f == 0 ? TAKE : STEP_PATH;
        break;
    case STEP_PATH:
        x->path = load(s, t, PATH(r));
        if (mutant == NO_GENERATION)
            x->f = high(x->path) | (uint16_t)r;
        if (!same(x->path, x->f))
            x->pc = MISS_LIFE;
        else if (low(x->path) == NONE || low(x->path) == RACED)
            finish(x);
        else
            x->pc = STEP_STORE;
        break;
    case STEP_STORE:
        store(s, t, PATH(r), high(x->f) | CHILD, false);
        finish(x);
        break;
    case MISS_LIFE:
        x->life = load(s, t, LIFE(r));
        if (same(x->life, x->f) && (x->life & STATE) == OPEN)
            x->pc = MISS_STORE;
        else
            finish(x);
        break;
    default: /* MISS_STORE */
        if (strict)
            model_fail("a step is repaired to ?raced and nobody raced");
        store(s, t, PATH(r), high(x->f) | RACED, false);
        finish(x);
        break;
    }
}

/* After a release: the object goes back to its pool, or not. */
static int move_after(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t];
    uint8_t b = bit(x->object);
    if (choice > 1 || (choice == 1 && x->kind != RELEASE))
        return 0;
    if (choice == 1) {
        if (x->n > 0)
            return -1;
        s->pool |= b;
        x->held &= (uint8_t)~b;
        x->stale &= (uint8_t)~b;
        model_note = "(recycled)";
    }
    finish(x);
    return 1;
}

/* CAS and volatile accesses wait until the thread's stores are seen. */
static bool needs_drain(unsigned pc, const struct thread *x)
{
    return pc == POP_CAS || pc == POP_TOP || pc == PUSH_CAS || pc == END_CAS || pc == CLOSE_CAS ||
           pc == FENCE || (pc == OPEN_HANDLE && x->sticky == 0 && mutant != ROOT_STORE);
}

static int move_thread(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t];
    unsigned pc = x->pc, kind = pc == IDLE ? KINDS : x->kind, o = x->object;
    int moved = 1;
    if (pc == IDLE)
        return begin(s, t, choice);
    model_note = pc_names[pc];
    if (pc != AFTER && pc != GIVE && choice > 0)
        return 0;
    if ((stores(pc) && full(s, t)) || (needs_drain(pc, x) && x->n > 0))
        return -1;
    if (pc <= REOPEN_HANDLE || pc == FENCE)
        move_open(s, t);
    else if (pc <= POP_CAS)
        move_take(s, t);
    else if (pc <= OPEN_HANDLE)
        move_fill(s, t);
    else if (pc <= END_CAS)
        move_end(s, t);
    else if (pc <= CLOSE_PATH_LATE)
        move_close(s, t);
    else if (pc <= PUSH_CAS)
        moved = move_give(s, t, choice);
    else if (pc == AFTER)
        moved = move_after(s, t, choice);
    else
        move_step(s, t);
    if (moved == 1 && kind == ALLOCATE && x->pc == IDLE)
        s->counted |= bit(o); /* the root hook has returned: the buffer is its caller's */
    return moved;
}

/* ---- the agent: trie/lives.c, one line a step ---- */

enum {
    SCAN,
    CONVERT_LIFE,
    CONVERT_CAS,
    CONVERT_SLOT,
    CONVERT_WEAK,
    CONVERT_CLEAR,
    ASK_WEAK,
    ASK_LIFE,
    BURY_CAS,
    BURY_PATH,
    UNSTICK_CAS,
    FREE_WEAK,
    FREE_LIFE,
    FREE_TOP,
    FREE_NEXT,
    FREE_CAS
};

static const char *const agent_names[] = {
    "scan",
    "convert: life",
    "convert: CAS life | CONV",
    "convert: slot",
    "convert: jweak",
    "convert: slot = 0",
    "collect: weak reference gone?",
    "collect: life",
    "collect: CAS life = DEAD",
    "collect: path = {g|0}",
    "collect: CAS life without STICKY",
    "free: delete the weak reference",
    "free: life = CLOSED",
    "free: top",
    "free: next",
    "free: CAS",
};

static void next_record(struct state *s, bool collecting)
{
    s->aobject = s->agone = 0;
    s->alife = s->atop = 0;
    if (++s->ar <= s->bump) {
        s->apc = collecting ? ASK_WEAK : CONVERT_LIFE;
    } else {
        s->apc = collecting ? SCAN : ASK_WEAK;
        s->ar = collecting ? 0 : 1;
    }
}

static void agent_convert(struct state *s)
{
    unsigned r = s->ar;
    switch (s->apc) {
    case CONVERT_LIFE:
        s->alife = s->word[LIFE(r)];
        if ((s->alife & STICKY) != 0 ? s->weak[r] == 0 : (s->alife & (CONV | STATE)) == OPEN)
            s->apc = (s->alife & STICKY) != 0 ? CONVERT_SLOT : CONVERT_CAS;
        else
            next_record(s, false);
        break;
    case CONVERT_CAS:
        if (mutant == PLAIN_CONV)
            commit(s, LIFE(r), s->alife | CONV);
        else if (!cas(s, LIFE(r), s->alife, s->alife | CONV)) {
            next_record(s, false);
            break;
        }
        s->apc = CONVERT_SLOT;
        break;
    case CONVERT_SLOT:
        s->aobject = (uint8_t)s->word[SLOT(r)];
        if (s->aobject == 0)
            model_fail("converted record %u has an empty slot", r);
        s->apc = CONVERT_WEAK;
        break;
    case CONVERT_WEAK:
        s->weak[r] = s->aobject;
        s->apc = CONVERT_CLEAR;
        break;
    default: /* CONVERT_CLEAR */
        s->word[SLOT(r)] = 0;
        next_record(s, false);
        break;
    }
}

static void bury(struct state *s, unsigned r)
{
    unsigned g = generation(s->alife);
    if (!cas(s, LIFE(r), s->alife, (uint16_t)((s->alife & ~STATE) | DEAD))) {
        next_record(s, true);
        return;
    }
    if ((s->released[r - 1] & bit(g)) != 0)
        model_fail("life %u.%u is released and leaked", r, g);
    if ((s->begun[r - 1] & bit(g)) != 0)
        model_fail("life %u.%u is leaked, and its release had begun", r, g);
    if ((s->dead & bit(s->of[r - 1][g])) == 0)
        model_fail("life %u.%u is leaked, and its object can be reached", r, g);
    s->leaked[r - 1] |= bit(g);
    s->apc = BURY_PATH;
}

static void agent_collect(struct state *s)
{
    unsigned r = s->ar, first = mutant == LIFE_BEFORE_WEAK ? ASK_LIFE : ASK_WEAK;
    switch (s->apc) {
    case ASK_WEAK:
    case ASK_LIFE:
        if (s->weak[r] == 0) {
            next_record(s, true);
            break;
        }
        if ((s->apc == ASK_WEAK) == (mutant != LIFE_BEFORE_WEAK))
            s->agone = s->weak[r] == GONE;
        else
            s->alife = s->word[LIFE(r)];
        if (mutant == LIFE_BEFORE_WEAK ? s->apc == ASK_WEAK : first == s->apc) {
            /* the first question of the two */
            s->apc = ASK_LIFE;
            break;
        }
        if ((s->alife & STATE) == CLOSED && (s->alife & STICKY) == 0)
            s->apc = FREE_WEAK;
        else if ((s->alife & STATE) == CLOSED && s->agone)
            s->apc = UNSTICK_CAS;
        else if (s->agone && (s->alife & STATE) == OPEN)
            s->apc = BURY_CAS;
        else
            next_record(s, true);
        break;
    case BURY_CAS:
        bury(s, r);
        break;
    case BURY_PATH:
        s->word[PATH(r)] = high(s->alife);
        s->apc = FREE_WEAK;
        break;
    case UNSTICK_CAS:
        if (mutant == LIFE_BEFORE_WEAK)
            commit(s, LIFE(r), s->alife & (uint16_t)~STICKY);
        else if (!cas(s, LIFE(r), s->alife, s->alife & (uint16_t)~STICKY)) {
            next_record(s, true);
            break;
        }
        s->apc = FREE_WEAK;
        break;
    case FREE_WEAK:
        s->weak[r] = 0;
        s->apc = FREE_LIFE;
        break;
    case FREE_LIFE:
        commit(s, LIFE(r), high(s->alife) | CLOSED);
        s->apc = FREE_TOP;
        break;
    case FREE_TOP:
        s->atop = s->word[STACK];
        s->apc = FREE_NEXT;
        break;
    case FREE_NEXT:
        s->word[NEXT(r)] = (uint16_t)low(s->atop);
        s->apc = FREE_CAS;
        break;
    default: /* FREE_CAS */
        s->apc = FREE_TOP;
        if (s->word[STACK] == s->atop) {
            free_record(s, -1, r);
            s->word[STACK] = (uint16_t)(high(s->atop) + 16) | (uint16_t)r;
            next_record(s, true);
        }
        break;
    }
}

static int move_agent(struct state *s, unsigned choice, int passes)
{
    if (choice > 0)
        return 0;
    model_note = agent_names[s->apc];
    if (s->apc == SCAN) {
        if (s->apass >= passes || s->bump == 0)
            return 0;
        s->apass++;
        s->ar = 1;
        s->apc = CONVERT_LIFE;
    } else if (s->apc < ASK_WEAK) {
        agent_convert(s);
    } else {
        agent_collect(s);
    }
    return 1;
}

/* ---- the collector ---- */

static bool reachable(const struct state *s, unsigned o)
{
    if ((s->pool & bit(o)) != 0 || s->aobject == o)
        return true;
    for (unsigned r = 1; r <= (unsigned)n_records; r++)
        if (s->word[SLOT(r)] == o)
            return true;
    for (unsigned t = 0; t < THREADS; t++) {
        const struct thread *x = &s->t[t];
        if ((x->held & bit(o)) != 0 || (x->pc != IDLE && x->object == o))
            return true;
        for (unsigned i = 0; i < x->n; i++)
            if (x->at[i] >= SLOT(1) && x->at[i] <= SLOT(MAX_R) && x->value[i] == o)
                return true;
    }
    return false;
}

static int move_collector(struct state *s, unsigned choice)
{
    uint8_t gone = 0;
    model_note = "GC";
    if (choice > 0)
        return 0;
    for (unsigned o = 1; o <= (unsigned)n_objects; o++)
        if ((s->born & bit(o)) != 0 && (s->dead & bit(o)) == 0 && !reachable(s, o))
            gone |= bit(o);
    if (gone == 0)
        return 0;
    for (unsigned t = 0; t < THREADS; t++) /* a safepoint */
        while (s->t[t].n > 0)
            flush_one(s, t, 0);
    s->dead |= gone;
    for (unsigned r = 1; r <= (unsigned)n_records; r++)
        if (s->weak[r] != 0 && s->weak[r] != GONE && (gone & bit(s->weak[r])) != 0)
            s->weak[r] = GONE;
    return 1;
}

/* ---- the properties at rest ---- */

static void check_life(const struct state *s, unsigned r, unsigned g)
{
    uint16_t life = s->word[LIFE(r)];
    bool live = g == generation(life) && (life & STATE) == OPEN;
    unsigned o = s->of[r - 1][g], ends = live;
    const uint8_t *sets[] = {s->released, s->leaked, s->undone, s->unknown};
    for (int i = 0; i < 4; i++)
        ends += (sets[i][r - 1] & bit(g)) != 0;
    if (ends != 1)
        model_fail("at rest life %u.%u has %u ends", r, g, ends);
    if (live && (s->begun[r - 1] & bit(g)) != 0)
        model_fail("at rest life %u.%u was released by the application and is live", r, g);
    if (live && (s->dead & bit(o)) != 0)
        model_fail("at rest life %u.%u is live and its object is gone", r, g);
    if (live && s->word[BBF(o)] != (g << 4 | r))
        model_fail("at rest life %u.%u is live and nobody has its handle", r, g);
}

static void check(const void *state)
{
    struct state s;
    memcpy(&s, state, sizeof s);
    if (s.t[0].pc != IDLE || s.t[1].pc != IDLE || s.apc != SCAN)
        return;
    for (unsigned t = 0; t < THREADS; t++)
        while (s.t[t].n > 0)
            flush_one(&s, t, 0);
    for (int i = 0; i < 4; i++) {
        (void)move_collector(&s, 0);
        while (move_agent(&s, 0, 99) == 1 && s.apc != SCAN)
            ;
    }
    for (unsigned r = 1; r <= (unsigned)n_records; r++) {
        for (unsigned g = 1; g <= generation(s.word[LIFE(r)]); g++)
            check_life(&s, r, g);
        if (s.word[SLOT(r)] != 0)
            model_fail("at rest record %u pins object %u", r, s.word[SLOT(r)]);
    }
}

static int move(void *state, unsigned actor, unsigned choice)
{
    struct state *s = state;
    switch (actor) {
    case 0:
    case 1:
        return move_thread(s, actor, choice);
    case 2:
        return move_agent(s, choice, n_passes);
    case 3:
        return move_collector(s, choice);
    default:
        return move_flush(s, actor - 4, choice);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"T1", "T2", "agent", "heap", "T1", "T2"};
    model_options(argc, argv);
    n_records = model_option("records", 1);
    n_objects = model_option("objects", 1);
    n_ops = model_option("ops", 3);
    n_passes = model_option("passes", 2);
    memory = model_option("memory", 0);
    twice = model_option("double", 0);
    share = model_option("share", 2);
    strict = model_option("strict", 0);
    escape = model_option("escape", 0);
    spill = model_option("spill", 0);
    plain = model_option("plain", 0);
    mutant = model_option("mutant", 0);
    if (n_records > MAX_R || n_objects > MAX_O || n_records < 1 || n_objects < 1) {
        fputs("records and objects: 1 or 2\n", stderr);
        return 2;
    }
    const struct model model = {.size = sizeof(struct state),
                                .actors = memory != 0 ? 6 : 4,
                                .move = move,
                                .check = check,
                                .names = names};
    return model_exit(model_search(&model, (size_t)model_option("states", 5000000)));
}
