/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/account.h"

#include <stdatomic.h>

#include "agent/cost/gate.h"
#include "agent/cost/governor.h"
#include "agent/cost/meter.h"
#include "agent/cost/model.h"
#include "agent/metrics_server.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "core/clock.h"
#include "core/err.h"
#include "trie/effort.h"
#include "trie/windows.h"

enum {
    MILLION = 1000000,
    SHARE_OF_WALKS = 1000
}; /* walking the trie takes at most this part of the time */

#define SECOND BBF_CLOCK_SECOND

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
    uint64_t budget_ppm, sample;
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
    struct bbf_gate_cost gate;
    walk(&effort);
    bbf_meter_read(&meter, c->clock_ns);
    bbf_gate_cost(&gate);
    *row = (struct bbf_snap_cost_row){
        .elapsed_ns_ = bbf_clock_ns(CLOCK_MONOTONIC) - o.began,
        .process_ns_ = bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - o.process_began,
        .agent_ns_ = o.agent_before + bbf_meter_clock(),
        .scan_ns_ = meter.scan_ns,
        .report_ns_ = meter.report_ns,
        .server_ns_ = server_ns(),
        .gate_ns_ = gate.own_ns,
        .window_ns_ = gate.process_ns,
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
    uint64_t threads = row->agent_ns_ + row->server_ns_ + row->gate_ns_;
    uint64_t files = meter.rewrite_ns - meter.rewrite_elsewhere_ns; /* elapsed: may be longer */
    row->running_ns_ = threads > files ? threads - files : 0;
    row->estimated_overhead_ns_ =
        threads + meter.rewrite_elsewhere_ns + row->estimated_native_ns_ + row->estimated_hook_ns_;
}

static void subtract(struct bbf_snap_cost_row *row, const struct bbf_snap_cost_row *base)
{
#define XX(name) row->name##_ -= base->name##_;
    BBF_COST_COLUMNS(XX)
#undef XX
}

/*
 * No window shows what hooks take that find their gate shut, because it has them also. So it is
 * estimated: for each call of a root hook as many hooks as a followed life has (a root, an end and
 * its steps), at the model's price each. Hooks that meet no buffer are not counted, nor are
 * those of derived lives. The row's lives and steps arrive late, but together.
 */
static uint64_t shut_gate_ns(const struct bbf_snap_cost_row *row,
                             const struct bbf_governor_cost *followed)
{
    if (row->lives_ == 0 || followed->shut_process == 0)
        return 0;
    double hooks = 2 + (double)row->steps_ / (double)row->lives_;
    double part = hooks * (double)o.costs.gate_ps / 1000 * (double)followed->shut_roots /
                  (double)followed->shut_process;
    return (uint64_t)((double)row->process_ns_ * (part < 1 ? part : 1));
}

/* The difference of two rows: what windows have measured, instead of the model. */
static void put_measured(struct bbf_snap_cost_row *row, const struct bbf_gate_cost *gate)
{
    if (gate->followed.pairs < BBF_GOVERNOR_FIRST)
        return;
    row->estimated_overhead_ns_ -= row->estimated_native_ns_ + row->estimated_hook_ns_;
    row->estimated_hook_ns_ = (uint64_t)((double)row->window_ns_ / MILLION *
                                         (double)bbf_governor_part_ppm(gate->followed.extra_ppm));
    row->estimated_shut_gate_ns_ = shut_gate_ns(row, &gate->followed);
    row->estimated_overhead_ns_ += row->estimated_hook_ns_ + row->estimated_shut_gate_ns_;
}

/* Reports, the server and class files cost the same however few buffers are followed. The shut gate
 * by what lives were like since bbflow came. */
static uint64_t fixed_ppm(const struct bbf_snap_cost_row *row, const struct bbf_gate_cost *gate)
{
    uint64_t others = row->report_ns_ + row->server_ns_;
    uint64_t fixed = row->running_ns_ > others ? row->running_ns_ - others : 0;
    if (row->process_ns_ < row->elapsed_ns_ / BBF_GOVERNOR_IDLE)
        return 0;
    uint64_t ppm = bbf_governor_ppm(fixed, row->process_ns_);
    if (gate->followed.pairs < BBF_GOVERNOR_FIRST)
        return ppm;
    return ppm + bbf_governor_ppm(shut_gate_ns(&o.last, &gate->followed), o.last.process_ns_);
}

static void tell_gate(const struct bbf_snap_cost_row *row)
{
    struct bbf_gate_cost gate;
    bbf_gate_cost(&gate);
    bbf_gate_fixed(fixed_ppm(row, &gate));
}

void bbf_account_changed(void)
{
    measure(&o.change);
    o.last = o.change;
    o.busy = (struct bbf_snap_cost_row){0};
    o.next = bbf_clock_ns(CLOCK_MONOTONIC) + o.seconds * SECOND;
}

/* The loop of gates takes up to twice as long in some seconds as in others, as on a machine whose
 * processor others use also; what a gate costs at least is what its instructions cost. */
static void look_at_price(void)
{
    uint64_t ps = bbf_cost_model_gate_ps(o.costs.clock_ns);
    if (ps < o.costs.gate_ps)
        o.costs.gate_ps = ps;
}

void bbf_account_poll(void)
{
    uint64_t now = bbf_clock_ns(CLOCK_MONOTONIC);
    if (now < o.next || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    struct bbf_snap_cost_row row;
    if (bbf_windows_are_used(bbf_agent.tracker)) /* otherwise a gate has no price */
        look_at_price();
    measure(&row);
    o.interval = row;
    subtract(&o.interval, &o.last);
    o.last = row;
    tell_gate(&o.interval);
    if (o.interval.process_ns_ >= o.interval.elapsed_ns_ / BBF_GOVERNOR_IDLE) {
        o.busy = o.interval;
        o.busy_until = now;
    }
    o.next = now + larger(o.seconds * SECOND, o.walk_ns * SHARE_OF_WALKS) - SECOND / 100;
}

int bbf_account_apply(const struct bbf_options *options)
{
    o.seconds = options->budget_seconds;
    o.budget_ppm = options->budget;
    o.sample = options->sample;
    o.next = bbf_clock_ns(CLOCK_MONOTONIC) + o.seconds * SECOND;
    return bbf_tracker_sample(bbf_agent.tracker, (uint32_t)options->sample);
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

static void fill_measured(struct bbf_snap_cost *cost)
{
    struct bbf_gate_cost gate;
    bbf_gate_cost(&gate);
    put_measured(&cost->since_start, &gate);
    put_measured(&cost->interval, &gate);
    put_measured(&cost->busy, &gate);
    put_measured(&cost->since_change, &gate);
    cost->share_ppm_ = gate.share_ppm;
    cost->pairs_ = gate.followed.pairs;
    cost->part_ppm_ = bbf_governor_part_ppm(gate.followed.extra_ppm);
    cost->part_low_ppm_ = bbf_governor_part_ppm(gate.followed.low_ppm);
    cost->part_high_ppm_ = bbf_governor_part_ppm(gate.followed.high_ppm);
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
    cost->budget_ppm_ = o.budget_ppm;
    cost->sample_ = o.sample;
    fill_measured(cost);
    cost->measured = true;
}
