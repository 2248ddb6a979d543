/* link: bbf_render bbf_trie bbf_core */
/*
 * The small pieces of the text renders: bytes and percentages for a person, UTF-8, names.
 */
#include "core/buf.h"
#include "render/cost.h"
#include "render/names.h"
#include "render/text.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void bytes_are_rounded_to_tenths(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1075, "1.0 KiB"},
                 {1076, "1.1 KiB"},
                 {10496, "10.3 KiB"},
                 {1048524, "1023.9 KiB"},
                 {1048525, "1.0 MiB"},
                 {UINT64_C(1) << 30, "1.0 GiB"},
                 {(UINT64_C(1) << 40) + (UINT64_C(1) << 39), "1.5 TiB"},
                 {UINT64_C(1) << 50, "1.0 PiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        bbf_text_bytes(&text, cases[i].bytes);
        assert_string_equal(bbf_buf_cstr(&text), cases[i].text);
        bbf_buf_free(&text);
    }
}

static void percentages_are_rounded_and_never_overflow(void **state)
{
    (void)state;
    static const struct {
        uint64_t part, whole;
        const char *text;
    } cases[] = {{0, 0, "0.00%"},
                 {2, 3, "66.67%"},
                 {1, 3, "33.33%"},
                 {1, 1000000, "0.00%"},
                 {1, 20000, "0.01%"},
                 {7, 7, "100.00%"},
                 {UINT64_MAX / 2, UINT64_MAX, "50.00%"},
                 {UINT64_MAX, UINT64_MAX, "100.00%"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        bbf_text_percent(&text, cases[i].part, cases[i].whole);
        assert_string_equal(bbf_buf_cstr(&text), cases[i].text);
        bbf_buf_free(&text);
    }
}

/* RFC 3629: the first and last of each length, and one step beyond each. */
static void only_what_is_utf8_is_taken_as_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        uint32_t code;
    } cases[] = {
        {"\x7F", 1, 0x7F},
        {"\xC2\x80", 2, 0x80},
        {"\xDF\xBF", 2, 0x7FF},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xED\x9F\xBF", 3, 0xD7FF},
        {"\xEE\x80\x80", 3, 0xE000},
        {"\xEF\xBF\xBD", 3, 0xFFFD},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\x80", 1, 0xFFFD},             /* a continuation alone */
        {"\xC1\xBF", 1, 0xFFFD},         /* overlong */
        {"\xE0\x9F\xBF", 1, 0xFFFD},     /* overlong */
        {"\xF0\x8F\xBF\xBF", 1, 0xFFFD}, /* overlong */
        {"\xED\xA0\x80", 1, 0xFFFD},     /* a surrogate, as Java's modified UTF-8 has them */
        {"\xF4\x90\x80\x80", 1, 0xFFFD}, /* above U+10FFFF */
        {"\xF8\x88\x80\x80", 1, 0xFFFD},
        {"\xE2\x82", 1, 0xFFFD}, /* truncated */
        {"\xE2\x28\xA1", 1, 0xFFFD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t code = 0;
        const char *bytes = cases[i].bytes;
        assert_int_equal(bbf_utf8_next(bytes, bytes + strlen(bytes), &code), cases[i].len);
        assert_int_equal(code, cases[i].code);
    }
}

static void nothing_reaches_a_terminal_that_could_move_it(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    bbf_text_safe(&text,
                  "a|b\x1B[2J\r\n\x7F\xC2\x9B\xE2\x80\xA8\xE2\x81\xA6\xEF\xBB\xBF\xFF"
                  "c",
                  '|');
    assert_string_equal(bbf_buf_cstr(&text), "a\\u007cb\\u001b[2J\\u000d\\u000a\\u007f\\u009b"
                                             "\\u2028\\u2066\\ufeff\xEF\xBF\xBD"
                                             "c");
    bbf_buf_free(&text);
}

