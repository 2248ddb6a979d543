/* link: bbf_trie bbf_core */
/* trie/after_release.c: rows by place of the release, class and site; what has no room; resets,
 * also while another thread adds. */
#include <pthread.h>

#include "tests/unit/trie_twin.h"
#include "trie/after_release.h"
#include "trie/reset.h"

enum { TID = 90 };

/* A buffer that was released at its root, by thread 77. */
static uint64_t released(struct walk *w, struct twin_object *o)
{
    uint64_t handle = o->bbf;
    twin_release(w->me, o, true);
    return handle;
}

static void add(struct walk *w, uint64_t handle, uint32_t site)
{
    bbf_after_release_add(w->t, handle, site, w->direct_class, TID);
}

static void assert_row(const struct bbf_after *row, uint32_t node, uint32_t site, uint64_t count)
{
    assert_int_equal(row->node, node);
    assert_int_equal(row->site, site);
    assert_int_equal(row->count, count);
    assert_int_equal(row->used_tid, TID);
    assert_false(*row->posted);
}

static const struct bbf_after *row_at(const struct bbf_after *rows, size_t n, uint32_t site)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].site == site)
            return &rows[i];
    fail_msg("no row of site %u", site);
    return NULL;
}

static void a_step_is_counted_by_method_and_by_where_the_release_was(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_after rows[BBF_AFTER_ROWS];
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    (void)state;
    twin_step(w->me, o, w->a);
    uint32_t node = walk_node(w, o);
    uint64_t handle = released(w, o);
    assert_int_equal(bbf_after_release_rows(w->t, rows), 0);
    add(w, handle, w->a);
    add(w, handle, w->b);
    add(w, handle, w->b);
    add(w, BBF_WORD(9, BBF_L_FIRST_RECORD), w->root); /* released too long ago */
    assert_int_equal(bbf_after_release_rows(w->t, rows), 3);
    assert_row(row_at(rows, 3, w->a), node, w->a, 1);
    assert_row(row_at(rows, 3, w->b), node, w->b, 2);
    assert_int_equal(row_at(rows, 3, w->b)->class_number, w->direct_class);
    assert_int_equal(row_at(rows, 3, w->b)->released_tid, 77);
    assert_row(row_at(rows, 3, w->root), 0, w->root, 1);
    assert_int_equal(row_at(rows, 3, w->root)->released_tid, 0);
    assert_int_equal(bbf_after_release_sum(w->t), 4);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.steps_after_release_, 4);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void a_recycled_object_has_its_own_release(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_after rows[BBF_AFTER_ROWS];
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    (void)state;
    for (int life = 0; life < 3; life++) { /* from the second on its closes are plain */
        if (life > 0)
            twin_root(w->me, o, 64, w->root);
        twin_step(w->me, o, life == 2 ? w->b : w->a);
        uint32_t node = walk_node(w, o);
        add(w, released(w, o), w->root);
        size_t n = bbf_after_release_rows(w->t, rows);
        assert_int_equal(n, life == 2 ? 2 : 1);
        bool found = false;
        for (size_t i = 0; i < n; i++)
            found = found || (rows[i].node == node && rows[i].count == (life == 1 ? 2 : 1));
        assert_true(found);
    }
    twin_drop(w->heap, o);
    walk_free(w);
}

