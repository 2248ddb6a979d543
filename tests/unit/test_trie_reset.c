/* link: bbf_trie bbf_core */
/* trie/reset.c: a baseline counts from zero and forgets nothing else; a reset of the nodes gives
 * the memory back, keeps every open life, and never uses a number twice (design.md: reset).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/unit/trie_twin.h"

static uint64_t arena_of(const struct bbf_tracker *t)
{
    return atomic_load(&((struct bbf_tracker *)(uintptr_t)t)->next_node) >> BBF_L_ARENA_SHIFT;
}

static void assert_totals(struct walk *w, uint64_t released, uint64_t live, uint64_t leaked)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.released_, released);
    assert_int_equal(s->totals.live_, live);
    assert_int_equal(s->totals.leaked_, leaked);
    assert_int_equal(s->totals.lives_, released + live + leaked);
    bbf_snapshot_free(s);
}

static void a_baseline_counts_from_zero(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *open = walk_buffer(w, BBF_MEM_DIRECT, 1), *o;
    (void)state;
    for (int i = 0; i < 10; i++) {
        o = walk_buffer(w, BBF_MEM_DIRECT, 1);
        twin_step(w->me, o, w->a);
        twin_release(w->me, o, true);
        twin_drop(w->heap, o);
    }
    twin_drop(w->heap, walk_buffer(w, BBF_MEM_DIRECT, 9));
    twin_count(w->me, BBF_L_TALLY_MISUSE);
    walk_scan(w);
    assert_totals(w, 10, 1, 1);
    uint32_t made = sample_made(w->t);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_totals(w, 0, 1, 0);
    assert_int_equal(w->t->resets, 1);
    o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    twin_step(w->me, o, w->a);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    twin_release(w->me, open, true);
    twin_drop(w->heap, open);
    walk_scan(w);
    assert_totals(w, 2, 0, 0);
    assert_true(sample_made(w->t) <= made + 1); /* the same nodes; a release row is new */
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.misuse_, 0);
    bbf_snapshot_free(s);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_totals(w, 0, 0, 0);
    walk_free(w);
}

/* What a run word or a stripe holds is before the baseline, wherever it is charged later. */
static void a_run_that_is_flushed_after_the_baseline_is_not_counted_twice(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    for (int i = 0; i < 7; i++) {
        twin_release(w->me, o, true);
        twin_root(w->me, o, 1, w->root);
    }
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_totals(w, 0, 1, 0);
    twin_step(w->me, o, w->a); /* another node: the run ends */
    twin_release(w->me, o, true);
    assert_totals(w, 1, 0, 0);
    bbf_stripe_retire(w->t, w->me->tid);
    twin_drop(w->heap, o);
    walk_scan(w); /* frees the record, charges its run */
    assert_totals(w, 1, 0, 0);
    walk_free(w);
}

