/*
 * tests/model/lives_model.c - design.md, from record to convert and collect, and design.md:
 * verdicts derived lives, explored: application threads, the agent and the collector take their
 * steps in any order. Change the shim, trie/lives.c and the model together; docs/memory-model.md
 * says what is shown and what is not.
 *
 * Options (KEY=VALUE):
 *   records=1..3 objects=1..3 threads=1..3 ops=N (a thread) passes=N (scans)
 *   derived=N    the last N objects are derived from others, and hold them until released
 *   weak=1       loads and stores reorder (memory.h); else sequentially consistent
 *   share=1 hand over, 2 share; publish=1: also by a plain store
 *   strict=1     only a holder uses a buffer: then nothing may end at ?raced
 *   double=1     late and double release
 *   plain=1      a sticky life is closed by plain stores (release()); legal without double
 *   refs=1       retain and intermediate release
 *   early=1      the object may die while a step is under way
 *   escape=1     `this` is seen before its root hook
 *   own=1        the pool is the application's: each allocation sets the count
 *   spill=1      records move through the shared stack
 *   no_weak=1    a weak reference may not be had
 *   windows=N    the gate shuts up to N times (lives_window.c); threads=1..2, objects=1..2
 *   mutant=NAME (lives.h) states=N expect=green|red
 */
#include <stdio.h>
#include <string.h>

#include "tests/model/lives.h"

struct options model;

/* ---- accounts ---- */

void account_opened(struct state *s, unsigned r, unsigned g, unsigned o)
{
    if (g >= MAX_G)
        model_fail("bound: generation above %d, give fewer ops", MAX_G - 1);
    else
        s->of[r][g] = (uint8_t)o;
}

void account_taken(struct state *s, unsigned r)
{
    if ((s->used & bit(r)) != 0)
        model_fail("record %u is used by two lives", r);
    s->used |= bit(r);
}

void account_free(struct state *s, unsigned r)
{
    if ((s->used & bit(r)) == 0)
        model_fail("record %u is freed twice", r);
    s->used &= (uint8_t)~bit(r);
    if (s->m.newest[SLOT(r)] != 0)
        model_fail("record %u is free and its slot is filled", r);
    if (s->weak[r] != 0)
        model_fail("record %u is free and has a weak reference", r);
}

void account_store_life(struct state *s, unsigned who, unsigned r, unsigned value,
                        enum memory_order order)
{
    uint16_t before = s->m.newest[LIFE(r)];
    memory_store(&s->m, who, LIFE(r), (uint16_t)value, order);
    if (generation(value) < generation(before))
        model_fail("generation of record %u runs backwards: a life is lost", r);
}

bool account_is_held(const struct state *s, unsigned o)
{
    for (unsigned d = 1; d <= model.objects; d++)
        if (s->kin[d] == o && s->current[d] != 0)
            return true;
    return false;
}

/* ---- the collector ---- */

static bool is_root(const struct state *s, unsigned o)
{
    if ((s->pool & bit(o)) != 0 || s->agent.object == o)
        return true;
    for (unsigned r = 1; r <= model.records; r++)
        if (s->m.newest[SLOT(r)] == o)
            return true;
    for (unsigned t = 0; t < model.threads; t++)
        if ((s->t[t].held & bit(o)) != 0 || thread_uses(&s->t[t], o))
            return true;
    return false;
}

/* Objects that can be reached: what is derived holds its owner. */
static uint8_t reachable(const struct state *s)
{
    uint8_t found = 0, before;
    for (unsigned o = 1; o <= model.objects; o++)
        if (is_root(s, o))
            found |= bit(o);
    do {
        before = found;
        for (unsigned o = 1; o <= model.objects; o++)
            if ((found & bit(o)) != 0 && s->kin[o] != 0)
                found |= bit(s->kin[o]);
    } while (found != before);
    return found;
}

static int collector_move(struct state *s, unsigned choice)
{
    uint8_t gone = (uint8_t)(s->born & ~s->lost & ~reachable(s));
    model_note = "GC";
    if (choice > 0 || gone == 0)
        return 0;
    memory_join_all(&s->m); /* a safepoint */
    s->lost |= gone;
    for (unsigned r = 1; r <= model.records; r++)
        if (s->weak[r] != 0 && s->weak[r] < GONE && (gone & bit(s->weak[r])) != 0)
            s->weak[r] = GONE;
    return 1;
}

/* ---- the properties at rest ---- */

static void check_life(const struct state *s, unsigned r, unsigned g)
{
    uint16_t life = s->m.newest[LIFE(r)];
    bool live = g == generation(life) && (life & STATE) == OPEN;
    unsigned o = s->of[r][g], ends = live;
    const uint8_t *sets[] = {s->released, s->leaked, s->held, s->undone, s->unknown};
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++)
        ends += (sets[i][r] & bit(g)) != 0;
    if (ends != 1)
        model_fail("at rest life %u.%u has %u ends", r, g, ends);
    if (live && (s->begun[r] & bit(g)) != 0)
        model_fail("at rest life %u.%u was released by the application and is live", r, g);
    if (live && (s->lost & bit(o)) != 0 && s->weak[r] != NO_WEAK)
        model_fail("at rest life %u.%u is live and its object is gone", r, g);
    if (live && (s->m.newest[LIFE(r)] & LATER) == 0)
        window_judge(s, r, life, s->m.newest[PATH(r)]);
    if (live && s->m.newest[BBF(o)] != (g << 4 | r))
        model_fail("at rest life %u.%u is live and no object has its handle", r, g);
}