/* Names of classes `a`, `b` with method m, as they are shown beside each other. */
static void assert_names(const char *a, const char *shown_a, const char *b, const char *shown_b)
{
    struct bbf_snapshot *s = sample_new();
    struct bbf_names names;
    sample_site(s, a, "m", "()V", BBF_SITE_ENTER);
    sample_site(s, b, "m", "()V", BBF_SITE_ENTER);
    assert_int_equal(bbf_names_init(&names, s, '\0', false), 0);
    const struct bbf_name *n = names.names;
    assert_int_equal(n[0].len, strlen(shown_a));
    assert_memory_equal(n[0].text, shown_a, n[0].len);
    assert_int_equal(n[1].len, strlen(shown_b));
    assert_memory_equal(n[1].text, shown_b, n[1].len);
    assert_int_equal(n[0].rank < n[1].rank, strcmp(shown_a, shown_b) < 0);
    bbf_names_free(&names);
    bbf_snapshot_free(s);
}

static void classes_of_one_simple_name_stay_apart(void **state)
{
    (void)state;
    assert_names("a.b.C", "C.m", "a.b.D", "D.m");
    assert_names("a.x.C", "x.C.m", "a.y.C", "y.C.m");
    assert_names("a.x.C", "a.x.C.m", "b.x.C", "b.x.C.m");
    assert_names("x.C", "x.C.m", "a.x.C", "a.x.C.m");
    assert_names("C", "C.m", "x.C", "x.C.m");
    assert_names("a.b.C$D", "C$D.m", "a.b.C", "C.m");
    assert_names("a.b.C", "C.m", "", "m");
    assert_names(".", "..m", "..", "...m");
}

/* The names of a sample, with or without lines. */
static void assert_sample_names(bool lines, const char *const *want, size_t n)
{
    struct bbf_snapshot *s = sample_made();
    struct bbf_names names;
    assert_int_equal(bbf_names_init(&names, s, '\0', lines), 0);
    assert_int_equal(s->n_sites, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(names.names[i].len, strlen(want[i]));
        assert_memory_equal(names.names[i].text, want[i], strlen(want[i]));
    }
    bbf_names_free(&names);
    bbf_snapshot_free(s);
}

static void what_a_compiler_named_is_the_method_around_it(void **state)
{
    static const char *const plain[] = {"PooledByteBufAllocator.directBuffer",
                                        "Audit.record",
                                        "Audit.record (lambda, line 26: Audit.lambda$record$0)",
                                        "Audit.record (lambda, line 26: Audit.lambda$record$1)",
                                        "Audit.record_return (lambda, line 27)",
                                        "Audit.record (onNext, line 31)",
                                        "Audit.store (coroutine, line 40)",
                                        "Audit.plain"};
    static const char *const lined[] = {"PooledByteBufAllocator.directBuffer",
                                        "Audit.record:20",
                                        "Audit.record (lambda, line 26: Audit.lambda$record$0)",
                                        "Audit.record (lambda, line 26: Audit.lambda$record$1)",
                                        "Audit.record_return (lambda, line 27)",
                                        "Audit.record (onNext, line 31)",
                                        "Audit.store (coroutine, line 40)",
                                        "Audit.plain"};
    (void)state;
    assert_sample_names(false, plain, sizeof plain / sizeof *plain);
    assert_sample_names(true, lined, sizeof lined / sizeof *lined);
}

/* Redacted names keep the order that the names had. */
static void an_order_goes_before_the_text(void **state)
{
    struct bbf_snapshot *s = sample_new();
    struct bbf_names names;
    (void)state;
    sample_site(s, "a.B", "m", "()V", BBF_SITE_ENTER);
    sample_site(s, "a.A", "m", "()V", BBF_SITE_ENTER);
    s->sites[0].order = 1;
    s->sites[1].order = 2;
    assert_int_equal(bbf_names_init(&names, s, '\0', false), 0);
    assert_int_equal(names.names[0].rank, 0);
    assert_int_equal(names.names[1].rank, 1);
    bbf_names_free(&names);
    bbf_snapshot_free(s);
}

