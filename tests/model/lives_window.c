/*
 * tests/model/lives_window.c - windows (docs/adr/0054): the gate of the hooks, the thread that
 * opens and shuts it, bbf_windows_freeze() of trie/windows.c, and what the hooks ask.
 *
 * Invariant: a path that a report shows lacks no step without saying so. A life is followed from
 * its root; before the gate shuts, each open life is moved to a gap, where no step leads on, and
 * marked LATER. A step that was under way may be stored over the gap: then LATER says that steps
 * may be missing, and the life is charged at ?raced. What opens a life late freezes it by itself.
 */
#include "tests/model/lives.h"

enum { LIFE_LOAD, PATH_LOAD, PATH_CAS, MARK_CAS, FROZEN };
enum { AT_OPEN, AT_FREEZING, AT_FENCE, AT_WALK, AT_SHUT, AT_REOPEN, AT_LATE_WALK };

/* Of the things that carry what was seen (memory_keep), the one for full fences. */
enum { FENCES = MEMORY_KEPT - 1 };

static const char *const freeze_names[] = {"freeze: life", "freeze: path", "freeze: CAS path, gap",
                                           "freeze: CAS life | LATER", "frozen"};

/* Sequentially consistent fences follow each other: each has seen what the ones before have. */
static void full_fence(struct state *s, unsigned who)
{
    memory_take(&s->m, who, FENCES);
    memory_keep(&s->m, who, FENCES);
}

bool window_strayed(unsigned life, unsigned path)
{
    return model.mutant != NO_LATER && (life & LATER) != 0 && (path & NODE) != GAP;
}

void window_judge(const struct state *s, unsigned r, unsigned life, unsigned path)
{
    unsigned g = generation(life), node = path & NODE;
    bool marked = !same(life, path) || node == GAP || node == RACED || node == NONE;
    if (!marked && (s->missed[r] & bit(g)) != 0)
        model_fail("the path of life %u.%u lacks a step and does not say so", r, g);
}

/* ---- the freezing of a life ---- */

static uint8_t after_path(const struct freezer *z)
{
    return model.mutant == LATER_FIRST || (z->life & LATER) != 0 ? FROZEN : MARK_CAS;
}

static void look_at_path(struct state *s, unsigned who, struct freezer *z)
{
    unsigned r = z->record, node;
    z->path = memory_load(&s->m, who, PATH(r), RELAXED);
    node = z->path & NODE;
    if (!same(z->path, z->life) || node == NONE || node == RACED || node == GAP)
        z->pc = after_path(z); /* a late step of the life before, an end, or it was moved */
    else
        z->pc = PATH_CAS;
}

static void move_life(struct state *s, unsigned who, struct freezer *z)
{
    bool stray = (z->life & LATER) != 0 && model.mutant != LATER_FIRST && model.mutant != NO_LATER;
    uint16_t to = high(z->path) | (stray ? RACED : GAP);
    z->pc = after_path(z);
    if (model.mutant == FREEZE_STORE)
        memory_store(&s->m, who, PATH(z->record), to, RELAXED);
    else if (!memory_cas(&s->m, who, PATH(z->record), z->path, to, ACQ_REL)) {
        if (model.mutant != FREEZE_ONCE)
            z->pc = PATH_LOAD;
    } else if (s->m.newest[PATH(z->record)] != to) {
        s->late[z->record] |= bit(generation(to)); /* weak: a step's store comes behind it */
    }
}

/* Behind the path: who sees LATER sees the gap, or what was stored over it. */
static void mark(struct state *s, unsigned who, struct freezer *z)
{
    z->pc = model.mutant == LATER_FIRST ? PATH_LOAD : FROZEN;
    if (model.mutant == LATER_STORE)
        memory_store(&s->m, who, LIFE(z->record), z->life | LATER, RELEASE);
    else if (!memory_cas(&s->m, who, LIFE(z->record), z->life, z->life | LATER, ACQ_REL))
        z->pc = LIFE_LOAD; /* converted, or over */
}

/* False: the life is frozen, or there is no open one. */
static bool freeze(struct state *s, unsigned who, struct freezer *z)
{
    model_note = freeze_names[z->pc];
    switch (z->pc) {
    case LIFE_LOAD:
        z->life = memory_load(&s->m, who, LIFE(z->record), ACQUIRE);
        if ((z->life & STATE) != OPEN)
            z->pc = FROZEN;
        else if (model.mutant == LATER_FIRST && (z->life & LATER) == 0)
            z->pc = MARK_CAS;
        else
            z->pc = PATH_LOAD;
        break;
    case PATH_LOAD:
        look_at_path(s, who, z);
        break;
    case PATH_CAS:
        move_life(s, who, z);
        break;
    default: /* MARK_CAS */
        mark(s, who, z);
        break;
    }
    return z->pc != FROZEN;
}

/* ---- the thread that opens and shuts the gate ---- */

