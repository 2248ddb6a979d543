/* link: bbf_trie bbf_core */
/*
 * The histories of places: what was lost in each interval, what was held when it began. The clock
 * is the test's.
 */
#include <string.h>

#include "tests/unit/trie_twin.h"

enum { KEEP = 5 };

static struct bbf_limits limits(uint64_t places)
{
    struct bbf_limits l = sample_limits();
    l.growth_seconds = 60;
    l.growth_keep = KEEP;
    l.max_growth = places;
    return l;
}

static void at(struct walk *w, uint32_t second)
{
    bbf_tracker_set_now(w->t, second);
    bbf_growth_look(w->t);
}

/* `n` buffers of `bytes` that `site` had last; they are lost. */
static void lose(struct walk *w, uint32_t site, unsigned n, uint32_t bytes)
{
    for (unsigned i = 0; i < n; i++) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, bytes);
        twin_step(w->me, o, site);
        twin_drop(w->heap, o);
    }
    walk_scan(w);
}

static struct twin_object *keep(struct walk *w, uint32_t site, uint32_t bytes)
{
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, bytes);
    twin_step(w->me, o, site);
    return o;
}

static struct bbf_snapshot *report(struct walk *w)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_non_null(s);
    s->captured_at_ms = 1000000000;
    assert_int_equal(bbf_growth_fill(w->t, s), BBF_OK);
    assert_int_equal(bbf_tracker_capture(w->t, s), BBF_OK);
    assert_int_equal(s->history.seconds, 60);
    assert_int_equal(s->history.intervals, KEEP);
    return s;
}

/* The only row of that kind whose node is of method `name`. */
static const struct bbf_snap_growth *row_of(const struct bbf_snapshot *s, enum bbf_growth_of of,
                                            const char *name)
{
    const struct bbf_snap_growth *found = NULL;
    for (size_t i = 0; i < s->n_growth; i++) {
        const struct bbf_snap_growth *row = &s->growth[i];
        if (row->of != of || strcmp(s->sites[s->nodes[row->node].site].method, name) != 0)
            continue;
        assert_null(found);
        found = row;
    }
    return found;
}

/* The newest is the last; what a row does not have is 0. */
static void assert_lives(const struct bbf_snap_growth *row, const uint64_t wanted[KEEP],
                         uint64_t bytes)
{
    assert_non_null(row);
    assert_true(row->n <= KEEP);
    for (uint32_t i = 0; i < KEEP; i++) {
        bool has = i + row->n >= KEEP;
        assert_int_equal(has ? row->at[i + row->n - KEEP].lives : 0, wanted[i]);
        assert_int_equal(has ? row->at[i + row->n - KEEP].bytes : 0, wanted[i] * bytes);
    }
}

