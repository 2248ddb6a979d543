/* SPDX-License-Identifier: Apache-2.0 */
#include "render/context.h"

#include <inttypes.h>

#include "render/json_names.h"
#include "render/text.h"

enum { LINES = 5 };

/* A value between quotation marks, which it cannot end. */
static void add_quoted(struct bbf_buf *out, const char *text)
{
    bbf_buf_char(out, '"');
    bbf_text_safe(out, text, '"');
    bbf_buf_char(out, '"');
}

static void add_value(struct bbf_buf *out, const char *before, const char *text)
{
    bbf_buf_str(out, before);
    bbf_text_safe(out, text, '\0');
}

static void add_hint(struct bbf_buf *out, const struct bbf_snap_context *row)
{
    switch (row->hint_is) {
    case BBF_HINT_TEXT:
        bbf_buf_str(out, "touched ");
        add_quoted(out, row->hint);
        break;
    case BBF_HINT_HANDLER:
        bbf_buf_str(out, "given to handler ");
        add_quoted(out, row->hint);
        break;
    case BBF_HINT_CLASS:
        add_value(out, "touched with an object of ", row->hint);
        break;
    case BBF_HINT_NONE:
        break;
    }
}

static void add_row(struct bbf_buf *out, const struct bbf_snap_context *row)
{
    const char *glue = " ";

    bbf_buf_str(out, "   last lost:");
    if (row->channel != NULL) {
        add_value(out, " channel ", row->channel);
        if (row->address != NULL)
            add_value(out, " ", row->address);
        glue = ", ";
    }
    if (row->hint_is != BBF_HINT_NONE) {
        bbf_buf_str(out, glue);
        add_hint(out, row);
        glue = ", ";
    }
    if (row->thrown != NULL) {
        bbf_buf_str(out, glue);
        add_value(out, "after ", row->thrown);
        add_value(out, " in ", row->caught_in != NULL ? row->caught_in : "the pipeline");
    }
    bbf_buf_char(out, '\n');
}

/* Of the rows of the divergence, the last lost first, the one after `before` (n_contexts: the
 * first); n_contexts: there is no more. */
static size_t next_row(const struct bbf_view *view, const struct bbf_divergence *d, size_t before)
{
    const struct bbf_snapshot *s = view->snapshot;
    size_t best = s->n_contexts;

    for (size_t i = 0; i < s->n_contexts; i++) {
        bool earlier = before == s->n_contexts ||
                       s->contexts[i].lost_ms < s->contexts[before].lost_ms ||
                       (s->contexts[i].lost_ms == s->contexts[before].lost_ms && i > before);
        if (view->divergences.of_context[i] != d->number || !earlier)
            continue;
        if (best == s->n_contexts || s->contexts[i].lost_ms > s->contexts[best].lost_ms)
            best = i;
    }
    return best;
}

void bbf_contexts_text(struct bbf_buf *out, const struct bbf_view *view,
                       const struct bbf_divergence *divergence)
{
    const struct bbf_snapshot *s = view->snapshot;
    size_t row = s->n_contexts;

    for (int i = 0; i < LINES && s->n_contexts > 0; i++) {
        row = next_row(view, divergence, row);
        if (row == s->n_contexts)
            return;
        add_row(out, &s->contexts[row]);
    }
}

static void add_field(struct bbf_buf *out, const char *key, const char *text)
{
    if (text == NULL)
        return;
    bbf_buf_printf(out, "|%s=", key);
    bbf_text_safe(out, text, '|');
}

void bbf_context_rows(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;

    if (s->n_contexts == 0)
        return;
    bbf_buf_str(out, "\nCONTEXTS:\n");
    for (size_t i = 0; i < s->n_contexts && !out->failed; i++) {
        const struct bbf_snap_context *row = &s->contexts[i];
        bbf_buf_printf(out, "context|open_s=%" PRIu64, row->open_seconds);
        add_field(out, "channel", row->channel);
        add_field(out, "address", row->address);
        if (row->hint_is != BBF_HINT_NONE)
            add_field(out, "hint_is", bbf_json_hints[row->hint_is]);
        add_field(out, "hint", row->hint);
        add_field(out, "exception", row->thrown);
        add_field(out, "caught_in", row->caught_in);
        bbf_buf_str(out, "|at=");
        bbf_view_name(out, view, row->node);
        bbf_buf_char(out, '\n');
    }
}
