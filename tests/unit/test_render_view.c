/* link: bbf_render bbf_snapshot bbf_core */
/*
 * What the formats share of a snapshot: paths whole and by their ends, names joined, counts.
 */
#include "core/err.h"
#include "render/balance.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { STEPS = 30 };

/* A chain of A.m0 … A.m29, and B.other below A.m1. */
static struct bbf_snapshot *chain(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t node = -1, second = 0;
    char method[16];

    for (unsigned i = 0; i < STEPS; i++) {
        snprintf(method, sizeof method, "m%u", i);
        node = sample_step(s, node, "A", method);
        second = i == 1 ? node : second;
    }
    s->nodes[sample_step(s, second, "B", "other")].released_ = 5;
    s->nodes[node].leaked_ = 1;
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    return s;
}

static void a_path_begins_at_its_root(void **state)
{
    (void)state;
    struct bbf_snapshot *s = chain();
    struct bbf_view view;

    assert_int_equal(bbf_view_init(&view, s), BBF_OK);
    struct bbf_view_path path = bbf_view_path(&view, STEPS - 1);
    assert_int_equal(path.n, STEPS);
    assert_int_equal(path.left_out, 0);
    for (uint32_t i = 0; i < STEPS; i++)
        assert_int_equal(path.nodes[i], i);
    path = bbf_view_path(&view, STEPS);
    assert_int_equal(path.n, 3);
    assert_int_equal(path.nodes[1], 1);
    assert_int_equal(path.nodes[2], STEPS);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
}

static void the_ends_of_a_long_path_are_found(void **state)
{
    (void)state;
    struct bbf_snapshot *s = chain();
    struct bbf_view view;

    assert_int_equal(bbf_view_init(&view, s), BBF_OK);
    assert_int_equal(bbf_view_add_ends(&view, 2), BBF_OK);
    struct bbf_view_path path = bbf_view_ends(&view, STEPS - 1, 8, 3);
    static const uint32_t ends[] = {0, 1, STEPS - 3, STEPS - 2, STEPS - 1};
    assert_int_equal(path.n, 5);
    assert_int_equal(path.left_out, STEPS - 5);
    assert_memory_equal(path.nodes, ends, sizeof ends);
    path = bbf_view_ends(&view, 7, 8, 3); /* eight steps are whole */
    assert_int_equal(path.n, 8);
    assert_int_equal(path.left_out, 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(path.nodes[i], i);
    assert_int_equal(bbf_view_ends(&view, 8, 8, 3).left_out, 4);
    path = bbf_view_ends(&view, 0, 8, 3);
    assert_int_equal(path.n, 1);
    assert_int_equal(path.nodes[0], 0);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
}

static void names_are_joined(void **state)
{
    (void)state;
    struct bbf_snapshot *s = chain();
    struct bbf_view view;
    struct bbf_buf text = BBF_BUF_INIT;

    assert_int_equal(bbf_view_init(&view, s), BBF_OK);
    assert_int_equal(bbf_view_add_names(&view, '\0'), BBF_OK);
    struct bbf_view_path path = bbf_view_path(&view, STEPS - 1);
    bbf_view_join(&text, &view, path.nodes, 3, ";");
    bbf_buf_char(&text, '\n');
    bbf_view_join_ends(&text, &view, path.nodes, 4, 1, 2); /* one more than both ends: whole */
    bbf_buf_char(&text, '\n');
    bbf_view_join_ends(&text, &view, path.nodes, 5, 1, 2);
    assert_string_equal(bbf_buf_cstr(&text), "A.m0;A.m1;A.m2\n"
                                             "A.m0 -> A.m1 -> A.m2 -> A.m3\n"
                                             "A.m0 -> [2 steps] -> A.m3 -> A.m4");
    bbf_buf_free(&text);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
}

static void nodes_are_counted(void **state)
{
    (void)state;
    struct bbf_snapshot *s = chain();
    struct bbf_view view;

    assert_int_equal(bbf_view_init(&view, s), BBF_OK);
    const struct bbf_view_counts counts = bbf_view_count(&view);
    assert_int_equal(counts.roots, 1);
    assert_int_equal(counts.paths, 2);
    assert_int_equal(counts.leak_paths, 1);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
}

static void the_balance_is_in_the_order_of_the_path(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    uint32_t keep = sample_site(s, "K", "keep_retain", "()V", BBF_SITE_RETAIN);
    uint32_t drop = sample_site(s, "D", "drop_release", "()V", BBF_SITE_DECREMENT);
    uint32_t hold = sample_site(s, "H", "hold_retain", "()V", BBF_SITE_RETAIN);
    int64_t node = sample_step(s, -1, "A", "make");
    struct bbf_view view;
    struct bbf_buf text = BBF_BUF_INIT;

    node = sample_node(s, node, keep, BBF_REF_1_2);
    node = sample_node(s, node, drop, BBF_REF_1_2);
    node = sample_node(s, node, hold, BBF_REF_1_2);
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_int_equal(bbf_view_init(&view, s), BBF_OK);
    assert_int_equal(bbf_view_add_names(&view, '\0'), BBF_OK);
    assert_int_equal(bbf_balance_text(&text, &view, (uint32_t)node, BBF_SITE_RETAIN, "by ", ", "),
                     2);
    assert_int_equal(bbf_balance_text(&text, &view, (uint32_t)node, BBF_SITE_DECREMENT, "; ", "!"),
                     1);
    assert_int_equal(bbf_balance_text(&text, &view, 0, BBF_SITE_RETAIN, "none", "none"), 0);
    assert_string_equal(bbf_buf_cstr(&text), "by K.keep, H.hold; D.drop");
    bbf_buf_free(&text);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
}

/* Without a step that retains: a buffer that was released once too few. */
static void releases_alone_are_a_balance(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    uint32_t drop = sample_site(s, "D", "drop_release", "()V", BBF_SITE_DECREMENT);
    int64_t node = sample_node(s, sample_step(s, -1, "A", "make"), drop, BBF_REF_1_2);
    struct bbf_view view;
    struct bbf_buf text = BBF_BUF_INIT;

    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_int_equal(bbf_view_init(&view, s), BBF_OK);
    assert_int_equal(bbf_view_add_names(&view, '\0'), BBF_OK);
    assert_int_equal(bbf_balance_text(&text, &view, (uint32_t)node, BBF_SITE_DECREMENT, "by ", "!"),
                     1);
    assert_string_equal(bbf_buf_cstr(&text), "by D.drop");
    bbf_buf_free(&text);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
}

static void a_wrong_snapshot_has_no_view(void **state)
{
    (void)state;
    struct bbf_snapshot *s = chain();
    struct bbf_view view;

    s->nodes[3].parent = 17; /* behind its child */
    assert_int_equal(bbf_view_init(&view, s), BBF_EFORMAT);
    s->nodes[3].site = 1000;
    assert_int_equal(bbf_view_init(&view, s), BBF_EFORMAT);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_begins_at_its_root),
        cmocka_unit_test(the_ends_of_a_long_path_are_found),
        cmocka_unit_test(names_are_joined),
        cmocka_unit_test(nodes_are_counted),
        cmocka_unit_test(the_balance_is_in_the_order_of_the_path),
        cmocka_unit_test(releases_alone_are_a_balance),
        cmocka_unit_test(a_wrong_snapshot_has_no_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
