/* SPDX-License-Identifier: Apache-2.0 */
#include "render/line.h"

#include <inttypes.h>

#include "render/text.h"

enum {
    PATH_MAX_BYTES = 640, /* a line has 1,024, its numbers take 170 at most */
    OPENER_MAX_BYTES = 190
};

/* The thread that opened most; the beginning where a name of escapes is very long. */
static void add_opener(struct bbf_buf *out, const struct bbf_line_loss *loss)
{
    size_t begin = out->len;

    bbf_text_thread_share(out, loss->thread_name, loss->thread, loss->thread_count, loss->count,
                          '\0');
    if (out->failed || out->len - begin <= OPENER_MAX_BYTES)
        return;
    out->len = begin + OPENER_MAX_BYTES;
    while (((unsigned char)out->data[out->len] & 0xC0) == 0x80)
        out->len--;
    bbf_buf_str(out, "…");
}

void bbf_line_loss(struct bbf_buf *out, const struct bbf_line_loss *loss,
                   const struct bbf_path *path)
{
    const char *about = loss->estimated ? "about " : "";

    bbf_buf_printf(out, "%s %s: ", loss->verdict == BBF_VERDICT_AGED ? "AGED" : "LEAK",
                   bbf_memory_name(loss->memory));
    if (loss->added > 0)
        bbf_buf_printf(out, "%s%" PRIu64 " new %s (%s%" PRIu64 " bytes), %s%" PRIu64 " so far",
                       about, loss->added, loss->added == 1 ? "buffer" : "buffers", about,
                       loss->added_bytes, about, loss->count);
    else
        bbf_buf_printf(out, "%s%" PRIu64 " %s so far", about, loss->count,
                       loss->count == 1 ? "buffer" : "buffers");
    bbf_buf_printf(out, " (%s%" PRIu64 " bytes)", about, loss->bytes);
    if (loss->thread != 0) {
        bbf_buf_str(out, ", by ");
        add_opener(out, loss);
    }
    bbf_buf_str(out, ": ");
    bbf_path_text(out, path, BBF_CLASS_SIMPLE, PATH_MAX_BYTES);
}

void bbf_line_life(struct bbf_buf *out, const struct bbf_line_loss *loss, const char *end,
                   uint64_t seconds, const struct bbf_path *path)
{
    const char *about = loss->estimated ? "about " : "";

    bbf_buf_printf(out, "LIFE %s: %s%" PRIu64 " %s (%s%" PRIu64 " bytes), %s after %" PRIu64 " s",
                   bbf_memory_name(loss->memory), about, loss->added,
                   loss->added == 1 ? "buffer" : "buffers", about, loss->added_bytes, end, seconds);
    if (loss->thread != 0) {
        bbf_buf_str(out, ", by ");
        add_opener(out, loss);
    }
    bbf_buf_str(out, ": ");
    bbf_path_text(out, path, BBF_CLASS_SIMPLE, PATH_MAX_BYTES);
}

void bbf_line_stats(struct bbf_buf *out, const struct bbf_snap_totals *t)
{
    bbf_buf_printf(out,
                   "STATS %" PRIu64 " %s: %" PRIu64 " released, %" PRIu64 " open (%" PRIu64
                   " bytes), %" PRIu64 " leaked (%" PRIu64 " bytes), %" PRIu64 " held, %" PRIu64
                   " harmless, %" PRIu64 " unknown; %" PRIu64 " not followed, %" PRIu64
                   " uses after release",
                   t->lives_, t->lives_ == 1 ? "life" : "lives", t->released_, t->live_,
                   t->live_bytes_, t->leaked_, t->leaked_bytes_, t->held_, t->harmless_,
                   t->unknown_, t->dropped_lives_, t->misuse_);
}

void bbf_line_flow(struct bbf_buf *out, const struct bbf_line_flow *flow,
                   const struct bbf_path *path)
{
    const char *about = flow->estimated ? "about " : "";

    bbf_buf_str(out, "FLOW ");
    if (flow->added > 0)
        bbf_buf_printf(out, "%s%" PRIu64 " ended, ", about, flow->added);
    bbf_buf_printf(
        out, "%s%" PRIu64 " so far (%" PRIu64 " released, %" PRIu64 " leaked), %" PRIu64 " open: ",
        about, flow->ended, flow->released, flow->leaked, flow->open);
    bbf_path_text(out, path, BBF_CLASS_SIMPLE, PATH_MAX_BYTES);
}

void bbf_line_more_places(struct bbf_buf *out, uint64_t places)
{
    bbf_buf_printf(out, "… and %" PRIu64 " more places: see bbflow tree", places);
}

void bbf_line_oom(struct bbf_buf *out)
{
    bbf_buf_str(out, "direct memory ran out");
}

void bbf_line_oom_report(struct bbf_buf *out, const char *path, const char *why)
{
    bbf_line_oom(out);
    if (path != NULL)
        bbf_buf_printf(out, ", report: %s", path);
    else
        bbf_buf_printf(out, ", and no report: %s", why);
}

void bbf_line_oom_note(struct bbf_buf *out, uint64_t count, const char *path, time_t at,
                       unsigned written)
{
    char when[32];
    struct tm tm;

    bbf_line_oom(out);
    bbf_buf_printf(out, ": %" PRIu64 " %s", count, count == 1 ? "error" : "errors");
    if (path == NULL)
        return;
    gmtime_r(&at, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    bbf_buf_printf(out, "; %s is how it was at %s (%u %s, at most one a minute)", path, when,
                   written, written == 1 ? "report" : "reports");
}

static void add_limit(struct bbf_buf *out, uint64_t used, uint64_t limit)
{
    bbf_text_bytes(out, used);
    bbf_buf_str(out, " of the cgroup's memory limit of ");
    bbf_text_bytes(out, limit);
    bbf_buf_printf(out, " in use (%.0f%%)", 100.0 * (double)used / (double)limit);
}

void bbf_line_limit(struct bbf_buf *out, uint64_t used, uint64_t limit, const char *path,
                    const char *why)
{
    add_limit(out, used, limit);
    if (path != NULL)
        bbf_buf_printf(out, ", report: %s", path);
    else if (why != NULL)
        bbf_buf_printf(out, ", and no report: %s", why);
}

void bbf_line_limit_note(struct bbf_buf *out, uint64_t count, uint64_t used, uint64_t limit,
                         const char *path, time_t at)
{
    char when[32];
    struct tm tm;

    add_limit(out, used, limit);
    bbf_buf_printf(out, ", at the most, when nearLimit= was reached (%" PRIu64 " %s)", count,
                   count == 1 ? "time" : "times");
    if (path == NULL)
        return;
    gmtime_r(&at, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    bbf_buf_printf(out, "; %s is how it was at %s", path, when);
}

void bbf_line_limit_unseen(struct bbf_buf *out, uint64_t count, unsigned descriptors)
{
    bbf_buf_printf(out,
                   "%sthe cgroup's memory was not looked at %" PRIu64
                   " %s (nearLimit=), because fewer "
                   "than %u file descriptors were free; ulimit -n sets their number",
                   out->len > 0 ? "; " : "", count, count == 1 ? "time" : "times", descriptors);
}

void bbf_line_dropped(struct bbf_buf *out, const char *sink, uint64_t count)
{
    if (count > 0)
        bbf_buf_printf(out, "%s%" PRIu64 " %s", out->len > 0 ? ", " : "events dropped: ", count,
                       sink);
}
