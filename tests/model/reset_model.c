/*
 * tests/model/reset_model.c - design.md: reset as a model: two threads open, step and close the
 * lives of one sticky record while the agent empties the trie under them (trie/reset.c,
 * trie/node.c). Every access of a shared word is one step, a thread may stall between any two for
 * ever; an epoch section is taken as correct. Sequentially consistent. Change trie/reset.c,
 * trie/node.c and this together.
 *
 * Properties: a life that ended is counted once, in the arena in force, at ?before-reset, or in a
 * run that is charged later; no thread follows or charges a number into memory that now means
 * another node.
 *
 * Options: ops=N (opens, steps and closes a thread) resets=N mutant=N states=N expect=green|red.
 */
#include "tests/model/search.h"

#include <string.h>

enum mutant {
    NO_CHECK = 1,   /* the arena is not looked at after the section is entered */
    NO_SYNCHRONIZE, /* the reset does not wait for open sections */
    NUMBERS_AGAIN,  /* two ranges of ids take turns */
    PLAIN_MOVE,     /* open lives are moved by a store, not by CAS */
    CHECK_BEFORE    /* the arena is looked at before the section is entered */
};

enum { THREADS = 2, ARENAS = 8, NODES = 4 };
enum { OPEN = 1, CLOSED = 2 };

/* A node: its incarnation (only the model sees it), arena and index. Arena 0: reserved nodes. */
enum { NONE = 0, RACED = 2, BEFORE = 3 };
#define NODE(incarnation, arena, index)                                                            \
    ((uint16_t)((unsigned)(incarnation) << 8 | (unsigned)(arena) << 4 | (unsigned)(index)))

struct word {
    uint16_t node;
    uint8_t g, count;
};

struct thread {
    uint8_t pc, ops, inside, f, arena;
    struct word path, run;
    uint16_t child;
};

struct state {
    struct word path, run;
    uint8_t life, life_g, referenced, busy;
    uint8_t current, old, apc, awaited, found, resets, closed, before;
    uint16_t root;
    struct word seen; /* agent */
    uint16_t child[ARENAS][NODES];
    uint8_t made[ARENAS], incarnation[ARENAS], count[ARENAS][NODES];
    struct thread t[THREADS];
};

static int n_ops, n_resets, mutant;

static unsigned arena_of(uint16_t node)
{
    return node >> 4 & 15u;
}

static unsigned index_of(uint16_t node)
{
    return node & 15u;
}

static bool is_stale(const struct state *s, uint16_t node)
{
    return s->incarnation[arena_of(node)] != node >> 8;
}

enum {
    IDLE,
    OPEN_ROOT,
    OPEN_ENTER,
    OPEN_ARENA,
    OPEN_MAKE,
    OPEN_PATH,
    OPEN_LIFE,
    STEP_PATH,
    STEP_CHILD,
    STEP_STORE,
    STEP_LIFE,
    STEP_RACED,
    MISS_ENTER,
    MISS_ARENA,
    MISS_INSERT,
    MISS_STORE,
    CLOSE_PATH,
    CLOSE_NONE,
    CLOSE_LIFE,
    CLOSE_RUN,
    CHARGE_ENTER,
    CHARGE_ARENA,
    CHARGE
};

static const char *const pc_names[] = {
    "idle",
    "root: table",
    "root: enter",
    "root: arena in force",
    "root: make and publish, leave",
    "open: path = {g+1|root}",
    "open: life = OPEN",
    "step: path",
    "step: child slot",
    "step: path = {g|child}",
    "step: another generation: life",
    "step: path = {g|?raced}",
    "insert: enter",
    "insert: arena in force",
    "insert: publish, leave",
    "insert: path = {g|child}",
    "close: path",
    "close: path = {g|0}",
    "close: life = CLOSED",
    "close: run",
    "charge: enter",
    "charge: arena in force",
    "charge: count, leave",
};

static void finish(struct thread *x)
{
    uint8_t ops = x->ops;
    memset(x, 0, sizeof *x);
    x->ops = ops;
}

/* The section is entered first, then the arena in force is read; the mutant has it the other way.
 */
static void enter(const struct state *s, struct thread *x, bool second)
{
    if ((mutant == CHECK_BEFORE) == second)
        x->inside = 1;
    else
        x->arena = s->current;
}

static void leave(struct state *s, unsigned t)
{
    s->t[t].inside = 0;
    s->awaited &= (uint8_t) ~(1u << t);
}

static int begin(struct state *s, struct thread *x, unsigned choice)
{
    static const char *const names[] = {"== open", "== step", "== close"};
    if (choice > 2)
        return 0;
    model_note = names[choice];
    if (x->ops >= n_ops)
        return -1;
    if (choice == 0) {
        if (s->referenced || s->busy)
            return -1;
        s->busy = 1;
        x->pc = OPEN_ROOT;
    } else if (choice == 1) {
        if (s->life_g == 0)
            return -1;
        x->pc = STEP_PATH;
    } else {
        if (!s->referenced)
            return -1;
        s->referenced = 0;
        s->busy = 1;
        x->pc = CLOSE_PATH;
    }
    x->f = s->life_g;
    x->ops++;
    return 1;
}

