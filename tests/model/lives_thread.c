/* tests/model/lives_thread.c - an application thread: what it may do with its buffers, and the
 * hooks of the shim that this runs: release(), endBy(), step(), refs(). */
#include <string.h>

#include "tests/model/lives.h"

static const char *const pc_names[] = {
#define XX(name, text) text,
    PCS(XX)
#undef XX
};

static const char *const kind_names[] = {"== root",
                                         "== step",
                                         "== release",
                                         "== release after release",
                                         "== retain",
                                         "== drop",
                                         "== the pool drops",
                                         "== hand over to the next thread",
                                         "== hand over to the one after it",
                                         "== publish without order to the next thread",
                                         "== publish without order to the one after it",
                                         "== derive from object 1",
                                         "== derive from object 2",
                                         "== derive from object 3"};

static uint16_t load(struct state *s, unsigned t, unsigned at)
{
    return memory_load(&s->m, t, at, RELAXED);
}

static void store(struct state *s, unsigned t, unsigned at, unsigned value)
{
    memory_store(&s->m, t, at, (uint16_t)value, RELAXED);
}

bool thread_idle(const struct thread *x)
{
    return x->pc == IDLE;
}

bool thread_uses(const struct thread *x, unsigned object)
{
    if (x->pc == IDLE || x->object != object)
        return x->pc >= DERIVE_OWNER && x->pc <= OPEN_HANDLE && x->kind >= DERIVE &&
               object == x->kind - DERIVE + 1u;
    if (x->last && x->pc >= STEP_PATH)
        return false; /* design.md: close protocol: steps and counts need no fence of reachability
                       */
    return !(x->last && x->pc >= CLOSE_PATH && x->pc <= PUSH_CAS);
}

/* ---- what the application may begin ---- */

static bool has_derived(const struct state *s, unsigned o)
{
    for (unsigned d = 1; d <= model.objects; d++)
        if (s->kin[d] == o)
            return true;
    return false;
}

/* A new or recycled object for thread t. */
static bool get_object(struct state *s, unsigned t, unsigned o)
{
    struct thread *x = &s->t[t];
    uint8_t b = bit(o);
    if ((s->born & b) != 0
            ? (s->pool & b) == 0
            : o > 1 && (s->born & bit(o - 1)) == 0 && o != model.objects - model.derived + 1)
        return false;
    if (generation(s->current[o]) >= MAX_G - 2)
        return false;
    s->born |= b;
    if ((s->pool & b) != 0)
        memory_take(&s->m, t, o - 1);
    s->pool &= (uint8_t)~b;
    x->held |= b;
    x->stale &= (uint8_t)~b;
    for (unsigned k = 0; k < model.threads; k++) {
        if (k == t)
            continue;
        if (model.escape)
            s->t[k].held |= b;
        if (model.escape || model.weak)
            s->t[k].stale |= s->t[k].held & b; /* may step, not release */
    }
    return true;
}

static bool begin_derive(struct state *s, unsigned t, unsigned d, unsigned owner)
{
    struct thread *x = &s->t[t];
    if (d <= model.objects - model.derived || owner == d || owner > model.objects ||
        (x->held & bit(owner)) == 0 || (s->counted & bit(owner)) == 0 || !get_object(s, t, d))
        return false;
    s->kin[d] = (uint8_t)owner;
    x->parent = (uint16_t)owner;
    x->pc = model.windows ? ASK_GATE : DERIVE_OWNER;
    return true;
}

/* Netty's own count is at zero: one winner. */
static void last_release(struct state *s, struct thread *x, unsigned o)
{
    uint16_t handle = s->current[o];
    if (handle != 0)
        s->begun[low(handle)] |= bit(generation(handle));
    x->object = (uint8_t)o;
    x->pc = model.windows ? ASK_FIELD : CLOSE_HANDLE;
}

