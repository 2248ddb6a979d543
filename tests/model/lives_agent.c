/* tests/model/lives_agent.c - the agent thread: bbf_lives_scan() of trie/lives.c, an access a step.
 */
#include "tests/model/lives.h"

#define AGENT_PCS(XX)                                                                              \
    XX(SCAN, "scan")                                                                               \
    XX(CONVERT_LIFE, "convert: life")                                                              \
    XX(CONVERT_CAS, "convert: CAS life | CONV")                                                    \
    XX(CONVERT_SLOT, "convert: slot")                                                              \
    XX(CONVERT_WEAK, "convert: weak reference")                                                    \
    XX(CONVERT_CLEAR, "convert: slot = 0")                                                         \
    XX(ASK_AGAIN, "collect again: parent")                                                         \
    XX(ASK_WEAK, "collect: weak reference gone?")                                                  \
    XX(ASK_LIFE, "collect: life")                                                                  \
    XX(UNSTICK_CAS, "collect: CAS life without STICKY")                                            \
    XX(BURY_CAS, "collect: CAS life = DEAD")                                                       \
    XX(BURY_LIFE, "collect: life again")                                                           \
    XX(HOLD_DEAD, "hold: parent")                                                                  \
    XX(HOLD_LIFE, "hold: life of the owner")                                                       \
    XX(HOLD_PARENT, "hold: parent of the owner")                                                   \
    XX(END_REFS, "end: refs")                                                                      \
    XX(END_PATH, "end: path")                                                                      \
    XX(END_DEAD, "end: path = {g|0}")                                                              \
    XX(FREE_RUN, "free: run")                                                                      \
    XX(FREE_WEAK, "free: delete the weak reference")                                               \
    XX(FREE_LIFE, "free: life = CLOSED")                                                           \
    XX(FREE_TOP, "free: top")                                                                      \
    XX(FREE_NEXT, "free: next")                                                                    \
    XX(FREE_CAS, "free: CAS")

/* Which of the dead end now. */
enum { LEAKED = 1, HELD };

enum {
#define XX(name, text) AT_##name,
    AGENT_PCS(XX)
#undef XX
};

static const char *const agent_names[] = {
#define XX(name, text) text,
    AGENT_PCS(XX)
#undef XX
};

static uint16_t load(struct state *s, unsigned at)
{
    return memory_load(&s->m, AGENT, at, RELAXED);
}

static void store(struct state *s, unsigned at, unsigned value)
{
    memory_store(&s->m, AGENT, at, (uint16_t)value, RELAXED);
}

static bool cas_life(struct state *s, unsigned r, unsigned value, enum memory_order order)
{
    return memory_cas(&s->m, AGENT, LIFE(r), s->agent.life, (uint16_t)value, order);
}

bool agent_idle(const struct state *s)
{
    return s->agent.pc == AT_SCAN;
}

/* ---- the walk ---- */

static void scan_done(struct agent *a)
{
    struct agent b = {.pass = a->pass, .charged = a->charged};
    for (unsigned r = 0; r <= MAX_R; r++) {
        b.held[r] = a->held[r];
        b.holder[r] = a->holder[r];
    }
    *a = b;
}

static uint16_t handle_of(const struct agent *a, unsigned r)
{
    return high(a->of[r]) | (uint16_t)r;
}

static bool is_held(const struct agent *a, unsigned r)
{
    return a->held[r] == handle_of(a, r);
}

/* The next dead life to end: leaks first, what they hold adds its bytes to them. */
static void next_end(struct agent *a)
{
    if (a->ending == 0)
        a->ending = LEAKED;
    for (; a->ending <= HELD; a->ending++, a->at = 0)
        for (; a->at < a->n_dead; a->at++) {
            unsigned r = a->dead[a->at];
            if (is_held(a, r) != (a->ending == HELD) && model.mutant != END_AT_ONCE)
                continue;
            a->record = (uint8_t)r;
            a->life = a->of[r];
            a->pc = AT_END_REFS;
            return;
        }
    scan_done(a);
}

