/* link: bbf_trie bbf_core */
/* bbf_tracker_ask(): the short path is closed to a root, and opened again; which paths are bare. */
#include "trie/switches.h"

#include "tests/unit/trie_twin.h"

static uint32_t fast(const struct walk *w, uint32_t site)
{
    return atomic_load(&w->t->roots[site]);
}

static uint32_t flag(const struct walk *w)
{
    return atomic_load(bbf_shared_int(w->t, BBF_L_SHARED_FLAGS)) & BBF_L_SHARED_ASKED;
}

static uint32_t root_site(struct walk *w, const char *method)
{
    const struct bbf_site like = {.class_name = (char *)(uintptr_t) "io.netty.Pool",
                                  .method = (char *)(uintptr_t)method,
                                  .descriptor = (char *)(uintptr_t) "",
                                  .kind = BBF_SITE_ROOT,
                                  .memory = BBF_MEM_DIRECT};
    return bbf_site_intern(w->t, &like);
}

static void a_root_that_is_asked_for_has_no_short_path(void **state)
{
    struct walk *w = walk_new(sample_limits());
    uint32_t one = root_site(w, "one"), two = root_site(w, "two");
    (void)state;
    uint32_t node = bbf_node_root(w->t, one);
    assert_int_equal(fast(w, one), node);
    bbf_tracker_ask(w->t, one, true);
    bbf_tracker_ask(w->t, one, true);
    assert_true(bbf_tracker_asks(w->t, one));
    assert_int_equal(fast(w, one), BBF_L_NODE_NONE);
    assert_int_equal(bbf_node_root(w->t, one), node); /* by the slow way, which does not open it */
    assert_int_equal(fast(w, one), BBF_L_NODE_NONE);
    bbf_tracker_pause(w->t); /* what else fills the table */
    bbf_tracker_resume(w->t);
    assert_int_equal(fast(w, one), BBF_L_NODE_NONE);
    assert_int_equal(fast(w, two), BBF_L_NODE_NONE);
    uint32_t other = bbf_node_root(w->t, two); /* the others have theirs */
    assert_int_equal(fast(w, two), other);
    assert_int_equal(flag(w), BBF_L_SHARED_ASKED);
    bbf_tracker_ask(w->t, two, true);
    bbf_tracker_ask(w->t, one, false);
    assert_int_equal(flag(w), BBF_L_SHARED_ASKED);
    bbf_tracker_ask(w->t, two, false);
    assert_int_equal(flag(w), 0);
    assert_int_equal(bbf_node_root(w->t, one), node);
    assert_int_equal(fast(w, one), node);
    walk_free(w);
}

static void only_the_root_and_its_buckets_are_bare(void **state)
{
    struct walk *w = walk_new(sample_limits());
    uint32_t site = root_site(w, "one"), root = bbf_node_root(w->t, site);
    uint32_t retained = bbf_node_bucket(w->t, root, BBF_REF_3_5);
    (void)state;
    assert_int_equal(bbf_node_bare_root(w->t, root), site);
    assert_true(retained != root);
    assert_int_equal(bbf_node_bare_root(w->t, retained), site);
    uint32_t step = bbf_node_child(w->t, root, w->a);
    assert_int_equal(bbf_node_bare_root(w->t, step), 0);
    assert_int_equal(bbf_node_bare_root(w->t, bbf_node_child(w->t, retained, w->a)), 0);
    assert_int_equal(bbf_node_bare_root(w->t, BBF_L_NODE_RACED), 0);
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_that_is_asked_for_has_no_short_path),
        cmocka_unit_test(only_the_root_and_its_buckets_are_bare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