static void full_names_are_qualified(void **state)
{
    (void)state;
    static const struct {
        const char *class_name, *method, *text;
    } cases[] = {{"a.B$C", "<init>", "a.B$C.<init>"},
                 {"", "?raced", "?raced"},
                 {"a.B", "?first-seen", "?first-seen a.B"},
                 {"", "x", "x"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_snapshot *s = sample_new();
        struct bbf_buf text = BBF_BUF_INIT;
        sample_site(s, cases[i].class_name, cases[i].method, "", BBF_SITE_ROOT);
        bbf_site_full_name(&text, &s->sites[0]);
        assert_string_equal(bbf_buf_cstr(&text), cases[i].text);
        bbf_buf_free(&text);
        bbf_snapshot_free(s);
    }
}

static struct bbf_snap_cost_row cost_row(uint64_t elapsed_ms, uint64_t process_us,
                                         uint64_t overhead_us)
{
    return (struct bbf_snap_cost_row){.elapsed_ns_ = elapsed_ms * 1000000,
                                      .process_ns_ = process_us * 1000,
                                      .estimated_overhead_ns_ = overhead_us * 1000};
}

/* A share is shown if the process worked under the current settings, for the last such interval
 * first. */
static void a_share_is_told_where_there_was_work(void **state)
{
    const struct bbf_snap_cost_row none = {0}, idle = cost_row(1000, 1300, 420),
                                   work = cost_row(1000, 800000, 8000),
                                   start = cost_row(300, 400000, 100000),
                                   rest = cost_row(3600000, 900000, 90000),
                                   day = cost_row(100000, 50000000, 4000000);
    const struct {
        struct bbf_snap_cost_row interval, busy, start, change;
        uint64_t ago_s;
        const char *line;
    } table[] = {
        {idle, none, rest, none, 0,
         "at least 90.0 ms of 900.0 ms of processor time since bbflow came, too idle for a share"},
        {none, none, start, none, 0,
         "at least 100.0 ms of 400.0 ms of processor time since bbflow came, too short for a "
         "share"},
        {work, work, day, none, 0,
         "at least 1.00% of 800.0 ms of processor time in the last busy 1.0 s; at least 8.00% of "
         "50.0 s since bbflow came"},
        {idle, work, day, none, 17,
         "at least 1.00% of 800.0 ms of processor time in the last busy 1.0 s, 17.0 s ago; at "
         "least 8.00% of 50.0 s since bbflow came"},
        {idle, work, day, rest, 17,
         "at least 1.00% of 800.0 ms of processor time in the last busy 1.0 s, 17.0 s ago; at "
         "least 90.0 ms of 900.0 ms since the settings changed, too idle for a share"},
        {work, none, day, rest, 0, /* that interval was before the change */
         "at least 90.0 ms of 900.0 ms of processor time since the settings changed, too idle for "
         "a share"},
        /* A document of an older bbflow. */
        {work, none, day, none, 0,
         "at least 1.00% of 800.0 ms of processor time in the last busy 1.0 s; at least 8.00% of "
         "50.0 s since bbflow came"}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct bbf_snap_cost cost = {.measured = true,
                                           .interval = table[i].interval,
                                           .busy = table[i].busy,
                                           .since_start = table[i].start,
                                           .since_change = table[i].change,
                                           .busy_ago_ns = table[i].ago_s * 1000000000};
        struct bbf_buf text = BBF_BUF_INIT;
        char expected[400];
        snprintf(expected, sizeof expected, "Cost of bbflow: %s\n", table[i].line);
        bbf_cost_line(&text, &cost);
        assert_string_equal(bbf_buf_cstr(&text), expected);
        bbf_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_rounded_to_tenths),
        cmocka_unit_test(percentages_are_rounded_and_never_overflow),
        cmocka_unit_test(only_what_is_utf8_is_taken_as_utf8),
        cmocka_unit_test(nothing_reaches_a_terminal_that_could_move_it),
        cmocka_unit_test(classes_of_one_simple_name_stay_apart),
        cmocka_unit_test(what_a_compiler_named_is_the_method_around_it),
        cmocka_unit_test(an_order_goes_before_the_text),
        cmocka_unit_test(full_names_are_qualified),
        cmocka_unit_test(a_share_is_told_where_there_was_work),
    };
    return cmocka_run_group_tests_name("render_text", tests, NULL, NULL);
}
