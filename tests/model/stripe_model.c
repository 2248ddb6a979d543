/*
 * tests/model/stripe_model.c - stripes and free records, explored: claim(), refill(), spill() and
 * giveBack() of the shim, bbf_record_pop(), bbf_record_push() and bbf_stripe_retire() of
 * trie/lives.c, threads that end and others that come, the agent that pushes what it frees. Every
 * access of a shared word is one step. All threads want the same first place; the second one is
 * another, and two places are not enough for three threads. A batch is two records, a spill one.
 *
 * Options: threads=1..3 at once, tids=N in all, ops=N (a thread), batches=1..2, weak=1 (memory.h),
 * ends=N (a thread ends not before it has done N), share=1 lives are lost, 2 handed over, 3 both,
 * mutant=NAME states=N expect=green|red.
 */
#include <stdio.h>
#include <string.h>

#include "tests/model/memory.h"
#include "tests/model/search.h"

#define MUTANTS(XX)                                                                                \
    XX(NOTHING, none)                                                                              \
    XX(CLAIM_STORE, claim_store)   /* claimed by a store */                                        \
    XX(CLAIM_SHARED, claim_shared) /* who finds no place takes the first one */                    \
    XX(RETIRE_EARLY, retire_early) /* the place is free before it is empty */                      \
    XX(RETIRE_LIST, retire_list)   /* its list is left where it is, and forgotten */               \
    XX(RETIRE_RUN, retire_run)     /* its run is charged and stays */                              \
    XX(ONE_PLACE, one_place)       /* retire looks at the first place only */                      \
    XX(NO_TAG, no_tag)             /* the top carries no tag: ABA */                               \
    XX(LINK_LATE, link_late)       /* push: the link is stored after the CAS */                    \
    XX(REST_LOST, rest_lost)       /* pop keeps one record and forgets the rest */                 \
    /* orders of memory: weak only */                                                              \
    XX(RELAXED_RETIRE, relaxed_retire)                                                             \
    XX(RELAXED_CLAIM, relaxed_claim)                                                               \
    XX(RELAXED_OTHER, relaxed_other)                                                               \
    XX(RELAXED_TOP, relaxed_top)                                                                   \
    XX(RELAXED_POP, relaxed_pop)                                                                   \
    XX(RELAXED_POP_BOTH, relaxed_pop_both)                                                         \
    XX(RELAXED_PUSH, relaxed_push)

enum mutant {
#define XX(name, text) name,
    MUTANTS(XX)
#undef XX
};

enum { MAX_T = 3, RECORDS = 4, PLACES = 2, BATCH = 2 };
enum { FREE, OPEN }; /* life = generation << 1 | state */

#define LIFE(r)  ((r)-1)
#define NEXT(r)  (RECORDS + (r)-1)
#define LINK(r)  (2 * RECORDS + (r)-1) /* `batch` */
#define OWNER(p) (3 * RECORDS + (p))
#define HEAD(p)  (3 * RECORDS + PLACES + (p))
#define RUN(p)   (3 * RECORDS + 2 * PLACES + (p))
#define STACK    (3 * RECORDS + 3 * PLACES)
_Static_assert(STACK < MEMORY_WORDS, "words of memory");

enum { NO_STRIPE = PLACES };

struct thread {
    uint8_t pc, then, tid, ops, held, record, stripe, place, head, closing;
    uint16_t value, top;
};

struct state {
    struct thread t[MAX_T + 1]; /* the last one is the agent */
    uint8_t tids, bumped, used, lost;
    uint8_t closed, charged;
    struct memory m;
};

static unsigned n_threads, n_tids, n_ops, n_batches, ends_after, share;
static enum mutant mutant;

