/* SPDX-License-Identifier: Apache-2.0 */
#include "render/growth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/err.h"
#include "render/direct_counter.h"
#include "render/json_names.h"
#include "render/text.h"

enum { WHOLE_LEAST = 2, THIRDS_LEAST = 6, QUIET_LEAST = 3 };

/* ---- lost ---- */

/* The interval of a moment, from 0; before 0: it is not kept any more. */
static int64_t interval_of(const struct bbf_snapshot *s, int64_t ms)
{
    const int64_t newest = (int64_t)s->history.intervals - 1;
    const uint64_t age = s->captured_at_ms > ms ? (uint64_t)s->captured_at_ms - (uint64_t)ms : 0;
    const uint64_t before =
        age / 1000 > s->history.current_seconds ? age / 1000 - s->history.current_seconds : 0;
    const uint64_t intervals = before / s->history.seconds + (before % s->history.seconds != 0);

    return intervals > (uint64_t)newest ? -1 : newest - (int64_t)intervals;
}

/* `at` has all intervals. */
static void rate_of(const struct bbf_snapshot *s, const struct bbf_snap_interval *at,
                    struct bbf_loss_rate *rate)
{
    const int64_t first = interval_of(s, rate->first_ms);
    const int64_t current = (int64_t)s->history.intervals - 1;
    int64_t last = first, gap = 0;

    for (int64_t i = first + 1; i <= current; i++) {
        if (at[i].lives != 0) {
            gap = i - last > gap ? i - last : gap;
            last = i;
        }
        if (i < current) {
            rate->lives += at[i].lives;
            rate->bytes += at[i].bytes;
        }
    }
    if (current - first - 1 >= WHOLE_LEAST)
        rate->seconds = (uint64_t)(current - first - 1) * s->history.seconds;
    rate->stopped = current - last > QUIET_LEAST && current - last > 2 * gap;
}

/* Both end with the newest interval. */
static void add_row_to(struct bbf_snap_interval *sum, size_t n, const struct bbf_snap_growth *row,
                       struct bbf_loss_rate *rate)
{
    for (size_t k = 0; k < row->n; k++) {
        sum[n - row->n + k].lives += row->at[k].lives;
        sum[n - row->n + k].bytes += row->at[k].bytes;
    }
    if (rate->first_ms == 0 || row->first_ms < rate->first_ms)
        rate->first_ms = row->first_ms;
    if (rate->last_ms == 0 || row->last_ms > rate->last_ms)
        rate->last_ms = row->last_ms;
}

int bbf_loss_rate(const struct bbf_snapshot *s,
                  bool (*wanted)(const struct bbf_snapshot *, size_t, void *), void *ctx,
                  struct bbf_loss_rate *rate)
{
    const size_t n = s->history.intervals;
    struct bbf_snap_interval *sum = calloc(n + 1, sizeof *sum);

    *rate = (struct bbf_loss_rate){0};
    if (sum == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_growth; i++) {
        if (s->growth[i].of == BBF_GROWTH_LOST && (wanted == NULL || wanted(s, i, ctx)))
            add_row_to(sum, n, &s->growth[i], rate);
    }
    if (rate->first_ms != 0)
        rate_of(s, sum, rate);
    free(sum);
    return BBF_OK;
}

struct part {
    const struct bbf_divergences *all;
    uint32_t number;
};

static bool is_part(const struct bbf_snapshot *s, size_t row, void *ctx)
{
    const struct part *part = ctx;

    (void)s;
    return part->all->of_growth[row] == part->number;
}

int bbf_loss_rate_of(const struct bbf_view *view, const struct bbf_divergence *d,
                     struct bbf_loss_rate *rate)
{
    struct part part = {&view->divergences, d->number};

    return bbf_loss_rate(view->snapshot, is_part, &part, rate);
}

/* ---- held ---- */

static double mean(const struct bbf_snap_interval *at, uint32_t from, uint32_t end)
{
    double sum = 0;

    for (uint32_t i = from; i < end; i++)
        sum += (double)at[i].bytes;
    return sum / (end - from);
}

