/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/pprof.c - a profile for pprof and what reads its files: gzip of
 * https://github.com/google/pprof/blob/main/proto/profile.proto. A sample is a leak row or the open
 * lives of a node (render/samples.h), its stack the path, its labels what else is known. The notes
 * are comments. Deflated as it is written; only the table of strings is kept.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/err.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/head.h"
#include "render/proto.h"
#include "render/samples.h"
#include "render/strings.h"
#include "render/text.h"
#include "render/view.h"

/* Fields of the messages. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE, TIME_NANOS = 9 };
enum { DURATION_NANOS = 10 };
enum { PERIOD_TYPE = 11, PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM, LABEL_NUM_UNIT };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME, FUNCTION_START };

enum { GZIP = 15 + 16, DEFAULT_MEMORY = 8, PIECE = 1 << 16 };

struct profile {
    struct bbf_view *view;
    const struct bbf_render_options *options;
    struct bbf_buf *out;  /* gzip */
    struct bbf_buf plain; /* the message, piece by piece */
    struct bbf_buf part;  /* a message in it */
    struct bbf_buf inner; /* a message or a packed list in that */
    struct bbf_strings strings;
    z_stream zip;
};

/* ---- gzip ---- */

static int deflate_part(struct profile *p, const char *data, size_t len, int flush)
{
    int state;

    p->zip.next_in = (Bytef *)(uintptr_t)data; /* zlib does not write there */
    p->zip.avail_in = (uInt)len;
    do {
        char *to = bbf_buf_reserve(p->out, PIECE);
        if (to == NULL)
            return BBF_ENOMEM;
        p->zip.next_out = (Bytef *)to;
        p->zip.avail_out = PIECE;
        state = deflate(&p->zip, flush);
        p->out->len += PIECE - p->zip.avail_out;
        if (p->out->flush != NULL && p->out->len >= BBF_BUF_PIECE)
            (void)bbf_buf_flush(p->out);
    } while (state == Z_OK && (p->zip.avail_in > 0 || p->zip.avail_out == 0 || flush == Z_FINISH));
    return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR ? BBF_OK : BBF_ENOMEM;
}

static int take_plain(void *ctx, const char *data, size_t len)
{
    return deflate_part(ctx, data, len, Z_NO_FLUSH);
}

/* ---- parts ---- */

static uint32_t string(struct profile *p, const char *text)
{
    return bbf_strings_add(&p->strings, text, strlen(text));
}

static void add_type(struct profile *p, unsigned field, const char *type, const char *unit)
{
    bbf_proto_number(&p->part, TYPE_TYPE, string(p, type));
    bbf_proto_number(&p->part, TYPE_UNIT, string(p, unit));
    bbf_proto_message(&p->plain, field, &p->part);
}

static void add_label(struct profile *p, const char *key, uint32_t text)
{
    bbf_proto_number(&p->inner, LABEL_KEY, string(p, key));
    bbf_proto_number(&p->inner, LABEL_STR, text);
    bbf_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
}

static void add_number(struct profile *p, const char *key, uint64_t number, const char *unit)
{
    bbf_proto_number(&p->inner, LABEL_KEY, string(p, key));
    bbf_proto_number(&p->inner, LABEL_NUM, (uint64_t)bbf_sample_signed(number));
    bbf_proto_number(&p->inner, LABEL_NUM_UNIT, string(p, unit));
    bbf_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
}

static void add_leak_labels(struct profile *p, const struct bbf_snap_leak *leak)
{
    const char *thread = bbf_snapshot_thread(p->view->snapshot, leak->thread);
    struct bbf_buf text = BBF_BUF_INIT;

    add_label(p, "memory", string(p, bbf_memory_name(leak->memory)));
    bbf_fingerprint_text(&text, bbf_fingerprint_leak(p->view, leak->node));
    add_label(p, "id", bbf_strings_add(&p->strings, text.data, text.len));
    text.len = 0;
    if (thread != NULL) {
        bbf_text_safe(&text, thread, '\0');
        add_label(p, "opened_by", bbf_strings_add(&p->strings, text.data, text.len));
    }
    add_number(p, "oldest", leak->oldest_seconds, "seconds");
    p->part.failed = p->part.failed || text.failed;
    bbf_buf_free(&text);
}

static void add_sample(void *ctx, const struct bbf_sample *sample)
{
    struct profile *p = ctx;
    const struct bbf_view_path path = bbf_view_path(p->view, sample->node);

    for (size_t i = path.n; i-- > 0;) /* the last step first */
        bbf_proto_varint(&p->inner, (uint64_t)p->view->snapshot->nodes[path.nodes[i]].site + 1);
    bbf_proto_message(&p->part, SAMPLE_LOCATION, &p->inner);
    for (int i = 0; i < BBF_SAMPLE_COUNT; i++)
        bbf_proto_varint(&p->inner, (uint64_t)bbf_sample_signed(sample->values[i]));
    bbf_proto_message(&p->part, SAMPLE_VALUE, &p->inner);
    add_label(p, "verdict", string(p, bbf_sample_verdict(sample)));
    if (sample->leak != NULL)
        add_leak_labels(p, sample->leak);
    bbf_proto_message(&p->plain, SAMPLE, &p->part);
}

