/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/verbs.h - the function of each command of bbflow. Each returns an exit code (client.h); if
 * it is not 0, it has printed the reason.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_VERBS_H
#define BBF_CLIENT_VERBS_H

#include "client/client.h"

/* One line for each JVM with the agent: pid, main class, socket. With a target: its probes. */
int bbf_verb_list(const struct bbf_command_line *request);
/* tree, summary, why, llm, dump: a snapshot of a JVM or of a file, rendered to stdout or -o FILE.
 * why: BBF_EXIT_LOST where a leak is proven. */
int bbf_verb_read(const struct bbf_command_line *request);
/* A text with tokens of --redact: with the names again. */
int bbf_verb_unredact(const struct bbf_command_line *request);
/* The agent's own status, as text. */
int bbf_verb_status(const struct bbf_command_line *request);
int bbf_verb_set(const struct bbf_command_line *request);
int bbf_verb_reset(const struct bbf_command_line *request);
/* Load the agent into a running JVM, and wait until it answers. */
int bbf_verb_attach(const struct bbf_command_line *request);
/* Have the agent undo everything, and wait until its socket is gone. */
int bbf_verb_stop(const struct bbf_command_line *request);

#endif
