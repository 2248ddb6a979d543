/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/class_parts.h - the interfaces and the fields of a class, by JVMTI: nothing is
 * initialised, no exception is left pending.
 *
 * Threads: any that has an environment.
 */
#ifndef BBF_AGENT_JVM_CLASS_PARTS_H
#define BBF_AGENT_JVM_CLASS_PARTS_H

#include <jni.h>
#include <stdbool.h>

/* Call `visit` for each interface that the class itself names, and theirs, 8 deep, until it
 * returns true. The reference is local and gone afterwards. Returns what the last call did. A JVM
 * without memory is counted as a fault: the class may be taken for another for good. */
bool bbf_class_any_interface(JNIEnv *env, jclass type,
                             bool (*visit)(JNIEnv *env, void *ctx, jclass interface), void *ctx);

/* Call `visit` for each field that the class itself declares, until it returns true. The strings
 * are valid during the call. Returns what the last call did; `otherwise` if JVMTI has no answer. */
bool bbf_class_any_field(jclass type,
                         bool (*visit)(void *ctx, const char *name, const char *descriptor,
                                       bool is_static),
                         void *ctx, bool otherwise);

#endif
