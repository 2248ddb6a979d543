/*
 * agent/oom.h - when direct memory runs out: file= is written at once, as FILE-oom.EXT, while the
 * buffers that filled it are still there. The thread that got the error only wakes the agent thread
 * (BBFlowShim.exhausted) and is not held.
 *
 * Netty's OutOfDirectMemoryError is hooked where it is made, in every Netty. The JDK's
 * OutOfMemoryError ("Cannot reserve … direct buffer memory") is made in java.nio.Bits, which is
 * retransformed only with file=.
 *
 * Called by: agent/worker.c, agent/lifecycle.c, agent/report.c. Threads: the agent thread.
 */
#ifndef BBF_AGENT_OOM_H
#define BBF_AGENT_OOM_H

#include <jni.h>

#include "core/buf.h"

/* Once the rules are in force, before main: the JVM cannot name the source of a frame of
 * java.nio.Bits in a stack trace that is older. */
void bbf_oom_begin(JNIEnv *env);
/* Whenever the agent thread is awake, after `tick`. Writes at most one report a minute and 60 in
 * all; the others are counted. */
void bbf_oom_look(JNIEnv *env);
/* After a stop, once the rules are withdrawn: java.nio.Bits as it was. */
void bbf_oom_leave(JNIEnv *env);
/* What a report says of it, nothing if memory never ran out. */
void bbf_oom_note(struct bbf_buf *out);

#endif