/* The next dead life that was derived: marks what it was derived from; then the leaked ones again,
 * to be charged. */
static void next_hold(struct agent *a)
{
    for (; model.mutant != HOLD_NONE && a->leaf < 2; a->at = 0, a->leaf++) {
        if (a->leaf == 1 && model.mutant == CHARGE_FIRST)
            continue;
        for (; a->at < a->n_dead; a->at++) {
            unsigned r = a->dead[a->at];
            if (model.derived == 0 || (a->leaf == 1 && is_held(a, r)))
                continue;
            a->pc = AT_HOLD_DEAD;
            return;
        }
    }
    a->at = 0;
    next_end(a);
}

static void next_record(struct state *s)
{
    struct agent *a = &s->agent;
    bool converting = a->pc < AT_ASK_AGAIN;
    uint8_t ask = model.mutant == LIFE_BEFORE_WEAK ? AT_ASK_LIFE : AT_ASK_WEAK;
    a->object = a->gone = 0;
    a->life = a->top = 0;
    if (++a->record <= a->end) {
        a->pc = converting ? AT_CONVERT_LIFE : a->again ? (uint8_t)AT_ASK_AGAIN : ask;
        return;
    }
    a->record = 1;
    if (converting) {
        a->pc = ask;
    } else if (a->seen < a->n_dead && model.derived != 0 && model.mutant != ONE_PASS) {
        a->seen = a->n_dead;
        a->again = 1;
        a->pc = AT_ASK_AGAIN;
    } else {
        next_hold(a);
    }
}

/* ---- convert ---- */

static void convert(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record;
    bool relaxed = model.mutant == RELAXED_CONVERT_BOTH;
    switch (a->pc) {
    case AT_CONVERT_LIFE:
        a->life = memory_load(&s->m, AGENT, LIFE(r),
                              relaxed ? RELAXED : unless(RELAXED_CONVERT, ACQUIRE));
        if ((a->life & STICKY) != 0 ? s->weak[r] != 0 : (a->life & (CONV | STATE)) != OPEN)
            next_record(s);
        else if ((a->life & STICKY) != 0)
            a->pc = AT_CONVERT_SLOT;
        else
            a->pc = AT_CONVERT_CAS;
        break;
    case AT_CONVERT_CAS:
        if (model.mutant == PLAIN_CONV)
            store(s, LIFE(r), a->life | CONV);
        else if (!cas_life(s, r, a->life | CONV,
                           relaxed ? RELAXED : unless(RELAXED_CONVERT_CAS, ACQ_REL))) {
            a->pc = AT_CONVERT_LIFE; /* over, or frozen */
            break;
        }
        a->pc = AT_CONVERT_SLOT;
        break;
    case AT_CONVERT_SLOT:
        a->object = (uint8_t)load(s, SLOT(r));
        a->pc = AT_CONVERT_WEAK;
        break;
    default: /* CONVERT_CLEAR */
        store(s, SLOT(r), 0);
        next_record(s);
        break;
    }
}

static int make_weak(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record, choice = memory_own_choice();
    if (choice > model.no_weak)
        return 0;
    if (a->object == 0)
        model_fail("converted record %u has an empty slot", r);
    else if (a->object != s->of[r][generation(a->life)])
        model_fail("record %u is converted with another life's object", r);
    s->weak[r] = choice == 1 ? NO_WEAK : a->object;
    a->pc = AT_CONVERT_CLEAR;
    return 1;
}

/* ---- collect ---- */

static void judge(struct state *s)
{
    struct agent *a = &s->agent;
    bool closed = (a->life & STATE) == CLOSED, sticky = (a->life & STICKY) != 0;
    if (closed && !sticky)
        a->pc = AT_FREE_RUN;
    else if (closed && a->gone)
        a->pc = AT_UNSTICK_CAS;
    else if (a->gone && (a->life & STATE) == OPEN)
        a->pc = AT_BURY_CAS;
    else
        next_record(s);
}