static uint16_t make_node(struct state *s, unsigned arena)
{
    if (s->made[arena] >= NODES)
        return NONE;
    return NODE(s->incarnation[arena], arena, s->made[arena]++);
}

static void move_open(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case OPEN_ROOT:
        x->child = s->root;
        x->pc = x->child != NONE ? OPEN_PATH : OPEN_ENTER;
        break;
    case OPEN_ENTER:
        x->inside = 1;
        x->pc = OPEN_ARENA;
        break;
    case OPEN_ARENA:
        x->arena = s->current;
        x->pc = OPEN_MAKE;
        break;
    case OPEN_MAKE:
        if (s->root == NONE)
            s->root = make_node(s, x->arena);
        x->child = s->root != NONE ? s->root : (uint16_t)BEFORE;
        leave(s, t);
        x->pc = OPEN_PATH;
        break;
    case OPEN_PATH:
        x->f = (uint8_t)(s->life_g + 1);
        s->path = (struct word){.node = x->child, .g = x->f};
        x->pc = OPEN_LIFE;
        break;
    default: /* OPEN_LIFE */
        s->life = OPEN;
        s->life_g = x->f;
        s->referenced = 1;
        s->busy = 0;
        finish(x);
        break;
    }
}

static void move_step(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned a = arena_of(x->path.node), i = index_of(x->path.node);
    switch (x->pc) {
    case STEP_PATH:
        x->path = s->path;
        if (x->path.g != x->f)
            x->pc = STEP_LIFE;
        else if (arena_of(x->path.node) == 0)
            finish(x);
        else
            x->pc = STEP_CHILD;
        break;
    case STEP_CHILD:
        x->child = s->child[a][i];
        if (x->child != NONE && is_stale(s, x->path.node))
            model_fail("a step follows an old number through memory that means another node now");
        x->pc = x->child != NONE ? STEP_STORE : MISS_ENTER;
        break;
    case STEP_LIFE:
        x->pc = STEP_RACED;
        if (s->life != OPEN || s->life_g != x->f)
            finish(x);
        break;
    case STEP_RACED:
        s->path = (struct word){.node = RACED, .g = x->f};
        finish(x);
        break;
    default: /* STEP_STORE, MISS_STORE */
        s->path = (struct word){.node = x->child, .g = x->f};
        finish(x);
        break;
    }
}

static void move_miss(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned a = arena_of(x->path.node), i = index_of(x->path.node);
    switch (x->pc) {
    case MISS_ENTER:
        enter(s, x, false);
        x->pc = MISS_ARENA;
        break;
    case MISS_ARENA:
        enter(s, x, true);
        x->pc = MISS_INSERT;
        if (x->arena != a && mutant != NO_CHECK) {
            x->child = BEFORE;
            leave(s, t);
            x->pc = MISS_STORE;
        }
        break;
    default: /* MISS_INSERT */
        if (is_stale(s, x->path.node))
            model_fail("a child is inserted into an arena that was given back");
        if (s->child[a][i] == NONE)
            s->child[a][i] = make_node(s, a);
        x->child = s->child[a][i];
        leave(s, t);
        x->pc = MISS_STORE;
        if (x->child == NONE)
            finish(x);
        break;
    }
}

static void move_close(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    switch (x->pc) {
    case CLOSE_PATH:
        x->path = s->path;
        if (x->path.g != x->f || x->path.node == NONE)
            x->path.node = RACED;
        x->pc = CLOSE_NONE;
        break;
    case CLOSE_NONE:
        s->path = (struct word){.node = NONE, .g = x->f};
        x->pc = CLOSE_LIFE;
        break;
    case CLOSE_LIFE:
        s->life = CLOSED;
        s->closed++;
        x->pc = CLOSE_RUN;
        break;
    default: /* CLOSE_RUN: the record is still its closer's, no other thread writes the word */
        x->run = s->run;
        s->busy = 0;
        if (s->run.count > 0 && s->run.node == x->path.node) {
            s->run.count++;
            finish(x);
        } else {
            s->run = (struct word){.node = x->path.node, .count = 1};
            if (x->run.count > 0)
                x->pc = CHARGE_ENTER;
            else
                finish(x);
        }
        break;
    }
}

static void move_charge(struct state *s, unsigned t)
{
    struct thread *x = &s->t[t];
    unsigned a = arena_of(x->run.node), i = index_of(x->run.node);
    switch (x->pc) {
    case CHARGE_ENTER:
        enter(s, x, false);
        x->pc = CHARGE_ARENA;
        break;
    case CHARGE_ARENA:
        enter(s, x, true);
        x->pc = CHARGE;
        if (a == 0 || (a != x->arena && mutant != NO_CHECK)) {
            s->before = (uint8_t)(s->before + x->run.count);
            leave(s, t);
            finish(x);
        }
        break;
    default: /* CHARGE */
        if (is_stale(s, x->run.node))
            model_fail("lives are charged to a node that means another now");
        s->count[a][i] = (uint8_t)(s->count[a][i] + x->run.count);
        leave(s, t);
        finish(x);
        break;
    }
}

