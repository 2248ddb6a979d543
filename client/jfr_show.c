/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/client.h"
#include "client/fail.h"
#include "client/jfr_run.h"
#include "core/err.h"
#include "jfr/recording.h"

/* Report the first thing that was wrong with the recording, and the remedy. */
static int report_trouble(const char *path, const char *damage, const struct bbf_jfr_recording *r,
                          int err)
{
    if (err == BBF_ENOMEM)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", path, bbf_strerror(err));
    if (damage != NULL)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s; what is before it was read", path, damage);
    if (r->trouble.what == NULL)
        return BBF_EXIT_OK;
    char more[64] = "";
    if (r->trouble.count > 1)
        (void)snprintf(more, sizeof more, " (and %" PRIu64 " more)", r->trouble.count - 1);
    return bbf_fail(BBF_EXIT_FAILED,
                    "%s, at byte %" PRIu64 ": %s%s; 'bbflow jfr repair' makes a whole file of it",
                    path, r->trouble.offset, r->trouble.what, more);
}

/* Open, have `print` write, close; the first file of the request. */
static int with_recording(const struct bbf_jfr_request *request, bool constants,
                          int (*print)(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                                       const struct bbf_jfr_request *request))
{
    struct bbf_jfr_source source;
    struct bbf_jfr_recording recording;
    struct bbf_jfr_result *w = malloc(sizeof *w);
    int rc = w != NULL ? bbf_jfr_open(request, request->files[0], &source)
                       : bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));

    if (rc != BBF_EXIT_OK) {
        free(w);
        return rc;
    }
    rc = bbf_jfr_result_begin(w, request->output);
    if (rc == BBF_EXIT_OK) {
        bbf_jfr_recording_init(&recording, source.bytes, source.len, constants);
        int err = print(&w->buf, &recording, request);
        bbf_jfr_recording_close(&recording);
        rc = bbf_jfr_result_end(w, BBF_OK);
        if (rc == BBF_EXIT_OK)
            rc = report_trouble(request->files[0], source.damage, &recording, err);
    }
    bbf_jfr_source_close(&source);
    free(w);
    return rc;
}

static int summary(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                   const struct bbf_jfr_request *request)
{
    (void)request;
    return bbf_jfr_print_summary(out, recording);
}

int bbf_jfr_run_summary(const struct bbf_jfr_request *request)
{
    return with_recording(request, false, summary);
}

static int print(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                 const struct bbf_jfr_request *request)
{
    return request->json ? bbf_jfr_print_json(out, recording, &request->how)
                         : bbf_jfr_print_text(out, recording, &request->how);
}

int bbf_jfr_run_print(const struct bbf_jfr_request *request)
{
    return with_recording(request, true, print);
}

static int metadata(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                    const struct bbf_jfr_request *request)
{
    return bbf_jfr_print_metadata(out, recording, &request->how.filter);
}

int bbf_jfr_run_metadata(const struct bbf_jfr_request *request)
{
    return with_recording(request, false, metadata);
}
