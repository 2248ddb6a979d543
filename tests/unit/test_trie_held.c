/* link: bbf_trie bbf_core */
/* Lives that others hold (design.md: lives, design.md: verdicts): slices and their owners,
 * composites and their components; one leak is one report, and its bytes are counted once.
 */
#include "tests/unit/trie_twin.h"

static struct twin_object *walk_slice(struct walk *w, struct twin_object *parent)
{
    uint64_t kind = BBF_L_KIND_OWNER | BBF_L_KIND_FIELD | w->direct_class;
    struct twin_object *slice = twin_new(w->heap, kind, parent);
    twin_derive(w->me, slice, parent, w->derive);
    return slice;
}

/* Two slices leak: two leaked lives, their owner is held, its bytes are counted once (design.md:
 * verdicts). */
static void an_owner_of_leaked_slices_is_held(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    struct twin_object *one = walk_slice(w, o), *two = walk_slice(w, o);
    (void)state;
    twin_step(w->me, one, w->a);
    twin_step(w->me, two, w->b);
    twin_drop(w->heap, o);
    twin_drop(w->heap, one);
    twin_drop(w->heap, two);
    walk_scan(w);
    walk_assert_totals(w, "0 0 2 1 0 0");
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.leaked_bytes_, 1000);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Totals of bytes as the leaks list them: no other row has bytes. */
static void assert_leaked(struct walk *w, uint64_t lives, uint64_t bytes)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    uint64_t listed = 0, listed_bytes = 0;
    for (size_t i = 0; i < s->n_leaks; i++) {
        listed += s->leaks[i].count;
        listed_bytes += s->leaks[i].bytes;
    }
    assert_int_equal(s->totals.leaked_, lives);
    assert_int_equal(s->totals.leaked_bytes_, bytes);
    assert_int_equal(listed, lives);
    assert_int_equal(listed_bytes, bytes);
    bbf_snapshot_free(s);
}

static void assert_live_bytes(struct walk *w, uint64_t bytes)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.live_bytes_, bytes);
    bbf_snapshot_free(s);
}

/* Who still holds the owner is innocent: its bytes are the lost slice's from the first report on,
 * once for two slices, and again its own after a reset has forgotten the leak. */
static void the_bytes_of_an_owner_in_use_are_the_leaks(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    struct twin_object *one = walk_slice(w, o), *two = walk_slice(w, o);
    (void)state;
    twin_step(w->me, one, w->a);
    twin_step(w->me, two, w->b);
    assert_live_bytes(w, 1000);
    twin_drop(w->heap, one);
    twin_drop(w->heap, two);
    walk_scan(w);
    walk_assert_totals(w, "0 1 2 0 0 0");
    assert_leaked(w, 2, 1000);
    assert_leaked(w, 2, 1000); /* a report changes nothing */
    assert_live_bytes(w, 0);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_live_bytes(w, 1000);
    twin_drop(w->heap, o);
    walk_free(w);
}

/* A slice of a slice leaks and gets the bytes; the slice between is also held, and gets none. */
static void the_bytes_of_a_held_owner_are_the_leaks(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    struct twin_object *one = walk_slice(w, o), *two = walk_slice(w, one);
    (void)state;
    twin_step(w->me, one, w->a);
    twin_step(w->me, two, w->b);
    twin_drop(w->heap, o);
    twin_drop(w->heap, one);
    twin_drop(w->heap, two);
    walk_scan(w);
    walk_assert_totals(w, "0 0 1 2 0 0");
    assert_leaked(w, 1, 1000);
    walk_free(w);
}

/* A lost composite is one leak, with the bytes of its components and of what they were cut from. */
static void a_lost_composite_is_one_leak(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *outer = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    struct twin_object *k = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    struct twin_object *part = walk_buffer(w, BBF_MEM_DIRECT, 100);
    struct twin_object *cut = walk_buffer(w, BBF_MEM_DIRECT, 64), *slice = walk_slice(w, cut);
    (void)state;
    twin_step(w->me, k, w->a);
    twin_step(w->me, outer, w->b);
    twin_adopt(w->me, k, part);
    twin_adopt(w->me, k, slice);
    twin_adopt(w->me, outer, k);
    struct twin_object *all[] = {outer, k, part, slice, cut};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        twin_drop(w->heap, all[i]);
    walk_scan(w);
    walk_assert_totals(w, "0 0 1 4 0 0");
    assert_leaked(w, 1, 164);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->leaks[0].memory, BBF_MEM_DIRECT); /* all of it is */
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Pooled buffers are old, composites young: they are collected later, and no leak of their own. */
static void a_component_is_held_that_outlives_its_composite(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *k = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    struct twin_object *old = walk_buffer(w, BBF_MEM_DIRECT, 100);
    struct twin_object *cut = walk_buffer(w, BBF_MEM_HEAP, 20), *slice = walk_slice(w, cut);
    (void)state;
    twin_adopt(w->me, k, old);
    twin_adopt(w->me, k, slice);
    twin_drop(w->heap, k);
    walk_scan(w);
    walk_assert_totals(w, "0 3 1 0 0 0");
    assert_leaked(w, 1, 100); /* at once: it is never released, even if it is referenced */
    assert_live_bytes(w, 20); /* of the slice's owner nothing is known before the slice ends */
    twin_drop(w->heap, old);
    twin_drop(w->heap, cut);
    twin_drop(w->heap, slice);
    walk_scan(w);
    walk_assert_totals(w, "0 0 1 3 0 0");
    assert_leaked(w, 1, 120);
    walk_free(w);
}

