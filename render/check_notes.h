/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/check_notes.h - what a reader of a check must know of its two snapshots: that they are of
 * other programs, follow other code, are samples, are redacted, are cut by a limit.
 *
 * Threads: the check's owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_CHECK_NOTES_H
#define BBF_RENDER_CHECK_NOTES_H

#include "render/check.h"

int bbf_check_add_notes(struct bbf_check *check);

#endif