struct bbf_hold_rate bbf_hold_rate(const struct bbf_snapshot *s, const struct bbf_snap_growth *row)
{
    struct bbf_hold_rate rate = {0};
    uint32_t from = 0;

    while (from < row->n && row->at[from].lives == 0)
        from++;
    const uint32_t n = row->n - from;
    if (n < THIRDS_LEAST)
        return rate;
    const struct bbf_snap_interval *at = row->at + from;
    const double first = mean(at, 0, n / 3), second = mean(at, n / 3, 2 * n / 3),
                 third = mean(at, 2 * n / 3, n);
    rate.then = at[0].bytes;
    rate.now = at[n - 1].bytes;
    rate.seconds = (n - 1) * s->history.seconds;
    rate.since_ms =
        s->captured_at_ms - (int64_t)((s->history.current_seconds + rate.seconds) * 1000);
    rate.growing = first < second && second < third && third >= 1.1 * first && rate.now > rate.then;
    return rate;
}

/* ---- when direct memory ends ---- */

static bool takes_direct(const struct bbf_snapshot *s, size_t row, void *ctx)
{
    (void)ctx;
    return s->growth[row].memory == BBF_MEM_DIRECT && s->growth[row].lost != BBF_LOST_NOTHING;
}

static double held_rate(const struct bbf_snapshot *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n_growth; i++) {
        const struct bbf_snap_growth *row = &s->growth[i];
        if (row->of != BBF_GROWTH_HELD || row->memory != BBF_MEM_DIRECT)
            continue;
        const struct bbf_hold_rate rate = bbf_hold_rate(s, row);
        if (rate.growing)
            sum += (double)(rate.now - rate.then) / (double)rate.seconds;
    }
    return sum;
}

/* Take the counter that reaches its limit first. */
static void look_at(struct bbf_direct_end *end, uint64_t used, uint64_t limit)
{
    const uint64_t left = used < limit ? limit - used : 0;

    if (used == BBF_NOT_TOLD || limit == BBF_NOT_TOLD || limit == 0)
        return;
    if (end->known && left >= end->limit - end->used)
        return;
    *end = (struct bbf_direct_end){.known = true,
                                   .used = used < limit ? used : limit,
                                   .limit = limit,
                                   .lost = end->lost,
                                   .held = end->held,
                                   .seconds = (double)left / (end->lost + end->held)};
}

int bbf_direct_end(const struct bbf_snapshot *s, struct bbf_direct_end *end)
{
    const struct bbf_snap_reconciled *r = &s->reconciled;
    struct bbf_loss_rate lost;
    int err = bbf_loss_rate(s, takes_direct, NULL, &lost);

    *end = (struct bbf_direct_end){.held = held_rate(s)};
    if (err != BBF_OK)
        return err;
    if (lost.seconds != 0 && !lost.stopped)
        end->lost = (double)lost.bytes / (double)lost.seconds;
    if (!r->read || end->lost + end->held <= 0)
        return BBF_OK;
    const enum bbf_direct_counter counts = bbf_direct_counter(s);
    if (counts != BBF_COUNTED_BY_NIO)
        look_at(end, r->used_direct_, r->direct_limit_);
    if (counts != BBF_COUNTED_BY_NETTY)
        look_at(end, r->nio_reserved_, r->nio_limit_);
    return BBF_OK;
}

/* ---- words ---- */

static void add_time(struct bbf_buf *out, int64_t ms, const char *format)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[40];

    if (gmtime_r(&seconds, &tm) == NULL || strftime(text, sizeof text, format, &tm) == 0)
        return;
    bbf_buf_str(out, text);
}

void bbf_growth_clock(struct bbf_buf *out, const struct bbf_snapshot *s, int64_t ms)
{
    const int64_t day = INT64_C(86400000);

    add_time(out, ms, ms <= s->captured_at_ms - day ? "%Y-%m-%d %H:%MZ" : "%H:%MZ");
}