static void a_loss_counts_in_the_interval_in_which_it_was_found(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    at(w, 10);
    lose(w, w->a, 2, 100);
    at(w, 59);
    lose(w, w->a, 1, 100);
    at(w, 60);
    lose(w, w->a, 4, 100);
    lose(w, w->b, 1, 7);
    at(w, 195);
    lose(w, w->a, 5, 100);
    at(w, 200);
    struct bbf_snapshot *s = report(w);
    const struct bbf_snap_growth *a = row_of(s, BBF_GROWTH_LOST, "a");
    assert_lives(a, (const uint64_t[KEEP]){0, 3, 4, 0, 5}, 100);
    assert_int_equal(a->n, 4); /* the tracker is no older */
    assert_int_equal(a->memory, BBF_MEM_DIRECT);
    assert_int_equal(a->first_ms, 1000000000 - 190 * 1000);
    assert_int_equal(a->last_ms, 1000000000 - 5 * 1000);
    assert_int_equal(s->history.current_seconds, 20);
    assert_lives(row_of(s, BBF_GROWTH_LOST, "b"), (const uint64_t[KEEP]){0, 0, 1, 0, 0}, 7);
    assert_int_equal(s->n_growth, 2);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void the_ring_forgets_the_oldest_and_keeps_when_it_began(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    for (uint32_t minute = 0; minute < 7; minute++) {
        at(w, minute * 60 + 30);
        lose(w, w->a, minute + 1, 10);
    }
    struct bbf_snapshot *s = report(w);
    assert_lives(row_of(s, BBF_GROWTH_LOST, "a"), (const uint64_t[KEEP]){3, 4, 5, 6, 7}, 10);
    bbf_snapshot_free(s);
    at(w, 8 * 60); /* nothing in minute 7 */
    s = report(w);
    assert_lives(row_of(s, BBF_GROWTH_LOST, "a"), (const uint64_t[KEEP]){5, 6, 7, 0, 0}, 10);
    bbf_snapshot_free(s);
    at(w, 100 * 60 + 30);
    s = report(w);
    const struct bbf_snap_growth *a = row_of(s, BBF_GROWTH_LOST, "a");
    assert_lives(a, (const uint64_t[KEEP]){0}, 10);
    assert_int_equal(a->first_ms, 1000000000 - 100 * 60 * 1000);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Buffers in use are not held: they are younger than an interval. */
static void what_is_open_for_longer_than_an_interval_is_held(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    struct twin_object *kept[4];
    at(w, 5);
    kept[0] = keep(w, w->a, 10);
    at(w, 65); /* 60 s old: not longer */
    kept[1] = keep(w, w->a, 10);
    struct bbf_snapshot *s = report(w);
    assert_null(row_of(s, BBF_GROWTH_HELD, "a"));
    bbf_snapshot_free(s);
    at(w, 121);
    at(w, 179); /* the same interval: not again */
    kept[2] = keep(w, w->a, 10);
    at(w, 181);
    s = report(w);
    const struct bbf_snap_growth *a = row_of(s, BBF_GROWTH_HELD, "a");
    assert_lives(a, (const uint64_t[KEEP]){0, 0, 0, 1, 2}, 10);
    assert_int_equal(a->first_ms, 1000000000 - 60 * 1000);
    bbf_snapshot_free(s);
    twin_release(w->me, kept[0], true);
    at(w, 241);
    s = report(w);
    assert_lives(row_of(s, BBF_GROWTH_HELD, "a"), (const uint64_t[KEEP]){0, 0, 1, 2, 2}, 10);
    bbf_snapshot_free(s);
    for (int i = 0; i < 3; i++)
        twin_drop(w->heap, kept[i]);
    walk_free(w);
}

/* A report, or a collection, kept the agent thread busy for two minutes. */
static void an_interval_without_a_look_has_what_was_seen_before(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    at(w, 1);
    struct twin_object *o = keep(w, w->a, 10), *p = keep(w, w->a, 10);
    at(w, 120);
    twin_release(w->me, o, true);
    at(w, 320);
    struct bbf_snapshot *s = report(w);
    assert_lives(row_of(s, BBF_GROWTH_HELD, "a"), (const uint64_t[KEEP]){0, 2, 2, 2, 1}, 10);
    bbf_snapshot_free(s);
    twin_release(w->me, p, true);
    for (uint32_t minute = 6; minute < 12; minute++)
        at(w, minute * 60);
    assert_int_equal(w->t->growth.n[BBF_GROWTH_HELD], 0); /* its place is free again */
    twin_drop(w->heap, o);
    twin_drop(w->heap, p);
    walk_free(w);
}

static void static_and_harmless_buffers_are_not_held(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    at(w, 1);
    struct twin_object *o = walk_buffer(w, BBF_MEM_HEAP | BBF_L_MEM_STATIC, 10);
    struct twin_object *p = walk_buffer(w, BBF_MEM_HEAP | BBF_L_MEM_HARMLESS, 10);
    at(w, 200);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->n_growth, 0);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    twin_drop(w->heap, p);
    walk_free(w);
}

/* The bytes of an owner are in the history of the slice that leaked, as they are in its leak. */
static void the_bytes_of_a_held_owner_are_in_the_leaks_history(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    uint64_t kind = BBF_L_KIND_OWNER | BBF_L_KIND_FIELD | w->direct_class;
    at(w, 70);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    struct twin_object *slice = twin_new(w->heap, kind, o);
    twin_derive(w->me, slice, o, w->derive);
    twin_step(w->me, slice, w->a);
    twin_drop(w->heap, o);
    twin_drop(w->heap, slice);
    walk_scan(w);
    struct bbf_snapshot *s = report(w);
    const struct bbf_snap_growth *a = row_of(s, BBF_GROWTH_LOST, "a");
    assert_non_null(a);
    assert_int_equal(a->at[a->n - 1].lives, 1);
    assert_int_equal(a->at[a->n - 1].bytes, 1000);
    assert_int_equal(s->leaks[0].bytes, 1000);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* What a leak retains is the leak's; after a reset has forgotten the leak it is held again. */
static void what_a_leak_retains_is_not_held(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    uint64_t kind = BBF_L_KIND_OWNER | BBF_L_KIND_FIELD | w->direct_class;
    at(w, 1);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    struct twin_object *slice = twin_new(w->heap, kind, o);
    twin_derive(w->me, slice, o, w->derive);
    twin_drop(w->heap, slice);
    walk_scan(w);
    at(w, 130);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->n_growth, 1);
    assert_int_equal(s->growth[0].of, BBF_GROWTH_LOST);
    bbf_snapshot_free(s);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    at(w, 190);
    s = report(w);
    assert_int_equal(s->n_growth, 1);
    assert_int_equal(s->growth[0].of, BBF_GROWTH_HELD);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void places_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(1));
    at(w, 1);
    lose(w, w->a, 1, 10);
    lose(w, w->b, 3, 10);
    lose(w, w->a, 1, 10);
    struct bbf_snapshot *s = report(w);
    assert_lives(row_of(s, BBF_GROWTH_LOST, "a"), (const uint64_t[KEEP]){0, 0, 0, 0, 2}, 10);
    assert_null(row_of(s, BBF_GROWTH_LOST, "b"));
    const struct bbf_snap_limit *limit = NULL;
    for (size_t i = 0; i < s->n_limits; i++)
        if (strcmp(s->limits[i].name, "maxGrowth") == 0)
            limit = &s->limits[i];
    assert_non_null(limit);
    assert_int_equal(limit->used, 1);
    assert_int_equal(limit->limit, 1);
    assert_int_equal(limit->hit, 3);
    assert_int_equal(s->totals.leaked_, 5); /* what was lost is known anyway */
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Its memory is charged, and given back by a reset, which begins the history again. */
static void a_reset_clears_the_history(void **state)
{
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        struct walk *w = walk_new(limits(10));
        at(w, 1);
        struct twin_object *o = keep(w, w->b, 10);
        at(w, 130);
        uint64_t used = atomic_load(&w->t->budget.used);
        lose(w, w->a, 1, 10);
        assert_int_equal(w->t->growth.n[BBF_GROWTH_LOST], 1);
        assert_int_equal(w->t->growth.n[BBF_GROWTH_HELD], 1);
        assert_true(atomic_load(&w->t->budget.used) > used);
        assert_int_equal(nodes ? bbf_tracker_reset_nodes(w->t) : bbf_tracker_baseline(w->t),
                         BBF_OK);
        struct bbf_snapshot *s = report(w);
        assert_int_equal(s->n_growth, 0);
        bbf_snapshot_free(s);
        at(w, 190);
        s = report(w);
        const struct bbf_snap_growth *row =
            nodes ? row_of(s, BBF_GROWTH_HELD, "?before-reset") : row_of(s, BBF_GROWTH_HELD, "b");
        assert_lives(row, (const uint64_t[KEEP]){0, 0, 0, 0, 1}, 10);
        bbf_snapshot_free(s);
        twin_drop(w->heap, o);
        walk_free(w);
    }
}

