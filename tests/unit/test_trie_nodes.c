/* link: bbf_trie bbf_core */
/* trie/node.c: children in the node and beside it, limits, loops, refCnt buckets, release rows; and
 * threads that insert the same children at once.
 */
#include "tests/unit/trie_sample.h"

enum { INSERTERS = 4, RACED_KEYS = 400 };

/* ---- children ---- */

static void a_child_is_made_once_and_found_again(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t);
    (void)state;
    assert_int_equal(bbf_node_find(t, root, 77), 0);
    uint32_t child = bbf_node_child(t, root, 77);
    assert_int_not_equal(child, root);
    assert_int_equal(bbf_node_child(t, root, 77), child);
    assert_int_equal(bbf_node_find(t, root, 77), child);
    const struct bbf_node *n = bbf_node_at(t, child);
    assert_int_equal(n->parent, root);
    assert_int_equal(n->site, 77);
    assert_int_equal(n->depth, 2);
    assert_int_equal(sample_bucket(t, child), BBF_REF_1_2);
    assert_int_equal(sample_bucket(t, root), BBF_REF_1_2);
    assert_int_equal(bbf_node_at(t, root)->depth, 1);
    sample_free(t);
}

static void a_root_is_made_once_for_each_site(void **state)
{
    struct bbf_tracker *t = sample_default();
    (void)state;
    uint32_t a = bbf_node_root(t, 500), b = bbf_node_root(t, 501);
    assert_int_not_equal(a, b);
    assert_int_equal(bbf_node_root(t, 500), a);
    assert_int_equal(bbf_node_root(t, 501), b);
    assert_int_equal(a >> BBF_L_ARENA_SHIFT, 1);
    sample_free(t);
}

/* Four words are in the node, the rest in the overflow table: callers see no difference. */
static void the_fifth_child_goes_to_the_overflow_table(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), child[10];
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        child[i] = bbf_node_child(t, root, 100 + i);
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(child[i], child[k]);
    }
    struct bbf_node *n = bbf_node_at(t, root);
    for (uint32_t i = 0; i < BBF_L_INLINE_CHILDREN; i++)
        assert_int_equal(n->child[i], BBF_WORD(100 + i, child[i]));
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(bbf_node_find(t, root, 100 + i), child[i]);
        assert_int_equal(bbf_node_child(t, root, 100 + i), child[i]);
        assert_int_equal(bbf_node_at(t, child[i])->parent, root);
    }
    assert_int_equal(bbf_node_find(t, root, 110), 0);
    /* The same keys under another node are other children. */
    assert_int_equal(bbf_node_find(t, child[9], 105), 0);
    assert_int_equal(n->children, 10);
    sample_free(t);
}

static void a_full_node_keeps_its_children_and_takes_no_other(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), child[1000];
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(sample_flags(t, root) & BBF_L_FLAG_FULL, 0);
        child[i] = bbf_node_child(t, root, 1000 + i);
        assert_int_not_equal(child[i], root);
    }
    assert_int_equal(t->hit_children, 0);
    assert_int_equal(bbf_node_child(t, root, 5000), root);
    assert_int_equal(sample_flags(t, root) & BBF_L_FLAG_FULL, BBF_L_FLAG_FULL);
    assert_int_equal(t->hit_children, 1);
    assert_int_equal(bbf_node_at(t, root)->children, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(bbf_node_child(t, root, 1000 + i), child[i]);
    /* The limit is one node's: its children still grow. */
    assert_int_not_equal(bbf_node_child(t, child[999], 5000), child[999]);
    /* A higher limit opens it again. */
    struct bbf_limits limits = sample_limits();
    limits.max_children = 1001;
    bbf_tracker_limit(t, &limits);
    assert_int_equal(sample_flags(t, root) & BBF_L_FLAG_FULL, 0);
    assert_int_not_equal(bbf_node_child(t, root, 5000), root);
    assert_int_equal(bbf_node_child(t, root, 5001), root);
    sample_free(t);
}

/* ---- limits ---- */