static uint64_t whole(double number)
{
    return number < 0 ? 0 : number >= 0x1p63 ? UINT64_C(1) << 63 : (uint64_t)(number + 0.5);
}

void bbf_growth_per_minute(struct bbf_buf *out, double bytes, double lives, double seconds)
{
    const double minutes = seconds / 60;

    if (bytes <= 0) {
        bool slow = lives < 10 * minutes;
        bbf_buf_printf(out, "%" PRIu64 " buffers/%s", whole(lives / minutes * (slow ? 60 : 1)),
                       slow ? "h" : "min");
        return;
    }
    bool slow = bytes < 1024 * minutes;
    bbf_text_bytes(out, whole(bytes / minutes * (slow ? 60 : 1)));
    bbf_buf_str(out, slow ? "/h" : "/min");
}

void bbf_growth_duration(struct bbf_buf *out, double seconds)
{
    const uint64_t minutes = whole(seconds / 60 - 0.5), hours = minutes / 60, days = hours / 24;

    if (days >= 365)
        bbf_buf_str(out, "more than a year");
    else if (days >= 1)
        bbf_buf_printf(out, "%" PRIu64 " d %" PRIu64 " h", days, hours % 24);
    else if (hours >= 1)
        bbf_buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", hours, minutes % 60);
    else if (minutes >= 1)
        bbf_buf_printf(out, "%" PRIu64 " min", minutes);
    else
        bbf_buf_printf(out, "%" PRIu64 " s", whole(seconds - 0.5));
}

void bbf_loss_rate_text(struct bbf_buf *out, const struct bbf_snapshot *s,
                        const struct bbf_loss_rate *rate)
{
    bbf_buf_str(out, "since ");
    bbf_growth_clock(out, s, rate->first_ms);
    if (rate->stopped) {
        bbf_buf_str(out, ", none found after ");
        bbf_growth_clock(out, s, rate->last_ms);
    } else if (rate->seconds != 0 && rate->lives != 0) {
        bbf_buf_str(out, ", ");
        bbf_growth_per_minute(out, (double)rate->bytes, (double)rate->lives, (double)rate->seconds);
    }
}

/* ---- llm ---- */

static void add_row(struct bbf_buf *out, const struct bbf_view *view,
                    const struct bbf_snap_growth *row, uint64_t bytes, uint64_t seconds)
{
    static const char time[] = "%Y-%m-%dT%H:%M:%SZ";

    bbf_buf_printf(out, "of=%s|memory=%s|since=", bbf_json_growth[row->of],
                   bbf_memory_name(row->memory));
    add_time(out, row->first_ms, time);
    bbf_buf_str(out, "|last=");
    add_time(out, row->last_ms, time);
    bbf_buf_printf(out, "|bytes=%" PRIu64 "|seconds=%" PRIu64 "|at=", bytes, seconds);
    bbf_view_name(out, view, row->node);
    bbf_buf_char(out, '\n');
}

int bbf_growth_rows(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct bbf_snap_interval *sum = calloc(s->history.intervals + 1, sizeof *sum);
    bool begun = false;

    if (sum == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_growth && !out->failed; i++) {
        const struct bbf_snap_growth *row = &s->growth[i];
        const struct bbf_hold_rate held = bbf_hold_rate(s, row);
        struct bbf_loss_rate lost = {0};
        if (row->of == BBF_GROWTH_HELD && !held.growing)
            continue;
        bbf_buf_str(out, begun ? "" : "\nGROWTH:\n");
        begun = true;
        if (row->of == BBF_GROWTH_HELD) {
            add_row(out, view, row, held.now - held.then, held.seconds);
            continue;
        }
        memset(sum, 0, s->history.intervals * sizeof *sum);
        add_row_to(sum, s->history.intervals, row, &lost);
        rate_of(s, sum, &lost);
        add_row(out, view, row, lost.bytes, lost.seconds);
    }
    free(sum);
    return BBF_OK;
}
