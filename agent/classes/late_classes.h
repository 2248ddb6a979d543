/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/late_classes.h - classes of Netty's that an attach did not find: the JVM read
 * their bytes before the hook was enabled, and had not loaded them yet when the agent asked for the
 * loaded classes, because a super class was still being loaded. A class that counts references
 * would stay without hooks, and each of its buffers would look lost.
 *
 * Such a class is met when it is prepared, before any of its code runs and before an object of it
 * or of a subclass exists. From there on no life is opened until the agent thread has retransformed
 * it. The event itself does not, because it would wait for a lock that another retransformation may
 * hold. The agent thread is woken for it and does not scan.
 *
 * Threads: the event in any thread; the rest in the agent thread.
 */
#ifndef BBF_AGENT_CLASSES_LATE_CLASSES_H
#define BBF_AGENT_CLASSES_LATE_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

/* ClassPrepare, any thread. Of more than 64 that wait, the others are counted in
 * retransform_failed. */
void bbf_late_classes_prepare(jvmtiEnv *jvmti, JNIEnv *env, jclass class);

/* Agent thread: retransform the classes that wait, until none does. Then, with `resume`, lives may
 * be opened again. */
void bbf_late_classes_catch_up(JNIEnv *env, bool resume);

/* A duty: the same with `resume`, if a class waits and the phase is `in`. */
void bbf_late_classes_poll(JNIEnv *env);

#endif
