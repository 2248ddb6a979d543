/* link: bbf_render bbf_snapshot bbf_core */
/*
 * Formats for tools, where golden files do not show it: the binary ones read back, huge numbers,
 * bounds, and which extension means which format. tests/long/formats has the tools themselves.
 */
#include "core/err.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include <cmocka.h>

static void render(struct bbf_buf *out, struct bbf_snapshot *s, enum bbf_format format)
{
    const struct bbf_render_options options = {.max_lines = 100};
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_int_equal(bbf_render(out, s, format, &options), BBF_OK);
    bbf_snapshot_free(s);
}

/* ---- a reader of Protocol Buffers ---- */

struct reader {
    const unsigned char *at, *end;
};

struct field {
    unsigned number;
    uint64_t value;      /* a varint */
    struct reader bytes; /* else */
};

static uint64_t varint(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(r->at < r->end && shift < 64);
        value |= (uint64_t)(*r->at & 0x7F) << shift;
        if ((*r->at++ & 0x80) == 0)
            return value;
    }
}

static bool next(struct reader *r, struct field *field)
{
    if (r->at == r->end)
        return false;
    uint64_t tag = varint(r);
    *field = (struct field){.number = (unsigned)(tag >> 3)};
    if ((tag & 7) == 0) {
        field->value = varint(r);
        return true;
    }
    assert_true((tag & 7) == 2 || (tag & 7) == 1);
    size_t len = (tag & 7) == 1 ? 8 : varint(r);
    assert_true(len <= (size_t)(r->end - r->at));
    field->bytes = (struct reader){r->at, r->at + len};
    r->at += len;
    return true;
}

/* The `n`th field of that number. */
static struct field find(struct reader r, unsigned number, size_t n)
{
    struct field field;
    while (next(&r, &field))
        if (field.number == number && n-- == 0)
            return field;
    fail_msg("no field %u", number);
    return field;
}

static size_t count(struct reader r, unsigned number)
{
    struct field field;
    size_t n = 0;
    while (next(&r, &field))
        n += field.number == number;
    return n;
}

static void assert_text(struct reader r, const char *text)
{
    assert_int_equal(r.end - r.at, strlen(text));
    assert_memory_equal(r.at, text, strlen(text));
}

/* ---- pprof ---- */

enum { UNPACKED_MAX = 1 << 20 };

static struct reader unpack(const struct bbf_buf *gz, unsigned char *to)
{
    z_stream zip = {.next_in = (Bytef *)gz->data,
                    .avail_in = (uInt)gz->len,
                    .next_out = to,
                    .avail_out = UNPACKED_MAX};
    assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
    assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
    assert_int_equal(zip.avail_in, 0);
    struct reader r = {to, to + zip.total_out};
    inflateEnd(&zip);
    return r;
}

/* Text number `index` of the table, field 6. */
static void assert_string(struct reader profile, uint64_t index, const char *text)
{
    assert_text(find(profile, 6, index).bytes, text);
}

static void a_pprof_profile_has_the_paths_and_the_numbers(void **state)
{
    static unsigned char plain[UNPACKED_MAX];
    (void)state;
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_snapshot *s = sample_verdicts();
    s->totals.sampled_ = 8;
    render(&out, s, BBF_FORMAT_PPROF);
    struct reader profile = unpack(&out, plain);

    assert_string(profile, 0, "");
    assert_int_equal(count(profile, 1), 4);
    assert_string(profile, find(find(profile, 1, 1).bytes, 1, 0).value, "leaked_bytes");
    assert_string(profile, find(find(profile, 1, 1).bytes, 2, 0).value, "bytes");
    assert_string(profile, find(profile, 14, 0).value, "leaked_bytes");
    assert_int_equal(find(profile, 12, 0).value, 8); /* the period: one in 8 */
    uint64_t sums[4] = {0};
    for (size_t i = 0; i < count(profile, 2); i++) {
        struct reader sample = find(profile, 2, i).bytes, path = find(sample, 1, 0).bytes;
        struct reader values = find(sample, 2, 0).bytes;
        assert_int_equal(varint(&path), 2); /* the last step first */
        assert_int_equal(varint(&path), 1);
        assert_true(path.at == path.end);
        for (int type = 0; type < 4; type++)
            sums[type] += varint(&values);
        assert_true(values.at == values.end);
    }
    assert_int_equal(sums[0], 12);
    assert_int_equal(sums[1], 1250);
    assert_int_equal(sums[2], 12); /* 4 + 6 aged, and 2 */
    assert_int_equal(sums[3], 8400);
    struct reader function = find(profile, 5, 1).bytes;
    assert_int_equal(find(function, 1, 0).value, 2);
    assert_string(profile, find(function, 2, 0).value, "Pipeline.handle");
    assert_string(profile, find(function, 3, 0).value,
                  "com.app.Pipeline.handle(Lio/netty/buffer/ByteBuf;)V");
    assert_int_equal(find(find(find(profile, 4, 1).bytes, 4, 0).bytes, 1, 0).value, 2);
    struct reader label = find(find(profile, 2, 0).bytes, 3, 0).bytes;
    assert_string(profile, find(label, 1, 0).value, "verdict");
    assert_string(profile, find(label, 2, 0).value, "leaked");
    bbf_buf_free(&out);
}