static void the_depth_ends_at_its_limit(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_depth = 8;
    struct bbf_tracker *t = sample_tracker(limits);
    uint32_t at = sample_root(t), up = at;
    (void)state;
    for (uint32_t depth = 2; depth <= 8; depth++) {
        assert_int_equal(sample_flags(t, at) & BBF_L_FLAG_NO_STEPS, 0);
        up = at;
        at = bbf_node_child(t, at, 100 + depth);
        assert_int_equal(bbf_node_at(t, at)->depth, depth);
    }
    assert_int_equal(sample_flags(t, at) & BBF_L_FLAG_NO_STEPS, BBF_L_FLAG_NO_STEPS);
    assert_int_equal(bbf_node_child(t, at, 500), at);
    assert_int_equal(bbf_node_child(t, at, 501), at);
    assert_int_equal(t->hit_depth, 2);
    /* A step that only repeats leads back even from there. */
    assert_int_equal(bbf_node_child(t, at, 108), at);
    assert_int_equal(t->hit_depth, 2);
    assert_int_not_equal(bbf_node_child(t, up, 500), up);
    sample_free(t);
}

static void at_the_node_limit_known_ways_are_still_walked(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_nodes = 12;
    struct bbf_tracker *t = sample_tracker(limits);
    _Atomic uint32_t *shared = bbf_shared_int(t, BBF_L_SHARED_FLAGS);
    uint32_t root = sample_root(t), child[11];
    (void)state;
    for (uint32_t i = 0; i < 11; i++)
        assert_int_not_equal(child[i] = bbf_node_child(t, root, 100 + i), root);
    assert_int_equal(*shared & BBF_L_SHARED_NODES_FULL, 0);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(bbf_node_child(t, root, 200 + i), root);
    assert_int_equal(bbf_node_root(t, 900), BBF_L_NODE_NONE);
    assert_int_equal(t->hit_nodes, 51);
    assert_int_equal(*shared & BBF_L_SHARED_NODES_FULL, BBF_L_SHARED_NODES_FULL);
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(bbf_node_child(t, root, 100 + i), child[i]);
    /* Children that could not be made take no room from those that may be made later. */
    assert_int_equal(bbf_node_at(t, root)->children, 11);
    limits.max_nodes = 13;
    bbf_tracker_limit(t, &limits);
    assert_int_equal(*shared & BBF_L_SHARED_NODES_FULL, 0);
    assert_int_not_equal(bbf_node_child(t, root, 200), root);
    sample_free(t);
}

static void memory_is_a_limit_like_the_others(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.memory = 4u << 20; /* records, reserved nodes and their counters: two MiB and a bit */
    struct bbf_tracker *t = sample_tracker(limits);
    uint32_t root = sample_root(t), last = root;
    uint64_t used = t->budget.used;
    unsigned made = 0;
    (void)state;
    assert_true(used > 0 && used <= limits.memory);
    for (uint32_t i = 0; i < 100; i++) { /* the overflow table alone is 8 MiB: four children fit */
        last = bbf_node_child(t, root, 100 + i);
        made += last != root;
    }
    assert_int_equal(made, 4);
    assert_int_equal(last, root);
    assert_true(t->budget.refused > 0);
    assert_true(t->budget.used <= limits.memory);
    assert_int_equal(bbf_node_at(t, root)->children, 4);
    limits.memory = 64u << 20;
    bbf_tracker_limit(t, &limits);
    assert_int_not_equal(bbf_node_child(t, root, 104), root);
    sample_free(t);
}

static void the_reserved_nodes_lead_nowhere(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t made = sample_made(t);
    (void)state;
    for (uint32_t id = BBF_L_NODE_RACED; id <= BBF_L_NODE_BEFORE_RESET; id++) {
        assert_int_equal(bbf_node_child(t, id, 77), id);
        assert_int_equal(bbf_node_bucket(t, id, BBF_REF_6), id);
    }
    bbf_node_released(t, BBF_L_NODE_RACED, 1, 5);
    bbf_node_released(t, 0, 1, 2); /* position unknown: ?raced (docs/memory-model.md) */
    bbf_node_unknown(t, BBF_L_NODE_BEFORE_RESET);
    assert_int_equal(*bbf_released_count(t, BBF_L_NODE_RACED), 7);
    assert_int_equal(bbf_node_at(t, BBF_L_NODE_BEFORE_RESET)->unknown, 1);
    assert_int_equal(sample_made(t), made);
    assert_int_equal(bbf_node_charged(t, BBF_WORD(7, 0), 7), BBF_L_NODE_RACED);
    assert_int_equal(bbf_node_charged(t, BBF_WORD(6, 99), 7), BBF_L_NODE_RACED);
    sample_free(t);
}

/* ---- loops ---- */

