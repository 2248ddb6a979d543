/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "client/fail.h"
#include "client/jfr_run.h"
#include "client/output.h"
#include "client/progress.h"
#include "core/err.h"

/* ---- reading ---- */

/* A mapped file that another process shortens: nothing can be read on. Only write(2) and _exit(2)
 * are allowed here. */
static void on_bus_error(int signal)
{
    static const char text[] = "bbflow: the recording was shortened while it was read; "
                               "copy it first, or read it when its writer has ended\n";

    (void)signal;
    bbf_progress_hide();
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(n < 0 ? BBF_EXIT_FAILED : BBF_EXIT_FAILED);
}

int bbf_jfr_open(const struct bbf_jfr_request *request, const char *path,
                 struct bbf_jfr_source *source)
{
    char why[256] = "";
    struct sigaction action = {.sa_handler = on_bus_error};

    bbf_progress_stage("reading %s", path); /* one that is packed is unpacked first */
    int err = bbf_jfr_source_open(source, path, request->max_unpacked, why, sizeof why);
    if (err != BBF_OK)
        return bbf_fail(err == BBF_EPERMISSION ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                        "cannot read %s: %s", path, why[0] != '\0' ? why : bbf_strerror(err));
    (void)sigaction(SIGBUS, &action, NULL);
    if (source->len == 0) {
        bbf_jfr_source_close(source);
        return bbf_fail(BBF_EXIT_FAILED, "%s is empty; a recording has 68 bytes at least", path);
    }
    return BBF_EXIT_OK;
}

/* ---- writing ---- */

static int on_flush(void *ctx, const char *data, size_t len)
{
    struct bbf_jfr_result *w = ctx;
    const struct bbf_buf piece = {.data = (char *)(uintptr_t)data, .len = len};

    if (w->rc != BBF_EXIT_OK)
        return -1;
    if (w->path == NULL)
        w->rc = bbf_output_exact(NULL, &piece);
    else if (bbf_file_write(&w->file, data, len) != BBF_OK)
        w->rc = BBF_EXIT_FAILED;
    return w->rc == BBF_EXIT_OK ? 0 : -1;
}

int bbf_jfr_result_begin(struct bbf_jfr_result *w, const char *path)
{
    memset(w, 0, sizeof *w);
    w->path = path;
    w->buf = (struct bbf_buf){.flush = on_flush, .ctx = w};
    int err = path != NULL ? bbf_file_begin(&w->file, path, w->why, sizeof w->why) : BBF_OK;
    return err == BBF_OK ? BBF_EXIT_OK : bbf_fail(BBF_EXIT_FAILED, "cannot write %s", w->why);
}

int bbf_jfr_result_end(struct bbf_jfr_result *w, int err)
{
    bool good = bbf_buf_flush(&w->buf);

    bbf_buf_free(&w->buf);
    if (w->path != NULL) {
        w->why[0] = '\0';
        int end = bbf_file_end(&w->file,
                               err != BBF_OK ? err
                               : good        ? BBF_OK
                                             : BBF_EIO,
                               w->why, sizeof w->why);
        if (end != BBF_OK && err == BBF_OK)
            return bbf_fail(BBF_EXIT_FAILED, "cannot write %s", w->why);
    }
    if (w->rc != BBF_EXIT_OK)
        return w->rc;
    return good || err != BBF_OK ? BBF_EXIT_OK
                                 : bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
}
