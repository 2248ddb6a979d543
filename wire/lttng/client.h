/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/lttng/client.h - the JVM as an application of LTTng's JUL domain: connected to root's
 * session daemon and to the user's at once, it lists its loggers and knows which ones they have
 * enabled. Events do not go this way: liblttng-ust records them.
 *
 * It has a thread of its own (docs/adr/0041), which nothing but poll(2) blocks: a daemon waits for
 * each answer without a limit, and the agent thread may be at a scan, the server's at a client.
 *
 * Threads: start and stop: one caller at a time; wants and status: any.
 */
#ifndef BBF_WIRE_LTTNG_CLIENT_H
#define BBF_WIRE_LTTNG_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/lttng/codec.h"
#include "wire/lttng/port.h"

enum { BBF_LTTNG_LOGGERS_MAX = 8 };

struct bbf_lttng_config {
    bool daemons[BBF_LTTNG_DAEMONS]; /* which of them to connect to */
    enum bbf_lttng_version version;
    bool may_switch;            /* to the other version, if the daemon speaks that */
    uint32_t pid;               /* for `lttng list` */
    const char *const *loggers; /* constant; at most BBF_LTTNG_LOGGERS_MAX */
    size_t n_loggers;
    void (*enabled)(
        void); /* in the client's thread, after a logger was enabled; it must not block */
};

struct bbf_lttng_client;

/* Reads the environment; starts the thread. BBF_ENOMEM, BBF_EINVAL (loggers), BBF_EIO. */
int bbf_lttng_start(struct bbf_lttng_client **out, const struct bbf_lttng_config *config);
/* End the connections and the thread, and wait for it: it blocks nowhere. NULL is allowed. */
void bbf_lttng_stop(struct bbf_lttng_client *client);

/* Has any daemon enabled that logger at that level? One relaxed load. */
bool bbf_lttng_wants(const struct bbf_lttng_client *client, size_t logger, int32_t level);
/* The daemon's port; 0: it has not registered this process. */
uint16_t bbf_lttng_port(const struct bbf_lttng_client *client, enum bbf_lttng_daemon daemon);

#endif
