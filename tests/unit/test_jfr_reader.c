/* link: bbf_jfr bbf_core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jfr/format.h"
#include "jfr/print.h"
#include "jfr/value.h"
#include "jfr_sample.h"

static const struct bbf_jfr_print all = {.stack_depth = 5};

static const unsigned char *bytes_of(const struct bbf_buf *file)
{
    return (const unsigned char *)file->data;
}

/* ---- numbers as the JDK prints them ---- */

#define ASSERT_TEXT(call, expected)                                                                \
    do {                                                                                           \
        struct bbf_buf out = BBF_BUF_INIT;                                                         \
        call;                                                                                      \
        assert_string_equal(bbf_buf_cstr(&out), expected);                                         \
        bbf_buf_free(&out);                                                                        \
    } while (0)

static void reals_are_java_s(void **state)
{
    (void)state;
    ASSERT_TEXT(bbf_jfr_add_real(&out, 1, false), "1.0");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 0.1, false), "0.1");
    ASSERT_TEXT(bbf_jfr_add_real(&out, (double)0.1f, true), "0.1");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 1e10, false), "1.0E10");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 1234567.5, false), "1234567.5");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 9999999, false), "9999999.0");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 1e7, false), "1.0E7");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 0.001, false), "0.001");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 0.00012, false), "1.2E-4");
    ASSERT_TEXT(bbf_jfr_add_real(&out, -0.0, false), "-0.0");
    ASSERT_TEXT(bbf_jfr_add_real(&out, 4.9e-324, false), "4.9E-324");
}

static void fixed_numbers_are_rounded_half_up(void **state)
{
    (void)state;
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 1.25, 1), "1.3");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 0.15, 1), "0.2");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 9.99, 1), "10.0");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 0, 2), "0.00");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, -0.005, 2), "-0.01");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 0.0004, 2), "0.00");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, -0.0, 2), "-0.00");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, -0.001, 2), "-0.00");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 123456, 0), "123456");
    ASSERT_TEXT(bbf_jfr_add_fixed(&out, 12.5, 2), "12.50");
}

static struct bbf_jfr_duration span(int64_t ns)
{
    int64_t seconds = ns / 1000000000, rest = ns % 1000000000;

    return rest < 0 ? (struct bbf_jfr_duration){seconds - 1, (int32_t)(rest + 1000000000)}
                    : (struct bbf_jfr_duration){seconds, (int32_t)rest};
}

static void durations_have_three_digits(void **state)
{
    (void)state;
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(0)), "0 s");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(999)), "0.000999 ms");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(1234567)), "1.23 ms");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(999600000)), "1.00 s");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(1500000000)), "1.50 s");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(61500000000)), "1 m 2 s");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(INT64_C(7260) * 1000000000)), "2 h 1 m");
    ASSERT_TEXT(bbf_jfr_add_duration(&out, span(-1500000000)), "-1.50 s");
    ASSERT_TEXT(bbf_jfr_add_duration_iso(&out, span(0)), "PT0S");
    ASSERT_TEXT(bbf_jfr_add_duration_iso(&out, span(3723500000000)), "PT1H2M3.5S");
    ASSERT_TEXT(bbf_jfr_add_duration_iso(&out, span(-500000000)), "PT-0.5S");
    ASSERT_TEXT(bbf_jfr_add_duration_iso(&out, span(-61000000000)), "PT-1M-1S");
}

static void times_have_the_offset_of_their_place(void **state)
{
    const int64_t ns = INT64_C(1700000000000000000);
    (void)state;
    ASSERT_TEXT(bbf_jfr_add_time_iso(&out, ns, 0), "2023-11-14T22:13:20Z");
    ASSERT_TEXT(bbf_jfr_add_time_iso(&out, ns + 1000, 0), "2023-11-14T22:13:20.000001Z");
    ASSERT_TEXT(bbf_jfr_add_time_iso(&out, ns - 20000000000, 0), "2023-11-14T22:13Z");
    ASSERT_TEXT(bbf_jfr_add_time_iso(&out, ns, 5400000), "2023-11-14T23:43:20+01:30");
    ASSERT_TEXT(bbf_jfr_add_time_iso(&out, -1, 0), "1969-12-31T23:59:59.999999999Z");
    ASSERT_TEXT(bbf_jfr_add_time(&out, ns + 1999999, 0, false), "22:13:20.001 (2023-11-14)");
}

