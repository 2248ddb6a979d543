/* SPDX-License-Identifier: Apache-2.0 */
#include "render/check_json.h"

#include <inttypes.h>

#include "core/err.h"
#include "render/json_text.h"
#include "render/text.h"

static void move(struct bbf_buf *out, struct bbf_buf *text)
{
    out->failed = out->failed || text->failed;
    bbf_json_text(out, bbf_buf_cstr(text));
    text->len = 0;
}

static void add_interval(struct bbf_buf *out, const struct bbf_interval *interval)
{
    bbf_buf_str(out, "{\"at\":");
    bbf_rate_text(out, interval->at, false);
    bbf_buf_str(out, ",\"low\":");
    bbf_rate_text(out, interval->low, false);
    bbf_buf_str(out, ",\"high\":");
    bbf_rate_text(out, interval->high, false);
    bbf_buf_char(out, '}');
}

static void add_loss(struct bbf_buf *out, const char *name, const struct bbf_loss *loss)
{
    if (loss->row == BBF_NO_NODE)
        return;
    bbf_buf_printf(out,
                   ",\"%s\":{\"leaked\":%" PRIu64 ",\"aged\":%" PRIu64 ",\"bytes\":%" PRIu64
                   ",\"passed\":%" PRIu64 ",\"per_1000\":",
                   name, loss->leaked, loss->aged, loss->bytes, loss->passed);
    add_interval(out, &loss->rate);
    bbf_buf_char(out, '}');
}

static void add_path(struct bbf_buf *out, struct bbf_view *view, uint32_t last,
                     struct bbf_buf *text)
{
    const struct bbf_view_path path = bbf_view_path(view, last);

    bbf_buf_str(out, ",\"path\":[");
    for (size_t i = 0; i < path.n; i++) {
        bbf_buf_str(out, i > 0 ? "," : "");
        bbf_view_name(text, view, path.nodes[i]);
        move(out, text);
    }
    bbf_buf_char(out, ']');
}

static void add_row(struct bbf_buf *out, struct bbf_check *check, size_t i, struct bbf_buf *text)
{
    const struct bbf_compared *row = &check->comparison.rows[i];
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(check, row, &d);

    bbf_buf_printf(out,
                   "{\"id\":\"%016" PRIx64 "\",\"change\":\"%s\",\"fails\":%s,\"text\":", row->id,
                   bbf_change_name(row->change), check->fails[i] != 0 ? "true" : "false");
    bbf_check_row_text(text, check, row);
    move(out, text);
    add_loss(out, "before", &row->before);
    add_loss(out, "now", &row->now);
    if (row->before.row != BBF_NO_NODE && row->now.row != BBF_NO_NODE) {
        bbf_buf_str(out, ",\"difference_per_1000\":");
        add_interval(out, &row->difference);
    }
    const struct bbf_check_place place = bbf_check_place(check, view, d->last);
    bbf_buf_str(out, ",\"look_at\":");
    bbf_view_name(text, view, place.node);
    move(out, text);
    if (place.file != NULL) {
        bbf_buf_str(out, ",\"file\":");
        bbf_text_safe(text, place.file, '\0');
        move(out, text);
        if (place.line != 0)
            bbf_buf_printf(out, ",\"line\":%" PRIu32, place.line);
    }
    add_path(out, view, d->last, text);
    bbf_buf_char(out, '}');
}

static void add_rules(struct bbf_buf *out, const struct bbf_check *check)
{
    bbf_buf_str(out, "\"rules\":[");
    for (size_t i = 0; i < check->n_rules; i++) {
        const struct bbf_check_rule *rule = &check->rules[i];
        bbf_buf_printf(out, "%s{\"name\":\"%s\",\"limit\":", i > 0 ? ",\n" : "\n",
                       bbf_rule_name(rule->id));
        if (rule->id == BBF_RULE_MAX_RATE)
            bbf_rate_text(out, (double)rule->limit / 1e9, false);
        else
            bbf_buf_printf(out, "%" PRIu64, rule->limit);
        bbf_buf_printf(out, ",\"value\":%" PRIu64 ",\"broken\":%s}", rule->value,
                       rule->is_broken ? "true" : "false");
    }
    bbf_buf_str(out, "],\n");
}

static void write(struct bbf_buf *out, struct bbf_check *check)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_buf_printf(out, "{\"schema\":\"bbflow-check/1\",\n\"passed\":%s,\n\"program\":",
                   check->asked->compare_only ? "null"
                   : check->n_broken == 0     ? "true"
                                              : "false");
    bbf_check_program(&text, check);
    move(out, &text);
    bbf_buf_str(out, ",\n");
    add_rules(out, check);
    bbf_buf_str(out, "\"notes\":[");
    for (size_t i = 0; i < check->n_notes; i++) {
        bbf_buf_str(out, i > 0 ? "," : "");
        bbf_json_text(out, check->notes[i]);
    }
    bbf_buf_str(out, "],\n\"leaks\":[");
    for (size_t i = 0; i < check->comparison.count; i++) {
        bbf_buf_str(out, i > 0 ? ",\n" : "\n");
        add_row(out, check, i, &text);
    }
    bbf_buf_str(out, "]}\n");
    out->failed = out->failed || text.failed;
    bbf_buf_free(&text);
}

int bbf_check_json(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                   struct bbf_check_rules *rules)
{
    const struct bbf_render_options options = {.check = rules};
    struct bbf_view view;
    int err = bbf_view_init(&view, snapshot);

    if (err != 0)
        return err;
    err = bbf_check_render(out, &view, &options, write);
    bbf_view_free(&view);
    return err == 0 && out->failed ? BBF_ENOMEM : err;
}
