/* link: bbf_render bbf_trie bbf_core */
/*
 * Divergence points: which step is shared, which branch loses, which keeps, and the rates, counted
 * by hand on trees of every kind; what a person reads of them.
 */
#include "core/buf.h"
#include "render/diverge_find.h"
#include "render/diverge_text.h"
#include "render/leaks.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";
static const char direct[] = "io.netty.buffer.PooledUnsafeDirectByteBuf";

struct found {
    struct bbf_snapshot *snapshot;
    struct bbf_view view;
    struct bbf_divergences divergences; /* the view's */
};

static struct found find(struct bbf_snapshot *s)
{
    struct found f = {.snapshot = s};

    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_view_init(&f.view, s), 0);
    assert_int_equal(bbf_view_add_names(&f.view, '\0'), 0);
    assert_int_equal(bbf_view_add_divergences(&f.view), 0);
    f.divergences = f.view.divergences;
    return f;
}

static void assert_text(struct found *f, size_t max, const char *expected)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_divergences_text(&text, &f->view, max);
    assert_string_equal(bbf_buf_cstr(&text), expected);
    bbf_buf_free(&text);
}

static void found_free(struct found *f)
{
    bbf_view_free(&f->view);
    bbf_snapshot_free(f->snapshot);
}

static void the_branch_that_loses_and_the_one_that_does_not(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    int64_t read = sample_step(s, root, "com.app.A", "read");
    int64_t done = sample_step(s, read, "com.app.A", "done");
    sample_release(s, done, direct, 980);
    int64_t other = sample_step(s, read, "com.app.A", "skip");
    sample_release(s, other, direct, 12);
    int64_t check = sample_step(s, read, "com.app.A", "check");
    int64_t on = sample_step(s, check, "com.app.A", "onError");
    int64_t log = sample_step(s, on, "com.app.A", "log");
    sample_leak(s, log, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 6, 600, 1);
    sample_leak(s, on, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 2, 200, 1);

    struct found f = find(s);
    assert_int_equal(f.divergences.count, 1);
    const struct bbf_divergence *d = f.divergences.rows;
    assert_int_equal(d->origin, root);
    assert_int_equal(d->shared, read);
    assert_int_equal(d->losing, check);
    assert_int_equal(d->last, log);
    assert_int_equal(d->kept, done);
    assert_int_equal(d->ends, 2);
    assert_int_equal(d->leaked, 8);
    assert_int_equal(d->bytes, 800);
    assert_int_equal(d->passed, 1000);
    assert_int_equal(d->released, 992);
    assert_int_equal(d->kept_released, 980);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 8 of 1000 (0.80%) that reach A.read go to A.check and end in A.log or 1 other "
                "step: 800 B direct\n"
                "   by way of A.onError\n"
                "   lost in: A.log 6, A.onError 2\n"
                "   992 of 1000 (99.20%) are released, 98.79% of them through A.done\n\n");
    found_free(&f);
}

static void a_step_where_some_end_and_others_go_on(void **state)
{
    (void)state;
    struct found f = find(sample_interior());

    /* Most bytes first: three at the root, then 43 at Holder.keep. */
    assert_int_equal(f.divergences.count, 2);
    const struct bbf_divergence *d = f.divergences.rows;
    assert_int_equal(d[0].shared, 0);
    assert_int_equal(d[0].losing, 0);
    assert_int_equal(d[0].leaked, 3);
    assert_int_equal(d[1].shared, 1);
    assert_int_equal(d[1].losing, 1);
    assert_int_equal(d[1].kept, 2);
    assert_int_equal(d[1].leaked, 43);
    assert_int_equal(d[1].ends, 1);
    assert_int_equal(d[1].passed, 1045);
    found_free(&f);
}

static void nothing_of_the_root_is_released(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "heapBuffer");
    int64_t step = sample_step(s, root, "com.app.A", "line");
    sample_leak(s, step, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 82, 5248, 1);
    /* Another root's lives are no comparison. */
    int64_t other = sample_step(s, -1, pooled, "directBuffer");
    sample_release(s, other, direct, 500);

    struct found f = find(s);
    assert_int_equal(f.divergences.rows[0].shared, BBF_NO_NODE);
    assert_int_equal(f.divergences.rows[0].losing, root);
    assert_int_equal(f.divergences.rows[0].kept, BBF_NO_NODE);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 82 of 82 (100.00%) of PooledByteBufAllocator.heapBuffer end in A.line: 5.1 KiB "
                "heap\n"
                "   none of these is released anywhere\n\n");
    found_free(&f);
}

