#include "client/output.h"

#include "core/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int bbf_output_format(const struct bbf_request *request, enum bbf_format *format)
{
    if (request->format != NULL) {
        if (bbf_format_of_name(request->format, format) == BBF_OK)
            return BBF_EXIT_OK;
        return bbf_fail(BBF_EXIT_USAGE, "there is no format '%s'; -f takes %s", request->format,
                        bbf_format_names());
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
                            request->output, bbf_format_names());
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

int bbf_output_write(const char *path, const struct bbf_buf *text)
{
    if (text->failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    if (path == NULL || strcmp(path, "-") == 0) {
        if (text->len > 0)
            (void)fwrite(text->data, 1, text->len, stdout);
        return bbf_output_flush();
    }
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return bbf_fail(errno == EACCES ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                        "cannot write %s: %s", path, strerror(errno));
    errno = 0;
    bool written = text->len == 0 || fwrite(text->data, 1, text->len, file) == text->len;
    int cause = errno;
    if (fclose(file) != 0) {
        cause = written ? errno : cause;
        written = false;
    }
    if (!written)
        return bbf_fail(BBF_EXIT_FAILED, "cannot write all of %s: %s", path, strerror(cause));
    return BBF_EXIT_OK;
}
