/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/limit.h - when the memory of the process's cgroup comes near its limit, at which the
 * kernel kills: file= is written at once, as FILE-limit.EXT, and blackbox= gets a new state.
 *
 * Once for each crossing: the use has to fall by five hundredths of the limit before the next one
 * counts. At most one report a minute and 60 in all.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_LIMIT_H
#define BBF_AGENT_REPORT_LIMIT_H

#include <jni.h>

#include "core/buf.h"
#include "core/option.h"

/* Once a second. `options` NULL: nothing is done. */
void bbf_limit_poll(JNIEnv *env, const struct bbf_options *options);
/* The note for a report; nothing if the limit was never near and each second had its look. */
void bbf_limit_note(struct bbf_buf *out);

#endif
