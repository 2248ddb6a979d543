/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/lttng/link.h - the connection to one session daemon, which is looked for, made, and made
 * again when it ends. It never blocks and never waits by itself: the owner polls its descriptor
 * (bbf_lttng_link_poll), at most until its time (due_ms), and calls bbf_lttng_link_work().
 *
 *   WAITING ──port found──> CONNECTING ──> OPEN ──the daemon's end, a limit, a time──> WAITING
 *
 * What a daemon can make it do is limited: BBF_LTTNG_COMMANDS_A_SECOND, after which it stops
 * reading until the second is over; BBF_LTTNG_PAYLOAD_MAX; BBF_LTTNG_NAMES_MAX;
 * BBF_LTTNG_ANSWERS_MAX, above which it stops reading until they are sent.
 *
 * Threads: one owner. Units: milliseconds of CLOCK_MONOTONIC.
 */
#ifndef BBF_WIRE_LTTNG_LINK_H
#define BBF_WIRE_LTTNG_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "wire/lttng/answer.h"
#include "wire/lttng/port.h"

enum {
    BBF_LTTNG_COMMANDS_A_SECOND = 1000,
    BBF_LTTNG_ANSWERS_MAX = 64 * 1024, /* bytes that the daemon has not read */
    BBF_LTTNG_FIND_MS = 2000,          /* between two looks for the port */
    BBF_LTTNG_RETRY_FIRST_MS = 500,    /* after a connection ended; twice as long each time */
    BBF_LTTNG_RETRY_MOST_MS = 8000,
    BBF_LTTNG_CONNECT_MS = 2000,
    BBF_LTTNG_STALL_MS = 30000 /* for the daemon's next byte of what it has begun */
};

enum bbf_lttng_phase { BBF_LTTNG_WAITING, BBF_LTTNG_CONNECTING, BBF_LTTNG_OPEN };

struct bbf_lttng_link {
    enum bbf_lttng_daemon daemon;
    enum bbf_lttng_phase phase;
    bool may_switch; /* from the version to the other, if the daemon speaks that */
    char path[PATH_MAX];
    uint32_t pid;
    uint16_t port;  /* 0: not known */
    int fd;         /* -1: none */
    int64_t due_ms; /* when work() has to be called, whatever poll(2) says */
    struct bbf_lttng_state state;
    struct bbf_buf in, out;
    int64_t second_ms; /* when the second began that `taken` counts commands of */
    unsigned taken;
    int64_t progress_ms;       /* when the daemon last sent or read something */
    unsigned failures;         /* connections in a row that ended before the daemon registered us */
    uint64_t chance;           /* of the jitter: never 0 */
    uint64_t malformed, ended; /* commands; connections */
};

/* `state` has version and loggers. false: there is no file to look for; the link stays WAITING. */
bool bbf_lttng_link_init(struct bbf_lttng_link *link, enum bbf_lttng_daemon daemon, uint32_t pid,
                         const struct bbf_lttng_state *state);
/* End the connection and give back all memory. */
void bbf_lttng_link_free(struct bbf_lttng_link *link);

/* What to poll(2) for. */
struct pollfd bbf_lttng_link_poll(const struct bbf_lttng_link *link);
/* Do what poll(2) found and what is due. `taken_port`: another link's, which is not connected to a
 * second time; 0: none. */
void bbf_lttng_link_work(struct bbf_lttng_link *link, short revents, int64_t now_ms,
                         uint16_t taken_port);
/* End the connection; another one begins later. `why`, or NULL for none, is logged. */
void bbf_lttng_link_end(struct bbf_lttng_link *link, int64_t now_ms, const char *why);

#endif