#define PCS(XX)                                                                                    \
    XX(IDLE, "idle")                                                                               \
    XX(OWNER_FIRST, "stripe: owner")                                                               \
    XX(CLAIM_FIRST, "claim: CAS owner of the first place")                                         \
    XX(OWNER_OTHER, "claim: owner of the other place")                                             \
    XX(CLAIM_OTHER, "claim: CAS owner of the other place")                                         \
    XX(OPEN_HEAD, "open: head")                                                                    \
    XX(POP_TOP, "pop: top")                                                                        \
    XX(POP_LINK, "pop: batch")                                                                     \
    XX(POP_CAS, "pop: CAS")                                                                        \
    XX(BUMP, "bump: next")                                                                         \
    XX(TAKE_NEXT, "open: next")                                                                    \
    XX(TAKE_HEAD, "open: head = next")                                                             \
    XX(POP_REST, "pop: next = 0")                                                                  \
    XX(OPEN_LIFE, "open: earlier life")                                                            \
    XX(OPEN_THREAD, "open: batch = who opens")                                                     \
    XX(OPEN_STORE, "open: life = OPEN")                                                            \
    XX(CLOSE_LIFE, "close: CAS life")                                                              \
    XX(GIVE_HEAD, "give back: head")                                                               \
    XX(GIVE_NEXT, "give back: next = head")                                                        \
    XX(GIVE_STORE, "give back: head = record")                                                     \
    XX(SPILL, "give back: spill or not")                                                           \
    XX(SPILL_NEXT, "spill: next")                                                                  \
    XX(SPILL_HEAD, "spill: head = next")                                                           \
    XX(SPILL_CUT, "spill: next = 0")                                                               \
    XX(RUN_LOAD, "close: run")                                                                     \
    XX(RUN_STORE, "close: run = run + 1")                                                          \
    XX(GIVE_ALONE, "give back without a stripe: next = 0")                                         \
    XX(PUSH_TOP, "push: top")                                                                      \
    XX(PUSH_LINK, "push: batch = top")                                                             \
    XX(PUSH_CAS, "push: CAS")                                                                      \
    XX(PUSH_LATE, "push: batch = top (late)")                                                      \
    XX(RETIRE_OWNER, "retire: owner")                                                              \
    XX(RETIRE_RUN_LOAD, "retire: run")                                                             \
    XX(RETIRE_RUN_ZERO, "retire: run = 0")                                                         \
    XX(RETIRE_HEAD, "retire: head")                                                                \
    XX(RETIRE_HEAD_ZERO, "retire: head = 0")                                                       \
    XX(RETIRE_FREE, "retire: owner = 0")                                                           \
    XX(FREE_LIFE, "agent: life = FREE")                                                            \
    XX(FREE_NEXT, "agent: next = 0")

enum {
#define XX(name, text) name,
    PCS(XX)
#undef XX
};

static const char *const pc_names[] = {
#define XX(name, text) text,
    PCS(XX)
#undef XX
};

static uint8_t bit(unsigned n)
{
    return (uint8_t)(1u << n);
}

static enum memory_order unless(enum mutant rule, enum memory_order order)
{
    return mutant == rule ? RELAXED : order;
}

static uint16_t load(struct state *s, unsigned t, unsigned at)
{
    return memory_load(&s->m, t, at, RELAXED);
}

static void store(struct state *s, unsigned t, unsigned at, unsigned value)
{
    memory_store(&s->m, t, at, (uint16_t)value, RELAXED);
}

static unsigned top_with(uint16_t top, unsigned head)
{
    return mutant == NO_TAG ? head : ((unsigned)(top & 0xfff0) + 16) | head;
}

static void finish(struct thread *x)
{
    *x = (struct thread){.tid = x->tid, .ops = x->ops, .held = x->held};
}

static void taken(struct state *s, unsigned r)
{
    if ((s->used & bit(r)) != 0)
        model_fail("record %u is used by two lives", r);
    s->used |= bit(r);
}

static void given(struct state *s, unsigned r)
{
    if ((s->used & bit(r)) == 0)
        model_fail("record %u is freed twice", r);
    s->used &= (uint8_t)~bit(r);
}

/* ---- what a thread may begin: open, close a record, lose it, hand it over, end ---- */

static int lose_or_hand(struct state *s, unsigned t, unsigned r, unsigned to)
{
    struct thread *x = &s->t[t];
    if (to == 0) {
        model_note = "== lose";
        s->lost |= bit(r);
        memory_join_all(&s->m); /* found by a GC */
    } else {
        unsigned other = (t + to) % n_threads;
        model_note = "== hand over";
        if (other == t || s->t[other].tid == 0 || s->t[other].ops >= n_ops)
            return -1;
        s->t[other].held |= bit(r);
        memory_join(&s->m, other, t);
    }
    x->held &= (uint8_t)~bit(r);
    return 1;
}

