/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/attach.h - follow a JVM, and stop following it: hooks in, hooks out, and what has to wait
 * until the last client and the last class that was being loaded are done. agent/lifecycle.h draws
 * the states.
 *
 * Threads: the agent thread, except where another is named.
 */
#ifndef BBF_AGENT_ATTACH_H
#define BBF_AGENT_ATTACH_H

#include <jni.h>
#include <stdbool.h>

#include "core/buf.h"

/* Begin with the options in force: enable the events, retransform loaded classes. Also at the JVM's
 * start, with attached = false. False: tracking is off, and off_why says why. */
bool bbf_attach_hooks(JNIEnv *env, bool attached);

/* Begin in a JVM that runs; the phase is `attaching`, then `in`. What fails is logged and kept as
 * off_why, which the server reports. */
void bbf_attach(JNIEnv *env);
/* Put everything back; what was done, in lines for a person, is appended to `text`, which may be
 * NULL. The phase is `out` afterwards. */
void bbf_detach(JNIEnv *env, struct bbf_buf *text);
/* After a detach, until it is true: the server ends once its clients have gone (5 s at most), and
 * classes that were being loaded during the detach are put back. */
bool bbf_finish_detach(JNIEnv *env);
/* How long the agent thread may sleep when nothing happens, in milliseconds. */
unsigned bbf_attach_tick_ms(void);

#endif
