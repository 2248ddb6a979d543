/* SPDX-License-Identifier: Apache-2.0 */
#include "render/render.h"

#include "core/err.h"
#include "render/view.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *extension;
    unsigned flags;
    int (*render)(struct bbf_buf *out, struct bbf_view *view,
                  const struct bbf_render_options *options);
} formats[] = {
#define XX(id, name, extension, flags) {#name, extension, flags, bbf_render_##name},
    BBF_FORMATS(XX)
#undef XX
};
enum { FORMATS = sizeof formats / sizeof *formats };

int bbf_render(struct bbf_buf *out, const struct bbf_snapshot *snapshot, enum bbf_format format,
               const struct bbf_render_options *options)
{
    static const struct bbf_render_options everything = {0};
    struct bbf_view view;

    if ((size_t)format >= FORMATS)
        return BBF_EINVAL;
    int err = bbf_view_init(&view, snapshot);
    if (err != 0)
        return err;
    options = options != NULL ? options : &everything;
    view.lines = options->lines;
    view.by_method = options->by_method;
    view.choice = options->choice;
    err = formats[format].render(out, &view, options);
    bbf_view_free(&view);
    return err == 0 && out->failed ? BBF_ENOMEM : err;
}

unsigned bbf_format_flags(enum bbf_format format)
{
    return formats[format].flags;
}

void bbf_format_extensions(struct bbf_buf *out)
{
    for (size_t i = 0; i < FORMATS; i++) {
        bbf_buf_printf(out, "%s.%s", i > 0 ? ", " : "", formats[i].name);
        if (formats[i].extension != NULL)
            bbf_buf_printf(out, ", .%s", formats[i].extension);
    }
}

int bbf_format_of_name(const char *name, enum bbf_format *format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = (enum bbf_format)i;
            return 0;
        }
    return BBF_ENOTFOUND;
}

/* Bytes of ".extension" at the end of `name`, with something before it; 0: it ends otherwise. */
static size_t ends_with(const char *name, const char *extension)
{
    size_t n = strlen(name), len = extension != NULL ? strlen(extension) : 0;

    if (len == 0 || n <= len || name[n - len - 1] != '.' ||
        strcasecmp(name + n - len, extension) != 0)
        return 0;
    return len + 1;
}

int bbf_format_of_path(const char *path, enum bbf_format *format)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t longest = 0; /* x.speedscope.json is no x.json */

    for (size_t i = 0; i < FORMATS; i++) {
        size_t own = ends_with(name, formats[i].name);
        size_t other = ends_with(name, formats[i].extension);
        if (own > longest || other > longest) {
            longest = own > other ? own : other;
            *format = (enum bbf_format)i;
        }
    }
    return longest > 0 ? BBF_OK : BBF_ENOTFOUND;
}