static int begin(struct state *s, unsigned t)
{
    unsigned choice = memory_own_choice(), what = choice / RECORDS, r = choice % RECORDS + 1;
    struct thread *x = &s->t[t];
    if (what > 5)
        return 0;
    if (x->tid == 0) { /* a new thread */
        model_note = "== a thread starts";
        if (choice > 0 || s->tids == n_tids)
            return choice > 0 ? 0 : -1;
        x->tid = ++s->tids;
        memory_renew(&s->m, t);
        return 1;
    }
    if (what < 2 && x->ops >= n_ops)
        return -1;
    if (what == 0) { /* open */
        model_note = "== open";
        if (r > 1)
            return -1;
        x->pc = OWNER_FIRST;
        x->ops++;
    } else if (what == 1) {
        model_note = "== close";
        if ((x->held & bit(r)) == 0)
            return -1;
        x->held &= (uint8_t)~bit(r);
        x->record = (uint8_t)r;
        x->closing = 1;
        x->pc = CLOSE_LIFE;
        x->ops++;
    } else if (what < 5) {
        return (x->held & bit(r)) != 0 && (share >> (what > 2) & 1) != 0
                   ? lose_or_hand(s, t, r, what - 2)
                   : -1;
    } else {
        model_note = "== the thread ends";
        if (r > 1 || x->held != 0 || x->ops < ends_after)
            return -1;
        x->pc = RETIRE_OWNER;
    }
    return 1;
}

/* ---- stripes ---- */

static void with_stripe(struct thread *x, unsigned stripe)
{
    x->stripe = (uint8_t)stripe;
    if (!x->closing)
        x->pc = stripe == NO_STRIPE ? POP_TOP : OPEN_HEAD;
    else
        x->pc = stripe == NO_STRIPE ? GIVE_ALONE : GIVE_HEAD;
}

static bool claim(struct state *s, unsigned t, unsigned place)
{
    if (mutant != CLAIM_STORE)
        return memory_cas(&s->m, t, OWNER(place), 0, s->t[t].tid, unless(RELAXED_CLAIM, ACQ_REL));
    if (s->m.newest[OWNER(place)] != 0 && s->t[t].value != 0)
        return false;
    store(s, t, OWNER(place), s->t[t].tid);
    return true;
}

static void move_stripe(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case OWNER_FIRST:
        x->value = load(s, t, OWNER(0));
        if (x->value == x->tid)
            with_stripe(x, 0);
        else
            x->pc = CLAIM_FIRST;
        break;
    case CLAIM_FIRST:
        if (claim(s, t, 0))
            with_stripe(x, 0);
        else
            x->pc = OWNER_OTHER;
        break;
    case OWNER_OTHER:
        x->value = memory_load(&s->m, t, OWNER(1), unless(RELAXED_OTHER, ACQUIRE));
        if (x->value == x->tid)
            with_stripe(x, 1);
        else if (x->value == 0)
            x->pc = CLAIM_OTHER;
        else
            with_stripe(x, mutant == CLAIM_SHARED ? 0 : NO_STRIPE);
        break;
    default: /* CLAIM_OTHER */
        with_stripe(x, claim(s, t, 1) ? 1 : NO_STRIPE);
        break;
    }
}

/* ---- the stack of batches, fresh records ---- */

static void popped(struct thread *x)
{
    if (x->stripe == NO_STRIPE)
        x->pc = POP_REST;
    else
        x->pc = TAKE_NEXT;
}

static void move_pop(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    bool both = mutant == RELAXED_POP_BOTH;
    switch (x->pc) {
    case POP_TOP:
        x->top = memory_load(&s->m, t, STACK, both ? RELAXED : unless(RELAXED_TOP, ACQUIRE));
        x->head = (uint8_t)(x->top & 15);
        if (x->head != 0)
            x->pc = POP_LINK;
        else if (s->bumped < n_batches * BATCH) {
            x->head = (uint8_t)(s->bumped + 1);
            s->bumped += BATCH;
            x->pc = BUMP;
        } else {
            finish(x); /* the limit of lives */
        }
        break;
    case POP_LINK:
        x->value = load(s, t, LINK(x->head));
        x->pc = POP_CAS;
        break;
    case POP_CAS:
        x->pc = POP_TOP;
        if (memory_cas(&s->m, t, STACK, x->top, (uint16_t)top_with(x->top, x->value),
                       both ? RELAXED : unless(RELAXED_POP, ACQUIRE)))
            popped(x);
        break;
    case BUMP: /* the first one's link; the last one's is 0 */
        store(s, t, NEXT(x->head), x->head + 1u);
        popped(x);
        break;
    default: /* POP_REST: one record for a thread without a stripe */
        x->value = memory_swap(&s->m, t, NEXT(x->head), 0, RELAXED);
        x->record = x->head;
        taken(s, x->record);
        x->pc = OPEN_LIFE;
        if (x->value != 0 && mutant != REST_LOST) {
            x->head = (uint8_t)x->value;
            x->then = OPEN_LIFE;
            x->pc = PUSH_TOP;
        }
        break;
    }
}

