/* link: bbf_trie bbf_core */
/*
 * sample=N: one life in N, drawn once each, whatever becomes of the object before and after; rows
 * are scaled by the rate of their root. Counts are checked against the binomial distribution: 6
 * standard deviations, for several seeds. (A draw is wrong by that once in 500 million.)
 */
#include "tests/unit/trie_twin.h"

enum { LIVES = 40000, RATE = 10 };
static const uint64_t seeds[] = {1, 2, 77, UINT64_C(0x9e3779b97f4a7c15), UINT64_MAX};
enum { SEEDS = sizeof seeds / sizeof seeds[0] };

/* |followed - n / rate| <= 6 sqrt(n (1/rate) (1 - 1/rate)), squared. */
static void assert_binomial(uint64_t followed, uint64_t n, uint64_t rate)
{
    int64_t off = (int64_t)(followed * rate) - (int64_t)n;
    if ((uint64_t)(off * off) > 36 * n * (rate - 1))
        fail_msg("%llu of %llu at 1 in %llu", (unsigned long long)followed, (unsigned long long)n,
                 (unsigned long long)rate);
}

static struct walk *sampled(uint32_t rate, uint64_t seed)
{
    struct walk *w = walk_new(sample_limits());
    w->me->draws = seed;
    assert_int_equal(bbf_tracker_sample(w->t, rate), BBF_OK);
    return w;
}

static struct bbf_snap_totals totals(struct walk *w)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    struct bbf_snap_totals n = s->totals;
    bbf_snapshot_free(s);
    assert_int_equal(n.lives_,
                     n.released_ + n.live_ + n.leaked_ + n.held_ + n.harmless_ + n.unknown_);
    return n;
}

/* The lives that were really followed. */
static struct bbf_snap_since_start raw(struct walk *w)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    struct bbf_snap_since_start n = s->since_start;
    bbf_snapshot_free(s);
    return n;
}

/* New objects; one in four is lost. Released and lost ones, their bytes, and steps are scaled. */
static void new_objects_are_drawn_without_bias(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct walk *w = sampled(RATE, seeds[seed]);
        for (unsigned i = 0; i < LIVES; i++) {
            struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
            twin_step(w->me, o, i % 4 == 0 ? w->a : w->b);
            if (i % 4 != 0)
                twin_release(w->me, o, true);
            twin_drop(w->heap, o);
        }
        walk_scan(w);
        struct bbf_snap_totals n = totals(w);
        struct bbf_snap_since_start really = raw(w);
        assert_int_equal(n.sampled_, RATE);
        assert_int_equal(n.released_, RATE * really.released_);
        assert_int_equal(n.leaked_, RATE * really.leaked_);
        assert_int_equal(n.leaked_bytes_, 100 * n.leaked_);
        assert_int_equal(n.dropped_lives_, 0);
        assert_int_equal(n.unknown_, 0);
        assert_binomial(really.released_, LIVES / 4 * 3, RATE);
        assert_binomial(really.leaked_, LIVES / 4, RATE);
        walk_free(w);
    }
}

/* One object in all these lives: it keeps its record, drawn or not. */
static void a_recycled_object_is_drawn_each_time(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct walk *w = sampled(RATE, seeds[seed]);
        struct twin_object *o = walk_object(w);
        unsigned in_a_row = 0;
        bool before = false;
        for (unsigned i = 0; i < LIVES; i++) {
            twin_root(w->me, o, 8, w->root);
            bool drawn = twin_is_open(w->me, atomic_load(&o->bbf));
            in_a_row += drawn && before;
            before = drawn;
            twin_step(w->me, o, w->a);
            twin_release(w->me, o, true);
        }
        assert_binomial(raw(w).released_, LIVES, RATE);
        assert_binomial(in_a_row, LIVES, RATE * RATE); /* the draws know nothing of each other */
        assert_true(w->t->next_record <= BBF_L_FIRST_RECORD + BBF_L_BATCH);
        twin_drop(w->heap, o);
        walk_scan(w);
        walk_free(w);
    }
}

