/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/why.h - the parts of the process's direct memory, for the verdict that render/why.c
 * writes.
 *
 * Threads: any; pure. Units: bytes.
 */
#ifndef BBF_RENDER_WHY_H
#define BBF_RENDER_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

/* The parts add up to `total`. Netty's numbers and the JVM's are read one after the other while the
 * application runs, so a part that would be negative is 0 and `not_netty` takes the difference. */
struct bbf_why {
    bool known;       /* false: Netty's numbers were not read; only `lost` and `held` are valid */
    bool sampled;     /* one buffer in N is followed: `lost` and `held` are estimates */
    bool has_process; /* false: the JVM's number is not known; `total` is Netty's allocators' */
    uint64_t total;
    uint64_t lost;        /* collected unreleased, and not given back by that */
    uint64_t held;        /* open buffers */
    uint64_t rounding;    /* size classes: what the pools hand out beyond what was asked for */
    uint64_t caches;      /* released buffers in the pools' thread caches */
    uint64_t pinned;      /* the same of chunks of which few small buffers are all that is in use */
    uint64_t free_chunks; /* parts of the other chunks that no buffer has */
    uint64_t unexplained; /* Netty has it in use; bbflow follows no buffer there */
    uint64_t not_netty;   /* of the process, but not of Netty's allocators */
};

struct bbf_why bbf_why_account(const struct bbf_snapshot *snapshot);

/* Was a buffer lost whose loss is proven? The exit code of `bbflow why`. */
bool bbf_why_has_loss(const struct bbf_snapshot *snapshot);

#endif
