/* link: bbf_render bbf_snapshot bbf_core */
/*
 * What stock clients receive of the leaks: a line each, a table of the largest.
 */
#include "core/err.h"
#include "render/stock.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void assert_leaks(const struct bbf_snapshot *s, const char *expected)
{
    struct bbf_buf text = BBF_BUF_INIT;

    assert_int_equal(bbf_stock_leaks(&text, s), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&text), expected);
    bbf_buf_free(&text);
}

static struct bbf_snapshot *two_leaks(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.A", "directBuffer");
    int64_t read = sample_step(s, root, "com.\033[31mEvil", "re\nad");
    int64_t seen = sample_step(s, -1, "", "?first-seen A");

    sample_leak(s, read, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 3, 300, 7);
    sample_leak(s, seen, BBF_VERDICT_AGED, BBF_MEM_HEAP, 1, 100, 9);
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    return s;
}

static void each_leak_has_a_line(void **state)
{
    (void)state;
    struct bbf_snapshot *s = two_leaks();

    assert_leaks(s, "LEAK direct: 3 buffers, 300 bytes, oldest 7 s: io.netty.buffer.A.directBuffer "
                    "→ com.\\u001b[31mEvil.re\\u000aad\n"
                    "AGED heap: 1 buffer, 100 bytes, oldest 9 s: ?first-seen A\n");
    bbf_snapshot_free(s);
    s = sample_new();
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_leaks(s, "no leaks\n");
    bbf_snapshot_free(s);
}

/* 64 steps, and that there are more. */
static void of_a_long_path_the_end_is_shown(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    struct bbf_buf expected = BBF_BUF_INIT;
    int64_t node = -1;
    char method[16];

    bbf_buf_str(&expected, "LEAK heap: 1 buffer, 8 bytes, oldest 1 s: … → ");
    for (unsigned i = 0; i < 70; i++) {
        snprintf(method, sizeof method, "m%u", i);
        node = sample_step(s, node, "A", method);
        if (i >= 6)
            bbf_buf_printf(&expected, "A.m%u%s", i, i < 69 ? " → " : "\n");
    }
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 8, 1);
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_leaks(s, bbf_buf_cstr(&expected));
    bbf_buf_free(&expected);
    bbf_snapshot_free(s);
}

static void each_node_has_a_line_with_its_parent(void **state)
{
    (void)state;
    struct bbf_snapshot *s = two_leaks();
    struct bbf_buf text = BBF_BUF_INIT;

    assert_int_equal(bbf_stock_nodes(&text, s), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&text), "-1 1 3 0 0 io.netty.buffer.A.directBuffer\n"
                                             "0 1 3 0 3 com.\\u001b[31mEvil.re\\u000aad\n"
                                             "-1 1 1 0 0 ?first-seen A\n");
    bbf_buf_free(&text);
    s->nodes[1].parent = 4711;
    assert_int_equal(bbf_stock_nodes(&text, s), BBF_EFORMAT);
    bbf_buf_free(&text);
    bbf_snapshot_free(s);
}

static void the_table_has_the_largest(void **state)
{
    (void)state;
    struct bbf_snapshot *s = two_leaks();
    struct bbf_stock_table table;

    assert_int_equal(bbf_stock_table_init(&table, s), BBF_OK);
    assert_int_equal(table.n, 2);
    assert_string_equal(table.rows[0].verdict, "LEAK");
    assert_string_equal(table.rows[0].memory, "direct");
    assert_int_equal(table.rows[0].buffers, 3);
    assert_int_equal(table.rows[0].bytes, 300);
    assert_int_equal(table.rows[0].oldest_seconds, 7);
    assert_string_equal(table.rows[0].last_step, "com.\\u001b[31mEvil.re\\u000aad");
    assert_string_equal(table.rows[1].verdict, "AGED");
    assert_string_equal(table.rows[1].last_step, "?first-seen A");
    bbf_stock_table_free(&table);
    bbf_snapshot_free(s);
    s = sample_wide();
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_int_equal(bbf_stock_table_init(&table, s), BBF_OK);
    assert_int_equal(table.n, s->n_leaks < BBF_STOCK_ROWS ? s->n_leaks : BBF_STOCK_ROWS);
    bbf_stock_table_free(&table);
    bbf_snapshot_free(s);
}

static void a_wrong_snapshot_is_refused(void **state)
{
    (void)state;
    struct bbf_snapshot *s = two_leaks();
    struct bbf_stock_table table;
    struct bbf_buf text = BBF_BUF_INIT;

    s->leaks[0].node = 77;
    assert_int_equal(bbf_stock_leaks(&text, s), BBF_EFORMAT);
    assert_int_equal(bbf_stock_table_init(&table, s), BBF_EFORMAT);
    assert_int_equal(text.len, 0);
    bbf_snapshot_free(s);
}

static void the_java_trackers_header_has_its_counts(void **state)
{
    (void)state;
    struct bbf_snapshot *s = two_leaks();
    struct bbf_buf text = BBF_BUF_INIT;
    const struct bbf_stock_numbers n = bbf_stock_count(s);

    assert_int_equal(n.roots, 2);
    assert_int_equal(n.leak_paths, 1); /* an aged one is not lost */
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    tzset();
    bbf_stock_tracking_status(&text, s, 1763737516);
    assert_string_equal(bbf_buf_cstr(&text), "=== ByteBuf Flow Tracking Status ===\n"
                                             "Time: Fri Nov 21 15:05:16 UTC 2025\n"
                                             "Active Flows: 1\nRoot Methods: 2\n\n");
    bbf_buf_free(&text);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_java_trackers_header_has_its_counts),
        cmocka_unit_test(each_leak_has_a_line),
        cmocka_unit_test(of_a_long_path_the_end_is_shown),
        cmocka_unit_test(each_node_has_a_line_with_its_parent),
        cmocka_unit_test(the_table_has_the_largest),
        cmocka_unit_test(a_wrong_snapshot_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