static void ask(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record;
    bool life_first = model.mutant == LIFE_BEFORE_WEAK;
    if (a->pc == AT_ASK_AGAIN) {
        if (load(s, PARENT(r)) == 0)
            next_record(s);
        else
            a->pc = life_first ? AT_ASK_LIFE : AT_ASK_WEAK;
    } else if (a->pc == AT_ASK_WEAK) {
        a->gone = s->weak[r] == GONE;
        if (s->weak[r] == 0)
            next_record(s);
        else if (life_first)
            judge(s);
        else
            a->pc = AT_ASK_LIFE;
    } else {
        a->life = memory_load(&s->m, AGENT, LIFE(r), unless(RELAXED_COLLECT, ACQUIRE));
        if (life_first)
            a->pc = AT_ASK_WEAK;
        else
            judge(s);
    }
}

static void bury(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record, g = generation(a->life);
    if (!cas_life(s, r, (a->life & ~STATE) | DEAD, unless(RELAXED_BURY, ACQ_REL))) {
        a->pc = AT_BURY_LIFE;
        if (model.mutant == BURY_ONCE)
            next_record(s);
        return;
    }
    if ((s->released[r] & bit(g)) != 0)
        model_fail("life %u.%u is released and collected", r, g);
    if ((s->begun[r] & bit(g)) != 0)
        model_fail("life %u.%u is collected, and its release had begun", r, g);
    if ((s->lost & bit(s->of[r][g])) == 0)
        model_fail("life %u.%u is collected, and its object can be reached", r, g);
    a->of[r] = (uint16_t)((a->life & ~STATE) | DEAD);
    a->dead[a->n_dead++] = (uint8_t)r;
    if (model.mutant == END_AT_ONCE) {
        a->at = (uint8_t)(a->n_dead - 1);
        next_end(a);
    } else {
        next_record(s);
    }
}

static void collect(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record;
    uint16_t life;
    switch (a->pc) {
    case AT_UNSTICK_CAS:
        if (model.mutant == LIFE_BEFORE_WEAK) {
            account_store_life(s, AGENT, r, high(a->life) | CLOSED, RELAXED);
        } else if (!cas_life(s, r, high(a->life) | CLOSED, unless(RELAXED_UNSTICK, ACQ_REL))) {
            next_record(s);
            break;
        }
        a->pc = AT_FREE_RUN;
        break;
    case AT_BURY_CAS:
        bury(s);
        break;
    default: /* BURY_LIFE: a closer was first, or the life was frozen */
        life = load(s, LIFE(r));
        a->pc = AT_BURY_CAS;
        if (!same(life, a->life) || (life & STATE) != OPEN)
            next_record(s);
        else
            a->life = life;
        break;
    }
}

/* ---- hold_ancestors() ---- */

/* The parent of a life is known: continue there, or with the next dead one. */
static void up(struct agent *a, uint16_t parent)
{
    a->parent = parent;
    a->pc = AT_HOLD_LIFE;
    if (parent == 0) {
        a->at++;
        next_hold(a);
    }
}

static void hold(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = low(a->parent);
    uint16_t handle = a->parent;
    if (a->pc == AT_HOLD_DEAD) {
        up(a, load(s, PARENT(a->dead[a->at])));
    } else if (a->pc == AT_HOLD_LIFE) {
        uint16_t life = load(s, LIFE(r));
        if (model.mutant == HOLD_ANY)
            handle = high(life) | (uint16_t)r;
        if (!same(life, handle)) { /* the owner's life is over */
            a->at++;
            next_hold(a);
            return;
        }
        if (a->held[r] != handle || (a->leaf == 1 && (a->charged & bit(r)) == 0)) {
            a->held[r] = handle;
            a->holder[r] = handle_of(a, a->dead[a->at]);
            a->charged = (uint8_t)((a->charged & ~bit(r)) | (a->leaf == 1 ? bit(r) : 0));
        }
        a->pc = AT_HOLD_PARENT;
    } else {
        up(a, load(s, PARENT(r)));
    }
}

/* ---- end and free ---- */

