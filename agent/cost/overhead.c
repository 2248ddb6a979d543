/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/overhead.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "agent/cost/calibrate.h"
#include "agent/stream.h"
#include "agent/state.h"
#include "core/err.h"
#include "core/log.h"
#include "trie/effort.h"
#include "agent/cost/pace.h"

enum {
    EVERY = 61,           /* of a thread's natives one is timed; prime: their order has a rhythm */
    LONGEST_NS = 20000,   /* a timed native that took longer was put off the processor */
    SHARE_OF_WALKS = 1000 /* walking the trie takes one part in so many of the time, at most */
};

#define SECOND    UINT64_C(1000000000)
#define LOG_EVERY (10 * SECOND) /* at most one line about the budget in this time */

/* ---- any thread ---- */

static _Atomic uint64_t native_samples, native_ns;
static _Atomic uint64_t rewrite_elsewhere_ns, rewrite_longest_ns;
static _Thread_local unsigned natives; /* since the last one of this thread that was timed */
static _Thread_local bool is_agent;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

uint64_t bbf_overhead_enter(void)
{
    if (++natives < EVERY)
        return 0;
    natives = 0;
    return read_clock(CLOCK_MONOTONIC);
}

void bbf_overhead_leave(uint64_t entered)
{
    if (entered == 0)
        return;
    uint64_t ns = read_clock(CLOCK_MONOTONIC) - entered;
    atomic_fetch_add_explicit(&native_samples, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&native_ns, ns < LONGEST_NS ? ns : LONGEST_NS, memory_order_relaxed);
}

