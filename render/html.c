/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page for a browser, in one file: the leaks, the tree, an icicle, when losses began. It has the
 * whole snapshot as the JSON document, and beside it what is made from it in C: the entries in the
 * words of the other formats, so that no divergence is computed twice. The page itself is
 * render/html/, made into render_page.h by render/html/embed.cmake.
 *
 * Names come from class files. They are in the two JSON texts only, where '<' is written as \u003c
 * so that none can end its element, and the page shows them by textContent.
 */
#include "render/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "render/choice.h"
#include "render/cost.h"
#include "render/diverge_text.h"
#include "render/fingerprint.h"
#include "render/growth.h"
#include "render/head.h"
#include "render/html.h"
#include "render/json_names.h"
#include "render/json_text.h"
#include "render/misuse.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/view.h"
#include "render_page.h" /* bbf__page: made when bbflow is built */

enum { MISUSES_SHOWN = 100 };

struct html {
    struct bbf_buf *out;
    struct bbf_view *view;
    const struct bbf_snapshot *snapshot;
    uint32_t *entry_of; /* by number of a divergence: its place in the list */
};

/* ---- JSON inside an element ------------------------------------------------------------------ */

/* Pass on a piece of JSON. '<' is in strings only. */
static int add_escaped(void *ctx, const char *data, size_t len)
{
    struct bbf_buf *out = ctx;
    const char *end = data + len;

    while (data < end) {
        const char *at = memchr(data, '<', (size_t)(end - data));
        bbf_buf_add(out, data, (size_t)((at != NULL ? at : end) - data));
        if (at == NULL)
            break;
        bbf_buf_str(out, "\\u003c");
        data = at + 1;
    }
    return out->failed ? -1 : 0;
}

/* A text of this render as a JSON string. */
static void add_text(struct bbf_buf *out, struct bbf_buf *text)
{
    bbf_json_text(out, bbf_buf_cstr(text));
    out->failed = out->failed || text->failed;
    text->len = 0;
}

/* Its lines, without the indentation, as an array. */
static void add_lines(struct bbf_buf *out, struct bbf_buf *text)
{
    char *line = NULL, *rest = NULL;
    const char *comma = "";

    (void)bbf_buf_cstr(text);
    bbf_buf_char(out, '[');
    if (text->len > 0)
        line = strtok_r(text->data, "\n", &rest);
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        bbf_buf_str(out, comma);
        bbf_json_text(out, line + strspn(line, " "));
        comma = ",\n";
    }
    bbf_buf_char(out, ']');
    out->failed = out->failed || text->failed;
    text->len = 0;
}

/* ---- The report ------------------------------------------------------------------------------ */

static void add_node(const struct html *h, const char *key, uint32_t node)
{
    if (node != BBF_NO_NODE)
        bbf_buf_printf(h->out, ",\"%s\":%" PRIu32, key, h->snapshot->nodes[node].id);
}

static void add_memories(const struct html *h, unsigned memories)
{
    const char *comma = "";

    bbf_buf_str(h->out, ",\"memories\":[");
    for (unsigned m = BBF_MEM_DIRECT; m <= BBF_MEM_UNKNOWN; m++)
        if ((memories >> m & 1) != 0) {
            bbf_buf_printf(h->out, "%s\"%s\"", comma, bbf_json_memories[m]);
            comma = ",";
        }
    bbf_buf_char(h->out, ']');
}

static int add_rate(const struct html *h, const struct bbf_loss_rate *rate)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_buf_printf(h->out,
                   ",\"rate\":{\"first\":%" PRId64 ",\"last\":%" PRId64 ",\"lives\":%" PRIu64
                   ",\"bytes\":%" PRIu64 ",\"seconds\":%" PRIu64 ",\"stopped\":%s,\"text\":",
                   rate->first_ms, rate->last_ms, rate->lives, rate->bytes, rate->seconds,
                   rate->stopped ? "true" : "false");
    bbf_loss_rate_text(&text, h->snapshot, rate);
    add_text(h->out, &text);
    bbf_buf_char(h->out, '}');
    bbf_buf_free(&text);
    return BBF_OK;
}

