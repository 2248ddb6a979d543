/* link: bbf_core */
/* core/buf.h and core/err.h: growth, formatted text at the edges of the small path, sticky failure.
 */
#include "core/buf.h"
#include "core/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_buffer_is_an_empty_text(void **state)
{
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    assert_string_equal(bbf_buf_cstr(&buf), "");
    assert_int_equal(buf.len, 0);
    bbf_buf_add(&buf, NULL, 0);
    bbf_buf_str(&buf, "");
    assert_int_equal(buf.len, 0);
    bbf_buf_free(&buf);
    bbf_buf_free(&buf);
}

static void bytes_are_kept_in_order_while_it_grows(void **state)
{
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        bbf_buf_char(&buf, (char)(i & 0x7f));
        bbf_buf_add(&buf, "\0y", 2);
    }
    assert_int_equal(buf.len, 300000);
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(buf.data[3 * i], (char)(i & 0x7f));
        assert_int_equal(buf.data[3 * i + 1], '\0');
        assert_int_equal(buf.data[3 * i + 2], 'y');
    }
    assert_true(buf.cap >= buf.len);
    bbf_buf_free(&buf);
    assert_null(buf.data);
}

static void the_terminator_does_not_count(void **state)
{
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    /* 256 is the first capacity: the NUL needs a byte of its own there. */
    for (int i = 0; i < 256; i++)
        bbf_buf_char(&buf, 'a');
    assert_int_equal(strlen(bbf_buf_cstr(&buf)), 256);
    assert_int_equal(buf.len, 256);
    bbf_buf_str(&buf, "tail");
    assert_string_equal(bbf_buf_cstr(&buf) + 254, "aatail");
    bbf_buf_free(&buf);
}

static void printf_at_every_length_around_its_small_path(void **state)
{
    (void)state;
    for (int width = 250; width < 262; width++) {
        struct bbf_buf buf = BBF_BUF_INIT;
        bbf_buf_printf(&buf, "<%*d>%s", width, 7, "end");
        assert_int_equal(buf.len, width + 5);
        assert_int_equal(strlen(bbf_buf_cstr(&buf)), width + 5);
        assert_string_equal(bbf_buf_cstr(&buf) + width - 1, " 7>end");
        bbf_buf_free(&buf);
    }
}

static void reserved_bytes_count_only_when_they_are_counted(void **state)
{
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    char *to = bbf_buf_reserve(&buf, 1000);
    assert_non_null(to);
    assert_int_equal(buf.len, 0);
    memset(to, 'x', 1000);
    buf.len += 10;
    bbf_buf_char(&buf, 'y');
    assert_string_equal(bbf_buf_cstr(&buf), "xxxxxxxxxxy");
    bbf_buf_free(&buf);
}

static void failure_is_sticky_until_freed(void **state)
{
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    bbf_buf_str(&buf, "kept");
    assert_null(bbf_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    bbf_buf_str(&buf, "not added");
    bbf_buf_printf(&buf, "%d", 5);
    assert_null(bbf_buf_reserve(&buf, 1));
    assert_int_equal(buf.len, 4);
    assert_string_equal(bbf_buf_cstr(&buf), "");
    bbf_buf_free(&buf);
    assert_false(buf.failed);
    bbf_buf_str(&buf, "again");
    assert_string_equal(bbf_buf_cstr(&buf), "again");
    bbf_buf_free(&buf);
}

struct sink {
    size_t bytes, calls, refuse_from;
    unsigned char next; /* what the next byte must be */
};

static int take(void *ctx, const char *data, size_t len)
{
    struct sink *sink = ctx;
    if (++sink->calls == sink->refuse_from)
        return BBF_EIO;
    for (size_t i = 0; i < len; i++)
        assert_int_equal((unsigned char)data[i], sink->next++);
    sink->bytes += len;
    return BBF_OK;
}

static void what_is_handed_on_leaves_no_trace(void **state)
{
    enum { BYTES = 5 * BBF_BUF_PIECE + 77 };
    struct sink sink = {0};
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    buf.flush = take;
    buf.ctx = &sink;
    for (size_t i = 0; i < BYTES; i++)
        bbf_buf_char(&buf, (char)(unsigned char)i);
    assert_int_equal(sink.calls, 5);
    assert_true(buf.cap <= 2 * BBF_BUF_PIECE);
    assert_true(bbf_buf_flush(&buf));
    assert_true(bbf_buf_flush(&buf)); /* nothing is left: not called again */
    assert_int_equal(sink.calls, 6);
    assert_int_equal(sink.bytes, BYTES);
    bbf_buf_free(&buf);
}

static void a_refused_piece_is_a_failure(void **state)
{
    struct sink sink = {.refuse_from = 2};
    struct bbf_buf buf = BBF_BUF_INIT;
    (void)state;
    buf.flush = take;
    buf.ctx = &sink;
    for (size_t i = 0; i < 4 * BBF_BUF_PIECE; i++)
        bbf_buf_char(&buf, (char)(unsigned char)i);
    assert_true(buf.failed);
    assert_false(bbf_buf_flush(&buf));
    assert_int_equal(sink.calls, 2); /* never asked again */
    bbf_buf_free(&buf);
}

static void every_error_has_a_text_of_its_own(void **state)
{
    static const int codes[] = {
#define XX(name, value, text) value,
        BBF_ERR_MAP(XX)
#undef XX
    };
    (void)state;
    assert_string_equal(bbf_strerror(BBF_OK), "ok");
    assert_string_equal(bbf_strerror(BBF_EPERMISSION), "permission denied");
    assert_string_equal(bbf_strerror(7), "unknown error");
    assert_string_equal(bbf_strerror(-1000), "unknown error");
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_true(codes[i] < 0);
        assert_string_not_equal(bbf_strerror(codes[i]), "unknown error");
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(bbf_strerror(codes[i]), bbf_strerror(codes[k]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_text),
        cmocka_unit_test(bytes_are_kept_in_order_while_it_grows),
        cmocka_unit_test(the_terminator_does_not_count),
        cmocka_unit_test(printf_at_every_length_around_its_small_path),
        cmocka_unit_test(reserved_bytes_count_only_when_they_are_counted),
        cmocka_unit_test(failure_is_sticky_until_freed),
        cmocka_unit_test(what_is_handed_on_leaves_no_trace),
        cmocka_unit_test(a_refused_piece_is_a_failure),
        cmocka_unit_test(every_error_has_a_text_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
