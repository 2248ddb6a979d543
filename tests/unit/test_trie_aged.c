/* link: bbf_trie bbf_core */
/* trie/aged.c: from which age on an open life is aged, at its root and by age=. */
#include "tests/unit/trie_twin.h"
#include "trie/aged.h"

static void clock_at(struct walk *w, uint32_t second)
{
    *bbf_shared_int(w->t, BBF_L_SHARED_NOW) = second;
}

/* Open `times` lives for `seconds` each, on the path root -> a. */
static void live_for(struct walk *w, uint32_t seconds, unsigned times)
{
    uint32_t now = *bbf_shared_int(w->t, BBF_L_SHARED_NOW);
    while (times-- > 0) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
        twin_step(w->me, o, w->a);
        clock_at(w, now + seconds);
        twin_release(w->me, o, true);
        twin_drop(w->heap, o);
        clock_at(w, now);
    }
    walk_scan(w);
}

static uint64_t aged(struct walk *w)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    uint64_t n = s->totals.aged_, rows = 0;
    for (size_t i = 0; i < s->n_leaks; i++)
        rows += s->leaks[i].verdict == BBF_VERDICT_AGED ? s->leaks[i].count : 0;
    assert_int_equal(rows, n);
    bbf_snapshot_free(s);
    return n;
}

static void open_longer_than_age_is_aged(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
    struct bbf_limits limits = sample_limits();
    (void)state;
    twin_step(w->me, o, w->a);
    clock_at(w, 599);
    assert_int_equal(aged(w), 0);
    clock_at(w, 600);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.aged_, 1);
    assert_int_equal(s->totals.live_, 1);
    assert_int_equal(s->n_leaks, 1);
    assert_int_equal(s->leaks[0].verdict, BBF_VERDICT_AGED);
    assert_int_equal(s->leaks[0].bytes, 100);
    assert_int_equal(s->leaks[0].oldest_seconds, 600);
    assert_int_equal(s->leaks[0].thread, 77);
    assert_int_equal(s->nodes[s->leaks[0].node].id, walk_node(w, o));
    bbf_snapshot_free(s);
    limits.age = 0;
    bbf_tracker_limit(w->t, &limits);
    clock_at(w, 1u << 30);
    assert_int_equal(aged(w), 0);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_free(w);
}

/* A thousand lives within a second: eight seconds are too many. One of two seconds: 32 are. */
static void the_habit_of_the_root_says_what_is_old(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    clock_at(w, 1000);
    live_for(w, 0, BBF_AGED_LIVES - 1);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
    twin_step(w->me, o, w->a);
    twin_step(w->me, o, w->b);
    clock_at(w, 1010);
    assert_int_equal(aged(w), 0);
    live_for(w, 0, 1);
    assert_int_equal(aged(w), 1);
    clock_at(w, 1007);
    assert_int_equal(aged(w), 0);
    live_for(w, 2, 1);
    clock_at(w, 1031);
    assert_int_equal(aged(w), 0);
    clock_at(w, 1032);
    assert_int_equal(aged(w), 1);
    live_for(w, 1000, 1); /* now age= alone speaks */
    assert_int_equal(aged(w), 0);
    clock_at(w, 1600);
    assert_int_equal(aged(w), 1);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_free(w);
}

/* What lasted long at one root says nothing about another. */
static void each_root_has_its_own_habit(void **state)
{
    struct walk *w = walk_new(sample_limits());
    uint32_t other = sample_site(w->t, BBF_SITE_ROOT, "heapBuffer"), first = w->root;
    struct twin_object *o[2];
    (void)state;
    live_for(w, 0, BBF_AGED_LIVES);
    live_for(w, 100, 1);
    w->root = other;
    live_for(w, 0, BBF_AGED_LIVES);
    o[0] = walk_buffer(w, BBF_MEM_HEAP, 10);
    w->root = first;
    o[1] = walk_buffer(w, BBF_MEM_DIRECT, 10);
    clock_at(w, 9);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.aged_, 1);
    assert_int_equal(s->leaks[0].memory, BBF_MEM_HEAP);
    bbf_snapshot_free(s);
    for (int i = 0; i < 2; i++) {
        twin_release(w->me, o[i], true);
        twin_drop(w->heap, o[i]);
    }
    walk_free(w);
}

