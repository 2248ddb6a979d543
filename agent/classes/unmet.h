/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/unmet.h - reports options that match nothing in the loaded classes: an include= of
 * classes that take no buffer, an entry of track= that no class fits. Each report names the remedy.
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
 * For a report in which no class is followed, though some match include=: write into `note` how
 * many match, and which of their types may contain a buffer. False: no loaded class matches; `note`
 * is unchanged.
 */
bool bbf_unmet_include(JNIEnv *env, const struct bbf_rules *rules, struct bbf_buf *note);

/* A note to `s` for each entry of track= whose class is not loaded, or has no such method.
 * BBF_ENOMEM. */
int bbf_unmet_tracks(JNIEnv *env, const struct bbf_rules *rules, struct bbf_snapshot *s);

#endif
