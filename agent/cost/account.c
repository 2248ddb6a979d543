/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/account.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "agent/cost/governor.h"
#include "agent/cost/meter.h"
#include "agent/cost/model.h"
#include "agent/metrics_server.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "trie/effort.h"

enum { SHARE_OF_WALKS = 1000 }; /* walking the trie takes at most this part of the time */

#define SECOND    BBF_CLOCK_SECOND
#define LOG_EVERY (10 * SECOND) /* at most one line about the budget in this time */

static struct {
    uint64_t began, process_began;       /* CLOCK_MONOTONIC, the process's processor time */
    uint64_t agent_before;               /* processor time of agent threads that have ended */
    uint64_t server_seen, server_before; /* a server that was stopped took its clock along */
    struct bbf_effort seen, before;      /* of the nodes in force, and of those before a reset */
    uint64_t walk_ns;                    /* what the last walk took */
    struct bbf_cost_model costs;
    struct bbf_snap_cost_row last, interval; /* when the last interval ended; that interval */
    struct bbf_snap_cost_row busy;           /* the last one in which the process was busy ... */
    uint64_t busy_until;                     /* ... and when it ended, CLOCK_MONOTONIC */
    struct bbf_snap_cost_row change;         /* when settings changed last; all 0: never */
    uint64_t next;                           /* when the next one ends, CLOCK_MONOTONIC */
    uint64_t seconds;                        /* budgetSeconds= */
    struct bbf_governor governor;
    uint64_t refused, sample_ppm, logged;
    int64_t sample_since_ms;
} o;

