/* SPDX-License-Identifier: Apache-2.0 */
#include "client/output.h"

#include "client/screen.h"
#include "core/err.h"
#include "core/file.h"
#include "core/safe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int bbf_output_format(const struct bbf_command_line *request, enum bbf_format *format)
{
    if (request->format != NULL) {
        if (bbf_format_of_name(request->format, format) == BBF_OK)
            return BBF_EXIT_OK;
        return bbf_fail(BBF_EXIT_USAGE, "there is no format '%s'; -f takes %s", request->format,
                        BBF_FORMAT_NAMES);
    }
    if (request->output != NULL) {
        if (bbf_format_of_path(request->output, format) == BBF_OK)
            return BBF_EXIT_OK;
        const char *slash = strrchr(request->output, '/');
        const char *base = slash != NULL ? slash + 1 : request->output;
        const char *dot = strrchr(base, '.');
        if (dot != NULL && dot != base)
            return bbf_fail(BBF_EXIT_USAGE,
                            "the extension '%s' of %s names no format; say it with -f: %s", dot,
                            request->output, BBF_FORMAT_NAMES);
    }
    if (bbf_format_of_name(request->verb, format) != BBF_OK)
        *format = BBF_FORMAT_JSON; /* dump */
    return BBF_EXIT_OK;
}

int bbf_output_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_FAILED, "cannot write to stdout: %s", strerror(errno));
}

/* ---- One way out ----------------------------------------------------------------------------- */

static int to_file(void *ctx, const char *data, size_t len)
{
    return fwrite(data, 1, len, ctx) == len ? 0 : -1;
}

/* The treatment of a text: unchanged, made safe, or also laid out. */
enum manner { EXACT, SAFE, LINES };

/* Append it to `piece`. */
static void prepare(struct bbf_buf *piece, const char *text, size_t len, enum manner manner,
                    const struct bbf_look *look)
{
    static const char hint[] = "(names that do not fit are cut; --wide shows them whole)\n";

    if (manner == EXACT)
        bbf_buf_add(piece, text, len);
    else if (manner == SAFE)
        bbf_safe_add(piece, text, len, BBF_SAFE_LINES | (look->ascii ? BBF_SAFE_ASCII : 0), '\0');
    else if (bbf_layout(piece, text, len, look))
        (void)bbf_layout(piece, hint, sizeof hint - 1, look);
}

static bool put(FILE *to, const char *text, size_t len, enum manner manner,
                const struct bbf_look *look)
{
    struct bbf_buf piece = {.flush = to_file, .ctx = to};

    if (manner == EXACT)
        return to_file(to, text, len) == 0;
    prepare(&piece, text, len, manner, look);
    bool good = bbf_buf_flush(&piece);
    bbf_buf_free(&piece);
    return good;
}

static bool put_out(const char *text, size_t len, bool exact)
{
    const struct bbf_screen *screen = bbf_screen_out();

    if (len == 0)
        return true;
    if (exact)
        return put(stdout, text, len, screen->terminal || screen->asked_ascii ? SAFE : EXACT,
                   &screen->look);
    return put(stdout, text, len, LINES, &screen->look);
}

static int write_file(const char *path, const struct bbf_buf *text, bool exact)
{
    const struct bbf_look look = {.ascii = bbf_screen_out()->asked_ascii};
    struct bbf_buf shown = BBF_BUF_INIT;
    char why[PATH_MAX + 300];

    prepare(&shown, text->data, text->len, !exact ? LINES : look.ascii ? SAFE : EXACT, &look);
    int err =
        shown.failed ? BBF_ENOMEM : bbf_file_save(path, shown.data, shown.len, why, sizeof why);
    if (shown.failed)
        snprintf(why, sizeof why, "%s: %s", path, bbf_strerror(err));
    bbf_buf_free(&shown);
    if (err == BBF_OK)
        return BBF_EXIT_OK;
    return bbf_fail(err == BBF_EPERMISSION ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                    "cannot write %s", why);
}

static int write_text(const char *path, const struct bbf_buf *text, bool exact)
{
    if (text->failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    if (path != NULL && strcmp(path, "-") != 0)
        return write_file(path, text, exact);
    (void)put_out(text->data, text->len, exact);
    return bbf_output_flush();
}

int bbf_output_write(const char *path, const struct bbf_buf *text)
{
    return write_text(path, text, false);
}

int bbf_output_exact(const char *path, const struct bbf_buf *text)
{
    return write_text(path, text, true);
}

int bbf_output_lines(struct bbf_buf *text, bool exact)
{
    const char *end = text->len > 0 ? memrchr(text->data, '\n', text->len) : NULL;
    size_t len = end != NULL ? (size_t)(end - text->data) + 1 : 0;

    if (text->failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    bool broken = len == 0 && text->len > BBF_BUF_PIECE;
    if (broken)
        len = text->len;
    if (len == 0)
        return BBF_EXIT_OK;
    (void)put_out(text->data, len, exact);
    if (broken && !exact)
        (void)put_out("\n", 1, false); /* the rest is laid out as a line, so it must begin one */
    memmove(text->data, text->data + len, text->len - len);
    text->len -= len;
    return bbf_output_flush();
}

/* ---- Lines of our own ------------------------------------------------------------------------ */

void bbf_print(const char *format, ...)
{
    struct bbf_buf line = BBF_BUF_INIT;
    va_list args;

    va_start(args, format);
    bbf_safe_vprintf(&line, BBF_SAFE_VALUE, format, args);
    va_end(args);
    bbf_buf_char(&line, '\n');
    if (!line.failed)
        (void)put_out(line.data, line.len, false);
    bbf_buf_free(&line);
}

void bbf_note_lines(const struct bbf_buf *text)
{
    (void)put(stderr, text->data, text->len, LINES, &bbf_screen_err()->look);
}

void bbf_vnote(const char *prefix, const char *format, va_list args)
{
    struct bbf_buf line = BBF_BUF_INIT;

    fflush(stdout); /* print the message after all earlier output */
    bbf_buf_str(&line, prefix);
    bbf_safe_vprintf(&line, BBF_SAFE_VALUE, format, args);
    bbf_buf_char(&line, '\n');
    if (line.failed)
        fprintf(stderr, "bbflow: %s\n", bbf_strerror(BBF_ENOMEM));
    else
        bbf_note_lines(&line);
    bbf_buf_free(&line);
}

void bbf_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    bbf_vnote("", format, args);
    va_end(args);
}
