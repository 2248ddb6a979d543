/* link: bbf_jfr bbf_core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/err.h"
#include "jfr/writer.h"

static const struct bbf_jfr_type_decl types[] = {
    {.name = "bbflow.Sample",
     .super = "jdk.jfr.Event",
     .notes = {{"Label", "A sample"}, {"Category", "bbflow|Tests"}},
     .fields = {{"startTime", "long", 0, {{"Label", "Start Time"}, {"Timestamp", "TICKS"}}},
                {"eventThread", "java.lang.Thread", BBF_JFR_IS_POOLED, {{"Label", "Thread"}}},
                {"stackTrace", "jdk.types.StackTrace", BBF_JFR_IS_POOLED, {{"Label", "Path"}}},
                {"bytes", "long", 0, {{"Label", "Bytes"}, {"DataAmount", "BYTES"}}},
                {"count", "int", 0, {{"Label", "Buffers"}}},
                {"site", "java.lang.String", 0, {{"Label", "Site"}}},
                {"share", "float", 0, {{"Label", "Share"}, {"Percentage", NULL}}}}},
};
static const struct bbf_jfr_schema schema = {types, 1};

/* A file in memory. */
struct file {
    struct bbf_buf bytes;
    int fail_at; /* the call that fails; 0: none */
    int calls;
};

static int file_append(void *ctx, const char *data, size_t len)
{
    struct file *file = ctx;

    if (++file->calls == file->fail_at)
        return BBF_EIO;
    bbf_buf_add(&file->bytes, data, len);
    return BBF_OK;
}

static int file_patch(void *ctx, uint64_t at, const char *data, size_t len)
{
    struct file *file = ctx;

    if (++file->calls == file->fail_at)
        return BBF_EIO;
    assert_true(at + len <= file->bytes.len);
    memcpy(file->bytes.data + at, data, len);
    return BBF_OK;
}

static struct bbf_jfr_config config_of(struct file *file, bool streaming)
{
    return (struct bbf_jfr_config){
        .schema = schema,
        .output = {file_append, streaming ? file_patch : NULL, file},
        .start_ns = UINT64_C(1700000000000000000),
        .start_ticks = 1000,
    };
}

static void put_sample(struct bbf_jfr_writer *w, uint64_t ticks, int i)
{
    static const struct bbf_jfr_frame path[] = {
        {"com.app.Handler", "reject", "", 11, 0},
        {"io.netty.buffer.PooledByteBufAllocator", "directBuffer", "()V", -1, 0}};
    struct bbf_buf *out = bbf_jfr_begin(w, 0, ticks);

    bbf_jfr_put_long(out, bbf_jfr_thread(w, "worker-1", 4001, 31, false));
    bbf_jfr_put_long(out, bbf_jfr_stack(w, path + i % 2, (size_t)(2 - i % 2), false));
    bbf_jfr_put_long(out, (uint64_t)i * 256);
    bbf_jfr_put_int(out, i);
    bbf_jfr_text(w, i % 3 == 0 ? "short" : "a text of more than sixteen bytes");
    bbf_jfr_put_float(out, 0.25f);
    bbf_jfr_end(w);
}

static uint64_t u8_at(const char *data)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | (unsigned char)data[i];
    return value;
}

/* ---- numbers and text ---- */

static void a_compressed_integer_has_nine_bytes_at_most(void **state)
{
    static const struct {
        uint64_t value;
        size_t len;
        unsigned char last;
    } cases[] = {{0, 1, 0},
                 {127, 1, 127},
                 {128, 2, 1},
                 {1u << 14, 3, 1},
                 {UINT32_MAX, 5, 15},
                 {UINT64_C(1) << 55, 8, 0x40},
                 {UINT64_C(1) << 56, 9, 1},
                 {UINT64_MAX, 9, 255}};
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bbf_buf out = BBF_BUF_INIT;
        bbf_jfr_put_long(&out, cases[i].value);
        assert_int_equal(out.len, cases[i].len);
        assert_int_equal((unsigned char)out.data[out.len - 1], cases[i].last);
        bbf_buf_free(&out);
    }
}

static void narrow_integers_are_masked(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;

    bbf_jfr_put_int(&out, -3);
    assert_int_equal(out.len, 5);
    bbf_jfr_put_char(&out, 0xFFFF);
    assert_int_equal(out.len, 8);
    bbf_buf_free(&out);
}

static void assert_text(const char *text, size_t len, const char *bytes, size_t n)
{
    struct bbf_buf out = BBF_BUF_INIT;

    bbf_jfr_put_text(&out, text, len);
    assert_int_equal(out.len, n);
    assert_memory_equal(out.data, bytes, n);
    bbf_buf_free(&out);
}

