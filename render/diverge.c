#include "render/diverge.h"

#include "core/err.h"
#include "render/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is known of each node before the leaks are looked at. */
struct walk {
    const struct bbf_snapshot *snapshot;
    const uint32_t *parents;
    uint64_t *passed, *released; /* at the node and below, derived lives left out */
    uint32_t *origin;
    uint32_t *losing; /* itself where lives are released at or below, else the branch's first */
    uint32_t *kept;   /* child through which most were released */
    uint32_t *row;    /* by `losing`: its row */
};

static bool begins(const struct walk *w, uint32_t i)
{
    const struct bbf_snapshot *s = w->snapshot;
    return w->parents[i] == BBF_NO_PARENT || s->sites[s->nodes[i].site].kind == BBF_SITE_DERIVE;
}

static int walk_init(struct walk *w)
{
    size_t n = w->snapshot->n_nodes + 1;

    w->passed = calloc(n, sizeof *w->passed);
    w->released = calloc(n, sizeof *w->released);
    w->origin = calloc(n, sizeof *w->origin);
    w->losing = calloc(n, sizeof *w->losing);
    w->kept = calloc(n, sizeof *w->kept);
    w->row = calloc(n, sizeof *w->row);
    return w->passed == NULL || w->released == NULL || w->origin == NULL || w->losing == NULL ||
                   w->kept == NULL || w->row == NULL
               ? BBF_ENOMEM
               : 0;
}

static void walk_free(struct walk *w)
{
    free(w->passed);
    free(w->released);
    free(w->origin);
    free(w->losing);
    free(w->kept);
    free(w->row);
}

/* Children before parents: sums, and each node's best child. */
static void sum_up(struct walk *w)
{
    for (uint32_t i = (uint32_t)w->snapshot->n_nodes; i-- > 0;) {
        const struct bbf_snap_node *node = &w->snapshot->nodes[i];
        w->passed[i] += node->released_ + node->live_ + node->leaked_ + node->held_ +
                        node->harmless_ + node->unknown_;
        w->released[i] += node->released_;
        if (begins(w, i))
            continue;
        uint32_t parent = w->parents[i];
        w->passed[parent] += w->passed[i];
        w->released[parent] += w->released[i];
        /* `kept` holds index + 1; of equals the first node stays. */
        if (w->released[i] > 0 &&
            (w->kept[parent] == 0 || w->released[w->kept[parent] - 1] <= w->released[i]))
            w->kept[parent] = i + 1;
    }
}

/* Parents before children. */
static void branch_out(struct walk *w)
{
    for (uint32_t i = 0; i < w->snapshot->n_nodes; i++) {
        uint32_t parent = w->parents[i];
        bool begin = begins(w, i);
        w->origin[i] = begin ? i : w->origin[parent];
        w->losing[i] =
            w->released[i] > 0 || begin || w->released[parent] > 0 ? i : w->losing[parent];
    }
}

static struct bbf_divergence first_of(const struct walk *w, uint32_t losing)
{
    struct bbf_divergence d = {.origin = w->origin[losing], .losing = losing, .kept = BBF_NO_NODE};
    uint32_t at = d.origin;

    if (w->released[losing] > 0)
        d.shared = at = losing;
    else if (losing != d.origin)
        d.shared = at = w->parents[losing];
    else
        d.shared = BBF_NO_NODE;
    d.passed = w->passed[at];
    d.released = w->released[at];
    if (d.shared != BBF_NO_NODE && w->kept[at] != 0) {
        d.kept = w->kept[at] - 1;
        d.kept_released = w->released[d.kept];
    }
    return d;
}

static void add_leak(struct bbf_divergence *d, const struct bbf_snap_leak *leak, uint64_t *most)
{
    if (leak->verdict == BBF_VERDICT_LEAKED)
        d->leaked += leak->count;
    else
        d->aged += leak->count;
    d->bytes += leak->bytes;
    if (leak->count > *most) {
        *most = leak->count;
        d->last = leak->node;
        d->memory = leak->memory;
    }
}