static void amounts_have_a_prefix(void **state)
{
    (void)state;
    ASSERT_TEXT(bbf_jfr_add_amount(&out, 1, false, false, false), "1 byte");
    ASSERT_TEXT(bbf_jfr_add_amount(&out, 0, false, false, false), "0 bytes");
    ASSERT_TEXT(bbf_jfr_add_amount(&out, 1280, false, false, false), "1.3 kB");
    ASSERT_TEXT(bbf_jfr_add_amount(&out, -1048576, false, false, false), "-1.0 MB");
    ASSERT_TEXT(bbf_jfr_add_amount(&out, 2048, true, true, false), "2.0 kbps");
    ASSERT_TEXT(bbf_jfr_add_amount(&out, 2048, false, false, true), "2048 bytes");
    ASSERT_TEXT(bbf_jfr_add_amount(&out, INT64_MIN, false, false, false), "-8.0 EB");
}

/* ---- what was written is read ---- */

static void each_kind_of_field_is_read_back(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT, out = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    (void)state;

    sample_write(&file, 1, 1);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_print_text(&out, &r, &all), BBF_OK);
    assert_null(r.trouble.what);
    assert_string_equal(bbf_buf_cstr(&out),
                        "test.All {\n"
                        "  startTime = 22:13:20.001 (2023-11-14)\n"
                        "  duration = 2.50 ms\n"
                        "  flag = false\n"
                        "  letter = \xE6\xBC\xA2\n"
                        "  number = -3\n"
                        "  unsigned = 4294967295\n"
                        "  bytes = 1.3 kB\n"
                        "  share = 12.50%\n"
                        "  rate = 1.0E10\n"
                        "  text = N/A\n"
                        "  address = 0x00ABCDEF\n"
                        "  eventThread = \"worker-1\" (javaThreadId = 31)\n"
                        "  stackTrace = [\n"
                        "    com.app.Handler.reject(ByteBuf, int[], long) line: 11\n"
                        "    io.netty.buffer.PooledByteBufAllocator.directBuffer()\n"
                        "  ]\n"
                        "}\n\n");
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&out);
    bbf_buf_free(&file);
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;

    for (text = strstr(text, word); text != NULL; text = strstr(text + 1, word))
        n++;
    return n;
}

static size_t events_with(const struct bbf_buf *file, const struct bbf_jfr_print *how)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_jfr_recording r;

    bbf_jfr_recording_init(&r, bytes_of(file), file->len, true);
    assert_int_equal(bbf_jfr_print_json(&out, &r, how), BBF_OK);
    bbf_jfr_recording_close(&r);
    size_t n = count_of(bbf_buf_cstr(&out), "\"type\": \"test.All\"");
    bbf_buf_free(&out);
    return n;
}

static void filters_take_names_categories_and_times(void **state)
{
    const int64_t start = INT64_C(1700000000000000000);
    struct bbf_buf file = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, 2, 10);
    assert_int_equal(events_with(&file, &all), 20);
    static const struct {
        struct bbf_jfr_filter filter;
        size_t n;
    } cases[] = {
        {{.events = "All"}, 20},
        {{.events = "test.*"}, 20},
        {{.events = "Other, All "}, 20},
        {{.events = "Other"}, 0},
        {{.categories = "Tests"}, 20},
        {{.categories = "Test"}, 0},
        {{.events = "All", .categories = "None"}, 0},
        {{.from_ns = start + 10000000}, 13}, /* events end 2.5 ms after their start */
        {{.until_ns = start + 10000000}, 7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bbf_jfr_print how = {.filter = cases[i].filter, .stack_depth = 5};
        assert_int_equal(events_with(&file, &how), cases[i].n);
    }
    bbf_buf_free(&file);
}

static void names_cannot_reach_a_terminal_raw(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT, out = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    (void)state;

    sample_write(&file, 1, 3);
    for (char *name; (name = memmem(file.data, file.len, "worker-1", 8)) != NULL;)
        name[1] = '\033';
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_print_text(&out, &r, &all), BBF_OK);
    bbf_jfr_recording_close(&r);
    assert_null(memchr(out.data, '\033', out.len));
    assert_non_null(strstr(bbf_buf_cstr(&out), "w\\u001brker-1"));
    bbf_buf_free(&out);
    bbf_buf_free(&file);
}

