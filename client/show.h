/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/show.h - every command that an agent may send, as text for a person.
 * Source: docs/btrace-wire.md 7, the way the stock client prints them; grids with their column
 * names, null cells as "-" (the stock client prints no names and fails on null).
 *
 * Threads: any, no state.
 */
#ifndef BBF_CLIENT_SHOW_H
#define BBF_CLIENT_SHOW_H

#include "core/buf.h"
#include "wire/btrace/command.h"

/* Append it, whole lines, safe for a terminal (core/safe.h): a name or a value is one line; of a
 * MESSAGE that has a time the further lines are indented; one without, and an ERROR's stack, are
 * texts of lines. Nothing for a STATUS that is well, a DISCONNECT, an EXIT. Times are of
 * the local time zone. */
void bbf_show(struct bbf_buf *out, const struct bbf_command *command);

/* The same in little memory, however many times longer than the answer its text is: `full` is
 * called when `out` has more than BBF_BUF_PIECE of a grid, whole lines, and takes them away. May be
 * NULL. */
struct bbf_show_to {
    struct bbf_buf *out;
    void (*full)(void *ctx, struct bbf_buf *out);
    void *ctx;
};
void bbf_show_to(const struct bbf_show_to *to, const struct bbf_command *command);

#endif
