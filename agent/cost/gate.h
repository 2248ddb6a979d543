/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/gate.h - duty= and budget=: a thread opens the hooks' gate for a while at random
 * moments, and lives that begin then are followed (docs/adr/0054, trie/windows.h). It measures what
 * that costs, and with budget= how often it opens depends on that (docs/adr/0055, governor.h).
 *
 * Threads: the agent thread, unless a function says otherwise.
 */
#ifndef BBF_AGENT_COST_GATE_H
#define BBF_AGENT_COST_GATE_H

#include <stdbool.h>

#include "agent/cost/governor.h"
#include "core/buf.h"
#include "core/option.h"
#include "snapshot/snapshot.h"

/* Before the shim is defined: does this process follow lives by windows? Never changed again. */
void bbf_gate_choose(const struct bbf_options *options);
/* May these options be in force in this process? If not, *why says it (static). */
bool bbf_gate_allows(const struct bbf_options *options, const char **why);

/* The hooks are in, or options changed: open and shut as they say. At the start any thread. */
void bbf_gate_apply(const struct bbf_options *options);
/* The hooks go: shut, and end the thread. */
void bbf_gate_end(void);
/* Counters are zero from here on. */
void bbf_gate_reset(void);

/* The share of the process's time that bbflow's own threads take, but for reports, and that hooks
 * take whose gate is shut: budget= has less left for windows. */
void bbf_gate_fixed(uint64_t ppm);

/* What windows cost, since the agent was loaded; nanoseconds of processor time. */
struct bbf_gate_cost {
    uint64_t own_ns;     /* of the thread that opens the gate */
    uint64_t process_ns; /* of the process, while hooks followed lives: windows and their grace */
    struct bbf_governor_cost followed; /* what part of that is following */
    uint64_t share_ppm; /* of the time, for windows, as chosen last; 0: always or never open */
};
/* Any thread. */
void bbf_gate_cost(struct bbf_gate_cost *cost);

/* The share that was watched since the last reset, into an empty struct. Any thread. */
void bbf_gate_fill(struct bbf_snap_windows *windows);
/* A note of a report: what share was watched. */
void bbf_gate_note(struct bbf_buf *note);

#endif
