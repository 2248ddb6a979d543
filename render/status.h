/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/status.h - the text of `bbflow status`: the agent fills a struct, and names are escaped
 * here (core/safe.h).
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_STATUS_H
#define BBF_RENDER_STATUS_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* How many classes or methods had a result, and its name. */
struct bbf_status_row {
    uint64_t count;
    const char *result;
};

/* Strings are the caller's and are never NULL. */
/* handlers=: the counts are those of java-shim/handlers, Pusher.report(), in its order. */
enum bbf_handlers_state {
    BBF_HANDLERS_STATE_OFF,
    BBF_HANDLERS_STATE_WAITS, /* for the application to load the API */
    BBF_HANDLERS_STATE_ON,
    BBF_HANDLERS_STATE_FAILED
};
enum {
    BBF_HANDLERS_NOW,
    BBF_HANDLERS_COPIES, /* of the API */
    BBF_HANDLERS_PUSHES,
    BBF_HANDLERS_FAILURES,
    BBF_HANDLERS_SKIPS,
    BBF_HANDLERS_BUSY,
    BBF_HANDLERS_REFUSED, /* handlers and loaders beyond the limits */
    BBF_HANDLERS_COUNTS
};
struct bbf_handlers_status {
    enum bbf_handlers_state state;
    uint64_t counts[BBF_HANDLERS_COUNTS];
    char why[256]; /* the last failure; "": none */
};

struct bbf_status {
    const struct bbf_snapshot *snapshot;
    const char *version;                /* bbflow's */
    int java, oldest_java, newest_java; /* of this JVM; those that this bbflow is tested with */
    struct {
        bool wanted; /* option port= */
        uint16_t number;
        const char *why; /* there is none; "" */
    } port;
    struct {
        const char *url, *why; /* option metrics=; "": it is off, or not served and why */
        uint64_t served, other, failed, malformed, late, crowded;
    } metrics;
    struct {
        size_t count, bytes; /* replaced settings that threads may still read */
    } old_settings;
    struct {
        unsigned known; /* classes that are recognised by the object's header */
        enum { BBF_HEADER_UNKNOWN, BBF_HEADER_CLASS_WORD, BBF_HEADER_COMPACT } header;
    } kinds;
    struct {
        uint64_t looked_at, ns;                         /* classes, and what that took */
        const struct bbf_status_row *classes, *methods; /* in order; rows of 0 are left out */
        size_t n_classes, n_methods;
        uint64_t failed; /* classes that could not be retransformed */
    } rewriting;
    uint64_t scans, conversions; /* of the agent thread, since the start */
    uint64_t log_lost;           /* lines */
    struct {
        bool runs;
        const char *path;                      /* of its socket; "": none */
        uint16_t port;                         /* 0: none */
        uint64_t accepted, refused, malformed; /* connections */
        uint64_t unauthorized, late, crowded;  /* over TCP */
        uint64_t dropped, lost;                /* connections; live messages */
    } server;
    struct {
        bool on;             /* option lttng= */
        uint16_t root, user; /* ports of the daemons that have registered the JVM; 0: none */
        bool records;        /* the tracer is loaded */
    } lttng;
    struct {
        bool on;           /* option jmx= */
        const char *state; /* a few words */
        const char *why;   /* "": nothing to add */
    } jmx;
    struct bbf_handlers_status handlers;
};

void bbf_status_text(struct bbf_buf *out, const struct bbf_status *status);

#endif
