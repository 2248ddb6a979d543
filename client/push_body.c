/* SPDX-License-Identifier: Apache-2.0 */
#include "client/push_body.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "client/fail.h"
#include "core/err.h"
#include "render/proto.h"
#include "render/render.h"
#include "render/text.h"

/* Fields of push.v1 and types.v1. */
enum { PUSH_SERIES = 1, SERIES_LABELS = 1, SERIES_SAMPLES, SAMPLE_RAW = 1 };
enum { LABEL_NAME = 1, LABEL_VALUE };
/* Fields of the answer to otlp, and the types of fields on the wire. */
enum { ANSWER_PARTIAL = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };
enum { GZIP = 15 + 16, DEFAULT_MEMORY = 8, LABELS = BBF_PUSH_MOST + 2 };

/* The user's labels, and the defaults of those that the user does not give. */
struct labels {
    struct bbf_label items[LABELS];
    size_t n;
};

static void add_default(struct labels *labels, const char *name, const char *value)
{
    for (size_t i = 0; i < labels->n; i++)
        if (strcmp(labels->items[i].name, name) == 0)
            return;
    labels->items[labels->n++] = (struct bbf_label){name, value};
}

static struct labels all_labels(const struct bbf_push_flags *flags, const char *service,
                                const char *instance)
{
    static const char *const names[][2] = {
        [BBF_PUSH_OTLP] = {"service.name", "service.instance.id"},
        [BBF_PUSH_PPROF] = {"service_name", "instance"},
        [BBF_PUSH_PROM] = {"job", "instance"}};
    struct labels labels = {.n = flags->n_labels};

    memcpy(labels.items, flags->labels, flags->n_labels * sizeof *flags->labels);
    add_default(&labels, names[flags->as][0], service);
    add_default(&labels, names[flags->as][1], instance);
    return labels;
}

/* ---- URL ------------------------------------------------------------------------------------- */

static int add_base(const struct bbf_push_flags *flags, struct bbf_buf *url)
{
    size_t len = strlen(flags->to);

    if (strpbrk(flags->to, "?#") != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "a URL with '?' or '#' needs its whole path, because none "
                                        "can be appended to it");
    while (len > 0 && flags->to[len - 1] == '/')
        len--;
    bbf_buf_add(url, flags->to, len);
    return BBF_EXIT_OK;
}

static bool has_path(const char *url)
{
    const char *path = strpbrk(strstr(url, "://") + 3, "/?#");

    return path != NULL && path[0] == '/' && path[strspn(path, "/")] != '\0' &&
           strchr("?#", path[strspn(path, "/")]) == NULL;
}

static int add_path(const struct bbf_push_flags *flags, const char *path, struct bbf_buf *url)
{
    if (has_path(flags->to)) {
        bbf_buf_str(url, flags->to);
        return BBF_EXIT_OK;
    }
    int exit_code = add_base(flags, url);
    bbf_buf_str(url, path);
    return exit_code;
}

static bool is_plain(const char *value)
{
    for (const char *at = value; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("._-", *at) == NULL)
            return false;
    return strcmp(value, ".") != 0 && strcmp(value, "..") != 0; /* libcurl would remove them */
}

static void add_base64url(struct bbf_buf *to, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned n = 0;

    for (; *text != '\0'; text++) {
        bits = bits << 8 | (unsigned char)*text;
        for (n += 8; n >= 6; n -= 6)
            bbf_buf_char(to, digits[bits >> (n - 6) & 63]);
    }
    if (n > 0)
        bbf_buf_char(to, digits[bits << (6 - n) & 63]);
}

static void add_group_label(struct bbf_buf *url, const struct bbf_label *label)
{
    const bool plain = is_plain(label->value);

    bbf_buf_printf(url, "/%s%s/", label->name, plain ? "" : "@base64");
    if (plain)
        bbf_buf_str(url, label->value);
    else
        add_base64url(url, label->value);
}

/* The group of the gateway: its job comes first. */
static int add_group(const struct bbf_push_flags *flags, const struct labels *labels,
                     struct bbf_buf *url)
{
    const bool named = strstr(flags->to, "/metrics/job/") != NULL;
    int exit_code = add_base(flags, url);

