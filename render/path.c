/* SPDX-License-Identifier: Apache-2.0 */
#include "render/path.h"

#include <string.h>

#include "core/safe.h"

static const char arrow[] = " → ";
enum { ARROW = sizeof arrow - 1 };

bool bbf_path_climb(struct bbf_path *path, const char *class_name, const char *method)
{
    if (path->n == BBF_PATH_STEPS) {
        path->cut = true;
        return false;
    }
    path->steps[path->n++] = (struct bbf_path_step){class_name, method};
    return true;
}

void bbf_path_step(struct bbf_buf *out, const char *class_name, const char *method,
                   enum bbf_class_style style)
{
    if (class_name == NULL) {
        bbf_buf_char(out, '?');
        return;
    }
    const char *dot = style == BBF_CLASS_SIMPLE ? strrchr(class_name, '.') : NULL;
    const char *shown = dot != NULL ? dot + 1 : class_name;
    if (method[0] == '?') /* what bbflow says of the class takes the method's place */
        bbf_safe_printf(out, BBF_SAFE_VALUE, "%s%s%s", method, *shown != '\0' ? " " : "", shown);
    else
        bbf_safe_printf(out, BBF_SAFE_VALUE, "%s%s%s", shown,
                        *shown != '\0' && method[0] != '\0' ? "." : "", method);
}

/* Where the last `most` bytes of the `len` at `text` begin, or the next character after that. */
static size_t end_of(const char *text, size_t len, size_t most)
{
    size_t at = len - most;

    while (at < len && ((unsigned char)text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

void bbf_path_text(struct bbf_buf *out, const struct bbf_path *path, enum bbf_class_style style,
                   size_t max_bytes)
{
    struct bbf_buf text = BBF_BUF_INIT; /* the steps, the last of the path first */
    size_t ends[BBF_PATH_STEPS], n = 0, most = max_bytes > 0 ? max_bytes : SIZE_MAX;

    for (; n < path->n; n++) {
        size_t begin = text.len;
        bbf_path_step(&text, path->steps[n].class_name, path->steps[n].method, style);
        if (n > 0 && text.len + (n + 1) * ARROW > most) {
            text.len = begin;
            break;
        }
        ends[n] = text.len;
    }
    if (path->cut || n < path->n)
        bbf_buf_printf(out, "…%s", arrow);
    while (n-- > 0 && !text.failed) {
        size_t begin = n > 0 ? ends[n - 1] : 0, len = ends[n] - begin;
        size_t from = begin + (len > most ? end_of(text.data + begin, len, most) : 0);
        bbf_buf_str(out, from > begin ? "…" : "");
        bbf_buf_add(out, text.data + from, ends[n] - from);
        bbf_buf_str(out, n > 0 ? arrow : "");
    }
    out->failed = out->failed || text.failed;
    bbf_buf_free(&text);
}
