/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/switches.h - settings of a running tracker: limits, sampling, which lives are opened.
 *
 * Threads: the agent's, unless a function says otherwise.
 */
#ifndef BBF_TRIE_SWITCHES_H
#define BBF_TRIE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

struct bbf_limits {
    uint64_t max_nodes, max_depth, max_children, max_lives, max_elements, max_sites, max_facts,
        memory;
    uint64_t max_growth, growth_seconds, growth_keep; /* trie/growth.h; 0: no history */
    uint64_t context_keep, max_contexts;              /* trie/context.h; 0: none */
    uint64_t age; /* seconds after which an open life is aged, at most; 0 = none ever is */
    bool usage;   /* trie/usage.h */
};

/* New limits of a running tracker; a lower one only stops growth. Agent thread. */
void bbf_tracker_limit(struct bbf_tracker *t, const struct bbf_limits *limits);

/* trackDirectOnly: for lives opened from now on; open lives continue (design.md: verdicts). Agent
 * thread. */
void bbf_tracker_direct_only(struct bbf_tracker *t, bool on);

/*
 * sample=N: of the lives opened from now on one in N is followed, each drawn independently; open
 * lives continue. Each rate has roots of its own, so that a report knows the weight of the lives
 * below them. Agent thread. BBF_ELIMIT: there were 15 other rates already; nothing is changed.
 */
int bbf_tracker_sample(struct bbf_tracker *t, uint32_t n);
/* Has bbf_tracker_sample() room for that rate? Once asked it has until another is set. */
bool bbf_tracker_can_sample(const struct bbf_tracker *t, uint32_t n);
/* Was a rate but 1 ever set, or are lives followed by windows? Then buffers were passed over. Any
 * thread. */
bool bbf_tracker_sampled(const struct bbf_tracker *t);

struct bbf_loss;
/* Call `hear` (NULL: nothing) for each life that a scan ends, in the scan: it must be short. Agent
 * thread. */
void bbf_tracker_hear_ends(struct bbf_tracker *t, void (*hear)(const struct bbf_loss *loss));

/* The same for each life that leaked. Agent thread. */
void bbf_tracker_hear_leaks(struct bbf_tracker *t, void (*hear)(const struct bbf_loss *loss));

/* Lives of this root are opened by the shim's slow way, which says who called (SHARED_ASKED), until
 * it is switched off again. Agent thread. */
void bbf_tracker_ask(struct bbf_tracker *t, uint32_t site, bool on);
/* Any thread. */
bool bbf_tracker_asks(const struct bbf_tracker *t, uint32_t site);

/* Open no more lives, for good; open lives continue. Any thread. */
void bbf_tracker_off(struct bbf_tracker *t);

/* Between pause and resume no life is opened and no buffer is marked: the hooks are being added
 * (attach) or removed (stop), and a life whose release is not seen would be a false leak. Agent
 * thread; either may be called twice. */
void bbf_tracker_pause(struct bbf_tracker *t);
void bbf_tracker_resume(struct bbf_tracker *t);

/* ---- what the hooks must expect; any thread ---- */

/* Until the agent thread resumes: as bbf_tracker_pause(), for a thread that saw a class whose hooks
 * are missing. */
void bbf_tracker_hold(struct bbf_tracker *t);
/* Buffers may lack the hidden field: the shim tests their class (design.md: hot path). For good. */
void bbf_tracker_expect_fieldless(struct bbf_tracker *t);
/* No class is followed yet: each hook returns at once. */
void bbf_tracker_set_idle(struct bbf_tracker *t, bool idle);
bool bbf_tracker_is_idle(const struct bbf_tracker *t);
/* There are buffers that were opened, or even released, without a hook: a first sight may be of a
 * released one. For good. */
void bbf_tracker_expect_unseen(struct bbf_tracker *t);
/* A class counts references by a field of its own. For good. */
void bbf_tracker_expect_own_counts(struct bbf_tracker *t);
/* The second since the start that lives opened from now on begin at. Agent thread. */
void bbf_tracker_set_now(struct bbf_tracker *t, uint32_t second);

#endif
