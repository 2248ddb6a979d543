/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/server.h - the command server: sockets, connections, negotiation, the BTrace v2
 * conversation (design.md: serving). One native thread of its own with poll(2); the application's
 * threads never meet it. Testable without a JVM, because callbacks implement the commands.
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

#include "wire/server/config.h"
#include "wire/server/reply.h"

struct bbf_server;

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

#endif
