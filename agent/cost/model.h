/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/model.h - the approximate cost of a hook on this machine: the loads, compares and
 * stores that the shim makes for it (java-shim/boot, design.md: open protocol, step, close
 * protocol), in C, on words that no other thread shares, each step after the one before it, as the
 * steps of one buffer are. The least of several rounds, times two (a gate: ten), because a hook
 * costs more in the application (IN_PLACE in model.c).
 *
 * It is a model: the factor is the same for all programs, and the cost of methods that grow too
 * large to be inlined is not in it.
 *
 * Threads: one at a time.
 */
#ifndef BBF_AGENT_COST_MODEL_H
#define BBF_AGENT_COST_MODEL_H

#include <stdint.h>

struct bbf_cost_model {
    uint64_t life_ps;                        /* picoseconds: open and close of a recycled buffer */
    uint64_t step_ps;                        /* a step that finds its child first */
    uint64_t passed_life_ps, passed_step_ps; /* the same of a life that sampling passes over */
    uint64_t gate_ps;                        /* a hook whose gate is shut (ADR 73) */
    uint64_t clock_ns;                       /* reading CLOCK_MONOTONIC */
};

/* Measure; takes a fraction of a millisecond of processor time. */
void bbf_cost_model_measure(struct bbf_cost_model *to);
/* What gate_ps is now; takes 50 us of processor time. clock_ns: of the model. */
uint64_t bbf_cost_model_gate_ps(uint64_t clock_ns);

#endif