static bool begin_release(struct state *s, unsigned t, unsigned o, bool late)
{
    struct thread *x = &s->t[t];
    uint8_t b = bit(o);
    if ((x->held & b) == 0 || (late ? !model.twice || (s->counted & b) != 0
                                    : (s->counted & b) == 0 || (x->stale & b) != 0))
        return false;
    if (late) {
        x->pc = model.windows ? ASK_FIELD : CLOSE_HANDLE;
        return true;
    }
    s->counted &= (uint8_t)~b;
    if (!has_derived(s, o))
        last_release(s, x, o);
    return true;
}

static bool hand_over(struct state *s, unsigned t, unsigned o, unsigned next, bool ordered)
{
    struct thread *x = &s->t[t], *other = &s->t[(t + next) % model.threads];
    unsigned to = (t + next) % model.threads;
    uint8_t b = bit(o);
    if (model.share == 0 || to == t || next >= model.threads || (other->held & b) != 0 ||
        (x->stale & b) != 0 || (!ordered && !model.publish) || other->pc != IDLE ||
        other->ops >= model.ops)
        return false;
    other->held |= b;
    if (ordered)
        memory_join(&s->m, to, t);
    else
        memory_depend(&s->m, to, t, BY_HANDLE);
    if (model.share == 1)
        x->held &= (uint8_t)~b;
    return true;
}

/* What takes no operation of the shim. */
static bool pass_on(struct state *s, unsigned t, unsigned kind, unsigned o)
{
    struct thread *x = &s->t[t];
    uint8_t b = bit(o), *from = kind == POOL_DROP ? &s->pool : &x->held;
    if ((*from & b) == 0)
        return false;
    if (kind >= PUBLISH)
        return hand_over(s, t, o, kind - PUBLISH + 1, false);
    if (kind >= HAND_OVER)
        return hand_over(s, t, o, kind - HAND_OVER + 1, true);
    *from &= (uint8_t)~b;
    x->stale &= (uint8_t)~b;
    return true;
}

static bool may(struct state *s, unsigned t, unsigned kind, unsigned o)
{
    struct thread *x = &s->t[t];
    uint8_t b = bit(o);
    switch (kind) {
    case ALLOCATE:
        if (o > model.objects - model.derived || !get_object(s, t, o))
            return false;
        x->pc = model.windows ? ASK_GATE : model.own ? AGAIN_HANDLE : ROOT_HANDLE;
        return true;
    case STEP:
    case RETAIN:
        if ((x->held & b) == 0 || (model.strict && (s->counted & b) == 0) ||
            (kind == RETAIN && !model.refs))
            return false;
        x->pc = kind == STEP ? (model.windows ? ASK_GATE : STEP_HANDLE)
                             : (model.windows ? ASK_FIELD : REFS_HANDLE);
        return true;
    case LET_GO:
    case LET_GO_LATE:
        return begin_release(s, t, o, kind == LET_GO_LATE);
    default:
        return begin_derive(s, t, o, kind - DERIVE + 1);
    }
}

/* May the caller's reference die when the hook has loaded the handle? */
static bool is_last_use(unsigned kind)
{
    return kind == LET_GO ? model.mutant == UNREACHABLE
                          : model.early && (kind == STEP || kind == RETAIN);
}

static int begin(struct state *s, unsigned t)
{
    unsigned choice = memory_own_choice();
    struct thread *x = &s->t[t];
    unsigned kind = choice / model.objects, o = choice % model.objects + 1;
    bool last = kind >= KINDS;
    kind = last ? kind - KINDS : kind;
    if (kind >= KINDS)
        return 0;
    model_note = kind_names[kind];
    if ((s->lost & bit(o)) != 0 || (last && !is_last_use(kind)))
        return -1;
    if (kind >= DROP && kind < DERIVE)
        return pass_on(s, t, kind, o) ? 1 : -1;
    if (x->ops >= model.ops || !may(s, t, kind, o))
        return -1;
    x->kind = (uint8_t)kind;
    x->ops++;
    x->last = last;
    if (last) {
        x->held &= (uint8_t)~bit(o);
        x->stale &= (uint8_t)~bit(o);
    }
    if (x->pc == IDLE)
        thread_finish(x);
    else
        x->object = (uint8_t)o;
    return 1;
}

