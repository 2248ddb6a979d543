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

/* What report(), reset() and numbers() of that class do, also for bbflow-api.jar
 * (agent/api_natives.c). A byte, 0 or 1 (the rest is why there is no answer), then the text in
 * UTF-8. NULL: the JVM has no memory, and an exception is pending. `format`: one of the formats,
 * "status", "compat", "formats", or "nodes" (render/stock.h). */
jbyteArray bbf_jmx_report(JNIEnv *env, jbyteArray format, bool gc);
jbyteArray bbf_jmx_reset(JNIEnv *env, bool nodes);
/* enum bbf_jmx_number has their order. NULL: bbflow does not follow this JVM. */
jlongArray bbf_jmx_numbers(JNIEnv *env);

/* Lives, bytes, nodes; sample: one buffer in this number is followed. The Java half has them by
 * position. */
enum bbf_jmx_number {
    BBF_JMX_LIVES,
    BBF_JMX_RELEASED,
    BBF_JMX_LIVE,
    BBF_JMX_LIVE_BYTES,
    BBF_JMX_LEAKED,
    BBF_JMX_LEAKED_BYTES,
    BBF_JMX_AGED,
    BBF_JMX_MISUSE,
    BBF_JMX_DROPPED_STEPS,
    BBF_JMX_DROPPED_LIVES,
    BBF_JMX_ROOTS,
    BBF_JMX_LEAK_PATHS,
    BBF_JMX_SAMPLE,
    BBF_JMX_NODES,
    BBF_JMX_MAX_NODES,
    BBF_JMX_MAX_DEPTH,
    BBF_JMX_NUMBERS
};

/* Bind them by RegisterNatives: the class is in a loader of its own, so the JVM has no word to say
 * about it. False: an exception is pending. */
bool bbf_jmx_natives_bind(JNIEnv *env, jclass class);

#endif
