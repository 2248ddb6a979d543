/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/mermaid.c - where buffers are lost, as a picture for an issue or a wiki: a flow chart in
 * Mermaid's language (https://mermaid.js.org/syntax/flowchart.html), one subgraph a divergence:
 *
 *     origin -> steps between -> shared -> kept (released)
 *                                       -> losing -> steps between -> last (lost)
 *
 * Viewers refuse charts of more than 500 edges, so the number of places is bounded.
 */
#include <inttypes.h>
#include <string.h>

#include "core/err.h"
#include "render/diverge_text.h"
#include "render/formats.h"
#include "render/text.h"
#include "render/view.h"

enum { PLACES = 10, PLACES_ALL = 60 };

struct chart {
    struct bbf_buf *out;
    struct bbf_view *view;
    size_t place; /* the number in the chart's names of nodes */
};

/* A text in quotes: what would end it, or begin a tag, an entity or Markdown, as an entity. */
static void add_quoted(struct bbf_buf *out, const char *text, size_t len)
{
    static const char special[] = "\"#<>&`*_~\\;";

    for (size_t i = 0; i < len; i++)
        if (memchr(special, text[i], sizeof special - 1) != NULL)
            bbf_buf_printf(out, "#%d;", text[i]);
        else
            bbf_buf_char(out, text[i]);
}

static void add_name(const struct chart *c, uint32_t node)
{
    const struct bbf_name *name = &c->view->names.names[c->view->snapshot->nodes[node].site];

    add_quoted(c->out, name->text, name->len);
}

/* `p1_origin["A.read<br/>2,984 came here"]` */
static void begin_box(const struct chart *c, const char *id, uint32_t node)
{
    bbf_buf_printf(c->out, "    p%zu_%s[\"", c->place, id);
    add_name(c, node);
}

static void end_box(const struct chart *c, const char *kind)
{
    bbf_buf_printf(c->out, "\"]%s%s\n", kind[0] != '\0' ? ":::" : "", kind);
}

static void add_box(const struct chart *c, const char *id, uint32_t node)
{
    begin_box(c, id, node);
    end_box(c, "");
}

/* An edge; `between`: steps that it stands for; `lives` 0: not known. */
static void add_edge(const struct chart *c, const char *from, const char *to, size_t between,
                     uint64_t lives)
{
    bbf_buf_printf(c->out, "    p%zu_%s -->", c->place, from);
    if (between > 0 || lives > 0) {
        bbf_buf_str(c->out, "|\"");
        if (lives > 0)
            bbf_text_grouped(c->out, lives);
        if (between > 0)
            bbf_buf_printf(c->out, "%s%zu step%s between", lives > 0 ? ", " : "", between,
                           between > 1 ? "s" : "");
        bbf_buf_str(c->out, "\"|");
    }
    bbf_buf_printf(c->out, " p%zu_%s\n", c->place, to);
}

/* Steps on the way from an ancestor to `node`, without both; 0 where it is no ancestor. */
static size_t steps_between(const struct chart *c, uint32_t from, uint32_t node)
{
    size_t n = 0;

    while (node != from && c->view->parents[node] != from) {
        node = c->view->parents[node];
        if (node == BBF_NO_PARENT)
            return 0;
        n++;
    }
    return node == from ? 0 : n;
}

static void add_end(const struct chart *c, const struct bbf_divergence *d)
{
    begin_box(c, "last", d->last);
    bbf_buf_str(c->out, d->leaked != 0 ? "<br/>LEAK proven: " : "<br/>STILL OPEN: ");
    bbf_text_grouped(c->out, d->leaked + d->aged);
    bbf_buf_str(c->out, ", ");
    bbf_divergence_bytes(c->out, d);
    end_box(c, d->leaked != 0 ? "lost" : "open");
}

static void add_kept(const struct chart *c, const struct bbf_divergence *d, const char *from)
{
    if (d->released == 0)
        return;
    if (d->kept != BBF_NO_NODE) {
        begin_box(c, "kept", d->kept);
        bbf_buf_str(c->out, "<br/>released: ");
    } else {
        bbf_buf_printf(c->out, "    p%zu_kept[\"released: ", c->place);
    }
    bbf_text_grouped(c->out, d->kept_released);
    end_box(c, "kept");
    add_edge(c, from, "kept", 0, d->kept_released);
}

/* The losing way from the box `from` of node `at` to the last step. */
static void add_losing(const struct chart *c, const struct bbf_divergence *d, const char *from,
                       uint32_t at)
{
    uint64_t lost = d->leaked + d->aged;

    if (d->last == at) {
        add_end(c, d);
        add_edge(c, from, "last", 0, lost);
        return;
    }
    if (d->branches == 1 && d->losing != at && d->losing != d->last) {
        add_box(c, "losing", d->losing);
        add_edge(c, from, "losing", 0, lost);
        from = "losing";
        at = d->losing;
    }
    add_end(c, d);
    add_edge(c, from, "last", steps_between(c, at, d->last), lost);
}

static void add_place(const struct chart *c, const struct bbf_divergence *d)
{
    uint32_t at = d->origin;
    const char *from = "origin";

    bbf_buf_printf(c->out, "  subgraph p%zu [\"%zu: ", c->place, c->place);
    bbf_text_grouped(c->out, d->leaked + d->aged);
    bbf_buf_str(c->out, " of ");
    bbf_text_grouped(c->out, d->passed);
    bbf_buf_str(c->out, " are lost\"]\n");
    add_box(c, "origin", d->origin);
    if (d->shared != BBF_NO_NODE && d->shared != d->origin) {
        add_box(c, "shared", d->shared);
        add_edge(c, "origin", "shared", steps_between(c, d->origin, d->shared), d->passed);
        at = d->shared;
        from = "shared";
    }
    if (d->places == 1) /* else `kept` is of one of them only */
        add_kept(c, d, from);
    add_losing(c, d, from, at);
    bbf_buf_str(c->out, "  end\n");
}

int bbf_render_mermaid(struct bbf_buf *out, struct bbf_view *view,
                       const struct bbf_render_options *options)
{
    const struct bbf_divergences *places = &view->divergences;
    const size_t most = options->max_lines == 0 ? PLACES_ALL : PLACES;
    int err = bbf_view_add_names(view, '\0');

    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    if (err != BBF_OK)
        return err;
    bbf_buf_str(out, "flowchart LR\n");
    for (size_t i = 0; i < places->count && i < most; i++)
        add_place(&(struct chart){out, view, i + 1}, &places->rows[i]);
    if (places->count > most)
        bbf_buf_printf(out, "  more[\"%zu more places\"]\n", places->count - most);
    if (places->count == 0)
        bbf_buf_str(out, "  none[\"no place loses buffers\"]\n");
    bbf_buf_str(out, "  classDef lost fill:#fdd,stroke:#c00,color:#000\n"
                     "  classDef open fill:#ffd,stroke:#a80,color:#000\n"
                     "  classDef kept fill:#dfd,stroke:#080,color:#000\n");
    return BBF_OK;
}