static void end_life(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record, g = generation(a->life), holder = low(a->holder[r]);
    bool held = is_held(a, r);
    if (a->pc == AT_END_REFS) { /* memory kind and class: harmless or not */
        if (!same(load(s, REFS(r)), a->life) && !model.escape)
            model_fail("life %u.%u has lost its memory kind", r, g);
        a->pc = model.windows ? AT_END_PATH : AT_END_DEAD;
        return;
    }
    if (a->pc == AT_END_PATH) {
        uint16_t path = load(s, PATH(r));
        window_judge(s, r, a->life, window_strayed(a->life, path) ? high(a->life) | RACED : path);
        a->pc = AT_END_DEAD;
        return;
    }
    if (held != account_is_held(s, s->of[r][g]))
        model_fail(held ? "life %u.%u is held by no life that leaked: a leak is lost"
                        : "life %u.%u is leaked, and a derived life holds it: a leak is invented",
                   r, g);
    if (held && (s->leaked[holder] & bit(generation(a->holder[r]))) == 0)
        model_fail("the bytes of life %u.%u are charged to a life that is no leak", r, g);
    *(held ? &s->held[r] : &s->leaked[r]) |= bit(g);
    store(s, PATH(r), high(a->life));
    a->pc = AT_FREE_RUN;
}

static void freed(struct state *s)
{
    struct agent *a = &s->agent;
    account_free(s, a->record);
    if (!a->ending) {
        next_record(s);
        return;
    }
    a->at++;
    if (model.mutant == END_AT_ONCE) {
        a->ending = a->at = a->n_dead = 0;
        next_record(s);
    } else {
        next_end(a);
    }
}

static void free_record(struct state *s)
{
    struct agent *a = &s->agent;
    unsigned r = a->record;
    uint16_t run;
    switch (a->pc) {
    case AT_FREE_RUN:
        run = memory_swap(&s->m, AGENT, RUN(r), 0, RELAXED);
        if (model.mutant != RUN_AFTER_KEY)
            s->charged[r] = (uint8_t)(s->charged[r] + run);
        a->pc = AT_FREE_WEAK;
        break;
    case AT_FREE_WEAK:
        s->weak[r] = 0;
        a->pc = AT_FREE_LIFE;
        break;
    case AT_FREE_LIFE:
        account_store_life(s, AGENT, r, high(a->life) | CLOSED, unless(RELAXED_FREE, RELEASE));
        a->pc = AT_FREE_TOP;
        break;
    case AT_FREE_TOP:
        a->top = load(s, STACK);
        a->pc = AT_FREE_NEXT;
        break;
    case AT_FREE_NEXT:
        store(s, NEXT(r), low(a->top));
        a->pc = AT_FREE_CAS;
        break;
    default: /* FREE_CAS */
        a->pc = AT_FREE_TOP;
        if (memory_cas(&s->m, AGENT, STACK, a->top, (uint16_t)(high(a->top) + 16) | (uint16_t)r,
                       unless(RELAXED_FREE_PUSH, RELEASE)))
            freed(s);
        break;
    }
}

int agent_move(struct state *s, unsigned choice, unsigned passes)
{
    struct agent *a = &s->agent;
    int moved = 1;
    memory_step(choice);
    model_note = agent_names[a->pc];
    if (a->pc == AT_SCAN) {
        if (a->pass >= passes || s->bump == 0)
            return 0;
        a->pass++;
        a->record = 1;
        a->end = s->bump; /* next_record, acquire: later ones wait for the next scan */
        a->pc = AT_CONVERT_LIFE;
    } else if (a->pc == AT_CONVERT_WEAK) {
        moved = make_weak(s);
    } else if (a->pc < AT_ASK_AGAIN) {
        convert(s);
    } else if (a->pc < AT_UNSTICK_CAS) {
        ask(s);
    } else if (a->pc < AT_HOLD_DEAD) {
        collect(s);
    } else if (a->pc < AT_END_REFS) {
        hold(s);
    } else if (a->pc < AT_FREE_RUN) {
        end_life(s);
    } else {
        free_record(s);
    }
    if (a->pc == AT_SCAN && a->pass >= model.passes)
        memory_leave(&s->m, AGENT);
    return memory_step_end(moved);
}
