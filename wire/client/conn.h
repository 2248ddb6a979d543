/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/client/conn.h - the client's end of a conversation, over a Unix socket or TCP, in BTrace
 * protocol v2 or v1: blocking, with a time-out for each wait. Source: docs/btrace-wire.md 2
 * (authentication, choice of the protocol), 5 (conversations).
 *
 * Threads: one owner. Errors: BBF_E… with `why` filled for a person.
 */
#ifndef BBF_WIRE_CLIENT_CONN_H
#define BBF_WIRE_CLIENT_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/btrace/command.h"

struct bbf_conn;

/* AUTO: BTR2; when it is not answered by BTR2, a new connection and v1. */
enum bbf_protocol { BBF_PROTOCOL_AUTO, BBF_PROTOCOL_1, BBF_PROTOCOL_2 };

enum {
    BBF_NEGOTIATE_MS = 5000, /* what a stock client waits for the answer to BTR2 */
    BBF_CONN_RATE = 4096     /* bytes a second that the slowest line brings */
};

/* Where and how; all borrowed for the call. 0 and NULL are the defaults of what has one. */
struct bbf_conn_config {
    const char *path; /* of a Unix socket; NULL: TCP */
    const char *host; /* a name or an address, IPv6 without brackets */
    const char *port; /* decimal */
    enum bbf_protocol protocol;
    unsigned timeout_ms;  /* of each wait; BTR2's answer: at most BBF_NEGOTIATE_MS */
    const uint8_t *token; /* is sent first, over TCP only; NULL: none */
    size_t token_len;
    bool token_anywhere; /* also to an address that is not loopback */
    size_t deflate_over; /* of MESSAGEs that we send; 0: BBF_DEFLATE_OVER */
    uint32_t compress;   /* v2: ask our agent to deflate MESSAGEs over so many bytes; 0: no */
    uint64_t max_answer; /* bytes of an answer, inflated; 0: any number */
};

/*
 * Connect, authenticate, agree on a protocol. BBF_ENOTFOUND (no socket, no such host, nobody
 * answers), BBF_EPERMISSION (another user's, a token is missing or wrong, or would leave this
 * machine), BBF_ETIMEOUT, BBF_EVERSION (something else answers), BBF_EREFUSED, BBF_EIO.
 */
int bbf_conn_open(struct bbf_conn **out, const struct bbf_conn_config *config, char *why,
                  size_t why_size);
void bbf_conn_close(struct bbf_conn *conn);                            /* NULL is allowed */
void bbf_conn_set_timeout(struct bbf_conn *conn, unsigned timeout_ms); /* from the next wait on */
/* The agent's process, as the kernel names it here; 0: over TCP. */
pid_t bbf_conn_pid(const struct bbf_conn *conn);
/* BBF_PROTOCOL_1 or _2. */
enum bbf_protocol bbf_conn_protocol(const struct bbf_conn *conn);

int bbf_conn_send(struct bbf_conn *conn, const struct bbf_command *command, char *why,
                  size_t why_size);
/* The next command of an answer, which begins at the last bbf_conn_send(). BBF_ELIMIT: it is longer
 * than max_answer. BBF_ETIMEOUT: nothing came for a whole time-out, or what came is slower than
 * BBF_CONN_RATE for longer than one: an answer ends, whoever sends it. */
int bbf_conn_receive(struct bbf_conn *conn, struct bbf_command *out, char *why, size_t why_size);
/* The same for as long as it takes, or until stop_fd can be read: BBF_EMORE, *out empty, and the
 * connection is as good as before. */
int bbf_conn_receive_until(struct bbf_conn *conn, int stop_fd, struct bbf_command *out, char *why,
                           size_t why_size);

/* ---- Conversations (design.md: serving)
 * --------------------------------------------------------------- */

/* A command of one text: EVENT, RECONNECT, DISCONNECT. */
int bbf_conn_send_text(struct bbf_conn *conn, enum bbf_command_type type, const char *text,
                       char *why, size_t why_size);
/* LIST_PROBES (BBF_CMD_LIST_FAILED_EXTENSIONS works too): the answer, to be freed. */
int bbf_conn_list(struct bbf_conn *conn, enum bbf_command_type type, struct bbf_command *answer,
                  char *why, size_t why_size);
/*
 * RECONNECT to a probe; NULL: the first of class "bbflow" that LIST_PROBES names. BBF_ENOTFOUND
 * (there is none), BBF_EREFUSED.
 */
int bbf_conn_bind(struct bbf_conn *conn, const char *probe, char *why, size_t why_size);

/*
 * A whole conversation: bind, EVENT name, DISCONNECT; the MESSAGE texts, concatenated, go to
 * *document. BBF_EREFUSED when the agent answered ERROR (why = its message).
 */
int bbf_conn_event(struct bbf_conn *conn, const char *name, struct bbf_buf *document, char *why,
                   size_t why_size);
/* The same, each command of the answer given to `show` as it comes (borrowed), the last DISCONNECT
 * not. `probe` as for bbf_conn_bind(). */
int bbf_conn_ask(struct bbf_conn *conn, const char *probe, const char *name, void *ctx,
                 void (*show)(void *ctx, const struct bbf_command *command), char *why,
                 size_t why_size);
/* SET_PARAMS name=value…; the agent's answer (MESSAGE texts or the ERROR's) goes to *answer.
 * BBF_EREFUSED when it failed. */
int bbf_conn_set(struct bbf_conn *conn, const struct bbf_entry *params, size_t n,
                 struct bbf_buf *answer, char *why, size_t why_size);

/* Where sockets live: calls `found` for each BASE/bbflow-UID/PID.sock of the own uid (root: every
 * uid and /proc/PID/root/…) that somebody answers on; sockets that nobody answers on are removed
 * when they are ours. */
void bbf_conn_discover(void *ctx, void (*found)(void *ctx, pid_t pid, uid_t uid, const char *path));

#endif