/* ---- endBy(): the loser of a race to open (after = 1), or a life that its root found open ---- */

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
        store(s, t, PATH(r), high(x->f));
        x->pc = END_LIFE;
        break;
    case END_LIFE:
        x->life = memory_load(&s->m, t, LIFE(r), ACQUIRE);
        if (!same(x->life, x->f) || (x->life & STATE) != OPEN)
            x->pc = x->after ? ROOT_HANDLE : TAKE;
        else
            x->pc = END_CAS;
        break;
    default: /* END_CAS */
        x->pc = END_LIFE;
        if (!memory_cas(&s->m, t, LIFE(r), x->life, closed_life(x->life), ACQ_REL))
            break;
        *(x->after ? &s->undone[r] : &s->unknown[r]) |= bit(g);
        if ((x->life & (CONV | STICKY)) == 0)
            x->pc = GIVE_SLOT;
        else if (!x->after)
            x->pc = ROOT_LIFE;
        else if (x->kind == ALLOCATE)
            x->pc = ROOT_HANDLE;
        else
            thread_finish(x);
        break;
    }
}

/* ---- release(), close() ---- */

/* The winner charges; a node 0 is ?raced. */
static void charge_released(struct state *s, const struct thread *x)
{
    unsigned r = x->record, g = generation(x->f);
    if ((s->released[r] & bit(g)) != 0)
        model_fail("life %u.%u is released twice", r, g);
    if (((s->leaked[r] | s->held[r]) & bit(g)) != 0)
        model_fail("life %u.%u is collected and released", r, g);
    s->released[r] |= bit(g);
    if (s->of[r][g] != x->object)
        model_fail("life %u.%u of object %u is ended by a release of object %u", r, g, s->of[r][g],
                   x->object);
    bool known = same(x->path, x->f) && (x->path & NODE) != NONE;
    bool late = (s->late[r] & bit(g)) != 0;
    if (!model.weak || !model.twice) /* no order between the users of a buffer that two release */
        window_judge(s, r, x->f, x->path);
    if (model.strict && !late && (!known || (x->path & NODE) == RACED))
        model_fail("life %u.%u ends at ?raced and no thread raced", r, g);
    if (model.mutant == NODE_NONE_CHARGED && same(x->path, x->f) && !known)
        model_fail("life %u.%u is charged at node 0", r, g);
}

static uint8_t slow_close(void)
{
    return model.windows ? CLOSE_LATER : CLOSE_PATH;
}

/* The plain stores of release(): Netty's own count has one winner. */
static void move_fast_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    switch (x->pc) {
    case CLOSE_HANDLE:
        x->f = load_handle(s, t, x->object);
        x->record = (uint8_t)low(x->f);
        if (fresh(x->f) || x->record == IGN || (x->start == SHUT && (x->f & OVER) != 0))
            x->pc = AFTER;
        else
            x->pc = x->start == SHUT ? CLOSE_ASK : model.plain ? FAST_LIFE : slow_close();
        break;
    case FAST_LIFE:
        x->life = load(s, t, LIFE(r));
        x->pc = x->life == (high(x->f) | OPEN | STICKY) ? FAST_PATH : slow_close();
        break;
    case FAST_PATH:
        x->path = load(s, t, PATH(r));
        x->pc = FAST_PATH_NONE;
        break;
    case FAST_PATH_NONE:
        store(s, t, PATH(r), high(x->f));
        x->pc = FAST_CLOSED;
        break;
    case FAST_CLOSED:
        account_store_life(s, t, r, closed_life(x->life), unless(RELAXED_CLOSE, RELEASE));
        charge_released(s, x);
        s->by_run[r]++;
        x->pc = RUN_LOAD;
        break;
    case RUN_LOAD:
        x->life = load(s, t, RUN(r));
        x->pc = RUN_STORE;
        break;
    default: /* RUN_STORE */
        store(s, t, RUN(r), x->life + 1u);
        x->pc = AFTER;
        break;
    }
}

