/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/filter.h - --only and --depth: what of a snapshot is shown.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_FILTER_H
#define BBF_CLIENT_FILTER_H

#include "client/client.h"
#include "snapshot/snapshot.h"

/*
 * Is `pattern` a part of the step's name, from one boundary of names to another? "CartParser",
 * "CartParser.total", "shop.CartParser" and "com.shop" are parts of com.shop.CartParser.total;
 * "Cart" is not. '.' also matches '$'.
 */
bool bbf_filter_matches(const struct bbf_snap_site *site, const char *pattern);

/* Does the command line ask for a part of a snapshot only? */
bool bbf_filter_is_set(const struct bbf_command_line *request);

/* Leave out what the command line does not ask for; a note says how much that is. An exit code; if
 * it is not 0 the reason is printed (`who`: the snapshot's place). */
int bbf_filter(const struct bbf_command_line *request, const char *who,
               struct bbf_snapshot *snapshot);

#endif
