/* link: bbf_trie bbf_core */
/*
 * trie/snapshot: the rows add up, leaks are complete and in order, and what does not hang together
 * is refused.
 */
#include "core/err.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void every_sample_adds_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct bbf_snapshot *s = samples[i].make();
        uint64_t roots = 0;
        assert_int_equal(bbf_snapshot_finish(s), 0);
        for (size_t n = 0; n < s->n_nodes; n++)
            roots += s->nodes[n].parent == -1 ? s->nodes[n].passed_ : 0;
        const struct bbf_snap_totals *t = &s->totals;
        assert_int_equal(t->lives_, roots);
        assert_int_equal(t->lives_, t->released_ + t->live_ + t->leaked_ + t->held_ + t->harmless_ +
                                        t->unknown_);
        bbf_snapshot_free(s);
    }
}

static void passed_counts_a_node_and_all_below_it(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_interior();
    assert_int_equal(bbf_snapshot_finish(s), 0);
    static const uint64_t passed[] = {1048, 1045, 1002, 1000};
    assert_int_equal(s->n_nodes, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s->nodes[i].passed_, passed[i]);
    assert_int_equal(s->totals.leaked_, 46);
    assert_int_equal(s->totals.leaked_bytes_, 41 * 256 + 100 + (3 << 20));
    assert_int_equal(s->totals.live_bytes_, 512);
    bbf_snapshot_free(s);
}

/* finish() starts from zero each time: what was there before does not count twice. */
static void finishing_twice_changes_nothing(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_verdicts();
    assert_int_equal(bbf_snapshot_finish(s), 0);
    struct bbf_snap_totals first = s->totals;
    size_t leaks = s->n_leaks;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_memory_equal(&first, &s->totals, sizeof first);
    assert_int_equal(s->n_leaks, leaks);
    bbf_snapshot_free(s);
}

static void leaks_come_by_bytes_then_lives_then_node(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t node[4];
    for (int i = 0; i < 4; i++)
        node[i] = sample_step(s, -1, "a.B", "c");
    sample_leak(s, node[3], BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 10, 0);
    sample_leak(s, node[2], BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 10, 0);
    sample_leak(s, node[1], BBF_VERDICT_AGED, BBF_MEM_HEAP, 2, 10, 0);
    sample_leak(s, node[0], BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 11, 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(s->leaks[i].node, i);
    bbf_snapshot_free(s);
}

static void leaks_that_no_row_names_get_one(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_verdicts();
    assert_int_equal(s->n_leaks, 5);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_leaks, 7);
    assert_int_equal(s->leaks[0].memory, BBF_MEM_UNKNOWN);
    assert_int_equal(s->leaks[0].verdict, BBF_VERDICT_LEAKED);
    assert_int_equal(s->leaks[0].count, 5);
    assert_int_equal(s->leaks[0].bytes, 500);
    assert_int_equal(s->leaks[6].verdict, BBF_VERDICT_AGED);
    assert_int_equal(s->leaks[6].count, 6);
    bbf_snapshot_free(s);
}

static void leak_rows_of_one_kind_become_one(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t node = sample_step(s, -1, "a.B", "c");
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 10, 5);
    sample_opened(s, 1, 1, 5, BBF_LOST_UNKNOWN);
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 10, 5);
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 2, 30, 9);
    sample_opened(s, 2, 2, 8, BBF_LOST_UNKNOWN);
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_COMPOSITE, 0, 0, 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_leaks, 2);
    assert_int_equal(s->leaks[0].count, 3);
    assert_int_equal(s->leaks[0].bytes, 40);
    assert_int_equal(s->leaks[0].oldest_seconds, 9);
    assert_int_equal(s->leaks[0].p50_seconds, 8);
    assert_int_equal(s->leaks[0].thread, 2);
    assert_int_equal(s->leaks[0].thread_count, 2);
    assert_int_equal(s->leaks[1].memory, BBF_MEM_DIRECT);
    bbf_snapshot_free(s);
}

static void refuse(struct bbf_snapshot *s)
{
    assert_int_equal(bbf_snapshot_finish(s), BBF_EFORMAT);
    bbf_snapshot_free(s);
}

static void what_does_not_hang_together_is_refused(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_interior();
    s->nodes[1].parent = s->nodes[2].id; /* a child before its parent */
    refuse(s);
    s = sample_interior();
    s->nodes[1].parent = s->nodes[1].id; /* its own parent */
    refuse(s);
    s = sample_interior();
    s->nodes[1].parent = 4; /* no such node */
    refuse(s);
    s = sample_interior();
    s->nodes[1].parent = -2;
    refuse(s);
    s = sample_interior();
    s->nodes[2].id = s->nodes[0].id;
    refuse(s);
    s = sample_interior();
    s->nodes[1].site = (uint32_t)s->n_sites;
    refuse(s);
    s = sample_interior();
    s->nodes[1].ref = BBF_REF_6 + 1;
    refuse(s);
    s = sample_interior();
    s->leaks[0].node = (uint32_t)s->n_nodes;
    refuse(s);
    s = sample_interior();
    free(s->sites[0].method);
    s->sites[0].method = NULL;
    refuse(s);
}

/* Both forms of the index: ids close together, and ids far apart. */
static void ids_are_found_close_together_and_far_apart(void **state)
{
    (void)state;
    static const uint32_t near[] = {9, 7, 8, 12}, far[] = {UINT32_MAX, 0, 1u << 20, 5};
    const uint32_t *const sets[] = {near, far};

    for (size_t set = 0; set < 2; set++) {
        struct bbf_id_index index;
        uint32_t at;
        size_t bad;
        assert_int_equal(bbf_id_index_init(&index, sets[set], 4, sizeof near[0], &bad), 0);
        assert_int_equal(index.direct != NULL, set == 0);
        for (uint32_t i = 0; i < 4; i++) {
            assert_true(bbf_id_index_find(&index, sets[set][i], &at));
            assert_int_equal(at, i);
        }
        assert_false(bbf_id_index_find(&index, 11, &at));
        assert_false(bbf_id_index_find(&index, 6, &at));
        assert_false(bbf_id_index_find(&index, UINT64_C(1) << 32, &at));
        bbf_id_index_free(&index);
    }
}

static void an_id_that_is_there_twice_is_named(void **state)
{
    (void)state;
    static const uint32_t near[] = {9, 7, 8, 7}, far[] = {UINT32_MAX, 5, 1u << 20, 5};
    struct bbf_id_index index;
    size_t bad = 0;

    assert_int_equal(bbf_id_index_init(&index, near, 4, sizeof near[0], &bad), BBF_EFORMAT);
    assert_int_equal(bad, 3);
    bad = 0;
    assert_int_equal(bbf_id_index_init(&index, far, 4, sizeof far[0], &bad), BBF_EFORMAT);
    assert_int_equal(bad, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_adds_up),
        cmocka_unit_test(passed_counts_a_node_and_all_below_it),
        cmocka_unit_test(finishing_twice_changes_nothing),
        cmocka_unit_test(leaks_come_by_bytes_then_lives_then_node),
        cmocka_unit_test(leaks_that_no_row_names_get_one),
        cmocka_unit_test(leak_rows_of_one_kind_become_one),
        cmocka_unit_test(what_does_not_hang_together_is_refused),
        cmocka_unit_test(ids_are_found_close_together_and_far_apart),
        cmocka_unit_test(an_id_that_is_there_twice_is_named),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
