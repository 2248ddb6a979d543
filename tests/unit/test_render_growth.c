/* link: bbf_render bbf_snapshot bbf_core */
/*
 * Since when, how fast, when direct memory ends. A wrong promise is worse than none: there is no
 * rate of less than two whole intervals, and no end where nothing grows or no limit is known.
 */
#include "render/growth.h"
#include "render/why.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { N = 10, MIB = 1 << 20 };
#define MINUTE INT64_C(60000)

static struct bbf_snapshot *s;

/* Intervals of a minute, the newest 20 s old. */
static int setup(void **state)
{
    (void)state;
    s = sample_new();
    (void)sample_step(s, -1, "x.Alloc", "directBuffer");
    s->history.seconds = 60;
    s->history.intervals = N;
    s->history.current_seconds = 20;
    s->reconciled.read = true;
    s->reconciled.used_direct_ = s->reconciled.direct_limit_ = BBF_NOT_TOLD;
    s->reconciled.nio_reserved_ = s->reconciled.nio_capacity_ = BBF_NOT_TOLD;
    s->reconciled.nio_limit_ = BBF_NOT_TOLD;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bbf_snapshot_free(s);
    return 0;
}

/* mib[i] MiB in each of the last `n` intervals, as many lives; the first `ago` seconds ago. */
static void add(enum bbf_growth_of of, uint32_t n, const unsigned *mib, int64_t ago)
{
    const uint64_t none[4] = {0};
    sample_history(s,
                   (struct bbf_snap_growth){.of = of,
                                            .memory = BBF_MEM_DIRECT,
                                            .lost = BBF_LOST_FOR_GOOD,
                                            .first_ms = s->captured_at_ms - ago * 1000,
                                            .last_ms = s->captured_at_ms},
                   n, none);
    for (uint32_t i = 0; i < n; i++)
        s->growth[s->n_growth - 1].at[i] =
            (struct bbf_snap_interval){mib[i], (uint64_t)mib[i] * MIB};
}

static struct bbf_loss_rate rate(void)
{
    struct bbf_loss_rate found;
    assert_int_equal(bbf_loss_rate(s, NULL, NULL, &found), 0);
    return found;
}

/* The first interval has what a scan found at once, however long it had been lost; the last is not
 * over. Neither counts. */
static void the_rate_is_of_whole_intervals_after_the_first_loss(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, 5, (const unsigned[]){50, 1, 2, 3, 99}, 3 * 60 + 30);
    const struct bbf_loss_rate r = rate();
    assert_int_equal(r.seconds, 180);
    assert_int_equal(r.bytes, 6 * MIB);
    assert_int_equal(r.lives, 6);
    assert_false(r.stopped);
}

static void fewer_than_two_whole_intervals_are_no_rate(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, 3, (const unsigned[]){50, 1, 99}, 90);
    assert_int_equal(rate().seconds, 0);
    assert_int_not_equal(rate().first_ms, 0);
    s->growth[0].first_ms -= MINUTE;
    assert_int_equal(rate().seconds, 120);
}

/* It began before the history: all whole intervals are of it, also those without a loss. */
static void an_older_leak_has_the_rate_of_the_whole_history(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, N, (const unsigned[N]){3, 0, 0, 3, 0, 0, 3, 0, 0, 1}, 7200);
    const struct bbf_loss_rate r = rate();
    assert_int_equal(r.seconds, (N - 1) * 60);
    assert_int_equal(r.bytes, 9 * MIB);
    assert_false(r.stopped);
}

static void rows_of_different_length_end_with_the_same_interval(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, N, (const unsigned[N]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 7200);
    add(BBF_GROWTH_LOST, 2, (const unsigned[]){5, 7}, 70);
    const struct bbf_loss_rate r = rate();
    assert_int_equal(r.bytes, (9 + 5) * MIB);
    assert_int_equal(r.first_ms, s->captured_at_ms - 7200 * 1000);
}

