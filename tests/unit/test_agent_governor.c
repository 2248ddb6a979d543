/* link: bbf_core */
/*
 * budget=: the rate as a function of what was measured. Each script is a run of intervals of one
 * second: overhead and processor time in milliseconds, and the rate that must follow.
 */
#include "agent/cost/governor.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MS = 1000000, PERCENT = 10000 };

struct second {
    int64_t overhead_ms, process_ms;
    uint32_t sample;
};

static void play(struct bbf_governor *governor, const struct second *script, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct bbf_governor_measured m = {script[i].overhead_ms * MS,
                                                script[i].process_ms * MS, 1000 * MS};
        uint32_t sample = bbf_governor_step(governor, &m);
        if (sample != script[i].sample || governor->sample != sample)
            fail_msg("second %zu: 1 in %u, not 1 in %u", i, sample, script[i].sample);
    }
}

#define PLAY(governor, ...)                                                                        \
    play(governor, (const struct second[]){__VA_ARGS__},                                           \
         sizeof(const struct second[]){__VA_ARGS__} / sizeof(struct second))

static struct bbf_governor begin(uint64_t budget_ppm, uint32_t floor)
{
    struct bbf_governor governor = {.sample = 1};
    bbf_governor_set(&governor, budget_ppm, floor);
    return governor;
}

static void above_it_doubles_and_below_it_halves_after_three_calm_seconds(void **state)
{
    struct bbf_governor governor = begin(PERCENT, 1);
    (void)state;
    PLAY(&governor, {17, 1000, 2}, {12, 1000, 4}, {11, 1000, 8}, /* above 10 ms of 1,000 */
         {10, 1000, 8}, {5, 1000, 8},                            /* within: it stays */
         {4, 1000, 8}, {4, 1000, 8}, {4, 1000, 4},               /* 40 %, three times */
         {4, 1000, 4}, {4, 1000, 4}, {5, 1000, 4}, /* the run of calm ones is broken */
         {0, 1000, 4}, {0, 1000, 4}, {0, 1000, 2}, {0, 1000, 2}, {0, 1000, 2}, {0, 1000, 1},
         {0, 1000, 1}, {0, 1000, 1}, {0, 1000, 1}, {0, 1000, 1}, {0, 1000, 1}, {30, 1000, 2});
    assert_int_equal(governor.raised, 4);
    assert_int_equal(governor.lowered, 3);
}

/* Where each life that is followed costs the same, it finds a rate and keeps it. */
static void it_does_not_swing(void **state)
{
    (void)state;
    for (int64_t all = 1; all <= 1000; all += 7) { /* overhead in tenths of a millisecond, 1 in 1 */
        struct bbf_governor governor = begin(PERCENT, 1);
        uint32_t settled = 0;
        for (unsigned i = 0; i < 100; i++) {
            const struct bbf_governor_measured m = {all * MS / 10 / governor.sample, 1000 * MS,
                                                    1000 * MS};
            (void)bbf_governor_step(&governor, &m);
            if (i == 40)
                settled = governor.sample;
        }
        if (governor.sample != settled || governor.lowered != 0)
            fail_msg("%lld: 1 in %u, then 1 in %u", (long long)all, settled, governor.sample);
        assert_true(all * MS / 10 / governor.sample <= 10 * MS);
        assert_true(governor.sample == 1 || all * MS / 10 / governor.sample * 2 > 10 * MS);
    }
}

static void it_keeps_between_the_users_rate_and_the_most(void **state)
{
    struct bbf_governor governor = begin(PERCENT, 100);
    (void)state;
    assert_int_equal(governor.sample, 100);
    PLAY(&governor, {99, 100, 128}, {99, 100, 256}, {99, 100, 512}, {99, 100, 1024},
         {99, 100, 1024});
    assert_int_equal(governor.raised, 4);
    for (unsigned i = 0; i < 100; i++)
        PLAY(&governor, {0, 1000, i < 2 ? 1024 : i < 5 ? 512 : i < 8 ? 256 : i < 11 ? 128 : 100});
    assert_int_equal(governor.lowered, 4);
    governor = begin(PERCENT, 5000); /* beyond what the budget would choose */
    PLAY(&governor, {99, 100, 5000}, {0, 100, 5000});
    assert_int_equal(governor.raised + governor.lowered, 0);
}

