/* link: bbf_trie bbf_core */
/*
 * trie/usage.c: what lives take over time, by path; what of it was written; resets, also while
 * other threads add. The clock is the test's.
 */
#include <pthread.h>
#include <string.h>

#include "tests/unit/trie_twin.h"

enum { SIZE = 64, WRITTEN = 16 };

static struct walk *begin(void)
{
    struct bbf_limits limits = sample_limits();
    limits.usage = true;
    struct walk *w = walk_new(limits);
    w->thread.written = WRITTEN;
    return w;
}

static void at(struct walk *w, uint32_t second)
{
    bbf_tracker_set_now(w->t, second);
}

static struct twin_object *opened(struct walk *w, uint32_t site)
{
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, SIZE);
    twin_step(w->me, o, site);
    return o;
}

static void release(struct walk *w, struct twin_object *o)
{
    twin_release(w->me, o, true);
}

static void dropped(struct walk *w, struct twin_object *o)
{
    twin_drop(w->heap, o);
}

static struct bbf_snapshot *report(struct walk *w)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_non_null(s);
    assert_int_equal(bbf_usage_fill(w->t, s), BBF_OK);
    assert_int_equal(bbf_tracker_capture(w->t, s), BBF_OK);
    return s;
}

static const char *method_of(const struct bbf_snapshot *s, size_t row)
{
    return s->sites[s->nodes[s->usage[row].node].site].method;
}

/* The only row of a path that ends in that method. */
static const struct bbf_snap_usage *row_of(const struct bbf_snapshot *s, const char *method)
{
    const struct bbf_snap_usage *found = NULL;
    for (size_t i = 0; i < s->n_usage; i++)
        if (strcmp(method_of(s, i), method) == 0) {
            assert_null(found);
            found = &s->usage[i];
        }
    assert_non_null(found);
    return found;
}

/* All that was measured had SIZE bytes and WRITTEN of them written. */
static void assert_row(const struct bbf_snap_usage *row, uint64_t lives, uint64_t seconds,
                       uint64_t measured, uint64_t measured_seconds)
{
    assert_int_equal(row->memory, BBF_MEM_DIRECT);
    assert_int_equal(row->lives, lives);
    assert_int_equal(row->byte_seconds, seconds * SIZE);
    assert_int_equal(row->measured, measured);
    assert_int_equal(row->measured_bytes, measured * SIZE);
    assert_int_equal(row->measured_byte_seconds, measured_seconds * SIZE);
    assert_int_equal(row->unwritten_byte_seconds, measured_seconds * (SIZE - WRITTEN));
    assert_int_equal(row->not_read, 0);
}

static void a_released_life_counts_the_seconds_that_began_meanwhile(void **state)
{
    struct walk *w = begin();
    (void)state;
    struct twin_object *o = opened(w, w->a); /* first a close by CAS, then plain ones */
    at(w, 3);
    release(w, o);
    for (int i = 0; i < 2; i++) {
        twin_root(w->me, o, SIZE, w->root | BBF_MEM_DIRECT << BBF_L_META_MEM_SHIFT);
        twin_step(w->me, o, w->a);
        at(w, 5 + (uint32_t)i);
        release(w, o);
    }
    struct twin_object *brief = opened(w, w->b);
    release(w, brief);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->usage_of.seconds, 6);
    assert_int_equal(s->usage_of.unlisted, 0);
    assert_int_equal(s->n_usage, 1);
    assert_row(row_of(s, "a"), 3, 3 + 2 + 1, 3, 3 + 2 + 1);
    bbf_snapshot_free(s);
    dropped(w, o);
    dropped(w, brief);
    walk_free(w);
}

static void open_and_lost_lives_count_but_are_not_measured(void **state)
{
    struct walk *w = begin();
    (void)state;
    struct twin_object *kept = opened(w, w->a), *lost = opened(w, w->b);
    at(w, 4);
    dropped(w, lost);
    walk_scan(w);
    at(w, 7);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->n_usage, 2);
    assert_row(row_of(s, "a"), 1, 7, 0, 0);
    assert_row(row_of(s, "b"), 1, 4, 0, 0);
    bbf_snapshot_free(s);
    bbf_lives_mark_stopped(w->t); /* its release may be unseen */
    s = report(w);
    assert_int_equal(s->n_usage, 1);
    bbf_snapshot_free(s);
    at(w, 9);
    release(w, kept);
    s = report(w);
    assert_int_equal(s->n_usage, 1);
    bbf_snapshot_free(s);
    dropped(w, kept);
    walk_free(w);
}

