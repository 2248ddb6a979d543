/* tests/model/lives_open.c - roots, derived lives, and the open of a record: openRoot(), derive(),
 * reopen(), open(), openFirst() of the shim. */
#include <string.h>

#include "tests/model/lives.h"

static uint16_t load(struct state *s, unsigned t, unsigned at)
{
    return memory_load(&s->m, t, at, RELAXED);
}

static void store(struct state *s, unsigned t, unsigned at, unsigned value)
{
    memory_store(&s->m, t, at, (uint16_t)value, RELAXED);
}

void thread_finish(struct thread *x)
{
    *x = (struct thread){.ops = x->ops, .list = x->list, .held = x->held, .stale = x->stale};
}

/* The hook returns: what follows comes after $bbf. */
static void fence(struct state *s, unsigned t)
{
    if (model.mutant != NO_FENCE)
        memory_fence(&s->m, t);
    thread_finish(&s->t[t]);
}

/* The same where a life was opened: perhaps while the gate shut. */
static void began(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    if (!model.windows) {
        fence(s, t);
        return;
    }
    memory_fence(&s->m, t);
    x->freezer = (struct freezer){.record = x->record};
    x->pc = RECHECK_FENCE;
}

static void opened(struct state *s, unsigned t, unsigned r, unsigned life)
{
    account_store_life(s, t, r, life, unless(RELAXED_OPEN, RELEASE));
    account_opened(s, r, generation(life), s->t[t].object);
    if (s->t[t].inherits && generation(life) < MAX_G)
        s->missed[r] |= bit(generation(life));
}

static bool parent_first(void)
{
    return model.derived != 0 && model.mutant != PARENT_LATE;
}

/* The root of an open life keeps it if it was only first seen. */
static void rename_life(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    switch (x->pc) {
    case ROOT_REFS: {
        uint16_t refs = load(s, t, REFS(r));
        if (same(refs, x->f) && (refs & NODE) == FIRST)
            x->pc = RENAME_PATH;
        else if (x->after)
            fence(s, t);
        else
            x->pc = END_PATH;
        break;
    }
    case RENAME_PATH:
        store(s, t, PATH(r), high(x->f) | ROOT);
        x->pc = RENAME_REFS;
        break;
    default: /* RENAME_REFS */
        store(s, t, REFS(r), high(x->f) | ROOT);
        s->current[x->object] = x->f;
        fence(s, t);
        break;
    }
}

static void reopen(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned r = x->record;
    uint16_t up = (uint16_t)(high(x->f) + 16);
    switch (x->pc) {
    case REOPEN_PATH:
        store(s, t, PATH(r), up | (x->start != 0 ? x->start : ROOT));
        x->pc = REOPEN_REFS;
        break;
    case REOPEN_REFS:
        store(s, t, REFS(r), up | ROOT);
        x->pc = parent_first() ? REOPEN_PARENT : REOPEN_LIFE;
        break;
    case REOPEN_PARENT:
        store(s, t, PARENT(r), x->parent);
        x->pc = model.mutant == PARENT_LATE ? REOPEN_HANDLE : REOPEN_LIFE;
        break;
    case REOPEN_LIFE:
        opened(s, t, r, up | STICKY | OPEN);
        x->pc = model.mutant == PARENT_LATE && model.derived != 0 ? REOPEN_PARENT : REOPEN_HANDLE;
        break;
    default: /* REOPEN_HANDLE */
        store(s, t, BBF(x->object), up | r | (model.mutant == OVER_KEPT ? x->f & OVER : 0));
        s->current[x->object] = (uint16_t)(up | r);
        began(s, t);
        break;
    }
}

/* setRefCnt() of what the application's own pool gives, behind its deallocate(): the mark AGAIN
 * takes the place of the handle of the life before. */
