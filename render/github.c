/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitHub's workflow commands: "::error file=…,line=…,title=…::message" on stdout is an annotation
 * at that line of a pull request. In a value %, CR and LF are escaped, in a property also ':' and
 * ',' (toolkit's packages/core/src/command.ts). GitHub shows ten errors of a step, so more are one
 * line.
 */
#include "render/check.h"

#include <inttypes.h>

#include "render/text.h"

enum { MOST_ERRORS = 10, MOST_WARNINGS = 9, MOST_BYTES = 2000 };

static void add_escaped(struct bbf_buf *out, const struct bbf_buf *text, bool property)
{
    size_t len = text->len < MOST_BYTES ? text->len : MOST_BYTES;

    while (len > 0 && len < text->len && ((unsigned char)text->data[len] & 0xC0) == 0x80)
        len--; /* whole characters */
    for (size_t i = 0; i < len; i++) {
        const char c = text->data[i];
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
            bbf_buf_printf(out, "%%%02X", (unsigned)c);
        else
            bbf_buf_char(out, c);
    }
    if (len < text->len)
        bbf_buf_str(out, " …");
}

static void move(struct bbf_buf *out, struct bbf_buf *text, bool property)
{
    out->failed = out->failed || text->failed;
    add_escaped(out, text, property);
    text->len = 0;
}

static void add_place(struct bbf_buf *out, const struct bbf_check_place *place,
                      struct bbf_buf *text)
{
    if (place->file == NULL)
        return;
    bbf_buf_str(text, place->file);
    bbf_buf_str(out, "file=");
    move(out, text, true);
    bbf_buf_char(out, ',');
    if (place->line != 0)
        bbf_buf_printf(out, "line=%" PRIu32 ",", place->line);
}

static void add_leak(struct bbf_buf *out, struct bbf_check *check, size_t i, const char *command,
                     struct bbf_buf *text)
{
    const struct bbf_compared *row = &check->comparison.rows[i];
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(check, row, &d);
    const struct bbf_check_place place = bbf_check_place(check, view, d->last);

    bbf_buf_printf(out, "::%s ", command);
    add_place(out, &place, text);
    bbf_buf_str(text, "ByteBuf ");
    bbf_check_kind(text, check, row);
    bbf_buf_str(text, " in ");
    bbf_view_name(text, view, place.node);
    bbf_buf_str(out, "title=");
    move(out, text, true);
    bbf_buf_str(out, "::");
    bbf_check_row_text(text, check, row);
    bbf_buf_str(text, "\nrate: ");
    bbf_check_rates_text(text, row);
    bbf_buf_str(text, "\npath: ");
    const struct bbf_view_path path = bbf_view_path(view, d->last);
    bbf_view_join_ends(text, view, path.nodes, path.n, 3, 6);
    move(out, text, false);
    bbf_buf_char(out, '\n');
}

static void add_leaks(struct bbf_buf *out, struct bbf_check *check, bool failing, size_t most,
                      struct bbf_buf *text)
{
    const char *command = failing ? "error" : "warning";
    size_t n = 0;

    for (size_t i = 0; i < check->comparison.count; i++) {
        if ((check->fails[i] != 0) != failing || check->comparison.rows[i].change == BBF_GONE)
            continue;
        if (n++ < most)
            add_leak(out, check, i, command, text);
    }
    if (n > most)
        bbf_buf_printf(out, "::%s title=bbflow::%zu more leaks; the report lists them\n", command,
                       n - most);
}

static void write(struct bbf_buf *out, struct bbf_check *check)
{
    struct bbf_buf text = BBF_BUF_INIT;
    size_t rules = 0;

    for (size_t i = 0; i < check->n_rules; i++) {
        if (!check->rules[i].is_broken)
            continue;
        bbf_check_rule_text(&text, &check->rules[i]);
        bbf_buf_str(out, "::error title=bbflow check::");
        move(out, &text, false);
        bbf_buf_char(out, '\n');
        rules++;
    }
    size_t left = MOST_ERRORS > rules + 1 ? MOST_ERRORS - rules - 1 : 1;
    add_leaks(out, check, true, left, &text);
    add_leaks(out, check, false, MOST_WARNINGS, &text);
    bbf_check_verdict_text(&text, check);
    bbf_buf_str(&text, " (");
    bbf_check_program(&text, check);
    bbf_buf_char(&text, ')');
    for (size_t i = 0; i < check->n_notes; i++) {
        bbf_buf_str(&text, "\nNote: ");
        bbf_buf_str(&text, check->notes[i]);
    }
    bbf_buf_str(out, "::notice title=bbflow check::");
    move(out, &text, false);
    bbf_buf_char(out, '\n');
    out->failed = out->failed || text.failed;
    bbf_buf_free(&text);
}

int bbf_render_github(struct bbf_buf *out, struct bbf_view *view,
                      const struct bbf_render_options *options)
{
    return bbf_check_render(out, view, options, write);
}
