/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"
#include "client/fail.h"
#include "client/jfr_run.h"
#include "client/netty_flight.h"
#include "client/output.h"
#include "core/err.h"
#include "render/render.h"

enum { TREE_LINES = 50 };

static int write_report(const struct bbf_jfr_request *request, const struct bbf_snapshot *snapshot,
                        enum bbf_format format)
{
    const struct bbf_render_options options = {.max_lines = TREE_LINES};
    struct bbf_buf text = BBF_BUF_INIT;
    bbf_output_stage(snapshot);
    int err = bbf_render(&text, snapshot, format, &options), rc;

    if (err != BBF_OK)
        rc = bbf_fail(BBF_EXIT_FAILED, "%s: %s", request->files[0], bbf_strerror(err));
    else if ((bbf_format_flags(format) & BBF_FORMAT_EXACT) != 0)
        rc = bbf_output_exact(request->output, &text);
    else
        rc = bbf_output_write(request->output, &text);
    bbf_buf_free(&text);
    return rc;
}

static int no_events(const char *path)
{
    return bbf_fail(
        BBF_EXIT_FAILED,
        "%s has no buffer events of Netty; Netty 4.2 fires them, if the JVM starts with "
        "-XX:StartFlightRecording=+io.netty.AllocateBuffer#enabled=true,"
        "+io.netty.FreeBuffer#enabled=true,+io.netty.ReallocateBuffer#enabled=true,"
        "+io.netty.AllocateChunk#enabled=true,+io.netty.FreeChunk#enabled=true,"
        "+io.netty.ReturnChunk#enabled=true",
        path);
}

static int read_and_report(const struct bbf_jfr_request *request,
                           const struct bbf_jfr_source *source, enum bbf_format format)
{
    const struct bbf_netty_config config = {.age_ns = request->age_ns,
                                            .from_ns = request->how.filter.from_ns,
                                            .until_ns = request->how.filter.until_ns,
                                            .max_nodes = request->max_nodes};
    struct bbf_jfr_recording recording;
    struct bbf_snapshot *snapshot = NULL;

    bbf_jfr_recording_init(&recording, source->bytes, source->len, true);
    int err = bbf_netty_flight(&recording, &config, &snapshot), rc = BBF_EXIT_OK;
    bbf_jfr_recording_close(&recording);
    if (err == BBF_OK)
        rc = write_report(request, snapshot, format);
    if (rc == BBF_EXIT_OK)
        rc = bbf_jfr_report_trouble(request->files[0], source->damage, &recording, err);
    if (rc == BBF_EXIT_OK && err == BBF_ENOTFOUND)
        rc = no_events(request->files[0]);
    bbf_snapshot_free(snapshot);
    return rc;
}

int bbf_jfr_run_netty(const struct bbf_jfr_request *request)
{
    const struct bbf_command_line line = {
        .verb = "tree", .output = request->output, .format = request->format};
    struct bbf_jfr_source source;
    enum bbf_format format;
    int rc = bbf_output_format(&line, &format);

    if (rc == BBF_EXIT_OK)
        rc = bbf_jfr_open(request, request->files[0], &source);
    if (rc != BBF_EXIT_OK)
        return rc;
    rc = read_and_report(request, &source, format);
    bbf_jfr_source_close(&source);
    return rc;
}
