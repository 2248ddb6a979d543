/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/leaks_text.c - the places that lose buffers, worst first, one entry a bug, in words that
 * need no glossary. The view's divergences have the facts (render/diverge.h); a sentence that they
 * do not prove is left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/facts.h"
#include "render/callers.h"
#include "render/diverge_text.h"
#include "render/estimate.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/growth.h"
#include "render/head.h"
#include "render/leaks.h"
#include "render/owner_throws.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/view.h"

/* Places without --all; steps of a path at its ends; columns of the title and of a status. */
enum { SHOWN = 20, WAY_HEAD = 2, WAY_TAIL = 4, TITLE = 34, STATUS = 13 };

struct list {
    struct bbf_buf *out;
    struct bbf_view *view;
    bool all, places;
};

static const struct bbf_snap_site *site_of(const struct list *l, uint32_t node)
{
    return &l->view->snapshot->sites[l->view->snapshot->nodes[node].site];
}

/* ---- the numbers of a place ---- */

/* What became of the memory, where that is not the worst. */
static const char *lost_text(const struct bbf_divergence *d)
{
    const struct bbf_snap_leak counter = {.lost = BBF_LOST_COUNTER, .memory = BBF_MEM_DIRECT};
    const struct bbf_snap_leak nothing = {.lost = BBF_LOST_NOTHING, .memory = BBF_MEM_DIRECT};

    if (d->leaked == 0 || d->rank < bbf_leak_rank(&counter))
        return "";
    if (d->rank <= bbf_leak_rank(&counter) + 1)
        return ", counted by Netty although the JVM frees it";
    return d->rank >= bbf_leak_rank(&nothing) ? ", freed by the garbage collector" : "";
}

/* "LEAK proven   4,889 of 97,588 (5.0%)  3.7 MiB direct" */
static void add_numbers(const struct list *l, const struct bbf_divergence *d)
{
    struct bbf_buf *out = l->out;

    bbf_buf_printf(out, "%-*s ", STATUS, d->leaked != 0 ? "LEAK proven" : "STILL OPEN");
    bbf_text_grouped(out, d->leaked + d->aged);
    bbf_buf_str(out, " of ");
    bbf_text_grouped(out, d->passed);
    bbf_buf_str(out, " (");
    bbf_text_share(out, d->leaked + d->aged, d->passed);
    bbf_buf_str(out, ")  ");
    bbf_divergence_bytes(out, d);
    bbf_buf_str(out, lost_text(d));
    bbf_estimate_text(out, l->view->snapshot, d->leaked + d->aged);
    if (d->leaked != 0 && d->aged != 0) {
        bbf_buf_str(out, ", ");
        bbf_text_grouped(out, d->aged);
        bbf_buf_str(out, " still open");
    }
    if (d->aged != 0)
        bbf_buf_printf(out, ", oldest %" PRIu64 " s", d->oldest_seconds);
    bbf_buf_char(out, '\n');
}

/* ---- the way ---- */

/* Bytes of "Class." in "Class.method (lambda, line 3)". */
static size_t class_len(const struct bbf_name *name)
{
    size_t end = 0;

    while (end < name->len && name->text[end] != '(' && name->text[end] != ' ')
        end++;
    const char *dot = memrchr(name->text, '.', end);
    return dot != NULL ? (size_t)(dot - name->text) + 1 : 0;
}

/* A step; without its class where the step before has the same. */
static void add_step(const struct list *l, uint32_t node, uint32_t before)
{
    const struct bbf_name *name = &l->view->names.names[l->view->snapshot->nodes[node].site];
    size_t skip = 0;

    if (before != BBF_NO_NODE &&
        strcmp(site_of(l, node)->class_name, site_of(l, before)->class_name) == 0) {
        const struct bbf_name *last = &l->view->names.names[l->view->snapshot->nodes[before].site];
        size_t len = class_len(name);
        if (len == class_len(last) && memcmp(name->text, last->text, len) == 0)
            skip = len;
    }
    bbf_buf_add(l->out, name->text + skip, name->len - skip);
}

