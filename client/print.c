/* SPDX-License-Identifier: Apache-2.0 */
#include "client/print.h"

#include <stdio.h>

#include "client/progress.h"
#include "client/screen.h"
#include "core/err.h"
#include "core/safe.h"

/* ---- One way out ----------------------------------------------------------------------------- */

static int to_file(void *ctx, const char *data, size_t len)
{
    return fwrite(data, 1, len, ctx) == len ? 0 : -1;
}

void bbf_print_prepare(struct bbf_buf *piece, const char *text, size_t len,
                       enum bbf_print_manner manner, const struct bbf_look *look)
{
    static const char hint[] = "(names that do not fit are cut; --wide shows them whole)\n";

    if (manner == BBF_PRINT_EXACT)
        bbf_buf_add(piece, text, len);
    else if (manner == BBF_PRINT_SAFE)
        bbf_safe_add(piece, text, len, BBF_SAFE_LINES | (look->ascii ? BBF_SAFE_ASCII : 0), '\0');
    else if (bbf_layout(piece, text, len, look))
        (void)bbf_layout(piece, hint, sizeof hint - 1, look);
}

static bool put(FILE *to, const char *text, size_t len, enum bbf_print_manner manner,
                const struct bbf_look *look)
{
    struct bbf_buf piece = {.flush = to_file, .ctx = to};

    if (manner == BBF_PRINT_EXACT)
        return to_file(to, text, len) == 0;
    bbf_print_prepare(&piece, text, len, manner, look);
    bool good = bbf_buf_flush(&piece);
    bbf_buf_free(&piece);
    return good;
}

bool bbf_print_text(const char *text, size_t len, bool exact)
{
    const struct bbf_screen *screen = bbf_screen_out();

    bbf_progress_hide();
    if (len == 0)
        return true;
    if (exact)
        return put(stdout, text, len,
                   screen->terminal || screen->asked_ascii ? BBF_PRINT_SAFE : BBF_PRINT_EXACT,
                   &screen->look);
    return put(stdout, text, len, BBF_PRINT_LINES, &screen->look);
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
        (void)bbf_print_text(line.data, line.len, false);
    bbf_buf_free(&line);
}

void bbf_note_lines(const struct bbf_buf *text)
{
    bbf_progress_hide();
    (void)put(stderr, text->data, text->len, BBF_PRINT_LINES, &bbf_screen_err()->look);
}

void bbf_vnote(const char *prefix, const char *format, va_list args)
{
    struct bbf_buf line = BBF_BUF_INIT;

    bbf_progress_hide();
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

void bbf_detail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    bbf_vnote("", format, args);
    va_end(args);
}

void bbf_note(const char *format, ...)
{
    va_list args;

    if (bbf_screen_err()->quiet)
        return;
    va_start(args, format);
    bbf_vnote("", format, args);
    va_end(args);
}
