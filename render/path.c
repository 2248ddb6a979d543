/* SPDX-License-Identifier: Apache-2.0 */
#include "render/path.h"

#include <string.h>

#include "core/safe.h"
#include "render/step_words.h"

static const char arrow[] = " → ";
enum { ARROW = sizeof arrow - 1 };

bool bbf_path_climb_step(struct bbf_path *path, const struct bbf_path_step *step)
{
    if (path->n == BBF_PATH_STEPS) {
        path->cut = true;
        return false;
    }
    path->steps[path->n++] = *step;
    return true;
}

bool bbf_path_climb(struct bbf_path *path, const char *class_name, const char *method)
{
    return bbf_path_climb_step(path,
                               &(struct bbf_path_step){.class_name = class_name, .method = method});
}

/* A step that a compiler named. */
static void add_made(struct bbf_buf *out, const struct bbf_step_words *words, uint32_t line,
                     enum bbf_class_style style)
{
    struct bbf_buf remark = BBF_BUF_INIT;
    struct bbf_slice shown = words->class_name;
    const char *dot = style == BBF_CLASS_SIMPLE ? memrchr(shown.s, '.', shown.len) : NULL;

    if (dot != NULL)
        shown = (struct bbf_slice){dot + 1, shown.len - (size_t)(dot + 1 - shown.s)};
    bbf_step_remark(&remark, words, line, NULL);
    bbf_safe_printf(out, BBF_SAFE_VALUE, "%.*s%s%.*s%.*s%s", (int)shown.len, shown.s,
                    words->method.len > 0 ? "." : "", (int)words->method.len, words->method.s,
                    (int)words->suffix.len, words->suffix.s, bbf_buf_cstr(&remark));
    out->failed = out->failed || remark.failed;
    bbf_buf_free(&remark);
}

void bbf_path_step(struct bbf_buf *out, const struct bbf_path_step *step,
                   enum bbf_class_style style)
{
    const char *class_name = step->class_name, *method = step->method;
    struct bbf_step_words words;

    if (class_name == NULL) {
        bbf_buf_char(out, '?');
        return;
    }
    bbf_step_words(&words, class_name, method, step->enclosing);
    if (bbf_step_is_made(&words)) {
        add_made(out, &words, step->line, style);
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
        bbf_path_step(&text, &path->steps[n], style);
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