static struct bbf_snapshot *huge(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, UINT64_C(1) << 63, UINT64_MAX, 1);
    return s;
}

static void numbers_beyond_what_a_sign_leaves_are_the_greatest(void **state)
{
    static unsigned char plain[UNPACKED_MAX];
    (void)state;
    struct bbf_buf out = BBF_BUF_INIT;
    render(&out, huge(), BBF_FORMAT_PPROF);
    struct reader values = find(find(unpack(&out, plain), 2, 0).bytes, 2, 0).bytes;
    assert_true(varint(&values) == INT64_MAX);
    assert_true(varint(&values) == INT64_MAX);
    bbf_buf_free(&out);
    render(&out, huge(), BBF_FORMAT_OPENMETRICS);
    assert_non_null(
        strstr(bbf_buf_cstr(&out), "bbflow_leaked_buffers_total 9223372036854775808 #"));
    bbf_buf_free(&out);
    render(&out, huge(), BBF_FORMAT_SPEEDSCOPE);
    assert_non_null(strstr(bbf_buf_cstr(&out), "\"endValue\":18446744073709551615}"));
    bbf_buf_free(&out);
}

/* Pieces that a sink takes are the same document. */
static int append(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(ctx, data, len);
    return 0;
}

static int refuse(void *ctx, const char *data, size_t len)
{
    (void)ctx;
    (void)data;
    (void)len;
    return -1;
}

static void a_format_that_streams_writes_the_same_and_fails_with_its_sink(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_deep();
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    static const enum bbf_format formats[] = {BBF_FORMAT_PPROF, BBF_FORMAT_SPEEDSCOPE,
                                              BBF_FORMAT_TRACE, BBF_FORMAT_CSV, BBF_FORMAT_FLOW};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct bbf_buf whole = BBF_BUF_INIT, pieces = BBF_BUF_INIT;
        struct bbf_buf out = {.flush = append, .ctx = &pieces};
        assert_int_equal(bbf_render(&whole, s, formats[i], NULL), BBF_OK);
        assert_int_equal(bbf_render(&out, s, formats[i], NULL), BBF_OK);
        assert_true(bbf_buf_flush(&out));
        assert_int_equal(pieces.len, whole.len);
        assert_memory_equal(pieces.data, whole.data, whole.len);
        bbf_buf_free(&whole);
        bbf_buf_free(&pieces);
        bbf_buf_free(&out);
        out = (struct bbf_buf){.flush = refuse};
        int err = bbf_render(&out, s, formats[i], NULL);
        assert_true(err == BBF_ENOMEM || !bbf_buf_flush(&out));
        bbf_buf_free(&out);
    }
    bbf_snapshot_free(s);
}

/* ---- OpenTelemetry ---- */

