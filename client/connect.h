/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/connect.h - from a request to a conversation: the Unix socket of a JVM on this machine, or
 * host:port, with the request's token, time-out and protocol.
 *
 * Threads: one. Each returns an exit code and has said why when it is not 0.
 */
#ifndef BBF_CLIENT_CONNECT_H
#define BBF_CLIENT_CONNECT_H

#include "client/client.h"
#include "wire/client/conn.h"

enum { BBF_WHO = 512 }; /* bytes of what names the target in messages */

/* Find the target's agent and connect. *who: "JVM 123 (com.app.Main)" or "host:port". */
int bbf_connect(const struct bbf_command_line *request, struct bbf_conn **conn, char who[BBF_WHO]);

/* Say that the process is stopped (SIGSTOP, a debugger) if it is; 0: it is not, or `pid` is 0. */
int bbf_fail_if_stopped(pid_t pid, const char *who);

/* Say that a question failed with `err` (BBF_E…): "WHO<what>: WHY", or that the JVM is stopped. */
int bbf_fail_asking(const struct bbf_conn *conn, const char *who, int err, const char *what,
                    const char *why);

/* "host:port", "[::1]:port": both parts, cut out of `target` into `host` (NULL: only asked);
 * *port points into `target`. */
bool bbf_is_remote(const char *target, char *host, size_t host_size, const char **port);

#endif
