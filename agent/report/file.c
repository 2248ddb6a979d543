/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/err.h"
#include "core/file.h"
#include "render/render.h"

int bbf_report_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%') {
            bbf_buf_char(out, *p);
        } else if (p[1] == 'p') {
            bbf_buf_printf(out, "%ld", (long)getpid());
            p++;
        } else if (p[1] == 't') {
            time_t now = time(NULL);
            struct tm tm;
            char text[32];
            gmtime_r(&now, &tm);
            strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &tm);
            bbf_buf_str(out, text);
            p++;
        } else if (p[1] == '{' && strchr(p, '}') != NULL) {
            char name[128];
            size_t len = (size_t)(strchr(p, '}') - p) - 2;
            if (len >= sizeof name)
                len = sizeof name - 1;
            memcpy(name, p + 2, len);
            name[len] = '\0';
            const char *value = getenv(name);
            bbf_buf_str(out, value != NULL ? value : "");
            p = strchr(p, '}');
        } else {
            snprintf(why, why_size,
                     "'%%%c' in it is unknown; %%p is the pid, %%t the time, %%{NAME} "
                     "an environment variable",
                     p[1]);
            return BBF_EINVAL;
        }
    }
    return out->failed ? BBF_ENOMEM : BBF_OK;
}

static int write_part(void *ctx, const char *data, size_t len)
{
    return bbf_file_write(ctx, data, len);
}

static int write_text(struct bbf_file *file, const struct bbf_snapshot *snapshot,
                      enum bbf_format format)
{
    const struct bbf_render_options all = {.max_lines = 0};
    struct bbf_buf text = BBF_BUF_INIT;
    if ((bbf_format_flags(format) & BBF_FORMAT_STREAMS) != 0) { /* JSON of 1 M nodes has 194 MB */
        text.flush = write_part;
        text.ctx = file;
    }
    int err = bbf_render(&text, snapshot, format, &all);
    if (err == BBF_OK)
        err = bbf_file_write(file, text.data, text.len);
    bbf_buf_free(&text);
    return file->error == ETIMEDOUT ? BBF_ETIMEOUT : err;
}

int bbf_report_write_as(const struct bbf_snapshot *snapshot, const char *path,
                        enum bbf_format format, uint64_t deadline_ns, char *why, size_t why_size)
{
    struct bbf_file file = {.deadline_ns = deadline_ns};
    char reason[PATH_MAX + 300] = "";
    int err = bbf_file_begin(&file, path, reason, sizeof reason);
    if (err == BBF_OK)
        err = bbf_file_end(&file, write_text(&file, snapshot, format), reason, sizeof reason);
    if (err != BBF_OK && reason[0] != '\0')
        snprintf(why, why_size, "file: no report: %s", reason);
    else if (err != BBF_OK)
        snprintf(why, why_size, "file: %s: %s", path, bbf_strerror(err));
    return err;
}

int bbf_report_write(const struct bbf_snapshot *snapshot, const char *path, uint64_t deadline_ns,
                     char *why, size_t why_size)
{
    enum bbf_format format = BBF_FORMAT_JSON;
    (void)bbf_format_of_path(path, &format);
    return bbf_report_write_as(snapshot, path, format, deadline_ns, why, why_size);
}