/* Drawn at one in 4, its components at every one and at one in 8: each is counted at its own
 * rate. */
static void the_components_of_a_drawn_composite_count_by_their_own_rate(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *k = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    struct twin_object *every = walk_buffer(w, BBF_MEM_DIRECT, 100);
    struct twin_object *rare = walk_buffer(w, BBF_MEM_DIRECT, 10);
    (void)state;
    twin_step(w->me, k, w->a);
    twin_step(w->me, rare, w->b);
    atomic_store(&w->t->rates[1], 4);
    atomic_store(&w->t->rates[2], 8);
    atomic_fetch_or(&bbf_node_at(w->t, walk_node(w, k))->flags, 1u << BBF_L_FLAG_RATE_SHIFT);
    atomic_fetch_or(&bbf_node_at(w->t, walk_node(w, rare))->flags, 2u << BBF_L_FLAG_RATE_SHIFT);
    twin_adopt(w->me, k, every);
    twin_adopt(w->me, k, rare);
    twin_drop(w->heap, k);
    twin_drop(w->heap, every);
    twin_drop(w->heap, rare);
    walk_scan(w);
    assert_leaked(w, 4, 100 + 8 * 10);
    walk_free(w);
}

/* The composite was released, or the record is another life's by now: every leak is its own. */
static void a_component_is_its_own_when_its_composite_was_released(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *k = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    struct twin_object *part = walk_buffer(w, BBF_MEM_DIRECT, 100);
    (void)state;
    twin_adopt(w->me, k, part);
    twin_release(w->me, k, true);
    twin_drop(w->heap, k);
    twin_drop(w->heap, part);
    walk_scan(w);
    walk_assert_totals(w, "1 0 1 0 0 0");
    assert_leaked(w, 1, 100);
    k = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    part = walk_buffer(w, BBF_MEM_DIRECT, 30);
    twin_adopt(w->me, k, part);
    twin_release(w->me, part, true);
    twin_root(w->me, part, 50, w->root | BBF_MEM_DIRECT << BBF_L_META_MEM_SHIFT); /* recycled */
    twin_drop(w->heap, k);
    twin_drop(w->heap, part);
    walk_scan(w);
    walk_assert_totals(w, "2 0 3 0 0 0");
    assert_leaked(w, 3, 150);
    walk_free(w);
}

/* Its holder is not a leak, or a reset dropped it: then the bytes are charged to no row. */
static void without_a_leak_the_bytes_of_a_held_owner_are_not_leaked(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000), *one = walk_slice(w, o);
    struct twin_object *wrapper = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, one);
    (void)state;
    twin_unreleasable(w->me, wrapper, one);
    twin_drop(w->heap, wrapper);
    twin_drop(w->heap, one);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, "0 0 0 1 1 0");
    assert_leaked(w, 0, 0);
    o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    one = walk_slice(w, o);
    twin_drop(w->heap, one);
    walk_scan(w);
    assert_leaked(w, 1, 1000);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, "0 0 0 1 0 0");
    assert_leaked(w, 0, 0);
    walk_free(w);
}

static void an_owner_whose_slices_were_released_leaks_itself(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1000), *one = walk_slice(w, o);
    (void)state;
    twin_release(w->me, one, true);
    twin_drop(w->heap, one);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, "1 0 1 0 0 0");
    /* And a slice that outlives its released owner is the only leak. */
    o = walk_buffer(w, BBF_MEM_DIRECT, 1000);
    one = walk_slice(w, o);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    twin_drop(w->heap, one);
    walk_scan(w);
    walk_assert_totals(w, "2 0 2 0 0 0");
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_of_leaked_slices_is_held),
        cmocka_unit_test(the_bytes_of_a_held_owner_are_the_leaks),
        cmocka_unit_test(the_bytes_of_an_owner_in_use_are_the_leaks),
        cmocka_unit_test(a_lost_composite_is_one_leak),
        cmocka_unit_test(a_component_is_held_that_outlives_its_composite),
        cmocka_unit_test(the_components_of_a_drawn_composite_count_by_their_own_rate),
        cmocka_unit_test(a_component_is_its_own_when_its_composite_was_released),
        cmocka_unit_test(without_a_leak_the_bytes_of_a_held_owner_are_not_leaked),
        cmocka_unit_test(an_owner_whose_slices_were_released_leaks_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
