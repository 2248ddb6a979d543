/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/unmet.h - options that ask for what the loaded classes do not have: an include= of
 * classes that take no buffer, an entry of track= that no class fits. Each is said with the remedy.
 *
 * Threads: the agent thread; it asks JVMTI for names only, so no code of the application runs. No
 * exception is left pending.
 */
#ifndef BBF_AGENT_CLASSES_UNMET_H
#define BBF_AGENT_CLASSES_UNMET_H

#include <jni.h>
#include <stdbool.h>

#include "instrument/plan.h"
#include "core/buf.h"
#include "snapshot/snapshot.h"

/*
 * For a report in which no class is followed, though some match include=: put into `note` how many
 * they are, and which types of theirs may have a buffer inside. False: no loaded class matches, and
 * `note` is as it was.
 */
bool bbf_unmet_include(JNIEnv *env, const struct bbf_rules *rules, struct bbf_buf *note);

/* A note to `s` for each entry of track= whose class is not loaded, or has no such method.
 * BBF_ENOMEM. */
int bbf_unmet_tracks(JNIEnv *env, const struct bbf_rules *rules, struct bbf_snapshot *s);

#endif
