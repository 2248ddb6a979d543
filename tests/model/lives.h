/*
 * tests/model/lives.h - design.md, from record to convert and collect, as a model: what an
 * application thread does in the shim (lives_thread.c), what the agent does (lives_agent.c,
 * trie/lives.c), and a collector that runs whenever something is unreachable. lives_model.c says
 * what may be chosen and what must hold.
 */
#ifndef BBF_TESTS_MODEL_LIVES_H
#define BBF_TESTS_MODEL_LIVES_H

#include "tests/model/memory.h"
#include "tests/model/search.h"

/* One rule broken each. */
#define MUTANTS(XX)                                                                                \
    XX(NOTHING, none)                                                                              \
    XX(LIFE_BEFORE_SLOT, life_before_slot) /* design.md: open protocol */                          \
    XX(PLAIN_CLOSE, plain_close)       /* design.md: close protocol: no CAS, not sticky either */  \
    XX(PATH_AFTER_CAS, path_after_cas) /* design.md: close protocol */                             \
    XX(IGNORE_CONV, ignore_conv)       /* design.md: close protocol */                             \
    XX(NO_GENERATION, no_generation)   /* design.md: step, design.md: close protocol */            \
    XX(NODE_NONE_CHARGED,                                                                          \
       node_none_charged) /* design.md: close protocol: a winner that read node 0 charges it */    \
    XX(PLAIN_CONV, plain_conv) /* design.md: convert and collect: convert by a store */            \
    XX(LIFE_BEFORE_WEAK, life_before_weak) /* design.md: convert and collect: and frees a sticky   \
                                              record by a store */                                 \
    XX(UNREACHABLE, unreachable_close)     /* design.md: close protocol: no reachabilityFence */   \
    XX(ROOT_STORE,                                                                                 \
       root_store) /* design.md: open protocol: a first root writes the handle by a store */       \
    XX(PLAIN_REFS, plain_refs)     /* refs() by load and store */                                  \
    XX(PLAIN_BUCKET, plain_bucket) /* changeBucket() by load and store */                          \
    XX(RUN_AFTER_KEY, run_lost)    /* free_record() does not charge the run word */                \
    /* orders of memory: weak only */                                                              \
    XX(RELAXED_OPEN, relaxed_open)                                                                 \
    XX(RELAXED_CLOSE, relaxed_close)                                                               \
    XX(RELAXED_CLOSE_LIFE, relaxed_close_life)                                                     \
    XX(RELAXED_CLOSE_CAS, relaxed_close_cas)                                                       \
    XX(RELAXED_MISS_LIFE, relaxed_miss_life)                                                       \
    XX(RELAXED_HANDLE_CAS, relaxed_handle_cas)                                                     \
    XX(NO_DEPENDENCY, no_dependency)                                                               \
    XX(NO_FENCE, no_fence)                                                                         \
    XX(RELAXED_POP, relaxed_pop)                                                                   \
    XX(RELAXED_PUSH, relaxed_push)                                                                 \
    XX(RELAXED_CONVERT, relaxed_convert)                                                           \
    XX(RELAXED_CONVERT_CAS, relaxed_convert_cas)                                                   \
    XX(RELAXED_CONVERT_BOTH, relaxed_convert_both)                                                 \
    XX(RELAXED_COLLECT, relaxed_collect)                                                           \
    XX(RELAXED_BURY, relaxed_bury)                                                                 \
    XX(RELAXED_UNSTICK, relaxed_unstick)                                                           \
    XX(RELAXED_FREE, relaxed_free)                                                                 \
    XX(RELAXED_FREE_PUSH, relaxed_free_push)                                                       \
    XX(RELAXED_REFS, relaxed_refs)                                                                 \
    /* derived lives */                                                                            \
    XX(ONE_PASS, one_pass)         /* no second look at derived lives */                           \
    XX(END_AT_ONCE, end_at_once)   /* a dead life ends before the others are asked */              \
    XX(HOLD_ANY, hold_any)         /* the owner's generation is not compared */                    \
    XX(CHARGE_FIRST, charge_first) /* bytes go to the first derived life that is dead */           \
    XX(HOLD_NONE, hold_none)                                                                       \
    XX(PARENT_LATE, parent_late) /* the parent's handle is stored after life = OPEN */             \
    /* windows (lives_window.c) */                                                                 \
    XX(GATE_FIRST, gate_first) /* the gate shuts before the open lives are frozen */               \
    XX(NO_RECHECK, no_recheck) /* what opens a life late does not freeze it */                     \
    XX(NO_RECHECK_FENCE, no_recheck_fence)                                                         \
    XX(FREEZE_STORE, freeze_store)           /* a life is moved by a store */                      \
    XX(FREEZE_ONCE, freeze_once)             /* … by one CAS, whether that fails or not */       \
    XX(LATER_STORE, later_store)             /* LATER is set by a store */                         \
    XX(LATER_FIRST, later_first)             /* … before the life is moved */                    \
    XX(NO_LATER, no_later)                   /* a step over the gap is believed */                 \
    XX(PATH_BEFORE_LATER, path_before_later) /* a close judges the path that it read at first */   \
    XX(DERIVE_LATE, derive_late)             /* a derived life begins where such a step led */     \
    XX(BURY_ONCE, bury_once) /* the agent takes a life that is frozen for one that was released */ \
    XX(RELEASE_GATED, release_gated) /* no release is seen while the gate is shut */               \
    XX(OVER_STORE, over_store)       /* a handle is marked as over by a store */                   \
    XX(OVER_KEPT, over_kept)         /* the next life's handle has the mark, too */                \
    XX(OVER_UNSEEN, over_unseen)     /* … is marked if its life is not seen to be open (weak) */ \
    XX(RELAXED_GATE, relaxed_gate)   /* weak only */