static void end_of_close(struct state *s, struct thread *x)
{
    charge_released(s, x);
    if ((x->life & STICKY) != 0 || ((x->life & CONV) != 0 && model.mutant != IGNORE_CONV))
        x->pc = AFTER;
    else
        x->pc = GIVE_SLOT;
    if (model.mutant == PATH_AFTER_CAS) {
        x->after = x->pc;
        x->pc = CLOSE_PATH_LATE;
    }
}

static void close_by_cas(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    if (model.mutant == PLAIN_CLOSE) {
        account_store_life(s, t, x->record, closed_life(x->life), RELEASE);
        end_of_close(s, x);
    } else if (memory_cas(&s->m, t, LIFE(x->record), x->life, closed_life(x->life),
                          unless(RELAXED_CLOSE_CAS, ACQ_REL))) {
        end_of_close(s, x);
    } else {
        if (++x->tries > 1 + model.twice + (model.windows != 0))
            model_fail("a close's CAS fails %u times", x->tries);
        x->pc = CLOSE_AGAIN;
    }
}

static void move_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    bool open;
    switch (x->pc) {
    case CLOSE_LATER: /* before the path: with LATER that is the gap, or was stored over it */
        x->parent = memory_load(&s->m, t, LIFE(r), ACQUIRE);
        x->pc = CLOSE_PATH;
        break;
    case CLOSE_PATH:
        x->path = load(s, t, PATH(r));
        if (model.windows && model.mutant != PATH_BEFORE_LATER && same(x->parent, x->f) &&
            window_strayed(x->parent, x->path))
            x->path = high(x->f) | RACED;
        x->pc = CLOSE_LIFE;
        break;
    case CLOSE_LIFE:
    case CLOSE_AGAIN:
        x->life = memory_load(&s->m, t, LIFE(r), unless(RELAXED_CLOSE_LIFE, ACQUIRE));
        if (model.mutant == NO_GENERATION)
            x->f = high(x->life) | (uint16_t)r;
        open = same(x->life, x->f) && (x->life & STATE) == OPEN;
        if (!open)
            x->pc = AFTER;
        else if (x->pc == CLOSE_AGAIN || model.mutant == PATH_AFTER_CAS)
            x->pc = CLOSE_CAS;
        else
            x->pc = CLOSE_PATH_NONE;
        if (model.mutant == PATH_BEFORE_LATER && open && window_strayed(x->life, x->path))
            x->path = high(x->f) | RACED;
        break;
    case CLOSE_PATH_NONE:
        store(s, t, PATH(r), high(x->f));
        x->pc = CLOSE_CAS;
        break;
    case CLOSE_CAS:
        close_by_cas(s, t);
        break;
    default: /* CLOSE_PATH_LATE */
        store(s, t, PATH(r), high(x->f));
        x->pc = x->after;
        x->after = 0;
        break;
    }
}

/* While the gate is shut. A life that is over stays over: generations never fall, and its own ends
 * but once. So the mark needs no order; it needs the CAS, and the life's own generation, not only
 * that no life is seen to be open. */
static void move_shut_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned g = generation(x->f);
    switch (x->pc) {
    case CLOSE_ASK:
        x->life = load(s, t, LIFE(x->record));
        if (same(x->life, x->f) && (x->life & STATE) == OPEN)
            x->pc = CLOSE_LATER;
        else
            x->pc = generation(x->life) >= g || model.mutant == OVER_UNSEEN ? CLOSE_MARK : AFTER;
        break;
    default: /* CLOSE_MARK */
        if (model.mutant == OVER_STORE)
            store(s, t, BBF(x->object), x->f | OVER);
        else
            (void)memory_cas(&s->m, t, BBF(x->object), x->f, x->f | OVER, ACQ_REL);
        x->pc = AFTER;
        break;
    }
}

/* ---- giveBack() ---- */

