/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/speedscope.c - the file format of the flame graph viewer speedscope
 * (https://www.speedscope.app/file-format-schema.json). A profile for each type of
 * render/samples.h; a sample is a path, its weight a count or bytes. Numbers above 2^53 lose their
 * last digits in a browser.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "render/formats.h"
#include "render/json_text.h"
#include "render/samples.h"
#include "render/text.h"
#include "render/view.h"

struct profiles {
    struct bbf_buf *out;
    struct bbf_view *view;
    enum bbf_sample_type type;
    bool weights; /* are written, else the paths */
    bool any;     /* one was written */
    uint64_t sum;
};

static void add_frames(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct bbf_buf file = BBF_BUF_INIT;

    bbf_buf_str(out, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < s->n_sites; i++) {
        bbf_buf_str(out, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        bbf_json_text_of(out, view->names.names[i].text, view->names.names[i].len);
        file.len = 0;
        bbf_text_safe(&file, s->sites[i].class_name, '\0');
        if (file.len > 0) {
            bbf_buf_str(out, ",\"file\":");
            bbf_json_text_of(out, file.data, file.len);
        }
        if (s->sites[i].line != 0)
            bbf_buf_printf(out, ",\"line\":%" PRIu32, s->sites[i].line);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "]},\n");
    out->failed = out->failed || file.failed;
    bbf_buf_free(&file);
}

static void add_sample(void *ctx, const struct bbf_sample *sample)
{
    struct profiles *p = ctx;
    const uint64_t value = sample->values[p->type];

    if (value == 0)
        return;
    bbf_buf_str(p->out, p->any ? "," : "");
    p->any = true;
    if (p->weights) {
        bbf_text_number(p->out, value);
        p->sum = value > UINT64_MAX - p->sum ? UINT64_MAX : p->sum + value;
        return;
    }
    const struct bbf_view_path path = bbf_view_path(p->view, sample->node);
    for (size_t i = 0; i < path.n; i++) {
        bbf_buf_char(p->out, i > 0 ? ',' : '[');
        bbf_text_number(p->out, p->view->snapshot->nodes[path.nodes[i]].site);
    }
    bbf_buf_char(p->out, ']');
}

static int add_profile(struct profiles *p, enum bbf_sample_type type)
{
    const struct bbf_sample_name *name = &bbf_sample_names[type];

    *p = (struct profiles){.out = p->out, .view = p->view, .type = type};
    bbf_buf_printf(p->out, "%s{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"samples\":[",
                   type > 0 ? ",\n" : "\n", name->name,
                   strcmp(name->unit, "bytes") == 0 ? "bytes" : "none");
    int err = bbf_samples_each(p->view, add_sample, p);
    bbf_buf_str(p->out, "],\"weights\":[");
    p->weights = true;
    p->any = false;
    if (err == BBF_OK)
        err = bbf_samples_each(p->view, add_sample, p);
    bbf_buf_printf(p->out, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", p->sum);
    return err;
}

int bbf_render_speedscope(struct bbf_buf *out, struct bbf_view *view,
                          const struct bbf_render_options *options)
{
    struct profiles p = {.out = out, .view = view};
    int err = bbf_view_add_names(view, '\0');

    (void)options;
    if (err != BBF_OK)
        return err;
    bbf_buf_str(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                     "\"exporter\":\"bbflow " BBF_VERSION "\",\n\"name\":\"bbflow ");
    struct bbf_buf name = BBF_BUF_INIT;
    bbf_text_safe(&name, view->snapshot->jvm.main, '\0');
    bbf_json_text_part(out, bbf_buf_cstr(&name), name.len);
    out->failed = out->failed || name.failed;
    bbf_buf_free(&name);
    bbf_buf_printf(out, " (%" PRId64 ")\",\n\"activeProfileIndex\":%d,\n", view->snapshot->jvm.pid,
                   BBF_SAMPLE_LEAKED_BYTES);
    add_frames(out, view);
    bbf_buf_str(out, "\"profiles\":[");
    for (int i = 0; i < BBF_SAMPLE_COUNT && err == BBF_OK; i++)
        err = add_profile(&p, (enum bbf_sample_type)i);
    bbf_buf_str(out, "]}\n");
    return err;
}
