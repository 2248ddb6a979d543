/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/fail.h"
#include "client/jfr_run.h"
#include "client/output.h"
#include "client/print.h"
#include "core/err.h"
#include "jfr/join.h"
#include "jfr/mend.h"
#include "jfr/recording.h"
#include "jfr/scrub.h"

enum { LOSSES_SHOWN = 100 };

static int no_output(const char *command)
{
    return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' needs --output FILE: where to write the recording",
                    command);
}

static int put(void *ctx, const char *data, size_t len)
{
    struct bbf_jfr_result *result = ctx;

    /* In pieces, because the buffer would grow to the whole. */
    for (size_t n; len > 0; data += n, len -= n) {
        n = len < BBF_BUF_PIECE ? len : BBF_BUF_PIECE;
        bbf_buf_add(&result->buf, data, n);
    }
    return result->buf.failed || result->rc != BBF_EXIT_OK ? BBF_EIO : BBF_OK;
}

/* Open, have `write` write the result, close. */
static int with_result(const struct bbf_jfr_request *request, const char *command,
                       int (*write)(struct bbf_jfr_result *result, struct bbf_jfr_source *source,
                                    const struct bbf_jfr_request *request, int *err))
{
    struct bbf_jfr_source source;
    struct bbf_jfr_result *result = malloc(sizeof *result);
    int err = BBF_OK, rc = request->output == NULL ? no_output(command)
                           : result == NULL
                               ? bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM))
                               : bbf_jfr_open(request, request->files[0], &source);

    if (rc == BBF_EXIT_OK) {
        rc = bbf_jfr_result_begin(result, request->output);
        if (rc == BBF_EXIT_OK) {
            rc = write(result, &source, request, &err);
            int end = bbf_jfr_result_end(result, err);
            rc = end != BBF_EXIT_OK ? end : rc;
        }
        bbf_jfr_source_close(&source);
    }
    free(result);
    return rc;
}

/* ---- repair ---- */

struct losses {
    struct bbf_jfr_result *result;
    uint64_t n;
};

static int put_mended(void *ctx, const char *data, size_t len)
{
    return put(((struct losses *)ctx)->result, data, len);
}

static void on_loss(void *ctx, const struct bbf_jfr_loss *loss)
{
    struct losses *losses = ctx;

    if (losses->n++ >= LOSSES_SHOWN)
        return;
    if (loss->len == 0)
        bbf_detail("at byte %" PRIu64 ": %s; mended", loss->offset, loss->what);
    else
        bbf_detail("lost: bytes %" PRIu64 " to %" PRIu64 ": %s", loss->offset,
                   loss->offset + loss->len - 1, loss->what);
}

static int repair(struct bbf_jfr_result *result, struct bbf_jfr_source *source,
                  const struct bbf_jfr_request *request, int *err)
{
    struct losses losses = {result, 0};
    struct bbf_jfr_mend mend = {.put = put_mended, .report = on_loss, .ctx = &losses};
    const char *path = request->files[0];

    *err = bbf_jfr_repair(source->bytes, source->len, &mend);
    if (losses.n > LOSSES_SHOWN)
        bbf_detail("and %" PRIu64 " more", losses.n - LOSSES_SHOWN);
    if (*err == BBF_ENOTFOUND)
        return bbf_fail(BBF_EXIT_FAILED, "%s has no chunk that can be read; is it a recording?",
                        path);
    if (*err != BBF_OK)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", path, bbf_strerror(*err));
    bbf_note("%s: %" PRIu64 " chunks, %" PRIu64 " of them written anew with %" PRIu64
             " events; %" PRIu64 " places lost, %" PRIu64 " bytes",
             request->output, mend.chunks, mend.chunks_mended, mend.events, mend.losses,
             mend.bytes_lost);
    if (source->damage != NULL)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s; what is behind is lost", path, source->damage);
    return mend.losses > 0 ? BBF_EXIT_FAILED : BBF_EXIT_OK;
}

int bbf_jfr_run_repair(const struct bbf_jfr_request *request)
{
    return with_result(request, "repair", repair);
}

/* ---- unpack, scrub ---- */

static int unpack(struct bbf_jfr_result *result, struct bbf_jfr_source *source,
                  const struct bbf_jfr_request *request, int *err)
{
    *err = put(result, (const char *)source->bytes, source->len);
    if (source->damage != NULL)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s; what is behind is lost", request->files[0],
                        source->damage);
    return BBF_EXIT_OK;
}

int bbf_jfr_run_unpack(const struct bbf_jfr_request *request)
{
    return with_result(request, "unpack", unpack);
}

