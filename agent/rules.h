/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/rules.h - the current rules (bbf_agent.rules), and old copies: each `set` and each attach
 * makes new rules, and hooks in the application's threads may still read the old ones. A thread
 * holds the rules while it reads them; old rules are freed once no thread holds them
 * (agent/grace.h). Kept copies count in memory=.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_RULES_H
#define BBF_AGENT_RULES_H

#include "instrument/plan.h"

struct bbf_rules_hold {
    const struct bbf_rules *rules; /* the current rules when it was called; NULL: none */
    unsigned side;
};

/* Valid until it is released. Wait-free, and holds may nest. */
struct bbf_rules_hold bbf_rules_hold(void);
void bbf_rules_let_go(const struct bbf_rules_hold *hold);

/* A copy of `options`, which counts in memory=. NULL: no memory. */
struct bbf_rules *bbf_rules_new(const struct bbf_options *options);
/* Retire replaced rules; they are freed now or later. NULL is allowed. */
void bbf_rules_retire(const struct bbf_rules *rules);
/* Is there room for old rules? Waits at most a second for their readers. */
bool bbf_rules_room(void);
/* Old ones that are still read, and their bytes. */
size_t bbf_rules_old(size_t *bytes);

#endif