static void derived_lives_are_compared_with_derived_lives(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    int64_t frame = sample_step(s, root, "com.app.Frames", "extract");
    sample_release(s, frame, direct, 30);
    s->nodes[frame].held_ = 10;
    uint32_t site = sample_site(s, "io.netty.buffer.ByteBuf", "retained", "", BBF_SITE_DERIVE);
    int64_t derived = sample_node(s, frame, site, BBF_REF_1_2);
    int64_t kept = sample_step(s, derived, "com.app.Frames", "done");
    sample_release(s, kept, "io.netty.buffer.PooledSlicedByteBuf", 30);
    int64_t lost = sample_step(s, derived, "com.app.Frames", "drop");
    sample_leak(s, lost, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 10, 100, 1);

    struct found f = find(s);
    assert_int_equal(f.divergences.count, 1);
    const struct bbf_divergence *d = f.divergences.rows;
    assert_int_equal(d->origin, derived);
    assert_int_equal(d->shared, derived);
    assert_int_equal(d->losing, lost);
    assert_int_equal(d->passed, 40); /* not the 40 owners with them */
    assert_int_equal(d->released, 30);
    found_free(&f);

    /* An owner's leak: the derived lives that were released are no lives of its path. */
    s = sample_new();
    root = sample_step(s, -1, pooled, "directBuffer");
    frame = sample_step(s, root, "com.app.Frames", "extract");
    sample_leak(s, frame, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 5, 50, 1);
    site = sample_site(s, "io.netty.buffer.ByteBuf", "retained", "", BBF_SITE_DERIVE);
    derived = sample_node(s, frame, site, BBF_REF_1_2);
    sample_release(s, derived, "io.netty.buffer.PooledSlicedByteBuf", 5);
    f = find(s);
    assert_int_equal(f.divergences.rows[0].shared, BBF_NO_NODE);
    assert_int_equal(f.divergences.rows[0].passed, 5);
    found_free(&f);
}

static void one_retain_too_many_is_told_by_the_count(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    int64_t one = sample_step(s, root, "com.app.A", "send");
    sample_release(s, one, direct, 9);
    int64_t three = sample_node(s, root, s->nodes[one].site, BBF_REF_3_5);
    sample_leak(s, three, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 10, 1);

    struct found f = find(s);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 1 of 10 (10.00%) that reach PooledByteBufAllocator.directBuffer end in A.send "
                "[ref=3]: 10 B direct\n"
                "   9 of 10 (90.00%) are released, through A.send [ref=1]\n\n");
    found_free(&f);
}

static void a_long_way_is_shown_by_its_ends(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t node = sample_step(s, -1, pooled, "directBuffer");
    char method[32];
    for (int i = 0; i < 20; i++) {
        snprintf(method, sizeof method, "s%d", i);
        node = sample_step(s, node, "A", method);
    }
    sample_leak(s, node, BBF_VERDICT_AGED, BBF_MEM_DIRECT, 2, 20, 1);

    struct found f = find(s);
    assert_int_equal(f.divergences.rows[0].aged, 2);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 2 of 2 (100.00%) of PooledByteBufAllocator.directBuffer end in A.s19: 20 B "
                "direct, all still open\n"
                "   by way of A.s0 -> A.s1 -> A.s2 -> [10 steps] -> A.s13 -> A.s14 -> A.s15 -> "
                "A.s16 -> A.s17 -> A.s18\n"
                "   none of these is released anywhere\n\n");
    found_free(&f);
}

static void no_more_than_asked_for(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    sample_release(s, root, direct, 1);
    for (int i = 0; i < 3; i++) {
        int64_t node = sample_step(s, root, i == 0 ? "A" : i == 1 ? "B" : "C", "drop");
        sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, (uint64_t)(10 - i), 1);
    }
    struct found f = find(s);
    assert_text(&f, 1,
                "Where lives are lost:\n"
                "1. 1 of 4 (25.00%) that reach PooledByteBufAllocator.directBuffer end in A.drop: "
                "10 B direct\n"
                "   1 of 4 (25.00%) are released there\n"
                "(2 more)\n\n");
    found_free(&f);

    f = find(sample_new());
    assert_text(&f, 1, "");
    found_free(&f);
}

