/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/agent_answer.h - what the agent in a JVM reports about itself: its socket is found without
 * a change to any folder, and its status is split into parts.
 *
 * Threads: one. An answer owns its texts, which are the agent's.
 */
#ifndef BBF_CLIENT_AGENT_ANSWER_H
#define BBF_CLIENT_AGENT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/words.h"

struct bbf_agent_answer {
    bool answered;
    char socket[512]; /* "" = none was found */
    char why[512];    /* it does not answer */
    char version[64];
    struct bbf_words netty, notes;
    struct bbf_words settings; /* "sample=1" */
    struct bbf_words limits; /* those that were reached: "maxNodes, 1000000 of 1000000, 17 times" */
    bool has_lives;
    uint64_t lives; /* since the last reset */
};

/* Find the agent's socket, below `socket_dir` if that is not NULL, and ask for its status; wait
 * `timeout_ms` for each answer (0: 5 s). */
void bbf_agent_ask(struct bbf_agent_answer *answer, pid_t pid, const char *socket_dir,
                   unsigned timeout_ms);
void bbf_agent_answer_free(struct bbf_agent_answer *answer);

/* Split the text of a status (render/status.h). False: it is no status. */
bool bbf_agent_read_status(struct bbf_agent_answer *answer, const char *text);

/* The value of a setting; NULL: the agent has no such one. */
const char *bbf_agent_setting(const struct bbf_agent_answer *answer, const char *name);

#endif
