/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/frames.h - the methods on a thread's own stack, and those of a class, as jmethodIDs
 * (JVMTI).
 *
 * HotSpot before 23 (JDK-8313332) frees a class's table of jmethodIDs while another thread reads
 * it: where the id of an obsolete method is asked for, as of a frame of a body from before a
 * retransformation, the table grows, and a thread that uses the old table reads freed memory, which
 * crashes at the next use. So only one of our threads at a time asks (ADR 28).
 *
 * A jmethodID is good as long as its frame is: use it before the hook returns, keep none.
 *
 * Threads: any. No Java is called, nothing is put on the Java heap.
 */
#ifndef BBF_AGENT_JVM_FRAMES_H
#define BBF_AGENT_JVM_FRAMES_H

#include <jvmti.h>

/*
 * The calling thread's innermost frames, `most` of them at most, into `frames`: how many; -1 if no
 * stack is available, also if other threads had the turn for 20 ms or more.
 */
jint bbf_frames_here(jvmtiFrameInfo *frames, jint most);

/* The same, but -1 where it would have to wait. */
jint bbf_frames_at_once(jvmtiFrameInfo *frames, jint most);

/* GetClassMethods, with its arguments and errors; the caller calls Deallocate for *methods. Waits
 * for the turn with the same limit, then proceeds without it: failing here would misclassify the
 * class permanently. */
jvmtiError bbf_frames_of_class(jclass type, jint *n, jmethodID **methods);

#endif
