/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bbflow check` and `bbflow diff` print: the verdict, the broken rules, the notes, then the
 * leaks: those that fail, then the others.
 */
#include "render/check.h"

#include "core/err.h"
#include "render/owner_throws.h"
#include "render/text.h"

#include <inttypes.h>

enum { WAY_HEAD = 3, WAY_TAIL = 6 };

static void add_rules(struct bbf_buf *out, const struct bbf_check *check)
{
    for (int broken = 1; broken >= 0; broken--)
        for (size_t i = 0; i < check->n_rules; i++) {
            if (check->rules[i].is_broken != (broken != 0))
                continue;
            bbf_buf_str(out, "  ");
            bbf_check_rule_text(out, &check->rules[i]);
            bbf_buf_char(out, '\n');
        }
}

static void add_place(struct bbf_buf *out, struct bbf_check *check, struct bbf_view *view,
                      uint32_t last)
{
    const struct bbf_check_place place = bbf_check_place(check, view, last);

    if (place.file == NULL)
        return;
    bbf_buf_printf(out, "   in ");
    bbf_text_safe(out, place.file, '\0');
    if (place.line != 0)
        bbf_buf_printf(out, ":%" PRIu32, place.line);
    bbf_buf_char(out, '\n');
}

static void add_row(struct bbf_buf *out, struct bbf_check *check, size_t number,
                    const struct bbf_compared *row)
{
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(check, row, &d);

    bbf_buf_printf(out, "%zu. ", number);
    bbf_check_kind(out, check, row);
    bbf_buf_str(out, ": ");
    bbf_check_row_text(out, check, row);
    bbf_buf_str(out, "\n   rate ");
    bbf_check_rates_text(out, row);
    bbf_buf_str(out, "\n   path ");
    const struct bbf_view_path path = bbf_view_path(view, d->last);
    bbf_view_join_ends(out, view, path.nodes, path.n, WAY_HEAD, WAY_TAIL);
    bbf_buf_char(out, '\n');
    add_place(out, check, view, d->last);
    if (row->now.row != BBF_NO_NODE)
        bbf_owner_throws_text(out, view, d->last);
}

static void write(struct bbf_buf *out, struct bbf_check *check)
{
    size_t number = 0;

    bbf_buf_str(out, check->asked->compare_only ? "diff: " : "check ");
    bbf_check_verdict_text(out, check);
    bbf_buf_str(out, " (");
    bbf_check_program(out, check);
    bbf_buf_str(out, ")\n");
    add_rules(out, check);
    for (size_t i = 0; i < check->n_notes; i++) {
        bbf_buf_str(out, "Note: ");
        bbf_text_safe(out, check->notes[i], '\0');
        bbf_buf_char(out, '\n');
    }
    for (int failing = 1; failing >= 0; failing--)
        for (size_t i = 0; i < check->comparison.count; i++)
            if ((check->fails[i] != 0) == (failing != 0))
                add_row(out, check, ++number, &check->comparison.rows[i]);
}

int bbf_render_check(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options)
{
    return bbf_check_render(out, view, options, write);
}