/* A recycled buffer's lives count like others; a leak's age is no habit. */
static void only_releases_make_a_habit(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10), *lost;
    (void)state;
    for (unsigned i = 0; i < BBF_AGED_LIVES; i++) {
        twin_release(w->me, o, true);
        twin_root(w->me, o, 10, w->root);
    }
    lost = walk_buffer(w, BBF_MEM_DIRECT, 10);
    clock_at(w, 300);
    twin_drop(w->heap, lost);
    walk_scan(w);
    assert_int_equal(aged(w), 1); /* o itself */
    twin_release(w->me, o, true); /* by the short way: sticky */
    twin_root(w->me, o, 10, w->root);
    clock_at(w, 600);
    assert_int_equal(aged(w), 0); /* 300 s are usual now: age= alone speaks */
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void what_is_no_leak_is_never_aged(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o[] = {walk_buffer(w, BBF_MEM_HEAP | BBF_L_MEM_HARMLESS, 1),
                               walk_buffer(w, BBF_MEM_HEAP | BBF_L_MEM_FOREIGN, 1),
                               walk_buffer(w, BBF_MEM_DIRECT | BBF_L_MEM_STATIC, 1),
                               walk_buffer(w, BBF_MEM_DIRECT, 1)};
    (void)state;
    clock_at(w, 10000);
    assert_int_equal(aged(w), 1);
    bbf_lives_mark_stopped(w->t);
    assert_int_equal(aged(w), 0);
    for (int i = 0; i < 4; i++) {
        twin_release(w->me, o[i], true);
        twin_drop(w->heap, o[i]);
    }
    walk_free(w);
}

/* One bug is one entry: the lost composite, not also its components. */
static void what_a_leak_retains_is_not_aged_besides(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *k = walk_buffer(w, BBF_MEM_COMPOSITE, 0);
    struct twin_object *part = walk_buffer(w, BBF_MEM_DIRECT, 100);
    (void)state;
    twin_step(w->me, k, w->a);
    twin_adopt(w->me, k, part);
    clock_at(w, 10000);
    assert_int_equal(aged(w), 2);
    twin_drop(w->heap, k);
    walk_scan(w);
    assert_int_equal(aged(w), 0);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_leaks, 1);
    assert_int_equal(s->leaks[0].bytes, 100);
    assert_int_equal(s->totals.live_, 1);
    bbf_snapshot_free(s);
    twin_drop(w->heap, part);
    walk_free(w);
}

/* What a class initialiser had is static, wherever it goes later, and aged never; lost, it leaks.
 */
static void a_class_initialisers_buffer_is_static(void **state)
{
    struct walk *w = walk_new(sample_limits());
    uint32_t clinit = sample_site(w->t, BBF_SITE_ENTER, "<clinit>");
    struct twin_object *kept = walk_buffer(w, BBF_MEM_DIRECT, 1);
    struct twin_object *lost = walk_buffer(w, BBF_MEM_DIRECT, 1);
    struct twin_object *other = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    twin_step(w->me, kept, w->a);
    twin_step(w->me, kept, clinit);
    twin_step(w->me, kept, w->b);
    twin_step(w->me, lost, clinit);
    twin_step(w->me, other, w->a);
    twin_step(w->me, other, w->b);
    clock_at(w, 1000);
    twin_drop(w->heap, lost);
    walk_scan(w);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.live_, 2);
    assert_int_equal(s->totals.static_, 1);
    assert_int_equal(s->totals.aged_, 1);
    assert_int_equal(s->totals.leaked_, 1);
    assert_int_equal(s->totals.harmless_, 0);
    bbf_snapshot_free(s);
    twin_release(w->me, kept, true);
    twin_release(w->me, other, true);
    twin_drop(w->heap, kept);
    twin_drop(w->heap, other);
    walk_free(w);
}

/* Without memory for the rows' details the lives are still counted. */
static void aged_rows_without_memory_have_no_details(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_limits limits = sample_limits();
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
    (void)state;
    clock_at(w, 700);
    struct bbf_snapshot *s = sample_capture(w->t);
    bbf_snapshot_free(s);
    limits.memory = atomic_load(&w->t->budget.used);
    bbf_tracker_limit(w->t, &limits);
    s = sample_capture(w->t);
    assert_int_equal(s->totals.aged_, 1);
    assert_int_equal(s->n_leaks, 1);
    assert_int_equal(s->leaks[0].verdict, BBF_VERDICT_AGED);
    assert_int_equal(s->leaks[0].memory, BBF_MEM_UNKNOWN);
    bbf_snapshot_free(s);
    assert_int_equal(atomic_load(&w->t->budget.used), limits.memory);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_longer_than_age_is_aged),
        cmocka_unit_test(the_habit_of_the_root_says_what_is_old),
        cmocka_unit_test(each_root_has_its_own_habit),
        cmocka_unit_test(only_releases_make_a_habit),
        cmocka_unit_test(what_is_no_leak_is_never_aged),
        cmocka_unit_test(what_a_leak_retains_is_not_aged_besides),
        cmocka_unit_test(a_class_initialisers_buffer_is_static),
        cmocka_unit_test(aged_rows_without_memory_have_no_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
