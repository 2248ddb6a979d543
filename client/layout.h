/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/layout.h - lays out lines of text for a screen: safe (core/safe.h), within the width, with
 * colours, in ASCII. All output of the client comes through here (client/output.h).
 *
 * Lines of a tree keep their shape: a name that is too long is cut in its middle and marked; the
 * LEAK marker and the counts are never cut. The rest of a line that still does not fit follows in
 * the rows below, right of the tree's own lines. Any other line continues in the next row,
 * indented, so that no row begins like a new line.
 *
 * Threads: any, no state but the locale's (columns of a character). Errors: those of the buffer.
 */
#ifndef BBF_CLIENT_LAYOUT_H
#define BBF_CLIENT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "client/row.h"
#include "core/buf.h"

/* Append the lines of `text`. True if a name was cut. The last line may lack its end. */
bool bbf_layout(struct bbf_buf *out, const char *text, size_t len, const struct bbf_look *look);

#endif
