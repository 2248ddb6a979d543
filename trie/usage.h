/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/usage.h - how many bytes the lives of a path took and for how long (byte-seconds), and how
 * many of these bytes were not written, by the writerIndex at the release.
 *
 * A life adds its capacity times the number of seconds that began while it was open (SHARED_NOW). A
 * life that was open for half a second met the begin of a second in one case of two, so the sum is
 * that of the lifetimes, without a clock in a hook; and a life that met none adds nothing and takes
 * no call. The writerIndex is read at the release of those lives only: docs/adr/0053.
 *
 * BBF_USAGE_ROWS pairs of path and memory; byte-seconds of further ones are one sum.
 *
 * Threads: stated at each function. Units: bytes, seconds, counts of lives.
 */
#ifndef BBF_TRIE_USAGE_H
#define BBF_TRIE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"

struct bbf_snapshot;
struct bbf_tracker;

/* In the place of the bytes that were written. */
enum {
    BBF_USAGE_NOT_READ =
        BBF_L_USAGE_NOT_READ, /* its class does not say, or it says more than the capacity */
    BBF_USAGE_NOT_ASKED =
        BBF_L_USAGE_NOT_ASKED /* other lives have its memory; or it was not released */
};

struct bbf_usage_life {
    uint32_t node, seconds, bytes;
    uint8_t memory; /* enum bbf_memory */
    int32_t written;
};

/* A life ended, by a release or by the agent's verdict. The part before the last reset does not
 * count. Any thread, lock-free. */
void bbf_usage_add(struct bbf_tracker *t, const struct bbf_usage_life *life);

/* usage=; from off to on the sums begin anew. Agent. */
void bbf_usage_set(struct bbf_tracker *t, bool on);
/* Forget all. Agent. */
void bbf_usage_reset(struct bbf_tracker *t);

/* Fill snapshot->usage, also with the lives that are open, and usage_of; the nodes are the
 * tracker's until bbf_tracker_capture(). Agent. BBF_ENOMEM. */
int bbf_usage_fill(struct bbf_tracker *t, struct bbf_snapshot *snapshot);

#endif
