/*
 * tests/model/memory.h - the shared words of a model, and who may read which store of them.
 *
 * Plain: sequentially consistent, a load reads the newest store.
 * Weak: loads and stores reorder. Each word has its stores in modification order; each actor has,
 * per word, the oldest store that it may still read, and it reads that or any newer one. A store
 * goes anywhere behind what its actor has seen of that word, not only to the end. A release store
 * carries what its actor had seen; an acquire load that reads it has seen that as well. A
 * read-modify-write reads the store it directly follows, nothing comes between the two, and it
 * hands on what that store carried. A release fence: the actor's later stores carry what it had
 * seen at the fence.
 * This is the promise-free machine of J. Kang, C.-K. Hur, O. Lahav, V. Vafeiadis, D. Dreyer, "A
 * Promising Semantics for Relaxed-Memory Concurrency", POPL 2017, section 2 to 4: for relaxed,
 * release and acquire accesses it allows what RC11 allows (O. Lahav et al., "Repairing Sequential
 * Consistency in C/C++11", PLDI 2017), so more than TSO, PSO and an ARMv8 whose loads stay before
 * later stores. What it lacks is that last one, load buffering: docs/memory-model.md says why the
 * protocol does not meet it. seq_cst accesses are taken as acquire and release, which allows more.
 *
 * Bound: of a word the newest MEMORY_HISTORY stores are kept; who lags further behind catches up.
 */
#ifndef BBF_TESTS_MODEL_MEMORY_H
#define BBF_TESTS_MODEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_WORDS = 26, MEMORY_ACTORS = 4, MEMORY_HISTORY = 4, MEMORY_KEPT = 3 };

/* DEPENDENT: an address comes of it. Loads through that address see what the store carried, as on
 * every machine that HotSpot runs on; RC11 alone would not promise it. */
enum memory_order { RELAXED = 0, ACQUIRE = 1, RELEASE = 2, ACQ_REL = 3, DEPENDENT = 4 };

/* Ages count from the newest store of a word, 0; where all have seen it, everything here is 0. */
struct memory_views {
    uint8_t age[MEMORY_ACTORS][MEMORY_WORDS];   /* the oldest store an actor may still read */
    uint8_t fence[MEMORY_ACTORS][MEMORY_WORDS]; /* the same at its last release fence */
    uint8_t kept[MEMORY_KEPT][MEMORY_WORDS];    /* memory_keep() */
    uint8_t keeps;                              /* bit i: kept[i] holds something */
    uint8_t n[MEMORY_WORDS];                    /* stores kept beside the newest */
    uint8_t rmw[MEMORY_WORDS];                  /* bit i: store i directly follows store i + 1 */
    uint16_t older[MEMORY_WORDS][MEMORY_HISTORY - 1];
    uint8_t view[MEMORY_WORDS][MEMORY_HISTORY][MEMORY_WORDS]; /* what a store carries */
};

/* `views` stays last in a state and is left out of it in plain memory. */
struct memory {
    uint16_t newest[MEMORY_WORDS];
    struct memory_views views;
};

/* Once at start: which of the two, how many actors there are, and how many words, the first ones,
 * are reached through an address that was loaded. */
void memory_choose(bool weak, unsigned actors, unsigned dependent);

/*
 * Each step makes one access at most; where more than one outcome is allowed, the search's choice
 * says which. Between the two calls model_fail() counts only if the choice exists. memory_step_end:
 * `moved`, or 0 or -1 as in struct model if there is no such choice.
 */
void memory_step(unsigned choice);
int memory_step_end(int moved);

/* The step has a choice of its own and makes no access. */
unsigned memory_own_choice(void);

uint16_t memory_load(struct memory *m, unsigned who, unsigned at, enum memory_order order);
void memory_store(struct memory *m, unsigned who, unsigned at, uint16_t value,
                  enum memory_order order);
/* Compare and set; a failed one is a load. */
bool memory_cas(struct memory *m, unsigned who, unsigned at, uint16_t expected, uint16_t value,
                enum memory_order order);
/* Returns the old value. */
uint16_t memory_swap(struct memory *m, unsigned who, unsigned at, uint16_t value,
                     enum memory_order order);
void memory_fence(struct memory *m, unsigned who); /* release */

/* `to` has seen what `from` has: the application's own synchronisation between the two. */
void memory_join(struct memory *m, unsigned to, unsigned from);
/* `to` read a reference that `from` stored plainly after its last fence: of the first `words` words
 * it has seen what `from` had then, by dependent loads. */
void memory_depend(struct memory *m, unsigned to, unsigned from, unsigned words);
/* Synchronisation through a thing that keeps the value meanwhile, such as a pool. */
void memory_keep(struct memory *m, unsigned who, unsigned thing);
void memory_take(struct memory *m, unsigned who, unsigned thing);
/* Everybody has seen everything: a safepoint. */
void memory_join_all(struct memory *m);
/* Change two actors' places. */
void memory_swap_actors(struct memory *m, unsigned a, unsigned b);
/* Another thread in `who`'s place, that has seen as little as anybody. */
void memory_renew(struct memory *m, unsigned who);
/* `who` makes no access any more. */
void memory_leave(struct memory *m, unsigned who);

#endif