static void root_wrapped(struct walk *w, struct twin_object *o)
{
    struct twin_object *wrapper = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
    twin_wrap(w->me, wrapper, o);
    twin_root(w->me, wrapper, 8, w->root);
    twin_drop(w->heap, wrapper);
}

/* Seen in its constructor, wrapped for leak detection, kept by nested terminals: one draw. */
static void nothing_on_the_way_draws_twice(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct walk *w = sampled(RATE, seeds[seed]);
        for (unsigned i = 0; i < LIVES; i++) {
            struct twin_object *o = walk_object(w);
            if (i % 2 == 0)
                twin_step(w->me, o, w->a); /* first sight */
            if (i % 3 == 0)
                root_wrapped(w, o);
            else
                twin_root(w->me, o, 8, w->root);
            twin_root_keep(w->me, o, 8, w->root);
            twin_root_keep(w->me, o, 8, w->root);
            twin_step(w->me, o, w->b);
            twin_release(w->me, o, true);
            twin_drop(w->heap, o);
        }
        walk_scan(w);
        struct bbf_snap_since_start n = raw(w);
        assert_binomial(n.released_, LIVES, RATE);
        assert_int_equal(n.unknown_ + n.leaked_ + n.live_ + n.held_ + n.harmless_, 0);
        walk_free(w);
    }
}

/* No root hook ever comes: the first sight draws, the second does not. */
static void first_sights_are_drawn_once(void **state)
{
    struct walk *w = sampled(RATE, 5);
    (void)state;
    for (unsigned i = 0; i < LIVES; i++) {
        struct twin_object *o = walk_object(w);
        for (int steps = 0; steps < 5; steps++)
            twin_step(w->me, o, w->a);
        twin_release(w->me, o, true);
        twin_drop(w->heap, o);
    }
    walk_scan(w);
    assert_binomial(raw(w).released_, LIVES, RATE);
    assert_int_equal(totals(w).dropped_lives_, 0);
    walk_free(w);
}

/* A derived life is followed if and only if its owner is; both objects are recycled. */
static void what_is_derived_goes_with_its_owner(void **state)
{
    struct walk *w = sampled(RATE, 6);
    struct twin_object *o = walk_object(w), *slice = walk_object(w);
    unsigned drawn = 0;
    (void)state;
    for (unsigned i = 0; i < LIVES; i++) {
        twin_root(w->me, o, 8, w->root);
        twin_derive(w->me, slice, o, w->derive);
        bool followed = twin_is_open(w->me, atomic_load(&o->bbf));
        assert_true(followed == twin_is_open(w->me, atomic_load(&slice->bbf)));
        drawn += followed;
        twin_release(w->me, slice, true);
        twin_release(w->me, o, true);
    }
    assert_binomial(drawn, LIVES, RATE);
    assert_int_equal(raw(w).released_, 2 * drawn);
    assert_true(w->t->next_record <= BBF_L_FIRST_RECORD + BBF_L_BATCH);
    twin_drop(w->heap, slice);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

static void one_in_one_is_exact(void **state)
{
    struct walk *w = sampled(1, 7);
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 3);
        if (i % 10 != 0)
            twin_release(w->me, o, true);
        twin_drop(w->heap, o);
    }
    walk_scan(w);
    struct bbf_snap_totals n = totals(w);
    assert_int_equal(n.sampled_, 0);
    assert_int_equal(n.released_, 900);
    assert_int_equal(n.leaked_, 100);
    assert_int_equal(n.leaked_bytes_, 300);
    walk_free(w);
}