static void text_takes_the_encoding_that_fits(void **state)
{
    (void)state;
    assert_text(NULL, 0, "\0", 1);
    assert_text("", 0, "\1", 1);
    assert_text("abc", 3, "\3\3abc", 5);
    assert_text("\xC3\xA9", 2, "\4\1\xE9\1", 4);                       /* é */
    assert_text("\xF0\x9F\x98\x80", 4, "\4\2\xBD\xB0\3\x80\xBC\3", 8); /* a surrogate pair */
    assert_text("\xED\xA0\xBD\xED\xB8\x80", 6, "\4\2\xBD\xB0\3\x80\xBC\3", 8);
    assert_text("\xC0\x80", 2, "\4\1\0", 3); /* Java's zero */
    assert_text("a\xFF", 2,
                "\4\2"
                "a"
                "\xFD\xFF\3",
                6);                                            /* not UTF-8 */
    assert_text("\xE2\x82", 2, "\4\2\xFD\xFF\3\xFD\xFF\3", 8); /* cut */
}

/* ---- chunks ---- */

static void a_recording_without_events_is_one_whole_chunk(void **state)
{
    struct file file = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&file, false);
    struct bbf_jfr_writer w;
    (void)state;

    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    assert_int_equal(bbf_jfr_finish(&w, 5000), BBF_OK);
    const char *h = file.bytes.data;
    assert_memory_equal(h, "FLR\0\0\2\0\1", 8);
    assert_int_equal(u8_at(h + 8), file.bytes.len);
    assert_int_equal(u8_at(h + 24), BBF_JFR_HEADER_BYTES);
    assert_true(u8_at(h + 32) == config.start_ns + 4000);
    assert_int_equal(h[64], 0);
    assert_int_equal(h[67], 3);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&file.bytes);
}

/* The header of each chunk, in order; the sizes cover the file. */
static size_t count_chunks(const struct file *file, int last_state)
{
    size_t at = 0, n = 0;
    uint64_t begun = 0;

    while (at < file->bytes.len) {
        const char *h = file->bytes.data + at;
        assert_memory_equal(h, "FLR\0", 4);
        assert_true(u8_at(h + 32) > begun);
        begun = u8_at(h + 32);
        at += u8_at(h + 8);
        assert_int_equal((unsigned char)h[64], at < file->bytes.len ? 0 : last_state);
        n++;
    }
    assert_int_equal(at, file->bytes.len);
    return n;
}

static void a_full_chunk_is_followed_by_another(void **state)
{
    struct file file = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&file, false);
    struct bbf_jfr_writer w;
    (void)state;

    config.chunk_bytes = 16384;
    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    for (int i = 0; i < 2000; i++)
        put_sample(&w, 2000, i); /* all at one time: the chunks begin at different ones */
    assert_int_equal(bbf_jfr_finish(&w, 2000), BBF_OK);
    assert_true(count_chunks(&file, 0) > 3);
    assert_int_equal(count_chunks(&file, 0), w.chunks);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&file.bytes);
}

static void what_was_flushed_has_a_header_that_says_so(void **state)
{
    struct file file = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&file, true);
    struct bbf_jfr_writer w;
    (void)state;

    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    put_sample(&w, 2000, 1);
    assert_int_equal(count_chunks(&file, 1), 1); /* before the first flush: metadata alone */
    assert_int_equal(bbf_jfr_flush(&w, 3000), BBF_OK);
    assert_int_equal(count_chunks(&file, 2), 1);
    for (int i = 0; i < 300; i++)
        assert_int_equal(bbf_jfr_flush(&w, 3000), BBF_OK);
    assert_int_not_equal((unsigned char)file.bytes.data[64], 255);
    assert_int_not_equal(file.bytes.data[64], 0);
    assert_int_equal(bbf_jfr_finish(&w, 4000), BBF_OK);
    assert_int_equal(count_chunks(&file, 0), 1);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&file.bytes);
}

static void keys_are_never_used_twice_in_a_file(void **state)
{
    struct file file = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&file, false);
    struct bbf_jfr_writer w;
    (void)state;

    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    (void)bbf_jfr_begin(&w, 0, 2000);
    uint64_t first = bbf_jfr_class(&w, "com.app.A"), again = bbf_jfr_class(&w, "com/app/A");
    assert_int_equal(first, again);
    assert_int_not_equal(bbf_jfr_class(&w, "com.app.B"), first);
    bbf_jfr_end(&w);
    assert_int_equal(bbf_jfr_finish_chunk(&w, 2500, false), BBF_OK);
    (void)bbf_jfr_begin(&w, 0, 3000);
    assert_int_equal(bbf_jfr_class(&w, "com.app.A"), 3);
    bbf_jfr_end(&w);
    assert_int_equal(bbf_jfr_finish(&w, 4000), BBF_OK);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&file.bytes);
}

