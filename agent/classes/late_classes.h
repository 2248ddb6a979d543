/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/late_classes.h - classes of Netty's that an attach did not find: their bytes were
 * read before the hook was enabled, and they were no loaded classes yet when these were looked at,
 * because a super class was still being loaded. One that counts references would stay without
 * hooks, and every buffer would look lost.
 *
 * Such a class is met when it is prepared, before anything of it runs and before an object of it or
 * of a subclass exists. From there on no life is opened until the agent thread has retransformed
 * it (to do so in the event would wait for a lock that another retransformation may hold).
 *
 * Threads: the event in any thread; the rest in the agent thread.
 */
#ifndef BBF_AGENT_CLASSES_LATE_CLASSES_H
#define BBF_AGENT_CLASSES_LATE_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

/* ClassPrepare, any thread. More than 64 that wait are counted as retransform_failed. */
void bbf_late_classes_prepare(jvmtiEnv *jvmti, JNIEnv *env, jclass class);

/* Agent thread: retransform what waits, until nothing does; then lives may be opened, if `resume`.
 */
void bbf_late_classes_catch_up(JNIEnv *env, bool resume);

/* The same from the agent thread's loop: only if something waits and we are in. */
void bbf_late_classes_poll(JNIEnv *env);

#endif