void bbf_account_begin(void)
{
    bbf_meter_begin();
    if (o.began == 0) {
        o.began = bbf_clock_ns(CLOCK_MONOTONIC);
        o.process_began = bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        bbf_cost_model_measure(&o.costs);
    } else {
        o.agent_before = o.last.agent_ns_;
        bbf_cost_model_measure(&o.costs);
        bbf_account_changed(); /* between a stop and this attach bbflow used almost no time */
    }
    o.next = bbf_clock_ns(CLOCK_MONOTONIC) + o.seconds * SECOND;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The trie counts since its nodes began, so after a reset the count is smaller. */
static void walk(struct bbf_effort *sum)
{
    uint64_t begin = bbf_clock_ns(CLOCK_MONOTONIC);
    struct bbf_effort now;
    bbf_effort_sum(bbf_agent.tracker, &now);
    if (now.lives < o.seen.lives / 2) {
        o.before.lives += o.seen.lives;
        o.before.steps += o.seen.steps;
        o.before.passed_lives += o.seen.passed_lives;
        o.before.passed_steps += o.seen.passed_steps;
        o.seen = now;
    }
    /* While the application works, counts in transit between two counters are missed. */
    o.seen.lives = larger(o.seen.lives, now.lives);
    o.seen.steps = larger(o.seen.steps, now.steps);
    o.seen.passed_lives = larger(o.seen.passed_lives, now.passed_lives);
    o.seen.passed_steps = larger(o.seen.passed_steps, now.passed_steps);
    *sum = (struct bbf_effort){o.before.lives + o.seen.lives, o.before.steps + o.seen.steps,
                               o.before.passed_lives + o.seen.passed_lives,
                               o.before.passed_steps + o.seen.passed_steps};
    o.walk_ns = bbf_clock_ns(CLOCK_MONOTONIC) - begin;
}

static uint64_t server_ns(void)
{
    uint64_t now = bbf_stream_cpu_ns();
    if (now < o.server_seen)
        o.server_before += o.server_seen;
    o.server_seen = now;
    return o.server_before + now + bbf_metrics_cpu_ns();
}

/* Since bbflow was attached. */
static void measure(struct bbf_snap_cost_row *row)
{
    const struct bbf_cost_model *c = &o.costs;
    struct bbf_effort effort;
    struct bbf_meter_reading meter;
    walk(&effort);
    bbf_meter_read(&meter, c->clock_ns);
    *row = (struct bbf_snap_cost_row){
        .elapsed_ns_ = bbf_clock_ns(CLOCK_MONOTONIC) - o.began,
        .process_ns_ = bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - o.process_began,
        .agent_ns_ = o.agent_before + bbf_meter_clock(),
        .scan_ns_ = meter.scan_ns,
        .report_ns_ = meter.report_ns,
        .server_ns_ = server_ns(),
        .rewritten_ = meter.rewritten,
        .rewrite_ns_ = meter.rewrite_ns,
        .lives_ = effort.lives,
        .passed_lives_ = effort.passed_lives,
        .steps_ = effort.steps,
        .estimated_native_calls_ = meter.native_calls,
        .estimated_native_ns_ = meter.native_ns,
        .estimated_hook_ns_ =
            (effort.lives * c->life_ps + effort.steps * c->step_ps +
             effort.passed_lives * c->passed_life_ps + effort.passed_steps * c->passed_step_ps) /
            1000};
    row->estimated_overhead_ns_ = row->agent_ns_ + row->server_ns_ + meter.rewrite_elsewhere_ns +
                                  row->estimated_native_ns_ + row->estimated_hook_ns_;
}

static int64_t real_time_ms(void)
{
    return (int64_t)(bbf_clock_ns(CLOCK_REALTIME) / 1000000);
}

static void say(uint64_t now, uint32_t before)
{
    if (o.logged != 0 && now - o.logged < LOG_EVERY)
        return;
    o.logged = now;
    bool up = o.governor.sample > before;
    bbf_log(up ? BBF_LOG_WARN : BBF_LOG_INFO,
            "budget: sampling 1 in %" PRIu32 " (1 in %" PRIu32 " before): overhead about %" PRIu64
            ".%02" PRIu64 "%%, %s the budget of %" PRIu64 ".%02" PRIu64 "%%",
            o.governor.sample, before, o.sample_ppm / 10000, o.sample_ppm / 100 % 100,
            up ? "above" : "below", o.governor.budget_ppm / 10000,
            o.governor.budget_ppm / 100 % 100);
}

static void hold_budget(uint64_t now)
{
    const struct bbf_snap_cost_row *row = &o.interval;
    uint32_t before = o.governor.sample;
    /* Reports, the server and class files cost the same however few buffers are followed. */
    const struct bbf_governor_measured measured = {
        .overhead = (int64_t)(row->agent_ns_ - row->report_ns_ + row->estimated_native_ns_ +
                              row->estimated_hook_ns_),
        .process = (int64_t)row->process_ns_,
        .elapsed = (int64_t)row->elapsed_ns_};
    if (bbf_governor_step(&o.governor, &measured) == before)
        return;
    if (bbf_tracker_sample(bbf_agent.tracker, o.governor.sample) != BBF_OK) {
        bbf_governor_refused(&o.governor, before);
        if (o.refused++ == 0)
            bbf_log(BBF_LOG_WARN,
                    "budget: too many rates were set by sample= before; 1 buffer in "
                    "%" PRIu32 " is still followed",
                    before);
        return;
    }
    o.sample_ppm = o.governor.ppm;
    o.sample_since_ms = o.governor.sample != o.governor.floor ? real_time_ms() : 0;
    say(now, before);
}

static void subtract(struct bbf_snap_cost_row *row, const struct bbf_snap_cost_row *base)
{
#define XX(name) row->name##_ -= base->name##_;
    BBF_COST_COLUMNS(XX)
#undef XX
}

void bbf_account_changed(void)
{
    measure(&o.change);
    o.last = o.change;
    o.busy = (struct bbf_snap_cost_row){0};
    o.next = bbf_clock_ns(CLOCK_MONOTONIC) + o.seconds * SECOND;
}

void bbf_account_poll(void)
{
    uint64_t now = bbf_clock_ns(CLOCK_MONOTONIC);
    if (now < o.next || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    struct bbf_snap_cost_row row;
    measure(&row);
    o.interval = row;
    subtract(&o.interval, &o.last);
    o.last = row;
    if (o.interval.process_ns_ >= o.interval.elapsed_ns_ / BBF_GOVERNOR_IDLE) {
        o.busy = o.interval;
        o.busy_until = now;
    }
    o.next = now + larger(o.seconds * SECOND, o.walk_ns * SHARE_OF_WALKS) - SECOND / 100;
    hold_budget(now);
}

int bbf_account_apply(const struct bbf_options *options, bool fresh)
{
    if (fresh)
        o.governor = (struct bbf_governor){.sample = 1};
    uint32_t before = o.governor.sample;
    o.seconds = options->budget_seconds;
    bbf_governor_set(&o.governor, options->budget, (uint32_t)options->sample);
    if (fresh || o.governor.sample != before || o.governor.sample == o.governor.floor)
        o.sample_since_ms = 0;
    o.next = bbf_clock_ns(CLOCK_MONOTONIC) + o.seconds * SECOND;
    return bbf_tracker_sample(bbf_agent.tracker, o.governor.sample);
}

static void fill_memory(struct bbf_snap_cost *cost)
{
    struct bbf_tracker_memory m;
    bbf_tracker_memory(bbf_agent.tracker, &m);
    cost->memory_nodes_ = m.nodes;
    cost->memory_lives_ = m.lives;
    cost->memory_leaks_ = m.leaks;
    uint64_t known = cost->memory_nodes_ + cost->memory_lives_ + cost->memory_leaks_;
    cost->memory_other_ = m.used > known ? m.used - known : 0;
}

void bbf_account_fill(struct bbf_snap_cost *cost)
{
    struct bbf_meter_reading meter;
    measure(&cost->since_start);
    cost->interval = o.interval;
    cost->busy = o.busy;
    cost->busy_ago_ns = o.busy.elapsed_ns_ != 0 ? bbf_clock_ns(CLOCK_MONOTONIC) - o.busy_until : 0;
    if (o.change.elapsed_ns_ != 0) {
        cost->since_change = cost->since_start;
        subtract(&cost->since_change, &o.change);
    }
    cost->life_ps_ = o.costs.life_ps;
    cost->step_ps_ = o.costs.step_ps;
    cost->passed_life_ps_ = o.costs.passed_life_ps;
    cost->passed_step_ps_ = o.costs.passed_step_ps;
    bbf_meter_read(&meter, o.costs.clock_ns);
    cost->rewrite_longest_ns_ = meter.rewrite_longest_ns;
    fill_memory(cost);
    cost->budget_ppm_ = o.governor.budget_ppm;
    cost->sample_ = o.governor.sample;
    cost->raised_ = o.governor.raised;
    cost->lowered_ = o.governor.lowered;
    cost->refused_ = o.refused;
    cost->sample_since_ms = o.sample_since_ms;
    cost->sample_ppm = o.sample_ppm;
    cost->measured = true;
}
