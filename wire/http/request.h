/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/http/request.h - one HTTP/1 request from a buffer (RFC 9112). Strict: what two programs
 * could read differently (a folded line, a blank before a colon, two hosts, a NUL) is an error,
 * never a guess.
 *
 * Threads: any, no state. The text is not copied.
 */
#ifndef BBF_WIRE_HTTP_REQUEST_H
#define BBF_WIRE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/http/accept.h"

/* A request with its header; a longer one is refused. */
enum { BBF_HTTP_REQUEST_BYTES = 8192 };

struct bbf_http_request {
    bool is_get, is_head;
    const char *path; /* without the query; in the buffer, not NUL-terminated */
    size_t path_len;
    const char *host; /* with the port; NULL: HTTP/1.0 without one */
    size_t host_len;
    bool keeps;    /* the connection may carry another request */
    bool has_body; /* which follows, and is not read */
    enum bbf_http_media media;
    int status; /* of the answer to a malformed one: 400, 431, 505 */
};

/*
 * Read the request that begins at `data`. BBF_OK: *used bytes are its; BBF_EMORE: it has not ended;
 * BBF_EFORMAT: malformed or too long, `status` is set, and the connection is of no more use.
 */
int bbf_http_parse(struct bbf_http_request *request, const char *data, size_t len, size_t *used);

/* Is the host an IP address or localhost? Then a page of another site that a browser shows, whose
 * name was made to mean this host, has not sent it. */
bool bbf_http_host_is_local(const char *host, size_t len);

#endif
