/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/connect.h - opens the conversation that a request needs: to the Unix socket of a JVM on
 * this machine, or to host:port, with the request's token, time-out and protocol.
 *
 * Threads: one. Each function returns an exit code; if it is not 0, it has printed the reason.
 */
#ifndef BBF_CLIENT_CONNECT_H
#define BBF_CLIENT_CONNECT_H

#include "client/client.h"
#include "wire/client/conn.h"

enum { BBF_WHO = 512 }; /* bytes of the target's name in messages */

/* Find the target's agent and connect. *who: "JVM 123 (com.app.Main)" or "host:port". */
int bbf_connect(const struct bbf_command_line *request, struct bbf_conn **conn, char who[BBF_WHO]);

/* If the process is stopped (SIGSTOP, a debugger), print that. 0: it is not stopped, or `pid` is
 * 0. */
int bbf_fail_if_stopped(pid_t pid, const char *who);

/* Print that a request failed with `err` (BBF_E…): "WHO<what>: WHY", or that the JVM is stopped. */
int bbf_fail_asking(const struct bbf_conn *conn, const char *who, int err, const char *what,
                    const char *why);

/* Split "host:port" or "[::1]:port": `host` gets a copy of the first part (NULL: only test); *port
 * points into `target`. */
bool bbf_is_remote(const char *target, char *host, size_t host_size, const char **port);

#endif
