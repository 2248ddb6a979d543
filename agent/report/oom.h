/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/oom.h - when direct memory runs out: file= is written at once, as FILE-oom.EXT,
 * while the buffers that filled it are still there. The thread that got the error only wakes the
 * agent thread (BBFlowShim.exhausted) and is not held.
 *
 * Netty's OutOfDirectMemoryError is hooked where it is made, in every Netty. The JDK's
 * OutOfMemoryError ("Cannot reserve … direct buffer memory") is made in java.nio.Bits, the one
 * class of the boot loader that is hooked, and only with file= (agent/classes/code_hook.c).
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_OOM_H
#define BBF_AGENT_REPORT_OOM_H

#include <jni.h>

#include "core/buf.h"

/* Whenever the agent thread is awake, after the clock. New errors are an event OOM, a report of
 * them OOM_REPORT. Writes at most one report a minute and 60 in all; the others are counted. */
void bbf_oom_poll(JNIEnv *env);
/* The note for a report; nothing if memory never ran out. */
void bbf_oom_note(struct bbf_buf *out);

#endif
