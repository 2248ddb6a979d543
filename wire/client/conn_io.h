/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/client/conn_io.h - the bytes of a client's connection. Private to wire/client/conn.c (bytes
 * and commands), wire/client/dial.c (the beginning) and wire/client/ask.c (conversations).
 *
 * Invariant: in.data[pos..len) is received and not yet consumed; `need` counts from pos.
 *
 * Threads: one owner. Units: milliseconds. Errors: BBF_E…, `why` filled.
 */
#ifndef BBF_WIRE_CLIENT_CONN_IO_H
#define BBF_WIRE_CLIENT_CONN_IO_H

#include "wire/client/conn.h"
#include "wire/btrace/v1.h"

struct bbf_conn {
    int fd;
    unsigned timeout_ms;
    size_t deflate_over;
    struct bbf_buf in;
    struct bbf_pieces
        out; /* the command being sent; between commands empty, only the memory is kept */
    size_t pos;
    size_t need;                  /* bytes from pos below which decoding cannot succeed */
    struct bbf_v1_reader *reader; /* NULL: v2 */
    uint64_t max_answer;          /* bytes; 0: any number */
    uint64_t answered;            /* bytes of the commands since the last send, inflated */
    int64_t asked_ms;             /* when that was */
    bool spoke;                   /* v1: a command was sent, so the next begins with a reset */
    bool over;                    /* the conversation was ended by DISCONNECT */
};

/* Fill `why`, return `err`. */
int bbf_conn_say(char *why, size_t why_size, int err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int64_t bbf_conn_now_ms(void); /* CLOCK_MONOTONIC */
int bbf_conn_send_all(struct bbf_conn *conn, const void *data, size_t len, char *why,
                      size_t why_size);
/* Receive until there are at least `n` bytes from pos. Errors: BBF_ECLOSED, BBF_ETIMEOUT. */
int bbf_conn_await(struct bbf_conn *conn, size_t n, char *why, size_t why_size);

#endif
