/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/client/conn_io.h - a client's connection from the inside: its bytes. Private to
 * wire/client/, where conn.c makes commands of them, dial.c begins a connection and ask.c has
 * conversations on it.
 *
 * Invariant: in.data[pos..len) is received and not yet consumed; `need` counts from pos.
 *
 * Threads: one owner. Units: milliseconds. Errors: BBF_E…, `why` filled.
 */
#ifndef BBF_WIRE_CLIENT_CONN_IO_H
#define BBF_WIRE_CLIENT_CONN_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/buf.h"
#include "wire/btrace/pieces.h"
#include "wire/btrace/v1/v1.h"

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
    void (*arrived)(uint64_t bytes);
    bool spoke; /* v1: a command was sent, so the next begins with a reset */
    bool over;  /* the conversation was ended by DISCONNECT */
};

/* Fill `why`, return `err`. */
int bbf_conn_fail(char *why, size_t why_size, int err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int bbf_conn_send_all(struct bbf_conn *conn, const void *data, size_t len, char *why,
                      size_t why_size);
/* Send the pieces, and use the list up. */
int bbf_conn_send_pieces(struct bbf_conn *conn, struct iovec *piece, size_t n, char *why,
                         size_t why_size);
/* Receive at least one byte more into `in`. With a stop_fd there is no time limit, and BBF_EMORE
 * means that it can be read. */
enum { BBF_CONN_NO_STOP = -1 };
int bbf_conn_receive_some(struct bbf_conn *conn, int stop_fd, char *why, size_t why_size);
/* Receive until there are at least `n` bytes from pos. Errors: BBF_ECLOSED, BBF_ETIMEOUT. */
int bbf_conn_await(struct bbf_conn *conn, size_t n, char *why, size_t why_size);

#endif