void open_again(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case AGAIN_HANDLE:
        x->f = load_handle(s, t, x->object);
        x->pc = fresh(x->f) ? ROOT_HANDLE : low(x->f) == IGN ? AGAIN_CAS : AGAIN_LIFE;
        break;
    case AGAIN_LIFE:
        x->life = load(s, t, LIFE(low(x->f)));
        x->pc = same(x->life, x->f) && (x->life & STATE) == OPEN ? ROOT_HANDLE : AGAIN_CAS;
        break;
    default: /* AGAIN_CAS */
        (void)memory_cas(&s->m, t, BBF(x->object), x->f, MARK, ACQ_REL);
        x->pc = ROOT_HANDLE;
        break;
    }
}

void open_root(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case ROOT_HANDLE:
        x->f = load_handle(s, t, x->object);
        x->record = (uint8_t)low(x->f);
        x->sticky = fresh(x->f) ? 0 : STICKY;
        x->pc = fresh(x->f) || x->record == IGN ? TAKE : ROOT_LIFE;
        if (x->after && x->pc == TAKE) /* the other's life could not be followed */
            fence(s, t);
        break;
    case ROOT_LIFE:
        x->life = load(s, t, LIFE(x->record));
        if (same(x->life, x->f) && (x->life & STATE) == OPEN)
            x->pc = ROOT_REFS;
        else if (x->after) /* the other's life is over already: rename() does nothing */
            fence(s, t);
        else
            x->pc = same(x->life, x->f) && low(x->life) == (STICKY | CLOSED) ? REOPEN_PATH : TAKE;
        break;
    case ROOT_REFS:
    case RENAME_PATH:
    case RENAME_REFS:
        rename_life(s, t);
        break;
    default:
        reopen(s, t);
        break;
    }
}

/* Windows: what was derived from it is not followed either. */
static void not_followed(struct state *s, unsigned t)
{
    s->current[s->t[t].object] = 0;
    fence(s, t);
}

/* Windows: below the owner's path, with what is missing in that. */
static void derive_start(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned owner = low(x->parent), g = generation(x->parent);
    uint16_t path = load(s, t, PATH(owner));
    bool known = same(path, x->parent) && (path & NODE) != NONE && (path & NODE) != RACED;
    if (!known || (model.mutant != DERIVE_LATE && window_strayed(x->life, path)))
        x->start = RACED;
    else
        x->start = (path & NODE) == GAP ? GAP : ROOT;
    x->inherits = x->start == ROOT && (s->missed[owner] & bit(g)) != 0;
}

void open_derive(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case DERIVE_OWNER: /* x->parent: the owner, an object so far */
        x->parent = load_handle(s, t, x->parent);
        if (model.windows && (fresh(x->parent) || low(x->parent) == IGN))
            not_followed(s, t);
        else
            x->pc = low(x->parent) == IGN ? NOT_FOLLOWED
                    : x->parent != 0      ? DERIVE_LIFE
                                          : DERIVE_HANDLE;
        break;
    case DERIVE_LIFE:
        x->life = load(s, t, LIFE(low(x->parent)));
        if (!same(x->life, x->parent) || (x->life & STATE) != OPEN)
            x->parent = 0;
        if (!model.windows)
            x->pc = DERIVE_HANDLE;
        else if (x->parent != 0)
            x->pc = DERIVE_PATH;
        else
            not_followed(s, t);
        break;
    case DERIVE_PATH:
        derive_start(s, t);
        x->pc = DERIVE_HANDLE;
        break;
    case DERIVE_HANDLE:
        x->f = load_handle(s, t, x->object);
        x->record = (uint8_t)low(x->f);
        x->sticky = x->f != 0 ? STICKY : 0;
        x->pc = x->f == 0 || x->record == IGN ? TAKE : DERIVE_CLOSED;
        break;
    default: /* DERIVE_CLOSED */
        x->life = load(s, t, LIFE(x->record));
        x->pc = same(x->life, x->f) && low(x->life) == (STICKY | CLOSED) ? REOPEN_PATH : TAKE;
        break;
    }
}

