/* link: bbf_agent fake_jvm */
/* agent/cost/{meter,account,model}.c: what bbflow takes adds up, in any number of threads. */
#include "agent/cost/account.c"
#include "agent/cost/meter.h"

#include "tests/unit/agent/agent_world.h"

#include <pthread.h>

enum { THREADS = 3, CALLS = 61 * 20, FILES = 500 };

static int setup(void **state)
{
    world_setup(state);
    memset(&o, 0, sizeof o);
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    return 0;
}

static struct bbf_options options_of(const char *text)
{
    struct bbf_options options;
    struct bbf_option_error error;
    bbf_options_init(&options);
    assert_int_equal(bbf_options_parse(&options, text, &error), BBF_OK);
    return options;
}

static void *call_natives(void *arg)
{
    (void)arg;
    for (int i = 0; i < CALLS; i++)
        bbf_meter_leave(bbf_meter_enter());
    for (uint64_t i = 1; i <= FILES; i++)
        bbf_meter_rewritten(i);
    return NULL;
}

static void calls_and_class_files_of_all_threads_are_counted(void **state)
{
    pthread_t threads[THREADS];
    struct bbf_meter_reading before, after;
    (void)state;
    bbf_meter_read(&before, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_natives, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bbf_meter_read(&after, 0);
    assert_int_equal(after.native_calls - before.native_calls, THREADS * CALLS);
    assert_int_equal(after.rewritten - before.rewritten, THREADS * FILES);
    assert_int_equal(after.rewrite_ns - before.rewrite_ns, THREADS * FILES * (FILES + 1) / 2);
    assert_int_equal(after.rewrite_elsewhere_ns - before.rewrite_elsewhere_ns,
                     after.rewrite_ns - before.rewrite_ns);
    assert_true(after.rewrite_longest_ns >= FILES);
}

static void a_clock_that_takes_longer_than_the_calls_leaves_nothing(void **state)
{
    struct bbf_meter_reading reading;
    (void)state;
    bbf_meter_read(&reading, UINT64_C(1000000000));
    assert_int_equal(reading.native_ns, 0);
}

static void the_rows_are_filled_and_add_up(void **state)
{
    struct bbf_snap_cost cost = {.measured = false};
    struct bbf_options options = options_of("sample=4");
    (void)state;
    assert_int_equal(bbf_account_apply(&options), BBF_OK);
    bbf_account_begin();
    bbf_account_fill(&cost);
    assert_true(cost.measured);
    assert_int_equal(cost.sample_, 4);
    assert_true(cost.since_start.elapsed_ns_ > 0);
    assert_true(cost.since_start.elapsed_ns_ < 60 * SECOND);
    assert_int_equal(cost.since_change.elapsed_ns_, 0); /* no setting has changed */
    bbf_account_changed();
    bbf_account_fill(&cost);
    assert_true(cost.since_change.elapsed_ns_ <= cost.since_start.elapsed_ns_);
    bbf_options_free(&options);
}

static void the_cost_is_looked_at_when_its_interval_is_over_and_only_then(void **state)
{
    struct bbf_options options = options_of("budget=0.01%,budgetSeconds=3600");
    (void)state;
    assert_int_equal(bbf_account_apply(&options), BBF_OK);
    bbf_account_begin();
    uint64_t next = o.next;
    bbf_account_poll();
    assert_int_equal(o.next, next);
    o.next = 0;
    atomic_store(&bbf_agent.phase, BBF_PHASE_OUT); /* a stopped bbflow looks at nothing */
    bbf_account_poll();
    assert_int_equal(o.next, 0);
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    bbf_account_poll();
    assert_true(o.next > 0);
    bbf_options_free(&options);
}

static void look(uint64_t price)
{
    o.costs.gate_ps = price;
    o.next = 0;
    bbf_account_poll();
}

static void the_price_of_a_gate_is_the_least_of_all_intervals(void **state)
{
    struct bbf_options options = options_of("budget=1%,budgetSeconds=1");
    (void)state;
    assert_int_equal(bbf_account_apply(&options), BBF_OK);
    bbf_account_begin();
    look(UINT64_MAX);
    assert_true(o.costs.gate_ps == UINT64_MAX); /* no windows: a gate has no price */
    bbf_windows_use(bbf_agent.tracker, true);
    look(UINT64_MAX);
    assert_in_range(o.costs.gate_ps, 1, 1000000); /* measured anew, and smaller */
    look(1);
    assert_int_equal(o.costs.gate_ps, 1);
    bbf_options_free(&options);
}

/* What windows have measured takes the place of the model and of what it counts of the natives. */
static void measured_windows_replace_the_model(void **state)
{
    struct bbf_snap_cost_row row = {.estimated_overhead_ns_ = 1000,
                                    .estimated_native_ns_ = 100,
                                    .estimated_hook_ns_ = 200,
                                    .window_ns_ = 400};
    struct bbf_gate_cost gate = {.followed = {.pairs = 7, .extra_ppm = 1000000}};
    (void)state;
    put_measured(&row, &gate);
    assert_int_equal(row.estimated_overhead_ns_, 1000); /* too few */
    gate.followed.pairs = 8;
    put_measured(&row, &gate);
    assert_int_equal(row.estimated_hook_ns_, 200); /* half of the time in windows */
    assert_int_equal(row.estimated_overhead_ns_, 900);
    gate.followed.extra_ppm = -5000; /* noise */
    row.estimated_native_ns_ = 0;
    put_measured(&row, &gate);
    assert_int_equal(row.estimated_hook_ns_, 0);
    assert_int_equal(row.estimated_overhead_ns_, 700);
}

static void the_shut_gate_is_estimated_by_the_hooks_of_windows(void **state)
{
    /* A life has 8 steps, thus 10 hooks; beside windows a root hook is called each 40 ns. */
    struct bbf_snap_cost_row row = {.estimated_overhead_ns_ = 50,
                                    .lives_ = 10,
                                    .steps_ = 80,
                                    .window_ns_ = 1000,
                                    .process_ns_ = 40000};
    struct bbf_gate_cost gate = {
        .followed = {.pairs = 8, .extra_ppm = 1500000, .shut_process = 4000, .shut_roots = 100}};
    (void)state;
    o.costs.gate_ps = 200; /* 2 of these 40 ns, a twentieth */
    put_measured(&row, &gate);
    assert_int_equal(row.estimated_hook_ns_, 600);
    assert_int_equal(row.estimated_shut_gate_ns_, 2000);
    assert_int_equal(row.estimated_overhead_ns_, 2650);
    row = (struct bbf_snap_cost_row){.process_ns_ = 1000}; /* no life was followed yet */
    put_measured(&row, &gate);
    assert_int_equal(row.estimated_shut_gate_ns_, 0);
    row.lives_ = 1;
    o.costs.gate_ps = 1000000; /* a model that is wrong by far */
    put_measured(&row, &gate);
    assert_int_equal(row.estimated_shut_gate_ns_, 1000);
}

/* What the budget has less for windows: the threads, and the shut gate once it is known. */
static void the_budget_has_the_shut_gate(void **state)
{
    const struct bbf_snap_cost_row row = {
        .elapsed_ns_ = 1000000, .process_ns_ = 1000000, .running_ns_ = 3000, .report_ns_ = 1000};
    const struct bbf_snap_cost_row idle = {
        .elapsed_ns_ = 1000000, .process_ns_ = 1000, .running_ns_ = 300};
    struct bbf_gate_cost gate = {.followed = {.pairs = 7, .shut_process = 4000, .shut_roots = 100}};
    (void)state;
    o.costs.gate_ps = 200;
    o.last = (struct bbf_snap_cost_row){
        .lives_ = 10, .steps_ = 80, .process_ns_ = 40000}; /* 2 in 40 ns */
    assert_int_equal(fixed_ppm(&row, &gate), 2000);
    gate.followed.pairs = 8;
    assert_int_equal(fixed_ppm(&row, &gate), 2000 + 50000);
    assert_int_equal(fixed_ppm(&idle, &gate), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_and_class_files_of_all_threads_are_counted),
        TEST(a_clock_that_takes_longer_than_the_calls_leaves_nothing),
        TEST(the_rows_are_filled_and_add_up),
        TEST(the_cost_is_looked_at_when_its_interval_is_over_and_only_then),
        TEST(the_price_of_a_gate_is_the_least_of_all_intervals),
        TEST(measured_windows_replace_the_model),
        TEST(the_shut_gate_is_estimated_by_the_hooks_of_windows),
        TEST(the_budget_has_the_shut_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
