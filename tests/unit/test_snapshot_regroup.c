/* link: bbf_render bbf_snapshot bbf_core */
/*
 * Trees made smaller: which rows become one, that no life is lost or counted twice, and that
 * derived lives stay behind their derive step.
 */
#include "core/buf.h"
#include "render/render.h"
#include "snapshot/regroup.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";

/* A step of a site that several nodes may have. */
static int64_t step(struct bbf_snapshot *s, int64_t parent, uint32_t site)
{
    return sample_node(s, parent, site, BBF_REF_1_2);
}

static void assert_tree(struct bbf_snapshot *s, const char *expected)
{
    struct bbf_buf text = BBF_BUF_INIT;
    const struct bbf_render_options options = {0};

    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_render(&text, s, BBF_FORMAT_TREE, &options), 0);
    assert_string_equal(strstr(bbf_buf_cstr(&text), "ROOT:"), expected);
    bbf_buf_free(&text);
}

/* root -> A -> B -> A -> B -> C, each with a life that ends there; then again from the second A. */
static struct bbf_snapshot *looping(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t at = sample_step(s, -1, pooled, "directBuffer");
    uint32_t a = sample_site(s, "x.Loop", "a", "", BBF_SITE_ENTER);
    uint32_t b = sample_site(s, "x.Loop", "b", "", BBF_SITE_ENTER);
    uint32_t c = sample_site(s, "x.Loop", "c", "", BBF_SITE_ENTER);

    for (int turn = 0; turn < 3; turn++) {
        at = step(s, at, a);
        sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 10, 1);
        at = step(s, at, b);
        sample_release(s, at, "x.Buffer", 5);
    }
    sample_leak(s, step(s, at, c), BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 2, 7, 1);
    return s;
}

static void loops_are_folded_and_each_life_is_counted_once(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();

    assert_int_equal(bbf_snapshot_finish(s), 0);
    const struct bbf_snap_totals before = s->totals;
    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    /* Each turn has a release row of its own site: three lines. */
    assert_tree(s,
                "ROOT: PooledByteBufAllocator.directBuffer [count=20]\n"
                "└── Loop.a [ref=1, count=3] (loop) 🚨 LEAK 3 (30 B direct) oldest 1 s\n"
                "    └── Loop.b [ref=1, count=0]\n"
                "        ├── Buffer.release [ref=0, count=5]\n"
                "        ├── Buffer.release [ref=0, count=5]\n"
                "        ├── Buffer.release [ref=0, count=5]\n"
                "        └── Loop.c [ref=1, count=2] ⚠️ LEAK 2 (7 B heap) oldest 1 s\n");
    assert_memory_equal(&before, &s->totals, sizeof before);
    bbf_snapshot_free(s);
}

static bool is_method(const struct bbf_snap_site *site, void *method)
{
    return strcmp(site->method, method) == 0;
}

/* Pins at each of the three steps b. */
static void add_pins(struct bbf_snapshot *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (strcmp(s->sites[s->nodes[i].site].method, "b") == 0) {
            s->pins = sample_grow(s->pins, s->n_pins, sizeof *s->pins);
            const size_t n = s->n_pins++;
            s->pins[n] = (struct bbf_snap_pin){
                i, BBF_POOL_POOLED, BBF_MEM_DIRECT, 2, 20, 8 - n, 12 + n, 1, 100};
        }
}

/* Steps b of three turns become one; a dropped path's pins go with it. */
static void pins_follow_their_paths(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();

    add_pins(s);
    assert_int_equal(s->n_pins, 3);
    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_pins, 1);
    assert_string_equal(s->sites[s->nodes[s->pins[0].node].site].method, "b");
    assert_int_equal(s->pins[0].buffers, 6);
    assert_int_equal(s->pins[0].chunks, 3);
    assert_int_equal(s->pins[0].reserved, 300);
    assert_int_equal(s->pins[0].smallest, 6);
    assert_int_equal(s->pins[0].largest, 14);
    assert_int_equal(bbf_snapshot_only(s, is_method, "nothing"), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_pins, 0);
    bbf_snapshot_free(s);
}

/* A history at each of the three steps b: of one, two and three intervals. */
static void add_histories(struct bbf_snapshot *s)
{
    uint32_t n = 1;

    s->history.seconds = 60;
    s->history.intervals = 4;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (strcmp(s->sites[s->nodes[i].site].method, "b") == 0) {
            sample_history(
                s, (struct bbf_snap_growth){.node = i, .first_ms = 1000 - n, .last_ms = 2000 + n},
                n, (const uint64_t[4]){100, 200, 300, 400});
            n++;
        }
}

