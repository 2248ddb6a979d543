#include "render/render.h"

#include "core/err.h"
#include "render/formats.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;      /* also the extension */
    const char *extension; /* another one, or NULL */
    enum bbf_format format;
} formats[] = {
    {"tree", "txt", BBF_FORMAT_TREE},
    {"llm", NULL, BBF_FORMAT_LLM},
    {"summary", NULL, BBF_FORMAT_SUMMARY},
    {"json", NULL, BBF_FORMAT_JSON},
};

int bbf_render(struct bbf_buf *out, const struct bbf_snapshot *snapshot, enum bbf_format format,
               const struct bbf_render_options *options)
{
    int err = bbf_snapshot_check(snapshot);

    if (err != 0)
        return err;
    err = BBF_EINVAL;
    switch (format) {
    case BBF_FORMAT_TREE:
        err = bbf_render_tree(out, snapshot, options != NULL ? options->max_leaves : 0);
        break;
    case BBF_FORMAT_LLM:
        err = bbf_render_llm(out, snapshot);
        break;
    case BBF_FORMAT_SUMMARY:
        err = bbf_render_summary(out, snapshot);
        break;
    case BBF_FORMAT_JSON:
        err = bbf_render_json(out, snapshot);
        break;
    }
    return err == 0 && out->failed ? BBF_ENOMEM : err;
}

int bbf_format_of_name(const char *name, enum bbf_format *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = formats[i].format;
            return 0;
        }
    return BBF_ENOTFOUND;
}

int bbf_format_of_path(const char *path, enum bbf_format *format)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash + 1 : path, '.');

    if (dot == NULL)
        return BBF_ENOTFOUND;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(dot + 1, formats[i].name) == 0 ||
            (formats[i].extension != NULL && strcasecmp(dot + 1, formats[i].extension) == 0)) {
            *format = formats[i].format;
            return 0;
        }
    return BBF_ENOTFOUND;
}

const char *bbf_format_names(void)
{
    return "tree, llm, summary, json";
}
