/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/growth.h - since when and how fast lives are lost, which places hold more and more, and
 * when direct memory ends, from the histories of a snapshot.
 *
 * Threads: any; pure, but for memory while a rate is computed. Errors: BBF_ENOMEM. Units: bytes,
 * seconds, milliseconds since 1970.
 */
#ifndef BBF_RENDER_GROWTH_H
#define BBF_RENDER_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "render/view.h"
#include "snapshot/snapshot.h"

/*
 * Losses of some places. The rate is the mean of the whole intervals after the one of the first
 * loss, which has those that a scan found at once; or of all intervals that are kept, if the first
 * loss is older.
 */
struct bbf_loss_rate {
    int64_t first_ms, last_ms; /* found; 0: there is no history */
    uint64_t lives, bytes;     /* found lost in `seconds` */
    uint64_t seconds;          /* 0: fewer than two whole intervals, no rate yet */
    /* Nothing was found for three intervals and more than twice as long as ever between two
     * losses. */
    bool stopped;
};

/* Of the rows of lost lives that `wanted` accepts (NULL: all). */
int bbf_loss_rate(const struct bbf_snapshot *snapshot,
                  bool (*wanted)(const struct bbf_snapshot *snapshot, size_t row, void *ctx),
                  void *ctx, struct bbf_loss_rate *rate);
/* The same of the lives that a divergence has lost. */
int bbf_loss_rate_of(const struct bbf_view *view, const struct bbf_divergence *divergence,
                     struct bbf_loss_rate *rate);

/*
 * What a place holds, of lives that are open for longer than an interval. It is growing if its mean
 * rose from the first to the second and to the last third of its intervals, at least six, by a
 * tenth or more in all, and it has more now than at the first.
 */
struct bbf_hold_rate {
    bool growing;
    int64_t since_ms; /* the first interval of the history with something */
    uint64_t then, now, seconds;
};
struct bbf_hold_rate bbf_hold_rate(const struct bbf_snapshot *snapshot,
                                   const struct bbf_snap_growth *row);

/* When the memory of direct buffers ends. */
struct bbf_direct_end {
    bool known;           /* false: no limit is known, or nothing grows */
    uint64_t used, limit; /* of the counter that reaches its limit first */
    double lost, held;    /* bytes a second: found lost, and more held at places that grow */
    double seconds;       /* until used is limit, if both continue */
};
int bbf_direct_end(const struct bbf_snapshot *snapshot, struct bbf_direct_end *end);

/* "14:02Z"; a day and more before the snapshot with its date. */
void bbf_growth_clock(struct bbf_buf *out, const struct bbf_snapshot *snapshot, int64_t ms);
/* "1.1 MiB/min"; less than 1 KiB a minute by the hour. Of no bytes: "12 buffers/min". */
void bbf_growth_per_minute(struct bbf_buf *out, double bytes, double lives, double seconds);
/* "3 h 10 min", "59 s"; rounded down. */
void bbf_growth_duration(struct bbf_buf *out, double seconds);

/* "since 14:02Z, 1.1 MiB/min", "since 14:02Z", "since 14:02Z, none found after 14:40Z". */
void bbf_loss_rate_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                        const struct bbf_loss_rate *rate);

/* llm: a section of rows; nothing where there is no history. */
int bbf_growth_rows(struct bbf_buf *out, const struct bbf_view *view);

#endif
