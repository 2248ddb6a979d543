/* link: bbf_snapshot bbf_core */
/*
 * Losses between two snapshots of one JVM: what is subtracted and the earlier ones are the later
 * ones, whatever the order of rows; a count that began again is noticed.
 */
#include "core/buf.h"
#include "core/err.h"
#include "snapshot/since.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % n;
}

enum { STEPS = 40, MEMORIES = 3 };

/* One JVM: a tree that grows, and what each of its steps has lost so far. */
struct jvm {
    uint32_t n;
    int64_t parents[STEPS];
    uint64_t lost[STEPS][MEMORIES], aged[STEPS];
};

static void live_on(struct jvm *jvm)
{
    const uint32_t more = 1 + below(STEPS / 2);

    for (uint32_t i = 0; i < more && jvm->n < STEPS; i++) {
        jvm->parents[jvm->n] = jvm->n == 0 ? -1 : (int64_t)below(jvm->n);
        jvm->n++;
    }
    for (uint32_t i = 0; i < jvm->n; i++) {
        for (uint32_t m = 0; m < MEMORIES; m++)
            jvm->lost[i][m] += below(3) == 0 ? below(20) : 0;
        jvm->aged[i] = below(4) == 0 ? below(9) : 0;
    }
}

/* Steps are numbered, so a row is found again by its method. `backwards`: sites and leak rows in
 * another order than in the snapshot before. */
static struct bbf_snapshot *look(const struct jvm *jvm, int64_t second, bool backwards)
{
    struct bbf_snapshot *s = sample_new();
    uint32_t sites[STEPS];
    char name[16];

    s->captured_at_ms += second * 1000;
    for (uint32_t k = 0; k < jvm->n; k++) {
        const uint32_t i = backwards ? jvm->n - 1 - k : k;
        snprintf(name, sizeof name, "m%u", i);
        sites[i] = sample_site(s, i == 0 ? pooled : "a.A", name, "",
                               i == 0 ? BBF_SITE_ROOT : BBF_SITE_ENTER);
    }
    for (uint32_t i = 0; i < jvm->n; i++)
        assert_int_equal(sample_node(s, jvm->parents[i], sites[i], BBF_REF_1_2), i);
    for (uint32_t k = 0; k < jvm->n; k++) {
        const uint32_t i = backwards ? jvm->n - 1 - k : k;
        for (uint32_t m = 0; m < MEMORIES; m++)
            if (jvm->lost[i][m] > 0)
                sample_leak(s, i, BBF_VERDICT_LEAKED, (enum bbf_memory)m, jvm->lost[i][m],
                            jvm->lost[i][m] * 100, 1);
        if (jvm->aged[i] > 0)
            sample_leak(s, i, BBF_VERDICT_AGED, BBF_MEM_HEAP, jvm->aged[i], jvm->aged[i], 1);
    }
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    return s;
}

static uint64_t sum_of(const struct bbf_snapshot *s, uint32_t node, enum bbf_verdict verdict,
                       uint32_t memory, bool bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->n_leaks; i++)
        if (s->leaks[i].node == node && s->leaks[i].verdict == verdict &&
            (uint32_t)s->leaks[i].memory == memory)
            sum += bytes ? s->leaks[i].bytes : s->leaks[i].count;
    return sum;
}

static void check_difference(const struct jvm *a, const struct jvm *b, const struct bbf_snapshot *s)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        uint64_t node = 0;
        for (uint32_t m = 0; m < MEMORIES; m++) {
            const uint64_t more = b->lost[i][m] - a->lost[i][m];
            assert_int_equal(sum_of(s, i, BBF_VERDICT_LEAKED, m, false), more);
            assert_int_equal(sum_of(s, i, BBF_VERDICT_LEAKED, m, true), more * 100);
            node += more;
        }
        assert_int_equal(s->nodes[i].leaked_, node);
        assert_int_equal(s->nodes[i].leaked_bytes_, node * 100);
        assert_int_equal(sum_of(s, i, BBF_VERDICT_AGED, BBF_MEM_HEAP, false), b->aged[i]);
        assert_int_equal(s->nodes[i].live_, b->aged[i]);
        all += node;
    }
    assert_int_equal(s->totals.leaked_, all);
}

static void test_difference(void **state)
{
    (void)state;
    for (seed = 1; seed < 4000000000; seed += seed / 3 + 1) {
        const uint64_t start = seed;
        struct jvm a = {.n = 0};
        bool restarted = true;
        live_on(&a);
        struct jvm b = a;
        live_on(&b);
        struct bbf_snapshot *before = look(&a, 0, false), *now = look(&b, 60, below(2) == 0);
        assert_int_equal(bbf_snapshot_since(now, before, &restarted), BBF_OK);
        assert_false(restarted);
        check_difference(&a, &b, now);
        struct bbf_snapshot *same = look(&b, 60, false), *other = look(&b, 60, true);
        assert_int_equal(bbf_snapshot_since(same, other, &restarted), BBF_OK);
        assert_false(restarted);
        check_difference(&b, &b, same);
        bbf_snapshot_free(before);
        bbf_snapshot_free(now);
        bbf_snapshot_free(same);
        bbf_snapshot_free(other);
        seed = start;
    }
}

/* Each change of one fact of the earlier or the later snapshot: the losses are all new. */
static void test_restarts(void **state)
{
    enum { PID, MAIN, EARLIER, LESS, GONE, START, RESET, CASES };

    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct jvm a = {.n = 0};
        bool restarted = false;
        seed = 7;
        live_on(&a);
        a.lost[0][1] = 5;
        struct jvm b = a;
        b.lost[0][1] = i == LESS || i == GONE ? i == GONE ? 0 : 4 : 9;
        b.lost[0][0] += i == LESS || i == GONE ? 100 : 0; /* the totals are no smaller */
        struct bbf_snapshot *before = look(&a, 0, false);
        struct bbf_snapshot *now = look(&b, i == EARLIER ? -60 : 60, false);
        const uint64_t leaked = now->totals.leaked_;
        if (i == PID)
            now->jvm.pid++;
        if (i == MAIN)
            now->jvm.main[0] = 'x';
        if (i == START) { /* the agent was loaded 10 s before each */
            before->cost.measured = now->cost.measured = true;
            before->cost.since_start.elapsed_ns_ = now->cost.since_start.elapsed_ns_ =
                UINT64_C(10000000000);
        }
        if (i == RESET)
            now->usage_of.seconds = 40;
        assert_int_equal(bbf_snapshot_since(now, before, &restarted), BBF_OK);
        if (!restarted || now->totals.leaked_ != leaked)
            fail_msg("case %d: not noticed", i);
        bbf_snapshot_free(before);
        bbf_snapshot_free(now);
    }
}

/* One agent, counted since before the earlier snapshot: neither is a restart. */
static void test_continues(void **state)
{
    struct jvm a = {.n = 0};
    bool restarted = true;

    (void)state;
    seed = 9;
    live_on(&a);
    struct bbf_snapshot *before = look(&a, 0, false), *now = look(&a, 60, false);
    before->cost.measured = now->cost.measured = true;
    before->cost.since_start.elapsed_ns_ = UINT64_C(10000000000);
    now->cost.since_start.elapsed_ns_ = UINT64_C(69500000000);
    now->usage_of.seconds = 69;
    assert_int_equal(bbf_snapshot_since(now, before, &restarted), BBF_OK);
    assert_false(restarted);
    assert_int_equal(now->totals.leaked_, 0);
    bbf_snapshot_free(before);
    bbf_snapshot_free(now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_difference),
                                       cmocka_unit_test(test_restarts),
                                       cmocka_unit_test(test_continues)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