static void the_same_site_again_stays_on_its_node(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), a = bbf_node_child(t, root, 100);
    (void)state;
    uint32_t made = sample_made(t);
    assert_int_equal(bbf_node_child(t, a, 100), a);
    assert_int_equal(bbf_node_at(t, a)->child[0], BBF_WORD(100, a)); /* the next one is a hit */
    assert_int_equal(sample_made(t), made);
    assert_int_equal(bbf_node_at(t, a)->children, 0);
    assert_int_equal(sample_flags(t, a) & BBF_L_FLAG_LOOP, 0);
    sample_free(t);
}

/* With four children in the node, an edge back is in the overflow table as well. */
static void an_edge_back_fits_a_node_with_many_children(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t a = bbf_node_child(t, sample_root(t), 100);
    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        bbf_node_child(t, a, 200 + i);
    assert_int_equal(bbf_node_child(t, a, 100), a);
    assert_int_equal(bbf_node_find(t, a, 100), a);
    uint32_t made = sample_made(t);
    assert_int_equal(bbf_node_child(t, a, 100), a);
    assert_int_equal(sample_made(t), made);
    uint32_t b = bbf_node_child(t, a, 200),
             back = bbf_node_child(t, bbf_node_child(t, b, 100), 200);
    assert_int_equal(back, b);
    assert_int_equal(sample_flags(t, b) & BBF_L_FLAG_LOOP, BBF_L_FLAG_LOOP);
    sample_free(t);
}

/* Walk `period` sites round and round; how many nodes that takes. */
static uint32_t walk_round(struct bbf_tracker *t, uint32_t period, uint32_t rounds)
{
    uint32_t at = sample_root(t), before = sample_made(t);
    for (uint32_t i = 0; i < rounds * period; i++) {
        at = bbf_node_child(t, at, 100 + i % period);
        if (period <= 16)
            assert_int_equal(bbf_node_at(t, at)->site, 100 + i % period);
    }
    return sample_made(t) - before;
}

static void a_loop_of_up_to_sixteen_steps_costs_no_new_nodes(void **state)
{
    (void)state;
    for (uint32_t period = 1; period <= 16; period++) {
        struct bbf_tracker *t = sample_default();
        /* The second round is seen as a repeat when its last step comes. */
        assert_int_equal(walk_round(t, period, 50), 2 * period - 1);
        bool loop = false;
        for (uint32_t id = 1u << BBF_L_ARENA_SHIFT; id < t->next_node; id++)
            loop = loop || (sample_flags(t, id) & BBF_L_FLAG_LOOP) != 0;
        assert_int_equal(loop, period > 1);
        assert_int_equal(t->folded != 0, period > 1);
        sample_free(t);
    }
    struct bbf_tracker *t = sample_default();
    assert_int_equal(walk_round(t, 17, 50), 99); /* to the depth limit, with the root */
    assert_true(t->hit_depth > 0);
    sample_free(t);
}

/* ---- refCnt buckets ---- */

static void a_count_that_goes_up_and_down_comes_back_to_its_node(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), a = bbf_node_child(t, root, 100);
    (void)state;
    assert_int_equal(bbf_node_bucket(t, a, BBF_REF_1_2), a);
    uint32_t up = bbf_node_bucket(t, a, BBF_REF_3_5);
    assert_int_not_equal(up, a);
    assert_int_equal(bbf_node_at(t, up)->parent, root);
    assert_int_equal(bbf_node_at(t, up)->site, 100);
    assert_int_equal(sample_bucket(t, up), BBF_REF_3_5);
    uint32_t top = bbf_node_bucket(t, up, BBF_REF_6);
    assert_int_equal(sample_bucket(t, top), BBF_REF_6);
    assert_int_equal(bbf_node_bucket(t, top, BBF_REF_3_5), up);
    assert_int_equal(bbf_node_bucket(t, up, BBF_REF_1_2), a);
    assert_int_equal(bbf_node_bucket(t, a, BBF_REF_3_5), up);
    /* The step after a twin is below it, in its bucket, and the bucket can fall again there. */
    uint32_t b = bbf_node_child(t, up, 101);
    assert_int_equal(sample_bucket(t, b), BBF_REF_3_5);
    assert_int_equal(bbf_node_find(t, a, 101), 0);
    uint32_t down = bbf_node_bucket(t, b, BBF_REF_1_2);
    assert_int_equal(bbf_node_at(t, down)->parent, up);
    assert_int_equal(sample_bucket(t, down), BBF_REF_1_2);
    assert_int_equal(bbf_node_bucket(t, down, BBF_REF_3_5), b);
    /* No step is a twin: the limit of children does not count them. */
    assert_int_equal(bbf_node_at(t, root)->children, 1);
    sample_free(t);
}

