/* SPDX-License-Identifier: Apache-2.0 */
#include "render/top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/err.h"
#include "render/diverge_text.h"
#include "render/fingerprint.h"
#include "render/growth.h"
#include "render/head.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/view.h"

enum { WAY_HEAD = 3, WAY_TAIL = 5 };

/* A copy of the text, which is freed. NULL: no memory. */
static char *take(struct bbf_buf *text)
{
    char *copy = text->failed ? NULL : strdup(bbf_buf_cstr(text));

    bbf_buf_free(text);
    return copy;
}

/* ---- a place ---- */

/* "12 of 40 (30.0%), 3.0 KiB direct, since 14:02Z, 1.1 MiB/min" */
static char *numbers_of(const struct bbf_view *view, const struct bbf_divergence *d,
                        const struct bbf_loss_rate *rate)
{
    struct bbf_buf out = BBF_BUF_INIT;

    bbf_text_grouped(&out, d->leaked + d->aged);
    bbf_buf_str(&out, " of ");
    bbf_text_grouped(&out, d->passed);
    bbf_buf_str(&out, " (");
    bbf_text_share(&out, d->leaked + d->aged, d->passed);
    bbf_buf_str(&out, "), ");
    bbf_divergence_bytes(&out, d);
    if (rate->first_ms != 0) {
        bbf_buf_str(&out, ", ");
        bbf_loss_rate_text(&out, view->snapshot, rate);
    }
    return take(&out);
}

static char *way_of(struct bbf_view *view, uint32_t last)
{
    struct bbf_buf out = BBF_BUF_INIT;
    const struct bbf_view_path path = bbf_view_path(view, last);

    bbf_view_join_ends(&out, view, path.nodes, path.n, WAY_HEAD, WAY_TAIL);
    return take(&out);
}

static char *owner_of(const struct bbf_view *view, uint32_t last, bool whole)
{
    struct bbf_buf out = BBF_BUF_INIT;

    if (whole)
        bbf_owner_text(&out, view, last);
    else
        bbf_view_name(&out, view, bbf_owner_of(view, last));
    return take(&out);
}

static int fill_place(struct bbf_top_place *to, struct bbf_view *view, size_t i)
{
    const struct bbf_divergence *d = &view->divergences.rows[i];
    struct bbf_loss_rate rate;

    *to = (struct bbf_top_place){.id = bbf_fingerprint_leak(view, d->last),
                                 .number = (uint32_t)i,
                                 .proven = d->leaked != 0,
                                 .lost = d->leaked + d->aged,
                                 .passed = d->passed,
                                 .bytes = d->bytes,
                                 .oldest_seconds = d->oldest_seconds};
    int err = bbf_loss_rate_of(view, d, &rate);
    if (err != BBF_OK)
        return err;
    if (rate.seconds != 0 && !rate.stopped) {
        to->lives_speed = (double)rate.lives / (double)rate.seconds;
        to->bytes_speed = (double)rate.bytes / (double)rate.seconds;
    }
    to->place = owner_of(view, d->last, false);
    to->look = owner_of(view, d->last, true);
    to->way = way_of(view, d->last);
    to->numbers = numbers_of(view, d, &rate);
    return to->place != NULL && to->look != NULL && to->way != NULL && to->numbers != NULL
               ? BBF_OK
               : BBF_ENOMEM;
}

/* How long the oldest was open when it was found: the leak rows know. */
static int fill_ages(struct bbf_top *top, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;
    const struct bbf_divergences *all = &view->divergences;
    uint32_t *place_of = calloc(top->n + 1, sizeof *place_of); /* by number of a divergence */

    if (place_of == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < top->n; i++)
        if (all->rows[i].number < top->n)
            place_of[all->rows[i].number] = (uint32_t)i;
    for (size_t row = 0; row < s->n_leaks && all->of_leak != NULL; row++) {
        if (all->of_leak[row] >= top->n)
            continue;
        struct bbf_top_place *place = &top->places[place_of[all->of_leak[row]]];
        if (place->oldest_seconds < s->leaks[row].oldest_seconds)
            place->oldest_seconds = s->leaks[row].oldest_seconds;
    }
    free(place_of);
    return BBF_OK;
}

/* ---- what is new ---- */