static void add_steps(const struct list *l, const uint32_t *nodes, size_t n)
{
    uint32_t before = BBF_NO_NODE;

    for (size_t i = 0; i < n; i++) {
        if (i == WAY_HEAD && n > WAY_HEAD + WAY_TAIL + 1) {
            size_t hidden = n - WAY_HEAD - WAY_TAIL;
            bbf_buf_printf(l->out, " -> [%zu steps]", hidden);
            i += hidden;
            before = BBF_NO_NODE;
        }
        bbf_buf_str(l->out, i > 0 ? " -> " : "");
        add_step(l, nodes[i], before);
        before = nodes[i];
    }
}

/* Is it the end of the method that the step before begins? It says nothing new. */
static bool is_end_of(const struct list *l, uint32_t node, uint32_t before)
{
    const struct bbf_snap_site *end = site_of(l, node), *begin = site_of(l, before);
    size_t len = strlen(begin->method);

    return end->kind == BBF_SITE_RETURN && strcmp(end->class_name, begin->class_name) == 0 &&
           strncmp(end->method, begin->method, len) == 0 &&
           strcmp(end->method + len, "_return") == 0;
}

/* The steps after the root, whose method is an allocator's, without such ends; returns how many. */
static size_t find_steps(const struct list *l, uint32_t last, const uint32_t **steps)
{
    const struct bbf_view_path path = bbf_view_path(l->view, last);
    uint32_t *to = l->view->steps + (path.nodes - l->view->steps) + 1; /* the path is there */
    size_t n = 0;

    *steps = to;
    for (size_t i = 1; i < path.n; i++)
        if (n == 0 || i + 1 == path.n || !is_end_of(l, path.nodes[i], to[n - 1]))
            to[n++] = path.nodes[i];
    return n;
}

/* Of buffers that are open: what the facts of the last method and their references show. */
static const char *open_text(const struct list *l, const struct bbf_divergence *d)
{
    unsigned facts = site_of(l, d->last)->parameter;
    bool retained = (facts & BBF_FACT_SEEN) != 0 && (facts & BBF_FACT_RETAINS) != 0;

    if (d->released == 0)
        return retained ? ": retained, never released" : ": never released";
    return retained ? ": retained, not released yet" : ": not released yet";
}

/* "    OrderHandler.channelRead -> reject      <- last seen here" */
static void add_way(const struct list *l, const struct bbf_divergence *d)
{
    const uint32_t *steps;
    size_t n = find_steps(l, d->last, &steps);
    struct bbf_buf *out = l->out;

    bbf_buf_str(out, "    ");
    if (n == 0) {
        bbf_view_name(out, l->view, d->last);
        bbf_buf_str(out, "      <- allocated here; no followed method had them\n");
        return;
    }
    add_steps(l, steps, n);
    if (d->leaked == 0)
        bbf_buf_str(out, open_text(l, d));
    else
        bbf_buf_str(out, "      <- last seen here");
    if (d->ends > 1)
        bbf_buf_printf(out, ", or in %" PRIu32 " other method%s", d->ends - 1,
                       d->ends > 2 ? "s" : "");
    else if (d->ways > 1)
        bbf_buf_printf(out, ", also on %" PRIu32 " other way%s", d->ways - 1,
                       d->ways > 2 ? "s" : "");
    bbf_buf_char(out, '\n');
}

/* ---- the others, and what to do ---- */

static bool is_root(const struct list *l, uint32_t node)
{
    return l->view->parents[node] == BBF_NO_PARENT;
}

/* How far the others came: "came the same way and", "came as far as A.read and". */
static void add_common_way(const struct list *l, const struct bbf_divergence *d)
{
    struct bbf_buf *out = l->out;

    if (d->places > 1) {
        bbf_buf_str(out, " came the same ways and");
    } else if (is_root(l, d->shared)) {
        bbf_buf_str(out, " of ");
        bbf_view_name(out, l->view, d->shared);
    } else if (d->losing == d->shared) {
        bbf_buf_str(out, " came the same way and");
    } else {
        bbf_buf_str(out, " came as far as ");
        bbf_view_name(out, l->view, d->shared);
        bbf_buf_str(out, " and");
    }
}