void bbf_overhead_rewritten(uint64_t ns)
{
    atomic_fetch_add_explicit(&bbf_agent.hooked, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bbf_agent.rewrite_ns, ns, memory_order_relaxed);
    if (!is_agent) /* its processor time has it already */
        atomic_fetch_add_explicit(&rewrite_elsewhere_ns, ns, memory_order_relaxed);
    uint64_t longest = atomic_load_explicit(&rewrite_longest_ns, memory_order_relaxed);
    while (ns > longest &&
           !atomic_compare_exchange_weak_explicit(&rewrite_longest_ns, &longest, ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* ---- the agent thread ---- */

static struct {
    uint64_t began, process_began; /* CLOCK_MONOTONIC, the process's processor time */
    uint64_t agent_before;         /* processor time of agent threads that have ended */
    uint64_t scan_ns, report_ns;
    uint64_t server_seen, server_before; /* a server that was stopped took its clock along */
    struct bbf_effort seen, before;      /* of the nodes in force, and of those before a reset */
    uint64_t walk_ns;                    /* what the last walk took */
    struct bbf_calibration costs;
    struct bbf_snap_cost_row last, interval; /* when the last interval ended; that interval */
    struct bbf_snap_cost_row busy;           /* the last one in which the process was busy ... */
    uint64_t busy_until;                     /* ... and when it ended, CLOCK_MONOTONIC */
    struct bbf_snap_cost_row change;         /* when settings changed last; all 0: never */
    uint64_t next;                           /* when the next one ends, CLOCK_MONOTONIC */
    uint64_t seconds;                        /* budgetSeconds= */
    struct bbf_pace pace;
    uint64_t refused, sample_ppm, logged;
    int64_t sample_since_ms;
} o;

uint64_t bbf_overhead_clock(void)
{
    return is_agent ? read_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void bbf_overhead_scanned(uint64_t since)
{
    o.scan_ns += bbf_overhead_clock() - since;
}

void bbf_overhead_reported(uint64_t since)
{
    o.report_ns += bbf_overhead_clock() - since;
}

void bbf_overhead_begin(void)
{
    is_agent = true;
    if (o.began == 0) {
        o.began = read_clock(CLOCK_MONOTONIC);
        o.process_began = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        bbf_calibrate(&o.costs);
    } else {
        o.agent_before = o.last.agent_ns_;
        bbf_calibrate(&o.costs);
        bbf_overhead_changed(); /* between a stop and this attach it took next to nothing */
    }
    o.next = read_clock(CLOCK_MONOTONIC) + o.seconds * SECOND;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The trie counts from the start of its nodes: after a reset of them less than before. */
static void walk(struct bbf_effort *sum)
{
    uint64_t begin = read_clock(CLOCK_MONOTONIC);
    struct bbf_effort now;
    bbf_effort_sum(bbf_agent.tracker, &now);
    if (now.lives < o.seen.lives / 2) {
        o.before.lives += o.seen.lives;
        o.before.steps += o.seen.steps;
        o.before.passed_lives += o.seen.passed_lives;
        o.before.passed_steps += o.seen.passed_steps;
        o.seen = now;
    }
    /* While the application works, what is on its way from one counter to another is missed. */
    o.seen.lives = larger(o.seen.lives, now.lives);
    o.seen.steps = larger(o.seen.steps, now.steps);
    o.seen.passed_lives = larger(o.seen.passed_lives, now.passed_lives);
    o.seen.passed_steps = larger(o.seen.passed_steps, now.passed_steps);
    *sum = (struct bbf_effort){o.before.lives + o.seen.lives, o.before.steps + o.seen.steps,
                               o.before.passed_lives + o.seen.passed_lives,
                               o.before.passed_steps + o.seen.passed_steps};
    o.walk_ns = read_clock(CLOCK_MONOTONIC) - begin;
}

static uint64_t server_ns(void)
{
    uint64_t now = bbf_stream_cpu_ns();
    if (now < o.server_seen)
        o.server_before += o.server_seen;
    o.server_seen = now;
    return o.server_before + now;
}

static uint64_t native_estimate(uint64_t samples)
{
    uint64_t ns = atomic_load_explicit(&native_ns, memory_order_relaxed);
    uint64_t clocks = samples * o.costs.clock_ns;
    return ns > clocks ? (ns - clocks) * EVERY : 0;
}

/* Since bbflow came. */
static void measure(struct bbf_snap_cost_row *row)
{
    const struct bbf_calibration *c = &o.costs;
    struct bbf_effort effort;
    walk(&effort);
    uint64_t samples = atomic_load_explicit(&native_samples, memory_order_relaxed);
    *row = (struct bbf_snap_cost_row){
        .elapsed_ns_ = read_clock(CLOCK_MONOTONIC) - o.began,
        .process_ns_ = read_clock(CLOCK_PROCESS_CPUTIME_ID) - o.process_began,
        .agent_ns_ = o.agent_before + bbf_overhead_clock(),
        .scan_ns_ = o.scan_ns,
        .report_ns_ = o.report_ns,
        .server_ns_ = server_ns(),
        .rewritten_ = atomic_load_explicit(&bbf_agent.hooked, memory_order_relaxed),
        .rewrite_ns_ = atomic_load_explicit(&bbf_agent.rewrite_ns, memory_order_relaxed),
        .lives_ = effort.lives,
        .passed_lives_ = effort.passed_lives,
        .steps_ = effort.steps,
        .estimated_native_calls_ = samples * EVERY,
        .estimated_native_ns_ = native_estimate(samples),
        .estimated_hook_ns_ =
            (effort.lives * c->life_ps + effort.steps * c->step_ps +
             effort.passed_lives * c->passed_life_ps + effort.passed_steps * c->passed_step_ps) /
            1000};
    row->estimated_overhead_ns_ =
        row->agent_ns_ + row->server_ns_ +
        atomic_load_explicit(&rewrite_elsewhere_ns, memory_order_relaxed) +
        row->estimated_native_ns_ + row->estimated_hook_ns_;
}

static int64_t real_time_ms(void)
{
    return (int64_t)(read_clock(CLOCK_REALTIME) / 1000000);
}

static void say(uint64_t now, uint32_t before)
{
    if (o.logged != 0 && now - o.logged < LOG_EVERY)
        return;
    o.logged = now;
    bool up = o.pace.sample > before;
    bbf_log(up ? BBF_LOG_WARN : BBF_LOG_INFO,
            "budget: sampling 1 in %" PRIu32 " (1 in %" PRIu32 " before): overhead about %" PRIu64
            ".%02" PRIu64 "%%, %s the budget of %" PRIu64 ".%02" PRIu64 "%%",
            o.pace.sample, before, o.sample_ppm / 10000, o.sample_ppm / 100 % 100,
            up ? "above" : "below", o.pace.budget_ppm / 10000, o.pace.budget_ppm / 100 % 100);
}

static void hold_budget(uint64_t now)
{
    const struct bbf_snap_cost_row *row = &o.interval;
    uint32_t before = o.pace.sample;
    /* Reports, the server and class files cost the same however few buffers are followed. */
    const struct bbf_pace_measured measured = {
        .overhead = (int64_t)(row->agent_ns_ - row->report_ns_ + row->estimated_native_ns_ +
                              row->estimated_hook_ns_),
        .process = (int64_t)row->process_ns_,
        .elapsed = (int64_t)row->elapsed_ns_};
    if (bbf_pace_step(&o.pace, &measured) == before)
        return;
    if (bbf_tracker_sample(bbf_agent.tracker, o.pace.sample) != BBF_OK) {
        bbf_pace_refused(&o.pace, before);
        if (o.refused++ == 0)
            bbf_log(BBF_LOG_WARN,
                    "budget: too many rates were set by sample= before; 1 buffer in "
                    "%" PRIu32 " is still followed",
                    before);
        return;
    }
    o.sample_ppm = o.pace.ppm;
    o.sample_since_ms = o.pace.sample != o.pace.floor ? real_time_ms() : 0;
    say(now, before);
}

static void subtract(struct bbf_snap_cost_row *row, const struct bbf_snap_cost_row *base)
{
#define XX(name) row->name##_ -= base->name##_;
    BBF_COST_COLUMNS(XX)
#undef XX
}

void bbf_overhead_changed(void)
{
    measure(&o.change);
    o.last = o.change;
    o.busy = (struct bbf_snap_cost_row){0};
    o.next = read_clock(CLOCK_MONOTONIC) + o.seconds * SECOND;
}

void bbf_overhead_look(void)
{
    uint64_t now = read_clock(CLOCK_MONOTONIC);
    if (now < o.next || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    struct bbf_snap_cost_row row;
    measure(&row);
    o.interval = row;
    subtract(&o.interval, &o.last);
    o.last = row;
    if (o.interval.process_ns_ >= o.interval.elapsed_ns_ / BBF_PACE_IDLE) {
        o.busy = o.interval;
        o.busy_until = now;
    }
    o.next = now + larger(o.seconds * SECOND, o.walk_ns * SHARE_OF_WALKS) - SECOND / 100;
    hold_budget(now);
}

int bbf_overhead_apply(const struct bbf_options *options, bool fresh)
{
    if (fresh)
        o.pace = (struct bbf_pace){.sample = 1};
    uint32_t before = o.pace.sample;
    o.seconds = options->budget_seconds;
    bbf_pace_set(&o.pace, options->budget, (uint32_t)options->sample);
    if (fresh || o.pace.sample != before || o.pace.sample == o.pace.floor)
        o.sample_since_ms = 0;
    o.next = read_clock(CLOCK_MONOTONIC) + o.seconds * SECOND;
    return bbf_tracker_sample(bbf_agent.tracker, o.pace.sample);
}

static void fill_memory(struct bbf_snap_cost *cost)
{
    const struct bbf_tracker *t = bbf_agent.tracker;
    uint64_t used = atomic_load(&bbf_agent.tracker->budget.used);
    uint64_t steps = BBF_LOW(atomic_load(&bbf_agent.tracker->window));
    cost->memory_nodes_ = steps * BBF_NODES_PER_STEP * (sizeof(struct bbf_node) + sizeof(uint64_t));
    cost->memory_lives_ = atomic_load(&bbf_agent.tracker->records.writable) +
                          atomic_load(&bbf_agent.tracker->after.writable);
    cost->memory_leaks_ = (uint64_t)t->n_tombs * sizeof(struct bbf_tomb);
    uint64_t known = cost->memory_nodes_ + cost->memory_lives_ + cost->memory_leaks_;
    cost->memory_other_ = used > known ? used - known : 0;
}

void bbf_overhead_fill(struct bbf_snap_cost *cost)
{
    measure(&cost->since_start);
    cost->interval = o.interval;
    cost->busy = o.busy;
    cost->busy_ago_ns = o.busy.elapsed_ns_ != 0 ? read_clock(CLOCK_MONOTONIC) - o.busy_until : 0;
    if (o.change.elapsed_ns_ != 0) {
        cost->since_change = cost->since_start;
        subtract(&cost->since_change, &o.change);
    }
    cost->life_ps_ = o.costs.life_ps;
    cost->step_ps_ = o.costs.step_ps;
    cost->passed_life_ps_ = o.costs.passed_life_ps;
    cost->passed_step_ps_ = o.costs.passed_step_ps;
    cost->rewrite_longest_ns_ = atomic_load(&rewrite_longest_ns);
    fill_memory(cost);
    cost->budget_ppm_ = o.pace.budget_ppm;
    cost->sample_ = o.pace.sample;
    cost->raised_ = o.pace.raised;
    cost->lowered_ = o.pace.lowered;
    cost->refused_ = o.refused;
    cost->sample_since_ms = o.sample_since_ms;
    cost->sample_ppm = o.sample_ppm;
    cost->measured = true;
}
