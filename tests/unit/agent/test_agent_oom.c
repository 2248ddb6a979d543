/* link: bbf_agent fake_jvm */
/* agent/report/oom.c: each error is in one event, however often the agent thread looks, and no
 * error is in two. */
#include "agent/events.h"

static void keep(const struct bbf_event *event);
static bool is_wanted(enum bbf_event_kind kind);
#define bbf_events_post   keep
#define bbf_events_wanted is_wanted
#include "agent/report/oom.c"
#undef bbf_events_post
#undef bbf_events_wanted

#include "tests/unit/agent/agent_world.h"

static unsigned wants; /* BBF_EVENT_BIT() */
static struct bbf_event posted[8];
static size_t n_posted;

static void keep(const struct bbf_event *event)
{
    assert_in_range(n_posted, 0, 7);
    posted[n_posted++] = *event;
}

static bool is_wanted(enum bbf_event_kind kind)
{
    return (wants & BBF_EVENT_BIT(kind)) != 0;
}

static int setup(void **state)
{
    world_setup(state);
    world_rules("include=com.app");
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    wants = BBF_EVENT_BIT(BBF_EVENT_OOM);
    n_posted = 0;
    seen = 0;
    return 0;
}

/* As BBFlowShim.exhausted(), in the thread that got the error. */
static void run_out(uint64_t times)
{
    atomic_fetch_add(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_EXHAUSTED), times);
}

static void poll_often(void)
{
    for (int i = 0; i < 3; i++)
        bbf_oom_poll(fake_env());
}

static void each_error_is_in_one_event(void **state)
{
    (void)state;
    poll_often();
    assert_int_equal(n_posted, 0);
    run_out(2);
    poll_often();
    assert_int_equal(n_posted, 1);
    assert_int_equal(posted[0].kind, BBF_EVENT_OOM);
    assert_int_equal(posted[0].count, 2);
    assert_int_equal(posted[0].added, 2);
    run_out(1);
    poll_often();
    assert_int_equal(n_posted, 2);
    assert_int_equal(posted[1].count, 3);
    assert_int_equal(posted[1].added, 1);
}

/* A sink that begins later hears of new errors only. */
static void errors_that_no_sink_wanted_are_not_posted_later(void **state)
{
    (void)state;
    wants = 0;
    run_out(5);
    poll_often();
    wants = BBF_EVENT_BIT(BBF_EVENT_OOM);
    poll_often();
    assert_int_equal(n_posted, 0);
    run_out(1);
    poll_often();
    assert_int_equal(n_posted, 1);
    assert_int_equal(posted[0].count, 6);
    assert_int_equal(posted[0].added, 1);
}

/* Detached: the rules are gone. */
static void errors_without_rules_wait(void **state)
{
    (void)state;
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL));
    run_out(1);
    poll_often();
    assert_int_equal(n_posted, 0);
    world_rules("include=com.app");
    poll_often();
    assert_int_equal(n_posted, 1);
    assert_int_equal(posted[0].added, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_error_is_in_one_event),
        TEST(errors_that_no_sink_wanted_are_not_posted_later),
        TEST(errors_without_rules_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
