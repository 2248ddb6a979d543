/* SPDX-License-Identifier: Apache-2.0 */
#include "client/load.h"

#include "client/black_box.h"
#include "client/connect.h"
#include "client/progress.h"
#include "client/target.h"
#include "core/err.h"
#include "render/render.h"
#include "wire/client/conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WHY_MAX = 512 };

/* A line of progress is short. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

int bbf_ask_target(const struct bbf_command_line *request, const char *event,
                   struct bbf_buf *document, char who[BBF_WHO])
{
    struct bbf_conn *conn = NULL;
    char name[64], asked[100], why[WHY_MAX] = "";

    int exit_code = bbf_connect(request, &conn, who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    snprintf(name, sizeof name, "%s%s", event, request->gc ? " gc" : "");
    if (request->gc || strcmp(event, "json") == 0)
        bbf_progress_stage("waiting for %s%s of %s", request->gc ? "a garbage collection" : "",
                           strcmp(event, "json") != 0 ? ""
                           : request->gc              ? " and the snapshot"
                                                      : "the snapshot",
                           who);
    int rc = bbf_conn_event(conn, name, document, why, sizeof why);
    if (rc == BBF_OK && document->failed)
        rc = BBF_ENOMEM;
    if (rc == BBF_EREFUSED) {
        exit_code = bbf_fail(BBF_EXIT_REFUSED, "%s refused '%s': %s", who, name, why);
    } else if (rc != BBF_OK) {
        snprintf(asked, sizeof asked, ", asked for '%s'", name);
        exit_code = bbf_fail_asking(conn, who, rc, asked, why);
    }
    bbf_conn_close(conn);
    return exit_code;
}

int bbf_read_file(const char *path, struct bbf_buf *document)
{
    bbf_progress_stage("reading %s", name_of(path)); /* a pipe opens once it has a writer */
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return bbf_fail(errno == ENOENT   ? BBF_EXIT_TARGET
                        : errno == EACCES ? BBF_EXIT_PERMISSION
                                          : BBF_EXIT_FAILED,
                        "cannot read %s: %s", path, strerror(errno));
    enum { CHUNK = 1 << 16 };
    struct stat st;
    size_t got = 0;
    if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
        bbf_progress_of((uint64_t)st.st_size, BBF_PROGRESS_BYTES);
    do {
        char *to = bbf_buf_reserve(document, CHUNK);
        got = to == NULL ? 0 : fread(to, 1, CHUNK, file);
        document->len += got;
        bbf_progress_add(got);
    } while (got > 0 && !bbf_black_box_is_too_large(document));
    int cause = ferror(file) ? errno : 0; /* a folder opens, but does not read */
    fclose(file);
    if (cause != 0)
        return bbf_fail(BBF_EXIT_FAILED, "cannot read %s: %s", path, strerror(cause));
    if (document->failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", path, bbf_strerror(BBF_ENOMEM));
    return BBF_EXIT_OK;
}

/* The same, and of a black box the newest document in it. A JVM that runs writes meanwhile, and may
 * have replaced both documents while they were read: then again. */
static int read_document(const char *path, struct bbf_buf *document, struct bbf_black_box *box)
{
    enum { ATTEMPTS = 5 };
    int exit_code = BBF_EXIT_OK;
    for (int i = 0; i < ATTEMPTS; i++) {
        document->len = 0;
        exit_code = bbf_read_file(path, document);
        if (exit_code != BBF_EXIT_OK || !bbf_box_is(document->data, document->len))
            return exit_code;
        exit_code = bbf_black_box_take(box, path, document, i + 1 == ATTEMPTS);
        if (exit_code != BBF_EXIT_OK || box->is_taken)
            return exit_code;
    }
    return exit_code;
}

/* A snapshot ends with its closing brace; without it the file is incomplete. */
static bool is_cut_off(const struct bbf_buf *document)
{
    size_t len = document->len;
    while (len > 0 && strchr(" \t\r\n", document->data[len - 1]) != NULL)
        len--;
    size_t start = 0;
    while (start < len && strchr(" \t\r\n", document->data[start]) != NULL)
        start++;
    return start < len && document->data[start] == '{' && document->data[len - 1] != '}';
}

static int parse_snapshot(const char *from, bool file, const struct bbf_buf *document,
                          struct bbf_snapshot **snapshot)
{
    char why[WHY_MAX] = "";
    bbf_progress_stage("reading the snapshot of %s", file ? name_of(from) : from);
    int rc = bbf_snapshot_from_json(snapshot, document->data != NULL ? document->data : "",
                                    document->len, why, sizeof why);
    if (rc == BBF_OK)
        return BBF_EXIT_OK;
    if (why[0] == '\0')
        snprintf(why, sizeof why, "%s", bbf_strerror(rc));
    if (!file)
        return bbf_fail(BBF_EXIT_FAILED, "%s sent a snapshot that cannot be read: %s", from, why);
    if (rc == BBF_EVERSION)
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s: %s; this bbflow is version %s, the snapshot was written by another",
                        from, why, BBF_VERSION);
    if (rc == BBF_EFORMAT && document->len == 0)
        return bbf_fail(BBF_EXIT_FAILED, "%s is empty; 'bbflow dump PID -o %s' writes a snapshot",
                        from, from);
    if (rc == BBF_EFORMAT && is_cut_off(document))
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s is cut off after %zu bytes: %s; copy or write the snapshot again", from,
                        document->len, why);
    return bbf_fail(BBF_EXIT_FAILED,
                    "%s is no bbflow snapshot: %s; 'bbflow dump PID -o FILE.json' and the agent's "
                    "option file=FILE.json write one",
                    from, why);
}

int bbf_load(const struct bbf_command_line *request, struct bbf_loaded *loaded)
{
    struct bbf_black_box box = {.is_taken = false};
    const bool file = request->target != NULL && bbf_target_is_file(request->target);
    int exit_code;

    *loaded = (struct bbf_loaded){.document = BBF_BUF_INIT};
    if (file && request->gc)
        return bbf_fail(BBF_EXIT_USAGE, "--gc asks a running JVM, and %s is a file; leave --gc out",
                        request->target);
    if (file) {
        snprintf(loaded->who, sizeof loaded->who, "%s", request->target);
        exit_code = read_document(request->target, &loaded->document, &box);
    } else {
        exit_code = bbf_ask_target(request, "json", &loaded->document, loaded->who);
    }
    if (exit_code == BBF_EXIT_OK)
        exit_code = parse_snapshot(loaded->who, file, &loaded->document, &loaded->snapshot);
    loaded->from_box = box.is_taken;
    if (exit_code == BBF_EXIT_OK && box.is_taken &&
        bbf_black_box_notes(&box, loaded->snapshot) != BBF_OK)
        exit_code = bbf_fail(BBF_EXIT_FAILED, "%s: %s", loaded->who, bbf_strerror(BBF_ENOMEM));
    return exit_code;
}

void bbf_loaded_free(struct bbf_loaded *loaded)
{
    bbf_snapshot_free(loaded->snapshot);
    bbf_buf_free(&loaded->document);
    loaded->snapshot = NULL;
}
