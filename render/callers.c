/* SPDX-License-Identifier: Apache-2.0 */
#include "render/callers.h"

#include <inttypes.h>

enum { SHOWN = 3 };

/* The rows of the root that the path of `node` consists of. */
struct rows {
    const struct bbf_snap_caller *first;
    size_t n;
    uint64_t whole;
    bool leaked; /* the counts are of samples that leaked */
};

static bool is_bare(const struct bbf_view *view, uint32_t node)
{
    const uint32_t up = view->parents[node];
    const struct bbf_snap_node *nodes = view->snapshot->nodes;

    /* The root again, in another bucket, is its child. */
    return up == BBF_NO_PARENT ||
           (view->parents[up] == BBF_NO_PARENT && nodes[up].site == nodes[node].site);
}

static uint64_t count_of(const struct rows *rows, const struct bbf_snap_caller *row)
{
    return rows->leaked ? row->leaked : row->sampled;
}

static uint64_t sum(const struct rows *rows)
{
    uint64_t all = 0;

    for (size_t i = 0; i < rows->n; i++)
        all += count_of(rows, &rows->first[i]);
    return all;
}

static struct rows rows_of(const struct bbf_view *view, uint32_t node)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct rows rows = {.leaked = true};

    if (!is_bare(view, node))
        return rows;
    for (size_t i = 0; i < s->n_callers; i++)
        if (s->callers[i].root == s->nodes[node].site) {
            rows.first = rows.n == 0 ? &s->callers[i] : rows.first;
            rows.n++;
        }
    rows.whole = sum(&rows);
    if (rows.whole == 0) {
        rows.leaked = false;
        rows.whole = sum(&rows);
    }
    return rows;
}

static void add_name(struct bbf_buf *out, const struct bbf_view *view,
                     const struct bbf_snap_caller *row)
{
    const struct bbf_name *name = &view->names.names[row->caller];

    if (row->kind == BBF_CALLER_OTHERS)
        bbf_buf_str(out, "others");
    else if (row->kind != BBF_CALLER_FOLLOWED)
        bbf_buf_str(out, "no followed method on the stack");
    if (row->kind == BBF_CALLER_NEAREST)
        bbf_buf_str(out, ", nearest ");
    if (row->kind == BBF_CALLER_FOLLOWED || row->kind == BBF_CALLER_NEAREST)
        bbf_buf_add(out, name->text, name->len);
}

void bbf_callers_text(struct bbf_buf *out, const struct bbf_view *view, uint32_t node)
{
    const struct rows rows = rows_of(view, node);
    uint64_t shown = 0;

    if (rows.whole == 0)
        return;
    bbf_buf_str(out, rows.leaked ? "   allocated for " : "   this root allocates for ");
    for (size_t i = 0; i < rows.n && i < SHOWN && count_of(&rows, &rows.first[i]) != 0; i++) {
        const uint64_t count = count_of(&rows, &rows.first[i]);
        bbf_buf_str(out, i > 0 ? "; " : "");
        add_name(out, view, &rows.first[i]);
        bbf_buf_printf(out, " (%" PRIu64 " of %" PRIu64 "%s)", count, rows.whole,
                       i > 0         ? ""
                       : rows.leaked ? " sampled"
                                     : " sampled, none of which leaked yet");
        shown += count;
    }
    if (shown < rows.whole)
        bbf_buf_printf(out, "; others (%" PRIu64 ")", rows.whole - shown);
    bbf_buf_char(out, '\n');
}

void bbf_callers_field(struct bbf_buf *out, const struct bbf_view *view, uint32_t node)
{
    const struct rows rows = rows_of(view, node);

    if (rows.whole == 0)
        return;
    bbf_buf_str(out, "|allocated_for=");
    for (size_t i = 0; i < rows.n && i < SHOWN && count_of(&rows, &rows.first[i]) != 0; i++) {
        bbf_buf_str(out, i > 0 ? ", " : "");
        add_name(out, view, &rows.first[i]);
        bbf_buf_printf(out, " %" PRIu64 "/%" PRIu64, count_of(&rows, &rows.first[i]), rows.whole);
    }
    bbf_buf_printf(out, "|allocated_for_sample=%s", rows.leaked ? "leaked" : "all");
}
