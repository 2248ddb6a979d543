/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/attach.h - begins and ends the following of a JVM: adds the hooks, removes them, and does
 * the work that must wait for the last client and the last class that was being loaded.
 * agent/lifecycle.h has a drawing of the states.
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

/* Begin in a running JVM; the phase is `attaching`, then `in`. A failure is logged and stored as
 * off_why, which the server reports. */
void bbf_attach(JNIEnv *env);
/* Restore all classes; appends the result, in lines for a person, to `text`, which may be NULL. The
 * phase is `out` afterwards. */
void bbf_detach(JNIEnv *env, struct bbf_buf *text);
/* After a detach, until it is true: the server ends once its clients have gone (5 s at most), and
 * classes that were being loaded during the detach are put back. */
bool bbf_finish_detach(JNIEnv *env);
/* How long the agent thread may sleep if nothing happens, in milliseconds. */
unsigned bbf_attach_tick_ms(void);

#endif
