/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/server.h - the command server: sockets, connections, negotiation, the BTrace v2
 * conversation (design.md: serving). One native thread of its own with poll(2); the application's
 * threads never meet it. Testable without a JVM: what the commands mean is asked of callbacks.
 *
 * Threads: start/stop by the agent; callbacks run in the server's thread and may block (they then
 * delay other clients, never the application). A callback may be called for another client while
 * one waits inside bbf_reply_part(), up to four deep.
 */
#ifndef BBF_WIRE_SERVER_H
#define BBF_WIRE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/btrace/command.h"
#include "wire/token.h"

struct bbf_server;
struct bbf_reply; /* one conversation's output, valid during a callback only */

struct bbf_server_config {
    const char *socket_dir; /* option `socket`: folder that holds bbflow-UID/; NULL:
                               $XDG_RUNTIME_DIR, /tmp, /dev/shm */
    pid_t pid;              /* names the socket: BASE/bbflow-UID/PID.sock, folder 0700 */
    size_t max_clients;     /* over TCP a quarter less: strangers cannot shut the socket's owner
                               out, unless there is one place only */
    size_t max_waiting; /* over TCP, before the token: places of their own (wire/server/admit.h); 0:
                           64, or max_clients twice if that is more */
    bool tcp;           /* listen on 127.0.0.1, too, never on another address */
    uint16_t port;      /* 0: any */
    const struct bbf_token *token; /* asked of clients over TCP; NULL: nothing is asked */
    size_t queue;                  /* messages that the live stream keeps for all clients (5,000) */
    const char *probe_id;          /* the tracker's UUID: LIST_PROBES names "UUID [bbflow]" */
    void *ctx;
    /* EVENT name ("json", "tree gc", …), all but "watch": that is the live stream. Emit with
     * bbf_reply_*; an unknown event is answered with a MESSAGE that names the known ones and
     * STATUS(0, failed). */
    void (*event)(void *ctx, const char *name, struct bbf_reply *reply);
    /* A client begins to hear the live stream: say what it has to know of before, by
     * bbf_reply_command(); the answer is the place where the stream goes on (what
     * bbf_server_published() had). NULL: it begins with the oldest message that is kept. */
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

/*
 * Bind, listen, start the thread. A server that can listen in one of two places starts; `why` then
 * says what is wrong with the other, else it is "". Errors: BBF_EIO / BBF_EPERMISSION (why filled:
 * path and cause), BBF_ELIMIT (fewer than 8 descriptors would be left), BBF_ENOMEM, BBF_EINVAL (no
 * probe_id, max_clients 0). A stale socket of a dead process of that pid is replaced; one that
 * answers is left alone. The strings of the config are copied.
 */
int bbf_server_start(struct bbf_server **out, const struct bbf_server_config *config, char *why,
                     size_t why_size);
/* Stop the thread, close all, unlink the socket, free. Bounded: waits at most `timeout_ms` for a
 * callback that is under way, then leaves the thread (and its memory) behind and returns; the
 * thread frees them if the callback ever returns, and calls no other. NULL is allowed. */
void bbf_server_stop(struct bbf_server *server, unsigned timeout_ms);
/* In a forked child: close every fd of the server, unlink nothing. Only close(2) is called, so it
 * is good for pthread_atfork. bbf_server_stop() in that child then does nothing. */
void bbf_server_forget(struct bbf_server *server);
const char *bbf_server_path(const struct bbf_server *server); /* "": no Unix socket */
uint16_t bbf_server_port(const struct bbf_server *server);    /* 0: no TCP */
/* Clients that are connected now. Any thread. */
size_t bbf_server_clients(const struct bbf_server *server);
/* A line for the live stream, at most 1,024 bytes, with the time of now. Any thread but a forked
 * child's; never waits for a client. false: no memory, it is not published. */
bool bbf_server_publish(struct bbf_server *server, const char *text, size_t len);
/* How many were published: the next one's place. Any thread. */
uint64_t bbf_server_published(const struct bbf_server *server);
/* Clients that hear the live stream now. Any thread. */
size_t bbf_server_watchers(const struct bbf_server *server);
/* Forget what was published. Any thread. */
void bbf_server_unpublish(struct bbf_server *server);
/* Connections served, refused (too many, another user), dropped for malformed input; commands
 * received; connections dropped because they did not read. For status. Any thread. */
struct bbf_server_stats {
    uint64_t accepted, refused, malformed, commands;
    uint64_t dropped;
    uint64_t unauthorized; /* no or a wrong token */
    uint64_t crowded;      /* waiting over TCP, and dropped for others (wire/server/admit.h) */
    uint64_t late;         /* neither token nor protocol within auth_ms */
    size_t most_input;     /* bytes that all clients' unread input, and what v1's readers keep of
                              it, ever took at once */
    uint64_t lost;         /* live messages that clients were too slow for */
    uint64_t cpu_ns;       /* processor time of its thread when it last waited */
};
void bbf_server_get_stats(const struct bbf_server *server, struct bbf_server_stats *stats);

/* Any other answer, in the client's protocol: a grid, a map, a number. Names, cells and values must
 * not be null (a stock client ends at a null cell); column names are not shown by stock clients. */
void bbf_reply_command(struct bbf_reply *reply, const struct bbf_command *command);
/* A text, sent as MESSAGE frames with time 0: whole lines, <= 1,024 bytes each, in order. */
void bbf_reply_text(struct bbf_reply *reply, const char *text, size_t len);
/* A document for our own client, sent as MESSAGE frames <= 1 MiB. */
void bbf_reply_document(struct bbf_reply *reply, const char *text, size_t len);
/* The same for a part of a document that is made as it goes out: waits, while the other clients are
 * served, until no more than 1 MiB is left to send. BBF_ECLOSED: the client has read nothing for 5
 * s, or is gone; nothing more can be sent. */
int bbf_reply_part(struct bbf_reply *reply, const char *text, size_t len);
/* ERROR(class "bbflow", message, stack) followed by STATUS(0, failed). */
void bbf_reply_error(struct bbf_reply *reply, const char *message);
/* STATUS(0, ok | failed): the end of an answer that was a MESSAGE, such as "unknown event". */
void bbf_reply_status(struct bbf_reply *reply, bool ok);

#endif
