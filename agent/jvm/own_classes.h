/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/own_classes.h - defines Java classes of bbflow's in a new class loader, whose parent is
 * the platform loader: the application cannot find them by name, and the JVM unloads them when
 * nothing refers to them any more.
 *
 * Threads: the agent thread. A pending exception is left to the caller.
 */
#ifndef BBF_AGENT_JVM_OWN_CLASSES_H
#define BBF_AGENT_JVM_OWN_CLASSES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

struct bbf_own_class {
    const char *name; /* with slashes */
    const unsigned char *bytes;
    const size_t *len;
};

/* Define them in this order; `bind` gives the first its natives. The last one, a local reference;
 * NULL: an exception is pending. */
jclass bbf_own_classes_define(JNIEnv *env, const struct bbf_own_class *classes, size_t n,
                              bool (*bind)(JNIEnv *env, jclass first));

#endif
