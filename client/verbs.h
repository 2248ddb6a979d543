/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/verbs.h - what each command of bbflow does. Each returns an exit code (client.h) and has
 * said why when it is not 0.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_VERBS_H
#define BBF_CLIENT_VERBS_H

#include "client/client.h"

/* One line per JVM with the agent: pid, main class, socket. Of one: its probes. */
int bbf_verb_list(const struct bbf_command_line *request);
/* tree, summary, llm, dump: a snapshot of a JVM or of a file, rendered to stdout or -o FILE. */
int bbf_verb_read(const struct bbf_command_line *request);
/* The agent's own account of itself, as text. */
int bbf_verb_status(const struct bbf_command_line *request);
int bbf_verb_set(const struct bbf_command_line *request);
int bbf_verb_reset(const struct bbf_command_line *request);
/* Give a running JVM the agent, and wait until it answers. */
int bbf_verb_attach(const struct bbf_command_line *request);
/* Have the agent undo everything, and wait until its socket is gone. */
int bbf_verb_stop(const struct bbf_command_line *request);

#endif