static int scrub(struct bbf_jfr_result *result, struct bbf_jfr_source *source,
                 const struct bbf_jfr_request *request, int *err)
{
    struct bbf_jfr_recording recording;
    struct bbf_jfr_scrub how = {.pattern = request->match, .put = put, .ctx = result};

    bbf_jfr_recording_init(&recording, source->bytes, source->len, false);
    *err = bbf_jfr_scrub(&recording, &how);
    bbf_jfr_recording_close(&recording);
    if (*err == BBF_EINVAL)
        return bbf_fail(BBF_EXIT_USAGE, "--match '%s': %s", request->match, how.why);
    /* A copy that still has secrets must not look like one without. */
    if (*err == BBF_OK && (recording.trouble.what != NULL || source->damage != NULL))
        *err = BBF_EFORMAT;
    if (*err != BBF_OK)
        return bbf_fail(BBF_EXIT_FAILED, "%s, at byte %" PRIu64 ": %s; repair it first, then scrub",
                        request->files[0], recording.trouble.offset,
                        recording.trouble.what != NULL ? recording.trouble.what
                        : source->damage != NULL       ? source->damage
                                                       : bbf_strerror(*err));
    bbf_note("%s: %" PRIu64 " places made unreadable", request->output, how.matches);
    return BBF_EXIT_OK;
}

int bbf_jfr_run_scrub(const struct bbf_jfr_request *request)
{
    if (request->match == NULL)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr scrub' needs --match REGEX: what to make unreadable");
    return with_result(request, "scrub", scrub);
}

/* ---- split ---- */

/* "dir/rec.jfr" and 3: "dir/rec-3.jfr". */
static void part_name(char *to, size_t size, const char *path, uint64_t n)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot != NULL && dot > (slash != NULL ? slash + 1 : path) ? (size_t)(dot - path)
                                                                          : strlen(path);

    (void)snprintf(to, size, "%.*s-%" PRIu64 "%s", (int)stem, path, n,
                   path[stem] != '\0' ? path + stem : ".jfr");
}

static int split(struct bbf_jfr_source *source, const struct bbf_jfr_request *request)
{
    const char *path = request->output != NULL ? request->output : request->files[0];
    struct bbf_jfr_extent chunk;
    char name[PATH_MAX], why[PATH_MAX + 300];
    uint64_t at = 0, n = 0;

    while (at < source->len) {
        bool found = bbf_jfr_find_chunk(source->bytes, source->len, at, &chunk);
        if (!found || chunk.at != at || !chunk.is_whole)
            return bbf_fail(BBF_EXIT_FAILED,
                            "%s, at byte %" PRIu64 ": no whole chunk begins here; 'bbflow jfr "
                            "repair' makes a whole file of it",
                            request->files[0], at);
        part_name(name, sizeof name, path, ++n);
        if (bbf_file_save(name, (const char *)source->bytes + at, (size_t)chunk.len, why,
                          sizeof why) != BBF_OK)
            return bbf_fail(BBF_EXIT_FAILED, "cannot write %s", why);
        bbf_print("%s", name);
        at += chunk.len;
    }
    return bbf_output_flush();
}

int bbf_jfr_run_split(const struct bbf_jfr_request *request)
{
    struct bbf_jfr_source source;
    int rc = bbf_jfr_open(request, request->files[0], &source);

    if (rc != BBF_EXIT_OK)
        return rc;
    rc = split(&source, request);
    bbf_jfr_source_close(&source);
    return rc;
}

/* ---- join ---- */

static int join_parts(const struct bbf_jfr_request *request, const struct bbf_jfr_part *parts)
{
    struct bbf_jfr_result *result = malloc(sizeof *result);
    int rc = result != NULL ? bbf_jfr_result_begin(result, request->output)
                            : bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));

    if (rc == BBF_EXIT_OK) {
        struct bbf_jfr_join join = {.put = put, .ctx = result};
        int err = bbf_jfr_join(parts, request->n_files, request->same_process, &join);
        rc = bbf_jfr_result_end(result, err);
        if (err == BBF_EFORMAT)
            rc = bbf_fail(BBF_EXIT_FAILED,
                          "%s, at byte %" PRIu64 ": no whole chunk begins here; repair it first",
                          request->files[join.bad_part], join.bad_offset);
        else if (err != BBF_OK && rc == BBF_EXIT_OK)
            rc = bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(err));
    }
    free(result);
    return rc;
}

int bbf_jfr_run_join(const struct bbf_jfr_request *request)
{
    struct bbf_jfr_source *sources = calloc(request->n_files, sizeof *sources);
    struct bbf_jfr_part *parts = calloc(request->n_files, sizeof *parts);
    int rc = request->output == NULL ? no_output("join")
             : sources == NULL || parts == NULL
                 ? bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM))
                 : BBF_EXIT_OK;

    for (size_t i = 0; i < request->n_files && rc == BBF_EXIT_OK; i++) {
        rc = bbf_jfr_open(request, request->files[i], &sources[i]);
        if (rc == BBF_EXIT_OK)
            parts[i] = (struct bbf_jfr_part){sources[i].bytes, sources[i].len};
    }
    if (rc == BBF_EXIT_OK)
        rc = join_parts(request, parts);
    for (size_t i = 0; sources != NULL && i < request->n_files; i++)
        bbf_jfr_source_close(&sources[i]);
    free(sources);
    free(parts);
    return rc;
}
