/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/watch.h - the verbs that show whatever an agent sends, ours or a stock BTrace agent's:
 * watch, event, list host:port. Each returns an exit code (client/fail.h) and has printed the
 * reason when it is not 0.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_WATCH_H
#define BBF_CLIENT_WATCH_H

#include "client/client.h"

/* The target's probes, one "UUID [class]" per line. */
int bbf_verb_probes(const struct bbf_command_line *request);
/* Send an EVENT and print the agent's answer. */
int bbf_verb_event(const struct bbf_command_line *request);
/* Print the live stream until a signal; then DISCONNECT. */
int bbf_verb_watch(const struct bbf_command_line *request);

#endif