/* Histories of steps b become one, interval by interval; that of a dropped path goes with it. */
static void histories_follow_their_paths(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();

    add_histories(s);
    assert_int_equal(s->n_growth, 3);
    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_growth, 1);
    const struct bbf_snap_growth *row = &s->growth[0];
    assert_string_equal(s->sites[s->nodes[row->node].site].method, "b");
    assert_int_equal(row->n, 3);
    assert_int_equal(row->at[0].bytes, 100);
    assert_int_equal(row->at[1].bytes, 100 + 200);
    assert_int_equal(row->at[2].bytes, 100 + 200 + 300);
    assert_int_equal(row->at[2].lives, 1 + 2 + 3);
    assert_int_equal(row->first_ms, 997);
    assert_int_equal(row->last_ms, 2003);
    assert_int_equal(bbf_snapshot_only(s, is_method, "nothing"), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_growth, 0);
    bbf_snapshot_free(s);
}

/* The same at the three steps b, of two kinds of memory. */
static void add_usage(struct bbf_snapshot *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (strcmp(s->sites[s->nodes[i].site].method, "b") == 0) {
            s->usage = sample_grow(s->usage, s->n_usage, sizeof *s->usage);
            const size_t n = s->n_usage++;
            s->usage[n] = (struct bbf_snap_usage){
                i, n == 0 ? BBF_MEM_HEAP : BBF_MEM_DIRECT, 2, 100 * n, 1, 10, 60, 20, 1};
        }
    s->usage_of.seconds = 10;
    s->usage_of.unlisted = 7;
}

static void usage_follows_its_paths(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();

    add_usage(s);
    assert_int_equal(s->n_usage, 3);
    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_usage, 2);
    const struct bbf_snap_usage *row = &s->usage[0]; /* the one with most */
    assert_string_equal(s->sites[s->nodes[row->node].site].method, "b");
    assert_int_equal(row->memory, BBF_MEM_DIRECT);
    assert_int_equal(row->lives, 4);
    assert_int_equal(row->byte_seconds, 300);
    assert_int_equal(row->measured, 2);
    assert_int_equal(row->measured_bytes, 20);
    assert_int_equal(row->measured_byte_seconds, 120);
    assert_int_equal(row->unwritten_byte_seconds, 40);
    assert_int_equal(row->not_read, 2);
    assert_int_equal(s->usage_of.unlisted, 7);
    assert_int_equal(bbf_snapshot_only(s, is_method, "nothing"), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_usage, 0);
    assert_int_equal(s->usage_of.unlisted, 0);
    bbf_snapshot_free(s);
}

/* The contexts of steps b come together, the last that was lost first; those of a dropped path go
 * with it, and an overlay has its own. */
static void contexts_follow_their_paths(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping(), overlay;
    int64_t n = 1;

    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (strcmp(s->sites[s->nodes[i].site].method, "b") == 0) {
            sample_context_row(s, (struct bbf_snap_context){.node = i,
                                                            .lost_ms = n++,
                                                            .channel = (char *)"0x1",
                                                            .hint_is = BBF_HINT_TEXT,
                                                            .hint = (char *)"h",
                                                            .thrown = (char *)"t",
                                                            .caught_in = (char *)"c"});
        }
    assert_int_equal(s->n_contexts, 3);
    assert_int_equal(bbf_snapshot_overlay(&overlay, s), 0);
    assert_int_equal(bbf_snapshot_only(&overlay, is_method, "nothing"), 0);
    assert_int_equal(overlay.n_contexts, 0);
    bbf_snapshot_overlay_free(&overlay);
    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_contexts, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(s->sites[s->nodes[s->contexts[i].node].site].method, "b");
        assert_int_equal(s->contexts[i].lost_ms, 3 - i);
        assert_string_equal(s->contexts[i].hint, "h");
    }
    assert_int_equal(bbf_snapshot_only(s, is_method, "nothing"), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_contexts, 0);
    bbf_snapshot_free(s);
}

/* A tree with too many lines is folded for showing alone. */
static void what_is_shown_folded_stays_as_it_was(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();
    struct bbf_buf before = BBF_BUF_INIT, after = BBF_BUF_INIT, tree = BBF_BUF_INIT;
    const struct bbf_render_options all = {0}, few = {.max_lines = 4};

    add_pins(s);
    add_usage(s);
    add_histories(s);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_render(&before, s, BBF_FORMAT_JSON, &all), 0);
    assert_int_equal(bbf_render(&tree, s, BBF_FORMAT_TREE, &few), 0);
    assert_non_null(strstr(bbf_buf_cstr(&tree), "(loop)"));
    assert_int_equal(bbf_render(&after, s, BBF_FORMAT_JSON, &all), 0);
    assert_string_equal(bbf_buf_cstr(&after), bbf_buf_cstr(&before));
    bbf_buf_free(&before);
    bbf_buf_free(&after);
    bbf_buf_free(&tree);
    bbf_snapshot_free(s);
}

