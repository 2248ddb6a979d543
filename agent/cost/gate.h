/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/gate.h - duty=: a thread opens the hooks' gate for a while at random moments, and
 * lives that begin then are followed (docs/adr/0054, trie/windows.h).
 *
 * Threads: the agent thread, unless a function says otherwise.
 */
#ifndef BBF_AGENT_COST_GATE_H
#define BBF_AGENT_COST_GATE_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/option.h"

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

/* A note of a report: what share was watched. */
void bbf_gate_note(struct bbf_buf *note);

#endif
