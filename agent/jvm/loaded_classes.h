/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/loaded_classes.h - a look at all loaded classes, some milliseconds in a large program.
 *
 * Threads: the agent thread. No exception is left pending.
 */
#ifndef BBF_AGENT_JVM_LOADED_CLASSES_H
#define BBF_AGENT_JVM_LOADED_CLASSES_H

#include <jni.h>
#include <stdbool.h>

/* Call `visit` for each, with its internal name ("java/lang/String"), until it returns false. No
 * arrays. The reference is valid during the call. */
void bbf_loaded_classes_visit(JNIEnv *env,
                              bool (*visit)(JNIEnv *env, jclass class, const char *name, void *ctx),
                              void *ctx);

#endif
