/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diverge_text.h"

#include "core/err.h"
#include "render/callers.h"
#include "render/context.h"
#include "render/fingerprint.h"
#include "render/growth.h"
#include "render/owner_throws.h"
#include "render/text.h"

#include <inttypes.h>

/* Steps of the branch that are named: all, or those at its ends. */
enum { WAY_HEAD = 3, WAY_TAIL = 6 };

struct text {
    struct bbf_buf *out;
    struct bbf_view *view;
};

static bool twins(const struct text *t, uint32_t a, uint32_t b)
{
    return bbf_diverge_twins(t->view->snapshot, a, b);
}

static void add_ref(const struct text *t, uint32_t node)
{
    bbf_buf_printf(t->out, " [ref=%s]", bbf_ref_name(t->view->snapshot->nodes[node].ref));
}

static void add_name(const struct text *t, uint32_t node, bool with_ref)
{
    bbf_view_name(t->out, t->view, node);
    if (with_ref)
        add_ref(t, node);
}

static void add_share(const struct text *t, uint64_t part, uint64_t whole)
{
    bbf_buf_printf(t->out, "%" PRIu64 " of %" PRIu64 " (", part, whole);
    bbf_text_percent(t->out, part, whole);
    bbf_buf_str(t->out, ")");
}

/* The steps between those that the line above names: after the branch's first step, or, with
 * several branches, after the step that they share. */
static void add_way(const struct text *t, const struct bbf_divergence *d)
{
    uint32_t origin = d->shared != BBF_NO_NODE ? d->shared : d->origin; /* where all is lost */
    uint32_t from = d->branches > 1 ? origin : d->losing;

    if (d->last == from)
        return;
    const struct bbf_view_path path = bbf_view_path(t->view, d->last);
    size_t begin = path.n - 1, end = begin;
    while (begin > 0 && path.nodes[begin - 1] != from)
        begin--;
    if (begin == 0 || begin == end) /* joined branches: it is not on this one */
        return;
    bbf_buf_str(t->out, "   by way of ");
    bbf_view_join_ends(t->out, t->view, path.nodes + begin, end - begin, WAY_HEAD, WAY_TAIL);
    if (d->ways > 1)
        bbf_buf_printf(t->out, ", or %" PRIu32 " other way%s", d->ways - 1, d->ways > 2 ? "s" : "");
    bbf_buf_char(t->out, '\n');
}

/* The method to mend; where it lent the buffer, also the last step. */
static void add_end(const struct text *t, const struct bbf_divergence *d, bool with_ref)
{
    bbf_buf_str(t->out, " end in ");
    bbf_owner_text(t->out, t->view, d->last);
    if (with_ref)
        add_ref(t, d->last);
}

/* " or 3 other steps" */
static void add_others(struct bbf_buf *out, uint32_t all, const char *what)
{
    if (all > 1)
        bbf_buf_printf(out, " or %" PRIu32 " other %s%s", all - 1, what, all > 2 ? "s" : "");
}

/* Where nothing of the origin is released. */
static void add_all_lost(const struct text *t, const struct bbf_divergence *d)
{
    bool root = t->view->parents[d->origin] == BBF_NO_PARENT;

    bbf_buf_str(t->out, " of ");
    add_name(t, d->origin, false);
    if (!root) {
        bbf_buf_str(t->out, " in ");
        add_name(t, t->view->parents[d->origin], false);
    }
    if (d->last == d->origin) {
        bbf_buf_str(t->out, root ? " reach no followed method" : " reach no further step");
        return;
    }
    add_end(t, d, false);
}

static void add_branch_lost(const struct text *t, const struct bbf_divergence *d)
{
    struct bbf_buf *out = t->out;

    bbf_buf_str(out, " that reach ");
    add_name(t, d->shared, false);
    add_others(out, d->places, "step");
    if (d->losing == d->shared && d->branches == 1) {
        if (bbf_owner_of(t->view, d->last) == d->last)
            bbf_buf_str(out, " end there");
        else
            add_end(t, d, false);
        return;
    }
    uint32_t owner = t->view->snapshot->nodes[bbf_owner_of(t->view, d->last)].site;
    bool named = d->losing == d->last || t->view->snapshot->nodes[d->losing].site == owner;
    if (d->branches == 1 && !named) {
        bbf_buf_str(out, " go to ");
        add_name(t, d->losing, twins(t, d->losing, d->kept));
        bbf_buf_str(out, " and");
    }
    add_end(t, d,
            d->branches == 1 && twins(t, d->losing, d->losing == d->last ? d->kept : d->last));
}

void bbf_divergence_bytes(struct bbf_buf *out, const struct bbf_divergence *d)
{
    const char *glue = " ";

    if (d->memories == 1U << BBF_MEM_COMPOSITE) {
        bbf_text_lost_bytes(out, d->bytes, BBF_MEM_COMPOSITE);
        return;
    }
    bbf_text_bytes(out, d->bytes);
    for (unsigned memory = BBF_MEM_DIRECT; memory <= BBF_MEM_UNKNOWN; memory++)
        if ((d->memories >> memory & 1) != 0) {
            bbf_buf_printf(out, "%s%s", glue, bbf_memory_name((enum bbf_memory)memory));
            glue = " and ";
        }
}