static void internal_sites_are_not_counted(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    struct bbf_site like = {.class_name = (char *)"io/netty/util/Recycler",
                            .method = (char *)"recycle",
                            .descriptor = (char *)"",
                            .kind = BBF_SITE_ENTER,
                            .memory = BBF_MEM_UNKNOWN,
                            .internal = true};
    uint64_t handle = released(w, o);
    (void)state;
    add(w, handle, bbf_site_intern(w->t, &like));
    add(w, handle, BBF_L_MAX_SITES - 1); /* of no class */
    assert_int_equal(bbf_after_release_sum(w->t), 0);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void what_has_no_row_is_counted(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_after rows[BBF_AFTER_ROWS];
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    uint64_t handle = released(w, o), in_rows = 0;
    char name[16];
    (void)state;
    for (int i = 0; i < 2 * BBF_AFTER_ROWS; i++) {
        snprintf(name, sizeof name, "m%d", i);
        add(w, handle, sample_site(w->t, BBF_SITE_ENTER, name));
    }
    size_t n = bbf_after_release_rows(w->t, rows);
    assert_true(n > BBF_AFTER_ROWS * 9 / 10 && n <= BBF_AFTER_ROWS);
    for (size_t i = 0; i < n; i++)
        in_rows += rows[i].count;
    assert_int_equal(in_rows, n);
    assert_int_equal(bbf_after_release_sum(w->t), 2 * BBF_AFTER_ROWS);
    twin_drop(w->heap, o);
    walk_free(w);
}

/* Of a buffer whose record is another's the ends of all threads are searched. */
static void searches_are_limited_for_each_second(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_after rows[BBF_AFTER_ROWS];
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    uint32_t node = walk_node(w, o);
    uint64_t handle = released(w, o);
    (void)state;
    for (int i = 0; i < BBF_AFTER_SEARCHES + 5; i++)
        add(w, handle, w->a);
    assert_int_equal(bbf_after_release_rows(w->t, rows), 2);
    uint64_t known = rows[0].node == node ? rows[0].count : rows[1].count;
    assert_int_equal(known, BBF_AFTER_SEARCHES);
    bbf_tracker_set_now(w->t, 1);
    add(w, handle, w->a);
    assert_int_equal(bbf_after_release_rows(w->t, rows), 2);
    known = rows[0].node == node ? rows[0].count : rows[1].count;
    assert_int_equal(known, BBF_AFTER_SEARCHES + 1);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void a_reset_begins_at_zero_and_its_nodes_are_not_named(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_after rows[BBF_AFTER_ROWS];
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    uint64_t handle = released(w, o);
    (void)state;
    for (int i = 0; i < 3; i++) { /* both tables, and the first again */
        add(w, handle, w->a);
        assert_int_equal(bbf_after_release_rows(w->t, rows), 1);
        assert_int_equal(rows[0].count, 1);
        assert_false(*rows[0].posted);
        *rows[0].posted = true;
        assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
        assert_int_equal(bbf_after_release_rows(w->t, rows), 0);
        assert_int_equal(bbf_after_release_sum(w->t), 0);
    }
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    add(w, handle, w->a);
    assert_int_equal(bbf_after_release_rows(w->t, rows), 1);
    assert_row(&rows[0], 0, w->a, 1); /* its node is of the old range */
    twin_drop(w->heap, o);
    walk_free(w);
}

/* ---- beside a reset ---- */

enum { ADDS = 40000 };

struct adder {
    struct walk *w;
    uint64_t handle;
};

static void *adds(void *arg)
{
    const struct adder *a = arg;
    for (int i = 0; i < ADDS; i++)
        add(a->w, a->handle, i % 2 == 0 ? a->w->a : a->w->b);
    return NULL;
}

static void what_threads_add_beside_a_reset_is_counted_once(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_after rows[BBF_AFTER_ROWS];
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    struct adder adder = {w, released(w, o)};
    pthread_t threads[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, adds, &adder), 0);
    for (int i = 0; i < 50; i++)
        bbf_after_release_reset(w->t);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint64_t sum = bbf_after_release_sum(w->t), in_rows = 0;
    size_t n = bbf_after_release_rows(w->t, rows);
    for (size_t i = 0; i < n; i++)
        in_rows += rows[i].count;
    assert_int_equal(in_rows, sum);
    assert_true(sum <= 2 * ADDS);
    bbf_after_release_reset(w->t);
    assert_int_equal(bbf_after_release_sum(w->t), 0);
    bbf_after_release_reset(w->t); /* nothing was added to the other table after it was emptied */
    assert_int_equal(bbf_after_release_sum(w->t), 0);
    twin_drop(w->heap, o);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_counted_by_method_and_by_where_the_release_was),
        cmocka_unit_test(a_recycled_object_has_its_own_release),
        cmocka_unit_test(internal_sites_are_not_counted),
        cmocka_unit_test(what_has_no_row_is_counted),
        cmocka_unit_test(searches_are_limited_for_each_second),
        cmocka_unit_test(a_reset_begins_at_zero_and_its_nodes_are_not_named),
        cmocka_unit_test(what_threads_add_beside_a_reset_is_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