/* A node has a leak row for each verdict and memory, and counts as one end. */
static int count_ends(const struct walk *w, struct bbf_divergences *out)
{
    const struct bbf_snapshot *s = w->snapshot;
    uint8_t *seen = calloc(s->n_nodes / 8 + 1, 1);

    if (seen == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_leaks; i++) {
        uint32_t node = s->leaks[i].node;
        if (seen[node / 8] & 1 << node % 8)
            continue;
        seen[node / 8] |= (uint8_t)(1 << node % 8);
        out->rows[w->row[w->losing[node]] - 1].ends++;
    }
    free(seen);
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct bbf_divergence *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->leaked + x->aged != y->leaked + y->aged)
        return x->leaked + x->aged > y->leaked + y->aged ? -1 : 1;
    return (x->losing > y->losing) - (x->losing < y->losing);
}

static int gather(const struct walk *w, struct bbf_divergences *out)
{
    const struct bbf_snapshot *s = w->snapshot;
    uint64_t *most = calloc(s->n_leaks + 1, sizeof *most);

    out->rows = calloc(s->n_leaks + 1, sizeof *out->rows);
    if (out->rows == NULL || most == NULL) {
        free(most);
        return BBF_ENOMEM;
    }
    for (size_t i = 0; i < s->n_leaks; i++) {
        uint32_t losing = w->losing[s->leaks[i].node];
        if (w->row[losing] == 0) {
            out->rows[out->count++] = first_of(w, losing);
            w->row[losing] = (uint32_t)out->count;
        }
        add_leak(&out->rows[w->row[losing] - 1], &s->leaks[i], &most[w->row[losing] - 1]);
    }
    free(most);
    int err = count_ends(w, out);
    qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return err;
}

int bbf_divergences_init(struct bbf_divergences *divergences, const struct bbf_snapshot *snapshot,
                         const uint32_t *parents)
{
    struct walk w = {.snapshot = snapshot, .parents = parents};

    *divergences = (struct bbf_divergences){NULL, 0};
    if (snapshot->n_leaks == 0)
        return 0;
    int err = walk_init(&w);
    if (err == 0) {
        sum_up(&w);
        branch_out(&w);
        err = gather(&w, divergences);
    }
    walk_free(&w);
    if (err != 0)
        bbf_divergences_free(divergences);
    return err;
}

void bbf_divergences_free(struct bbf_divergences *divergences)
{
    free(divergences->rows);
    *divergences = (struct bbf_divergences){NULL, 0};
}

/* ---- for a person ---- */

/* Steps of the branch that are named: all, or those at its ends. */
enum { WAY_MAX = 10, WAY_HEAD = 3, WAY_TAIL = 6 };

struct text {
    struct bbf_buf *out;
    const struct bbf_snapshot *snapshot;
    const uint32_t *parents;
    const struct bbf_names *names;
};

static void add_name(const struct text *t, uint32_t node, bool with_ref)
{
    const struct bbf_name *name = &t->names->names[t->snapshot->nodes[node].site];

    bbf_buf_add(t->out, name->text, name->len);
    if (with_ref)
        bbf_buf_printf(t->out, " [ref=%s]", bbf_ref_name(t->snapshot->nodes[node].ref));
}

static void add_share(const struct text *t, uint64_t part, uint64_t whole)
{
    bbf_buf_printf(t->out, "%" PRIu64 " of %" PRIu64 " (", part, whole);
    bbf_text_percent(t->out, part, whole);
    bbf_buf_str(t->out, ")");
}

/* Do two steps differ by the reference count alone? Then it is what a reader must see. */
static bool twins(const struct text *t, uint32_t a, uint32_t b)
{
    const struct bbf_snap_node *nodes = t->snapshot->nodes;
    return a != BBF_NO_NODE && b != BBF_NO_NODE && nodes[a].site == nodes[b].site &&
           nodes[a].ref != nodes[b].ref;
}

