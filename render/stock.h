/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/stock.h - the leaks of a snapshot for stock BTrace clients: a line each (EVENT leaks), or
 * a table of the largest (EVENT top). Names are escaped (core/safe.h).
 *
 * Threads: any; the snapshot is only read. Errors: BBF_ENOMEM; BBF_EFORMAT as render/view.h.
 */
#ifndef BBF_RENDER_STOCK_H
#define BBF_RENDER_STOCK_H

#include <time.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

enum { BBF_STOCK_ROWS = 20, BBF_STOCK_COLUMNS = 6 };

/* What the columns of the table are, in the order of the members of bbf_stock_row. */
extern const char *const bbf_stock_columns[BBF_STOCK_COLUMNS];

struct bbf_stock_row {
    const char *verdict, *memory; /* static */
    uint64_t buffers, bytes, oldest_seconds;
    const char *last_step; /* the table's */
};

struct bbf_stock_table {
    struct bbf_stock_row rows[BBF_STOCK_ROWS];
    size_t n;
    struct bbf_buf steps[BBF_STOCK_ROWS]; /* what last_step points into */
};

/* Every leak, most bytes first: verdict, memory, counts, the path; "no leaks" without any. */
int bbf_stock_leaks(struct bbf_buf *out, const struct bbf_snapshot *snapshot);

/* The largest leaks. After an error there is nothing to free. */
int bbf_stock_table_init(struct bbf_stock_table *table, const struct bbf_snapshot *snapshot);
void bbf_stock_table_free(struct bbf_stock_table *table);

/* Numbers that the totals do not have: nodes that are roots, and nodes where buffers leaked. */
struct bbf_stock_numbers {
    uint64_t roots, leak_paths;
};
struct bbf_stock_numbers bbf_stock_count(const struct bbf_snapshot *snapshot);

/* A line for each node: "PARENT REF PASSED RELEASED LEAKED NAME": the parent's line
 * from 0, -1 of a root; the least of the reference count's bucket; lives that came there, were
 * released there, leaked there; the full name. */
int bbf_stock_nodes(struct bbf_buf *out, const struct bbf_snapshot *snapshot);

/* What the Java tracker's attribute Summary has before the summary: a title, the time, two counts.
 */
void bbf_stock_tracking_status(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                               time_t now);

#endif
