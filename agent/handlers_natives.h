/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/handlers_natives.h - the natives of io.bbflow.handlers.HandlersNative, and what they know:
 * the number of resets, and what the Java half counted.
 *
 * Threads: any, unless a function says otherwise.
 */
#ifndef BBF_AGENT_HANDLERS_NATIVES_H
#define BBF_AGENT_HANDLERS_NATIVES_H

#include <jni.h>
#include <stdbool.h>

#include "render/status.h"

/* Bind them. False: an exception is pending. */
bool bbf_handlers_natives_bind(JNIEnv *env, jclass class);

/* The counters begin at zero: what was lost is compared with nothing. Agent thread. */
void bbf_handlers_were_reset(void);

/* The line of status; `why` is copied, NULL: none. Counts are kept while it is ON. */
void bbf_handlers_say(enum bbf_handlers_state state, const char *why);
void bbf_handlers_status(struct bbf_handlers_status *status);

#endif