static void a_reset_of_the_nodes_begins_with_an_empty_trie(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100), *p;
    (void)state;
    for (uint32_t i = 0; i < 40000; i++) /* three steps of nodes, and the overflow table */
        bbf_node_child(w->t, bbf_node_child(w->t, walk_node(w, o), sample_step(w->t, i % 200)),
                       sample_step(w->t, 200 + i / 200));
    twin_step(w->me, o, w->a);
    uint32_t old = walk_node(w, o), old_root = w->t->roots[w->root];
    uint64_t used = w->t->budget.used;
    p = walk_buffer(w, BBF_MEM_DIRECT, 1);
    twin_release(w->me, p, true);
    assert_totals(w, 1, 1, 0);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    /* The memory is given back, the numbers are not. */
    assert_true(w->t->budget.used + (3u << 20) + (8u << 20) <= used);
    assert_int_equal(arena_of(w->t), 2);
    assert_int_equal(sample_made(w->t), 0);
    assert_int_equal(w->t->roots[w->root], BBF_L_NODE_NONE);
    assert_int_equal(walk_node(w, o), BBF_L_NODE_BEFORE_RESET);
    assert_totals(w, 0, 1, 0);
    /* An open life continues at ?before-reset and keeps its bytes. */
    twin_step(w->me, o, w->a);
    twin_step(w->me, o, w->b);
    assert_int_equal(walk_node(w, o), BBF_L_NODE_BEFORE_RESET);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_nodes, 1);
    assert_int_equal(sample_row(s, BBF_L_NODE_BEFORE_RESET)->live_bytes_, 100);
    bbf_snapshot_free(s);
    /* New lives have new nodes. */
    twin_root(w->me, p, 1, w->root);
    assert_int_not_equal(walk_node(w, p), old_root);
    assert_int_equal(walk_node(w, p) >> BBF_L_ARENA_SHIFT, 2);
    twin_release(w->me, p, true);
    twin_release(w->me, o, true);
    assert_totals(w, 2, 0, 0);
    /* Old numbers: a miss, answered with ?before-reset, charged there. */
    assert_int_equal(bbf_node_find(w->t, old_root, w->a), 0);
    assert_int_equal(bbf_node_child(w->t, old, w->b), BBF_L_NODE_BEFORE_RESET);
    assert_int_equal(bbf_node_bucket(w->t, old, BBF_REF_6), BBF_L_NODE_BEFORE_RESET);
    assert_int_equal(bbf_node_charged(w->t, BBF_WORD(3, old), 3), BBF_L_NODE_BEFORE_RESET);
    bbf_node_released(w->t, old, w->direct_class, 4);
    bbf_node_unknown(w->t, old);
    s = sample_capture(w->t);
    assert_int_equal(sample_row(s, BBF_L_NODE_BEFORE_RESET)->released_, 5);
    assert_int_equal(sample_row(s, BBF_L_NODE_BEFORE_RESET)->unknown_, 1);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    twin_drop(w->heap, p);
    walk_scan(w);
    walk_free(w);
}

/* Runs of the old arena, in records and stripes: before the reset now, ?before-reset when flushed.
 */
static void runs_of_the_old_arena_are_neither_lost_nor_counted_again(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    for (int i = 0; i < 7; i++) {
        twin_release(w->me, o, true);
        twin_root(w->me, o, 1, w->root);
    }
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    assert_totals(w, 0, 1, 0);
    twin_release(w->me, o, true); /* at ?before-reset */
    assert_totals(w, 1, 0, 0);
    twin_root(w->me, o, 1, w->root);
    twin_release(w->me, o, true); /* at the new root: flushes the run */
    assert_totals(w, 2, 0, 0);
    bbf_stripe_retire(w->t, w->me->tid);
    assert_totals(w, 2, 0, 0);
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_totals(w, 2, 0, 0);
    walk_free(w);
}

/* The agent's thread stops in the middle of a reset: until then threads made no new node, and a
 * life that was released stayed at the step before, as if its last step had not been. */
static void a_step_in_the_middle_of_a_reset_is_not_hidden(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    uint32_t arena = (uint32_t)arena_of(w->t);
    (void)state;
    twin_step(w->me, o, w->a);
    uint32_t before = walk_node(w, o);
    atomic_store(&w->t->window, BBF_WORD(arena + 1, 0));
    twin_step(w->me, o, w->b);
    assert_int_equal(walk_node(w, o), BBF_L_NODE_BEFORE_RESET);
    assert_int_equal(bbf_node_charged(w->t, before, 0), BBF_L_NODE_BEFORE_RESET);
    assert_int_equal(bbf_node_gap(w->t, before), BBF_L_NODE_BEFORE_RESET);
    /* The next root continues what the agent's thread began. */
    assert_int_equal(bbf_node_root(w->t, w->root) >> BBF_L_ARENA_SHIFT, arena + 1);
    assert_int_equal(arena_of(w->t), arena + 1);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

static void a_leak_across_a_reset_is_a_leak(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 100);
    (void)state;
    twin_step(w->me, o, w->a);
    bbf_lives_scan(w->t, &w->agent);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_totals(w, 0, 0, 1);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_leaks, 1);
    assert_int_equal(s->nodes[s->leaks[0].node].id, BBF_L_NODE_BEFORE_RESET);
    assert_int_equal(s->leaks[0].bytes, 100);
    bbf_snapshot_free(s);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    assert_totals(w, 0, 0, 0);
    walk_free(w);
}