static void what_cannot_be_read_is_counted(void **state)
{
    struct walk *w = begin();
    const int32_t written[] = {BBF_USAGE_NOT_READ, SIZE + 1, BBF_USAGE_NOT_ASKED, 0, SIZE};
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        struct twin_object *o = opened(w, w->a);
        at(w, (uint32_t)i + 1);
        w->thread.written = written[i];
        release(w, o);
        dropped(w, o);
    }
    struct bbf_snapshot *s = report(w);
    const struct bbf_snap_usage *row = row_of(s, "a");
    assert_int_equal(row->lives, 5);
    assert_int_equal(row->byte_seconds, 5 * SIZE);
    assert_int_equal(row->not_read, 2);
    assert_int_equal(row->measured, 2);
    assert_int_equal(row->measured_byte_seconds, 2 * SIZE);
    assert_int_equal(row->unwritten_byte_seconds, SIZE);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void a_reset_forgets_and_cuts_what_is_open(void **state)
{
    struct walk *w = begin();
    (void)state;
    for (uint32_t i = 0; i < 3; i++) { /* both tables, and the first again */
        struct twin_object *before = opened(w, w->a), *through = opened(w, w->b);
        at(w, 100 * i + 50);
        release(w, before);
        assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
        struct bbf_snapshot *s = report(w);
        assert_int_equal(s->usage_of.seconds, 0);
        assert_int_equal(s->n_usage, 0);
        bbf_snapshot_free(s);
        at(w, 100 * i + 52);
        s = report(w);
        assert_int_equal(s->usage_of.seconds, 2);
        assert_int_equal(s->n_usage, 1);
        assert_row(row_of(s, "b"), 1, 2, 0, 0);
        bbf_snapshot_free(s);
        at(w, 100 * i + 53);
        release(w, through);
        s = report(w);
        assert_row(row_of(s, "b"), 1, 3, 1, 3);
        bbf_snapshot_free(s);
        assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
        dropped(w, before);
        dropped(w, through);
    }
    struct twin_object *o = opened(w, w->a);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    at(w, 1000);
    release(w, o);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->n_usage, 1);
    assert_string_equal(method_of(s, 0), "?before-reset");
    assert_int_equal(s->usage[0].byte_seconds, s->usage_of.seconds * SIZE);
    bbf_snapshot_free(s);
    dropped(w, o);
    walk_free(w);
}

static void off_shows_nothing_and_on_begins_anew(void **state)
{
    struct walk *w = begin();
    struct bbf_limits limits = sample_limits();
    (void)state;
    struct twin_object *o = opened(w, w->a), *lost = opened(w, w->b);
    at(w, 5);
    bbf_tracker_limit(w->t, &limits);
    release(w, o);
    dropped(w, lost);
    walk_scan(w);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->usage_of.seconds, 0);
    assert_int_equal(s->n_usage, 0);
    bbf_snapshot_free(s);
    at(w, 8);
    limits.usage = true;
    bbf_tracker_limit(w->t, &limits);
    struct twin_object *again = opened(w, w->a);
    at(w, 9);
    release(w, again);
    s = report(w);
    assert_int_equal(s->usage_of.seconds, 1);
    assert_int_equal(s->n_usage, 1);
    assert_row(row_of(s, "a"), 1, 1, 1, 1);
    bbf_snapshot_free(s);
    dropped(w, o);
    dropped(w, again);
    walk_free(w);
}

/* A life stands for three; how many were measured, and their size, is not an estimate. */
static void a_sample_is_scaled(void **state)
{
    struct walk *w = begin();
    struct twin_object *all[60];
    uint64_t drawn = 0;
    (void)state;
    assert_int_equal(bbf_tracker_sample(w->t, 3), BBF_OK);
    for (size_t i = 0; i < 60; i++) {
        all[i] = opened(w, w->a);
        drawn += atomic_load(&all[i]->bbf) != BBF_HANDLE_IGN;
    }
    assert_true(drawn > 0 && drawn < 60);
    at(w, 2);
    for (size_t i = 0; i < 60; i++)
        release(w, all[i]);
    struct bbf_snapshot *s = report(w);
    const struct bbf_snap_usage *row = row_of(s, "a");
    assert_int_equal(row->lives, 3 * drawn);
    assert_int_equal(row->byte_seconds, 3 * drawn * 2 * SIZE);
    assert_int_equal(row->measured, drawn);
    assert_int_equal(row->measured_bytes, drawn * SIZE);
    assert_int_equal(row->measured_byte_seconds, 3 * drawn * 2 * SIZE);
    assert_int_equal(row->unwritten_byte_seconds, 3 * drawn * 2 * (SIZE - WRITTEN));
    bbf_snapshot_free(s);
    for (size_t i = 0; i < 60; i++)
        dropped(w, all[i]);
    walk_free(w);
}