static bool by_cas(const struct thread *x)
{
    return x->kind == STEP || (x->kind == ALLOCATE && x->sticky == 0 && model.mutant != ROOT_STORE);
}

static void got(struct state *s, unsigned t, unsigned record)
{
    s->t[t].record = (uint8_t)record;
    s->t[t].pc = model.mutant == LIFE_BEFORE_SLOT ? OPEN_OLD_LIFE : OPEN_SLOT;
    account_taken(s, record);
}

void open_take(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case TAKE:
        x->head = x->list;
        x->pc = x->list != 0 ? TAKE_NEXT : POP_TOP;
        break;
    case TAKE_NEXT:
        x->list = (uint8_t)load(s, t, NEXT(x->list));
        got(s, t, x->head);
        break;
    case POP_TOP:
        x->path = memory_load(&s->m, t, STACK, unless(RELAXED_POP, ACQUIRE));
        x->head = (uint8_t)low(x->path);
        if (x->head != 0)
            x->pc = POP_NEXT;
        else if (s->bump < model.records)
            got(s, t, ++s->bump);
        else
            x->pc = NOT_FOLLOWED;
        break;
    case POP_NEXT:
        x->life = load(s, t, NEXT(x->head));
        x->pc = POP_CAS;
        break;
    case POP_CAS:
        x->pc = POP_TOP;
        if (memory_cas(&s->m, t, STACK, x->path,
                       (uint16_t)(high(x->path) + 16) | (uint16_t)low(x->life),
                       unless(RELAXED_POP, ACQ_REL)))
            got(s, t, x->head);
        break;
    default: /* NOT_FOLLOWED */
        if (by_cas(x)) {
            (void)memory_cas(&s->m, t, BBF(x->object), fresh(x->f) ? x->f : 0, IGN, ACQ_REL);
        } else {
            store(s, t, BBF(x->object), IGN);
            s->current[x->object] = 0;
        }
        fence(s, t);
        break;
    }
}

static void write_handle(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned o = x->object;
    x->life = (uint16_t)(high(x->life) | x->record);
    if (!by_cas(x)) {
        store(s, t, BBF(o), x->life);
    } else if (!memory_cas(&s->m, t, BBF(o), fresh(x->f) ? x->f : 0, x->life,
                           unless(RELAXED_HANDLE_CAS, ACQ_REL))) {
        x->f = x->life; /* another thread saw it first: this is no life */
        x->after = 1;
        x->pc = END_PATH;
        return;
    }
    s->current[o] = x->life;
    began(s, t);
}

void open_fill(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned o = x->object, r = x->record, node = x->kind == STEP ? FIRST : ROOT;
    bool early = model.mutant == LIFE_BEFORE_SLOT;
    switch (x->pc) {
    case OPEN_SLOT:
        store(s, t, SLOT(r), o);
        x->pc = early ? OPEN_HANDLE : OPEN_OLD_LIFE;
        break;
    case OPEN_OLD_LIFE:
        x->life = (uint16_t)(high(load(s, t, LIFE(r))) + 16);
        x->pc = OPEN_PATH;
        break;
    case OPEN_PATH:
        store(s, t, PATH(r), x->life | (x->start != 0 ? x->start : ROOT));
        x->pc = OPEN_REFS;
        break;
    case OPEN_REFS:
        store(s, t, REFS(r), x->life | node);
        x->pc = parent_first() ? OPEN_PARENT : OPEN_LIFE;
        break;
    case OPEN_PARENT:
        store(s, t, PARENT(r), x->parent);
        x->pc = model.mutant == PARENT_LATE ? OPEN_HANDLE : OPEN_LIFE;
        break;
    case OPEN_LIFE:
        opened(s, t, r, x->life | OPEN | x->sticky);
        x->pc = early                                               ? OPEN_SLOT
                : model.mutant == PARENT_LATE && model.derived != 0 ? OPEN_PARENT
                                                                    : OPEN_HANDLE;
        break;
    default: /* OPEN_HANDLE */
        write_handle(s, t);
        break;
    }
}
