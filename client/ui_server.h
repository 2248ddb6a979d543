/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/ui_server.h - the HTTP server of `bbflow ui`, on 127.0.0.1 alone:
 *   /       the live page; with ?key= in the place of the token, once, a redirect to it
 *   /state  what the page asks for again and again: a small JSON document
 *   /data   the report and the snapshot (render/html.h), with their number
 * Each needs ?token=, a Host that is an address or localhost (a page of another site whose name
 * means this machine has its own name there), and GET. libmicrohttpd reads and writes; it has no
 * thread, so nothing is answered but in bbf_ui_server_run().
 *
 * Threads: one. Units: milliseconds.
 */
#ifndef BBF_CLIENT_UI_SERVER_H
#define BBF_CLIENT_UI_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "client/mhd_api.h"
#include "core/buf.h"
#include "wire/token.h"

enum {
    BBF_UI_CONNECTIONS = 32,
    BBF_UI_REQUEST_BYTES = 16384,
    BBF_UI_REQUEST_MS = 10000, /* until a request must be there */
    BBF_UI_ANSWER_MS = 60000   /* until its answer must be gone */
};

struct bbf_ui_server {
    struct bbf_mhd api;
    struct bbf_mhd_daemon *daemon;
    int fd; /* to poll for input */
    unsigned port;
    char token[BBF_TOKEN_TEXT];
    char
        key[BBF_TOKEN_TEXT]; /* for one use, because a browser's command line is public; "": used */
    struct bbf_buf page;
    struct bbf_mhd_response *data; /* owns data_text */
    const char *data_text;
    size_t data_len;
    unsigned sequence; /* of the data; 0: no data yet */
    unsigned runs_due; /* runs that follow at once: libmicrohttpd listens again in one of these */
    void (*state)(void *ctx, struct bbf_buf *to); /* appends the JSON of /state */
    void *ctx;
    struct bbf_ui_connection {
        int fd; /* -1: unused */
        bool asked;
        int64_t began_ms;
    } connections[BBF_UI_CONNECTIONS];
};

/* Open libmicrohttpd: of `names`, up to NULL, or the usual ones. BBF_ENOTFOUND, with the remedy in
 * `why`. */
int bbf_mhd_open(struct bbf_mhd *api, const char *const *names, char *why, size_t why_size);

/* Listen on `port` (0: any free one), with a new token. An exit code; if it is not 0, the reason is
 * printed. `state` is called with `ctx` when a browser asks. Close it also after a failure. */
int bbf_ui_server_open(struct bbf_ui_server *server, unsigned port,
                       void (*state)(void *ctx, struct bbf_buf *to), void *ctx);
void bbf_ui_server_close(struct bbf_ui_server *server);

/* The data from now on; the server takes the buffer's memory. False: no memory, the old one stays.
 */
bool bbf_ui_server_set(struct bbf_ui_server *server, struct bbf_buf *data);

/* Answer what can be answered without waiting, and end connections that take too long. */
void bbf_ui_server_run(struct bbf_ui_server *server);

/* How long poll() may wait for the server's sake; -1: for ever. */
int bbf_ui_server_wait(const struct bbf_ui_server *server);

/* "http://127.0.0.1:PORT/?token=TOKEN", or with the key. */
enum { BBF_UI_ADDRESS = 100 };
void bbf_ui_server_address(const struct bbf_ui_server *server, bool with_key,
                           char to[BBF_UI_ADDRESS]);

#endif