static void an_otlp_document_has_a_profile_for_each_type(void **state)
{
    (void)state;
    struct bbf_buf out = BBF_BUF_INIT;
    render(&out, sample_verdicts(), BBF_FORMAT_OTLP);
    struct reader data = {(unsigned char *)out.data, (unsigned char *)out.data + out.len};
    struct reader scope = find(find(data, 1, 0).bytes, 2, 0).bytes;
    struct reader dictionary = find(data, 2, 0).bytes;

    assert_int_equal(count(scope, 2), 4);
    for (unsigned table = 1; table <= 7; table++) { /* each begins with an empty row */
        struct reader first = find(dictionary, table, 0).bytes;
        assert_true(first.at == first.end);
    }
    static const uint64_t sums[] = {12, 1250, 12, 8400};
    for (size_t type = 0; type < 4; type++) {
        struct reader profile = find(scope, 2, type).bytes;
        uint64_t sum = 0;
        for (size_t i = 0; i < count(profile, 2); i++) {
            struct reader values = find(find(profile, 2, i).bytes, 4, 0).bytes;
            assert_int_equal(find(find(profile, 2, i).bytes, 1, 0).value, 1); /* the only stack */
            sum += varint(&values);
        }
        assert_int_equal(sum, sums[type]);
        assert_int_equal(find(profile, 6, 0).value, 1);
        struct reader id = find(profile, 7, 0).bytes;
        assert_int_equal(id.end - id.at, 16);
    }
    struct reader stack = find(find(dictionary, 7, 1).bytes, 1, 0).bytes;
    assert_int_equal(varint(&stack), 2);
    assert_int_equal(varint(&stack), 1);
    bbf_buf_free(&out);
}

/* ---- texts ---- */

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part)) != NULL) {
        n++;
        text++;
    }
    return n;
}

/* 150 places have 100 series and one for the others; two places of one id have one. */
static void metrics_have_a_bounded_number_of_series(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    struct bbf_buf out = BBF_BUF_INIT;
    char name[32];
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    for (unsigned i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "com.app.C%u", i);
        int64_t at = sample_step(s, root, name, "take");
        sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
        sample_release(s, at, "x.Buffer", 1);
    }
    render(&out, s, BBF_FORMAT_PROM);
    const char *text = bbf_buf_cstr(&out);
    assert_int_equal(count_of(text, "\nbbflow_place_leaked_buffers_total{"), 101);
    assert_non_null(
        strstr(text, "bbflow_place_leaked_buffers_total{id=\"others\",place=\"others\"} 50\n"));
    bbf_buf_free(&out);

    s = sample_new(); /* overloads: their ids are of the names */
    root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    for (int i = 0; i < 2; i++) {
        uint32_t take = sample_site(s, "com.app.C", "take",
                                    i == 0 ? "(" BYTEBUF "I)V" : "(" BYTEBUF "J)V", BBF_SITE_ENTER);
        int64_t at = sample_node(s, root, take, BBF_REF_1_2);
        sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 2, 1, 1);
        sample_release(s, at, "x.Buffer", 1);
    }
    render(&out, s, BBF_FORMAT_PROM);
    assert_int_equal(count_of(bbf_buf_cstr(&out), "\nbbflow_place_leaked_buffers_total{"), 1);
    assert_non_null(strstr(bbf_buf_cstr(&out), "take(ByteBuf, int)\"} 4\n"));
    bbf_buf_free(&out);
}

