/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/target.h - from what a person wrote (a pid, a main class or part of it, a file, nothing)
 * to one JVM with the agent, or to a message that says why there is none or more than one.
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
    bool failed; /* out of memory: not all are here */
};

/*
 * Every agent that answers: in the usual places (wire/client/conn.h), or, when `socket_dir` is not
 * NULL, below that folder only. Free with bbf_agents_free().
 */
void bbf_agents_find(struct bbf_agents *agents, const char *socket_dir);
void bbf_agents_free(struct bbf_agents *agents);

/* Whether the target is a file's name and not a JVM's: it ends in .json or has a '/'. */
bool bbf_target_is_file(const char *target);

/*
 * The one agent of `agents` that the request means, borrowed. NULL: none or several; the message
 * is out and *exit_code is what to end with.
 */
const struct bbf_target *bbf_target_choose(const struct bbf_agents *agents,
                                           const struct bbf_command_line *request, int *exit_code);

/*
 * The one JVM without an agent that answers which the request means, by pid or by its main class;
 * `who` gets its name for messages. 0: none, several, or it has the agent; the message is out and
 * *exit_code is what to end with.
 */
pid_t bbf_target_jvm(const struct bbf_agents *agents, const struct bbf_command_line *request,
                     char *who, size_t who_size, int *exit_code);

/* "JVM 123 (com.app.Main)" into `to`; returns `to`. */
const char *bbf_agent_text(const struct bbf_target *agent, char *to, size_t to_size);

/* To stderr: the JVMs of this user (root: of all) that run without the agent, if there are any. */
void bbf_print_jvms_without(const struct bbf_agents *agents);

#endif