enum mutant {
#define XX(name, text) name,
    MUTANTS(XX)
#undef XX
};

enum { MAX_R = 3, MAX_O = 3, MAX_T = 3, MAX_G = 8 };

/* The agent, as an actor of the memory. */
#define AGENT  model.threads
#define WINDOW (model.threads + 1)

/* A word is generation << 4 | low. path: the node, and BUCKET; life: STICKY, CONV, state; refs: the
 * node that the life was opened at stands for memory kind and class, and BUCKET for the count;
 * handle and parent: the record; run: how many. */
enum { GONE = 9, NO_WEAK = 10 }; /* a cleared weak reference; none could be had */
enum { OPEN = 1, CLOSED = 2, DEAD = 3, STATE = 3, CONV = 4, STICKY = 8 };
enum { LATER = 0x8000 }; /* of a life: it was frozen, its later steps may have been missed */
enum { OVER = 0x8000 };  /* of a handle: a release while the gate was shut saw its life over */
enum { NONE, ROOT, CHILD, RACED, FIRST, GAP, NODE = 7, BUCKET = 8 };
enum { GATE_OPEN, FREEZING, SHUT }; /* the gate of the hooks: FREEZING: no life begins */
enum { MARK = 14, IGN = 15 };       /* handles without a life: AGAIN of an own pool */

/* Shared words, records and objects counted from 1. */
#define PATH(r)   ((r)-1)
#define LIFE(r)   (MAX_R + (r)-1)
#define REFS(r)   (2 * MAX_R + (r)-1)
#define RUN(r)    (3 * MAX_R + (r)-1)
#define PARENT(r) (4 * MAX_R + (r)-1)
#define BBF(o)    (5 * MAX_R + (o)-1)
#define BY_HANDLE (5 * MAX_R + MAX_O) /* the words so far are reached through the object */
#define SLOT(r)   (BY_HANDLE + (r)-1)
#define NEXT(r)   (BY_HANDLE + MAX_R + (r)-1)
#define STACK     (BY_HANDLE + 2 * MAX_R)
#define GATE      (STACK + 1)
_Static_assert(GATE < MEMORY_WORDS, "words of memory");

