/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markdown for a comment on a pull request (GitHub's and GitLab's). Names are in code spans, where
 * nothing is a link, a mention, HTML or emphasis; a fence is longer than any run of backticks in
 * the name. A comment has 65,536 characters, so the document stays below.
 */
#include "render/check.h"

#include <inttypes.h>
#include <string.h>

#include "core/safe.h"
#include "render/text.h"

enum {
    MOST_BYTES = 48 << 10,
    MOST_TEXT = 1500,
    MOST_NOTE = 400,
    MOST_NOTES = 20,
    WAY_HEAD = 3,
    WAY_TAIL = 6
};

static size_t longest_run(const struct bbf_buf *text, size_t len)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < len; i++) {
        run = text->data[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* A code span of at most `most` bytes of a text without line ends; the text is empty then. */
static void move_code(struct bbf_buf *out, struct bbf_buf *text, size_t most)
{
    size_t len = text->len < most ? text->len : most;

    out->failed = out->failed || text->failed;
    while (len > 0 && len < text->len && ((unsigned char)text->data[len] & 0xC0) == 0x80)
        len--; /* whole characters */
    const size_t fence = longest_run(text, len) + 1;
    for (size_t i = 0; i < fence; i++)
        bbf_buf_char(out, '`');
    bbf_buf_str(out, fence > 1 ? " " : "");
    bbf_buf_add(out, text->data, len);
    bbf_buf_str(out, len < text->len ? " …" : "");
    bbf_buf_str(out, fence > 1 ? " " : "");
    for (size_t i = 0; i < fence; i++)
        bbf_buf_char(out, '`');
    text->len = 0;
}

static const char *icon_of(const struct bbf_check *check, size_t i)
{
    static const char *const icons[] = {"🔴", "🔴", "⚪", "🟢", "🟢"};

    if (check->fails[i] != 0)
        return "🔴";
    return check->asked->compare_only ? icons[check->comparison.rows[i].change] : "⚪";
}

static void add_row(struct bbf_buf *out, struct bbf_check *check, size_t i, struct bbf_buf *text)
{
    const struct bbf_compared *row = &check->comparison.rows[i];
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(check, row, &d);

    bbf_buf_printf(out, "- %s **", icon_of(check, i));
    bbf_check_kind(out, check, row);
    bbf_buf_str(out, "** ");
    bbf_check_row_text(text, check, row);
    move_code(out, text, MOST_TEXT);
    bbf_buf_str(out, "\n  - rate ");
    bbf_check_rates_text(out, row);
    bbf_buf_str(out, "\n  - path ");
    const struct bbf_view_path path = bbf_view_path(view, d->last);
    bbf_view_join_ends(text, view, path.nodes, path.n, WAY_HEAD, WAY_TAIL);
    move_code(out, text, MOST_TEXT);
    const struct bbf_check_place place = bbf_check_place(check, view, d->last);
    if (place.file != NULL) {
        bbf_text_safe(text, place.file, '\0');
        if (place.line != 0)
            bbf_buf_printf(text, ":%" PRIu32, place.line);
        bbf_buf_str(out, "\n  - in ");
        move_code(out, text, MOST_TEXT);
    }
    bbf_buf_char(out, '\n');
}

static void add_rules(struct bbf_buf *out, const struct bbf_check *check)
{
    for (size_t i = 0; i < check->n_rules; i++) {
        bbf_buf_printf(out, "- %s ", check->rules[i].is_broken ? "❌" : "✅");
        bbf_check_rule_text(out, &check->rules[i]);
        bbf_buf_char(out, '\n');
    }
    bbf_buf_str(out, check->n_rules > 0 ? "\n" : "");
}

/* false: the document is full. */
static bool add_rows(struct bbf_buf *out, struct bbf_check *check, bool failing, size_t *shown,
                     struct bbf_buf *text)
{
    for (size_t i = 0; i < check->comparison.count; i++) {
        if ((check->fails[i] != 0) != failing)
            continue;
        if (out->len > MOST_BYTES)
            return false;
        add_row(out, check, i, text);
        ++*shown;
    }
    return true;
}

static void add_notes(struct bbf_buf *out, const struct bbf_check *check, struct bbf_buf *text)
{
    for (size_t i = 0; i < check->n_notes && i < MOST_NOTES; i++) {
        bbf_buf_str(out, i == 0 ? "\nNotes:\n\n- " : "- ");
        bbf_buf_str(text, check->notes[i]);
        move_code(out, text, MOST_NOTE);
        bbf_buf_char(out, '\n');
    }
    if (check->n_notes > MOST_NOTES)
        bbf_buf_printf(out, "- %zu more\n", check->n_notes - MOST_NOTES);
}

static void write(struct bbf_buf *out, struct bbf_check *check)
{
    struct bbf_buf text = BBF_BUF_INIT;
    size_t shown = 0;

    bbf_buf_printf(out, "### bbflow %s: ", check->asked->compare_only ? "diff" : "check");
    bbf_check_verdict_text(out, check);
    bbf_buf_str(out, "\n\n");
    bbf_check_program(&text, check);
    move_code(out, &text, MOST_TEXT);
    bbf_buf_str(out, "\n\n");
    add_rules(out, check);
    if (!add_rows(out, check, true, &shown, &text) || !add_rows(out, check, false, &shown, &text))
        bbf_buf_printf(out, "- %zu more leaks\n", check->comparison.count - shown);
    add_notes(out, check, &text);
    out->failed = out->failed || text.failed;
    bbf_buf_free(&text);
}

int bbf_render_markdown(struct bbf_buf *out, struct bbf_view *view,
                        const struct bbf_render_options *options)
{
    return bbf_check_render(out, view, options, write);
}
