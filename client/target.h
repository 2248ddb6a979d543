/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/target.h - finds the JVM with the agent that a person named by a pid, a main class or a
 * part of one, a file, or nothing; or prints why there is none or more than one.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_TARGET_H
#define BBF_CLIENT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "client/client.h"

struct bbf_target {
    pid_t pid;
    uid_t uid;
    char *main; /* main class or jar, "" when unknown */
    char *path; /* of the socket */
};

/* By pid, ascending. */
struct bbf_agents {
    struct bbf_target *items;
    size_t count;
    bool failed; /* out of memory: the list is incomplete */
};

/*
 * Find all agents that answer: in the usual places (wire/client/conn.h), or only below `socket_dir`
 * if it is not NULL. Free with bbf_agents_free().
 */
void bbf_agents_find(struct bbf_agents *agents, const char *socket_dir);
void bbf_agents_free(struct bbf_agents *agents);

/* Is the target the name of a file, not of a JVM? Then it ends in .json, contains a '/', or
 * is the file of an agent's option blackbox=. */
bool bbf_target_is_file(const char *target);

/*
 * The one agent of `agents` that the request names, borrowed. NULL: none or several; the message is
 * printed, and *exit_code is set.
 */
const struct bbf_target *bbf_target_choose(const struct bbf_agents *agents,
                                           const struct bbf_command_line *request, int *exit_code);

/*
 * The one JVM without an answering agent that the request names, by pid or by main class; `who`
 * gets its name for messages. 0: none, several, or it has the agent; the message is printed, and
 * *exit_code is set.
 */
pid_t bbf_target_jvm(const struct bbf_agents *agents, const struct bbf_command_line *request,
                     char *who, size_t who_size, int *exit_code);

/* The one JVM that the request names, with the agent or without; its files may be forbidden to us.
 * 0: none or several; the message is printed, and *exit_code is set. */
pid_t bbf_target_any(const struct bbf_command_line *request, int *exit_code);

/* "JVM 123 (com.app.Main)" into `to`; returns `to`. */
const char *bbf_agent_text(const struct bbf_target *agent, char *to, size_t to_size);

/* Print to stderr the JVMs of this user (root: of all users) that run without the agent, if there
 * are any. */
void bbf_print_jvms_without(const struct bbf_agents *agents);

#endif