static void what_a_tool_would_obey_is_escaped(void **state)
{
    (void)state;
    static const struct {
        enum bbf_format format;
        const char *part;
    } table[] = {
        {BBF_FORMAT_CSV, ",\"'=1+1;\"\"\",\"take\","},
        {BBF_FORMAT_MERMAID, "[\"=1+1#59;#34;.take<br/>"},
        {BBF_FORMAT_DOT, "[label=\"=1+1;\\\".take\\nLEAK 1, 1 B\""},
        {BBF_FORMAT_PROM, "place=\"=1+1;\\\".take\"}"},
        {BBF_FORMAT_SPEEDSCOPE, "{\"name\":\"=1+1;\\\".take\""},
        {BBF_FORMAT_TRACE, "\"name\":\"=1+1;\\\".take\""},
        {BBF_FORMAT_FOLDED, ";=1+1\\u003b\".take 1\n"},
        {BBF_FORMAT_FLOW, " -> =1+1;\".take[ref=1]\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct bbf_snapshot *s = sample_new();
        struct bbf_buf out = BBF_BUF_INIT;
        int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
        int64_t at = sample_step(s, root, "=1+1;\"", "take");
        sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
        render(&out, s, table[i].format);
        if (strstr(bbf_buf_cstr(&out), table[i].part) == NULL)
            fail_msg("'%s' is not in:\n%s", table[i].part, bbf_buf_cstr(&out));
        bbf_buf_free(&out);
    }
}

/* One bug of several branches and roots: no name of one is looked for on the path of another. */
static void joined_branches_are_drawn_from_where_they_are(void **state)
{
    (void)state;
    static const struct {
        enum bbf_format format;
        const char *once;
    } table[] = {{BBF_FORMAT_MERMAID, "LEAK proven"},
                 {BBF_FORMAT_LEAKS, "LEAK proven"},
                 {BBF_FORMAT_TREE, "\n1. "}};
    for (size_t format = 0; format < sizeof table / sizeof *table; format++) {
        struct bbf_snapshot *s = sample_new();
        struct bbf_buf out = BBF_BUF_INIT;
        uint32_t root = sample_site(s, "x.Alloc", "heapBuffer", "", BBF_SITE_ROOT);
        uint32_t way = sample_site(s, "com.app.A", "way", "(" BYTEBUF ")V", BBF_SITE_ENTER);
        uint32_t end = sample_site(s, "com.app.A", "end", "(" BYTEBUF ")V", BBF_SITE_ENTER);
        for (int i = 0; i < 3; i++) {
            int64_t at = sample_node(s, -1, root, (enum bbf_bucket)(i + 1));
            for (int steps = 0; steps <= i; steps++)
                at = sample_node(s, at, steps % 2 == 0 ? way : end, BBF_REF_1_2);
            sample_leak(s, sample_node(s, at, end, BBF_REF_6), BBF_VERDICT_LEAKED, BBF_MEM_HEAP,
                        3 - (unsigned)i, 1, 1);
        }
        render(&out, s, table[format].format);
        assert_int_equal(count_of(bbf_buf_cstr(&out), table[format].once), 1);
        bbf_buf_free(&out);
    }
}

static void an_extension_may_have_two_parts(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int format; /* -1: none */
    } table[] = {
        {"x.json", BBF_FORMAT_JSON},
        {"x.speedscope.json", BBF_FORMAT_SPEEDSCOPE},
        {"x.trace.json", BBF_FORMAT_TRACE},
        {"a/b.pb.gz", BBF_FORMAT_PPROF},
        {"x.PB.GZ", BBF_FORMAT_PPROF},
        {"x.mmd", BBF_FORMAT_MERMAID},
        {"x.collapsed", BBF_FORMAT_FOLDED},
        {"x.txt", BBF_FORMAT_TREE},
        {"x.speedscope", BBF_FORMAT_SPEEDSCOPE},
        {"x.gz", -1},
        {"pb.gz", -1},
        {".json", BBF_FORMAT_JSON},
        {"json", -1},
        {"x.trace.json/y", -1},
        {"speedscope.json", BBF_FORMAT_JSON},
        {"xpb.gz", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        enum bbf_format format = BBF_FORMAT_TREE;
        int err = bbf_format_of_path(table[i].path, &format);
        if (err != (table[i].format < 0 ? BBF_ENOTFOUND : BBF_OK) ||
            (err == BBF_OK && (int)format != table[i].format))
            fail_msg("%s: %d, format %d", table[i].path, err, (int)format);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pprof_profile_has_the_paths_and_the_numbers),
        cmocka_unit_test(numbers_beyond_what_a_sign_leaves_are_the_greatest),
        cmocka_unit_test(a_format_that_streams_writes_the_same_and_fails_with_its_sink),
        cmocka_unit_test(an_otlp_document_has_a_profile_for_each_type),
        cmocka_unit_test(metrics_have_a_bounded_number_of_series),
        cmocka_unit_test(what_a_tool_would_obey_is_escaped),
        cmocka_unit_test(joined_branches_are_drawn_from_where_they_are),
        cmocka_unit_test(an_extension_may_have_two_parts),
    };
    return cmocka_run_group_tests_name("render_tools", tests, NULL, NULL);
}
