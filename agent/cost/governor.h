/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/governor.h - budget=: which share of the lives may be followed for what bbflow may
 * cost. A pure function of what was measured; agent/cost/account.c measures, and sets the rate.
 *
 * Above the budget one life in twice as many is followed, up to BBF_GOVERNOR_MOST; below it, half
 * as many again, never below what the user asked for (`sample=`, the floor). Rates are powers of
 * two, and the floor: each rate keeps its roots for good, and there are 15 (trie/tracker.h).
 *
 * Threads: one at a time.
 */
#ifndef BBF_AGENT_COST_GOVERNOR_H
#define BBF_AGENT_COST_GOVERNOR_H

#include <stdint.h>

enum {
    BBF_GOVERNOR_MOST = 1024, /* one life in so many at most: what is left is not what lives cost */
    BBF_GOVERNOR_CALM = 3,    /* so many intervals in a row far enough below, and it goes down */
    BBF_GOVERNOR_IDLE = 20    /* a process that works less than 1/20 of a core is idle: in budget */
};

struct bbf_governor {
    uint64_t budget_ppm; /* of the process's processor time, in millionths; 0 = off */
    uint32_t floor;      /* sample=, at least 1 */
    uint32_t sample;     /* one life in so many is to be followed now */
    uint32_t calm;       /* intervals in a row that were far enough below the budget */
    uint64_t ppm;        /* the share that was compared last; of an idle process 0 */
    uint64_t raised, lowered;
};

/* Of one interval, in nanoseconds. A difference that a clock makes negative says nothing. */
struct bbf_governor_measured {
    int64_t overhead; /* of what following lives costs */
    int64_t process;  /* processor time of all threads, ours too */
    int64_t elapsed;
};

/* Begin, or go on with another budget or floor: no rate that the budget chose below the new floor
 * stays, and with budget 0 none at all. Does not count as a turn. */
void bbf_governor_set(struct bbf_governor *governor, uint64_t budget_ppm, uint32_t floor);

/*
 * One interval later: the rate from now on, which is governor->sample, too. Up by one power of two
 * when the overhead is above the budget. Down by one after BBF_GOVERNOR_CALM intervals below 40 %
 * of it: following twice as many costs at most twice as much, which is below the budget still, so
 * it does not swing. An interval without time, or with a time that is negative, changes nothing.
 */
uint32_t bbf_governor_step(struct bbf_governor *governor,
                           const struct bbf_governor_measured *measured);

/* The tracker has no place for the rate: the one before it goes on, and the turn is not counted. */
void bbf_governor_refused(struct bbf_governor *governor, uint32_t before);

/* Overhead as a share of process in millionths, rounded; 0 if either is not above 0. */
uint64_t bbf_governor_ppm(uint64_t overhead, uint64_t process);

#endif
