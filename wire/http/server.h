/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/http/server.h - a small HTTP/1.1 server for one document in two media types (GET and HEAD
 * of /metrics), which another thread makes (ADR 60). Its one native thread only moves bytes: it
 * never waits for a client nor for the maker of the document.
 *
 *   client ── request ──> server ── want() ──> maker
 *          <── answer ──  server <── publish() ──
 *
 * Bounds: clients, bytes of a request, and the time of each state of a connection. A full server
 * closes the connection that has waited longest for a request, so that idle clients shut no other
 * out. One round serves each client once: no client is served before another twice.
 *
 * Threads: start and stop by one at a time; publish and the numbers: any.
 */
#ifndef BBF_WIRE_HTTP_SERVER_H
#define BBF_WIRE_HTTP_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "wire/http/config.h"

struct bbf_http;

/* Bind, listen, start the thread. BBF_EIO, BBF_EPERMISSION, BBF_ENOMEM; `why`: address and cause.
 */
int bbf_http_start(struct bbf_http **out, const struct bbf_http_config *config, char *why,
                   size_t why_size);
/* Stop the thread, close all, free; NULL is allowed. If the thread has not ended in `timeout_ms`,
 * because the machine is too busy, it is left to end and its memory is not freed. */
void bbf_http_stop(struct bbf_http *http, unsigned timeout_ms);
/* In a forked child: close every descriptor. Only close(2) is called. The child must not call
 * another function with it. */
void bbf_http_forget(struct bbf_http *http);
uint16_t bbf_http_port(const struct bbf_http *http);

/* The document that was wanted, served until `fresh_ms` from now. Takes the memory of `body`, which
 * is empty afterwards. NULL: none could be made, those who wait get 503. */
void bbf_http_publish(struct bbf_http *http, enum bbf_http_media media, struct bbf_buf *body,
                      unsigned fresh_ms);

struct bbf_http_stats {
    uint64_t served;    /* answers with the document, or for HEAD its header */
    uint64_t other;     /* answers 404, 405, 421 */
    uint64_t failed;    /* answers 503 */
    uint64_t malformed; /* answers 400, 431, 505 */
    uint64_t late;      /* closed: the request did not end, or the answer was not read */
    uint64_t crowded;   /* closed for others, or not accepted */
    uint64_t cpu_ns;    /* processor time of its thread when it last waited */
};
void bbf_http_get_stats(const struct bbf_http *http, struct bbf_http_stats *stats);

#endif
