/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/samples.h - a snapshot as profilers see it: paths with values. Each leak row is a sample,
 * and so are the open lives of a node that are not aged. Lost and open lives have values of
 * their own, so that no tool adds the two.
 *
 * Threads: the view's owner. Units: buffers, bytes; both as the tracker scaled them (sample=).
 */
#ifndef BBF_RENDER_SAMPLES_H
#define BBF_RENDER_SAMPLES_H

#include "render/view.h"

/* id, the name of its type, unit */
#define BBF_SAMPLE_TYPES(XX)                                                                       \
    XX(LEAKED, "leaked_buffers", "count")                                                          \
    XX(LEAKED_BYTES, "leaked_bytes", "bytes")                                                      \
    XX(OPEN, "open_buffers", "count")                                                              \
    XX(OPEN_BYTES, "open_bytes", "bytes")

enum bbf_sample_type {
#define XX(id, name, unit) BBF_SAMPLE_##id,
    BBF_SAMPLE_TYPES(XX)
#undef XX
        BBF_SAMPLE_COUNT
};

struct bbf_sample_name {
    const char *name, *unit;
};
extern const struct bbf_sample_name bbf_sample_names[BBF_SAMPLE_COUNT];

struct bbf_sample {
    uint32_t node;
    const struct bbf_snap_leak *leak; /* NULL: open lives that are not aged */
    uint64_t values[BBF_SAMPLE_COUNT];
};

/* Each sample, in the order of the leak rows, then of the nodes. BBF_ENOMEM: none. */
int bbf_samples_each(const struct bbf_view *view,
                     void (*take)(void *ctx, const struct bbf_sample *sample), void *ctx);

/* The verdict of a sample: "leaked", "aged", "open". */
const char *bbf_sample_verdict(const struct bbf_sample *sample);

/* How many buffers one that was followed stands for. */
uint64_t bbf_sample_period(const struct bbf_snapshot *snapshot);

/* Nanoseconds from `since_ms` (milliseconds since 1970) to the snapshot; 0: since_ms is 0, or the
 * clock was set back. */
uint64_t bbf_sample_duration_ns(const struct bbf_snapshot *snapshot, int64_t since_ms);

/* What signed numbers of 64 bits can hold of it. */
static inline int64_t bbf_sample_signed(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

#endif
