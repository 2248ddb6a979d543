/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/reconcile.h - Netty's own numbers beside ours: the memory in use and reserved by its
 * arenas and allocators, and the JVM's numbers of direct memory.
 *
 * Read by JNI field reads only: no method of Netty is called, no class is initialised, nothing is
 * locked. So a number may be torn while the application runs, and one that only a method returns
 * (or that a version does not have) is BBF_NOT_TOLD. Fields are found by name and looked at by the
 * type they have; source: javap of 4.1.48, 4.1.140 and 4.2.20, and of java.nio.Bits in 17 and 25.
 *
 * Threads: the agent thread. No exception is left pending.
 */
#ifndef BBF_AGENT_REPORT_RECONCILE_H
#define BBF_AGENT_REPORT_RECONCILE_H

#include <jni.h>

#include "snapshot/snapshot.h"

/*
 * Fill snapshot->reconciled. Netty's allocators are PooledByteBufAllocator.DEFAULT, its like, and
 * those of buffers that were open at this report or one before. Bounded: 16,384 chunks, 2,048 open
 * buffers, 64 allocators, 200 ms; a cut is reported in `causes`. BBF_ENOMEM.
 */
int bbf_reconcile_fill(JNIEnv *env, struct bbf_snapshot *snapshot);

/* Delete the weak references that reports keep to the allocators that they found. */
void bbf_reconcile_forget(JNIEnv *env);

#endif
