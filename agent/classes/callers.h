/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/callers.h - refs=on: the method that calls retain or release, by the stack of the
 * current thread (JVMTI), as a site "Class.method_retain" or "Class.method_release": the first that
 * include= matches, or else the first that does more than forward. Netty's buffer and util
 * packages, the JDK and the hooks themselves only forward, and so do, in any class that include=
 * does not match, methods named retain, release and the like. A method reference, whose class has a
 * new name in each run, is called Class$$Lambda (render/step_words.h).
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
#include <stdbool.h>
#include <stdint.h>

/* `use` is BBF_L_USE_RETAIN or _RELEASE. 0: no such method, or the limit of sites is reached. */
uint32_t bbf_caller_site(JNIEnv *env, uint32_t use);

/*
 * Who allocates: the nearest followed method on the stack within 128 frames, `followed`; or else
 * the first that does more than forward, rather not Netty's; or *site = 0. False: another thread
 * asks for its stack just now, which is not waited for. 10 us or more, and the mutex of the sites
 * for a new name.
 */
bool bbf_caller_of_root(JNIEnv *env, uint32_t *site, bool *followed);

#endif