static int add_entry(const struct html *h, const struct bbf_divergence *d)
{
    struct bbf_buf *out = h->out, text = BBF_BUF_INIT;
    struct bbf_loss_rate rate;
    int err = bbf_loss_rate_of(h->view, d, &rate);

    if (err != BBF_OK)
        return err;
    bbf_buf_str(out, "{\"id\":\"");
    bbf_fingerprint_text(out, bbf_fingerprint_leak(h->view, d->last));
    bbf_buf_printf(out,
                   "\",\"leaked\":%" PRIu64 ",\"aged\":%" PRIu64 ",\"bytes\":%" PRIu64
                   ",\"passed\":%" PRIu64 ",\"released\":%" PRIu64 ",\"kept_released\":%" PRIu64
                   ",\"places\":%" PRIu32 ",\"branches\":%" PRIu32 ",\"memory\":\"%s\"",
                   d->leaked, d->aged, d->bytes, d->passed, d->released, d->kept_released,
                   d->places, d->branches, bbf_json_memories[d->memory]);
    add_memories(h, d->memories);
    add_node(h, "origin", d->origin);
    add_node(h, "shared", d->shared);
    add_node(h, "losing", d->losing);
    add_node(h, "last", d->last);
    add_node(h, "kept", d->kept);
    add_node(h, "owner", bbf_owner_to_mend(h->view, d->last));
    if (rate.first_ms != 0)
        err = add_rate(h, &rate);
    bbf_buf_str(out, ",\n\"text\":");
    bbf_divergence_text(&text, h->view, d);
    add_lines(out, &text);
    bbf_buf_char(out, '}');
    bbf_buf_free(&text);
    return err;
}

static int add_entries(const struct html *h)
{
    const struct bbf_divergences *all = &h->view->divergences;
    int err = BBF_OK;

    bbf_buf_str(h->out, ",\n\"entries\":[");
    for (size_t i = 0; i < all->count && err == BBF_OK && !h->out->failed; i++) {
        bbf_buf_str(h->out, i > 0 ? ",\n" : "\n");
        err = add_entry(h, &all->rows[i]);
    }
    bbf_buf_char(h->out, ']');
    return err;
}

/* By row of the document's `leaks`: its entry, its loss and its opener in words. */
static void add_leaks(const struct html *h)
{
    const struct bbf_snapshot *s = h->snapshot;
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_buf_str(h->out, ",\n\"leaks\":[");
    for (size_t i = 0; i < s->n_leaks && !h->out->failed; i++) {
        bbf_buf_printf(
            h->out, "%s{\"entry\":%" PRIu32 ",\"lost\":\"%s\",\"opener\":", i > 0 ? ",\n" : "\n",
            h->entry_of[h->view->divergences.of_leak[i]], bbf_lost_text(s->leaks[i].lost));
        bbf_text_opener(&text, s, &s->leaks[i], '\0');
        add_text(h->out, &text);
        bbf_buf_char(h->out, '}');
    }
    bbf_buf_char(h->out, ']');
    bbf_buf_free(&text);
}

static bool is_row(const struct bbf_snapshot *s, size_t row, void *ctx)
{
    (void)s;
    return row == *(const size_t *)ctx;
}

static int add_lost_growth(const struct html *h, size_t row)
{
    struct bbf_loss_rate rate;
    int err = bbf_loss_rate(h->snapshot, is_row, &row, &rate);
    uint32_t number =
        h->view->divergences.of_growth != NULL ? h->view->divergences.of_growth[row] : BBF_NO_NODE;

    if (err != BBF_OK)
        return err;
    bbf_buf_str(h->out, "{\"of\":\"lost\"");
    if (number != BBF_NO_NODE)
        bbf_buf_printf(h->out, ",\"entry\":%" PRIu32, h->entry_of[number]);
    err = add_rate(h, &rate);
    bbf_buf_char(h->out, '}');
    return err;
}

