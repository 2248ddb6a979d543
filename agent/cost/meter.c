/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/meter.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "agent/state.h"
#include "core/clock.h"

enum {
    EVERY = 61,        /* one native of EVERY is timed; prime: calls repeat in a pattern */
    LONGEST_NS = 20000 /* a timed call that took longer was preempted */
};

/* Sums that only reports read: no order is needed. */
#define ADD(word, value) atomic_fetch_add_explicit(&(word), (value), memory_order_relaxed)
#define READ(word)       atomic_load_explicit(&(word), memory_order_relaxed)

static _Atomic uint64_t native_samples, native_ns;
static _Atomic uint64_t rewrite_elsewhere_ns, rewrite_longest_ns;
static _Thread_local unsigned natives; /* since the last one of this thread that was timed */
static _Thread_local bool is_agent;
static uint64_t scan_ns, report_ns; /* agent thread */

uint64_t bbf_meter_enter(void)
{
    if (++natives < EVERY)
        return 0;
    natives = 0;
    return bbf_clock_ns(CLOCK_MONOTONIC);
}

void bbf_meter_leave(uint64_t entered)
{
    if (entered == 0)
        return;
    uint64_t ns = bbf_clock_ns(CLOCK_MONOTONIC) - entered;
    ADD(native_samples, 1);
    ADD(native_ns, ns < LONGEST_NS ? ns : LONGEST_NS);
}

void bbf_meter_rewritten(uint64_t ns)
{
    ADD(bbf_agent.hooked, 1);
    ADD(bbf_agent.rewrite_ns, ns);
    if (!is_agent) /* its processor time already contains this */
        ADD(rewrite_elsewhere_ns, ns);
    uint64_t longest = READ(rewrite_longest_ns);
    while (ns > longest &&
           !atomic_compare_exchange_weak_explicit(&rewrite_longest_ns, &longest, ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

void bbf_meter_begin(void)
{
    is_agent = true;
}

uint64_t bbf_meter_clock(void)
{
    return is_agent ? bbf_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void bbf_meter_scanned(uint64_t since)
{
    scan_ns += bbf_meter_clock() - since;
}

void bbf_meter_reported(uint64_t since)
{
    report_ns += bbf_meter_clock() - since;
}

void bbf_meter_read(struct bbf_meter_reading *to, uint64_t clock_ns)
{
    uint64_t samples = READ(native_samples), ns = READ(native_ns), clocks = samples * clock_ns;
    *to = (struct bbf_meter_reading){.native_calls = samples * EVERY,
                                     .native_ns = ns > clocks ? (ns - clocks) * EVERY : 0,
                                     .rewritten = READ(bbf_agent.hooked),
                                     .rewrite_ns = READ(bbf_agent.rewrite_ns),
                                     .rewrite_elsewhere_ns = READ(rewrite_elsewhere_ns),
                                     .rewrite_longest_ns = READ(rewrite_longest_ns),
                                     .scan_ns = scan_ns,
                                     .report_ns = report_ns};
}