static void check(const void *state)
{
    const struct state *now = state;
    struct state s;
    if (!agent_idle(now) || !window_idle(now))
        return;
    for (unsigned t = 0; t < model.threads; t++)
        if (!thread_idle(&now->t[t]))
            return;
    memcpy(&s, now, model.weak ? sizeof s : offsetof(struct state, m.views));
    memory_join_all(&s.m);
    for (int i = 0; i < 4; i++) {
        (void)collector_move(&s, 0);
        while (agent_move(&s, 0, 99) == 1 && !agent_idle(&s))
            memory_join_all(&s.m);
    }
    for (unsigned r = 1; r <= model.records; r++) {
        for (unsigned g = 1; g < MAX_G; g++)
            if (s.of[r][g] != 0)
                check_life(&s, r, g);
        if (s.m.newest[SLOT(r)] != 0)
            model_fail("at rest record %u pins object %u", r, s.m.newest[SLOT(r)]);
        if (s.by_run[r] != s.charged[r] + s.m.newest[RUN(r)])
            model_fail("at rest %u of %u releases of record %u are counted",
                       s.charged[r] + s.m.newest[RUN(r)], s.by_run[r], r);
    }
}

/* ---- the search ---- */

static int move(void *state, unsigned actor, unsigned choice)
{
    struct state *s = state;
    if (actor < model.threads)
        return thread_move(s, actor, choice);
    if (actor == model.threads + 2)
        return window_move(s, choice);
    return actor == model.threads ? agent_move(s, choice, model.passes) : collector_move(s, choice);
}

static void swap_threads(struct state *s, unsigned a, unsigned b)
{
    struct thread t = s->t[a];
    s->t[a] = s->t[b];
    s->t[b] = t;
    memory_swap_actors(&s->m, a, b);
}

/* Threads differ in nothing but their number. */
static void canonical(void *state, uint8_t *order)
{
    struct state *s = state;
    for (unsigned i = 1; i < model.threads; i++)
        for (unsigned k = i; k > 0 && memcmp(&s->t[k - 1], &s->t[k], sizeof s->t[k]) > 0; k--) {
            uint8_t who = order[k];
            order[k] = order[k - 1];
            order[k - 1] = who;
            swap_threads(s, k - 1, k);
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

static void read_options(int argc, char **argv)
{
    model_options(argc, argv);
    model = (struct options){
        .records = (unsigned)model_option("records", 1),
        .objects = (unsigned)model_option("objects", 1),
        .derived = (unsigned)model_option("derived", 0),
        .threads = (unsigned)model_option("threads", 2),
        .ops = (unsigned)model_option("ops", 3),
        .passes = (unsigned)model_option("passes", 2),
        .share = (unsigned)model_option("share", 2),
        .windows = (unsigned)model_option("windows", 0),
        .weak = model_option("weak", 0) != 0,
        .twice = model_option("double", 0) != 0,
        .strict = model_option("strict", 0) != 0,
        .escape = model_option("escape", 0) != 0,
        .own = model_option("own", 0) != 0,
        .spill = model_option("spill", 0) != 0,
        .plain = model_option("plain", 0) != 0,
        .early = model_option("early", 0) != 0,
        .refs = model_option("refs", 0) != 0,
        .no_weak = model_option("no_weak", 0) != 0,
        .publish = model_option("publish", 0) != 0,
        .mutant = mutant_option(),
    };
}

int main(int argc, char **argv)
{
    static const char *names[MODEL_ACTORS] = {"T1", "T2", "T3"};
    read_options(argc, argv);
    if (model.records - 1 >= MAX_R || model.objects - 1 >= MAX_O || model.threads - 1 >= MAX_T ||
        model.derived >= model.objects) {
        fputs("records, objects, threads: 1 to 3; derived: fewer than objects\n", stderr);
        return 2;
    }
    if (model.windows != 0 && (model.threads > 2 || model.objects > 2 || model.own)) {
        fputs("windows: 1 or 2 threads and objects, and no pool of the application\n", stderr);
        return 2;
    }
    memory_choose(model.weak, model.threads + 1 + (model.windows != 0), BBF(1));
    names[model.threads] = "agent";
    names[model.threads + 1] = "heap";
    names[model.threads + 2] = "window";
    const struct model search = {.size = model.weak ? sizeof(struct state)
                                                    : offsetof(struct state, m.views),
                                 .actors = model.threads + 2 + (model.windows != 0),
                                 .move = move,
                                 .check = check,
                                 .canonical = canonical,
                                 .names = names};
    return model_exit(model_search(&search, (size_t)model_option("states", 5000000)));
}