static void add_held_growth(const struct html *h, size_t row)
{
    const struct bbf_hold_rate rate = bbf_hold_rate(h->snapshot, &h->snapshot->growth[row]);
    struct bbf_buf text = BBF_BUF_INIT;

    if (rate.growing) {
        bbf_buf_str(&text, "since ");
        bbf_growth_clock(&text, h->snapshot, rate.since_ms);
        bbf_buf_str(&text, ", ");
        bbf_growth_per_minute(&text, (double)(rate.now - rate.then), 0, (double)rate.seconds);
    }
    bbf_buf_printf(h->out, "{\"of\":\"held\",\"growing\":%s,\"rate\":{\"text\":",
                   rate.growing ? "true" : "false");
    add_text(h->out, &text);
    bbf_buf_str(h->out, "}}");
    bbf_buf_free(&text);
}

/* By row of the document's `growth`. */
static int add_growth(const struct html *h)
{
    int err = BBF_OK;

    bbf_buf_str(h->out, ",\n\"growth\":[");
    for (size_t i = 0; i < h->snapshot->n_growth && err == BBF_OK && !h->out->failed; i++) {
        bbf_buf_str(h->out, i > 0 ? ",\n" : "\n");
        if (h->snapshot->growth[i].of == BBF_GROWTH_LOST)
            err = add_lost_growth(h, i);
        else
            add_held_growth(h, i);
    }
    bbf_buf_char(h->out, ']');
    return err;
}

/* By row of the document's `sites`: names as the text formats have them. */
static void add_names(const struct html *h)
{
    struct bbf_buf name = BBF_BUF_INIT;

    bbf_buf_str(h->out, "{\"names\":[");
    for (size_t i = 0; i < h->snapshot->n_sites && !h->out->failed; i++) {
        bbf_buf_str(h->out, i > 0 ? ",\n" : "\n");
        bbf_buf_add(&name, h->view->names.names[i].text, h->view->names.names[i].len);
        add_text(h->out, &name);
    }
    bbf_buf_char(h->out, ']');
    bbf_buf_free(&name);
}

static void add_choice(const struct html *h)
{
    static const char *const signs[] = {"", ">", "<"};
    const struct bbf_choice *c = h->view->choice;

    if (c == NULL)
        return;
    bbf_buf_printf(h->out, ",\n\"choice\":{\"lost\":%s,\"older\":%" PRIu64,
                   c->lost ? "true" : "false", c->older);
    add_memories(h, c->memories);
    if (c->is != BBF_RATE_ANY)
        bbf_buf_printf(h->out, ",\"rate\":\"%s%.10g\"", signs[c->is], c->percent);
    bbf_buf_str(h->out, ",\"path\":");
    bbf_json_text(h->out, c->path);
    bbf_buf_char(h->out, '}');
}

static int why_text(struct bbf_buf *text, const struct html *h,
                    const struct bbf_render_options *options)
{
    struct bbf_view view;
    int err = bbf_view_init(&view, h->snapshot);

    if (err != BBF_OK)
        return err;
    view.lines = options->lines;
    err = bbf_render_why(text, &view, options);
    bbf_view_free(&view);
    return err;
}

/* Texts that the page shows as they are. */
static int add_texts(const struct html *h, const struct bbf_render_options *options)
{
    struct bbf_buf text = BBF_BUF_INIT;
    int err;

    bbf_buf_str(h->out, ",\n\"notes\":");
    bbf_head_text(&text, h->snapshot, "");
    add_lines(h->out, &text);
    bbf_buf_str(h->out, ",\n\"lines\":");
    bbf_reconciled_line(&text, &h->snapshot->reconciled);
    bbf_cost_line(&text, &h->snapshot->cost);
    add_lines(h->out, &text);
    bbf_buf_str(h->out, ",\n\"misuse\":");
    bbf_misuse_text(&text, h->snapshot, MISUSES_SHOWN);
    add_text(h->out, &text);
    bbf_buf_str(h->out, ",\n\"why\":");
    err = why_text(&text, h, options);
    add_text(h->out, &text);
    bbf_buf_free(&text);
    return err;
}

