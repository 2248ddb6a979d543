/* SPDX-License-Identifier: Apache-2.0 */
#include "render/usage.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/err.h"
#include "render/growth.h"
#include "render/text.h"

struct usage_sum {
    uint64_t byte_seconds, unwritten, not_read;
};

static struct usage_sum sum_of(const struct bbf_snapshot *s)
{
    struct usage_sum sum = {.byte_seconds = s->usage_of.unlisted};

    for (size_t i = 0; i < s->n_usage; i++) {
        sum.byte_seconds += s->usage[i].byte_seconds;
        sum.unwritten += s->usage[i].unwritten_byte_seconds;
        sum.not_read += s->usage[i].not_read;
    }
    return sum;
}

/* Bytes that were open at a random moment. */
static uint64_t mean(const struct bbf_snapshot *s, uint64_t byte_seconds)
{
    return byte_seconds / s->usage_of.seconds;
}

/* "C.sent, after B.encode": the last step, and the one before it unless that is the root. */
static void add_place(struct bbf_buf *out, const struct bbf_view *view, uint32_t node)
{
    const uint32_t before = view->parents[node];

    bbf_buf_str(out, " at ");
    bbf_view_name(out, view, node);
    if (before == BBF_NO_PARENT || view->parents[before] == BBF_NO_PARENT)
        return;
    bbf_buf_str(out, ", after ");
    bbf_view_name(out, view, before);
}

static void add_open(struct bbf_buf *out, const struct bbf_view *view, const char *indent,
                     size_t most, uint64_t all)
{
    const struct bbf_snapshot *s = view->snapshot;

    for (size_t i = 0; i < s->n_usage && i < most; i++) {
        const struct bbf_snap_usage *row = &s->usage[i];
        if (mean(s, row->byte_seconds) == 0)
            break;
        bbf_buf_str(out, indent);
        bbf_text_lost_bytes(out, mean(s, row->byte_seconds), row->memory);
        bbf_buf_str(out, " (");
        bbf_text_percent(out, row->byte_seconds, all);
        bbf_buf_char(out, ')');
        add_place(out, view, row->node);
        bbf_buf_char(out, '\n');
    }
}

static int compare_unwritten(const void *a, const void *b, void *usage)
{
    const struct bbf_snap_usage *rows = usage;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (rows[x].unwritten_byte_seconds != rows[y].unwritten_byte_seconds)
        return rows[x].unwritten_byte_seconds > rows[y].unwritten_byte_seconds ? -1 : 1;
    return (x > y) - (x < y);
}

static void add_unwritten_row(struct bbf_buf *out, const struct bbf_view *view,
                              const struct bbf_snap_usage *row)
{
    bbf_text_lost_bytes(out, mean(view->snapshot, row->unwritten_byte_seconds), row->memory);
    add_place(out, view, row->node);
    bbf_buf_str(out, ": ");
    bbf_text_bytes(out, row->measured_bytes / row->measured);
    bbf_buf_str(out, " asked, ");
    bbf_text_percent(out, row->measured_byte_seconds - row->unwritten_byte_seconds,
                     row->measured_byte_seconds);
    bbf_buf_str(out, " of it written");
    if (row->measured > 1)
        bbf_buf_printf(out, " (mean of %" PRIu64 " buffers)", row->measured);
    if (row->not_read != 0)
        bbf_buf_printf(out, ", %" PRIu64 " not read", row->not_read);
    bbf_buf_char(out, '\n');
}

static int add_unwritten(struct bbf_buf *out, const struct bbf_view *view, const char *indent,
                         size_t most)
{
    const struct bbf_snapshot *s = view->snapshot;
    uint32_t *rows = calloc(s->n_usage + 1, sizeof *rows);
    size_t n = 0;

    if (rows == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_usage; i++)
        if (s->usage[i].measured != 0 && mean(s, s->usage[i].unwritten_byte_seconds) != 0)
            rows[n++] = (uint32_t)i;
    if (n > 1)
        qsort_r(rows, n, sizeof *rows, compare_unwritten, s->usage);
    for (size_t i = 0; i < n && i < most; i++) {
        bbf_buf_str(out, indent);
        add_unwritten_row(out, view, &s->usage[rows[i]]);
    }
    free(rows);
    return BBF_OK;
}

int bbf_usage_text(struct bbf_buf *out, const struct bbf_view *view, const char *indent,
                   size_t most)
{
    const struct bbf_snapshot *s = view->snapshot;

    if (s->usage_of.seconds == 0 || (s->n_usage == 0 && s->usage_of.unlisted == 0))
        return BBF_OK;
    const struct usage_sum sum = sum_of(s);
    bbf_buf_str(out, "over ");
    bbf_growth_duration(out, (double)s->usage_of.seconds);
    bbf_buf_char(out, ' ');
    bbf_text_bytes(out, mean(s, sum.byte_seconds));
    bbf_buf_printf(out, " were open on average%s:\n", s->totals.sampled_ > 1 ? " (estimate)" : "");
    add_open(out, view, indent, most, sum.byte_seconds);
    if (mean(s, sum.unwritten) == 0 && sum.not_read == 0)
        return BBF_OK;
    bbf_buf_str(out, "of the released ones ");
    bbf_text_bytes(out, mean(s, sum.unwritten));
    bbf_buf_str(out, " on average were not written, by the writerIndex at the release");
    if (sum.not_read != 0)
        bbf_buf_printf(out, " (%" PRIu64 " not read)", sum.not_read);
    bbf_buf_str(out, mean(s, sum.unwritten) != 0 ? ":\n" : "\n");
    return add_unwritten(out, view, indent, most);
}

int bbf_usage_section(struct bbf_buf *out, const struct bbf_view *view, size_t most)
{
    if (view->snapshot->n_usage == 0)
        return BBF_OK;
    bbf_buf_str(out, "\n=== Memory over Time ===\n");
    return bbf_usage_text(out, view, "  ", most);
}

void bbf_usage_rows(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;

    if (s->n_usage == 0)
        return;
    bbf_buf_printf(out, "\nUSAGE:\nseconds=%" PRIu64 "|unlisted=%" PRIu64 "\n", s->usage_of.seconds,
                   s->usage_of.unlisted);
    for (size_t i = 0; i < s->n_usage && !out->failed; i++) {
        const struct bbf_snap_usage *row = &s->usage[i];
        bbf_buf_printf(out, "memory=%s", bbf_memory_name(row->memory));
#define XX(name) bbf_buf_printf(out, "|" #name "=%" PRIu64, row->name);
        BBF_USAGE_COLUMNS(XX)
#undef XX
        bbf_buf_str(out, "|at=");
        bbf_view_name(out, view, row->node);
        bbf_buf_char(out, '\n');
    }
}
