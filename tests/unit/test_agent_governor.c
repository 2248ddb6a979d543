/* link: bbf_core -lm */
/* budget=: what is measured of windows, and the share of the time that follows from it. */
#include "agent/cost/governor.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MS = 1000000, PERCENT = 10000 };

/* Noise of a pair: -spread, ..., spread, in an order that no prefix favours one side. */
static double noise(unsigned i, double spread)
{
    return spread * ((double)(i * 37 % 101) / 50 - 1);
}

/* A window of 20 ms in which a call takes `extra` more than beside it. */
static void window(struct bbf_governor *governor, double extra, uint64_t roots)
{
    const struct bbf_governor_phase open = {20 * MS, (uint64_t)((1 + extra) * 20 * MS), roots};
    const struct bbf_governor_phase beside = {20 * MS, 20 * MS, roots};
    bbf_governor_add(governor, &open, &beside, &beside);
}

static void windows(struct bbf_governor *governor, unsigned n, double extra, double spread)
{
    for (unsigned i = 0; i < n; i++)
        window(governor, extra + noise(i, spread), 1000);
}

static void the_median_of_noisy_pairs_is_the_extra_and_its_interval_has_it(void **state)
{
    struct bbf_governor governor = {.next = 0};
    struct bbf_governor_cost cost;
    (void)state;
    windows(&governor, 7, 0.37, 0.3);
    bbf_governor_cost(&governor, &cost);
    assert_int_equal(cost.pairs, 7);
    assert_int_equal(cost.extra_ppm | cost.low_ppm | cost.high_ppm, 0); /* too few */
    windows(&governor, 101, 0.37, 0.3);
    bbf_governor_cost(&governor, &cost);
    assert_int_equal(cost.pairs, 108);
    assert_true(llabs(cost.extra_ppm - 370000) < 30000);
    assert_true(cost.low_ppm < 370000 && 370000 < cost.high_ppm);
    /* 1.96 * sqrt(108) / 2 = 10.2 of 108 places on a range of 0.6: 0.06 each side */
    assert_true(llabs(cost.high_ppm - cost.low_ppm - 120000) < 30000);
}

/* A mean would be carried away: one collection of garbage in a window. */
static void one_window_of_another_kind_changes_little(void **state)
{
    struct bbf_governor governor = {.next = 0};
    struct bbf_governor_cost cost;
    (void)state;
    windows(&governor, 20, 0.1, 0.02);
    window(&governor, 50, 1000);
    /* More than can be stored, and the clocks' worst: it counts as one of the largest. */
    const struct bbf_governor_phase open = {20 * MS, INT64_MAX - 1, 1000},
                                    half = {20 * MS, 1, 1000};
    bbf_governor_add(&governor, &open, &half, &half);
    assert_true(governor.extra_ppm[21] > 0);
    bbf_governor_cost(&governor, &cost);
    assert_true(llabs(cost.extra_ppm - 100000) < 5000);
    assert_true(cost.high_ppm < 130000);
}

/* What a call takes beside windows: of the last pairs, so it follows a change of load. */
static void the_time_of_a_call_without_following_is_known(void **state)
{
    struct bbf_governor governor = {.next = 0};
    struct bbf_governor_cost cost;
    (void)state;
    windows(&governor, 200, 0.3, 0.1);
    bbf_governor_cost(&governor, &cost);
    assert_true(llabs((int64_t)(cost.shut_process / cost.shut_roots) - 20000) < 200);
    for (unsigned i = 0; i < 600; i++)
        window(&governor, 0.3, 500);
    bbf_governor_cost(&governor, &cost);
    assert_true(llabs((int64_t)(cost.shut_process / cost.shut_roots) - 40000) < 800);
}

static void the_oldest_pairs_are_forgotten(void **state)
{
    struct bbf_governor governor = {.next = 0};
    struct bbf_governor_cost cost;
    (void)state;
    windows(&governor, 300, 0.5, 0);
    windows(&governor, BBF_GOVERNOR_PAIRS, 0.2, 0);
    bbf_governor_cost(&governor, &cost);
    assert_int_equal(cost.low_ppm, cost.high_ppm);
    assert_true(llabs(cost.low_ppm - 200000) <= 1);
}

static void windows_with_few_calls_are_added_up(void **state)
{
    struct bbf_governor governor = {.next = 0};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        window(&governor, 0.25, 10);
    assert_int_equal(governor.pairs, 0);
    window(&governor, 0.25, 10); /* 70 and 140 */
    assert_int_equal(governor.pairs, 1);
    assert_true(llabs(governor.extra_ppm[0] - 250000) <= 1);
    assert_int_equal(governor.open.roots + governor.beside.roots, 0);
}

static void a_phase_without_time_or_much_too_short_says_nothing(void **state)
{
    struct bbf_governor governor = {.next = 0};
    const struct bbf_governor_phase whole = {20 * MS, 20 * MS, 1000},
                                    bad[] = {{0, 20 * MS, 1000},
                                             {20 * MS, 0, 1000},
                                             {UINT64_MAX, 20 * MS, 1000},
                                             {20 * MS, UINT64_MAX, 1000}};
    const struct bbf_governor_phase brief = {4 * MS, 4 * MS, 200};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bbf_governor_add(&governor, &bad[i], &whole, &whole);
        bbf_governor_add(&governor, &whole, &bad[i], &whole);
        bbf_governor_add(&governor, &whole, &whole, &bad[i]);
    }
    bbf_governor_add(&governor, &whole, &brief, &brief);
    assert_int_equal(governor.pairs + governor.open.roots, 0);
    bbf_governor_add(&governor, &whole, &whole, &brief);
    assert_int_equal(governor.pairs, 1);
}