static void move_push(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case PUSH_TOP:
        x->top = load(s, t, STACK);
        x->pc = mutant == LINK_LATE ? PUSH_CAS : PUSH_LINK;
        break;
    case PUSH_CAS:
        x->pc = PUSH_TOP;
        if (memory_cas(&s->m, t, STACK, x->top, (uint16_t)top_with(x->top, x->head),
                       unless(RELAXED_PUSH, RELEASE)))
            x->pc = mutant == LINK_LATE ? PUSH_LATE : x->then;
        break;
    default: /* PUSH_LINK, PUSH_LATE */
        store(s, t, LINK(x->head), x->top & 15u);
        x->pc = x->pc == PUSH_LINK ? PUSH_CAS : x->then;
        break;
    }
    if (x->pc == IDLE)
        finish(x);
}

/* ---- open and close ---- */

static void move_open(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    switch (x->pc) {
    case OPEN_HEAD:
        x->head = (uint8_t)load(s, t, HEAD(x->stripe));
        x->pc = x->head != 0 ? TAKE_NEXT : POP_TOP;
        break;
    case TAKE_NEXT:
        x->record = x->head;
        x->value = load(s, t, NEXT(x->head));
        x->pc = TAKE_HEAD;
        break;
    case TAKE_HEAD:
        store(s, t, HEAD(x->stripe), x->value);
        taken(s, r);
        x->pc = OPEN_LIFE;
        break;
    case OPEN_LIFE:
        x->value = load(s, t, LIFE(r));
        x->pc = OPEN_THREAD;
        break;
    case OPEN_THREAD: /* not a link: a thread that uses it as one must fail */
        store(s, t, LINK(r), r);
        x->pc = OPEN_STORE;
        break;
    default: /* OPEN_STORE */
        x->value = (uint16_t)(((x->value | 1u) + 1u) | OPEN);
        if (x->value <= s->m.newest[LIFE(r)])
            model_fail("record %u begins a generation that was", r);
        memory_store(&s->m, t, LIFE(r), x->value, RELEASE);
        x->held |= bit(r);
        finish(x);
        break;
    }
}

static int move_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record, choice;
    switch (x->pc) {
    case CLOSE_LIFE: /* handed over in order: the newest is seen */
        x->value = memory_swap(&s->m, t, LIFE(r), s->m.newest[LIFE(r)] & 0xfffeu, ACQ_REL);
        given(s, r);
        s->closed++;
        x->pc = OWNER_FIRST;
        break;
    case GIVE_HEAD:
        x->head = (uint8_t)load(s, t, HEAD(x->stripe));
        x->pc = GIVE_NEXT;
        break;
    case GIVE_NEXT:
        store(s, t, NEXT(r), x->head);
        x->pc = GIVE_STORE;
        break;
    case GIVE_STORE:
        store(s, t, HEAD(x->stripe), r);
        x->pc = x->head != 0 ? SPILL : RUN_LOAD;
        break;
    case SPILL:
        choice = memory_own_choice();
        if (choice > 1)
            return 0;
        x->pc = choice == 0 ? RUN_LOAD : SPILL_NEXT;
        break;
    case SPILL_NEXT:
        x->value = load(s, t, NEXT(r));
        x->pc = SPILL_HEAD;
        break;
    case SPILL_HEAD:
        store(s, t, HEAD(x->stripe), x->value);
        x->pc = SPILL_CUT;
        break;
    case SPILL_CUT:
        store(s, t, NEXT(r), 0);
        x->head = (uint8_t)r;
        x->then = RUN_LOAD;
        x->pc = PUSH_TOP;
        break;
    case RUN_LOAD:
        x->value = load(s, t, RUN(x->stripe));
        x->pc = RUN_STORE;
        break;
    case RUN_STORE:
        store(s, t, RUN(x->stripe), x->value + 1u);
        finish(x);
        break;
    default: /* GIVE_ALONE */
        store(s, t, NEXT(r), 0);
        s->charged++;
        x->head = (uint8_t)r;
        x->then = IDLE;
        x->pc = PUSH_TOP;
        break;
    }
    return 1;
}