/* A function and a location for each site; their ids are its index and 1. */
static void add_site(struct profile *p, uint32_t site)
{
    const struct bbf_snap_site *s = &p->view->snapshot->sites[site];
    const struct bbf_name *name = &p->view->names.names[site];
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_text_safe(&text, s->class_name, '\0');
    uint32_t class_name = bbf_strings_add(&p->strings, text.data, text.len);
    bbf_buf_str(&text, s->class_name[0] != '\0' ? "." : "");
    bbf_text_safe(&text, s->method, '\0');
    bbf_text_safe(&text, s->descriptor, '\0');
    bbf_proto_number(&p->part, FUNCTION_ID, (uint64_t)site + 1);
    bbf_proto_number(&p->part, FUNCTION_NAME, bbf_strings_add(&p->strings, name->text, name->len));
    bbf_proto_number(&p->part, FUNCTION_SYSTEM_NAME,
                     bbf_strings_add(&p->strings, text.data, text.len));
    bbf_proto_number(&p->part, FUNCTION_FILENAME, class_name);
    bbf_proto_number(&p->part, FUNCTION_START, s->line);
    bbf_proto_message(&p->plain, FUNCTION, &p->part);
    bbf_proto_number(&p->inner, LINE_FUNCTION, (uint64_t)site + 1);
    bbf_proto_number(&p->inner, LINE_LINE, s->line);
    bbf_proto_number(&p->part, LOCATION_ID, (uint64_t)site + 1);
    bbf_proto_message(&p->part, LOCATION_LINE, &p->inner);
    bbf_proto_message(&p->plain, LOCATION, &p->part);
    p->part.failed = p->part.failed || text.failed;
    bbf_buf_free(&text);
}

static void add_comment(void *profile, const char *text)
{
    struct profile *p = profile;

    bbf_proto_varint(&p->inner, string(p, text));
}

/* ---- the whole ---- */

static int add_profile(struct profile *p)
{
    const struct bbf_snapshot *s = p->view->snapshot;

    for (int i = 0; i < BBF_SAMPLE_COUNT; i++)
        add_type(p, SAMPLE_TYPE, bbf_sample_names[i].name, bbf_sample_names[i].unit);
    int err = bbf_samples_each(p->view, add_sample, p);
    for (uint32_t i = 0; i < s->n_sites; i++)
        add_site(p, i);
    if (s->captured_at_ms > 0 && s->captured_at_ms < INT64_MAX / 1000000)
        bbf_proto_number(&p->plain, TIME_NANOS, (uint64_t)s->captured_at_ms * 1000000);
    bbf_proto_number(&p->plain, DURATION_NANOS, bbf_sample_duration_ns(s, p->options->since_ms));
    add_type(p, PERIOD_TYPE, "buffers", "count");
    bbf_proto_number(&p->plain, PERIOD, (uint64_t)bbf_sample_signed(bbf_sample_period(s)));
    if (err == BBF_OK)
        err = bbf_head_each(s, add_comment, p);
    if (p->inner.len > 0)
        bbf_proto_message(&p->plain, COMMENT, &p->inner);
    bbf_proto_number(&p->plain, DEFAULT_SAMPLE_TYPE,
                     string(p, bbf_sample_names[BBF_SAMPLE_LEAKED_BYTES].name));
    for (size_t i = 0; i < p->strings.n; i++) {
        size_t len;
        const char *text = bbf_strings_at(&p->strings, i, &len);
        bbf_proto_bytes(&p->plain, STRING_TABLE, text, len);
    }
    return err;
}

static int end(struct profile *p)
{
    if (!bbf_buf_flush(&p->plain) || p->part.failed || p->inner.failed || p->strings.failed)
        return BBF_ENOMEM;
    return deflate_part(p, NULL, 0, Z_FINISH);
}

int bbf_render_pprof(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options)
{
    struct profile *p = calloc(1, sizeof *p);
    int err = p != NULL ? bbf_view_add_names(view, '\0') : BBF_ENOMEM;

    if (err != BBF_OK) {
        free(p);
        return err;
    }
    p->view = view;
    p->options = options;
    p->out = out;
    p->plain.flush = take_plain;
    p->plain.ctx = p;
    bbf_strings_init(&p->strings);
    if (deflateInit2(&p->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, DEFAULT_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        err = BBF_ENOMEM;
    if (err == BBF_OK) {
        err = add_profile(p);
        err = err == BBF_OK ? end(p) : err;
        (void)deflateEnd(&p->zip);
    }
    bbf_strings_free(&p->strings);
    bbf_buf_free(&p->inner);
    bbf_buf_free(&p->part);
    bbf_buf_free(&p->plain);
    free(p);
    return err;
}
