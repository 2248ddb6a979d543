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

/* Make `fresh` the current options, which take ownership of its memory; the older ones are freed.
 * Any thread. */
void bbf_settings_replace(const struct bbf_options *fresh);

/*
 * Apply changed options. The earlier rules were `before`; `effects` (enum bbf_option_effect) says
 * what must follow the change: limits, roots, budget, loaded classes. Appends a line for a person
 * about the loaded classes to `text`, which may be NULL. Agent thread. BBF_ELIMIT: the tracker has
 * no place for the sampling rate.
 */
int bbf_settings_apply(JNIEnv *env, unsigned effects, const struct bbf_rules *before,
                       struct bbf_buf *text);

#endif