/* A buffer derived from a life with many retains begins with a count of its own. */
static void a_key_that_names_a_bucket_gets_it(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), a = bbf_node_child(t, root, 100);
    uint32_t up = bbf_node_bucket(t, a, BBF_REF_3_5);
    uint32_t key = (BBF_REF_1_2 + 1) << BBF_L_KEY_BUCKET_SHIFT | 101;
    (void)state;
    uint32_t derived = bbf_node_child(t, up, key);
    assert_int_equal(sample_bucket(t, derived), BBF_REF_1_2);
    assert_int_equal(bbf_node_at(t, derived)->site, 101);
    assert_int_equal(bbf_node_at(t, derived)->parent, up);
    assert_int_equal(bbf_node_child(t, up, key), derived);
    assert_int_equal(sample_bucket(t, bbf_node_child(t, derived, 102)), BBF_REF_1_2);
    sample_free(t);
}

static void a_roots_twin_is_its_child(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), up = bbf_node_bucket(t, root, BBF_REF_3_5);
    (void)state;
    assert_int_equal(bbf_node_at(t, up)->parent, root);
    assert_int_equal(bbf_node_at(t, up)->site, bbf_node_at(t, root)->site);
    uint32_t top = bbf_node_bucket(t, up, BBF_REF_6);
    assert_int_equal(bbf_node_at(t, top)->parent, root);
    assert_int_equal(bbf_node_bucket(t, top, BBF_REF_3_5), up);
    assert_int_equal(bbf_node_bucket(t, up, BBF_REF_1_2), root);
    assert_int_equal(bbf_node_bucket(t, top, BBF_REF_1_2), root);
    assert_int_equal(bbf_node_bucket(t, root, BBF_REF_3_5), up);
    sample_free(t);
}

static void twins_are_found_behind_four_other_children(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), a = 0;
    (void)state;
    for (uint32_t i = 0; i < 9; i++)
        a = bbf_node_child(t, root, 100 + i);
    uint32_t up = bbf_node_bucket(t, a, BBF_REF_3_5);
    assert_int_not_equal(up, a);
    assert_int_equal(bbf_node_bucket(t, a, BBF_REF_3_5), up);
    assert_int_equal(bbf_node_bucket(t, up, BBF_REF_1_2), a);
    assert_int_equal(bbf_node_find(t, root, 108), a);
    sample_free(t);
}

/* ---- release rows ---- */

static void released_lives_are_counted_in_a_row_for_each_class(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_depth = 2;
    limits.max_children = 1;
    struct bbf_tracker *t = sample_tracker(limits);
    uint32_t root = sample_root(t), a = bbf_node_child(t, root, 100);
    (void)state;
    uint32_t heap = bbf_class_intern(t, "io/netty/buffer/UnpooledHeapByteBuf");
    uint32_t direct = bbf_class_intern(t, "io/netty/buffer/UnpooledDirectByteBuf");
    /* Also at the limits of depth and children: no step is made here. */
    bbf_node_released(t, a, heap, 3);
    bbf_node_released(t, a, direct, 5);
    bbf_node_released(t, a, heap, 4);
    uint32_t key = (BBF_REF_0 + 1) << BBF_L_KEY_BUCKET_SHIFT;
    uint32_t row = bbf_node_find(t, a, key | t->release_site[heap]);
    uint32_t other = bbf_node_find(t, a, key | t->release_site[direct]);
    assert_int_not_equal(row, 0);
    assert_int_not_equal(other, 0);
    assert_int_equal(*bbf_released_count(t, row), 7);
    assert_int_equal(*bbf_released_count(t, other), 5);
    assert_int_equal(*bbf_released_count(t, a), 0);
    assert_int_equal(sample_bucket(t, row), BBF_REF_0);
    assert_int_equal(bbf_node_at(t, row)->parent, a);
    assert_int_equal(t->hit_depth, 0);
    assert_int_equal(t->hit_children, 0);
    /* A class without a number is charged at the node itself. */
    bbf_node_released(t, a, 0, 2);
    assert_int_equal(*bbf_released_count(t, a), 2);
    sample_free(t);
}

static void without_room_for_a_row_the_node_itself_is_charged(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_nodes = 2;
    struct bbf_tracker *t = sample_tracker(limits);
    uint32_t a = bbf_node_child(t, sample_root(t), 100);
    uint32_t heap = bbf_class_intern(t, "io/netty/buffer/UnpooledHeapByteBuf");
    (void)state;
    bbf_node_released(t, a, heap, 3);
    assert_int_equal(*bbf_released_count(t, a), 3);
    sample_free(t);
}

