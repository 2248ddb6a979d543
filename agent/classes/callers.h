/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/callers.h - refs=on: the method that calls retain or release, by the stack of the
 * current thread (JVMTI), as a site "Class.method_retain" or "Class.method_release". Netty's buffer
 * and util packages, its holders' own retain and release, the JDK and the hooks themselves are
 * passed over: they only forward.
 *
 * A microsecond or more at each retain and release; before JDK 23 one thread at a time asks for its
 * stack (agent/jvm/frames.h), and GetStackTrace may take a lock of the JVM's for a moment, where a
 * method has no jmethodID yet: an exception to design.md: slow natives that the user must request
 * by the option. A call that does not get the turn is a dropped step. The facts about a method are
 * stored by its jmethodID, which HotSpot gives to no other method (it is compared, never used).
 *
 * Threads: any; the first call for a method takes the mutex of the sites.
 */
#ifndef BBF_AGENT_CLASSES_CALLERS_H
#define BBF_AGENT_CLASSES_CALLERS_H

#include <jni.h>
#include <stdint.h>

/* `use` is BBF_L_USE_RETAIN or _RELEASE. 0: no such method, or the limit of sites is reached. */
uint32_t bbf_caller_site(JNIEnv *env, uint32_t use);

#endif
