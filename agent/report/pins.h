/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/pins.h - which few open buffers keep which chunks of Netty's pools: a chunk goes
 * back to the system only when its last buffer is released.
 *
 * A chunk is pinned by small buffers if less than BBF_PINNED_PERCENT of it is in use. A PoolChunk
 * says how much of it is free (released buffers in thread caches are not free); an adaptive chunk
 * does not, so there the capacities of the open buffers that bbflow follows are what is in use, and
 * such chunks are left out where bbflow does not follow every buffer.
 *
 * Read by JNI field reads as in agent/report/reconcile.h: PooledByteBuf.chunk,
 * AdaptiveByteBuf.chunk and the sizes in them. Source: javap of 4.1.48, 4.1.140 and 4.2.20.
 *
 * Threads: the agent thread. No exception is left pending. Units: bytes.
 */
#ifndef BBF_AGENT_REPORT_PINS_H
#define BBF_AGENT_REPORT_PINS_H

#include <jni.h>

#include "snapshot/snapshot.h"

enum { BBF_PINNED_PERCENT = 25 };

/*
 * Fill snapshot->pins and the pinned columns of snapshot->reconciled.pools, which is filled; the
 * nodes are the tracker's until bbf_tracker_capture(). Bounded: 16,384 chunks, 65,536 pairs of
 * chunk and path, 256 rows, 200 ms; memory, at most 7 MiB, is charged to `memory` for the time of
 * the call. `causes` has the number of buffers that were left out. BBF_ENOMEM.
 */
int bbf_pins_fill(JNIEnv *env, struct bbf_snapshot *snapshot);

#endif