/* ---- bbf_stripe_retire() ---- */

static void next_place(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    x->pc = RETIRE_OWNER;
    if (++x->place == PLACES || mutant == ONE_PLACE) {
        memset(x, 0, sizeof *x); /* its place is another thread's */
        if (s->tids == n_tids)
            memory_leave(&s->m, t);
    }
}

static void move_retire(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    bool early = mutant == RETIRE_EARLY;
    switch (x->pc) {
    case RETIRE_OWNER:
        if (load(s, t, OWNER(x->place)) != x->tid)
            next_place(s, t);
        else
            x->pc = early ? RETIRE_FREE : RETIRE_RUN_LOAD;
        break;
    case RETIRE_RUN_LOAD:
        s->charged = (uint8_t)(s->charged + load(s, t, RUN(x->place)));
        x->pc = mutant == RETIRE_RUN ? RETIRE_HEAD : RETIRE_RUN_ZERO;
        break;
    case RETIRE_RUN_ZERO:
        store(s, t, RUN(x->place), 0);
        x->pc = RETIRE_HEAD;
        break;
    case RETIRE_HEAD:
        x->head = (uint8_t)load(s, t, HEAD(x->place));
        x->pc = RETIRE_HEAD_ZERO;
        break;
    case RETIRE_HEAD_ZERO:
        store(s, t, HEAD(x->place), 0);
        x->then = RETIRE_FREE;
        x->pc = x->head != 0 && mutant != RETIRE_LIST ? PUSH_TOP : RETIRE_FREE;
        if (early && x->pc == RETIRE_FREE)
            next_place(s, t);
        else if (early)
            x->then = RETIRE_OWNER;
        break;
    default: /* RETIRE_FREE */
        memory_store(&s->m, t, OWNER(x->place), 0, unless(RELAXED_RETIRE, RELEASE));
        if (early)
            x->pc = RETIRE_RUN_LOAD;
        else
            next_place(s, t);
        break;
    }
}

/* ---- the agent: pushes what was lost, one by one ---- */

static int move_agent(struct state *s)
{
    struct thread *x = &s->t[n_threads];
    unsigned t = n_threads, r;
    switch (x->pc) {
    case IDLE:
        model_note = "agent: a lost life";
        if (s->lost == 0)
            return 0;
        r = (unsigned)__builtin_ctz(s->lost);
        s->lost &= (uint8_t)~bit(r);
        x->record = x->head = (uint8_t)r;
        x->pc = FREE_LIFE;
        break;
    case FREE_LIFE:
        r = x->record;
        memory_store(&s->m, t, LIFE(r), s->m.newest[LIFE(r)] & 0xfffeu, RELEASE);
        given(s, r);
        x->pc = FREE_NEXT;
        break;
    case FREE_NEXT:
        store(s, t, NEXT(x->record), 0);
        x->then = IDLE;
        x->pc = PUSH_TOP;
        break;
    default:
        move_push(s, t);
        break;
    }
    return 1;
}

static int hook(struct state *s, unsigned t)
{
    unsigned pc = s->t[t].pc;
    if (pc <= CLAIM_OTHER)
        move_stripe(s, t);
    else if (pc == OPEN_HEAD || pc == TAKE_NEXT || pc == TAKE_HEAD || pc == OPEN_LIFE ||
             pc == OPEN_THREAD || pc == OPEN_STORE)
        move_open(s, t);
    else if (pc <= POP_REST)
        move_pop(s, t);
    else if (pc <= GIVE_ALONE)
        return move_close(s, t);
    else if (pc <= PUSH_LATE)
        move_push(s, t);
    else
        move_retire(s, t);
    return 1;
}