/* Every byte cut off, every byte changed: an answer, and no read outside (ASan). */
static void damage_anywhere_ends_in_an_answer(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, 2, 4);
    uint64_t first = bbf_jfr_u8(bytes_of(&file) + 8); /* cut there it is whole */
    unsigned char *copy = malloc(file.len);
    assert_non_null(copy);
    for (size_t at = 0; at < file.len; at++) {
        for (int kind = 0; kind < 3; kind++) {
            struct bbf_buf out = BBF_BUF_INIT;
            struct bbf_jfr_recording r;
            size_t len = kind == 0 ? at : file.len;
            memcpy(copy, file.data, len);
            if (kind > 0)
                copy[at] = kind == 1 ? 0 : (unsigned char)(copy[at] ^ 0xFF);
            bbf_jfr_recording_init(&r, copy, len, true);
            (void)(at % 2 == 0 ? bbf_jfr_print_text(&out, &r, &all)
                               : bbf_jfr_print_json(&out, &r, &all));
            if (kind == 0 && at != first)
                assert_non_null(r.trouble.what);
            bbf_jfr_recording_close(&r);
            bbf_buf_free(&out);
        }
    }
    free(copy);
    bbf_buf_free(&file);
}

/* One line an event: a script can split it at spaces outside of quotation marks. */
static void an_event_is_a_line(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT, out = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    size_t lines = 0;
    (void)state;

    sample_write(&file, 2, 5);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_print_lines(&out, &r, &all), 0);
    bbf_jfr_recording_close(&r);
    for (size_t i = 0; i < out.len; i++)
        lines += out.data[i] == '\n';
    assert_int_equal(lines, 10);
    const char *text = bbf_buf_cstr(&out);
    static const char first[] =
        "2023-11-14T22:13:20.001001Z test.All thread=worker-1 duration=PT0.0025S flag=false "
        "letter=28450 number=-3 unsigned=4294967295 bytes=1280 share=0.125 rate=1.0E10 text=null "
        "address=0xABCDEF at=com.app.Handler.reject:11\n";
    assert_int_equal(strcspn(text, "\n") + 1, sizeof first - 1);
    assert_memory_equal(text, first, sizeof first - 1);
    assert_non_null(strstr(text, " text=\"\" "));
    assert_non_null(strstr(text, " text=\"a text that is long enough for the pool\" "));
    bbf_buf_free(&out);
    bbf_buf_free(&file);
}

/* The objects of --json, one a line. */
static void an_event_is_an_object_on_a_line(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT, out = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    size_t lines = 0;
    (void)state;

    sample_write(&file, 1, 4);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_print_json_lines(&out, &r, &all), 0);
    bbf_jfr_recording_close(&r);
    const char *text = bbf_buf_cstr(&out);
    static const char begin[] = "{\"type\": \"test.All\", \"values\": {\"startTime\": ";
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_int_equal(strncmp(line, begin, sizeof begin - 1), 0);
        assert_int_equal(memcmp(strchr(line, '\n') - 2, "}}", 2), 0);
        lines++;
    }
    assert_int_equal(lines, 4);
    bbf_buf_free(&out);
    bbf_buf_free(&file);
}

/* ---- values that are remembered ---- */

