/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why direct memory grows: one verdict, and the shares that it follows from. Each share has its
 * evidence in the line below it.
 */
#include "render/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "render/direct_counter.h"
#include "render/formats.h"
#include "render/growth.h"
#include "render/head.h"
#include "render/pins.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/usage.h"
#include "render/view.h"

enum { PLACES_SHOWN = 3, NAME_WIDTH = 23 };

/* ---- the account ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_told(uint64_t number)
{
    return number != BBF_NOT_TOLD;
}

static uint64_t lost_direct(const struct bbf_snapshot *s)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < s->n_leaks; i++)
        if (s->leaks[i].verdict == BBF_VERDICT_LEAKED && s->leaks[i].memory == BBF_MEM_DIRECT &&
            s->leaks[i].lost != BBF_LOST_NOTHING)
            bytes += s->leaks[i].bytes;
    return bytes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The shares of one pool; returns their sum. */
static uint64_t add_pool(struct bbf_why *w, const struct bbf_snap_pool *row)
{
    uint64_t ours = larger(row->rounded_, row->bytes_);
    uint64_t in_use = is_told(row->netty_bytes_) ? larger(row->netty_bytes_, ours) : ours;
    uint64_t of_chunks = is_told(row->netty_used_) ? larger(row->netty_used_, in_use) : in_use;
    uint64_t all = is_told(row->reserved_) ? larger(row->reserved_, of_chunks) : of_chunks;

    w->held += row->bytes_; /* and what was lost, which is taken off at the end */
    w->rounding += ours - row->bytes_;
    w->unexplained += in_use - ours;
    w->caches += of_chunks - in_use;
    uint64_t pinned = is_told(row->pinned_free_) ? least(row->pinned_free_, all - of_chunks) : 0;
    w->pinned += pinned;
    w->free_chunks += all - of_chunks - pinned;
    return all;
}

/* The JVM's direct memory: Netty's own counter and java.nio's, where these are of the same memory
 * only once. */
static uint64_t process_total(const struct bbf_snapshot *s)
{
    const struct bbf_snap_reconciled *r = &s->reconciled;
    uint64_t used = is_told(r->used_direct_) ? r->used_direct_ : 0;
    uint64_t nio = is_told(r->nio_capacity_) ? r->nio_capacity_ : 0;

    return bbf_direct_counter(s) == BBF_COUNTED_BY_BOTH ? larger(used, nio) : used + nio;
}

struct bbf_why bbf_why_account(const struct bbf_snapshot *snapshot)
{
    const struct bbf_snap_reconciled *r = &snapshot->reconciled;
    struct bbf_why w = {.known = r->read, .sampled = r->sampled};
    uint64_t netty = 0, lost = lost_direct(snapshot);

    for (size_t i = 0; i < r->n_pools; i++)
        if (r->pools[i].memory == BBF_MEM_DIRECT)
            netty += add_pool(&w, &r->pools[i]);
    if (!w.known) {
        w.lost = lost;
        w.held = snapshot->totals.live_bytes_;
        return w;
    }
    w.lost = least(lost, w.held);
    w.held -= w.lost;
    w.has_process = is_told(r->used_direct_) || is_told(r->nio_capacity_);
    w.total = larger(process_total(snapshot), netty);
    w.not_netty = w.total - netty;
    return w;
}

bool bbf_why_has_loss(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_leaks; i++)
        if (snapshot->leaks[i].verdict == BBF_VERDICT_LEAKED)
            return true;
    return false;
}

/* ---- growth ---- */

static bool is_of_memory(const struct bbf_snapshot *s, size_t row, void *ctx)
{
    return s->growth[row].memory == *(const enum bbf_memory *)ctx;
}

/* "growth: direct buffers are lost since 14:02Z, 1.1 MiB/min (mean of 59 min)" */
static int add_lost_growth(struct bbf_buf *out, const struct bbf_snapshot *s)
{
    for (enum bbf_memory m = BBF_MEM_DIRECT; m <= BBF_MEM_UNKNOWN; m++) {
        struct bbf_loss_rate rate;
        int err = bbf_loss_rate(s, is_of_memory, &m, &rate);
        if (err != BBF_OK)
            return err;
        if (rate.first_ms == 0)
            continue;
        bbf_buf_printf(out, "growth: %s buffers are lost ",
                       m == BBF_MEM_UNKNOWN ? "other" : bbf_memory_name(m));
        bbf_loss_rate_text(out, s, &rate);
        if (rate.seconds != 0 && rate.lives != 0 && !rate.stopped) {
            bbf_buf_str(out, " (mean of ");
            bbf_growth_duration(out, (double)rate.seconds);
            bbf_buf_char(out, ')');
        }
        bbf_buf_char(out, '\n');
    }
    return BBF_OK;
}