/* Nothing for three whole intervals, and longer than twice the longest pause so far. */
static void a_leak_that_makes_a_pause_has_not_stopped(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, N, (const unsigned[N]){1, 1, 1, 1, 1, 1, 1, 0, 0, 0}, 7200);
    assert_false(rate().stopped); /* two whole ones */
    s->growth[0].at[6].lives = 0;
    assert_true(rate().stopped);
    s->growth[0].at[4].lives = s->growth[0].at[3].lives = 0; /* a pause of three intervals */
    assert_false(rate().stopped);
    s->growth[0].at[N - 1].lives = 1;
    s->growth[0].at[4].lives = s->growth[0].at[3].lives = 1;
    assert_false(rate().stopped);
}

static void a_clock_that_went_back_makes_no_wild_read(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, 3, (const unsigned[]){1, 2, 3}, -1000000);
    assert_int_equal(rate().seconds, 0);
    s->growth[0].first_ms = INT64_MIN;
    assert_int_equal(rate().seconds, (N - 1) * 60);
    s->captured_at_ms = INT64_MAX;
    assert_int_equal(rate().seconds, (N - 1) * 60);
}

static void what_rises_in_thirds_is_growing(void **state)
{
    static const struct {
        uint32_t n;
        unsigned mib[N];
        bool growing;
    } rows[] = {{6, {10, 12, 14, 16, 18, 20}, true},
                {6, {10, 9, 14, 13, 20, 19}, true},
                {5, {10, 12, 14, 16, 18}, false},           /* too few */
                {6, {10, 10, 10, 10, 10, 10}, false},       /* as much as ever */
                {6, {100, 101, 102, 103, 104, 105}, false}, /* less than a tenth */
                {6, {10, 12, 30, 30, 20, 20}, false},       /* it falls */
                {6, {25, 1, 14, 16, 30, 20}, false},        /* not more now than at first */
                {9, {0, 0, 0, 10, 12, 14, 16, 18, 20}, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add(BBF_GROWTH_HELD, rows[i].n, rows[i].mib, 600);
        const struct bbf_hold_rate r = bbf_hold_rate(s, &s->growth[i]);
        if (r.growing != rows[i].growing)
            fail_msg("row %zu: %d", i, r.growing);
    }
    const struct bbf_hold_rate r = bbf_hold_rate(s, &s->growth[7]);
    assert_int_equal(r.then, 10 * MIB);
    assert_int_equal(r.now, 20 * MIB);
    assert_int_equal(r.seconds, 5 * 60);
    assert_int_equal(r.since_ms, s->captured_at_ms - 5 * MINUTE - 20000);
}

static struct bbf_direct_end ends(void)
{
    struct bbf_direct_end end;
    assert_int_equal(bbf_direct_end(s, &end), 0);
    return end;
}

/* 1 MiB a minute is lost, 2 MiB a minute more are held: 90 MiB last for half an hour. */
static void what_is_lost_and_what_grows_take_direct_memory(void **state)
{
    (void)state;
    add(BBF_GROWTH_LOST, N, (const unsigned[N]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 7200);
    assert_false(ends().known); /* no limit */
    s->reconciled.used_direct_ = 10 * MIB;
    s->reconciled.direct_limit_ = 100 * MIB;
    assert_true(ends().known);
    assert_int_equal((int)ends().seconds, 90 * 60);
    add(BBF_GROWTH_HELD, 6, (const unsigned[]){10, 12, 14, 16, 18, 20}, 600);
    assert_int_equal((int)ends().seconds, 30 * 60);
    s->reconciled.used_direct_ = 200 * MIB;
    assert_int_equal((int)ends().seconds, 0);
    assert_true(ends().known);
    s->reconciled.read = false;
    assert_false(ends().known);
}

static void what_takes_no_direct_memory_does_not_end_it(void **state)
{
    (void)state;
    s->reconciled.used_direct_ = 10 * MIB;
    s->reconciled.direct_limit_ = 100 * MIB;
    assert_false(ends().known);
    add(BBF_GROWTH_LOST, N, (const unsigned[N]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 7200);
    s->growth[0].memory = BBF_MEM_HEAP;
    assert_false(ends().known);
    s->growth[0].memory = BBF_MEM_DIRECT;
    s->growth[0].lost = BBF_LOST_NOTHING; /* the collector frees it */
    assert_false(ends().known);
    s->growth[0].lost = BBF_LOST_COUNTER; /* Netty's limit ends it nevertheless */
    assert_true(ends().known);
    memset(&s->growth[0].at[3], 0, (N - 3) * sizeof *s->growth[0].at); /* it has stopped */
    assert_true(rate().stopped);
    assert_false(ends().known);
}

/* Netty 4.1 takes its memory past java.nio; without its own counter, and in 4.2, java.nio's limit
 * counts. */
static void the_limit_is_that_of_the_counter_that_has_nettys_memory(void **state)
{
    static const struct {
        const char *netty;
        uint64_t used, nio;
        int minutes;
    } rows[] = {{"4.1.140.Final io.netty", 10 * MIB, 50 * MIB, 90},
                {"4.1.140.Final io.netty", BBF_NOT_TOLD, 50 * MIB, 10},
                {"4.1.140.Final io.netty", 0, 50 * MIB, 10},
                {"4.2.20.Final io.netty", 10 * MIB, 50 * MIB, 10},
                {"4.2.20.Final io.netty", 95 * MIB, 50 * MIB, 5}};
    (void)state;
    add(BBF_GROWTH_LOST, N, (const unsigned[N]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 7200);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        free(s->jvm.netty[0]);
        s->jvm.netty[0] = sample_text(rows[i].netty);
        s->reconciled.used_direct_ = rows[i].used;
        s->reconciled.direct_limit_ = 100 * MIB;
        s->reconciled.nio_reserved_ = s->reconciled.nio_capacity_ = rows[i].nio;
        s->reconciled.nio_limit_ = 60 * MIB;
        assert_int_equal((int)(ends().seconds / 60 + 0.001), rows[i].minutes);
    }
}

static void assert_says(struct bbf_buf *out, const char *wanted)
{
    assert_string_equal(bbf_buf_cstr(out), wanted);
    bbf_buf_free(out);
}

static void words(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0, "0 s"},
                 {59.9, "59 s"},
                 {60, "1 min"},
                 {3599, "59 min"},
                 {11400, "3 h 10 min"},
                 {90000, "1 d 1 h"},
                 {4e7, "more than a year"},
                 {1e300, "more than a year"}};
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        bbf_growth_duration(&out, times[i].seconds);
        assert_says(&out, times[i].text);
    }
    bbf_growth_per_minute(&out, 1.1 * 10 * MIB, 1, 600);
    assert_says(&out, "1.1 MiB/min");
    bbf_growth_per_minute(&out, 1000, 1, 60);
    assert_says(&out, "58.6 KiB/h");
    bbf_growth_per_minute(&out, 0, 120, 600);
    assert_says(&out, "12 buffers/min");
    bbf_growth_per_minute(&out, 0, 2, 120);
    assert_says(&out, "60 buffers/h");
    bbf_growth_per_minute(&out, 1e300, 1, 1);
    assert_says(&out, "8.0 EiB/min");
    bbf_growth_clock(&out, s, s->captured_at_ms - MINUTE);
    assert_says(&out, "20:03Z");
    bbf_growth_clock(&out, s, s->captured_at_ms - 1440 * MINUTE);
    assert_says(&out, "2026-11-20 20:04Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_rate_is_of_whole_intervals_after_the_first_loss, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(fewer_than_two_whole_intervals_are_no_rate, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_older_leak_has_the_rate_of_the_whole_history, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(rows_of_different_length_end_with_the_same_interval, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_leak_that_makes_a_pause_has_not_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_went_back_makes_no_wild_read, setup, teardown),
        cmocka_unit_test_setup_teardown(what_rises_in_thirds_is_growing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_lost_and_what_grows_take_direct_memory, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_takes_no_direct_memory_does_not_end_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_limit_is_that_of_the_counter_that_has_nettys_memory,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(words, setup, teardown),
    };
    return cmocka_run_group_tests_name("render_growth", tests, NULL, NULL);
}