/* The freezing of one life: a thread's own, opened late, or the window thread's next one. */
struct freezer {
    uint8_t pc, record;
    uint16_t life, path;
};

struct thread {
    uint8_t pc, ops, object, record, sticky, tries, list, held, stale, kind, head, after, last;
    uint16_t f, life, path, parent;
    uint8_t start;    /* where a derived life begins; of a release: the gate */
    uint8_t inherits; /* a step is missing where it begins */
    struct freezer freezer;
};

struct window {
    uint8_t pc, count, end;
    struct freezer freezer;
};

struct agent {
    uint8_t pc, record, end, object, pass, gone, again, seen, n_dead, at, leaf, ending;
    uint16_t life, top, parent;
    uint8_t dead[MAX_R];        /* records */
    uint16_t of[MAX_R + 1];     /* their lives, by record */
    uint16_t held[MAX_R + 1];   /* the life of that record that is held */
    uint16_t holder[MAX_R + 1]; /* by which; its bytes are charged there */
    uint8_t charged;            /* set of records: holder is a leaked life */
};

struct state {
    uint8_t weak[MAX_R + 1]; /* the agent's weak references: an object, GONE or NO_WEAK */
    struct thread t[MAX_T];
    struct agent agent;
    struct window window;
    /* Lives, one bit a generation: a step was missed; one was stored over the gap. */
    uint8_t missed[MAX_R + 1], late[MAX_R + 1];
    /* Sets of objects; `counted`: its own reference count is not taken off yet. */
    uint8_t born, counted, pool, lost;
    uint8_t kin[MAX_O + 1]; /* what an unreleased derived buffer was derived from */
    uint8_t used, bump;     /* records in use; how many are not fresh any more */
    /* What became of the lives of a record, one bit a generation; whose they are. */
    uint8_t released[MAX_R + 1], leaked[MAX_R + 1], held[MAX_R + 1], begun[MAX_R + 1];
    uint8_t undone[MAX_R + 1], unknown[MAX_R + 1], of[MAX_R + 1][MAX_G];
    uint8_t by_run[MAX_R + 1], charged[MAX_R + 1]; /* releases counted in the run word; charged */
    uint16_t current[MAX_O + 1]; /* an object's life by the application's own account */
    struct memory m;
};

struct options {
    unsigned records, objects, derived, threads, ops, passes;
    bool weak, twice, strict, escape, spill, plain, early, refs, no_weak, publish, own;
    unsigned share, windows;
    enum mutant mutant;
};

extern struct options model;

static inline uint16_t high(unsigned word)
{
    return (uint16_t)(word & 0x7ff0);
}

static inline unsigned low(unsigned word)
{
    return word & 15u;
}

static inline unsigned generation(unsigned word)
{
    return (word & 0x7fff) >> 4;
}

/* The life word at the end: LATER is not the next life's. */
static inline uint16_t closed_life(unsigned life)
{
    return (uint16_t)((life ^ (OPEN ^ CLOSED)) & ~(unsigned)LATER);
}

static inline bool same(unsigned a, unsigned b)
{
    return high(a) == high(b);
}

static inline bool fresh(unsigned handle)
{
    return handle == 0 || handle == MARK;
}

static inline uint8_t bit(unsigned n)
{
    return (uint8_t)(1u << n);
}

/* An order, or RELAXED if the rule that asks for it is the broken one. */
static inline enum memory_order unless(enum mutant mutant, enum memory_order order)
{
    return model.mutant == mutant ? RELAXED : order;
}

/* The record is found by the handle: what is loaded there depends on it. */
static inline uint16_t load_handle(struct state *s, unsigned t, unsigned object)
{
    return memory_load(&s->m, t, BBF(object), unless(NO_DEPENDENCY, DEPENDENT));
}