static void add(struct walk *w, uint32_t node, uint32_t seconds)
{
    bbf_usage_add(w->t, &(struct bbf_usage_life){.node = node,
                                                 .seconds = seconds,
                                                 .bytes = SIZE,
                                                 .memory = BBF_MEM_DIRECT,
                                                 .written = WRITTEN});
}

static void what_has_no_row_is_in_the_sum(void **state)
{
    struct walk *w = begin();
    uint32_t root = sample_root(w->t);
    uint64_t listed = 0;
    (void)state;
    at(w, 1);
    for (unsigned i = 0; i < 2 * BBF_USAGE_ROWS; i++) {
        uint32_t parent = bbf_node_child(w->t, root, sample_step(w->t, i / 100));
        uint32_t node = bbf_node_child(w->t, parent, sample_step(w->t, 100 + i % 100));
        bbf_node_released(w->t, node, w->direct_class, 1); /* so that it has a row */
        add(w, node, 1);
    }
    struct bbf_snapshot *s = report(w);
    for (size_t i = 0; i < s->n_usage; i++)
        listed += s->usage[i].byte_seconds;
    assert_true(s->n_usage > 0 && s->n_usage <= 1024);
    assert_true(s->usage_of.unlisted > (uint64_t)BBF_USAGE_ROWS * SIZE); /* without a row */
    assert_int_equal(listed + s->usage_of.unlisted, 2ull * BBF_USAGE_ROWS * SIZE);
    bbf_snapshot_free(s);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    at(w, 2);
    s = report(w);
    assert_int_equal(s->usage_of.unlisted, 0);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void without_memory_a_note_says_so(void **state)
{
    struct walk *w = begin();
    struct bbf_limits limits = sample_limits();
    (void)state;
    at(w, 1);
    add(w, sample_root(w->t), 1);
    limits.usage = true;
    limits.memory = 1 << 20;
    bbf_tracker_limit(w->t, &limits);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->n_usage, 0);
    assert_int_equal(s->usage_of.seconds, 0);
    assert_int_equal(s->n_notes, 1);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* ---- beside a reset ---- */

enum { ADDS = 40000 };

struct adder {
    struct walk *w;
    uint32_t node;
};

static void *adds(void *arg)
{
    const struct adder *a = arg;
    for (int i = 0; i < ADDS; i++)
        add(a->w, a->node, 1);
    return NULL;
}

static void what_threads_add_beside_a_reset_is_counted_once(void **state)
{
    struct walk *w = begin();
    struct adder adder = {w, sample_root(w->t)};
    pthread_t threads[2];
    (void)state;
    at(w, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, adds, &adder), 0);
    for (int i = 0; i < 50; i++) {
        at(w, 1);
        bbf_usage_reset(w->t);
        at(w, 2);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    struct bbf_snapshot *s = report(w);
    for (size_t i = 0; i < s->n_usage; i++) {
        const struct bbf_snap_usage *row = &s->usage[i];
        assert_row(row, row->lives, row->lives, row->lives, row->lives);
        assert_true(row->lives <= 2 * ADDS);
    }
    bbf_snapshot_free(s);
    for (int i = 0; i < 2; i++) { /* nothing was added to the other table after it was emptied */
        at(w, 1);
        bbf_usage_reset(w->t);
        at(w, 2);
        s = report(w);
        assert_int_equal(s->n_usage, 0);
        bbf_snapshot_free(s);
    }
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_released_life_counts_the_seconds_that_began_meanwhile),
        cmocka_unit_test(open_and_lost_lives_count_but_are_not_measured),
        cmocka_unit_test(what_cannot_be_read_is_counted),
        cmocka_unit_test(a_reset_forgets_and_cuts_what_is_open),
        cmocka_unit_test(off_shows_nothing_and_on_begins_anew),
        cmocka_unit_test(a_sample_is_scaled),
        cmocka_unit_test(what_has_no_row_is_in_the_sum),
        cmocka_unit_test(without_memory_a_note_says_so),
        cmocka_unit_test(what_threads_add_beside_a_reset_is_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
