/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/netty_report.h - a snapshot of what was gathered from Netty's events.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_NETTY_REPORT_H
#define BBF_CLIENT_NETTY_REPORT_H

#include <stdint.h>

#include "client/netty_state.h"
#include "snapshot/snapshot.h"

/* Lives that were open for `age_ns` at the end are aged (0: none is). The state's counts are
 * completed, its strings become the snapshot's. BBF_ENOMEM. */
int bbf_netty_report(struct bbf_netty_state *state, uint64_t age_ns, struct bbf_snapshot **out);

#endif