    if (!named)
        bbf_buf_str(url, "/metrics");
    for (size_t i = 0; i < labels->n && !named; i++)
        if (strcmp(labels->items[i].name, "job") == 0)
            add_group_label(url, &labels->items[i]);
    for (size_t i = 0; i < (named ? flags->n_labels : labels->n); i++)
        if (strcmp(labels->items[i].name, "job") != 0)
            add_group_label(url, &labels->items[i]);
    return exit_code;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static int deflate_all(struct bbf_buf *to, const struct bbf_buf *from)
{
    z_stream zip = {.next_in = (Bytef *)from->data, .avail_in = (uInt)from->len};

    if (from->len > UINT32_MAX || deflateInit2(&zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP,
                                               DEFAULT_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return BBF_ENOMEM;
    const size_t most = deflateBound(&zip, (uLong)from->len);
    char *out = bbf_buf_reserve(to, most);
    int err = BBF_ENOMEM;
    if (out != NULL && most <= UINT32_MAX) {
        zip.next_out = (Bytef *)out;
        zip.avail_out = (uInt)most;
        err = deflate(&zip, Z_FINISH) == Z_STREAM_END ? BBF_OK : BBF_ENOMEM;
        to->len += most - zip.avail_out;
    }
    (void)deflateEnd(&zip);
    return err;
}

static int render_otlp(const struct bbf_snapshot *snapshot, const struct labels *labels,
                       int64_t since_ms, struct bbf_buf *body)
{
    const struct bbf_render_options options = {
        .since_ms = since_ms, .labels = labels->items, .n_labels = labels->n};
    struct bbf_buf plain = BBF_BUF_INIT;
    int err = bbf_render(&plain, snapshot, BBF_FORMAT_OTLP, &options);

    if (err == BBF_OK)
        err = deflate_all(body, &plain);
    bbf_buf_free(&plain);
    return err;
}

static void add_series_label(struct bbf_buf *series, const char *name, const char *value)
{
    struct bbf_buf pair = BBF_BUF_INIT;

    bbf_proto_bytes(&pair, LABEL_NAME, name, strlen(name));
    bbf_proto_bytes(&pair, LABEL_VALUE, value, strlen(value));
    bbf_proto_message(series, SERIES_LABELS, &pair);
    bbf_buf_free(&pair);
}

/* One series with the name "bbflow", which with a type of the profile is "bbflow:leaked_bytes:…"
 * there. */
static int render_push(const struct bbf_snapshot *snapshot, const struct labels *labels,
                       int64_t since_ms, struct bbf_buf *body)
{
    const struct bbf_render_options options = {.since_ms = since_ms};
    struct bbf_buf profile = BBF_BUF_INIT, sample = BBF_BUF_INIT, series = BBF_BUF_INIT;
    int err = bbf_render(&profile, snapshot, BBF_FORMAT_PPROF, &options);

    add_series_label(&series, "__name__", "bbflow");
    for (size_t i = 0; i < labels->n; i++)
        add_series_label(&series, labels->items[i].name, labels->items[i].value);
    bbf_proto_message(&sample, SAMPLE_RAW, &profile);
    bbf_proto_message(&series, SERIES_SAMPLES, &sample);
    bbf_proto_message(body, PUSH_SERIES, &series);
    bbf_buf_free(&profile);
    bbf_buf_free(&sample);
    bbf_buf_free(&series);
    return err;
}

int bbf_push_body(const struct bbf_push_flags *flags, const struct bbf_snapshot *snapshot,
                  const char *instance, int64_t since_ms, struct bbf_push_body *to)
{
    static const char *const types[] = {[BBF_PUSH_OTLP] = "application/x-protobuf",
                                        [BBF_PUSH_PPROF] = "application/proto",
                                        [BBF_PUSH_PROM] = "text/plain; version=0.0.4"};
    struct bbf_buf service = BBF_BUF_INIT;
    int exit_code = BBF_EXIT_OK, err = BBF_OK;

    bbf_text_safe(&service,
                  snapshot->jvm.main[0] != '\0' ? snapshot->jvm.main : "unknown_service:java",
                  '\0');
    const struct labels labels = all_labels(flags, bbf_buf_cstr(&service), instance);
    *to = (struct bbf_push_body){.url = BBF_BUF_INIT,
                                 .body = BBF_BUF_INIT,
                                 .method = flags->as == BBF_PUSH_PROM ? "PUT" : "POST",
                                 .type = types[flags->as],
                                 .is_gzip = flags->as == BBF_PUSH_OTLP};
    if (flags->as == BBF_PUSH_OTLP) {
        exit_code = add_path(flags, "/v1development/profiles", &to->url);
        err = render_otlp(snapshot, &labels, since_ms, &to->body);
    } else if (flags->as == BBF_PUSH_PPROF) {
        exit_code = add_path(flags, "/push.v1.PusherService/Push", &to->url);
        err = render_push(snapshot, &labels, since_ms, &to->body);
    } else {
        exit_code = add_group(flags, &labels, &to->url);
        err = bbf_render(&to->body, snapshot, BBF_FORMAT_PROM, NULL);
    }
    const bool failed = service.failed || to->url.failed || to->body.failed;
    bbf_buf_free(&service);
    if (exit_code == BBF_EXIT_OK && (err != BBF_OK || failed))
        exit_code = bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(err != BBF_OK ? err : BBF_ENOMEM));
    return exit_code;
}

void bbf_push_body_free(struct bbf_push_body *body)
{
    bbf_buf_free(&body->url);
    bbf_buf_free(&body->body);
}

/* ---- The answer ------------------------------------------------------------------------------ */

struct reader {
    const unsigned char *at, *end;
};

static bool read_varint(struct reader *r, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        const unsigned char byte = *r->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* The next field: its number and, by its type, *value or *bytes. False: the end, or another type.
 */
static bool read_field(struct reader *r, uint64_t *field, uint64_t *value, struct reader *bytes)
{
    uint64_t key;

    *bytes = (struct reader){r->at, r->at};
    if (!read_varint(r, &key) || !read_varint(r, value))
        return false;
    *field = key >> 3;
    if ((key & 7) == WIRE_VARINT)
        return true;
    if ((key & 7) != WIRE_BYTES || *value > (uint64_t)(r->end - r->at))
        return false;
    *bytes = (struct reader){r->at, r->at + *value};
    r->at += *value;
    return true;
}

uint64_t bbf_push_rejected(const struct bbf_buf *answer, const char **message, size_t *len)
{
    struct reader all = {(const unsigned char *)answer->data,
                         (const unsigned char *)answer->data + answer->len};
    struct reader partial, text;
    uint64_t field, value, rejected = 0;

    *message = "";
    *len = 0;
    while (all.at < all.end && read_field(&all, &field, &value, &partial)) {
        if (field != ANSWER_PARTIAL)
            continue;
        while (partial.at < partial.end && read_field(&partial, &field, &value, &text)) {
            if (field == PARTIAL_REJECTED && text.at == text.end)
                rejected = value;
            if (field == PARTIAL_MESSAGE && text.at < text.end) {
                *message = (const char *)text.at;
                *len = (size_t)(text.end - text.at);
            }
        }
    }
    return rejected;
}
