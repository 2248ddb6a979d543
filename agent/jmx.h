/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jmx.h - option jmx=: the MBeans io.bbflow:type=Tracker and, with jmx=compat, the Java
 * tracker's com.example:type=ByteBufFlowTracker (docs/jmx.md, docs/adr/0063).
 *
 * Their classes are in this library. They are defined in a class loader of their own, whose parent
 * is the platform loader, when they are needed; after a stop the JVM may unload them.
 *
 * Threads: the agent thread. MBeans are registered, and listeners called, by Java threads of their
 * own, because both run code of the application.
 */
#ifndef BBF_AGENT_JMX_H
#define BBF_AGENT_JMX_H

#include <jni.h>

#include "core/option.h"

/* Register, wait or take out, as `options` have it now; NULL: out. Each failure is logged once. */
void bbf_jmx_poll(JNIEnv *env, const struct bbf_options *options);
/* Take them out; waits a second at most. */
void bbf_jmx_stop(JNIEnv *env);

#endif