/* Every length, also padded, with bytes after it (which are read at once) and without. */
static void integers_of_each_length_are_read(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t value = bits == 0 ? 0 : UINT64_C(0xA5C3F0E1D2B49687) >> (64 - bits);
        for (size_t behind = 0; behind < 12; behind++) {
            struct bbf_buf out = BBF_BUF_INIT;
            bbf_jfr_put_long(&out, value);
            size_t len = out.len;
            bbf_buf_add(&out, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", behind);
            unsigned char *copy = malloc(out.len); /* the sanitizer sees a read behind it */
            assert_non_null(copy);
            memcpy(copy, out.data, out.len);
            struct bbf_jfr_cursor c = bbf_jfr_cursor(copy, out.len);
            assert_int_equal(bbf_jfr_get_long(&c), value);
            assert_false(c.bad);
            assert_ptr_equal(c.at, copy + len);
            free(copy);
            bbf_buf_free(&out);
        }
    }
    static const unsigned char padded[] = {0x85, 0x80, 0x80, 0x00, 1, 2, 3, 4, 5};
    struct bbf_jfr_cursor c = bbf_jfr_cursor(padded, sizeof padded);
    assert_int_equal(bbf_jfr_get_long(&c), 5);
    assert_ptr_equal(c.at, padded + 4);
    static const unsigned char endless[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    c = bbf_jfr_cursor(endless, sizeof endless);
    assert_true(bbf_jfr_get_long(&c) == UINT64_MAX && !c.bad);
    c = bbf_jfr_cursor(endless, sizeof endless - 1);
    assert_true(bbf_jfr_get_long(&c) == 0 && c.bad);
}

/* The constants of the first event of the chunk: texts and numbers of all that it names. */
static void walk(struct bbf_buf *to, const struct bbf_jfr_chunk *chunk,
                 const struct bbf_jfr_value *of, int depth)
{
    const struct bbf_jfr_value *value;
    struct bbf_jfr_parts parts;

    bbf_jfr_parts_begin(&parts, chunk, of);
    while ((value = bbf_jfr_parts_next(&parts)) != NULL) {
        bbf_buf_printf(to, "%d:%d:%lld:%s=", depth, (int)value->what, (long long)value->integer,
                       value->field->name);
        if (value->what == BBF_JFR_IS_TEXT)
            bbf_jfr_add_text(to, &value->text);
        bbf_buf_char(to, '\n');
        if (depth < 8)
            walk(to, chunk, value, depth + 1);
    }
}

static void walk_events(struct bbf_buf *to, const struct bbf_jfr_chunk *chunk)
{
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;

    while (bbf_jfr_next_event(chunk, &at, &event)) {
        struct bbf_jfr_value value = bbf_jfr_event_value(&event);
        if (event.type != NULL)
            walk(to, chunk, &value, 0);
    }
}

/* The same before constants are remembered, after, and where there is no room for them. */
static void remembered_constants_are_the_same(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT, first = BBF_BUF_INIT, second = BBF_BUF_INIT,
                   full = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    (void)state;

    sample_write(&file, 1, 5);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_next_chunk(&r), 0);
    walk_events(&first, &r.chunk);
    size_t bytes = r.chunk.constants.decoded->memory.bytes;
    assert_true(bytes > 0 && r.chunk.constants.decoded->refused == 0);
    walk_events(&second, &r.chunk);
    assert_int_equal(r.chunk.constants.decoded->memory.bytes, bytes);
    bbf_jfr_recording_close(&r);

    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_next_chunk(&r), 0);
    r.chunk.constants.decoded->memory.bytes = BBF_JFR_DECODED_MAX;
    walk_events(&full, &r.chunk);
    assert_int_equal(r.chunk.constants.decoded->memory.bytes, BBF_JFR_DECODED_MAX);
    assert_true(r.chunk.constants.decoded->refused > 0);
    bbf_jfr_recording_close(&r);

    assert_non_null(strstr(bbf_buf_cstr(&first), ":name=com/app/Handler\n"));
    assert_non_null(strstr(bbf_buf_cstr(&first), ":javaName=worker-1\n"));
    assert_string_equal(bbf_buf_cstr(&first), bbf_buf_cstr(&second));
    assert_string_equal(bbf_buf_cstr(&first), bbf_buf_cstr(&full));
    bbf_buf_free(&file);
    bbf_buf_free(&first);
    bbf_buf_free(&second);
    bbf_buf_free(&full);
}

/* An id below, above and between those that are there: a table and a search give the same. */
static void types_are_found_by_their_id(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    (void)state;

    sample_write(&file, 1, 1);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, true);
    assert_int_equal(bbf_jfr_next_chunk(&r), 0);
    struct bbf_jfr_metadata *m = &r.chunk.metadata;
    for (int search = 0; search < 2; search++) {
        assert_true(search == 1 || m->direct != NULL);
        for (size_t i = 0; i < m->n_types; i++)
            assert_ptr_equal(bbf_jfr_type_of(m, m->types[i].id), &m->types[i]);
        assert_null(bbf_jfr_type_of(m, m->by_id[0]->id - 1));
        assert_null(bbf_jfr_type_of(m, m->by_id[m->n_types - 1]->id + 1));
        assert_null(bbf_jfr_type_of(m, UINT64_MAX));
        m->direct = NULL;
    }
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_are_java_s),
        cmocka_unit_test(fixed_numbers_are_rounded_half_up),
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(times_have_the_offset_of_their_place),
        cmocka_unit_test(amounts_have_a_prefix),
        cmocka_unit_test(each_kind_of_field_is_read_back),
        cmocka_unit_test(filters_take_names_categories_and_times),
        cmocka_unit_test(names_cannot_reach_a_terminal_raw),
        cmocka_unit_test(an_event_is_a_line),
        cmocka_unit_test(an_event_is_an_object_on_a_line),
        cmocka_unit_test(damage_anywhere_ends_in_an_answer),
        cmocka_unit_test(integers_of_each_length_are_read),
        cmocka_unit_test(remembered_constants_are_the_same),
        cmocka_unit_test(types_are_found_by_their_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