/* lives_thread.c */
int thread_move(struct state *s, unsigned t, unsigned choice);
bool thread_idle(const struct thread *x);
/* Does the operation under way keep the object reachable? */
bool thread_uses(const struct thread *x, unsigned object);

/* lives_open.c: the parts of thread_move() that open a life; thread_finish: back to idle. */
void open_again(struct state *s, unsigned t);
void open_root(struct state *s, unsigned t);
void open_derive(struct state *s, unsigned t);
void open_take(struct state *s, unsigned t);
void open_fill(struct state *s, unsigned t);
void thread_finish(struct thread *x);

/* lives_window.c: the thread that opens and shuts the gate; the hooks' parts that ask it. */
int window_move(struct state *s, unsigned choice);
bool window_idle(const struct state *s);
void window_look(struct state *s, unsigned t);
void window_ask(struct state *s, unsigned t);
void window_recheck(struct state *s, unsigned t);
/* Is the life to be charged at ?raced, which was at `path` and has this word? */
bool window_strayed(unsigned life, unsigned path);
/* A life's path as a report has it: fails if a step is missing in it without a mark. */
void window_judge(const struct state *s, unsigned record, unsigned life, unsigned path);

/* lives_agent.c */
int agent_move(struct state *s, unsigned choice, unsigned passes);
bool agent_idle(const struct state *s);

/* lives_model.c: accounts */
void account_opened(struct state *s, unsigned record, unsigned g, unsigned object);
void account_taken(struct state *s, unsigned record);
void account_free(struct state *s, unsigned record);
/* memory_store() of `life`, whose generation never falls. */
void account_store_life(struct state *s, unsigned who, unsigned record, unsigned value,
                        enum memory_order order);
/* Who an unreleased derived life of the object's current life keeps from being released. */
bool account_is_held(const struct state *s, unsigned object);

