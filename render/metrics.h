/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/metrics.h - what metrics remember from one document to the next (formats prom and
 * openmetrics): which places have labels, and what the counters were before a reset.
 *
 * Invariants. A leak row belongs to one place for as long as the memory is kept: that of the entry
 * that it was part of when it was first seen. The first `most` places have a series each, all
 * others are one series; a place never changes from one to the other. So no counter ever decreases:
 * neither when entries join or divide, nor at a reset, after which bbf_metrics_carry() has kept
 * what was.
 *
 * Threads: one owner.
 */
#ifndef BBF_RENDER_METRICS_H
#define BBF_RENDER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/view.h"
#include "snapshot/snapshot.h"

enum { BBF_METRIC_MOST = 100, BBF_METRIC_PLACE_BYTES = 200 };

enum bbf_place_value {
    BBF_PLACE_BUFFERS,
    BBF_PLACE_LEAKED,
    BBF_PLACE_LEAKED_BYTES,
    BBF_PLACE_AGED,
    BBF_PLACE_AGED_BYTES,
    BBF_PLACE_VALUES
};

struct bbf_metric_place {
    uint64_t id;                           /* fingerprint of the entry; 0: the others */
    char name[BBF_METRIC_PLACE_BYTES + 1]; /* of its owner, safe UTF-8, may be cut */
    uint64_t now[BBF_PLACE_VALUES];        /* of the last snapshot */
    uint64_t carried[BBF_PLACE_VALUES];    /* until the last reset; counters only */
    uint64_t shown[BBF_PLACE_VALUES];      /* counters: the largest sum so far */
};

struct bbf_metrics;

/* `most`: places that have a series of their own. NULL: no memory. */
struct bbf_metrics *bbf_metrics_new(size_t most);
void bbf_metrics_free(struct bbf_metrics *metrics); /* NULL is allowed */

/* Sort the snapshot's losses into places. The view has names, divergences and owners. BBF_ENOMEM:
 * the values of now are unfinished, nothing else has changed. */
int bbf_metrics_gather(struct bbf_metrics *metrics, const struct bbf_view *view);

/* Places with a label, in the order in which they were found. */
const struct bbf_metric_place *bbf_metrics_places(const struct bbf_metrics *metrics, size_t *n);
/* All others together, and how many distinct places they are, in all snapshots so far. */
const struct bbf_metric_place *bbf_metrics_rest(const struct bbf_metrics *metrics);
size_t bbf_metrics_others(const struct bbf_metrics *metrics);
/* The place that has lost most in this snapshot; NULL: none has lost a buffer. */
const struct bbf_metric_place *bbf_metrics_worst(const struct bbf_metrics *metrics);

/* The counter number `of` of a document, never less than it was. */
enum { BBF_METRIC_TOTALS = 64 };
uint64_t bbf_metrics_total(struct bbf_metrics *metrics, size_t of, uint64_t now);

/*
 * A reset has happened: what the last document showed is added to what the next one counts, where
 * the counter has begun again. Exact if a document is made just before the reset and one just after
 * it. `nodes`: the nodes' ids have begun again also.
 */
void bbf_metrics_carry(struct bbf_metrics *metrics, bool nodes);

#endif
