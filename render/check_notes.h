/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/check_notes.h - what a reader of a check must know of its two snapshots: that they are of
 * other programs, follow other code, are samples, are redacted, are cut by a limit.
 *
 * Threads: any; pure. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_CHECK_NOTES_H
#define BBF_RENDER_CHECK_NOTES_H

#include "snapshot/snapshot.h"

/* Append sentences, safe for a terminal, to a list as bbf_snapshot_add_text() does. `before` may be
 * NULL. `judged`: rules are applied, so the reader must know what is no proof. */
int bbf_check_add_notes(char ***notes, size_t *n, const struct bbf_snapshot *before,
                        const struct bbf_snapshot *now, bool judged);

#endif
