/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/http.h - sends one body to a URL by libcurl: no redirect is followed (headers with secrets
 * would go to another host), TLS is verified, every wait has an end.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_HTTP_H
#define BBF_CLIENT_HTTP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/curl_api.h"
#include "core/buf.h"

/* Open the first of `names` (NULL at the end) that is there; NULL: the usual names of libcurl.
 * BBF_ENOTFOUND: none is; `why` says what to install. It stays open until the process ends. */
int bbf_http_open(struct bbf_curl *curl, const char *const *names, char *why, size_t why_size);

struct bbf_http_request {
    const char *method; /* "POST", "PUT" */
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    const char *body;
    size_t len;
    const char *ca_file;                  /* NULL: the system's */
    unsigned timeout_ms;                  /* of the whole exchange */
    unsigned connect_ms;                  /* of its beginning */
    const volatile sig_atomic_t *is_over; /* the exchange is given up once it is not 0 */
};

enum bbf_http_end {
    BBF_HTTP_DONE,    /* 2xx */
    BBF_HTTP_LATER,   /* worth another attempt: no connection, time-out, 408, 429, 502 to 504 */
    BBF_HTTP_REFUSED, /* another attempt would end the same way */
    BBF_HTTP_OVER     /* is_over */
};

enum { BBF_HTTP_ANSWER = 1 << 16 }; /* bytes of an answer that are kept */

struct bbf_http_answer {
    enum bbf_http_end end;
    int status;             /* 0: there was no answer */
    unsigned after_seconds; /* Retry-After; 0: none */
    struct bbf_buf body;    /* its first BBF_HTTP_ANSWER bytes; the caller frees it */
    char why[400];          /* not DONE: for a person; has neither header values nor credentials */
};

/* `answer` is overwritten. */
void bbf_http_send(const struct bbf_curl *curl, const struct bbf_http_request *request,
                   struct bbf_http_answer *answer);

/* The URL without user, password, query and fragment, for messages. */
void bbf_http_place(const char *url, char *to, size_t size);

#endif