/* Each rate's lives are counted by it, though the rate is another when they end; off is exact. */
static void a_life_counts_by_the_rate_it_was_drawn_at(void **state)
{
    enum { EACH = 1000 };
    struct walk *w = sampled(1, 8);
    struct twin_object *o[3 * EACH];
    const uint32_t rates[] = {1, 4, 7};
    uint64_t really[3] = {0}, all = 0;
    bool estimated = true;
    (void)state;
    assert_int_equal(bbf_tracker_live(w->t, &estimated), 0);
    assert_false(estimated);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(bbf_tracker_sample(w->t, rates[k]), BBF_OK);
        uint64_t before = bbf_lives_open(w->t);
        for (int i = 0; i < EACH; i++)
            o[k * EACH + i] = walk_buffer(w, BBF_MEM_DIRECT, 1);
        really[k] = bbf_lives_open(w->t) - before;
        all += really[k] * rates[k];
    }
    assert_int_equal(really[0], EACH);
    assert_int_equal(totals(w).live_, all);
    assert_int_equal(bbf_tracker_live(w->t, &estimated), all);
    assert_true(estimated);
    assert_int_equal(bbf_tracker_sample(w->t, 1), BBF_OK);
    assert_int_equal(totals(w).sampled_, 7);
    for (int i = 0; i < 3 * EACH; i++) {
        twin_release(w->me, o[i], true);
        twin_drop(w->heap, o[i]);
    }
    walk_scan(w);
    assert_int_equal(totals(w).released_, all);
    twin_drop(w->heap, walk_buffer(w, BBF_MEM_DIRECT, 1)); /* the first short way again */
    walk_scan(w);
    assert_int_equal(totals(w).leaked_, 1);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_int_equal(totals(w).lives_, 0);
    walk_free(w);
}

/* A wrapper that was built while its buffer was passed over; its root comes under another rate. */
static void a_rate_that_changes_between_wrapper_and_root_loses_nothing(void **state)
{
    struct walk *w = sampled(1, 9);
    struct twin_object *o = walk_object(w);
    (void)state;
    for (int i = 0; i < 3; i++) { /* recycled: it has a record of its own */
        twin_root(w->me, o, 8, w->root);
        twin_release(w->me, o, true);
    }
    assert_int_equal(bbf_tracker_sample(w->t, 1000000), BBF_OK);
    twin_root(w->me, o, 8, w->root);
    assert_true(twin_is_skipped(w->me, atomic_load(&o->bbf)));
    struct twin_object *wrapper = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
    twin_wrap(w->me, wrapper, o);
    assert_int_equal(bbf_tracker_sample(w->t, 1), BBF_OK);
    twin_root(w->me, wrapper, 8, w->root);
    assert_true(twin_is_open(w->me, atomic_load(&o->bbf)));
    assert_int_equal(atomic_load(&wrapper->bbf), atomic_load(&o->bbf));
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    twin_drop(w->heap, wrapper);
    walk_scan(w);
    assert_int_equal(totals(w).released_, 4);
    walk_free(w);
}

/* With trackDirectOnly heap roots are out, in whatever order the two come and go. */
static void it_lives_with_direct_only(void **state)
{
    struct walk *w = sampled(1, 10);
    struct bbf_site like = {.class_name = (char *)"test/Sample",
                            .method = (char *)"heapBuffer",
                            .descriptor = (char *)"",
                            .kind = BBF_SITE_ROOT,
                            .memory = BBF_MEM_HEAP};
    uint32_t heap = bbf_site_intern(w->t, &like) | BBF_MEM_HEAP << BBF_L_META_MEM_SHIFT;
    struct twin_object *o = walk_object(w);
    static const struct {
        bool direct_only;
        uint32_t rate;
        bool followed; /* at a rate of 2: half the time */
    } steps[] = {{false, 1, true}, {true, 1, false}, {true, 2, false}, {false, 2, true},
                 {true, 2, false}, {true, 1, false}, {false, 1, true}};
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bbf_tracker_direct_only(w->t, steps[i].direct_only);
        assert_int_equal(bbf_tracker_sample(w->t, steps[i].rate), BBF_OK);
        unsigned open = 0;
        for (int k = 0; k < 400; k++) {
            twin_root(w->me, o, 8, heap);
            open += twin_is_open(w->me, atomic_load(&o->bbf));
            twin_release(w->me, o, true);
        }
        if (!steps[i].followed)
            assert_int_equal(open, 0);
        else if (steps[i].rate == 1)
            assert_int_equal(open, 400);
        else
            assert_binomial(open, 400, 2);
    }
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