/* Whatever follows a record given back. */
static void given(struct state *s, struct thread *x)
{
    account_free(s, x->record);
    if (x->kind == LET_GO || x->kind == LET_GO_LATE)
        x->pc = AFTER;
    else if (x->kind == ALLOCATE)
        x->pc = x->after ? ROOT_HANDLE : TAKE;
    else
        thread_finish(x);
}

static int move_give(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record, choice;
    switch (x->pc) {
    case GIVE_SLOT:
        store(s, t, SLOT(r), 0);
        x->pc = GIVE;
        break;
    case GIVE: /* endBy() always pushes; without `spill` there is no stack */
        choice = memory_own_choice();
        if (choice > model.spill)
            return 0;
        if (choice == 0 && model.spill && x->kind != LET_GO && x->kind != LET_GO_LATE)
            return -1;
        x->pc = choice == 0 ? GIVE_NEXT : PUSH_TOP;
        break;
    case GIVE_NEXT:
        store(s, t, NEXT(r), x->list);
        x->list = (uint8_t)r;
        given(s, x);
        break;
    case PUSH_TOP:
        x->path = memory_load(&s->m, t, STACK, unless(RELAXED_PUSH, ACQUIRE));
        x->pc = PUSH_NEXT;
        break;
    case PUSH_NEXT:
        store(s, t, NEXT(r), low(x->path));
        x->pc = PUSH_CAS;
        break;
    default: /* PUSH_CAS */
        x->pc = PUSH_TOP;
        if (memory_cas(&s->m, t, STACK, x->path, (uint16_t)(high(x->path) + 16) | (uint16_t)r,
                       unless(RELAXED_PUSH, ACQ_REL)))
            given(s, x);
        break;
    }
    return 1;
}

/* ---- step(), refs() ---- */

static void move_step(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    switch (x->pc) {
    case STEP_HANDLE:
        x->f = load_handle(s, t, x->object);
        x->record = (uint8_t)low(x->f);
        if (x->record == IGN)
            thread_finish(x);
        else if (fresh(x->f)) /* windows: its life began unseen, and is not followed */
            x->pc = model.windows ? NOT_FOLLOWED : TAKE;
        else
            x->pc = STEP_PATH;
        break;
    case STEP_PATH:
        x->path = load(s, t, PATH(r));
        if (model.mutant == NO_GENERATION)
            x->f = high(x->path) | (uint16_t)r;
        if (!same(x->path, x->f))
            x->pc = MISS_PATH;
        else if ((x->path & NODE) == NONE || (x->path & NODE) == RACED || (x->path & NODE) == GAP)
            thread_finish(x);
        else
            x->pc = STEP_STORE;
        break;
    case STEP_STORE:
        if (same(s->m.newest[PATH(r)], x->f) && (s->m.newest[PATH(r)] & NODE) == GAP)
            s->late[r] |= bit(generation(x->f));
        store(s, t, PATH(r), high(x->f) | CHILD);
        thread_finish(x);
        break;
    case MISS_PATH:
        x->path = load(s, t, PATH(r));
        if (!same(x->path, x->f))
            x->pc = MISS_LIFE;
        else /* followed, if the life is open: another step like any other */
            thread_finish(x);
        break;
    case MISS_LIFE:
        x->life = memory_load(&s->m, t, LIFE(r), unless(RELAXED_MISS_LIFE, ACQUIRE));
        if (same(x->life, x->f) && (x->life & STATE) == OPEN)
            x->pc = MISS_STORE;
        else
            thread_finish(x);
        break;
    default: /* MISS_STORE */
        if (model.strict && !model.windows)
            model_fail("a step is repaired to ?raced and no thread raced");
        store(s, t, PATH(r), high(x->f) | RACED);
        thread_finish(x);
        break;
    }
}