static void a_buffer_that_no_method_had(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "heapBuffer");
    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 41, 5248, 1);
    struct found f = find(s);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 41 of 41 (100.00%) of PooledByteBufAllocator.heapBuffer reach no followed "
                "method: 5.1 KiB heap\n"
                "   none of these is released anywhere\n\n");
    found_free(&f);

    s = sample_new();
    root = sample_step(s, -1, pooled, "directBuffer");
    int64_t frame = sample_step(s, root, "com.app.Frames", "extract");
    uint32_t site = sample_site(s, "io.netty.buffer.ByteBuf", "retained", "", BBF_SITE_DERIVE);
    int64_t derived = sample_node(s, frame, site, BBF_REF_1_2);
    sample_leak(s, derived, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 2, 20, 1);
    f = find(s);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 2 of 2 (100.00%) of ByteBuf.retained in Frames.extract reach no further step: "
                "20 B direct\n"
                "   none of these is released anywhere\n\n");
    found_free(&f);
}

/* One method on several paths is one place, not as many other steps. */
static void one_method_is_one_end(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    int64_t keep = sample_step(s, root, "com.app.A", "keep");
    int64_t wrap = sample_step(s, keep, "com.app.A", "wrap");
    sample_leak(s, wrap, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 5, 500, 1);
    int64_t other = sample_node(s, keep, s->nodes[wrap].site, BBF_REF_3_5);
    sample_leak(s, other, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 3, 300, 1);
    int64_t direct_way = sample_node(s, root, s->nodes[wrap].site, BBF_REF_6);
    sample_leak(s, direct_way, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4, 400, 1);
    int64_t drop = sample_step(s, keep, "com.app.A", "drop");
    sample_leak(s, drop, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 6, 60, 1);
    struct found f = find(s);
    assert_int_equal(f.divergences.rows[0].ends, 2);
    assert_int_equal(f.divergences.rows[0].ways, 3);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 18 of 18 (100.00%) of PooledByteBufAllocator.directBuffer end in A.wrap or 1 "
                "other step: 1.2 KiB direct and heap\n"
                "   by way of A.keep, or 2 other ways\n"
                "   lost in: A.wrap 12, A.drop 6\n"
                "   none of these is released anywhere\n\n");
    found_free(&f);
}

/* Branches that leave one step and end in one method are one bug; another method is another. */
static void one_bug_is_one_entry(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    int64_t read = sample_step(s, root, "com.app.A", "read");
    sample_release(s, read, direct, 5);
    sample_release(s, read, "io.netty.buffer.CompositeByteBuf", 85);
    int64_t done = sample_step(s, read, "com.app.A", "done");
    sample_release(s, done, direct, 10);
    int64_t fast = sample_step(s, read, "com.app.A", "fast");
    int64_t drop = sample_step(s, fast, "com.app.A", "drop");
    sample_leak(s, drop, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 6, 600, 1);
    int64_t slow = sample_step(s, read, "com.app.A", "slow");
    drop = sample_node(s, slow, s->nodes[drop].site, BBF_REF_1_2);
    sample_leak(s, drop, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 3, 300, 1);
    int64_t lost = sample_step(s, read, "com.app.A", "lost");
    sample_leak(s, lost, BBF_VERDICT_AGED, BBF_MEM_DIRECT, 1, 1000000, 1);
    struct found f = find(s);
    assert_int_equal(f.divergences.count, 2);
    assert_int_equal(f.divergences.rows[0].branches, 2);
    assert_int_equal(f.divergences.rows[0].kept, BBF_NO_NODE);
    assert_int_equal(f.divergences.rows[0].kept_released, 90);
    assert_text(&f, 10,
                "Where lives are lost:\n"
                "1. 9 of 110 (8.18%) that reach A.read end in A.drop: 900 B direct\n"
                "   by way of A.fast, or 1 other way\n"
                "   100 of 110 (90.91%) are released, 90.00% of them there\n"
                "2. 1 of 110 (0.91%) that reach A.read end in A.lost: 976.6 KiB direct, all still "
                "open\n"
                "   100 of 110 (90.91%) are released, 90.00% of them there\n\n");
    found_free(&f);
}

