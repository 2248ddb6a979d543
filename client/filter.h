/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/filter.h - --only and --depth: what of a snapshot is read; which of the losses are shown
 * is render/choice.h.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_FILTER_H
#define BBF_CLIENT_FILTER_H

#include "client/client.h"
#include "render/render.h"
#include "snapshot/snapshot.h"

/* Does the command line ask for a part of a snapshot only? */
bool bbf_filter_is_set(const struct bbf_command_line *request);

/* Leave out what the command line does not ask for; a note says how much that is. An exit code; if
 * it is not 0 the reason is printed (`who`: the snapshot's place). */
int bbf_filter(const struct bbf_command_line *request, const char *who,
               struct bbf_snapshot *snapshot);

/* Can `format` show the losses that the command line chooses? Most formats have all losses. An exit
 * code, as above. */
int bbf_filter_check(const struct bbf_command_line *request, enum bbf_format format);

#endif
