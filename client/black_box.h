/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/black_box.h - reads the file of an agent's option blackbox=: the newest snapshot that is
 * whole, and what the file says of its JVM's end.
 *
 * Threads: one. The file is foreign: any bytes are allowed.
 */
#ifndef BBF_CLIENT_BLACK_BOX_H
#define BBF_CLIENT_BLACK_BOX_H

#include <stdbool.h>

#include "core/blackbox.h"
#include "core/buf.h"
#include "snapshot/snapshot.h"

/* Does the JVM that writes the file live? */
enum bbf_black_box_writer { BBF_WRITER_LIVES, BBF_WRITER_GONE, BBF_WRITER_UNKNOWN };

struct bbf_black_box {
    bool is_taken;
    enum bbf_black_box_writer writer;
    bool is_copy;
    struct bbf_box box; /* its `document` is not valid any more */
};

/* Is a regular file there that begins like a black box? Never waits. */
bool bbf_black_box_is_at(const char *path);
/* Is it a black box, and larger than any? Then reading on is of no use. */
bool bbf_black_box_is_too_large(const struct bbf_buf *bytes);
/*
 * `document` has the bytes of the file at `path`: replace them by the newest snapshot in it.
 * Returns an exit code, and has printed the reason. BBF_EXIT_OK, but not is_taken: nothing whole is
 * there, and a JVM writes to it, so that another attempt may succeed; not if this is the `last`.
 */
int bbf_black_box_take(struct bbf_black_box *box, const char *path, struct bbf_buf *document,
                       bool last);
/* Put what the file says of its JVM's end before the snapshot's notes. BBF_ENOMEM. */
int bbf_black_box_notes(const struct bbf_black_box *box, struct bbf_snapshot *snapshot);

#endif
