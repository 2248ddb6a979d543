/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/top.h - `bbflow top`: the places that lose buffers as a table that stays on the terminal.
 *
 * Threads: one. Returns an exit code; if it is not 0, it has printed the reason.
 */
#ifndef BBF_CLIENT_TOP_H
#define BBF_CLIENT_TOP_H

#include "client/client.h"

int bbf_verb_top(const struct bbf_command_line *request);

#endif
