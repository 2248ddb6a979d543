/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/session_io.h - one connection of the command server: its state, how it begins and
 * ends, and what is sent on it. Private to the server.
 *
 *   AUTH --BTA1, token--> NEGOTIATE --BTR2 or AC ED 00 05--> HANDSHAKE --RECONNECT--> BOUND
 *   --DISCONNECT, EXIT, refusal--> LINGER
 *
 * AUTH only over TCP with a token. A TCP connection is `waiting` until it has sent the token or, if
 * none is required, chosen the protocol; it has auth_ms for that, however slowly it sends. v2 and
 * v1 differ in the bytes alone: `reader` is NULL for v2.
 *
 * LINGER: the answer is still being sent; then our side is shut, and all input from the client is
 * discarded until it closes or a second has passed. (A close with unread input would destroy the
 * answer; a stock client sends EXIT after its DISCONNECT, facts 5.)
 *
 * Invariants: only the server's thread touches a session; `fd` alone is read by
 * bbf_server_forget(). Output over HIGH_WATER stops the reading of commands, so that a client's
 * unread answers are bounded by one command's answer. Before the token only the token is read, into
 * memory that does not move and is wiped. All sessions' unread input together is bounded.
 *
 * The live stream flows to a bound session once it has said nothing for a second, or has asked for
 * it (EVENT "watch"): never into a document that is about to be asked for. A client's place in it
 * is a number (wire/server/live.h), so that one that does not read costs nothing.
 *
 * Units: milliseconds of CLOCK_MONOTONIC.
 */
#ifndef BBF_WIRE_SERVER_SESSION_IO_H
#define BBF_WIRE_SERVER_SESSION_IO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "wire/btrace/command.h"
#include "wire/btrace/v1/v1.h"
#include "wire/server/config.h"
#include "wire/server/live.h"
#include "wire/server/sendq.h"

enum bbf_session_state { BBF_AUTH, BBF_NEGOTIATE, BBF_HANDSHAKE, BBF_BOUND, BBF_LINGER };

/* What all sessions of a server share. */
struct bbf_service {
    struct bbf_server_config config; /* strings owned by the server, defaults filled in */
    atomic_uint_fast64_t accepted, refused, malformed, commands, dropped, unauthorized, lost;
    atomic_uint_fast64_t crowded, late;
    struct bbf_session *sessions; /* max_clients + max_waiting slots and one, never moved */
    size_t slots;
    uint64_t opened; /* connections so far: the number of the newest */
    uint8_t *token;  /* of clients over TCP; NULL: none is asked for */
    size_t token_len;
    size_t input; /* bytes that all sessions' input takes */
    atomic_size_t most_input;
    /* While an answer waits for its client, which is busy: look after the others, at most for
     * WAIT_MS, or until `fd` can be written. False: the server is to stop. */
    bool (*serve_others)(struct bbf_service *service, int fd);
    struct bbf_live live;
};

/* The user of a TCP connection (wire/server/admit.c). */
enum bbf_peer { BBF_PEER_NOT_ASKED, BBF_PEER_KNOWN, BBF_PEER_UNKNOWN };

struct bbf_session {
    atomic_int fd; /* -1: free */
    bool waiting;  /* over TCP, and no client yet: wire/server/admit.h */
    enum bbf_peer peer;
    uid_t uid;       /* if the peer is known */
    uint64_t number; /* a higher one was opened later */
    enum bbf_session_state state;
    bool tcp;
    bool busy;   /* inside a callback: its output may move, nothing else */
    bool broken; /* to be closed without another message */
    bool eof;    /* the client will send no more */
    bool shut;   /* we will send no more */
    struct bbf_buf in;
    size_t need; /* bytes at the start of `in` below which decoding is not tried */
    size_t want; /* v1: bytes below which decoding is in vain, want <= need */
    int64_t
        retry; /* v1: the time from which the sender counts as pausing, so that `want` is enough */
    int64_t retry_ms;
    struct bbf_v1_reader *reader; /* NULL: v2 */
    struct bbf_sendq out;
    size_t deflate_over; /* of v2's MESSAGEs; SIZE_MAX: never */
    int64_t deadline;    /* of the state; INT64_MAX: none */
    int64_t moved;       /* when the output last moved, or began to wait */
    bool asked;          /* some of the output is an answer: the stall limit holds */
    bool watching;       /* EVENT "watch" */
    atomic_bool begun;   /* it hears the live stream; read by any thread */
    int64_t live_at;     /* when the live stream may flow; INT64_MAX: never */
    uint64_t place;      /* in the live stream */
};

enum { BBF_WAIT_MS = 100 }; /* a look at the clock while a client does not read */

/* One callback's output. */
struct bbf_reply {
    struct bbf_service *service;
    struct bbf_session *session;
};

/* `tcp`: from a TCP socket, so that a token is asked for if there is one. */
void bbf_session_open(struct bbf_service *service, struct bbf_session *session, int fd, bool tcp);
void bbf_session_close(struct bbf_session *session);
/* Write, as far as it goes without waiting. */
void bbf_session_flush(struct bbf_session *session);
/* Send only what is queued, then end. */
void bbf_session_linger(struct bbf_session *session);
/* A bound client has spoken: the stream waits until it is quiet. */
void bbf_session_spoke(struct bbf_session *session);

/* Queue a frame; a session that takes too much becomes broken. */
void bbf_session_emit(struct bbf_service *service, struct bbf_session *session,
                      const struct bbf_command *command);
/* "n messages lost", into the live stream. */
void bbf_session_lost(struct bbf_service *service, struct bbf_session *session, int64_t time_ms,
                      uint64_t n);
/* ERROR alone. */
void bbf_session_error(struct bbf_service *service, struct bbf_session *session,
                       const char *message);

#endif
