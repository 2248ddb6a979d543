/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/suggestions.h - for a user whose report is empty: the loaded packages whose names
 * are nearest to those of include=.
 *
 * Threads: the agent thread. No exception is left pending.
 */
#ifndef BBF_AGENT_CLASSES_SUGGESTIONS_H
#define BBF_AGENT_CLASSES_SUGGESTIONS_H

#include <jni.h>

#include "core/buf.h"
#include "core/pattern.h"

/* Append "; nearest loaded packages: a.b, c.d, e.f" (three at most; none found: nothing). */
void bbf_suggest_packages(JNIEnv *env, const struct bbf_patterns *include, struct bbf_buf *out);

#endif