bool window_idle(const struct state *s)
{
    return s->window.pc == AT_OPEN || s->window.pc == AT_REOPEN;
}

static void set_gate(struct state *s, unsigned value)
{
    memory_store(&s->m, WINDOW, GATE, (uint16_t)value, RELEASE);
}

static void begin_walk(struct state *s)
{
    s->window.end = s->bump;
    s->window.freezer = (struct freezer){.record = 1};
    s->window.pc = s->window.pc == AT_FENCE ? AT_WALK : AT_LATE_WALK;
    if (s->bump == 0)
        s->window.pc = s->window.pc == AT_WALK ? AT_SHUT : AT_REOPEN;
}

static void walk(struct state *s)
{
    struct window *w = &s->window;
    if (freeze(s, WINDOW, &w->freezer))
        return;
    w->freezer = (struct freezer){.record = (uint8_t)(w->freezer.record + 1)};
    if (w->freezer.record > w->end) {
        w->freezer.record = 0;
        w->pc = w->pc == AT_WALK ? AT_SHUT : AT_REOPEN;
    }
}

int window_move(struct state *s, unsigned choice)
{
    static const char *const names[] = {
        "window: open", "window: freezing",    "window: fence",    "window: walk",
        "window: shut", "window: opens again", "window: late walk"};
    struct window *w = &s->window;
    memory_step(choice);
    model_note = names[w->pc];
    switch (w->pc) {
    case AT_OPEN:
        if (w->count >= model.windows)
            return 0;
        w->count++;
        set_gate(s, FREEZING);
        w->pc = model.mutant == GATE_FIRST ? AT_SHUT : AT_FENCE;
        break;
    case AT_FENCE:
        full_fence(s, WINDOW);
        begin_walk(s);
        break;
    case AT_WALK:
    case AT_LATE_WALK:
        walk(s);
        break;
    case AT_SHUT:
        set_gate(s, SHUT);
        w->pc = AT_REOPEN;
        if (model.mutant == GATE_FIRST)
            begin_walk(s);
        break;
    default: /* AT_REOPEN */
        set_gate(s, GATE_OPEN);
        w->pc = AT_OPEN;
        if (w->count >= model.windows)
            memory_leave(&s->m, WINDOW);
        break;
    }
    return memory_step_end(1);
}

/* ---- the hooks ---- */

/* A step that the gate kept from the life that the buffer's holder has. */
static void miss(struct state *s, const struct thread *x)
{
    unsigned f = s->current[x->object], r = low(f), g = generation(f);
    if (f == 0 || r == IGN || (s->counted & bit(x->object)) == 0 ||
        (x->stale & bit(x->object)) != 0 || (s->m.newest[LIFE(r)] & STATE) != OPEN ||
        generation(s->m.newest[LIFE(r)]) != g)
        return;
    s->missed[r] |= bit(g);
}

/* First where a count changes or ends: of a buffer without a life the gate is not loaded. */
void window_look(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned f = load_handle(s, t, x->object);
    x->pc = ASK_GATE;
    if (f != 0 && low(f) != IGN && (f & OVER) == 0)
        return;
    x->pc = AFTER;
    if (x->kind == RETAIN)
        thread_finish(x);
}

/* The first thing in any other hook. */
void window_ask(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    bool release = x->kind == LET_GO || x->kind == LET_GO_LATE;
    unsigned gate = memory_load(&s->m, t, GATE, release ? unless(RELAXED_GATE, ACQUIRE) : RELAXED);
    if (release) {
        x->start = (uint8_t)gate;
        x->pc = gate == SHUT && model.mutant == RELEASE_GATED ? AFTER : CLOSE_HANDLE;
    } else if (x->kind == STEP || x->kind == RETAIN) {
        if (gate == SHUT && x->kind == STEP)
            miss(s, x);
        x->pc = x->kind == STEP ? STEP_HANDLE : REFS_HANDLE;
        if (gate == SHUT)
            thread_finish(x);
    } else {
        x->pc = x->kind == ALLOCATE ? ROOT_HANDLE : DERIVE_OWNER;
        if (gate != GATE_OPEN) { /* this life is not followed */
            s->current[x->object] = 0;
            thread_finish(x);
        }
    }
}

/* A life was opened: did the gate begin to shut before the walk could see it? */
void window_recheck(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case RECHECK_FENCE:
        if (model.mutant != NO_RECHECK_FENCE)
            full_fence(s, t);
        x->pc = RECHECK_GATE;
        if (model.mutant == NO_RECHECK)
            thread_finish(x);
        break;
    case RECHECK_GATE:
        x->pc = RECHECK_FREEZE;
        if (memory_load(&s->m, t, GATE, ACQUIRE) == GATE_OPEN)
            thread_finish(x);
        break;
    default: /* RECHECK_FREEZE */
        if (!freeze(s, t, &x->freezer))
            thread_finish(x);
        break;
    }
}
