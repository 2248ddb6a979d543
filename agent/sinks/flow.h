/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/sinks/flow.h - what each path carried since the summary before: a SUMMARY in, lines out. It
 * remembers one number for each path, BBF_FLOW_PLACES paths at most.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_SINKS_FLOW_H
#define BBF_AGENT_SINKS_FLOW_H

#include <stddef.h>

#include "core/buf.h"
#include "render/path.h"
#include "snapshot/snapshot.h"

enum { BBF_FLOW_PLACES = 16384, BBF_FLOW_LINES = 1024 };

/* One path: its line and its steps, valid during the call. */
typedef void bbf_flow_take(const char *line, const struct bbf_path *path, void *context);

/*
 * Give the line of each path on which lives ended since the call before; the first time, and after
 * a reset, of each path on which lives ended so far. At most BBF_FLOW_LINES: what is left out comes
 * with the next summary, and the last line has its number. Returns the number of paths that are in
 * no line, because there are more than BBF_FLOW_PLACES or no memory: all that a life ended on, as
 * nothing says which of them would be new.
 */
size_t bbf_flow_lines(const struct bbf_snapshot *snapshot, bbf_flow_take *take, void *context);
/* Nothing is wanted any more: forget the numbers. */
void bbf_flow_forget(void);

#endif