/* "    92,699 others came the same way and were released later" */
static void add_others(const struct list *l, const struct bbf_divergence *d)
{
    struct bbf_buf *out = l->out;

    if (d->released == 0) {
        if (d->leaked != 0)
            bbf_buf_str(out, "    none that came this way was released\n");
        return;
    }
    bbf_buf_str(out, "    ");
    bbf_text_grouped(out, d->released);
    bbf_buf_str(out, d->released == 1 ? " other" : " others");
    add_common_way(l, d);
    bbf_buf_str(out, d->released == 1 ? " was released later" : " were released later");
    if (d->places == 1 && d->kept != BBF_NO_NODE) {
        bbf_buf_str(out, d->kept_released == d->released ? ", through " : ", mostly through ");
        bbf_view_name(out, l->view, d->kept);
        if (bbf_diverge_twins(l->view->snapshot, d->losing, d->kept))
            bbf_buf_printf(out, " [ref=%s]", bbf_ref_name(l->view->snapshot->nodes[d->kept].ref));
    }
    bbf_buf_char(out, '\n');
}

/* Is the call that lent the buffer one that the owner does not survive? */
static bool lent_throws(const struct list *l, const struct bbf_divergence *d)
{
    const struct bbf_snap_throw *most[BBF_THROWS_SHOWN];
    const char *lent = site_of(l, bbf_owner_lent_to(l->view, d->last))->method;
    uint32_t owner;

    return bbf_owner_throws(l->view, d->last, most, &owner) > 0 && owner != d->last &&
           strcmp(most[0]->method, lent) == 0;
}

/* "    look at: Router.cart, after CartParser.total returns or throws" */
static void add_look(const struct list *l, const struct bbf_divergence *d)
{
    uint32_t owner = bbf_owner_of(l->view, d->last);
    struct bbf_buf *out = l->out;

    if (is_root(l, d->last)) {
        bbf_buf_str(out, "    look at: what allocates there; include= may not have its package\n");
        return;
    }
    bbf_buf_str(out, "    look at: ");
    if (bbf_view_is_gap(l->view, d->last)) {
        bbf_view_name(out, l->view, bbf_owner_to_mend(l->view, d->last));
        bbf_buf_str(out, ", and what has them after it\n");
        return;
    }
    bbf_view_name(out, l->view, owner);
    if (owner != d->last) {
        bbf_buf_str(out, ", after ");
        bbf_view_name(out, l->view, bbf_owner_lent_to(l->view, d->last));
        bbf_buf_str(out, lent_throws(l, d) ? " returns or throws" : " returns");
    } else if (d->shared != BBF_NO_NODE && d->losing != d->shared && d->places == 1 &&
               d->shared != owner && !is_root(l, d->shared)) {
        bbf_buf_str(out, ", and what ");
        bbf_view_name(out, l->view, d->shared);
        bbf_buf_str(out, " does with the others");
    }
    bbf_buf_char(out, '\n');
}

/* A line of three spaces' indentation becomes one of four. */
static void indent_from(struct bbf_buf *out, size_t start)
{
    if (out->failed || out->len == start)
        return;
    bbf_buf_char(out, ' ');
    memmove(out->data + start + 1, out->data + start, out->len - start - 1);
    out->data[start] = ' ';
}

static int add_since(const struct list *l, const struct bbf_divergence *d)
{
    struct bbf_loss_rate rate;
    int err = bbf_loss_rate_of(l->view, d, &rate);

    if (err == BBF_OK && rate.first_ms != 0 &&
        (rate.stopped || (rate.seconds != 0 && rate.lives != 0))) {
        bbf_buf_str(l->out, "    ");
        bbf_loss_rate_text(l->out, l->view->snapshot, &rate);
        bbf_buf_char(l->out, '\n');
    }
    return err;
}

static int add_place(const struct list *l, const struct bbf_divergence *d, size_t number)
{
    struct bbf_buf *out = l->out;

    bbf_buf_printf(out, "%zu ", number);
    add_numbers(l, d);
    add_way(l, d);
    size_t start = out->len;
    bbf_callers_text(out, l->view, d->last);
    indent_from(out, start);
    add_others(l, d);
    int err = l->places ? BBF_OK : add_since(l, d);
    add_look(l, d);
    start = out->len;
    if (!lent_throws(l, d))
        bbf_owner_throws_text(out, l->view, d->last);
    indent_from(out, start);
    if (l->all || l->places) {
        bbf_buf_str(out, "    id ");
        bbf_fingerprint_text(out, bbf_fingerprint_leak(l->view, d->last));
        bbf_buf_char(out, '\n');
    }
    return err;
}

/* ---- the whole ---- */