static void move_refs(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    enum memory_order order = unless(RELAXED_REFS, ACQ_REL);
    switch (x->pc) {
    case REFS_HANDLE:
        x->f = load_handle(s, t, x->object);
        x->record = (uint8_t)low(x->f);
        if (fresh(x->f) || x->record == IGN)
            thread_finish(x);
        else
            x->pc = REFS_LOAD;
        break;
    case REFS_LOAD:
        x->life = load(s, t, REFS(r));
        if (same(x->life, x->f))
            x->pc = REFS_CAS;
        else
            thread_finish(x);
        break;
    case REFS_CAS:
        if (model.mutant == PLAIN_REFS)
            store(s, t, REFS(r), x->life ^ BUCKET);
        else if (!memory_cas(&s->m, t, REFS(r), x->life, x->life ^ BUCKET, order)) {
            x->pc = REFS_LOAD;
            break;
        }
        x->pc = BUCKET_PATH;
        break;
    case BUCKET_PATH:
        x->path = load(s, t, PATH(r));
        if (same(x->path, x->f) && (x->path & NODE) != NONE && (x->path & NODE) != RACED &&
            (x->path & NODE) != GAP)
            x->pc = BUCKET_CAS;
        else
            thread_finish(x);
        break;
    default: /* BUCKET_CAS */
        if (model.mutant == PLAIN_BUCKET)
            store(s, t, PATH(r), x->path ^ BUCKET);
        else
            (void)memory_cas(&s->m, t, PATH(r), x->path, x->path ^ BUCKET, order);
        thread_finish(x);
        break;
    }
}

/* ---- after a release: the object goes back to its pool, or not; its owner is released ---- */

static int move_after(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned choice = memory_own_choice(), o = x->object, owner = s->kin[o];
    uint8_t b = bit(o);
    if (choice > 1 || (choice == 1 && x->kind != LET_GO))
        return 0;
    if (choice == 1) {
        s->pool |= b;
        memory_keep(&s->m, t, o - 1);
        x->held &= (uint8_t)~b;
        x->stale &= (uint8_t)~b;
        model_note = "(recycled)";
    }
    thread_finish(x);
    s->kin[o] = 0;
    if (owner != 0 && (s->counted & bit(owner)) == 0 && !has_derived(s, owner)) {
        x->kind = LET_GO;
        last_release(s, x, owner);
    }
    return 1;
}

static int hook(struct state *s, unsigned t)
{
    unsigned pc = s->t[t].pc;
    if (pc <= AGAIN_CAS)
        open_again(s, t);
    else if (pc <= REOPEN_HANDLE)
        open_root(s, t);
    else if (pc <= DERIVE_CLOSED)
        open_derive(s, t);
    else if (pc <= NOT_FOLLOWED)
        open_take(s, t);
    else if (pc <= OPEN_HANDLE)
        open_fill(s, t);
    else if (pc <= END_CAS)
        move_end(s, t);
    else if (pc <= RUN_STORE)
        move_fast_close(s, t);
    else if (pc <= CLOSE_PATH_LATE)
        move_close(s, t);
    else if (pc <= PUSH_CAS)
        return move_give(s, t);
    else if (pc == AFTER)
        return move_after(s, t);
    else if (pc <= MISS_STORE)
        move_step(s, t);
    else if (pc <= BUCKET_CAS)
        move_refs(s, t);
    else if (pc == ASK_FIELD)
        window_look(s, t);
    else if (pc == ASK_GATE)
        window_ask(s, t);
    else if (pc == DERIVE_PATH)
        open_derive(s, t);
    else if (pc == CLOSE_LATER)
        move_close(s, t);
    else if (pc <= CLOSE_MARK)
        move_shut_close(s, t);
    else
        window_recheck(s, t);
    return 1;
}

int thread_move(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t];
    unsigned pc = x->pc, kind = x->kind, o = x->object;
    memory_step(choice);
    if (pc == IDLE)
        return memory_step_end(begin(s, t));
    model_note = pc_names[pc];
    int moved = hook(s, t);
    if (x->pc == IDLE && (kind == ALLOCATE || kind >= DERIVE))
        s->counted |= bit(o); /* the hook has returned: the buffer is its caller's */
    if (x->pc == IDLE && x->ops == model.ops && x->held == 0)
        memory_leave(&s->m, t);
    return memory_step_end(moved);
}
