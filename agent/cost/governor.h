/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/governor.h - budget=: the share of the time in which the gate may be open, so that
 * what bbflow costs stays at the budget (docs/adr/0055). A pure function of what was measured;
 * agent/cost/gate.c measures, and opens the gate.
 *
 * Measured is the processor time of the process for each call of a root hook, in a window and in
 * the time beside it, in which the gate is shut. One pair of them is noise; the median of many is
 * not, and it needs no machine without other work. The interval is that of the median's order
 * statistics.
 *
 * Threads: one at a time. Units: nanoseconds; _ppm millionths.
 */
#ifndef BBF_AGENT_COST_GOVERNOR_H
#define BBF_AGENT_COST_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BBF_GOVERNOR_PAIRS = 128,   /* how many are kept: a report has the interval of these */
    BBF_GOVERNOR_RECENT = 48,   /* how many the share is chosen by: it follows a change of load */
    BBF_GOVERNOR_FIRST = 8,     /* fewer say nothing */
    BBF_GOVERNOR_ROOTS = 64,    /* calls in each half of a pair, at least */
    BBF_GOVERNOR_LEAST = 100,   /* share of the time */
    BBF_GOVERNOR_MOST = 500000, /* half: the other half is what a window is compared with */
    BBF_GOVERNOR_UNKNOWN = 1000000, /* while nothing is measured: watching doubles the cost */
    BBF_GOVERNOR_IDLE = 20          /* a process that works less than 1/20 of a core is idle */
};

/* A stretch of time in which the gate did not change. */
struct bbf_governor_phase {
    uint64_t elapsed, process; /* processor time of all threads */
    uint64_t roots;            /* calls of root hooks */
};

struct bbf_governor {
    struct bbf_governor_phase open, beside; /* of the pair that has too few calls yet */
    int64_t extra_ppm[BBF_GOVERNOR_PAIRS]; /* a ring: processor time for a call, open to shut - 1 */
    uint32_t next;
    uint64_t pairs;                    /* since windows began */
    uint64_t shut_process, shut_roots; /* beside windows, of about the last BBF_GOVERNOR_PAIRS */
    uint64_t share_ppm;                /* chosen last; 0: none yet for this budget */
};

/* Measured of following lives: extra processor time, of that without. */
struct bbf_governor_cost {
    uint64_t pairs;                       /* below BBF_GOVERNOR_FIRST: the rest is not valid */
    int64_t extra_ppm, low_ppm, high_ppm; /* the median and its 95 % interval */
    uint64_t shut_process,
        shut_roots; /* processor time without following, of that number of calls */
};

/* A window and the time beside it, before and after. Windows with few calls are added up to one
 * pair. Ignored if a phase took no time, or if those beside are much
 * shorter than the window. */
void bbf_governor_add(struct bbf_governor *governor, const struct bbf_governor_phase *open,
                      const struct bbf_governor_phase *before,
                      const struct bbf_governor_phase *after);

void bbf_governor_cost(const struct bbf_governor *governor, struct bbf_governor_cost *cost);

/*
 * The share of the time from now on, open or in its grace, by the last pairs: such that its extra
 * time and `fixed_ppm`, what bbflow's own threads and the shut gate take, are `budget_ppm` of the
 * processor time. By one standard error above the median, so that noise lowers it; at most half as
 * much again as before. If those alone take nine tenths of the budget, the windows still get a
 * tenth. BBF_SHARE_NONE: 0; all: BBF_GOVERNOR_ALL.
 */
enum { BBF_GOVERNOR_ALL = 1000000 };
uint64_t bbf_governor_share(struct bbf_governor *governor, uint64_t budget_ppm, uint64_t fixed_ppm);

/* Do those alone take nine tenths of the budget or more? Not of BBF_SHARE_NONE or all. */
bool bbf_governor_is_used_up(uint64_t budget_ppm, uint64_t fixed_ppm);

/* Of processor time that has the extra in it, the part that is the extra: 0 if that is negative. */
uint64_t bbf_governor_part_ppm(int64_t extra_ppm);

/* Overhead as a share of process in millionths, rounded; 0 if either is not above 0. */
uint64_t bbf_governor_ppm(uint64_t overhead, uint64_t process);

#endif