/* "2 places lose buffers             net.shop.api.Shop (21423)" */
static void add_title(const struct list *l)
{
    const struct bbf_snapshot *s = l->view->snapshot;
    size_t start = l->out->len, places = l->view->divergences.count;

    if (places > 0)
        bbf_buf_printf(l->out, "%zu place%s buffers", places, places > 1 ? "s lose" : " loses");
    else
        bbf_buf_str(l->out,
                    s->totals.lives_ != 0 ? "No place loses buffers" : "No buffer was followed");
    do
        bbf_buf_char(l->out, ' ');
    while (!l->out->failed && l->out->len - start < TITLE);
    bbf_text_safe(l->out, s->jvm.main, '\0');
    bbf_buf_printf(l->out, "%s(%" PRId64 ")\n", s->jvm.main[0] != '\0' ? " " : "", s->jvm.pid);
}

/* Where released buffers came from: the roots that lost none. */
static int add_clean_roots(const struct list *l)
{
    const struct bbf_snapshot *s = l->view->snapshot;
    uint64_t *released = calloc(s->n_nodes + 1, sizeof *released); /* by node, with what is below */
    bool *lost = calloc(s->n_nodes + 1, sizeof *lost);
    int err = released != NULL && lost != NULL ? BBF_OK : BBF_ENOMEM;

    for (size_t i = s->n_nodes; err == BBF_OK && i-- > 0;) {
        uint32_t parent = l->view->parents[i];
        released[i] += s->nodes[i].released_;
        lost[i] = lost[i] || (s->nodes[i].leaked_ | s->nodes[i].aged_) != 0;
        if (parent == BBF_NO_PARENT)
            continue;
        released[parent] += released[i];
        lost[parent] = lost[parent] || lost[i];
    }
    for (size_t i = 0; err == BBF_OK && i < s->n_nodes; i++)
        if (s->nodes[i].parent == -1 && !lost[i] && released[i] != 0) {
            bbf_buf_str(l->out, "    ");
            bbf_text_grouped(l->out, released[i]);
            bbf_buf_str(l->out, " of ");
            bbf_view_name(l->out, l->view, (uint32_t)i);
            bbf_buf_char(l->out, '\n');
        }
    free(released);
    free(lost);
    return err;
}

/* "Clean: 721,295 released (--all shows them).  Netty agrees: 100% of bytes." */
static int add_end(const struct list *l)
{
    const struct bbf_snap_totals *t = &l->view->snapshot->totals;
    struct bbf_buf *out = l->out;

    if (t->live_ > t->aged_) {
        bbf_buf_str(out, "Open: ");
        bbf_text_grouped(out, t->live_ - t->aged_);
        bbf_buf_str(out, ", in use or not found yet (--gc finds what is lost by now)\n");
    }
    if (t->misuse_ != 0) {
        bbf_buf_str(out, "Used after release: ");
        bbf_text_grouped(out, t->misuse_);
        bbf_buf_str(out, t->misuse_ == 1 ? " time ('bbflow tree' shows where)\n"
                                         : " times ('bbflow tree' shows where)\n");
    }
    bbf_buf_str(out, "Clean: ");
    bbf_text_grouped(out, t->released_);
    bbf_buf_str(out,
                l->all || t->released_ == 0 ? " released.  " : " released (--all shows them).  ");
    bbf_reconciled_agrees(out, &l->view->snapshot->reconciled);
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    bbf_buf_char(out, '\n');
    return l->all ? add_clean_roots(l) : BBF_OK;
}

int bbf_render_leaks(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options)
{
    const struct list l = {.out = out,
                           .view = view,
                           .all = options->max_lines == 0 && !options->places,
                           .places = options->places};
    const struct bbf_divergences *places = &view->divergences;
    int err = bbf_view_add_names(view, '\0');

    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    if (err == BBF_OK)
        err = bbf_view_add_owners(view);
    if (err != BBF_OK)
        return err;
    if (!l.places) {
        add_title(&l);
        bbf_head_text(out, view->snapshot, "note: ");
    }
    size_t shown = l.all || places->count < SHOWN ? places->count : SHOWN;
    for (size_t i = 0; i < shown && err == BBF_OK; i++)
        err = add_place(&l, &places->rows[i], i + 1);
    if (shown < places->count)
        bbf_buf_printf(out, "(%zu more: --all shows them)\n", places->count - shown);
    return err == BBF_OK && !l.places ? add_end(&l) : err;
}
