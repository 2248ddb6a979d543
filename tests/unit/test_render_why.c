/* link: bbf_render bbf_snapshot bbf_core */
/* The account of `why`: the shares add up whatever the numbers are, and each is what it says. */
#include "render/why.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static void add_pool(struct bbf_snapshot *s, struct bbf_snap_pool row)
{
    struct bbf_snap_reconciled *r = &s->reconciled;

    r->pools = sample_grow(r->pools, r->n_pools, sizeof *r->pools);
    r->pools[r->n_pools++] = row;
    r->read = true;
}

static struct bbf_snapshot *with_process(uint64_t used_direct, uint64_t nio)
{
    struct bbf_snapshot *s = sample_new();

    s->reconciled.used_direct_ = used_direct;
    s->reconciled.nio_capacity_ = nio;
    s->reconciled.read = true;
    return s;
}

static uint64_t sum(const struct bbf_why *w)
{
    return w->lost + w->held + w->rounding + w->caches + w->pinned + w->free_chunks +
           w->unexplained + w->not_netty;
}

/* One chunk of 4 MiB: 1 MiB in buffers (of which 256 KiB is lost and 100 bytes are rounding), 10
 * KiB that bbflow does not know, 5 KiB in thread caches. 64 KiB unpooled. 2 MiB are not Netty's. */
static void each_share_is_what_it_says(void **state)
{
    (void)state;
    struct bbf_snapshot *s = with_process(4 * MIB + 64 * KIB, 2 * MIB);
    int64_t root = sample_step(s, -1, "x.Alloc", "directBuffer");

    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4, 256 * KIB, 1);
    s->leaks[0].lost = BBF_LOST_FOR_GOOD;
    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4, 77, 1);
    s->leaks[1].lost = BBF_LOST_NOTHING; /* the collector has freed it */
    sample_leak(s, root, BBF_VERDICT_AGED, BBF_MEM_DIRECT, 4, 99, 1);
    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 4, 55, 1);
    add_pool(s, (struct bbf_snap_pool){.pool = BBF_POOL_POOLED,
                                       .memory = BBF_MEM_DIRECT,
                                       .bytes_ = MIB - 100,
                                       .rounded_ = MIB,
                                       .netty_bytes_ = MIB + 10 * KIB,
                                       .netty_used_ = MIB + 15 * KIB,
                                       .pinned_free_ = MIB,
                                       .reserved_ = 4 * MIB});
    add_pool(s, (struct bbf_snap_pool){.pool = BBF_POOL_UNPOOLED,
                                       .memory = BBF_MEM_DIRECT,
                                       .bytes_ = 64 * KIB,
                                       .rounded_ = 64 * KIB,
                                       .netty_bytes_ = 64 * KIB,
                                       .netty_used_ = BBF_NOT_TOLD,
                                       .reserved_ = BBF_NOT_TOLD});
    add_pool(s, (struct bbf_snap_pool){.pool = BBF_POOL_POOLED,
                                       .memory = BBF_MEM_HEAP,
                                       .bytes_ = 16 * MIB,
                                       .rounded_ = 16 * MIB,
                                       .netty_bytes_ = 16 * MIB,
                                       .netty_used_ = 16 * MIB,
                                       .reserved_ = 16 * MIB});
    const struct bbf_why w = bbf_why_account(s);
    assert_int_equal(w.total, 6 * MIB + 64 * KIB);
    assert_int_equal(w.lost, 256 * KIB);
    assert_int_equal(w.held, MIB - 100 + 64 * KIB - 256 * KIB);
    assert_int_equal(w.rounding, 100);
    assert_int_equal(w.unexplained, 10 * KIB);
    assert_int_equal(w.caches, 5 * KIB);
    assert_int_equal(w.pinned, MIB);
    assert_int_equal(w.free_chunks, 2 * MIB - 15 * KIB);
    assert_int_equal(w.not_netty, 2 * MIB);
    assert_int_equal(sum(&w), w.total);
    assert_true(w.known && w.has_process && !w.sampled);
    assert_true(bbf_why_has_loss(s));
    bbf_snapshot_free(s);
}

