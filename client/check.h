/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/check.h - the commands about several snapshots: check, diff, merge. Each returns an exit
 * code; if it is not 0, it has printed the reason.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_CHECK_H
#define BBF_CLIENT_CHECK_H

#include "client/client.h"

/* BBF_EXIT_LOST: a rule is broken. */
int bbf_verb_check(const struct bbf_command_line *request);
int bbf_verb_diff(const struct bbf_command_line *request);
int bbf_verb_merge(const struct bbf_command_line *request);

#endif