/* A derived life's path begins at its derive step: it must not move to a row of its origin's. */
static void derived_lives_stay_behind_their_derive_step(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    uint32_t a = sample_site(s, "x.Loop", "a", "", BBF_SITE_ENTER);
    uint32_t derive = sample_site(s, "x.Loop", "slice", "", BBF_SITE_DERIVE);
    int64_t slice = step(s, step(s, root, a), derive);
    int64_t again = step(s, step(s, slice, a), derive);

    sample_leak(s, step(s, again, a), BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4, 40, 1);
    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    assert_tree(s, "ROOT: PooledByteBufAllocator.directBuffer [count=4]\n"
                   "└── Loop.a [ref=1, count=0]\n"
                   "    └── Loop.slice [ref=1, count=0] (loop)\n"
                   "        └── Loop.a [ref=1, count=4] 🚨 LEAK 4 (40 B direct) oldest 1 s\n");
    bbf_snapshot_free(s);
}

static void a_cut_keeps_the_lives_below(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();

    assert_int_equal(bbf_snapshot_cut_depth(s, 3), 0);
    assert_tree(s, "ROOT: PooledByteBufAllocator.directBuffer [count=20]\n"
                   "└── Loop.a [ref=1, count=1] 🚨 LEAK 1 (10 B direct) oldest 1 s\n"
                   "    └── Loop.b [ref=1, count=19] 🚨 LEAK 2 (20 B direct) oldest 1 s, "
                   "⚠️ LEAK 2 (7 B heap) oldest 1 s, released 15\n");
    bbf_snapshot_free(s);
    s = looping();
    assert_int_equal(bbf_snapshot_cut_depth(s, 1), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_nodes, 1);
    assert_int_equal(s->nodes[0].passed_, 20);
    bbf_snapshot_free(s);
}

static void only_paths_with_a_step(void **state)
{
    (void)state;
    struct bbf_snapshot *s = looping();
    int64_t other = sample_step(s, -1, pooled, "heapBuffer");

    sample_release(s, other, "x.Buffer", 100);
    assert_int_equal(bbf_snapshot_only(s, is_method, "c"), 0);
    assert_tree(
        s, "ROOT: PooledByteBufAllocator.directBuffer [count=2]\n"
           "└── Loop.a [ref=1, count=0]\n"
           "    └── Loop.b [ref=1, count=0]\n"
           "        └── Loop.a [ref=1, count=0]\n"
           "            └── Loop.b [ref=1, count=0]\n"
           "                └── Loop.a [ref=1, count=0]\n"
           "                    └── Loop.b [ref=1, count=0]\n"
           "                        └── Loop.c [ref=1, count=2] ⚠️ LEAK 2 (7 B heap) "
           "oldest 1 s\n");
    assert_int_equal(s->totals.lives_, 2);
    assert_int_equal(s->totals.leaked_, 2);
    assert_int_equal(s->totals.released_, 0);
    bbf_snapshot_free(s);
    s = looping();
    assert_int_equal(bbf_snapshot_only(s, is_method, "nothing"), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_nodes, 0);
    assert_int_equal(s->n_leaks, 0);
    bbf_snapshot_free(s);
}

static void an_empty_snapshot_stays_empty(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();

    assert_int_equal(bbf_snapshot_fold_loops(s), 0);
    assert_int_equal(bbf_snapshot_cut_depth(s, 1), 0);
    assert_int_equal(bbf_snapshot_only(s, is_method, "a"), 0);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(s->n_nodes, 0);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_folded_and_each_life_is_counted_once),
        cmocka_unit_test(pins_follow_their_paths),
        cmocka_unit_test(usage_follows_its_paths),
        cmocka_unit_test(histories_follow_their_paths),
        cmocka_unit_test(contexts_follow_their_paths),
        cmocka_unit_test(what_is_shown_folded_stays_as_it_was),
        cmocka_unit_test(derived_lives_stay_behind_their_derive_step),
        cmocka_unit_test(a_cut_keeps_the_lives_below),
        cmocka_unit_test(only_paths_with_a_step),
        cmocka_unit_test(an_empty_snapshot_stays_empty),
    };
    return cmocka_run_group_tests_name("snapshot_regroup", tests, NULL, NULL);
}
