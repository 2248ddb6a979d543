/* SPDX-License-Identifier: Apache-2.0 */
#include "client/output.h"

#include "client/fail.h"
#include "client/print.h"
#include "client/progress.h"
#include "client/screen.h"
#include "core/err.h"
#include "core/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* A text of no special form is what the verb shows; only older verbs write a tree there. */
static bool is_txt_of_leaks(const struct bbf_command_line *request)
{
    size_t len = strlen(request->output);
    return strcmp(request->verb, "leaks") == 0 && len > 4 &&
           strcasecmp(request->output + len - 4, ".txt") == 0;
}

int bbf_output_format(const struct bbf_command_line *request, enum bbf_format *format)
{
    if (request->format != NULL) {
        if (bbf_format_of_name(request->format, format) == BBF_OK)
            return BBF_EXIT_OK;
        return bbf_fail(BBF_EXIT_USAGE, "there is no format '%s'; -f takes %s", request->format,
                        BBF_FORMAT_NAMES);
    }
    if (request->output != NULL) {
        if (bbf_format_of_path(request->output, format) == BBF_OK) {
            if (is_txt_of_leaks(request))
                *format = BBF_FORMAT_LEAKS;
            return BBF_EXIT_OK;
        }
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

void bbf_output_stage(const struct bbf_snapshot *snapshot)
{
    bbf_progress_stage("making the report of %zu nodes", snapshot->n_nodes);
}

int bbf_output_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_FAILED, "cannot write to stdout: %s", strerror(errno));
}

static int write_file(const char *path, const struct bbf_buf *text, bool exact)
{
    const struct bbf_look look = {.ascii = bbf_screen_out()->asked_ascii};
    struct bbf_buf shown = BBF_BUF_INIT;
    char why[PATH_MAX + 300];

    bbf_progress_stage("writing %s", path);
    bbf_print_prepare(&shown, text->data, text->len,
                      !exact       ? BBF_PRINT_LINES
                      : look.ascii ? BBF_PRINT_SAFE
                                   : BBF_PRINT_EXACT,
                      &look);
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
    (void)bbf_print_text(text->data, text->len, exact);
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

static int save_bytes(const char *path, const struct bbf_buf *bytes)
{
    char why[PATH_MAX + 300];

    bbf_progress_stage("writing %s", path);
    int err = bbf_file_save(path, bytes->data, bytes->len, why, sizeof why);

    if (err == BBF_OK)
        return BBF_EXIT_OK;
    return bbf_fail(err == BBF_EPERMISSION ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                    "cannot write %s", why);
}

int bbf_output_binary(const char *path, const struct bbf_buf *bytes)
{
    if (bytes->failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    if (path != NULL && strcmp(path, "-") != 0)
        return save_bytes(path, bytes);
    if (isatty(STDOUT_FILENO))
        return bbf_fail(BBF_EXIT_USAGE, "this format is binary and stdout is a terminal; name a "
                                        "file with -o, or redirect stdout");
    (void)fwrite(bytes->data, 1, bytes->len, stdout);
    return bbf_output_flush();
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
    (void)bbf_print_text(text->data, len, exact);
    if (broken && !exact)
        (void)bbf_print_text("\n", 1,
                             false); /* the rest is laid out as a line, so it must begin one */
    memmove(text->data, text->data + len, text->len - len);
    text->len -= len;
    return bbf_output_flush();
}
