/*
 * client/show.h - every command that an agent may send, as text for a person.
 * Source: facts/btrace-wire.md 7, the way the stock client prints them; grids with their column
 * names, null cells as "-" (the stock client prints no names and fails on null).
 *
 * Called by: verbs.c, watch.c, tests. Threads: any, no state.
 */
#ifndef BBF_CLIENT_SHOW_H
#define BBF_CLIENT_SHOW_H

#include "core/buf.h"
#include "wire/command.h"

/* Append it, whole lines; nothing for a STATUS that is well, a DISCONNECT, an EXIT. Times are of
 * the local time zone. */
void bbf_show(struct bbf_buf *out, const struct bbf_command *command);

#endif
