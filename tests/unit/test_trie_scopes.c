/* link: bbf_trie bbf_core */
/*
 * Scopes (scopes=on): whose a lost life is, what is open, marks of channels and tasks. The hooks'
 * half is java.lang.BBFlowScopes; what it stores is stored here by hand.
 */
#include "tests/unit/trie_twin.h"
#include "trie/scopes.h"

#include <pthread.h>

enum { MINE = 3, OTHER = 4 };

static struct walk *walk_on(void)
{
    struct walk *w = walk_new(sample_limits());
    assert_true(bbf_scopes_switch(w->t, true));
    return w;
}

/* As BBFlowScopes.opened() has it. */
static void note(struct walk *w, const struct twin_object *o, uint32_t number, uint32_t during)
{
    uint64_t f = atomic_load(&((struct twin_object *)(uintptr_t)o)->bbf);
    assert_true(bbf_scopes_reach(w->t, BBF_LOW(f)));
    struct bbf_scope_words *at =
        (struct bbf_scope_words *)(void *)w->t->scopes.space.base + BBF_LOW(f);
    atomic_store(&at->during, BBF_WORD(BBF_GENERATION(f), during));
    atomic_store(&at->of, BBF_WORD(BBF_GENERATION(f), number));
}

static struct twin_object *buffer_of(struct walk *w, uint32_t number, uint32_t during)
{
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
    note(w, o, number, during);
    twin_step(w->me, o, w->a);
    return o;
}

static void lose(struct walk *w, uint32_t number, uint32_t during)
{
    twin_drop(w->heap, buffer_of(w, number, during));
    walk_scan(w);
}

static void a_scope_has_what_it_lost(void **state)
{
    (void)state;
    struct walk *w = walk_on();
    struct bbf_scope_loss rows[4];
    lose(w, MINE, MINE);
    lose(w, OTHER, 0);
    lose(w, MINE, MINE);
    lose(w, MINE, 0);
    lose(w, MINE + BBF_SCOPE_BUCKETS, 0); /* in the same bucket */
    twin_drop(w->heap,
              walk_buffer(w, BBF_MEM_DIRECT, 10)); /* opened before: of no scope, not of 0 */
    walk_scan(w);
    assert_int_equal(bbf_scopes_losses(w->t, MINE), 3);
    assert_int_equal(bbf_scopes_losses(w->t, OTHER), 1);
    assert_int_equal(bbf_scopes_losses(w->t, 0), 0);
    assert_int_equal(bbf_scopes_list(w->t, MINE, UINT32_MAX, rows, 4), 2);
    assert_int_equal(bbf_scopes_list(w->t, MINE, UINT32_MAX, rows, 1), 1);
    assert_int_equal(bbf_scopes_list(w->t, MINE, MINE, rows, 4), 1);
    assert_int_equal(rows[0].count, 2);
    assert_int_equal(rows[0].bytes, 20);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK); /* a reset */
    assert_int_equal(bbf_scopes_losses(w->t, MINE), 0);
    walk_free(w);
}

static void a_recycled_buffer_takes_no_scope_along(void **state)
{
    (void)state;
    struct walk *w = walk_on();
    struct twin_object *o = buffer_of(w, MINE, 0);
    twin_release(w->me, o, true);
    twin_root(w->me, o, 10, w->root | BBF_MEM_DIRECT << BBF_L_META_MEM_SHIFT);
    assert_int_equal(bbf_scopes_open(w->t, MINE), 0);
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_int_equal(bbf_scopes_losses(w->t, MINE), 0);
    walk_free(w);
}

static void open_are_those_that_could_be_lost(void **state)
{
    (void)state;
    struct walk *w = walk_on();
    struct twin_object *one = buffer_of(w, MINE, 0), *other = buffer_of(w, OTHER, 0);
    struct twin_object *harmless = walk_buffer(w, BBF_MEM_HEAP | BBF_L_MEM_HARMLESS, 10);
    note(w, harmless, MINE, 0);
    assert_int_equal(bbf_scopes_open(w->t, MINE), 1);
    assert_int_equal(bbf_scopes_open(w->t, OTHER), 1);
    twin_release(w->me, one, true);
    assert_int_equal(bbf_scopes_open(w->t, MINE), 0);
    twin_drop(w->heap, one);
    twin_drop(w->heap, other);
    twin_drop(w->heap, harmless);
    walk_scan(w);
    assert_int_equal(bbf_scopes_losses(w->t, MINE), 0);
    assert_int_equal(bbf_scopes_losses(w->t, OTHER), 1);
    walk_free(w);
}

static void marks_are_found_taken_and_ambiguous(void **state)
{
    (void)state;
    struct walk *w = walk_on();
    struct bbf_tracker *t = w->t;
    bbf_scopes_mark(t, BBF_SCOPE_CHANNELS, 17, MINE);
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_CHANNELS, 17, false), MINE);
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_TASKS, 17, false), 0);
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_CHANNELS, 18, false), 0);
    bbf_scopes_mark(t, BBF_SCOPE_CHANNELS, 17, MINE); /* as often as one likes */
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_CHANNELS, 17, false), MINE);
    bbf_scopes_mark(t, BBF_SCOPE_CHANNELS, 17, OTHER); /* two objects, or a stale one */
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_CHANNELS, 17, false), 0);
    bbf_scopes_mark(t, BBF_SCOPE_CHANNELS, 17, MINE);
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_CHANNELS, 17, false), 0);
    bbf_scopes_mark(t, BBF_SCOPE_TASKS, 17, OTHER);
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_TASKS, 17, true), OTHER);
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_TASKS, 17, true), 0);
    bbf_scopes_mark(t, BBF_SCOPE_TASKS, 17, MINE); /* taken: the next one is another */
    assert_int_equal(bbf_scopes_marked(t, BBF_SCOPE_TASKS, 17, true), MINE);
    walk_free(w);
}

