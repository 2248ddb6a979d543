/* SPDX-License-Identifier: Apache-2.0 */
#include "render/compare.h"

#include "core/err.h"
#include "render/fingerprint.h"

#include <stdlib.h>

/* A leak row's id, and which divergence it is part of: those of `before` first, then of `now`. */
struct key {
    uint64_t id;
    uint32_t at;
};

struct work {
    struct bbf_view *before, *now;
    uint32_t n_before, n;
    struct key *keys;
    size_t n_keys;
    uint32_t *group;        /* by divergence: a lower one of the same entry, or itself */
    uint64_t *leaked_bytes; /* by divergence */
};

const char *bbf_change_name(enum bbf_change change)
{
    static const char *const names[] = {"new", "worse", "unchanged", "better", "gone"};
    return names[change];
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint32_t group_of(const struct work *w, uint32_t at)
{
    while (w->group[at] != at)
        at = w->group[at] = w->group[w->group[at]];
    return at;
}

static void join(const struct work *w, uint32_t a, uint32_t b)
{
    a = group_of(w, a);
    b = group_of(w, b);
    if (a != b)
        w->group[a > b ? a : b] = a > b ? b : a;
}

/* The keys of a view's leak rows. `first`: the number of its first divergence. */
static int add_keys(struct work *w, struct bbf_view *view, uint32_t first)
{
    const struct bbf_divergences *all = &view->divergences;
    uint32_t *position = calloc(all->count + 1, sizeof *position); /* by number */

    if (position == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        position[all->rows[i].number] = (uint32_t)i;
    for (size_t i = 0; i < view->snapshot->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &view->snapshot->leaks[i];
        const uint32_t at = first + position[all->of_leak[i]];
        w->keys[w->n_keys++] = (struct key){bbf_fingerprint_leak(view, leak->node), at};
        w->leaked_bytes[at] += leak->verdict == BBF_VERDICT_LEAKED ? leak->bytes : 0;
    }
    free(position);
    return BBF_OK;
}

static int find_groups(struct work *w)
{
    size_t rows = w->now->snapshot->n_leaks + (w->before ? w->before->snapshot->n_leaks : 0);
    int err = BBF_OK;

    w->keys = calloc(rows + 1, sizeof *w->keys);
    w->group = calloc((size_t)w->n + 1, sizeof *w->group);
    w->leaked_bytes = calloc((size_t)w->n + 1, sizeof *w->leaked_bytes);
    if (w->keys == NULL || w->group == NULL || w->leaked_bytes == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < w->n; i++)
        w->group[i] = i;
    if (w->before != NULL)
        err = add_keys(w, w->before, 0);
    if (err == BBF_OK)
        err = add_keys(w, w->now, w->n_before);
    if (err != BBF_OK)
        return err;
    qsort(w->keys, w->n_keys, sizeof *w->keys, compare_keys);
    for (size_t i = 1; i < w->n_keys; i++)
        if (w->keys[i].id == w->keys[i - 1].id)
            join(w, w->keys[i].at, w->keys[i - 1].at);
    return BBF_OK;
}

/* Several divergences of one origin may have passed lives in common: the most that one has. */
static void add_loss(struct bbf_loss *loss, const struct bbf_view *view, uint32_t row)
{
    const struct bbf_divergence *rows = view->divergences.rows, *d = &rows[row];

    loss->leaked += d->leaked;
    loss->aged += d->aged;
    loss->bytes += d->bytes;
    if (loss->row == BBF_NO_NODE) {
        loss->row = row;
        loss->passed = d->passed;
    } else if (rows[loss->row].origin != d->origin) {
        loss->passed += d->passed;
    } else if (d->passed > loss->passed) {
        loss->passed = d->passed;
    }
    if (loss->passed < loss->leaked + loss->aged)
        loss->passed = loss->leaked + loss->aged;
}

static uint64_t id_of(struct bbf_view *view, uint32_t row)
{
    return bbf_fingerprint_leak(view, view->divergences.rows[row].last);
}

static enum bbf_change change_of(const struct bbf_compared *row, unsigned tolerance)
{
    const double more = 1 + tolerance / 100.0;
    const double before = row->before.rate.at, now = row->now.rate.at;

    if (row->before.row == BBF_NO_NODE)
        return BBF_NEW;
    if (row->now.row == BBF_NO_NODE)
        return BBF_GONE;
    if (row->difference.low > 0 && now > before * more)
        return BBF_WORSE;
    if (row->difference.high < 0 && before > now * more)
        return BBF_BETTER;
    return BBF_UNCHANGED;
}

static void finish_row(const struct work *w, struct bbf_compared *row, unsigned tolerance)
{
    struct bbf_loss *before = &row->before, *now = &row->now;

    row->id = now->row != BBF_NO_NODE ? id_of(w->now, now->row) : id_of(w->before, before->row);
    if (before->row != BBF_NO_NODE)
        before->rate = bbf_rate_of(before->leaked + before->aged, before->passed,
                                   w->before->snapshot->totals.sampled_);
    if (now->row != BBF_NO_NODE)
        now->rate =
            bbf_rate_of(now->leaked + now->aged, now->passed, w->now->snapshot->totals.sampled_);
    if (before->row != BBF_NO_NODE && now->row != BBF_NO_NODE)
        row->difference = bbf_rate_change(&before->rate, &now->rate);
    row->change = change_of(row, tolerance);
}

static int compare_rows(const void *a, const void *b)
{
    const struct bbf_compared *x = a, *y = b;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    if (x->now.row != y->now.row)
        return x->now.row < y->now.row ? -1 : 1;
    return (x->before.row > y->before.row) - (x->before.row < y->before.row);
}

static int gather(struct work *w, struct bbf_comparison *out, unsigned tolerance)
{
    uint32_t *entry = calloc((size_t)w->n + 1, sizeof *entry); /* by group: index + 1 */

    out->rows = calloc((size_t)w->n + 1, sizeof *out->rows);
    if (out->rows == NULL || entry == NULL) {
        free(entry);
        return BBF_ENOMEM;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t group = group_of(w, i);
        if (entry[group] == 0) {
            out->rows[out->count] =
                (struct bbf_compared){.before.row = BBF_NO_NODE, .now.row = BBF_NO_NODE};
            entry[group] = (uint32_t)++out->count;
        }
        struct bbf_compared *row = &out->rows[entry[group] - 1];
        if (i < w->n_before)
            add_loss(&row->before, w->before, i);
        else
            add_loss(&row->now, w->now, i - w->n_before);
        (i < w->n_before ? &row->before : &row->now)->leaked_bytes += w->leaked_bytes[i];
    }
    free(entry);
    for (size_t i = 0; i < out->count; i++) {
        finish_row(w, &out->rows[i], tolerance);
        out->of[out->rows[i].change]++;
    }
    qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return BBF_OK;
}

int bbf_compare(struct bbf_comparison *comparison, struct bbf_view *before, struct bbf_view *now,
                unsigned tolerance)
{
    struct work w = {.before = before, .now = now};

    *comparison = (struct bbf_comparison){.count = 0};
    w.n_before = before != NULL ? (uint32_t)before->divergences.count : 0;
    w.n = w.n_before + (uint32_t)now->divergences.count;
    int err = find_groups(&w);
    if (err == BBF_OK)
        err = gather(&w, comparison, tolerance);
    free(w.keys);
    free(w.group);
    free(w.leaked_bytes);
    if (err != BBF_OK)
        bbf_comparison_free(comparison);
    return err;
}

void bbf_comparison_free(struct bbf_comparison *comparison)
{
    free(comparison->rows);
    *comparison = (struct bbf_comparison){.count = 0};
}
