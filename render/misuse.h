/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/misuse.h - uses of a buffer after its release, as the text renders and the log say them.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_MISUSE_H
#define BBF_RENDER_MISUSE_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* The innermost method of `used_by` that is not Netty's; the innermost of all if there is none. */
const char *bbf_misuse_user(const struct bbf_snap_misuse *row);

/* One line without its end; threads by name where `snapshot` (may be NULL) knows them. */
void bbf_misuse_line(struct bbf_buf *out, const struct bbf_snap_misuse *row,
                     const struct bbf_snapshot *snapshot);

/* For a person: the rows, `most` of them; nothing if there is none. */
void bbf_misuse_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot, size_t most);
/* For a program: "MISUSE:" and a row key=value a line; nothing if there is none. */
void bbf_misuse_rows(struct bbf_buf *out, const struct bbf_snapshot *snapshot);

#endif