/* Netty 4.2 with java.nio's cleaner: both counters have the chunks. 4.1, or a java.nio that is too
 * small for them: two kinds of memory. */
static void what_two_counters_have_is_counted_once(void **state)
{
    static const struct {
        const char *netty;
        uint64_t used, nio, total;
    } rows[] = {{"4.2.20.Final io.netty", 9 * MIB, 10 * MIB, 10 * MIB},
                {"4.2.20.Final io.netty", 9 * MIB, MIB, 10 * MIB},
                {"4.1.140.Final io.netty", 9 * MIB, 10 * MIB, 19 * MIB},
                {"4.2.20.Final io.netty", BBF_NOT_TOLD, 10 * MIB, 10 * MIB}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bbf_snapshot *s = with_process(rows[i].used, rows[i].nio);
        free(s->jvm.netty[0]);
        s->jvm.netty[0] = sample_text(rows[i].netty);
        add_pool(s, (struct bbf_snap_pool){.pool = BBF_POOL_POOLED,
                                           .memory = BBF_MEM_DIRECT,
                                           .bytes_ = MIB,
                                           .rounded_ = MIB,
                                           .netty_bytes_ = MIB,
                                           .netty_used_ = MIB,
                                           .reserved_ = 8 * MIB});
        const struct bbf_why w = bbf_why_account(s);
        assert_int_equal(w.total, rows[i].total);
        assert_int_equal(w.not_netty, rows[i].total - 8 * MIB);
        bbf_snapshot_free(s);
    }
}

static uint64_t any_number(uint64_t *seed)
{
    static const uint64_t odd[] = {0, 1, BBF_NOT_TOLD, MIB, 100 * (uint64_t)MIB};

    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t n = *seed >> 33;
    return n % 3 == 0 ? odd[n / 3 % 5] : n % (64 * MIB);
}

/* Numbers that were read at different moments contradict each other. */
static void the_shares_add_up_whatever_the_numbers_are(void **state)
{
    (void)state;
    uint64_t seed = 4711;

    for (int turn = 0; turn < 20000; turn++) {
        struct bbf_snapshot *s = with_process(any_number(&seed), any_number(&seed));
        int64_t root = sample_step(s, -1, "x.Alloc", "directBuffer");
        sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, any_number(&seed) & (MIB - 1),
                    1);
        for (int i = 0; i < 3; i++) {
            struct bbf_snap_pool row = {.pool = (enum bbf_pool)i,
                                        .memory = BBF_MEM_DIRECT,
                                        .bytes_ = any_number(&seed) & (64 * MIB - 1),
                                        .netty_bytes_ = any_number(&seed),
                                        .netty_used_ = any_number(&seed),
                                        .reserved_ = any_number(&seed),
                                        .pinned_free_ = any_number(&seed)};
            row.rounded_ = row.bytes_ + (any_number(&seed) & 1023);
            add_pool(s, row);
        }
        const struct bbf_why w = bbf_why_account(s);
        assert_int_equal(sum(&w), w.total);
        assert_true(w.lost <= w.total && w.held <= w.total && w.not_netty <= w.total);
        bbf_snapshot_free(s);
    }
}

static void without_nettys_numbers_nothing_is_a_share(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "x.Alloc", "directBuffer");

    s->nodes[root].live_ = 1;
    s->nodes[root].live_bytes_ = 500;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    const struct bbf_why w = bbf_why_account(s);
    assert_false(w.known);
    assert_int_equal(w.held, 500);
    assert_int_equal(w.total, 0);
    assert_false(bbf_why_has_loss(s));
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_share_is_what_it_says),
        cmocka_unit_test(what_two_counters_have_is_counted_once),
        cmocka_unit_test(the_shares_add_up_whatever_the_numbers_are),
        cmocka_unit_test(without_nettys_numbers_nothing_is_a_share),
    };
    return cmocka_run_group_tests_name("render_why", tests, NULL, NULL);
}