static void lives_of_a_sample_count_as_those_that_they_represent(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    assert_int_equal(bbf_tracker_sample(w->t, 4), BBF_OK);
    at(w, 1);
    lose(w, w->a, 200, 10);
    struct bbf_snapshot *s = report(w);
    const struct bbf_snap_growth *a = row_of(s, BBF_GROWTH_LOST, "a");
    assert_non_null(a);
    assert_true(s->totals.leaked_ > 0);
    assert_int_equal(s->totals.leaked_ % 4, 0);
    assert_int_equal(a->at[a->n - 1].lives, s->totals.leaked_);
    assert_int_equal(a->at[a->n - 1].bytes, s->totals.leaked_bytes_);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Lives of one path that were drawn at two rates are one row. */
static void rates_of_one_path_are_one_history(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(10));
    at(w, 1);
    lose(w, w->a, 3, 10);
    assert_int_equal(bbf_tracker_sample(w->t, 2), BBF_OK);
    at(w, 61);
    lose(w, w->a, 100, 10);
    struct bbf_snapshot *s = report(w);
    const struct bbf_snap_growth *a = row_of(s, BBF_GROWTH_LOST, "a");
    assert_non_null(a);
    assert_int_equal(a->at[a->n - 2].lives, 3);
    assert_int_equal(a->at[a->n - 1].lives, s->totals.leaked_ - 3);
    assert_int_equal(a->first_ms, 1000000000 - 60 * 1000);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void off_costs_nothing(void **state)
{
    (void)state;
    struct walk *w = walk_new(limits(0));
    at(w, 1);
    lose(w, w->a, 3, 10);
    assert_int_equal(w->t->growth.n[BBF_GROWTH_LOST], 0);
    assert_int_equal(w->t->growth.hit, 0);
    struct bbf_limits l = limits(10);
    bbf_tracker_limit(w->t, &l);
    lose(w, w->a, 2, 10);
    struct bbf_snapshot *s = report(w);
    assert_lives(row_of(s, BBF_GROWTH_LOST, "a"), (const uint64_t[KEEP]){0, 0, 0, 0, 2}, 10);
    bbf_snapshot_free(s);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_counts_in_the_interval_in_which_it_was_found),
        cmocka_unit_test(the_ring_forgets_the_oldest_and_keeps_when_it_began),
        cmocka_unit_test(what_is_open_for_longer_than_an_interval_is_held),
        cmocka_unit_test(an_interval_without_a_look_has_what_was_seen_before),
        cmocka_unit_test(static_and_harmless_buffers_are_not_held),
        cmocka_unit_test(the_bytes_of_a_held_owner_are_in_the_leaks_history),
        cmocka_unit_test(what_a_leak_retains_is_not_held),
        cmocka_unit_test(places_beyond_the_limit_are_counted),
        cmocka_unit_test(a_reset_clears_the_history),
        cmocka_unit_test(lives_of_a_sample_count_as_those_that_they_represent),
        cmocka_unit_test(rates_of_one_path_are_one_history),
        cmocka_unit_test(off_costs_nothing),
    };
    return cmocka_run_group_tests_name("trie_growth", tests, NULL, NULL);
}
