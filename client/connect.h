/*
 * client/connect.h - from a request to a conversation: the Unix socket of a JVM on this machine, or
 * host:port, with the request's token, time-out and protocol.
 *
 * Called by: verbs.c, watch.c. Threads: one. Each returns an exit code and has said why when it is
 * not 0.
 */
#ifndef BBF_CLIENT_CONNECT_H
#define BBF_CLIENT_CONNECT_H

#include "client/client.h"
#include "wire/conn.h"

enum { BBF_WHO = 512 }; /* bytes of what names the target in messages */

/* Find the target's agent and connect. *who: "JVM 123 (com.app.Main)" or "host:port". */
int bbf_connect(const struct bbf_request *request, struct bbf_conn **conn, char who[BBF_WHO]);

/* "host:port", "[::1]:port": both parts, cut out of `target` into `host` (NULL: only asked);
 * *port points into `target`. */
bool bbf_is_remote(const char *target, char *host, size_t host_size, const char **port);

#endif