static void a_sixteenth_rate_is_refused(void **state)
{
    struct walk *w = sampled(1, 11);
    (void)state;
    for (uint32_t n = 2; n <= BBF_L_RATES; n++)
        assert_int_equal(bbf_tracker_sample(w->t, n), BBF_OK);
    assert_int_equal(bbf_tracker_sample(w->t, 1000), BBF_ELIMIT);
    assert_int_equal(*bbf_shared_int(w->t, BBF_L_SHARED_SAMPLE) & BBF_L_SAMPLE_N, BBF_L_RATES);
    assert_int_equal(bbf_tracker_sample(w->t, 5), BBF_OK);
    walk_free(w);
}

static void a_reset_of_the_nodes_forgets_the_roots_of_every_rate(void **state)
{
    struct walk *w = sampled(2, 12);
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
        if (i == 50)
            assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
        twin_release(w->me, o, true);
        twin_drop(w->heap, o);
    }
    walk_scan(w);
    struct bbf_snapshot *s = sample_capture(w->t);
    for (size_t i = 0; i < s->n_nodes; i++)
        assert_true(s->nodes[i].id >> BBF_L_ARENA_SHIFT != 1);
    assert_in_range(s->totals.released_, 50, 150);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Whatever the rates were, a report has each path once: weighted, and with all of its leaks. */
static void rates_share_their_rows(void **state)
{
    (void)state;
    struct walk *w = sampled(1, 5);
    static const uint32_t rates[] = {1, 2, 4, 1, 4};
    uint64_t expected[2] = {0, 0}; /* released, leaked */
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        assert_int_equal(bbf_tracker_sample(w->t, rates[r]), BBF_OK);
        struct bbf_snap_since_start before = raw(w);
        for (unsigned i = 0; i < 1000; i++) {
            struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
            twin_step(w->me, o, w->a);
            twin_step(w->me, o, w->b);
            if (i % 10 != 0)
                twin_release(w->me, o, true);
            twin_drop(w->heap, o);
        }
        walk_scan(w);
        struct bbf_snap_since_start after = raw(w);
        expected[0] += rates[r] * (after.released_ - before.released_);
        expected[1] += rates[r] * (after.leaked_ - before.leaked_);
    }
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_nodes, 4); /* root, a, b, release */
    assert_int_equal(s->n_leaks, 1);
    assert_int_equal(s->leaks[0].count, expected[1]);
    assert_int_equal(s->leaks[0].bytes, 100 * expected[1]);
    assert_int_equal(s->nodes[s->leaks[0].node].leaked_, expected[1]);
    assert_int_equal(s->totals.released_, expected[0]);
    assert_int_equal(s->nodes[0].passed_, expected[0] + expected[1]);
    assert_true(expected[0] > 3600 && expected[1] > 400);
    bbf_snapshot_free(s);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_objects_are_drawn_without_bias),
        cmocka_unit_test(a_recycled_object_is_drawn_each_time),
        cmocka_unit_test(nothing_on_the_way_draws_twice),
        cmocka_unit_test(first_sights_are_drawn_once),
        cmocka_unit_test(what_is_derived_goes_with_its_owner),
        cmocka_unit_test(one_in_one_is_exact),
        cmocka_unit_test(a_life_counts_by_the_rate_it_was_drawn_at),
        cmocka_unit_test(a_rate_that_changes_between_wrapper_and_root_loses_nothing),
        cmocka_unit_test(it_lives_with_direct_only),
        cmocka_unit_test(a_sixteenth_rate_is_refused),
        cmocka_unit_test(a_reset_of_the_nodes_forgets_the_roots_of_every_rate),
        cmocka_unit_test(rates_share_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