/* The places that grow, most bytes first. */
static void add_held_growth(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;
    const bool in_minutes = s->history.seconds % 60 == 0;
    size_t shown = 0;

    for (size_t i = 0; i < s->n_growth && shown < PLACES_SHOWN; i++) {
        const struct bbf_snap_growth *row = &s->growth[i];
        if (row->of != BBF_GROWTH_HELD)
            continue;
        const struct bbf_hold_rate rate = bbf_hold_rate(s, row);
        if (!rate.growing)
            continue;
        shown++;
        bbf_buf_str(out, "growth: ");
        bbf_view_name(out, view, row->node);
        bbf_buf_str(out, " holds ");
        bbf_text_lost_bytes(out, rate.now, row->memory);
        bbf_buf_printf(out, " for more than %" PRIu64 " %s",
                       s->history.seconds / (in_minutes ? 60 : 1), in_minutes ? "min" : "s");
        bbf_buf_str(out, ", ");
        bbf_text_bytes(out, rate.then);
        bbf_buf_str(out, " at ");
        bbf_growth_clock(out, s, rate.since_ms);
        bbf_buf_str(out, ": ");
        bbf_growth_per_minute(out, (double)(rate.now - rate.then), 0, (double)rate.seconds);
        bbf_buf_char(out, '\n');
    }
}

static int add_growth(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct bbf_direct_end end;
    int err = bbf_direct_end(s, &end);

    if (err == BBF_OK)
        err = add_lost_growth(out, s);
    if (err != BBF_OK)
        return err;
    add_held_growth(out, view);
    if (!end.known)
        return BBF_OK;
    bbf_buf_str(out, "growth: direct memory ends in ");
    bbf_growth_duration(out, end.seconds);
    bbf_buf_str(out, " if it grows on at ");
    bbf_growth_per_minute(out, end.lost + end.held, 0, 1);
    bbf_buf_str(out, ": ");
    bbf_text_bytes(out, end.used);
    bbf_buf_str(out, " of at most ");
    bbf_text_bytes(out, end.limit);
    bbf_buf_str(out, " are used\n");
    return BBF_OK;
}

/* ---- the text ---- */

static void add_part(struct bbf_buf *out, const struct bbf_why *w, const char *name, uint64_t bytes)
{
    struct bbf_buf size = BBF_BUF_INIT;

    bbf_text_bytes(&size, bytes);
    bbf_buf_printf(out, "  %-*s %10s", NAME_WIDTH, name, bbf_buf_cstr(&size));
    bbf_buf_free(&size);
    if (w->known && w->total != 0) {
        bbf_buf_str(out, "  ");
        bbf_text_percent(out, bytes, w->total);
    }
    bbf_buf_char(out, '\n');
}

static void add_detail(struct bbf_buf *out, const char **glue, uint64_t bytes, const char *what)
{
    if (bytes == 0)
        return;
    bbf_buf_str(out, *glue);
    bbf_text_bytes(out, bytes);
    bbf_buf_printf(out, " %s", what);
    *glue = ", ";
}

static void add_since(struct bbf_buf *out, const struct bbf_view *view,
                      const struct bbf_divergence *d)
{
    struct bbf_loss_rate rate;

    if (bbf_loss_rate_of(view, d, &rate) != BBF_OK) {
        out->failed = true;
    } else if (rate.first_ms != 0) {
        bbf_buf_str(out, ", ");
        bbf_loss_rate_text(out, view->snapshot, &rate);
    }
}

static void add_losses(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_divergences *all = &view->divergences;
    size_t shown = 0;

    for (size_t i = 0; i < all->count && shown < PLACES_SHOWN; i++) {
        const struct bbf_divergence *d = &all->rows[i];
        if (d->leaked == 0)
            continue;
        bbf_buf_printf(out, "      %" PRIu64 " of %" PRIu64 " end in ", d->leaked, d->passed);
        bbf_view_name(out, view, d->last);
        bbf_buf_str(out, ": ");
        bbf_text_lost_bytes(out, d->bytes, d->memory);
        add_since(out, view, d);
        bbf_buf_char(out, '\n');
        shown++;
    }
}

static int compare_live(const void *a, const void *b, void *nodes_of)
{
    const struct bbf_snap_node *nodes = nodes_of;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (nodes[x].live_bytes_ != nodes[y].live_bytes_)
        return nodes[x].live_bytes_ > nodes[y].live_bytes_ ? -1 : 1;
    return (x > y) - (x < y);
}