/* root -> A -> B -> A -> … : a life is lost after each turn, and each turn releases some. The last
 * step is at maxDepth: no last step, though most lives are there. */
static void a_loop_is_one_bug_however_often_it_goes_round(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer"), at = root;
    uint32_t a = sample_site(s, "com.app.A", "a", "", BBF_SITE_ENTER);
    uint32_t b = sample_site(s, "com.app.A", "b", "", BBF_SITE_ENTER);

    sample_limit(s, "maxDepth", 8, 8, 1);
    for (int turn = 0; turn < 7; turn++) {
        at = sample_node(s, at, turn % 2 == 0 ? a : b, BBF_REF_1_2);
        sample_release(s, at, direct, 10);
        if (turn % 2 == 1)
            sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 10, 1);
    }
    sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 100, 1000, 1);
    /* The same methods behind another root are another bug. */
    int64_t heap = sample_step(s, -1, pooled, "heapBuffer");
    sample_leak(s, sample_node(s, heap, b, BBF_REF_1_2), BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
    struct found f = find(s);
    assert_int_equal(f.divergences.count, 2);
    const struct bbf_divergence *d = f.divergences.rows;
    assert_true(d->loop);
    assert_int_equal(d->leaked, 103);
    assert_int_equal(d->places, 4);
    /* Reached the first place: all but the 10 released at the first turn's step. Each life once. */
    assert_int_equal(d->passed, 6 * 10 + 103);
    assert_int_equal(d->released, 6 * 10);
    assert_int_equal(s->nodes[d->last].site, b);
    assert_int_equal(d->most[0].lives, 3);
    assert_int_equal(d->most[1].lives, 0);
    assert_int_equal(d->beyond, 100);
    struct bbf_buf text = BBF_BUF_INIT;
    bbf_divergences_text(&text, &f.view, 1);
    assert_non_null(
        strstr(bbf_buf_cstr(&text), "   in a loop: A.b 3, 100 where maxDepth= ended the path\n"));
    bbf_buf_free(&text);
    found_free(&f);
}

static void by_method_origins_are_joined(void **state)
{
    (void)state;
    for (int by_method = 0; by_method < 2; by_method++) {
        struct bbf_snapshot *s = sample_new();
        struct bbf_divergences d;
        uint32_t parents[4];
        uint32_t keep = sample_site(s, "com.app.A", "keep", "", BBF_SITE_ENTER);
        int64_t one = sample_step(s, -1, pooled, "directBuffer");
        int64_t two = sample_step(s, -1, pooled, "heapBuffer");

        sample_leak(s, sample_node(s, one, keep, BBF_REF_1_2), BBF_VERDICT_LEAKED, BBF_MEM_DIRECT,
                    1, 10, 1);
        sample_leak(s, sample_node(s, two, keep, BBF_REF_1_2), BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 2,
                    20, 1);
        assert_int_equal(bbf_snapshot_finish(s), 0);
        assert_int_equal(bbf_snapshot_parents(s, parents, NULL), 0);
        assert_int_equal(bbf_divergences_init(&d, s, parents, by_method != 0), 0);
        assert_int_equal(d.count, by_method != 0 ? 1 : 2);
        assert_int_equal(d.rows[0].leaked, by_method != 0 ? 3 : 1);
        assert_int_equal(d.rows[0].passed, d.rows[0].leaked);
        bbf_divergences_free(&d);
        bbf_snapshot_free(s);
    }
}

/* Two places, one of them below the other: who reached both is counted once. Two roots' ways to one
 * method: both count. */
