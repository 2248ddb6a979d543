/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/layout.h - a text of lines as a screen shows it: safe (core/safe.h), within the width,
 * with colours, in ASCII. Everything that the client prints comes through here (client/output.h).
 *
 * Lines of a tree keep their shape: a name that is too long is cut in its middle and marked, the
 * LEAK marker and the counts never are; what then does not fit goes on below, right of the tree's
 * own lines. Any other line goes on in the next row, indented, so that no row begins like a new
 * line.
 *
 * Threads: any, no state but the locale's (columns of a character). Errors: those of the buffer.
 */
#ifndef BBF_CLIENT_LAYOUT_H
#define BBF_CLIENT_LAYOUT_H

#include "core/buf.h"

struct bbf_look {
    size_t width; /* columns; 0: lines stay as they are */
    bool ascii;
    bool colour;
    bool foreign; /* a line that begins as a message of ours is marked as the agent's */
};

/* Append the lines of `text`; true if a name was cut. The last line may have no end. */
bool bbf_layout(struct bbf_buf *out, const char *text, size_t len, const struct bbf_look *look);

/* Columns that the text takes, by the locale's characters. */
size_t bbf_columns(const char *text, size_t len);

#endif
