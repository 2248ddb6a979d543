/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/http/config.h - what the HTTP server is started with: address, bounds, and who makes the
 * document.
 */
#ifndef BBF_WIRE_HTTP_CONFIG_H
#define BBF_WIRE_HTTP_CONFIG_H

#include <stddef.h>

#include "core/address.h"
#include "wire/http/accept.h"

struct bbf_http_config {
    struct bbf_address address;
    size_t max_clients;  /* connections at once, 1 or more */
    unsigned request_ms; /* from the first byte of a request to its last */
    unsigned idle_ms;    /* without a byte */
    unsigned answer_ms;  /* for the document, then 503 */
    unsigned write_ms;   /* for the client to read the answer */
    /* A document is needed. In the server's thread: it must not wait. Called again for each
     * request until there is one. */
    void (*want)(void *ctx, enum bbf_http_media media);
    void *ctx;
};

#endif
