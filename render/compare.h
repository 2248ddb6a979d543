/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/compare.h - the leaks of a snapshot beside those of an earlier one, by their ids
 * (render/fingerprint.h): new, worse, unchanged, better, gone. It compares the rate of loss, not
 * its count: twice the load with the same code is no change.
 *
 * An entry is a divergence of each snapshot, or several: the same bug can be joined differently in
 * two runs, and is known by the step where most of its lives ended. So two divergences are one
 * entry if any of their leak rows have the same id.
 *
 * Threads: one owner. Units: lives, bytes. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_COMPARE_H
#define BBF_RENDER_COMPARE_H

#include "render/rate.h"
#include "render/view.h"

enum bbf_change { BBF_NEW, BBF_WORSE, BBF_UNCHANGED, BBF_BETTER, BBF_GONE };
enum { BBF_CHANGES = BBF_GONE + 1 };

/* One leak in one snapshot. */
struct bbf_loss {
    uint32_t row; /* of view->divergences, the worst; BBF_NO_NODE: the snapshot does not have it */
    uint64_t leaked, aged;
    uint64_t bytes, leaked_bytes; /* of both, of the leaked */
    uint64_t passed;              /* lives that reached the place */
    struct bbf_interval rate;     /* of leaked and aged */
};

struct bbf_compared {
    enum bbf_change change; /* BBF_NEW without an earlier snapshot */
    uint64_t id;
    struct bbf_loss before, now;
    struct bbf_interval difference; /* of the rates, where both are there */
};

struct bbf_comparison {
    struct bbf_compared *rows; /* by change, then as in the divergences: the worst first */
    size_t count;
    size_t of[BBF_CHANGES]; /* rows */
};

/* Both views have their divergences; `before` may be NULL. A rate that changed by less than
 * `tolerance` percent of the lower one is unchanged, however sure it is. */
int bbf_compare(struct bbf_comparison *comparison, struct bbf_view *before, struct bbf_view *now,
                unsigned tolerance);
void bbf_comparison_free(struct bbf_comparison *comparison);

/* "new", "worse", "unchanged", "better", "gone". */
const char *bbf_change_name(enum bbf_change change);

#endif
