/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/http/conn.h - one connection: reads a request, waits for its document, writes the answer.
 *
 *   READING ──> WAITING ──> WRITING ──> READING …         keep-alive
 *      └── an answer that needs no document ─┘ └──> LEAVING     the client reads what was sent
 *
 * Threads: the server's. Times: CLOCK_MONOTONIC, milliseconds.
 */
#ifndef BBF_WIRE_HTTP_CONN_H
#define BBF_WIRE_HTTP_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "wire/http/answer.h"
#include "wire/http/config.h"
#include "wire/http/request.h"

/* Shared by those who write it. */
struct bbf_http_document {
    unsigned users;
    struct bbf_buf body;
    int64_t fresh_until_ms;
};
void bbf_http_document_drop(struct bbf_http_document *document); /* NULL is allowed */

enum bbf_http_state {
    BBF_HTTP_READING,
    BBF_HTTP_WAITING,
    BBF_HTTP_WRITING,
    BBF_HTTP_LEAVING,
    BBF_HTTP_GONE /* close it */
};

struct bbf_http_conn {
    int fd; /* -1: free */
    enum bbf_http_state state;
    int64_t since_ms; /* in this state */
    int64_t until_ms; /* then it is closed; WAITING: 503 */
    bool unread;      /* `in` may have a whole request */
    bool keeps, is_head;
    enum bbf_http_media media;
    size_t in_len, head_len, sent;
    struct bbf_http_document *document; /* of which it is a user; NULL: `line` is the body */
    const char *line;
    char in[BBF_HTTP_REQUEST_BYTES];
    char head[BBF_HTTP_HEAD_BYTES];
};

/* What a connection asks of its server. */
struct bbf_http_desk {
    const struct bbf_http_config *config;
    bool is_loopback;
    struct bbf_http_document *documents[BBF_HTTP_MEDIA];
    _Atomic uint64_t served, other, failed, malformed, late, crowded, cpu_ns;
};

void bbf_http_conn_open(struct bbf_http_conn *conn, const struct bbf_http_desk *desk, int fd,
                        int64_t now_ms);
void bbf_http_conn_close(struct bbf_http_conn *conn);
/* The events that it waits for, of poll(2). */
short bbf_http_conn_events(const struct bbf_http_conn *conn);
/* Do what can be done now: one read, one request, one write. */
void bbf_http_conn_step(struct bbf_http_conn *conn, struct bbf_http_desk *desk, short events,
                        int64_t now_ms);
/* Its document has been made; `is_made` false: could not be. */
void bbf_http_conn_answer(struct bbf_http_conn *conn, struct bbf_http_desk *desk, bool is_made,
                          int64_t now_ms);
/* Is its time over? Then it is answered or gone. */
void bbf_http_conn_expire(struct bbf_http_conn *conn, struct bbf_http_desk *desk, int64_t now_ms);

#endif