static int compare_ids(const void *a, const void *b)
{
    const struct bbf_top_place *const *x = a, *const *y = b;

    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* Two places of one id share what is new: it is counted at the first. */
static int compare_tables(struct bbf_top *top, const struct bbf_top *before)
{
    const struct bbf_top_place **old = calloc(before->n + 1, sizeof *old);

    if (old == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < before->n; i++)
        old[i] = &before->places[i];
    qsort(old, before->n, sizeof *old, compare_ids);
    for (size_t i = 0; i < top->n; i++) {
        struct bbf_top_place *place = &top->places[i];
        const struct bbf_top_place *key = place;
        const struct bbf_top_place **same = bsearch(&key, old, before->n, sizeof *old, compare_ids);
        uint64_t known = same != NULL ? (*same)->lost : 0;
        place->fresh = place->lost > known ? place->lost - known : 0;
    }
    free(old);
    top->compared = true;
    return BBF_OK;
}

/* ---- the lines above ---- */

static char *title_of(const struct bbf_snapshot *s, size_t places)
{
    struct bbf_buf out = BBF_BUF_INIT;

    bbf_text_safe(&out, s->jvm.main, '\0');
    bbf_buf_printf(&out, "%s(%" PRId64 ")  ", s->jvm.main[0] != '\0' ? " " : "", s->jvm.pid);
    if (places > 0)
        bbf_buf_printf(&out, "%zu place%s buffers", places, places > 1 ? "s lose" : " loses");
    else
        bbf_buf_str(&out,
                    s->totals.lives_ != 0 ? "No place loses buffers" : "No buffer was followed");
    return take(&out);
}

static char *clock_of(int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[40] = "";

    if (gmtime_r(&seconds, &tm) != NULL)
        (void)strftime(text, sizeof text, "%H:%M:%SZ", &tm);
    return strdup(text);
}

/* "12,345 allocated (1,203/s): 12,000 released, 300 open (1.2 MiB), 45 leaked (11.3 KiB)" */
static char *totals_of(const struct bbf_snapshot *s, const struct bbf_top *before)
{
    const struct bbf_snap_totals *t = &s->totals;
    struct bbf_buf out = BBF_BUF_INIT;

    bbf_text_grouped(&out, t->lives_);
    bbf_buf_str(&out, " allocated");
    if (before != NULL && s->captured_at_ms > before->at_ms && t->lives_ >= before->lives) {
        double seconds = (double)(s->captured_at_ms - before->at_ms) / 1000;
        bbf_buf_str(&out, " (");
        bbf_text_grouped(&out, (uint64_t)((double)(t->lives_ - before->lives) / seconds + 0.5));
        bbf_buf_str(&out, "/s)");
    }
    bbf_buf_str(&out, ": ");
    bbf_text_grouped(&out, t->released_);
    bbf_buf_str(&out, " released, ");
    bbf_text_grouped(&out, t->live_);
    bbf_buf_str(&out, " open (");
    bbf_text_bytes(&out, t->live_bytes_);
    bbf_buf_str(&out, "), ");
    bbf_text_grouped(&out, t->leaked_);
    bbf_buf_str(&out, " leaked (");
    bbf_text_bytes(&out, t->leaked_bytes_);
    bbf_buf_str(&out, ")");
    if (t->aged_ != 0) {
        bbf_buf_str(&out, ", ");
        bbf_text_grouped(&out, t->aged_);
        bbf_buf_str(&out, " open for too long");
    }
    return take(&out);
}

/* "Direct memory: 487.2 MiB of 512.0 MiB, full in 3 h 10 min.  Netty agrees: 100% of bytes." */
static int fill_memory(struct bbf_top *top, const struct bbf_snapshot *s)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_direct_end end;
    const int err = bbf_direct_end(s, &end);
    const uint64_t used = s->reconciled.used_direct_;

    if (err != BBF_OK)
        return err;
    if (end.known) {
        bbf_buf_str(&out, "Direct memory: ");
        bbf_text_bytes(&out, end.used);
        bbf_buf_str(&out, " of ");
        bbf_text_bytes(&out, end.limit);
        bbf_buf_str(&out, ", full in ");
        bbf_growth_duration(&out, end.seconds);
        bbf_buf_str(&out, ".  ");
    } else if (s->reconciled.read && used != BBF_NOT_TOLD) {
        bbf_buf_str(&out, "Direct memory: ");
        bbf_text_bytes(&out, used);
        bbf_buf_str(&out, ".  ");
    }
    bbf_reconciled_agrees(&out, &s->reconciled);
    top->memory = take(&out);
    return top->memory != NULL ? BBF_OK : BBF_ENOMEM;
}

/* ---- the whole ---- */

static int fill(struct bbf_top *top, struct bbf_view *view, const struct bbf_top *before)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct bbf_buf notes = BBF_BUF_INIT;
    int err = BBF_OK;

    top->places = calloc(view->divergences.count + 1, sizeof *top->places);
    top->title = title_of(s, view->divergences.count);
    top->clock = clock_of(s->captured_at_ms);
    top->totals = totals_of(s, before);
    top->n_notes = bbf_head_text(&notes, s, "note: ");
    top->notes = take(&notes);
    if (top->places == NULL || top->title == NULL || top->clock == NULL || top->totals == NULL ||
        top->notes == NULL)
        err = BBF_ENOMEM;
    if (err == BBF_OK)
        err = fill_memory(top, s);
    for (size_t i = 0; err == BBF_OK && i < view->divergences.count; i++) {
        err = fill_place(&top->places[i], view, i);
        top->n++; /* also if it failed: then it is freed */
    }
    if (err == BBF_OK)
        err = fill_ages(top, view);
    if (err == BBF_OK && before != NULL)
        err = compare_tables(top, before);
    return err;
}

int bbf_top_make(struct bbf_top *top, const struct bbf_snapshot *snapshot,
                 const struct bbf_top *before)
{
    struct bbf_view view;

    *top = (struct bbf_top){.at_ms = snapshot->captured_at_ms,
                            .pid = snapshot->jvm.pid,
                            .lives = snapshot->totals.lives_};
    if (before != NULL && before->pid != top->pid)
        before = NULL;
    int err = bbf_view_init(&view, snapshot);
    if (err != BBF_OK)
        return err;
    err = bbf_view_add_names(&view, '\0');
    if (err == BBF_OK)
        err = bbf_view_add_divergences(&view);
    if (err == BBF_OK)
        err = bbf_view_add_owners(&view);
    if (err == BBF_OK)
        err = fill(top, &view, before);
    bbf_view_free(&view);
    if (err != BBF_OK)
        bbf_top_free(top);
    return err;
}

void bbf_top_free(struct bbf_top *top)
{
    for (size_t i = 0; i < top->n; i++) {
        free(top->places[i].place);
        free(top->places[i].look);
        free(top->places[i].way);
        free(top->places[i].numbers);
    }
    free(top->places);
    free(top->title);
    free(top->clock);
    free(top->totals);
    free(top->memory);
    free(top->notes);
    *top = (struct bbf_top){0};
}