/* design.md: proof: what no reset clears adds up to the records' generations. */
static void assert_since_start(struct walk *w, uint64_t released, uint64_t live, uint64_t leaked,
                               uint64_t unknown)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    const struct bbf_snap_since_start *t = &s->since_start;
    assert_int_equal(t->released_, released);
    assert_int_equal(t->live_, live);
    assert_int_equal(t->leaked_, leaked);
    assert_int_equal(t->unknown_, unknown);
    assert_int_equal(t->generations_, released + live + leaked + unknown);
    bbf_snapshot_free(s);
}

static void what_was_since_the_start_is_not_reset(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1), *p;
    (void)state;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 7; i++) { /* a run, and the release row of another node */
            twin_release(w->me, o, true);
            twin_root(w->me, o, 1, w->root);
        }
        p = walk_buffer(w, BBF_MEM_DIRECT, 1);
        twin_step(w->me, p, w->a);
        twin_root(w->me, p, 1, w->root); /* the first life ends as unknown */
        twin_drop(w->heap, p);
        walk_scan(w);
        uint64_t n = (uint64_t)round + 1;
        assert_since_start(w, 7 * n, 1, n, n);
        assert_int_equal(
            round % 2 == 0 ? bbf_tracker_baseline(w->t) : bbf_tracker_reset_nodes(w->t), BBF_OK);
        assert_since_start(w, 7 * n, 1, n, n);
    }
    bbf_stripe_retire(w->t, w->me->tid);
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_since_start(w, 28, 0, 5, 4);
    walk_free(w);
}

static void the_node_limit_is_over_after_a_reset(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_nodes = 3;
    struct walk *w = walk_new(limits);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        twin_step(w->me, o, sample_step(w->t, i));
    assert_int_equal(sample_made(w->t), 3);
    assert_int_not_equal(*bbf_shared_int(w->t, BBF_L_SHARED_FLAGS) & BBF_L_SHARED_NODES_FULL, 0);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    assert_int_equal(*bbf_shared_int(w->t, BBF_L_SHARED_FLAGS) & BBF_L_SHARED_NODES_FULL, 0);
    struct twin_object *p = walk_buffer(w, BBF_MEM_DIRECT, 1);
    twin_step(w->me, p, w->a);
    twin_step(w->me, p, w->b);
    assert_int_equal(sample_made(w->t), 3);
    twin_drop(w->heap, o);
    twin_drop(w->heap, p);
    walk_free(w);
}

static void the_overflow_table_of_each_arena_is_its_own(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    uint64_t first = 0;
    for (int round = 0; round < 3; round++) {
        uint32_t root = bbf_node_root(w->t, w->root);
        for (uint32_t i = 0; i < 50; i++) {
            assert_int_equal(bbf_node_find(w->t, root, 300 + i), 0);
            uint32_t child = bbf_node_child(w->t, root, 300 + i);
            assert_int_not_equal(child, root);
            assert_int_equal(bbf_node_find(w->t, root, 300 + i), child);
        }
        if (round == 0)
            first = w->t->budget.used;
        assert_int_equal(w->t->budget.used, first); /* no memory is lost from reset to reset */
        assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    }
    walk_free(w);
}

struct filler {
    struct walk *w;
    _Atomic bool stop;
};

/* More children than a node has places for, in whatever arena is in force. */
static void *fill(void *ctx)
{
    struct filler *f = ctx;
    while (!atomic_load(&f->stop)) {
        uint32_t root = bbf_node_root(f->w->t, f->w->root);
        for (uint32_t i = 0; i < 50; i++)
            bbf_node_child(f->w->t, root, 300 + i);
    }
    return NULL;
}

/* The table of the arena before is given back even where the next one has its own by then. */
static void the_overflow_table_is_given_back_while_steps_are_made(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct filler f = {.w = w};
    pthread_t threads[2];
    (void)state;
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    uint64_t used = w->t->budget.used;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fill, &f), 0);
    for (int i = 0; i < 40; i++) {
        while (bbf_node_find(w->t, bbf_node_root(w->t, w->root), 349) == 0)
            sched_yield();
        assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    }
    atomic_store(&f.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) /* the second has no nodes to remember */
        assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    assert_int_equal(w->t->budget.used, used);
    walk_free(w);
}