/* The program counter of an application thread; the order is used. */
#define PCS(XX)                                                                                    \
    XX(IDLE, "idle")                                                                               \
    XX(AGAIN_HANDLE, "count set: handle")                                                          \
    XX(AGAIN_LIFE, "count set: life")                                                              \
    XX(AGAIN_CAS, "count set: CAS handle, 0")                                                      \
    XX(ROOT_HANDLE, "root: handle")                                                                \
    XX(ROOT_LIFE, "root: life")                                                                    \
    XX(ROOT_REFS, "root of an open life: refs")                                                    \
    XX(RENAME_PATH, "rename: path")                                                                \
    XX(RENAME_REFS, "rename: refs")                                                                \
    XX(REOPEN_PATH, "reopen: path = {g+1|root}")                                                   \
    XX(REOPEN_REFS, "reopen: refs")                                                                \
    XX(REOPEN_PARENT, "reopen: parent")                                                            \
    XX(REOPEN_LIFE, "reopen: life = OPEN(g+1)")                                                    \
    XX(REOPEN_HANDLE, "reopen: handle")                                                            \
    XX(DERIVE_OWNER, "derive: the owner's handle")                                                 \
    XX(DERIVE_LIFE, "derive: the owner's life")                                                    \
    XX(DERIVE_HANDLE, "derive: handle")                                                            \
    XX(DERIVE_CLOSED, "derive: life")                                                              \
    XX(TAKE, "take a record")                                                                      \
    XX(TAKE_NEXT, "take a record: next")                                                           \
    XX(POP_TOP, "pop: top")                                                                        \
    XX(POP_NEXT, "pop: next")                                                                      \
    XX(POP_CAS, "pop: CAS")                                                                        \
    XX(NOT_FOLLOWED, "no record: handle = IGN")                                                    \
    XX(OPEN_SLOT, "open: slot")                                                                    \
    XX(OPEN_OLD_LIFE, "open: earlier life")                                                        \
    XX(OPEN_PATH, "open: path")                                                                    \
    XX(OPEN_REFS, "open: refs")                                                                    \
    XX(OPEN_PARENT, "open: parent")                                                                \
    XX(OPEN_LIFE, "open: life = OPEN")                                                             \
    XX(OPEN_HANDLE, "open: handle")                                                                \
    XX(END_PATH, "end: path")                                                                      \
    XX(END_PATH_NONE, "end: path = {g|0}")                                                         \
    XX(END_LIFE, "end: life")                                                                      \
    XX(END_CAS, "end: CAS life")                                                                   \
    XX(CLOSE_HANDLE, "close: handle")                                                              \
    XX(FAST_LIFE, "close: life")                                                                   \
    XX(FAST_PATH, "close: path")                                                                   \
    XX(FAST_PATH_NONE, "close: path = {g|0}")                                                      \
    XX(FAST_CLOSED, "close: life = CLOSED (store)")                                                \
    XX(RUN_LOAD, "close: run")                                                                     \
    XX(RUN_STORE, "close: run = run + 1")                                                          \
    XX(CLOSE_PATH, "slow close: path")                                                             \
    XX(CLOSE_LIFE, "slow close: life")                                                             \
    XX(CLOSE_PATH_NONE, "slow close: path = {g|0}")                                                \
    XX(CLOSE_CAS, "slow close: CAS life")                                                          \
    XX(CLOSE_AGAIN, "slow close: life again")                                                      \
    XX(CLOSE_PATH_LATE, "slow close: path = {g|0} (late)")                                         \
    XX(GIVE_SLOT, "give back: slot = 0")                                                           \
    XX(GIVE, "give back: own list, or stack")                                                      \
    XX(GIVE_NEXT, "give back: next = list")                                                        \
    XX(PUSH_TOP, "push: top")                                                                      \
    XX(PUSH_NEXT, "push: next")                                                                    \
    XX(PUSH_CAS, "push: CAS")                                                                      \
    XX(AFTER, "after")                                                                             \
    XX(STEP_HANDLE, "step: handle")                                                                \
    XX(STEP_PATH, "step: path")                                                                    \
    XX(STEP_STORE, "step: path = {g|child}")                                                       \
    XX(MISS_PATH, "miss: path")                                                                    \
    XX(MISS_LIFE, "miss: life")                                                                    \
    XX(MISS_STORE, "miss: path = {g|?raced}")                                                      \
    XX(REFS_HANDLE, "refs: handle")                                                                \
    XX(REFS_LOAD, "refs: refs")                                                                    \
    XX(REFS_CAS, "refs: CAS refs")                                                                 \
    XX(BUCKET_PATH, "refs: path")                                                                  \
    XX(BUCKET_CAS, "refs: CAS path")                                                               \
    XX(ASK_FIELD, "field: may there be a life?")                                                   \
    XX(ASK_GATE, "gate")                                                                           \
    XX(DERIVE_PATH, "derive: the owner's path")                                                    \
    XX(CLOSE_LATER, "slow close: life, whether LATER")                                             \
    XX(CLOSE_ASK, "close, gate shut: life")                                                        \
    XX(CLOSE_MARK, "close, gate shut: CAS handle, handle | OVER")                                  \
    XX(RECHECK_FENCE, "opened: fence")                                                             \
    XX(RECHECK_GATE, "opened: gate")                                                               \
    XX(RECHECK_FREEZE, "opened late: freeze")

enum pc {
#define XX(name, text) name,
    PCS(XX)
#undef XX
};

/* What a thread may begin. HAND_OVER and PUBLISH: to which other; DERIVE: from which object. */
enum kind {
    ALLOCATE,
    STEP,
    LET_GO,
    LET_GO_LATE,
    RETAIN,
    DROP,
    POOL_DROP,
    HAND_OVER,
    PUBLISH = HAND_OVER + MAX_T - 1,
    DERIVE = PUBLISH + MAX_T - 1,
    KINDS = DERIVE + MAX_O
};

#endif
