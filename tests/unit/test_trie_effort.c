/* link: bbf_trie bbf_core */
/* What the hooks had to do, from what the trie counts: lives and the steps of their paths. */
#include "tests/unit/trie_twin.h"
#include "trie/effort.h"

static struct bbf_effort effort(struct walk *w)
{
    struct bbf_effort e;
    bbf_effort_sum(w->t, &e);
    return e;
}

#define SAME(e, l, s, pl, ps)                                                                      \
    do {                                                                                           \
        const struct bbf_effort same_ = (e);                                                       \
        assert_int_equal(same_.lives, l);                                                          \
        assert_int_equal(same_.steps, s);                                                          \
        assert_int_equal(same_.passed_lives, pl);                                                  \
        assert_int_equal(same_.passed_steps, ps);                                                  \
    } while (0)

/* Whatever becomes of it, a life and each step of its path are counted once, when it is open and
 * after its end. */
static void each_life_and_step_is_counted_once(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    SAME(effort(w), 0, 0, 0, 0);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
    SAME(effort(w), 1, 0, 0, 0);
    twin_step(w->me, o, w->a);
    twin_step(w->me, o, w->b);
    SAME(effort(w), 1, 2, 0, 0);
    twin_release(w->me, o, true); /* in the stripe's run, then at the release's row */
    SAME(effort(w), 1, 2, 0, 0);
    twin_drop(w->heap, o);
    struct twin_object *lost = walk_buffer(w, BBF_MEM_DIRECT, 100);
    twin_step(w->me, lost, w->a);
    SAME(effort(w), 2, 3, 0, 0);
    twin_drop(w->heap, lost);
    walk_scan(w);
    SAME(effort(w), 2, 3, 0, 0);
    assert_int_equal(w->t->n_tombs, 1);
    struct twin_object *other = walk_buffer(w, BBF_MEM_DIRECT, 100);
    twin_step(w->me, other, w->a);
    bbf_node_released(w->t, walk_node(w, other), w->heap_class,
                      5); /* to the row of releases below it */
    SAME(effort(w), 8, 9, 0, 0);
    twin_release(w->me, other, true);
    twin_drop(w->heap, other);
    for (unsigned i = 0; i < 10; i++) {
        struct twin_object *next = walk_buffer(w, BBF_MEM_HEAP, 1);
        twin_step(w->me, next, i % 2 == 0 ? w->a : w->b);
        twin_release(w->me, next, true);
        twin_drop(w->heap, next);
    }
    SAME(effort(w), 18, 19, 0, 0);
    walk_free(w);
}

/* A loop leads back: what goes round again is not counted (a lower bound). */
static void a_loop_counts_once(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
    for (unsigned i = 0; i < 100; i++)
        twin_step(w->me, o, w->a);
    SAME(effort(w), 1, 1, 0, 0);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void lives_of_a_sample_stand_for_those_that_were_passed_over(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    w->me->draws = 1;
    assert_int_equal(bbf_tracker_sample(w->t, 10), BBF_OK);
    uint64_t drawn = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
        twin_step(w->me, o, w->a);
        twin_step(w->me, o, w->b);
        twin_release(w->me, o, true);
        twin_drop(w->heap, o);
    }
    drawn = effort(w).lives;
    assert_in_range(drawn, 40, 160);
    SAME(effort(w), drawn, 2 * drawn, 9 * drawn, 18 * drawn);
    assert_int_equal(bbf_tracker_sample(w->t, 1), BBF_OK);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
    twin_step(w->me, o, w->a);
    SAME(effort(w), drawn + 1, 2 * drawn + 1, 9 * drawn, 18 * drawn);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_life_and_step_is_counted_once),
        cmocka_unit_test(a_loop_counts_once),
        cmocka_unit_test(lives_of_a_sample_stand_for_those_that_were_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