static int add_holders(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;
    uint32_t *live = calloc(s->n_nodes + 1, sizeof *live);
    size_t n = 0;

    if (live == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].live_bytes_ != 0)
            live[n++] = (uint32_t)i;
    if (n > 1)
        qsort_r(live, n, sizeof *live, compare_live, s->nodes);
    for (size_t i = 0; i < n && i < PLACES_SHOWN; i++) {
        const struct bbf_snap_node *node = &s->nodes[live[i]];
        bbf_buf_printf(out, "      %" PRIu64 " at ", node->live_);
        bbf_view_name(out, view, live[i]);
        bbf_buf_str(out, ": ");
        bbf_text_bytes(out, node->live_bytes_);
        if (node->aged_ != 0)
            bbf_buf_printf(out, ", %" PRIu64 " of them aged", node->aged_);
        bbf_buf_char(out, '\n');
    }
    free(live);
    return BBF_OK;
}

static void add_pools(struct bbf_buf *out, const struct bbf_why *w)
{
    const char *glue = "      ";

    add_part(out, w, "in the pools", w->rounding + w->caches + w->free_chunks);
    add_detail(out, &glue, w->free_chunks, "free parts of chunks");
    add_detail(out, &glue, w->caches, "released buffers in thread caches");
    add_detail(out, &glue, w->rounding, "rounded up to size classes");
    if (w->rounding + w->caches + w->free_chunks != 0)
        bbf_buf_char(out, '\n');
}

static void add_rest(struct bbf_buf *out, const struct bbf_view *view, const struct bbf_why *w)
{
    add_part(out, w, "pinned by small buffers", w->pinned);
    bbf_pins_text(out, view, BBF_MEM_DIRECT, "      ", PLACES_SHOWN);
    add_pools(out, w);
    if (w->has_process) {
        add_part(out, w, "not Netty's", w->not_netty);
        if (w->not_netty != 0)
            bbf_buf_str(out,
                        "      direct memory of the JVM that Netty's allocators do not have\n");
    }
    add_part(out, w, w->sampled ? "not followed" : "unexplained", w->unexplained);
    if (w->unexplained != 0)
        bbf_buf_str(
            out, w->sampled
                     ? "      Netty has it in use; with sample= most buffers are not followed\n"
                     : "      Netty has it in use, and bbflow follows no buffer there: allocated "
                       "before it came, or not seen\n");
}

/* The largest share, in words. */
static void add_verdict(struct bbf_buf *out, const struct bbf_why *w,
                        const struct bbf_snapshot *snapshot)
{
    uint64_t pools = w->rounding + w->caches + w->free_chunks;
    const struct {
        uint64_t bytes;
        const char *text;
    } shares[] = {
        {w->held, "most of it is held by buffers that are open: in use, or not released yet"},
        {w->pinned, "most of it is in chunks that small buffers keep: release these to free it"},
        {pools, "most of it is memory that the pools keep and no buffer has: no leak"},
        {w->not_netty, "most of it is not Netty's: look at other users of direct memory"},
        {w->unexplained, "most of it is in use by buffers that bbflow does not follow"},
    };
    const char *most = "nothing was lost";
    uint64_t largest = 0;

    if (bbf_why_has_loss(snapshot)) {
        bbf_buf_printf(out, "verdict: a leak, %" PRIu64 " %s lost", snapshot->totals.leaked_,
                       snapshot->totals.leaked_ == 1 ? "buffer was" : "buffers were");
        if (w->lost == 0)
            bbf_buf_str(out, ", of which the garbage collector has freed the memory");
        bbf_buf_str(out, "; 'bbflow tree' has the paths\n");
        return;
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (shares[i].bytes > largest) {
            largest = shares[i].bytes;
            most = shares[i].text;
        }
    bbf_buf_printf(out, "verdict: no leak is proven; %s\n", most);
}

int bbf_render_why(struct bbf_buf *out, struct bbf_view *view,
                   const struct bbf_render_options *options)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    const struct bbf_why w = bbf_why_account(snapshot);
    int err = bbf_view_add_names(view, '\0');

    (void)options;
    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    if (err != BBF_OK)
        return err;
    add_verdict(out, &w, snapshot);
    err = add_growth(out, view);
    if (err != BBF_OK)
        return err;
    bbf_head_text(out, snapshot, "note: ");
    if (!w.known) {
        bbf_buf_str(out, "Netty's own numbers were not read: what bbflow followed\n");
    } else {
        bbf_text_bytes(out, w.total);
        bbf_buf_printf(out, " of direct memory%s:\n",
                       w.has_process ? ""
                                     : " in Netty's allocators (the JVM's total is not known)");
    }
    add_part(out, &w, w.sampled ? "lost (estimate)" : "lost", w.lost);
    add_losses(out, view);
    add_part(out, &w, w.sampled ? "held (estimate)" : "still held", w.held);
    err = add_holders(out, view);
    if (w.known)
        add_rest(out, view, &w);
    if (err == BBF_OK)
        err = bbf_usage_text(out, view, "      ", PLACES_SHOWN);
    bbf_reconciled_causes(out, &snapshot->reconciled, "note: ");
    return err;
}
