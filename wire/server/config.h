/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/config.h - the configuration of a command server, and the callbacks that implement
 * the commands.
 *
 * Threads: the callbacks run in the server's thread (wire/server/server.h).
 */
#ifndef BBF_WIRE_SERVER_CONFIG_H
#define BBF_WIRE_SERVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/btrace/command.h"
#include "wire/token.h"

struct bbf_reply; /* one conversation's output, valid during a callback only */

struct bbf_server_config {
    const char *socket_dir; /* option `socket`: folder that holds bbflow-UID/; NULL:
                               $XDG_RUNTIME_DIR, /tmp, /dev/shm */
    pid_t pid;              /* names the socket: BASE/bbflow-UID/PID.sock, folder 0700 */
    size_t max_clients;     /* over TCP a quarter less: strangers cannot shut the socket's owner
                               out, unless there is one place only */
    size_t max_waiting; /* over TCP, before the token: places of their own (wire/server/admit.h); 0:
                           64, or max_clients twice if that is more */
    bool tcp;           /* also listen on 127.0.0.1, never on another address */
    uint16_t port;      /* 0: any */
    const struct bbf_token *token; /* required of clients over TCP; NULL: no token is required */
    size_t queue;                  /* messages that the live stream keeps for all clients (5,000) */
    const char *probe_id;          /* the tracker's UUID: LIST_PROBES names "UUID [bbflow]" */
    void *ctx;
    /* EVENT name ("json", "tree gc", …), all but "watch": that is the live stream. Emit with
     * bbf_reply_*; an unknown event is answered with a MESSAGE that names the known ones and
     * STATUS(0, failed). */
    void (*event)(void *ctx, const char *name, struct bbf_reply *reply);
    /* A client begins to receive the live stream: send it the earlier state by bbf_reply_command().
     * Returns the place where the stream continues (a value of bbf_server_published()). NULL: it
     * begins with the oldest message that is kept. */
    uint64_t (*begin)(void *ctx, struct bbf_reply *reply);
    /* SET_PARAMS with at least one key that is not a stock client's; the stock keys are left out, a
     * key is never null and holds no NUL byte. All or nothing: return 0 and a MESSAGE text in
     * *answer, or BBF_E… with an error text in *answer. */
    int (*set)(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer);
    /* For tests and special cases; 0 takes the value in brackets. */
    unsigned handshake_ms; /* until RECONNECT, between two commands (5,000) */
    unsigned auth_ms;      /* from a TCP connect to the token (2,000, at most handshake_ms) */
    unsigned stall_ms;     /* without any progress of a waiting answer (30,000) */
    size_t queue_bytes;    /* answers that wait for one client; more drops it (256 MiB) */
    bool peers_unknown;    /* as where the kernel does not say whose a TCP connection is */
};

#endif
