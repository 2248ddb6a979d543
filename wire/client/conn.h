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

/* AUTO: try BTR2; if the answer is not BTR2, make a new connection and use v1. */
enum bbf_protocol { BBF_PROTOCOL_AUTO, BBF_PROTOCOL_1, BBF_PROTOCOL_2 };

enum {
    BBF_NEGOTIATE_MS = 5000, /* a stock client's time-out for the answer to BTR2 */
    BBF_CONN_RATE = 4096     /* bytes per second of the slowest line that we accept */
};

/* Where and how to connect; all borrowed for the call. 0 and NULL mean the default, where there is
 * one. */
struct bbf_conn_config {
    const char *path; /* of a Unix socket; NULL: TCP */
    const char *host; /* a name or an address, IPv6 without brackets */
    const char *port; /* decimal */
    enum bbf_protocol protocol;
    unsigned timeout_ms;  /* of each wait; BTR2's answer: at most BBF_NEGOTIATE_MS */
    const uint8_t *token; /* sent first, over TCP only; NULL: none */
    size_t token_len;
    bool token_anywhere; /* also to an address that is not loopback */
    size_t deflate_over; /* for MESSAGEs that we send; 0: BBF_DEFLATE_OVER */
    uint32_t compress; /* v2: ask our agent to deflate MESSAGEs over this number of bytes; 0: no */
    uint64_t max_answer;             /* bytes of an answer, inflated; 0: any number */
    void (*arrived)(uint64_t bytes); /* called after each that was received; NULL: not */
};

/*
 * Connect, authenticate, agree on a protocol. Errors: BBF_ENOTFOUND (no socket, no such host, no
 * answer), BBF_EPERMISSION (another user's socket; a token that is missing, wrong or would leave
 * this machine), BBF_ETIMEOUT, BBF_EVERSION (the server is not BTrace), BBF_EREFUSED, BBF_EIO.
 */
int bbf_conn_open(struct bbf_conn **out, const struct bbf_conn_config *config, char *why,
                  size_t why_size);
void bbf_conn_close(struct bbf_conn *conn);                            /* NULL is allowed */
void bbf_conn_set_timeout(struct bbf_conn *conn, unsigned timeout_ms); /* from the next wait on */
/* The agent's process id in our own namespace, from the kernel; 0: over TCP. */
pid_t bbf_conn_pid(const struct bbf_conn *conn);
/* BBF_PROTOCOL_1 or _2. */
enum bbf_protocol bbf_conn_protocol(const struct bbf_conn *conn);

int bbf_conn_send(struct bbf_conn *conn, const struct bbf_command *command, char *why,
                  size_t why_size);
/* Receive the next command of an answer, which begins at the last bbf_conn_send(). BBF_ELIMIT: the
 * answer is longer than max_answer. BBF_ETIMEOUT: nothing came for a whole time-out, or the answer
 * was slower than BBF_CONN_RATE for longer than that. So every answer ends, even from a hostile
 * peer. */
int bbf_conn_receive(struct bbf_conn *conn, struct bbf_command *out, char *why, size_t why_size);
/* The same without a time-out, until stop_fd can be read: then BBF_EMORE, *out is empty, and the
 * connection can still be used. */
int bbf_conn_receive_until(struct bbf_conn *conn, int stop_fd, struct bbf_command *out, char *why,
                           size_t why_size);

/* ---- Conversations (design.md: serving)
 * --------------------------------------------------------------- */

/* A command of one text: EVENT, RECONNECT, DISCONNECT. */
int bbf_conn_send_text(struct bbf_conn *conn, enum bbf_command_type type, const char *text,
                       char *why, size_t why_size);
/* Send LIST_PROBES (or BBF_CMD_LIST_FAILED_EXTENSIONS) and receive the answer, which the caller
 * frees. */
int bbf_conn_list(struct bbf_conn *conn, enum bbf_command_type type, struct bbf_command *answer,
                  char *why, size_t why_size);
/*
 * RECONNECT to a probe; NULL: the first probe of class "bbflow" that LIST_PROBES names. Errors:
 * BBF_ENOTFOUND (there is none), BBF_EREFUSED.
 */
int bbf_conn_bind(struct bbf_conn *conn, const char *probe, char *why, size_t why_size);

/*
 * A whole conversation: bind, EVENT name, DISCONNECT; appends the MESSAGE texts to *document.
 * BBF_EREFUSED: the agent answered ERROR (why = its message).
 */
int bbf_conn_event(struct bbf_conn *conn, const char *name, struct bbf_buf *document, char *why,
                   size_t why_size);
/* The same, but passes each command of the answer to `show` when it arrives (borrowed), except the
 * last DISCONNECT. `probe` as for bbf_conn_bind(). */
int bbf_conn_ask(struct bbf_conn *conn, const char *probe, const char *name, void *ctx,
                 void (*show)(void *ctx, const struct bbf_command *command), char *why,
                 size_t why_size);
/* SET_PARAMS name=value…; stores the agent's answer (MESSAGE texts or the ERROR's) in *answer.
 * BBF_EREFUSED: it failed. */
int bbf_conn_set(struct bbf_conn *conn, const struct bbf_entry *params, size_t n,
                 struct bbf_buf *answer, char *why, size_t why_size);

/* Find the sockets: calls `found` for each BASE/bbflow-UID/PID.sock of the own uid (root: every uid
 * and /proc/PID/root/…) at which a process answers. Sockets of the own uid without such a process
 * are removed. */
void bbf_conn_discover(void *ctx, void (*found)(void *ctx, pid_t pid, uid_t uid, const char *path));

#endif
