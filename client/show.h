/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/show.h - formats every command that an agent may send as text for a person. Source:
 * docs/btrace-wire.md 7, the stock client's way of printing; but grids have their column names, and
 * null cells are "-" (the stock client prints no names and fails on null).
 *
 * Threads: any, no state.
 */
#ifndef BBF_CLIENT_SHOW_H
#define BBF_CLIENT_SHOW_H

#include "core/buf.h"
#include "wire/btrace/command.h"

/* Append it as complete lines, safe for a terminal (core/safe.h). A name or a value is one line.
 * Each line of a MESSAGE with a time begins with it; a MESSAGE without one, and an ERROR's stack,
 * keep their lines. A successful STATUS, a DISCONNECT and an EXIT give no text. Times are in the
 * local time zone. */
void bbf_show(struct bbf_buf *out, const struct bbf_command *command);

/* The same in little memory, even if the text is many times longer than the answer: `full` is
 * called when `out` has more than BBF_BUF_PIECE bytes of a grid, complete lines, and removes them.
 * May be NULL. */
struct bbf_show_to {
    struct bbf_buf *out;
    void (*full)(void *ctx, struct bbf_buf *out);
    void *ctx;
};
void bbf_show_to(const struct bbf_show_to *to, const struct bbf_command *command);

#endif
