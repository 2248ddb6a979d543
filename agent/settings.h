/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/settings.h - options that take effect while the JVM runs. The server's thread replaces them
 * (commands/set.c), the agent thread applies them.
 */
#ifndef BBF_AGENT_SETTINGS_H
#define BBF_AGENT_SETTINGS_H

#include <jni.h>

#include "core/option.h"
#include "core/buf.h"
#include "instrument/plan.h"

/* `fresh` are the options in force from now on, which own its memory; the older ones are freed. Any
 * thread. */
void bbf_settings_replace(const struct bbf_options *fresh);

/*
 * The rules in force were `before`; `effects` (enum bbf_option_effect) are what has to follow them:
 * limits, roots, budget, loaded classes. What was done with loaded classes, in a line for a person,
 * is appended to `text`, which may be NULL. Agent thread. BBF_ELIMIT: the tracker has no place for
 * the sampling rate.
 */
int bbf_settings_apply(JNIEnv *env, unsigned effects, const struct bbf_rules *before,
                       struct bbf_buf *text);

#endif
