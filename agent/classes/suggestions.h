/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/suggestions.h - what the loaded classes tell a user whose report is empty: the
 * packages nearest to what was asked for, and the version of each Netty.
 *
 * Threads: the agent thread; it calls methods of java.lang and java.net only, never from a hook. No
 * exception is left pending.
 */
#ifndef BBF_AGENT_CLASSES_SUGGESTIONS_H
#define BBF_AGENT_CLASSES_SUGGESTIONS_H

#include <jni.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/pattern.h"

/* Append "; nearest loaded packages: a.b, c.d, e.f" (three at most; none found: nothing). */
void bbf_suggest_packages(JNIEnv *env, const struct bbf_patterns *include, struct bbf_buf *out);
/* "4.1.140.Final" of the jar that ByteBuf of `prefix` (dotted) came from, "unknown" otherwise. */
void bbf_nearby_netty_version(JNIEnv *env, const char *prefix, char *out, size_t size);

/* Call `visit` for every loaded class; local references that it leaves are gone afterwards. */
void bbf_nearby_each_class(JNIEnv *env, void *ctx,
                           void (*visit)(JNIEnv *env, void *ctx, jclass class,
                                         const char *signature));

#endif