static int move_thread(struct state *s, unsigned t, unsigned choice)
{
    struct thread *x = &s->t[t];
    if (x->pc == IDLE)
        return begin(s, x, choice);
    if (choice > 0)
        return 0;
    model_note = pc_names[x->pc];
    if (x->pc <= OPEN_LIFE)
        move_open(s, t);
    else if (x->pc <= STEP_RACED || x->pc == MISS_STORE)
        move_step(s, t);
    else if (x->pc <= MISS_INSERT)
        move_miss(s, t);
    else if (x->pc <= CLOSE_RUN)
        move_close(s, t);
    else
        move_charge(s, t);
    return 1;
}

enum { REST, PUBLISH, SYNCHRONIZE, CLEAR_ROOT, LOOK, LOOK_LIFE, MOVE, FOLD, GIVE_BACK };
static const char *const agent_names[] = {
    "reset",      "publish the arena", "synchronize",       "clear the root",       "move: path",
    "move: life", "move: CAS path",    "fold the counters", "give the memory back",
};

static void give_back(struct state *s)
{
    unsigned a = s->old;
    for (unsigned i = 0; i < NODES; i++) {
        if (s->count[a][i] != 0)
            model_fail("%u ended lives were charged to the old arena after the fold",
                       s->count[a][i]);
        s->child[a][i] = NONE;
    }
    s->incarnation[a]++;
    s->made[a] = 0;
    s->apc = REST;
    s->old = s->found = 0;
}

static int move_agent(struct state *s, unsigned choice)
{
    unsigned at = arena_of(s->seen.node);
    if (choice > 0)
        return 0;
    model_note = agent_names[s->apc];
    switch (s->apc) {
    case REST:
        if (s->resets >= n_resets)
            return 0;
        s->resets++;
        s->apc = PUBLISH;
        break;
    case PUBLISH:
        s->old = s->current;
        s->current = (uint8_t)(mutant == NUMBERS_AGAIN ? 3 - s->current : s->current + 1);
        for (unsigned t = 0; t < THREADS; t++)
            s->awaited |= (uint8_t)(s->t[t].inside << t);
        s->apc = SYNCHRONIZE;
        break;
    case SYNCHRONIZE:
        if (s->awaited != 0 && mutant != NO_SYNCHRONIZE)
            return 0;
        s->awaited = 0;
        s->apc = CLEAR_ROOT;
        break;
    case CLEAR_ROOT:
        if (arena_of(s->root) == s->old)
            s->root = NONE;
        s->apc = LOOK;
        break;
    case LOOK:
        s->seen = s->path;
        s->apc = LOOK_LIFE;
        break;
    case LOOK_LIFE:
        s->apc = s->life == OPEN && at != 0 && at != s->current ? MOVE : FOLD;
        break;
    case MOVE:
        if (mutant == PLAIN_MOVE && s->path.g != s->seen.g && s->path.node != NONE)
            model_fail("the position of the record's next life is overwritten");
        if (mutant == PLAIN_MOVE || memcmp(&s->path, &s->seen, sizeof s->path) == 0)
            s->path = (struct word){.node = BEFORE, .g = s->seen.g};
        s->apc = LOOK;
        break;
    case FOLD:
        s->seen = (struct word){0};
        for (unsigned i = 0; i < NODES; i++) {
            s->before = (uint8_t)(s->before + s->count[s->old][i]);
            s->count[s->old][i] = 0;
        }
        s->apc = GIVE_BACK;
        break;
    default:
        give_back(s);
        break;
    }
    return 1;
}

static int move(void *state, unsigned actor, unsigned choice)
{
    struct state *s = state;
    if (s->current == 0)
        s->current = 1;
    return actor < THREADS ? move_thread(s, actor, choice) : move_agent(s, choice);
}

/* At rest every life that ended is counted once. */
static void check(const void *state)
{
    const struct state *s = state;
    unsigned n = s->before + s->run.count;
    if (s->t[0].pc != IDLE || s->t[1].pc != IDLE || s->apc != REST)
        return;
    for (unsigned a = 0; a < ARENAS; a++)
        for (unsigned i = 0; i < NODES; i++)
            n += s->count[a][i];
    if (n != s->closed)
        model_fail("at rest %u lives ended and %u are counted", s->closed, n);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"T1", "T2", "agent"};
    model_options(argc, argv);
    n_ops = model_option("ops", 3);
    n_resets = model_option("resets", 2);
    mutant = model_option("mutant", 0);
    const struct model model = {
        .size = sizeof(struct state), .actors = 3, .move = move, .check = check, .names = names};
    return model_exit(model_search(&model, (size_t)model_option("states", 5000000)));
}