/* ---- threads ---- */

struct inserter {
    struct bbf_tracker *t;
    pthread_barrier_t *start;
    uint32_t parent, first, got[RACED_KEYS];
};

static void *insert_all(void *arg)
{
    struct inserter *in = arg;
    pthread_barrier_wait(in->start);
    for (uint32_t i = 0; i < RACED_KEYS; i++) {
        uint32_t key = (in->first + i) % RACED_KEYS; /* neighbours meet at the same keys */
        in->got[key] = bbf_node_child(in->t, in->parent, 100 + key);
        bbf_node_child(in->t, in->got[key], 7000 + key % 3);
    }
    return NULL;
}

static void racing_inserters(uint32_t stagger)
{
    struct bbf_tracker *t = sample_default();
    struct inserter in[INSERTERS];
    pthread_t thread[INSERTERS];
    pthread_barrier_t start;
    uint32_t root = sample_root(t);
    pthread_barrier_init(&start, NULL, INSERTERS);
    for (uint32_t i = 0; i < INSERTERS; i++) {
        in[i] = (struct inserter){.t = t, .start = &start, .parent = root, .first = i * stagger};
        assert_int_equal(pthread_create(&thread[i], NULL, insert_all, &in[i]), 0);
    }
    for (uint32_t i = 0; i < INSERTERS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&start);
    for (uint32_t key = 0; key < RACED_KEYS; key++) {
        uint32_t child = bbf_node_find(t, root, 100 + key);
        assert_int_not_equal(child, 0);
        assert_int_equal(bbf_node_at(t, child)->site, 100 + key);
        for (uint32_t i = 0; i < INSERTERS; i++)
            assert_int_equal(in[i].got[key], child);
        /* One child each, made by any thread. */
        assert_int_equal(bbf_node_at(t, child)->children, 1);
        assert_true(bbf_node_at(t, child)->parent < child);
    }
    assert_int_equal(bbf_node_at(t, root)->children, RACED_KEYS);
    sample_free(t);
}

static void racing_inserters_agree_on_every_child(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 40; round++)
        racing_inserters(round % 4);
}

/* A node that lost its race is used again, but never below a younger parent: readers count on
 * parents having lower numbers than their children. */
static void a_number_given_back_keeps_the_order_of_numbers(void **state)
{
    struct bbf_tracker *t = sample_default();
    uint32_t root = sample_root(t), spare = bbf_node_child(t, root, 100);
    (void)state;
    uint32_t young = bbf_node_child(t, root, 101);
    /* As if `spare` had lost: not in any table. */
    atomic_store(&bbf_node_at(t, root)->child[0], BBF_WORD(99, young));
    atomic_store(&t->spare_node, spare);
    uint32_t child = bbf_node_child(t, young, 102);
    assert_int_not_equal(child, young);
    assert_true(child > young);
    sample_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_made_once_and_found_again),
        cmocka_unit_test(a_root_is_made_once_for_each_site),
        cmocka_unit_test(the_fifth_child_goes_to_the_overflow_table),
        cmocka_unit_test(a_full_node_keeps_its_children_and_takes_no_other),
        cmocka_unit_test(the_depth_ends_at_its_limit),
        cmocka_unit_test(at_the_node_limit_known_ways_are_still_walked),
        cmocka_unit_test(memory_is_a_limit_like_the_others),
        cmocka_unit_test(the_reserved_nodes_lead_nowhere),
        cmocka_unit_test(the_same_site_again_stays_on_its_node),
        cmocka_unit_test(an_edge_back_fits_a_node_with_many_children),
        cmocka_unit_test(a_loop_of_up_to_sixteen_steps_costs_no_new_nodes),
        cmocka_unit_test(a_count_that_goes_up_and_down_comes_back_to_its_node),
        cmocka_unit_test(a_key_that_names_a_bucket_gets_it),
        cmocka_unit_test(a_roots_twin_is_its_child),
        cmocka_unit_test(twins_are_found_behind_four_other_children),
        cmocka_unit_test(released_lives_are_counted_in_a_row_for_each_class),
        cmocka_unit_test(without_room_for_a_row_the_node_itself_is_charged),
        cmocka_unit_test(racing_inserters_agree_on_every_child),
        cmocka_unit_test(a_number_given_back_keeps_the_order_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
