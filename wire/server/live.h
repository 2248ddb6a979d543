/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/live.h - the live stream: the last messages that were published, each once for all
 * clients. A client has a place in it (a number), and one that does not keep up loses the oldest,
 * counted.
 *
 * Invariants: message k is at k % cap; head - cap <= k < head (all under the lock). A text is at
 * most BBF_LIVE_TEXT bytes, so that the whole is bounded by cap of them.
 *
 * Threads: any; the lock is held for a copy of one text. Units: bytes; milliseconds since 1970.
 */
#ifndef BBF_WIRE_SERVER_LIVE_H
#define BBF_WIRE_SERVER_LIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BBF_LIVE_TEXT = 1024 }; /* never deflated, whatever the peer (facts 3.3) */

struct bbf_live_message;

struct bbf_live {
    pthread_mutex_t lock;
    struct bbf_live_message **messages; /* cap of them, NULL where none is */
    size_t cap;
    uint64_t cleared;          /* earlier messages were cleared and do not count as lost */
    atomic_uint_fast64_t head; /* of the next message; written under the lock */
};

int bbf_live_init(struct bbf_live *live, size_t cap); /* BBF_ENOMEM; cap > 0 */
void bbf_live_free(struct bbf_live *live);
/* Append a copy; a longer text is cut between characters. False: no memory, the message is lost. */
bool bbf_live_add(struct bbf_live *live, int64_t time_ms, const char *text, size_t len);
/* Remove all messages: a later client gets only later messages. */
void bbf_live_clear(struct bbf_live *live);
/* The place of the oldest that is left: where a new client begins. */
uint64_t bbf_live_first(struct bbf_live *live);
/*
 * Copy message *place (or the oldest that is left) to `text` and advance *place past it. False:
 * none left. *lost = how many were skipped because they were dropped.
 */
bool bbf_live_next(struct bbf_live *live, uint64_t *place, char text[BBF_LIVE_TEXT], size_t *len,
                   int64_t *time_ms, uint64_t *lost);

#endif
