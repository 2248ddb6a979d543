/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/meter.h - counts the cost of bbflow's own work, where it is done; agent/cost/account.h
 * sums it up. Calls into the agent are sampled: each thread times one in 61. No clock is read in a
 * hook that calls no native.
 *
 * Threads: any for enter, leave, rewritten; the agent thread for the rest. Units: nanoseconds.
 */
#ifndef BBF_AGENT_COST_METER_H
#define BBF_AGENT_COST_METER_H

#include <stdint.h>

/* Around a native: enter() gives leave() what it needs, 0 where this call is not timed. */
uint64_t bbf_meter_enter(void);
void bbf_meter_leave(uint64_t entered);
/* A class file was examined, in `ns`. */
void bbf_meter_rewritten(uint64_t ns);

/* This thread is the agent thread. */
void bbf_meter_begin(void);
/* The agent thread's processor time so far, and how much of it a scan or a report took that began
 * at `since`. */
uint64_t bbf_meter_clock(void);
void bbf_meter_scanned(uint64_t since);
void bbf_meter_reported(uint64_t since);

struct bbf_meter_reading {
    uint64_t native_calls, native_ns; /* estimates, made of the sampled calls */
    uint64_t rewritten, rewrite_ns;   /* class files, and their time in all threads ... */
    uint64_t rewrite_elsewhere_ns;    /* ... in others than the agent thread ... */
    uint64_t rewrite_longest_ns;      /* ... and for the slowest one */
    uint64_t scan_ns, report_ns;
};
/* `clock_ns` is what reading a clock takes: each sampled call is shorter by that. */
void bbf_meter_read(struct bbf_meter_reading *to, uint64_t clock_ns);

#endif
