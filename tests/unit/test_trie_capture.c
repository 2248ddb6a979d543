/* link: bbf_trie bbf_core */
/* trie/capture.c and trie/sums.c: rows add up to the totals, have parents first, and show where
 * each life is or ended. */
#include "tests/unit/trie_twin.h"

#include <string.h>

static const struct bbf_snap_limit *limit_of(const struct bbf_snapshot *s, const char *name)
{
    for (size_t i = 0; i < s->n_limits; i++)
        if (strcmp(s->limits[i].name, name) == 0)
            return &s->limits[i];
    fail_msg("no limit %s", name);
    return NULL;
}

/* Parents come first, passed is the sum below, totals are the sums of their columns. */
static void assert_adds_up(const struct bbf_snapshot *s)
{
    uint64_t own = 0, roots = 0, released = 0, live = 0, leaked = 0, unknown = 0;
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct bbf_snap_node *n = &s->nodes[i];
        uint64_t ends =
            n->released_ + n->live_ + n->leaked_ + n->held_ + n->harmless_ + n->unknown_;
        uint64_t below = ends;
        bool parent_seen = n->parent < 0;
        for (size_t k = 0; k < s->n_nodes; k++) {
            if (s->nodes[k].parent == (int64_t)n->id)
                below += s->nodes[k].passed_;
            parent_seen = parent_seen || (k < i && s->nodes[k].id == n->parent);
        }
        assert_true(parent_seen);
        assert_int_equal(n->passed_, below);
        assert_true(n->site < s->n_sites);
        own += ends;
        roots += n->parent < 0 ? n->passed_ : 0;
        released += n->released_;
        live += n->live_;
        leaked += n->leaked_;
        unknown += n->unknown_;
    }
    assert_int_equal(s->totals.lives_, own);
    assert_int_equal(s->totals.lives_, roots);
    assert_int_equal(s->totals.released_, released);
    assert_int_equal(s->totals.live_, live);
    assert_int_equal(s->totals.leaked_, leaked);
    assert_int_equal(s->totals.unknown_, unknown);
    assert_int_equal(bbf_snapshot_check(s), BBF_OK);
}

