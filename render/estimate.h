/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/estimate.h - how many buffers there were in all, where windows of time watched a share of
 * the allocations (docs/windows.md, ADR 55).
 *
 * The count is taken as that of independent events that were each watched with the probability of
 * the share (the interval of a Poisson mean by Wilson and Hilferty, narrowed by what a share near 1
 * leaves to chance), in windows that differ from each other as much as their allocations did.
 * Losses that come in bursts shorter than a window differ more, and then the true interval is
 * wider.
 *
 * Threads: any; pure.
 */
#ifndef BBF_RENDER_ESTIMATE_H
#define BBF_RENDER_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

struct bbf_estimate {
    double at, low, high; /* buffers; 95 % */
};

/* Was less than everything watched? Else counts are exact, and nothing below adds to `out`. */
bool bbf_is_windowed(const struct bbf_snapshot *snapshot);
/* Of `count` watched ones. Never fewer than these. */
struct bbf_estimate bbf_estimate_of(const struct bbf_snap_windows *windows, uint64_t count);

/* ", about 12,900 (11,500 to 14,500) in all" */
void bbf_estimate_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot, uint64_t count);
/* Of the JSON document: "windows":{…},; and of a leak: ,"estimated":… */
void bbf_estimate_json(struct bbf_buf *out, const struct bbf_snap_windows *windows);
void bbf_estimate_json_leak(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                            uint64_t count);

#endif