static void lives_that_reach_several_places_are_counted_once(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    uint32_t root = sample_site(s, pooled, "directBuffer", "", BBF_SITE_ROOT);
    uint32_t keep = sample_site(s, "com.app.A", "keep", "", BBF_SITE_ENTER);
    int64_t one = sample_node(s, -1, root, BBF_REF_1_2);
    int64_t two = sample_node(s, -1, root, BBF_REF_3_5);
    int64_t upper = sample_step(s, one, "com.app.A", "upper");
    int64_t lower = sample_step(s, upper, "com.app.A", "lower");
    int64_t other = sample_step(s, two, "com.app.A", "other");

    sample_release(s, upper, direct, 20);
    sample_release(s, lower, direct, 30);
    sample_release(s, other, direct, 7);
    sample_leak(s, sample_node(s, upper, keep, BBF_REF_1_2), BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1,
                10, 1);
    sample_leak(s, sample_node(s, lower, keep, BBF_REF_1_2), BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4,
                40, 1);
    sample_leak(s, sample_node(s, other, keep, BBF_REF_1_2), BBF_VERDICT_AGED, BBF_MEM_DIRECT, 2,
                20, 1);
    struct found f = find(s);
    assert_int_equal(f.divergences.count, 1);
    assert_int_equal(f.divergences.rows[0].passed, 20 + 30 + 5 + 7 + 2);
    assert_int_equal(f.divergences.rows[0].released, 57);
    assert_false(f.divergences.rows[0].loop);
    assert_text(
        &f, 10,
        "Where lives are lost:\n"
        "1. 7 of 64 (10.94%) that reach A.lower or 2 other steps end in A.keep: 70 B direct, 2 of "
        "them still open\n"
        "   57 of 64 (89.06%) are released\n\n");
    found_free(&f);
}

/* Proven before aged; what nothing gives back before what the collector frees; then bytes. */
static void the_worst_is_first(void **state)
{
    static const struct {
        const char *method;
        enum bbf_verdict verdict;
        enum bbf_memory memory;
        enum bbf_lost lost;
        uint64_t bytes;
    } leaks[] = {{"aged", BBF_VERDICT_AGED, BBF_MEM_DIRECT, BBF_LOST_FOR_GOOD, 1 << 30},
                 {"freed", BBF_VERDICT_LEAKED, BBF_MEM_HEAP, BBF_LOST_NOTHING, 1 << 20},
                 {"counted", BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, BBF_LOST_COUNTER, 1 << 19},
                 {"small", BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, BBF_LOST_FOR_GOOD, 10},
                 {"pool", BBF_VERDICT_LEAKED, BBF_MEM_HEAP, BBF_LOST_FOR_GOOD, 1 << 18},
                 {"large", BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, BBF_LOST_FOR_GOOD, 20}};
    static const char *const order[] = {"large", "small", "pool", "counted", "freed", "aged"};
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    sample_release(s, root, direct, 100);
    for (size_t i = 0; i < sizeof leaks / sizeof leaks[0]; i++) {
        int64_t node = sample_step(s, root, "com.app.A", leaks[i].method);
        sample_leak(s, node, leaks[i].verdict, leaks[i].memory, 1, leaks[i].bytes, 1);
        sample_opened(s, 0, 0, 0, leaks[i].lost);
    }
    struct found f = find(s);
    uint32_t *ranking = sample_memory(bbf_leak_ranking(s));
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_string_equal(s->sites[s->nodes[f.divergences.rows[i].last].site].method, order[i]);
        assert_string_equal(s->sites[s->nodes[s->leaks[ranking[i]].node].site].method, order[i]);
    }
    free(ranking);
    found_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_branch_that_loses_and_the_one_that_does_not),
        cmocka_unit_test(a_step_where_some_end_and_others_go_on),
        cmocka_unit_test(nothing_of_the_root_is_released),
        cmocka_unit_test(derived_lives_are_compared_with_derived_lives),
        cmocka_unit_test(one_retain_too_many_is_told_by_the_count),
        cmocka_unit_test(a_long_way_is_shown_by_its_ends),
        cmocka_unit_test(no_more_than_asked_for),
        cmocka_unit_test(a_buffer_that_no_method_had),
        cmocka_unit_test(one_method_is_one_end),
        cmocka_unit_test(one_bug_is_one_entry),
        cmocka_unit_test(a_loop_is_one_bug_however_often_it_goes_round),
        cmocka_unit_test(by_method_origins_are_joined),
        cmocka_unit_test(lives_that_reach_several_places_are_counted_once),
        cmocka_unit_test(the_worst_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