static void an_empty_tracker_has_no_rows(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_snapshot *s = sample_capture(w->t);
    (void)state;
    assert_int_equal(s->n_nodes, 0);
    assert_int_equal(s->n_leaks, 0);
    assert_int_equal(s->totals.lives_, 0);
    assert_int_equal(s->n_limits, 9);
    assert_int_equal(limit_of(s, "maxNodes")->used, 0);
    assert_int_equal(limit_of(s, "memory")->limit, 256u << 20);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* A few hundred lives with every kind of end, over steps, loops, buckets and classes. */
static void rows_of_many_lives_add_up(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *kept[8];
    uint32_t steps[7];
    unsigned n_kept = 0;
    (void)state;
    for (unsigned i = 0; i < 7; i++)
        steps[i] = sample_step(w->t, i);
    for (unsigned i = 0; i < 800; i++) {
        struct twin_object *o = walk_buffer(w, i % 3 == 0 ? BBF_MEM_HEAP : BBF_MEM_DIRECT, i);
        o->kind = (o->kind & ~(uint64_t)BBF_L_KIND_CLASS) | w->heap_class;
        for (unsigned k = 0; k < i % 40; k++) {
            twin_step(w->me, o, steps[(i * k + k / 3) % 7]);
            if (k % 11 == 10)
                twin_refs(w->me, o, i % 2 == 0 ? 2 : -1);
        }
        if (i % 100 == 7)
            kept[n_kept++] = o;
        else if (i % 100 != 50 && i % 100 != 60)
            twin_release(w->me, o, true);
        if (i % 100 == 60)
            twin_root(w->me, o, 1, w->root);
        if (i % 100 != 7)
            twin_drop(w->heap, o);
    }
    walk_scan(w);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_adds_up(s);
    assert_int_equal(s->totals.live_, 8);
    assert_int_equal(s->totals.leaked_, 16);
    assert_int_equal(s->totals.unknown_, 8);
    assert_int_equal(s->totals.released_, 800 - 8 - 16);
    assert_int_equal(s->totals.lives_, 808);
    assert_int_equal(s->totals.raced_steps_, 0);
    assert_int_equal(s->totals.internal_errors_, 0);
    uint64_t bytes = 0;
    for (unsigned i = 7; i < 800; i += 100)
        bytes += i;
    assert_int_equal(s->totals.live_bytes_, bytes);
    uint64_t leaks = 0;
    for (size_t i = 0; i < s->n_leaks; i++)
        leaks += s->leaks[i].count;
    assert_int_equal(leaks, 16);
    assert_int_equal(limit_of(s, "maxNodes")->used, sample_made(w->t));
    bbf_snapshot_free(s);
    for (unsigned i = 0; i < n_kept; i++)
        twin_drop(w->heap, kept[i]);
    walk_scan(w);
    s = sample_capture(w->t);
    assert_adds_up(s);
    assert_int_equal(s->totals.leaked_, 24);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* What no life reached, edges of the overflow table and nodes that lost a race make no row. */
static void only_what_a_life_reached_has_a_row(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    uint32_t root = walk_node(w, o);
    twin_step(w->me, o, w->a);
    uint32_t a = walk_node(w, o);
    for (uint32_t i = 0; i < 6; i++)
        bbf_node_child(w->t, a, sample_step(w->t, i));  /* no life stays there */
    assert_int_equal(bbf_node_child(w->t, a, w->a), a); /* an edge back */
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_adds_up(s);
    assert_int_equal(s->n_nodes, 2);
    assert_int_equal(sample_row(s, root)->passed_, 1);
    assert_int_equal(sample_row(s, root)->live_, 0);
    assert_int_equal(sample_row(s, a)->live_, 1);
    assert_int_equal(s->n_sites, 2);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void the_depth_that_is_used_counts_steps_only(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_depth = 3;
    limits.max_children = 6;
    struct walk *w = walk_new(limits);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    twin_step(w->me, o, w->a);
    for (uint32_t i = 0; i < 6; i++)
        bbf_node_child(w->t, walk_node(w, o), sample_step(w->t, i));
    twin_step(w->me, o, w->b); /* no room: stays */
    twin_step(w->me, o, sample_step(w->t, 5));
    twin_step(w->me, o, w->b); /* too deep: stays */
    assert_int_equal(bbf_node_at(w->t, walk_node(w, o))->depth, 3);
    twin_release(w->me, o, true); /* its row is one deeper */
    twin_drop(w->heap, o);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_adds_up(s);
    assert_int_equal(limit_of(s, "maxDepth")->used, 3);
    assert_int_equal(limit_of(s, "maxDepth")->limit, 3);
    assert_int_equal(limit_of(s, "maxChildren")->used, 6);
    assert_int_equal(limit_of(s, "maxChildren")->hit, 1);
    assert_true(s->totals.dropped_steps_ >= 1);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* Runs that no thread has flushed yet are in the sums, and stay where they are. */
static void reading_does_not_change_what_is_read(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    for (int i = 0; i < 5; i++) {
        twin_release(w->me, o, true);
        twin_root(w->me, o, 1, w->root);
    }
    for (int i = 0; i < 3; i++) {
        struct bbf_snapshot *s = sample_capture(w->t);
        assert_adds_up(s);
        assert_int_equal(s->totals.released_, 5);
        assert_int_equal(s->totals.live_, 1);
        bbf_snapshot_free(s);
    }
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.released_, 6);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* A run that waits for its row at the node limit does not reach it again at every look. */
static void looking_does_not_reach_a_limit(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_nodes = 2;
    struct walk *w = walk_new(limits);
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    twin_step(w->me, o, w->a);
    twin_release(w->me, o, true);
    struct bbf_snapshot *s = sample_capture(w->t);
    uint64_t hit = limit_of(s, "maxNodes")->hit;
    bbf_snapshot_free(s);
    for (int i = 0; i < 3; i++) {
        s = sample_capture(w->t);
        assert_int_equal(limit_of(s, "maxNodes")->hit, hit);
        assert_int_equal(s->totals.released_, 1);
        bbf_snapshot_free(s);
    }
    twin_drop(w->heap, o);
    walk_free(w);
}

static void the_tallies_of_all_threads_are_added(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_thread other = {.w = &w->twin, .tid = 5, .random = 9};
    (void)state;
    twin_count(w->me, BBF_L_TALLY_MISUSE);
    twin_count(&other, BBF_L_TALLY_MISUSE);
    twin_count(&other, BBF_L_TALLY_HOLDERS_UNKNOWN);
    atomic_fetch_add(bbf_shared_long(w->t, BBF_L_SHARED_TALLY + 8 * BBF_L_TALLY_MISUSE), 1);
    atomic_fetch_add(bbf_shared_long(w->t, BBF_L_SHARED_UNTRACKED), 4);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.misuse_, 3);
    assert_int_equal(s->totals.holders_unknown_, 1);
    assert_int_equal(s->totals.untracked_buffers_, 4);
    bbf_snapshot_free(s);
    bbf_stripe_retire(w->t, 5);
    s = sample_capture(w->t);
    assert_int_equal(s->totals.misuse_, 3);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void heap_roots_can_be_left_out_and_taken_in_again(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct bbf_site like = {.class_name = (char *)"test/Sample",
                            .method = (char *)"heapBuffer",
                            .descriptor = (char *)"",
                            .kind = BBF_SITE_ROOT,
                            .memory = BBF_MEM_HEAP};
    uint32_t heap = bbf_site_intern(w->t, &like) | BBF_MEM_HEAP << BBF_L_META_MEM_SHIFT;
    struct twin_object *o = walk_object(w), *p = walk_object(w), *q = walk_object(w);
    (void)state;
    twin_root(w->me, o, 8, heap);
    uint32_t root = walk_node(w, o);
    bbf_tracker_direct_only(w->t, true);
    bbf_tracker_direct_only(w->t, true);
    twin_root(w->me, p, 8, heap);
    assert_int_equal(atomic_load(&p->bbf), BBF_HANDLE_IGN);
    struct twin_object *direct = walk_buffer(w, BBF_MEM_DIRECT, 8);
    twin_step(w->me, o, w->a);
    twin_step(w->me, p, w->a);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.live_, 2); /* the open one and the direct one continue */
    bbf_snapshot_free(s);
    bbf_tracker_direct_only(w->t, false);
    twin_root(w->me, q, 8, heap);
    assert_int_equal(walk_node(w, q), root);
    twin_root(w->me, p, 8, heap); /* met again: followed from now on */
    assert_int_equal(walk_node(w, p), root);
    struct twin_object *all[] = {o, p, q, direct};
    for (int i = 0; i < 4; i++) {
        twin_release(w->me, all[i], true);
        twin_drop(w->heap, all[i]);
    }
    walk_scan(w);
    s = sample_capture(w->t);
    assert_adds_up(s);
    assert_int_equal(s->totals.released_, 4);
    assert_int_equal(s->totals.dropped_lives_, 0);
    bbf_snapshot_free(s);
    walk_free(w);
}

/* An open life on each of `count` paths of two steps. */
static void many_paths(struct walk *w, uint32_t count, struct twin_object **out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = walk_buffer(w, BBF_MEM_DIRECT, 1);
        twin_step(w->me, out[i], sample_step(w->t, i / 200));
        twin_step(w->me, out[i], sample_step(w->t, 1000 + i % 200));
    }
}

/* Rows that `memory` has no room for are part of their parents' rows; a leak's row is kept, totals
 * are what they were, and everything is given back with the snapshot. */
static void without_room_the_least_used_rows_are_folded(void **state)
{
    enum { PATHS = 40000 };
    struct walk *w = walk_new(sample_limits());
    struct twin_object **open = calloc(PATHS, sizeof *open);
    struct bbf_limits limits = sample_limits();
    assert_non_null(open);
    (void)state;
    many_paths(w, PATHS, open);
    uint32_t last = walk_node(w, open[PATHS - 1]);
    twin_drop(w->heap, open[PATHS - 1]);
    walk_scan(w);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_nodes, 1 + PATHS / 200 + PATHS);
    assert_int_equal(s->folded_rows, 0);
    bbf_snapshot_free(s);
    uint64_t used = atomic_load(&w->t->budget.used);
    limits.memory = used + 1000 * BBF_REPORT_BYTES;
    bbf_tracker_limit(w->t, &limits);
    for (int round = 0; round < 2; round++) {
        size_t room = BBF_NODES_PER_STEP + bbf_reserved_bytes(3) / BBF_REPORT_BYTES + 1000;
        s = sample_capture(w->t);
        assert_true(atomic_load(&w->t->budget.used) <= limits.memory);
        assert_int_equal(s->n_nodes, room);
        assert_int_equal(s->folded_rows, 1 + PATHS / 200 + PATHS - room);
        assert_int_equal(s->totals.live_, PATHS - 1);
        assert_int_equal(s->totals.leaked_, 1);
        assert_int_equal(sample_row(s, last)->leaked_, 1);
        assert_int_equal(s->nodes[s->leaks[0].node].id, last);
        assert_true(limit_of(s, "memory")->hit > 0);
        /* A second one at the same time has only what is left. */
        struct bbf_snapshot *two = sample_capture(w->t);
        assert_int_equal(two->n_nodes, BBF_NODES_PER_STEP);
        assert_int_equal(two->totals.live_, PATHS - 1);
        bbf_snapshot_free(two);
        bbf_snapshot_free(s);
        assert_int_equal(atomic_load(&w->t->budget.used), used);
    }
    for (int i = 0; i < PATHS - 1; i++)
        twin_drop(w->heap, open[i]);
    free(open);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_tracker_has_no_rows),
        cmocka_unit_test(rows_of_many_lives_add_up),
        cmocka_unit_test(only_what_a_life_reached_has_a_row),
        cmocka_unit_test(the_depth_that_is_used_counts_steps_only),
        cmocka_unit_test(reading_does_not_change_what_is_read),
        cmocka_unit_test(looking_does_not_reach_a_limit),
        cmocka_unit_test(the_tallies_of_all_threads_are_added),
        cmocka_unit_test(heap_roots_can_be_left_out_and_taken_in_again),
        cmocka_unit_test(without_room_the_least_used_rows_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