static void without_an_id_range_a_reset_is_refused(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    assert_true(w->t->arenas >= 2);
    /* Java's ints carry a node's number: the last one must not be negative. */
    assert_true((uint64_t)w->t->arenas << BBF_L_ARENA_SHIFT <= UINT64_C(1) << 31);
    w->t->arenas = 3;
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_EREFUSED);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_EREFUSED);
    assert_int_equal(arena_of(w->t), 2);
    assert_totals(w, 0, 1, 0);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void limits_can_be_changed_after_a_reset(void **state)
{
    struct bbf_limits limits = sample_limits();
    struct walk *w = walk_new(limits);
    (void)state;
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    uint32_t a = bbf_node_child(w->t, bbf_node_root(w->t, w->root), w->a);
    limits.max_depth = 2;
    bbf_tracker_limit(w->t, &limits);
    assert_int_equal(bbf_node_child(w->t, a, w->b), a);
    limits.max_depth = 3;
    bbf_tracker_limit(w->t, &limits);
    assert_int_not_equal(bbf_node_child(w->t, a, w->b), a);
    walk_free(w);
}

/* What a baseline remembers is charged, 12 B a node; without room it is refused, and the one before
 * stays. A reset of the nodes needs none. */
static void a_baseline_is_charged_to_memory(void **state)
{
    struct bbf_limits limits = sample_limits();
    struct walk *w = walk_new(limits);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        bbf_node_child(w->t, walk_node(w, o), sample_step(w->t, i));
    uint64_t used = w->t->budget.used;
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_int_equal(w->t->budget.used, used + (uint64_t)12 * sample_made(w->t));
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    assert_int_equal(w->t->budget.used, used + (uint64_t)12 * sample_made(w->t));
    twin_release(w->me, o, true);
    limits.memory = w->t->budget.used + 11;
    bbf_tracker_limit(w->t, &limits);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_ELIMIT);
    assert_totals(w, 1, 0, 0);
    assert_int_equal(bbf_tracker_reset_nodes(w->t), BBF_OK);
    assert_totals(w, 0, 0, 0);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

static void what_the_shim_could_not_know_counts_from_zero(void **state)
{
    (void)state;
    static const int counters[] = {BBF_L_SHARED_UNSIZED, BBF_L_SHARED_HIDDEN, BBF_L_SHARED_EARLY};
    struct bbf_tracker *t = sample_tracker(sample_limits());
    struct bbf_sums *base, now;
    for (uint64_t i = 0; i < 3; i++)
        atomic_store(bbf_shared_long(t, counters[i]), i + 5);
    assert_int_equal(bbf_sums_new(t, &base), BBF_OK);
    for (uint64_t i = 0; i < 3; i++)
        atomic_fetch_add(bbf_shared_long(t, counters[i]), i + 1);
    bbf_sums_total(t, &now);
    bbf_sums_subtract(&now, base);
    assert_int_equal(now.unsized, 1);
    assert_int_equal(now.hidden, 2);
    assert_int_equal(now.early, 3);
    bbf_sums_free(t, base);
    sample_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_baseline_counts_from_zero),
        cmocka_unit_test(a_baseline_is_charged_to_memory),
        cmocka_unit_test(a_run_that_is_flushed_after_the_baseline_is_not_counted_twice),
        cmocka_unit_test(a_reset_of_the_nodes_begins_with_an_empty_trie),
        cmocka_unit_test(runs_of_the_old_arena_are_neither_lost_nor_counted_again),
        cmocka_unit_test(a_step_in_the_middle_of_a_reset_is_not_hidden),
        cmocka_unit_test(a_leak_across_a_reset_is_a_leak),
        cmocka_unit_test(what_was_since_the_start_is_not_reset),
        cmocka_unit_test(the_node_limit_is_over_after_a_reset),
        cmocka_unit_test(the_overflow_table_of_each_arena_is_its_own),
        cmocka_unit_test(the_overflow_table_is_given_back_while_steps_are_made),
        cmocka_unit_test(without_an_id_range_a_reset_is_refused),
        cmocka_unit_test(what_the_shim_could_not_know_counts_from_zero),
        cmocka_unit_test(limits_can_be_changed_after_a_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
