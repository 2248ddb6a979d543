/* link: bbf_render bbf_core */
/* Counts of watched buffers as estimates of all; whether their intervals hold what they claim. */
#include "render/estimate.h"
#include "render/head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { RUNS = 4000, WINDOWS = 40 };

static struct bbf_snap_windows windows_of(double share, double spread)
{
    return (struct bbf_snap_windows){.used = true,
                                     .elapsed_ns_ = UINT64_C(60000000000),
                                     .open_ns_ = UINT64_C(1200000000),
                                     .share_ppb_ = (uint64_t)(share * BBF_SHARE_ALL_PPB),
                                     .spread_ppm_ = (uint64_t)(spread * 1e6)};
}

static void near(double value, double expected, double by)
{
    if (value < expected - by || value > expected + by)
        fail_msg("%g, not %g", value, expected);
}

/* The exact interval of a Poisson mean (Garwood 1936): of 0: 0 to 3.689; of 10: 4.795 to 18.39; of
 * 100: 81.36 to 121.6. */
static void small_counts_have_the_interval_of_a_poisson_mean(void **state)
{
    static const struct {
        uint64_t count;
        double low, high;
    } known[] = {{0, 0, 3.689}, {1, 1, 5.572}, {10, 4.795, 18.39}, {100, 81.36, 121.6}};
    const struct bbf_snap_windows rare = windows_of(1e-4, 0);
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct bbf_estimate e = bbf_estimate_of(&rare, known[i].count);
        near(e.at * 1e-4, (double)known[i].count, 1e-9);
        if (known[i].count > 1)
            near(e.low * 1e-4, known[i].low, 0.05);
        near(e.high * 1e-4, known[i].high, 0.05);
    }
}

static void never_fewer_than_were_seen_and_exact_if_all_were(void **state)
{
    const struct bbf_snap_windows most = windows_of(0.99, 0), all = windows_of(1, 0);
    (void)state;
    assert_true(bbf_estimate_of(&most, 3).low >= 3);
    const struct bbf_estimate e = bbf_estimate_of(&all, 7);
    near(e.at, 7, 0);
    near(e.low, 7, 0);
    near(e.high, 7, 0);
}

static uint64_t random_state = 88172645463325252;
static double random_share(void) /* xorshift64: the same in each run */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Losses that come at random, and each is watched with the probability of the share. */
static void the_interval_holds_the_truth_in_95_of_100_runs(void **state)
{
    static const double shares[] = {0.02, 0.2, 0.7};
    static const unsigned losses[] = {30, 200, 900};
    (void)state;
    for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++)
        for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++) {
            const struct bbf_snap_windows w = windows_of(shares[s], 0);
            unsigned held = 0, runs = losses[l] > 500 ? RUNS / 4 : RUNS;
            for (unsigned run = 0; run < runs; run++) {
                uint64_t seen = 0;
                for (unsigned i = 0; i < losses[l]; i++)
                    seen += random_share() < shares[s];
                const struct bbf_estimate e = bbf_estimate_of(&w, seen);
                held += e.low <= losses[l] && losses[l] <= e.high;
            }
            double part = (double)held / runs;
            if (part < 0.93)
                fail_msg("share %g, %u lost: held in %g", shares[s], losses[l], part);
        }
}

/* The load of a window is anything from 0 to twice the mean: without the spread the interval would
 * be too narrow. */
static void windows_that_differ_widen_it(void **state)
{
    enum { EACH = 100 };
    const double share = 0.02, spread = 0.5774 / 6.3246; /* of a uniform load; sqrt(40) */
    const struct bbf_snap_windows w = windows_of(share, spread), narrow = windows_of(share, 0);
    const double truth = EACH * WINDOWS / share;
    unsigned held = 0, held_narrow = 0;
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        double seen = 0;
        for (unsigned i = 0; i < WINDOWS; i++)
            seen += 2 * EACH * random_share();
        const struct bbf_estimate e = bbf_estimate_of(&w, (uint64_t)seen);
        const struct bbf_estimate n = bbf_estimate_of(&narrow, (uint64_t)seen);
        held += e.low <= truth && truth <= e.high;
        held_narrow += n.low <= truth && truth <= n.high;
    }
    assert_true(held > RUNS * 93 / 100);
    assert_true(held_narrow < RUNS / 2);
}

static void texts(void **state)
{
    struct bbf_snapshot s;
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;
    memset(&s, 0, sizeof s);
    s.totals.lives_ = 60000;
    bbf_estimate_text(&out, &s, 5); /* every life was followed */
    assert_int_equal(bbf_head_text(&out, &s, "note: "), 0);
    s.windows = windows_of(1, 0);
    bbf_estimate_text(&out, &s, 5);
    assert_int_equal(out.len, 0);
    s.windows = windows_of(0.02, 0);
    bbf_estimate_text(&out, &s, 0);
    assert_int_equal(out.len, 0);
    bbf_estimate_text(&out, &s, 1000);
    assert_string_equal(bbf_buf_cstr(&out), ", about 50,000 (47,000 to 53,200) in all");
    out.len = 0;
    assert_int_equal(bbf_head_text(&out, &s, "note: "), 1);
    /* 1,000 lives a second: 2,996 of them, and 2,995,732 */
    assert_string_equal(
        bbf_buf_cstr(&out),
        "note: estimated: 2.00% of the time and 2.00% of the allocations were watched, "
        "and counts are of these; 'in all' is estimated (95%); at this rate a leak of "
        "1 buffer in 1,000 is found within 3 s, of 1 in 1,000,000 within 50 min\n");
    bbf_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_counts_have_the_interval_of_a_poisson_mean),
        cmocka_unit_test(never_fewer_than_were_seen_and_exact_if_all_were),
        cmocka_unit_test(the_interval_holds_the_truth_in_95_of_100_runs),
        cmocka_unit_test(windows_that_differ_widen_it),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
