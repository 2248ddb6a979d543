/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jmx_natives.h - the natives of io.bbflow.jmx.Native: reports, numbers, reset and export for
 * JMX clients. They run in threads of such clients and wait for the agent thread.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_JMX_NATIVES_H
#define BBF_AGENT_JMX_NATIVES_H

#include <jni.h>
#include <stdbool.h>

/* A longer text is cut at a line end, and says so; a document for programs is refused. */
enum { BBF_JMX_TEXT_MAX = 1 << 20 };

/* Bind them by RegisterNatives: the class is in a loader of its own, so the JVM has no word to say
 * about it. False: an exception is pending. */
bool bbf_jmx_natives_bind(JNIEnv *env, jclass class);

#endif