static int add_report(struct html *h, const struct bbf_render_options *options)
{
    add_names(h);
    add_choice(h);
    int err = add_texts(h, options);
    if (err == BBF_OK)
        err = add_entries(h);
    add_leaks(h);
    if (err == BBF_OK)
        err = add_growth(h);
    bbf_buf_str(h->out, "}\n");
    return err;
}

static int number_entries(struct html *h)
{
    const struct bbf_divergences *all = &h->view->divergences;

    h->entry_of = calloc(all->count + 1, sizeof *h->entry_of);
    if (h->entry_of == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        h->entry_of[all->rows[i].number] = (uint32_t)i;
    return BBF_OK;
}

/* ---- The page -------------------------------------------------------------------------------- */

static int page_report(struct bbf_buf *json, struct bbf_view *view,
                       const struct bbf_render_options *options)
{
    struct html h = {.out = json, .view = view, .snapshot = view->snapshot};
    int err = bbf_view_add_names(view, '\0');

    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    if (err == BBF_OK)
        err = bbf_view_add_owners(view);
    if (err == BBF_OK)
        err = number_entries(&h);
    if (err == BBF_OK)
        err = add_report(&h, options);
    free(h.entry_of);
    return err;
}

static int page_snapshot(struct bbf_buf *json, struct bbf_view *of,
                         const struct bbf_render_options *options)
{
    struct bbf_view view;
    int err = bbf_view_init(&view, of->snapshot);

    if (err != BBF_OK)
        return err;
    err = bbf_render_json(json, &view, options);
    bbf_view_free(&view);
    return err;
}

static int add_json(struct bbf_buf *out,
                    int (*write)(struct bbf_buf *, struct bbf_view *,
                                 const struct bbf_render_options *),
                    struct bbf_view *view, const struct bbf_render_options *options)
{
    struct bbf_buf json = {.flush = add_escaped, .ctx = out};
    int err = write(&json, view, options);

    if (err == BBF_OK && !bbf_buf_flush(&json))
        err = BBF_ENOMEM;
    bbf_buf_free(&json);
    return err;
}

static void add_piece(struct bbf_buf *out, enum bbf_html_piece piece)
{
    static const struct {
        const char *text;
        size_t len;
    } pieces[] = {[BBF_HTML_TOP] = {bbf__page_top, sizeof bbf__page_top - 1},
                  [BBF_HTML_HEAD] = {bbf__page_head, sizeof bbf__page_head - 1},
                  [BBF_HTML_BETWEEN] = {bbf__page_between, sizeof bbf__page_between - 1},
                  [BBF_HTML_END] = {bbf__page_end, sizeof bbf__page_end - 1},
                  [BBF_HTML_BOTTOM] = {bbf__page_bottom, sizeof bbf__page_bottom - 1}};

    bbf_buf_add(out, pieces[piece].text, pieces[piece].len);
}

void bbf_html_add(struct bbf_buf *out, enum bbf_html_piece first, enum bbf_html_piece last)
{
    for (unsigned piece = first; piece <= (unsigned)last; piece++)
        add_piece(out, (enum bbf_html_piece)piece);
}

int bbf_render_html(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    bbf_html_add(out, BBF_HTML_TOP, BBF_HTML_HEAD);
    int err = add_json(out, page_report, view, options);
    bbf_html_add(out, BBF_HTML_BETWEEN, BBF_HTML_BETWEEN);
    if (err == BBF_OK)
        err = add_json(out, page_snapshot, view, options);
    bbf_html_add(out, BBF_HTML_END, BBF_HTML_BOTTOM);
    return err;
}
