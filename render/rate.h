/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/rate.h - a share that was counted, with the interval that it is known within, at 95 %. Of
 * a share: Wilson's score interval (1927). Of the difference of two: Newcombe's hybrid score
 * interval (1998, method 10), which is made of Wilson's. Both are right for small numbers: 0 of 10
 * is 0 to 28 %, 1 of 1 is 21 to 100 %, and never below 0 or above 1 (ADR 57).
 *
 * They take lives as independent. Buffers that are lost in bursts are not, and then the true
 * interval is wider.
 *
 * Units: shares, 0 to 1. Threads: any; pure.
 */
#ifndef BBF_RENDER_RATE_H
#define BBF_RENDER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

struct bbf_interval {
    double at, low, high;
};

/* `lost` of `passed`; both are scaled counts of a sample of one in `sampled` (0, 1: of all), and
 * the interval is that of the lives that were followed. Of 0: 0, from 0 to 1. */
struct bbf_interval bbf_rate_of(uint64_t lost, uint64_t passed, uint64_t sampled);

/* now - before: from -1 to 1. Above 0 in the whole interval: it became worse, not by chance. */
struct bbf_interval bbf_rate_change(const struct bbf_interval *before,
                                    const struct bbf_interval *now);

/* A share per 1,000: "96.2", "0.0412", "0"; with its sign if `sign`. The same in each locale. */
void bbf_rate_text(struct bbf_buf *out, double share, bool sign);

/* "96.2 per 1,000 (95%: 59.1 to 152.5)" */
void bbf_rate_interval_text(struct bbf_buf *out, const struct bbf_interval *rate);

#endif
