/* link: bbf_trie bbf_core */
/* trie/tomb.c: ages and openers of lost lives; and what a leak row says of them. */
#include "tests/unit/trie_twin.h"

static void lose(struct bbf_tomb *tomb, uint32_t seconds, uint32_t tid, unsigned times)
{
    const struct bbf_loss loss = {.bytes = 10, .seconds = seconds, .tid = tid};
    while (times-- > 0)
        bbf_tomb_add(tomb, &loss);
}

static void half_of_the_lives_were_not_older_than_p50(void **state)
{
    struct bbf_tomb tomb = {0};
    (void)state;
    assert_int_equal(bbf_tomb_p50(&tomb), 0);
    lose(&tomb, 0, 1, 10);
    assert_int_equal(bbf_tomb_p50(&tomb), 0);
    lose(&tomb, 100, 1, 11);
    assert_in_range(bbf_tomb_p50(&tomb), 64, 100);
    lose(&tomb, 1, 1, 40);
    assert_int_equal(bbf_tomb_p50(&tomb), 1);
    assert_int_equal(tomb.oldest, 100);
    assert_int_equal(tomb.count, 61);
    assert_int_equal(tomb.bytes, 610);
}

static void p50_lies_within_its_bucket_and_not_above_the_oldest(void **state)
{
    struct bbf_tomb all = {0}, one = {0}, old = {0};
    (void)state;
    for (uint32_t s = 1024; s < 2048; s++)
        lose(&all, s, 1, 1);
    assert_in_range(bbf_tomb_p50(&all), 1533, 1537);
    lose(&one, 1024, 1, 3);
    assert_int_equal(bbf_tomb_p50(&one), 1024);
    lose(&old, UINT32_MAX, 1, 1);
    assert_int_equal(bbf_tomb_p50(&old), 1u << (BBF_AGES - 2)); /* the last bucket has no end */
    assert_int_equal(old.oldest, UINT32_MAX);
}

static void a_few_openers_are_counted_exactly(void **state)
{
    struct bbf_tomb tomb = {0};
    uint64_t lives;
    (void)state;
    assert_int_equal(bbf_tomb_opener(&tomb, &lives), 0);
    assert_int_equal(lives, 0);
    for (uint32_t tid = 1; tid <= BBF_OPENERS; tid++)
        lose(&tomb, 0, tid, tid == 4 ? 50 : tid);
    assert_int_equal(bbf_tomb_opener(&tomb, &lives), 4);
    assert_int_equal(lives, 50);
}

/* A thousand threads of one life each, and one of a thousand that comes last. */
static void the_thread_of_most_is_found_among_many(void **state)
{
    struct bbf_tomb tomb = {0};
    uint64_t lives;
    (void)state;
    for (uint32_t tid = 1; tid <= 1000; tid++)
        lose(&tomb, 0, tid, 1);
    lose(&tomb, 0, 7777, 1000);
    assert_int_equal(bbf_tomb_opener(&tomb, &lives), 7777);
    assert_int_equal(lives, 1000); /* at least; without those that it took over from others */
}

static void most_by_nobody_known_name_nobody(void **state)
{
    struct bbf_tomb tomb = {0};
    uint64_t lives;
    (void)state;
    lose(&tomb, 0, 0, 3);
    lose(&tomb, 0, 5, 2);
    assert_int_equal(bbf_tomb_opener(&tomb, &lives), 0);
    assert_int_equal(lives, 0);
}

static void lose_by(struct walk *w, uint64_t tid, uint32_t opened, unsigned times)
{
    w->me->tid = tid;
    *bbf_shared_int(w->t, BBF_L_SHARED_NOW) = opened;
    while (times-- > 0) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
        twin_step(w->me, o, w->a);
        twin_drop(w->heap, o);
    }
}

/* One row a loss, though node and memory are the same; each with its ages and its thread. */
static void a_leak_row_tells_age_thread_and_loss(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    bbf_class_lost(w->t, w->direct_class, BBF_LOST_FOR_GOOD);
    lose_by(w, 77, 100, 3);
    lose_by(w, 78, 180, 1);
    *bbf_shared_int(w->t, BBF_L_SHARED_NOW) = 190;
    walk_scan(w);
    bbf_class_lost(w->t, w->direct_class, BBF_LOST_COUNTER);
    lose_by(w, 79, 190, 2);
    walk_scan(w);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_leaks, 2);
    assert_int_equal(s->leaks[0].count, 4);
    assert_int_equal(s->leaks[0].lost, BBF_LOST_FOR_GOOD);
    assert_int_equal(s->leaks[0].oldest_seconds, 90);
    assert_in_range(s->leaks[0].p50_seconds, 64, 90);
    assert_int_equal(s->leaks[0].thread, 77);
    assert_int_equal(s->leaks[0].thread_count, 3);
    assert_int_equal(s->leaks[1].count, 2);
    assert_int_equal(s->leaks[1].lost, BBF_LOST_COUNTER);
    assert_int_equal(s->leaks[1].p50_seconds, 0);
    assert_int_equal(s->leaks[1].thread, 79);
    bbf_snapshot_free(s);
    w->me->tid = 77;
    walk_free(w);
}

/* A clock that went back (it never does, but the words may be read at different times). */
static void an_age_is_never_negative(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    lose_by(w, 77, 100, 1);
    *bbf_shared_int(w->t, BBF_L_SHARED_NOW) = 99;
    walk_scan(w);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->leaks[0].oldest_seconds, 0);
    bbf_snapshot_free(s);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_lives_were_not_older_than_p50),
        cmocka_unit_test(p50_lies_within_its_bucket_and_not_above_the_oldest),
        cmocka_unit_test(a_few_openers_are_counted_exactly),
        cmocka_unit_test(the_thread_of_most_is_found_among_many),
        cmocka_unit_test(most_by_nobody_known_name_nobody),
        cmocka_unit_test(a_leak_row_tells_age_thread_and_loss),
        cmocka_unit_test(an_age_is_never_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