/* What the share costs, of all processor time. */
static double cost_of(double share, double extra)
{
    return share * extra / (1 + extra);
}

static void the_share_costs_the_budget(void **state)
{
    static const double extras[] = {0.05, 0.37, 1, 3};
    (void)state;
    for (size_t e = 0; e < sizeof extras / sizeof extras[0]; e++)
        for (uint64_t budget = PERCENT / 10; budget <= 5 * PERCENT; budget *= 5) {
            struct bbf_governor governor = {.next = 0};
            uint64_t share = 0;
            for (unsigned i = 0; i < 100; i++) {
                window(&governor, extras[e] + noise(i, 0.02), 1000);
                share = bbf_governor_share(&governor, budget, 0);
            }
            double cost = cost_of((double)share / 1e6, extras[e]) * 1e6;
            if (share == BBF_GOVERNOR_MOST)
                assert_true(cost <= (double)budget);
            else if (cost < 0.8 * (double)budget || cost > 1.02 * (double)budget)
                fail_msg("extra %g, budget %llu: costs %g", extras[e], (unsigned long long)budget,
                         cost);
        }
}

static void it_begins_low_rises_slowly_and_falls_at_once(void **state)
{
    struct bbf_governor governor = {.next = 0};
    (void)state;
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 0), 2 * PERCENT); /* as if it doubled */
    windows(&governor, 48, 0.01, 0);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 0), 3 * PERCENT);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 0), 45000);
    for (unsigned i = 0; i < 10; i++)
        (void)bbf_governor_share(&governor, PERCENT, 0);
    assert_int_equal(governor.share_ppm, BBF_GOVERNOR_MOST);
    windows(&governor, 48, 1, 0);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 0), 2 * PERCENT);
}

static void what_costs_nothing_that_can_be_measured_is_watched_half_of_the_time(void **state)
{
    struct bbf_governor governor = {.next = 0};
    (void)state;
    windows(&governor, 48, -0.1, 0.01);
    for (unsigned i = 0; i < 20; i++)
        (void)bbf_governor_share(&governor, PERCENT, 0);
    assert_int_equal(governor.share_ppm, BBF_GOVERNOR_MOST);
}

/* Noise makes it watch less, not more. */
static void the_noisier_the_less(void **state)
{
    struct bbf_governor quiet = {.next = 0}, noisy = {.next = 0};
    (void)state;
    windows(&quiet, 48, 0.3, 0.01);
    windows(&noisy, 48, 0.3, 0.6);
    for (unsigned i = 0; i < 10; i++) {
        (void)bbf_governor_share(&quiet, PERCENT, 0);
        (void)bbf_governor_share(&noisy, PERCENT, 0);
    }
    assert_true(noisy.share_ppm < quiet.share_ppm - quiet.share_ppm / 10);
}

static void bbflows_own_threads_come_off_the_budget_but_for_a_tenth(void **state)
{
    struct bbf_governor governor = {.next = 0};
    (void)state;
    windows(&governor, 48, 1, 0);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, PERCENT / 4), 3 * PERCENT / 2);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 95 * PERCENT / 100), PERCENT / 5);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, PERCENT), PERCENT / 5);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 90 * PERCENT), PERCENT / 5);
    assert_false(bbf_governor_is_used_up(PERCENT, 89 * PERCENT / 100));
    assert_true(bbf_governor_is_used_up(PERCENT, 90 * PERCENT / 100));
    assert_true(bbf_governor_is_used_up(PERCENT, 90 * PERCENT));
    assert_false(bbf_governor_is_used_up(BBF_SHARE_NONE, PERCENT));
    assert_false(bbf_governor_is_used_up(100 * PERCENT, 100 * PERCENT));
    assert_int_equal(bbf_governor_share(&governor, 100, 0), 200);
    assert_int_equal(bbf_governor_share(&governor, 100, 100), BBF_GOVERNOR_LEAST);
}

static void nothing_and_all(void **state)
{
    struct bbf_governor governor = {.next = 0};
    (void)state;
    windows(&governor, 48, 1, 0);
    assert_int_equal(bbf_governor_share(&governor, BBF_SHARE_NONE, 0), 0);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 0), 2 * PERCENT);
    assert_int_equal(bbf_governor_share(&governor, 100 * PERCENT, 0), BBF_GOVERNOR_ALL);
    assert_int_equal(bbf_governor_share(&governor, PERCENT, 0), 2 * PERCENT); /* at once */
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
    assert_int_equal(bbf_governor_part_ppm(1000000), 500000);
    assert_int_equal(bbf_governor_part_ppm(-1), 0);
    assert_int_equal(bbf_governor_part_ppm(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_of_noisy_pairs_is_the_extra_and_its_interval_has_it),
        cmocka_unit_test(one_window_of_another_kind_changes_little),
        cmocka_unit_test(the_time_of_a_call_without_following_is_known),
        cmocka_unit_test(the_oldest_pairs_are_forgotten),
        cmocka_unit_test(windows_with_few_calls_are_added_up),
        cmocka_unit_test(a_phase_without_time_or_much_too_short_says_nothing),
        cmocka_unit_test(the_share_costs_the_budget),
        cmocka_unit_test(it_begins_low_rises_slowly_and_falls_at_once),
        cmocka_unit_test(what_costs_nothing_that_can_be_measured_is_watched_half_of_the_time),
        cmocka_unit_test(the_noisier_the_less),
        cmocka_unit_test(bbflows_own_threads_come_off_the_budget_but_for_a_tenth),
        cmocka_unit_test(nothing_and_all),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