static void add_lost(const struct text *t, const struct bbf_divergence *d)
{
    struct bbf_buf *out = t->out;

    add_share(t, d->leaked + d->aged, d->passed);
    if (d->shared == BBF_NO_NODE)
        add_all_lost(t, d);
    else
        add_branch_lost(t, d);
    add_others(out, d->ends, "step");
    bbf_buf_str(out, ": ");
    bbf_divergence_bytes(out, d);
    if (d->aged != 0 && d->leaked != 0)
        bbf_buf_printf(out, ", %" PRIu64 " of them still open", d->aged);
    else if (d->aged != 0)
        bbf_buf_str(out, ", all still open");
    bbf_buf_str(out, " (id ");
    bbf_fingerprint_text(out, bbf_fingerprint_leak(t->view, d->last));
    bbf_buf_str(out, ")\n");
}

void bbf_divergence_line(struct bbf_buf *out, struct bbf_view *view,
                         const struct bbf_divergence *divergence)
{
    const struct text t = {out, view};

    add_lost(&t, divergence);
}

/* Of a loop, or of several steps: the methods, by how many were lost in each. */
static void add_most(const struct text *t, const struct bbf_divergence *d)
{
    const char *glue = "";

    if (d->ends < 2)
        return;
    bbf_buf_str(t->out, d->loop ? "   in a loop: " : "   lost in: ");
    for (size_t i = 0; i < BBF_MOST && d->most[i].lives != 0; i++) {
        bbf_buf_str(t->out, glue);
        add_name(t, d->most[i].node, false);
        bbf_buf_printf(t->out, " %" PRIu64, d->most[i].lives);
        glue = ", ";
    }
    if (d->ends > BBF_MOST)
        bbf_buf_printf(t->out, "%s%" PRIu32 " more", glue, d->ends - BBF_MOST);
    if (d->beyond != 0)
        bbf_buf_printf(t->out, "%s%" PRIu64 " where maxDepth= ended the path", glue, d->beyond);
    bbf_buf_char(t->out, '\n');
}

static void add_kept(const struct text *t, const struct bbf_divergence *d)
{
    struct bbf_buf *out = t->out;

    bbf_buf_str(out, "   ");
    if (d->released == 0) {
        bbf_buf_str(out, "none of these is released anywhere\n");
        return;
    }
    add_share(t, d->released, d->passed);
    if (d->places > 1) { /* `kept` is of one of them */
        bbf_buf_str(out, " are released\n");
        return;
    }
    bool all = d->kept_released == d->released;
    bbf_buf_str(out, all && d->kept == BBF_NO_NODE ? " are released" : " are released, ");
    if (!all) {
        bbf_text_percent(out, d->kept_released, d->released);
        bbf_buf_str(out, " of them");
    }
    /* Who called release there is no step: the class that was released would mislead. */
    if (d->kept == BBF_NO_NODE) {
        bbf_buf_str(out, " there\n");
        return;
    }
    bbf_buf_str(out, all ? "through " : " through ");
    add_name(t, d->kept, twins(t, d->losing, d->kept));
    bbf_buf_char(out, '\n');
}

/* Once there is a rate, or the losses have stopped. */
static void add_rate(const struct text *t, const struct bbf_divergence *d)
{
    struct bbf_loss_rate rate;

    if (bbf_loss_rate_of(t->view, d, &rate) != BBF_OK)
        t->out->failed = true;
    else if (rate.first_ms != 0 && (rate.stopped || (rate.seconds != 0 && rate.lives != 0))) {
        bbf_buf_str(t->out, "   ");
        bbf_loss_rate_text(t->out, t->view->snapshot, &rate);
        bbf_buf_char(t->out, '\n');
    }
}

void bbf_divergence_text(struct bbf_buf *out, struct bbf_view *view, const struct bbf_divergence *d)
{
    struct text t = {out, view};

    add_lost(&t, d);
    bbf_callers_text(out, view, d->last);
    add_way(&t, d);
    add_most(&t, d);
    bbf_contexts_text(out, view, d);
    add_rate(&t, d);
    add_kept(&t, d);
    bbf_owner_throws_text(out, view, d->last);
}

void bbf_divergences_text(struct bbf_buf *out, struct bbf_view *view, size_t max)
{
    const struct bbf_divergences *divergences = &view->divergences;
    const size_t count = view->choice != NULL ? view->chosen.n_entries : divergences->count;

    if (count == 0)
        return;
    bbf_buf_str(out, "Where lives are lost:\n");
    for (size_t i = 0, shown = 0; i < divergences->count && shown < max; i++) {
        if (!bbf_view_shows_entry(view, &divergences->rows[i]))
            continue;
        bbf_buf_printf(out, "%zu. ", i + 1);
        bbf_divergence_text(out, view, &divergences->rows[i]);
        shown++;
    }
    if (count > max)
        bbf_buf_printf(out, "(%zu more)\n", count - max);
    bbf_buf_char(out, '\n');
}
