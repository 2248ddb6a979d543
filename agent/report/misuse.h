/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/misuse.h - uses of a buffer after its release: who released it, where it had been,
 * who used it then. The hook that sees one (BBFlowMisuse.report, when Netty throws its
 * IllegalReferenceCountException) hands in what it knows and the names of the methods on its own
 * stack (agent/jvm/frames.h: no jmethodID outlives its frame); the agent thread adds like to like.
 *
 * Bounds: 64 uses that the agent thread has not looked at (it looks once a second, and before each
 * report), 256 rows, 17 frames with ours, 4 KiB of names. Uses beyond these bounds are counted in
 * the total `misuse` only.
 *
 * Threads: seen in any, where it may wait for its turn to ask for a stack; the rest in the agent
 * thread.
 */
#ifndef BBF_AGENT_REPORT_MISUSE_H
#define BBF_AGENT_REPORT_MISUSE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/event.h"
#include "snapshot/snapshot.h"

/*
 * The life of `handle` (IGN: not known), of a buffer of that class number, was used by the current
 * thread in the way `use` (BBF_L_USE_). False: a retain or release was suspected, but the exception
 * that is being made is of another object's (a pool of the application brought ours back).
 */
bool bbf_misuse_seen(JNIEnv *env, uint64_t handle, uint32_t use, uint32_t class_number,
                     uint64_t tid);

/* Turn the uses that hooks recorded into rows; each new row is an event MISUSE. */
void bbf_misuse_poll(void);
/* Each row as an event: what a new client of the live stream has missed. */
void bbf_misuse_each(void (*take)(void *ctx, const struct bbf_event *event), void *ctx);
/* A reset: rows go. */
void bbf_misuse_reset(void);
/*
 * For rows of other producers (agent/report/after_release.h). Append "Class.method", "?" without a
 * class, to a list; name the path of a life that ended at `node`, with the release of that class;
 * free what a row has. BBF_ENOMEM. Agent thread.
 */
int bbf_misuse_add_step(char ***list, size_t *n, const char *class_name, const char *method);
int bbf_misuse_name_path(struct bbf_snap_misuse *row, uint32_t node, uint32_t class_number);
void bbf_misuse_row_free(struct bbf_snap_misuse *row);

/* Copy the rows. Looks first. BBF_ENOMEM. */
int bbf_misuse_fill(struct bbf_snapshot *s);

#endif
