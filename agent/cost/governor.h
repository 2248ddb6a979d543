/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/governor.h - budget=: the sampling rate, one life in N, that keeps what bbflow costs
 * below the budget. A pure function of what was measured; agent/cost/account.c measures, and sets
 * the rate.
 *
 * Above the budget N doubles, up to BBF_GOVERNOR_MOST; below it N halves, never below `sample=`
 * (the floor). N is a power of two or the floor, because each rate keeps its roots for good and
 * there are 15 of them (trie/switches.h).
 *
 * Threads: one at a time.
 */
#ifndef BBF_AGENT_COST_GOVERNOR_H
#define BBF_AGENT_COST_GOVERNOR_H

#include <stdint.h>

enum {
    BBF_GOVERNOR_MOST = 1024, /* the largest N: beyond it, lives are not what costs */
    BBF_GOVERNOR_CALM = 3,    /* after that many intervals far enough below the budget N halves */
    BBF_GOVERNOR_IDLE = 20    /* a process that works less than 1/20 of a core is idle: in budget */
};

struct bbf_governor {
    uint64_t budget_ppm; /* of the process's processor time, in millionths; 0 = off */
    uint32_t floor;      /* sample=, at least 1 */
    uint32_t sample;     /* N now */
    uint32_t calm;       /* intervals in a row that were far enough below the budget */
    uint64_t ppm;        /* the share that was compared last; of an idle process 0 */
    uint64_t raised, lowered;
};

/* One interval, in nanoseconds. An interval with a negative difference of clocks is ignored. */
struct bbf_governor_measured {
    int64_t overhead; /* of what following lives costs */
    int64_t process;  /* processor time of all threads, with those of bbflow */
    int64_t elapsed;
};

/* Begin, or continue with another budget or floor. A rate that the budget chose stays unless it is
 * below the new floor or the budget is 0. Does not count as raised or lowered. */
void bbf_governor_set(struct bbf_governor *governor, uint64_t budget_ppm, uint32_t floor);

/*
 * After an interval: the rate from now on, which is also in governor->sample. Up by one power of
 * two when the overhead is above the budget. Down by one after BBF_GOVERNOR_CALM intervals below 40
 * % of it: following twice as many lives costs at most twice as much, which is still below the
 * budget, so the rate does not swing. An interval without time, or with a negative one, changes
 * nothing.
 */
uint32_t bbf_governor_step(struct bbf_governor *governor,
                           const struct bbf_governor_measured *measured);

/* The tracker has no room for the rate: return to the earlier rate, as if the last step had not
 * happened. */
void bbf_governor_refused(struct bbf_governor *governor, uint32_t before);

/* Overhead as a share of process in millionths, rounded; 0 if either is not above 0. */
uint64_t bbf_governor_ppm(uint64_t overhead, uint64_t process);

#endif