static void a_second_that_says_nothing_changes_nothing(void **state)
{
    struct bbf_governor governor = begin(PERCENT, 1);
    (void)state;
    PLAY(&governor, {50, 100, 2}, {0, 100, 2}, {0, 100, 2});
    /* no elapsed time, or a clock that went back: neither above the budget, nor calm */
    const struct bbf_governor_measured odd[] = {{50 * MS, 100 * MS, 0},
                                                {50 * MS, 100 * MS, -1000 * MS},
                                                {50 * MS, -1, 1000 * MS},
                                                {-1, 100 * MS, 1000 * MS}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        assert_int_equal(bbf_governor_step(&governor, &odd[i]), 2);
    PLAY(&governor, {0, 100, 1});
    /* an idle process: much of nothing is within the budget; without any time, too */
    PLAY(&governor, {40, 49, 1}, {0, 0, 1}, {7, 0, 1});
    assert_int_equal(governor.ppm, 0);
    PLAY(&governor, {40, 50, 2});
    assert_int_equal(governor.ppm, 800000);
    PLAY(&governor, {40, 49, 2}, {0, 0, 2}, {40, 49, 1});
}

static void another_budget_or_floor_holds_at_once(void **state)
{
    struct bbf_governor governor = begin(PERCENT, 1);
    (void)state;
    PLAY(&governor, {50, 100, 2}, {50, 100, 4}, {50, 100, 8});
    bbf_governor_set(&governor, 20 * PERCENT, 1); /* the rate stays, and comes down by itself */
    PLAY(&governor, {1, 100, 8}, {1, 100, 8}, {1, 100, 4});
    bbf_governor_set(&governor, 20 * PERCENT, 100);
    assert_int_equal(governor.sample, 100);
    bbf_governor_set(&governor, 20 * PERCENT, 3); /* 100 was the user's, not the budget's */
    assert_int_equal(governor.sample, 3);
    PLAY(&governor, {50, 100, 4});
    bbf_governor_set(&governor, 0, 3);
    assert_int_equal(governor.sample, 3);
    PLAY(&governor, {99, 100, 3}, {99, 100, 3}); /* off */
    bbf_governor_set(&governor, 0, 0);
    assert_int_equal(governor.sample, 1);
}

static void a_rate_without_a_place_is_no_turn(void **state)
{
    struct bbf_governor governor = begin(PERCENT, 1);
    (void)state;
    PLAY(&governor, {50, 100, 2}, {50, 100, 4});
    bbf_governor_refused(&governor, 2);
    assert_int_equal(governor.sample, 2);
    assert_int_equal(governor.raised, 1);
    PLAY(&governor, {0, 100, 2}, {0, 100, 2}, {0, 100, 1});
    bbf_governor_refused(&governor, 2);
    assert_int_equal(governor.sample, 2);
    assert_int_equal(governor.lowered, 0);
}

static void shares(void **state)
{
    (void)state;
    assert_int_equal(bbf_governor_ppm(1, 0), 0);
    assert_int_equal(bbf_governor_ppm(0, 5), 0);
    assert_int_equal(bbf_governor_ppm(1, 3), 333333);
    assert_int_equal(bbf_governor_ppm(2, 3), 666667);
    assert_int_equal(bbf_governor_ppm(UINT64_MAX / 2, UINT64_MAX), 500000);
    assert_int_equal(bbf_governor_ppm(UINT64_MAX, UINT64_MAX), 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(above_it_doubles_and_below_it_halves_after_three_calm_seconds),
        cmocka_unit_test(it_does_not_swing),
        cmocka_unit_test(it_keeps_between_the_users_rate_and_the_most),
        cmocka_unit_test(a_second_that_says_nothing_changes_nothing),
        cmocka_unit_test(another_budget_or_floor_holds_at_once),
        cmocka_unit_test(a_rate_without_a_place_is_no_turn),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