/* None is another's, however many there are; what had to go is counted. */
static void what_gives_way_has_no_scope(void **state)
{
    enum { MANY = 3 * BBF_SCOPE_SETS * BBF_SCOPE_WAYS };
    (void)state;
    struct walk *w = walk_on();
    struct bbf_scope_counts counts;
    uint32_t found = 0;
    for (uint32_t key = 1; key <= MANY; key++)
        bbf_scopes_mark(w->t, BBF_SCOPE_CHANNELS, key, key % 1000 + 1);
    for (uint32_t key = 1; key <= MANY; key++) {
        uint32_t number = bbf_scopes_marked(w->t, BBF_SCOPE_CHANNELS, key, false);
        assert_true(number == 0 || number == key % 1000 + 1);
        found += number != 0;
    }
    bbf_scopes_counts(w->t, &counts);
    assert_int_equal(found + counts.evicted, MANY);
    assert_true(found > BBF_SCOPE_SETS * BBF_SCOPE_WAYS * 9 / 10);
    walk_free(w);
}

struct marker {
    struct bbf_tracker *t;
    uint32_t number;
    pthread_t thread;
};

static void *mark_and_look(void *of)
{
    const struct marker *m = of;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t key = (uint64_t)m->number << 32 | i % 500;
        bbf_scopes_mark(m->t, BBF_SCOPE_TASKS, key, m->number);
        uint32_t found = bbf_scopes_marked(m->t, BBF_SCOPE_TASKS, key, true);
        assert_true(found == 0 || found == m->number);
        bbf_scopes_mark(m->t, BBF_SCOPE_TASKS, i % 500, m->number); /* of all threads */
        found = bbf_scopes_marked(m->t, BBF_SCOPE_TASKS, i % 500, false);
        assert_true(found <= 4);
    }
    return NULL;
}

static void threads_do_not_get_each_other_s_marks(void **state)
{
    (void)state;
    struct walk *w = walk_on();
    struct marker markers[4];
    for (uint32_t i = 0; i < 4; i++) {
        markers[i] = (struct marker){.t = w->t, .number = i + 1};
        assert_int_equal(pthread_create(&markers[i].thread, NULL, mark_and_look, &markers[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(markers[i].thread, NULL);
    walk_free(w);
}

static void without_memory_nothing_is_noted_and_it_is_counted(void **state)
{
    (void)state;
    struct walk *w = walk_new(sample_limits());
    atomic_store(&w->t->budget.limit, atomic_load(&w->t->budget.used));
    assert_false(bbf_scopes_switch(w->t, true));
    assert_false(bbf_scopes_on(w->t));
    bbf_scopes_mark(w->t, BBF_SCOPE_TASKS, 1, MINE);
    assert_int_equal(bbf_scopes_marked(w->t, BBF_SCOPE_TASKS, 1, false), 0);
    atomic_store(&w->t->budget.limit, 256u << 20);
    assert_true(bbf_scopes_switch(w->t, true));
    struct twin_object *o = buffer_of(w, MINE, 0);
    atomic_store(&w->t->budget.limit, 1);
    twin_drop(w->heap, o);
    walk_scan(w);
    struct bbf_scope_counts counts;
    bbf_scopes_counts(w->t, &counts);
    assert_int_equal(counts.lost, 1);
    assert_int_equal(bbf_scopes_losses(w->t, MINE), 0);
    walk_free(w);
}

static void off_is_off(void **state)
{
    (void)state;
    struct walk *w = walk_on();
    assert_true((atomic_load(bbf_shared_int(w->t, BBF_L_SHARED_SLOW_HOOKS)) & BBF_L_SLOW_SCOPES) !=
                0);
    assert_true(bbf_scopes_switch(w->t, false));
    assert_int_equal(atomic_load(bbf_shared_int(w->t, BBF_L_SHARED_SLOW_HOOKS)), 0);
    assert_false(bbf_scopes_reach(w->t, 100));
    assert_int_equal(bbf_scopes_new(w->t), 1);
    assert_int_equal(bbf_scopes_new(w->t), 2);
    atomic_store(&w->t->scopes.last, BBF_L_SCOPE_NUMBER - 2);
    assert_int_equal(bbf_scopes_new(w->t), BBF_L_SCOPE_NUMBER - 1);
    assert_int_equal(bbf_scopes_new(w->t), 0); /* the last number means ambiguous */
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_has_what_it_lost),
        cmocka_unit_test(a_recycled_buffer_takes_no_scope_along),
        cmocka_unit_test(open_are_those_that_could_be_lost),
        cmocka_unit_test(marks_are_found_taken_and_ambiguous),
        cmocka_unit_test(what_gives_way_has_no_scope),
        cmocka_unit_test(threads_do_not_get_each_other_s_marks),
        cmocka_unit_test(without_memory_nothing_is_noted_and_it_is_counted),
        cmocka_unit_test(off_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