/* What lies between the branch's first step and the last, both of which stand in the line above. */
static void add_way(const struct text *t, const struct bbf_divergence *d)
{
    uint32_t tail[WAY_MAX], head[WAY_HEAD], node = d->last;
    size_t count = 0;

    if (d->last == d->losing)
        return;
    while ((node = t->parents[node]) != d->losing) {
        if (count < WAY_MAX)
            tail[count] = node;
        memmove(head + 1, head, sizeof head - sizeof *head);
        head[0] = node;
        count++;
    }
    if (count == 0)
        return;
    bool whole = count <= WAY_MAX;
    bbf_buf_str(t->out, "   by way of ");
    for (size_t i = 0; !whole && i < WAY_HEAD; i++) {
        add_name(t, head[i], false);
        bbf_buf_str(t->out, " -> ");
    }
    if (!whole)
        bbf_buf_printf(t->out, "[%zu steps] -> ", count - WAY_HEAD - WAY_TAIL);
    for (size_t i = whole ? count : WAY_TAIL; i-- > 0;) {
        add_name(t, tail[i], false);
        bbf_buf_str(t->out, i > 0 ? " -> " : "\n");
    }
}

static void add_lost(const struct text *t, const struct bbf_divergence *d)
{
    struct bbf_buf *out = t->out;
    bool count_tells = twins(t, d->losing, d->kept);

    add_share(t, d->leaked + d->aged, d->passed);
    if (d->shared == BBF_NO_NODE) {
        bbf_buf_str(out, " of ");
        add_name(t, d->origin, false);
        if (t->parents[d->origin] != BBF_NO_PARENT) {
            bbf_buf_str(out, " in ");
            add_name(t, t->parents[d->origin], false);
        }
        bbf_buf_str(out, " end in ");
        add_name(t, d->last, false);
    } else {
        bbf_buf_str(out, " that reach ");
        add_name(t, d->shared, false);
        if (d->losing == d->shared) {
            bbf_buf_str(out, " end there");
        } else {
            bbf_buf_str(out, d->losing == d->last ? " end in " : " go to ");
            add_name(t, d->losing, count_tells);
            if (d->losing != d->last) {
                bbf_buf_str(out, " and end in ");
                add_name(t, d->last, twins(t, d->losing, d->last));
            }
        }
    }
    if (d->ends > 1)
        bbf_buf_printf(out, " or %" PRIu32 " other step%s", d->ends - 1, d->ends > 2 ? "s" : "");
    bbf_buf_str(out, ": ");
    bbf_text_bytes(out, d->bytes);
    bbf_buf_printf(out, " %s", bbf_memory_name(d->memory));
    if (d->aged != 0 && d->leaked != 0)
        bbf_buf_printf(out, ", %" PRIu64 " of them still open", d->aged);
    else if (d->aged != 0)
        bbf_buf_str(out, ", all still open");
    bbf_buf_char(out, '\n');
}

static void add_kept(const struct text *t, const struct bbf_divergence *d)
{
    struct bbf_buf *out = t->out;
    const struct bbf_snapshot *s = t->snapshot;

    bbf_buf_str(out, "   ");
    if (d->shared == BBF_NO_NODE) {
        bbf_buf_str(out, "none of these is released anywhere\n");
        return;
    }
    add_share(t, d->released, d->passed);
    if (d->kept == BBF_NO_NODE) {
        bbf_buf_str(out, " are released there\n");
        return;
    }
    bool there = s->sites[s->nodes[d->kept].site].kind == BBF_SITE_RELEASE;
    bbf_buf_str(out, there ? " are released there, " : " are released, ");
    if (d->kept_released != d->released) {
        bbf_text_percent(out, d->kept_released, d->released);
        bbf_buf_str(out, " of them ");
    }
    bbf_buf_str(out, there ? "by " : "through ");
    add_name(t, d->kept, twins(t, d->losing, d->kept));
    bbf_buf_char(out, '\n');
}

void bbf_divergences_text(struct bbf_buf *out, const struct bbf_divergences *divergences,
                          const struct bbf_snapshot *snapshot, const uint32_t *parents,
                          const struct bbf_names *names, size_t max)
{
    struct text t = {out, snapshot, parents, names};

    if (divergences->count == 0)
        return;
    bbf_buf_str(out, "Where lives are lost:\n");
    for (size_t i = 0; i < divergences->count && i < max; i++) {
        bbf_buf_printf(out, "%zu. ", i + 1);
        add_lost(&t, &divergences->rows[i]);
        add_way(&t, &divergences->rows[i]);
        add_kept(&t, &divergences->rows[i]);
    }
    if (divergences->count > max)
        bbf_buf_printf(out, "(%zu more)\n", divergences->count - max);
    bbf_buf_char(out, '\n');
}