/* Keys and times continue in the next file, so that both can be put together. */
static void a_writer_goes_on_in_another_file(void **state)
{
    struct file one = {BBF_BUF_INIT, 0, 0}, two = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&one, true);
    struct bbf_jfr_writer w;
    (void)state;

    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    put_sample(&w, 2000, 0);
    assert_int_equal(bbf_jfr_finish_chunk(&w, 3000, true), BBF_OK);
    assert_int_equal(bbf_jfr_written(&w), one.bytes.len);
    w.config.output.ctx = &two;
    bbf_jfr_continue(&w, 0);
    (void)bbf_jfr_begin(&w, 0, 1500); /* older than the chunk before */
    assert_true(bbf_jfr_class(&w, "com.app.Handler") > 1);
    bbf_jfr_end(&w);
    assert_int_equal(bbf_jfr_finish(&w, 4000), BBF_OK);
    assert_int_equal(bbf_jfr_written(&w), two.bytes.len);
    assert_int_equal(bbf_jfr_pending(&w), 0);
    assert_int_equal(count_chunks(&two, 0), 1);
    bbf_buf_add(&one.bytes, two.bytes.data, two.bytes.len);
    assert_int_equal(count_chunks(&one, 0), 2);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&one.bytes);
    bbf_buf_free(&two.bytes);
}

static void after_an_error_a_writer_goes_on_behind_what_was_kept(void **state)
{
    struct file file = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&file, true);
    struct bbf_jfr_writer w;
    (void)state;

    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    put_sample(&w, 2000, 0);
    assert_int_equal(bbf_jfr_finish_chunk(&w, 3000, false), BBF_OK);
    size_t kept = file.bytes.len;
    file.fail_at = file.calls + 1;
    put_sample(&w, 4000, 1);
    assert_int_equal(bbf_jfr_flush(&w, 4000), BBF_EIO);
    bbf_jfr_continue(&w, kept);
    assert_int_equal(bbf_jfr_writer_error(&w), BBF_OK);
    put_sample(&w, 5000, 2);
    assert_int_equal(bbf_jfr_finish(&w, 6000), BBF_OK);
    assert_int_equal(count_chunks(&file, 0), 2);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&file.bytes);
}

static void each_failure_of_the_output_is_reported_and_sticks(void **state)
{
    (void)state;
    for (int at = 1; at < 8; at++) {
        struct file file = {BBF_BUF_INIT, at, 0};
        struct bbf_jfr_config config = config_of(&file, true);
        struct bbf_jfr_writer w;
        assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
        put_sample(&w, 2000, 1);
        (void)bbf_jfr_flush(&w, 3000);
        put_sample(&w, 3500, 2);
        assert_int_equal(bbf_jfr_finish(&w, 4000), BBF_EIO);
        assert_int_equal(file.calls, at);
        bbf_jfr_writer_free(&w);
        bbf_buf_free(&file.bytes);
    }
}

static void a_field_of_an_unknown_type_is_refused_by_name(void **state)
{
    static const struct bbf_jfr_type_decl wrong[] = {
        {.name = "bbflow.Wrong", .super = "jdk.jfr.Event", .fields = {{"x", "no.Such", 0, {{0}}}}}};
    static const struct bbf_jfr_schema bad = {wrong, 1};
    struct bbf_buf out = BBF_BUF_INIT;
    const char *why = NULL;
    (void)state;

    assert_int_equal(bbf_jfr_put_metadata(&out, &bad, 0, &why), BBF_EINVAL);
    assert_string_equal(why, "no.Such");
    bbf_buf_free(&out);
}

/* With a name: write two chunks there, for tests/jvm to read by the JDK's tools. */
static int write_file(const char *path)
{
    struct file file = {BBF_BUF_INIT, 0, 0};
    struct bbf_jfr_config config = config_of(&file, true);
    struct bbf_jfr_writer w;
    int err = bbf_jfr_writer_init(&w, &config);

    config.chunk_bytes = 65536;
    for (int i = 0; i < 100 && err == BBF_OK; i++) {
        put_sample(&w, 2000 + (uint64_t)i * 1000000, i);
        if (i == 50)
            err = bbf_jfr_finish_chunk(&w, 60000000, false);
        else if (i % 10 == 0)
            err = bbf_jfr_flush(&w, 2000 + (uint64_t)i * 1000000);
    }
    if (err == BBF_OK)
        err = bbf_jfr_finish(&w, 200000000);
    FILE *out = err == BBF_OK ? fopen(path, "w") : NULL;
    if (out != NULL) {
        (void)fwrite(file.bytes.data, 1, file.bytes.len, out);
        err = fclose(out);
    }
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&file.bytes);
    return err != BBF_OK || out == NULL;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compressed_integer_has_nine_bytes_at_most),
        cmocka_unit_test(narrow_integers_are_masked),
        cmocka_unit_test(text_takes_the_encoding_that_fits),
        cmocka_unit_test(a_recording_without_events_is_one_whole_chunk),
        cmocka_unit_test(a_full_chunk_is_followed_by_another),
        cmocka_unit_test(what_was_flushed_has_a_header_that_says_so),
        cmocka_unit_test(keys_are_never_used_twice_in_a_file),
        cmocka_unit_test(a_writer_goes_on_in_another_file),
        cmocka_unit_test(after_an_error_a_writer_goes_on_behind_what_was_kept),
        cmocka_unit_test(each_failure_of_the_output_is_reported_and_sticks),
        cmocka_unit_test(a_field_of_an_unknown_type_is_refused_by_name),
    };

    return argc > 1 ? write_file(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
