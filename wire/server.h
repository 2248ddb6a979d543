/*
 * wire/server.h - the command server: sockets, connections, negotiation, the BTrace v2 conversation
 * (design D9). One native thread of its own with poll(2); the application's threads never meet it.
 * Testable without a JVM: what the commands mean is asked of callbacks.
 *
 * Called by: agent/serve.c. Threads: start/stop by the agent; callbacks run in the server's thread
 * and may block (they then delay other clients, never the application).
 */
#ifndef BBF_WIRE_SERVER_H
#define BBF_WIRE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/command.h"

struct bbf_server;
struct bbf_reply; /* one conversation's output, valid during a callback only */

struct bbf_server_config {
    const char *socket_dir; /* option `socket`: folder that holds bbflow-UID/; NULL: $XDG_RUNTIME_DIR, /tmp, /dev/shm */
    pid_t pid;              /* names the socket: BASE/bbflow-UID/PID.sock, folder 0700 */
    size_t max_clients;
    const char *probe_id;   /* the tracker's UUID: LIST_PROBES names "UUID [bbflow]" */
    void *ctx;
    /* EVENT name ("json", "tree gc", …). Emit with bbf_reply_*; an unknown event is answered with
     * a MESSAGE that names the known ones and STATUS(0, failed). */
    void (*event)(void *ctx, const char *name, struct bbf_reply *reply);
    /* SET_PARAMS with at least one key that is not a stock client's. All or nothing: return 0 and a
     * MESSAGE text in *answer, or BBF_E… with an error text in *answer. */
    int (*set)(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer);
};

/*
 * Bind, listen, start the thread. Errors: BBF_EIO / BBF_EPERMISSION (why filled: path and cause).
 * A stale socket of a dead process of that pid is replaced.
 */
int bbf_server_start(struct bbf_server **out, const struct bbf_server_config *config, char *why,
                     size_t why_size);
/* Stop the thread, close all, unlink the socket, free. Bounded: waits at most `timeout_ms` for a
 * callback that is under way, then leaves the thread (and its memory) behind and returns. */
void bbf_server_stop(struct bbf_server *server, unsigned timeout_ms);
/* In a forked child: close every fd of the server, unlink nothing. */
void bbf_server_forget(struct bbf_server *server);
const char *bbf_server_path(const struct bbf_server *server);
/* Connections served, refused, dropped for malformed input: for status. */
struct bbf_server_stats {
    uint64_t accepted, refused, malformed, commands;
};
void bbf_server_get_stats(const struct bbf_server *server, struct bbf_server_stats *stats);

/* A text, sent as MESSAGE frames with time 0: whole lines, <= 1,024 bytes each, in order. */
void bbf_reply_text(struct bbf_reply *reply, const char *text, size_t len);
/* A document for our own client, sent as MESSAGE frames <= 1 MiB, not deflated. */
void bbf_reply_document(struct bbf_reply *reply, const char *text, size_t len);
/* ERROR(class "bbflow", message, stack) followed by STATUS(0, failed). */
void bbf_reply_error(struct bbf_reply *reply, const char *message);

#endif