static int move(void *state, unsigned actor, unsigned choice)
{
    struct state *s = state;
    memory_step(choice);
    if (s->t[actor].pc != IDLE)
        model_note = pc_names[s->t[actor].pc];
    if (actor == n_threads)
        return memory_step_end(move_agent(s));
    return memory_step_end(s->t[actor].pc == IDLE ? begin(s, actor) : hook(s, actor));
}

/* ---- at rest: every record that is not in use is in one list ---- */

static void walk(const struct state *s, unsigned r, uint8_t *seen)
{
    for (unsigned hops = 0; r != 0; r = s->m.newest[NEXT(r)], hops++) {
        if (hops > RECORDS || (*seen & bit(r)) != 0 || (s->used & bit(r)) != 0) {
            model_fail("at rest record %u is in two lists, or in use and in a list", r);
            return;
        }
        *seen |= bit(r);
    }
}

static bool lives(const struct state *s, unsigned tid)
{
    for (unsigned t = 0; t < n_threads; t++)
        if (s->t[t].tid == tid)
            return true;
    return false;
}

static void check(const void *state)
{
    const struct state *s = state;
    uint8_t seen = 0;
    unsigned runs = 0;
    for (unsigned t = 0; t <= n_threads; t++)
        if (s->t[t].pc != IDLE)
            return;
    for (unsigned r = s->m.newest[STACK] & 15u, n = 0; r != 0 && n <= RECORDS; n++) {
        walk(s, r, &seen);
        r = s->m.newest[LINK(r)];
    }
    for (unsigned p = 0; p < PLACES; p++) {
        if (s->m.newest[OWNER(p)] != 0 && !lives(s, s->m.newest[OWNER(p)]))
            model_fail("at rest place %u belongs to a thread that ended", p);
        walk(s, s->m.newest[HEAD(p)], &seen);
        runs += s->m.newest[RUN(p)];
    }
    for (unsigned r = 1; r <= s->bumped; r++)
        if (((seen | s->used) & bit(r)) == 0)
            model_fail("at rest record %u is in no list", r);
    if (s->closed != s->charged + runs)
        model_fail("at rest %u of %u ends are counted", s->charged + runs, s->closed);
}

/* Threads differ in nothing but their number. */
static void canonical(void *state, uint8_t *order)
{
    struct state *s = state;
    for (unsigned i = 1; i < n_threads; i++)
        for (unsigned k = i; k > 0 && memcmp(&s->t[k - 1], &s->t[k], sizeof s->t[k]) > 0; k--) {
            struct thread x = s->t[k];
            uint8_t who = order[k];
            s->t[k] = s->t[k - 1];
            s->t[k - 1] = x;
            order[k] = order[k - 1];
            order[k - 1] = who;
            memory_swap_actors(&s->m, k - 1, k);
        }
}

static enum mutant mutant_option(void)
{
    static const char *const texts[] = {
#define XX(name, text) #text,
        MUTANTS(XX)
#undef XX
    };
    const char *name = model_option_text("mutant");
    for (unsigned i = 0; name != NULL && i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i]) == 0)
            return (enum mutant)i;
    if (name != NULL)
        fprintf(stderr, "no such mutant: %s\n", name);
    return NOTHING;
}

int main(int argc, char **argv)
{
    static const char *names[MODEL_ACTORS] = {"T1", "T2", "T3"};
    model_options(argc, argv);
    n_threads = (unsigned)model_option("threads", 2);
    n_tids = (unsigned)model_option("tids", 3);
    n_ops = (unsigned)model_option("ops", 2);
    n_batches = (unsigned)model_option("batches", 1);
    share = (unsigned)model_option("share", 0);
    ends_after = (unsigned)model_option("ends", 1);
    mutant = mutant_option();
    bool weak = model_option("weak", 0) != 0;
    if (n_threads - 1 >= MAX_T || n_batches - 1 >= RECORDS / BATCH) {
        fputs("threads: 1 to 3; batches: 1 or 2\n", stderr);
        return 2;
    }
    memory_choose(weak, n_threads + 1, 0);
    names[n_threads] = "agent";
    const struct model model = {.size =
                                    weak ? sizeof(struct state) : offsetof(struct state, m.views),
                                .actors = n_threads + 1,
                                .move = move,
                                .check = check,
                                .canonical = canonical,
                                .names = names};
    return model_exit(model_search(&model, (size_t)model_option("states", 5000000)));
}
