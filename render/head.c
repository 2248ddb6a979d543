/* SPDX-License-Identifier: Apache-2.0 */
#include "render/head.h"

#include <inttypes.h>
#include <string.h>

#include "core/err.h"
#include "render/cost.h"
#include "render/estimate.h"
#include "render/growth.h"
#include "render/text.h"

/* "<prefix>12 <one or many>" when count is not 0. */
static size_t head_count(struct bbf_buf *out, const char *prefix, uint64_t count, const char *one,
                         const char *many)
{
    if (count == 0)
        return 0;
    bbf_buf_printf(out, "%s%" PRIu64 " %s\n", prefix, count, count == 1 ? one : many);
    return 1;
}

static size_t head_totals(struct bbf_buf *out, const struct bbf_snap_totals *t, const char *prefix)
{
    const struct {
        uint64_t count;
        const char *one, *many;
    } lines[] = {
        {t->untracked_classes_, "ByteBuf class not followed", "ByteBuf classes not followed"},
        {t->dropped_lives_, "buffer not followed: a limit was reached (dropped_lives)",
         "buffers not followed: a limit was reached (dropped_lives)"},
        {t->dropped_steps_, "step not recorded: a limit was reached (dropped_steps)",
         "steps not recorded: a limit was reached (dropped_steps)"},
        {t->raced_steps_,
         "raced step: two threads used a buffer at once, or its window ended: its path is "
         "uncertain",
         "raced steps: two threads used a buffer at once, or its window ended: those paths are "
         "uncertain"},
        {t->holders_unknown_, "object could not be looked into for a buffer (holders_unknown)",
         "objects could not be looked into for a buffer (holders_unknown)"},
        {t->elements_cut_,
         "element of an array or list was not looked at: option maxElements (elements_cut)",
         "elements of arrays or lists were not looked at: option maxElements (elements_cut)"},
        {t->no_weakref_,
         "buffer without garbage detection: its leak would not be seen (no_weakref)",
         "buffers without garbage detection: their leak would not be seen (no_weakref)"},
        {t->untouched_classes_, "class left as it was (untouched_classes)",
         "classes left as they were (untouched_classes)"},
        {t->untouched_methods_, "method left as it was (untouched_methods)",
         "methods left as they were (untouched_methods)"},
        {t->entry_only_methods_, "method followed at its entry only (entry_only_methods)",
         "methods followed at their entry only (entry_only_methods)"},
        {t->unknown_, "buffer whose end is unknown", "buffers whose end is unknown"},
        {t->internal_errors_, "internal error of bbflow: see its log",
         "internal errors of bbflow: see its log"},
    };
    size_t count = 0;

    if (t->sampled_ > 0) {
        bbf_buf_printf(out,
                       "%sestimated: 1 buffer in %" PRIu64 " was followed (sample=%" PRIu64
                       "), and counts as %" PRIu64 "\n",
                       prefix, t->sampled_, t->sampled_, t->sampled_);
        count++;
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        count += head_count(out, prefix, lines[i].count, lines[i].one, lines[i].many);
    return count;
}

static const double NONE_SEEN = 2.9957322736; /* -ln(0.05): the mean of which none is seen in 5 % */

/* A time that is enough: the text is rounded down. */
static void add_within(struct bbf_buf *out, double seconds)
{
    bbf_growth_duration(out, seconds + (seconds < 60 ? 1 : 60));
}

/* Which share was watched, and how long it takes to see a rare leak. */
static size_t head_windows(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                           const char *prefix)
{
    const struct bbf_snap_windows *w = &snapshot->windows;
    double seconds = (double)w->elapsed_ns_ / 1e9, lives = (double)snapshot->totals.lives_;

    if (!bbf_is_windowed(snapshot))
        return 0;
    bbf_buf_printf(out, "%sestimated: ", prefix);
    bbf_text_percent(out, w->open_ns_, w->elapsed_ns_);
    bbf_buf_str(out, " of the time and ");
    bbf_text_percent(out, w->share_ppb_, BBF_SHARE_ALL_PPB);
    bbf_buf_str(
        out,
        " of the allocations were watched, and counts are of these; 'in all' is estimated (95%)");
    if (lives > 0 && seconds > 0) {
        bbf_buf_str(out, "; at this rate a leak of 1 buffer in 1,000 is found within ");
        add_within(out, NONE_SEEN * 1e3 * seconds / lives);
        bbf_buf_str(out, ", of 1 in 1,000,000 within ");
        add_within(out, NONE_SEEN * 1e6 * seconds / lives);
    }
    bbf_buf_char(out, '\n');
    return 1;
}

/* The limit that no `set` raises. */
static void head_sites(struct bbf_buf *out, const struct bbf_snap_limit *limit, const char *prefix)
{
    bbf_buf_printf(out,
                   "%slimit maxSites reached: %" PRIu64 " %s a method was left out, %" PRIu64
                   " of %" PRIu64 " are followed; their buffers stay at the step before; maxSites= "
                   "can be raised when the JVM starts, include= makes them fewer\n",
                   prefix, limit->hit, limit->hit == 1 ? "time" : "times", limit->used,
                   limit->limit);
}

static void head_facts(struct bbf_buf *out, const struct bbf_snap_limit *limit, const char *prefix)
{
    bbf_buf_printf(
        out,
        "%slimit maxFacts reached: of %" PRIu64 " %s it is not known what the methods do "
        "with a buffer, so a leak may name a method that only borrowed it; maxFacts= can "
        "be raised when the JVM starts, include= makes them fewer\n",
        prefix, limit->hit, limit->hit == 1 ? "class" : "classes");
}

void bbf_head_mapped(struct bbf_buf *out, const char *text)
{
    static const char mark[] = "; remedy: "; /* agent/classes/archive.h */
    const char *colon = strstr(text, ": ");
    struct bbf_buf name = BBF_BUF_INIT;

    if (colon != NULL) {
        bbf_buf_add(&name, text, (size_t)(colon - text));
        bbf_text_safe(out, bbf_buf_cstr(&name), '\0');
        bbf_buf_str(out, " has no place for bbflow's mark: ");
    }
    bbf_buf_free(&name);
    const char *why = colon != NULL ? colon + 2 : text, *remedy = strstr(why, mark);
    struct bbf_buf reason = BBF_BUF_INIT;
    bbf_buf_add(&reason, why, remedy != NULL ? (size_t)(remedy - why) : strlen(why));
    bbf_text_safe(out, bbf_buf_cstr(&reason), '\0');
    bbf_buf_free(&reason);
    bbf_buf_str(out, ". Its buffers are found by a table: counts are exact, but each step "
                     "costs more");
    if (remedy != NULL) {
        bbf_buf_str(out, ". Remedy: ");
        bbf_text_safe(out, remedy + sizeof mark - 1, '\0');
        return;
    }
    bbf_buf_str(out, strstr(text, "loaded before") != NULL
                         ? ", buffers opened before are ?first-seen; a start with -agentpath "
                           "avoids both"
                         : "");
}

size_t bbf_head_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot, const char *prefix)
{
    size_t count = snapshot->n_notes + snapshot->jvm.n_map_mode;

    for (size_t i = 0; i < snapshot->n_notes; i++) {
        bbf_buf_str(out, prefix);
        bbf_text_safe(out, snapshot->notes[i], '\0');
        bbf_buf_char(out, '\n');
    }
    for (size_t i = 0; i < snapshot->jvm.n_map_mode; i++) {
        bbf_buf_str(out, prefix);
        bbf_head_mapped(out, snapshot->jvm.map_mode[i]);
        bbf_buf_char(out, '\n');
    }
    count += head_totals(out, &snapshot->totals, prefix);
    count += head_windows(out, snapshot, prefix);
    count += bbf_cost_head(out, &snapshot->cost, prefix);
    for (size_t i = 0; i < snapshot->n_limits; i++) {
        const struct bbf_snap_limit *limit = &snapshot->limits[i];
        if (limit->hit == 0)
            continue;
        count++;
        if (strcmp(limit->name, "maxSites") == 0) {
            head_sites(out, limit, prefix);
            continue;
        }
        if (strcmp(limit->name, "maxFacts") == 0) {
            head_facts(out, limit, prefix);
            continue;
        }
        bbf_buf_printf(out, "%slimit ", prefix);
        bbf_text_safe(out, limit->name, '\0');
        bbf_buf_printf(out, " reached %" PRIu64 " %s (used %" PRIu64 " of %" PRIu64 "): option ",
                       limit->hit, limit->hit == 1 ? "time" : "times", limit->used, limit->limit);
        bbf_text_safe(out, limit->name, '\0');
        bbf_buf_str(out, " raises it\n");
    }
    return count;
}

int bbf_head_each(const struct bbf_snapshot *snapshot, void (*line)(void *ctx, const char *text),
                  void *ctx)
{
    struct bbf_buf lines = BBF_BUF_INIT;

    (void)bbf_head_text(&lines, snapshot, "");
    (void)bbf_buf_cstr(&lines);
    int err = lines.failed ? BBF_ENOMEM : BBF_OK;
    for (size_t at = 0; err == BBF_OK && at < lines.len;) {
        size_t len = strcspn(lines.data + at, "\n");
        lines.data[at + len] = '\0';
        line(ctx, lines.data + at);
        at += len + 1;
    }
    bbf_buf_free(&lines);
    return err;
}
