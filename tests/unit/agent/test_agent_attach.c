/* link: bbf_agent fake_jvm */
/* agent/attach.c: a stop puts classes back, also those that are being loaded, and says truly what
 * it could not; an attach frees the stripes of threads that have ended. */
#include "agent/commands/endpoint.h"
#define bbf_endpoint_start(env) ((void)(env)) /* no server */
#include "agent/attach.c"
#undef bbf_endpoint_start

#include "agent/classes/rewritten_classes.h"
#include "core/buf.h"
#include "tests/unit/agent/agent_world.h"

static struct bbf_buf text;

static int setup(void **state)
{
    world_setup(state);
    world_rules("include=com.app");
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    world_class("com/app/One", NULL);
    world_class("com/app/Two", NULL);
    bbf_rewritten_classes_add("com/app/One", 0);
    bbf_rewritten_classes_add("com/app/Two", 0);
    return 0;
}

static int teardown(void **state)
{
    bbf_buf_free(&text);
    text = (struct bbf_buf)BBF_BUF_INIT;
    detached_at_ns = 1; /* long ago: classes that were being loaded then are there by now */
    assert_true(bbf_finish_detach(fake_env()));
    return world_teardown(state);
}

static void a_stop_puts_back_what_was_rewritten(void **state)
{
    (void)state;
    bbf_detach(fake_env(), &text);
    assert_string_equal(bbf_buf_cstr(&text), "stopped: 2 classes are restored\n");
    assert_int_equal(atomic_load(&bbf_agent.phase), BBF_PHASE_OUT);
    assert_null(atomic_load(&bbf_agent.rules));
}

static void a_class_that_cannot_be_put_back_is_counted(void **state)
{
    (void)state;
    fake_not_retransformable(fake_find_class("com/app/Two"));
    bbf_detach(fake_env(), &text);
    assert_string_equal(bbf_buf_cstr(&text),
                        "stopped: 1 classes are restored, 1 could not be put back\n");
}

static void without_memory_none_is_said_to_be_restored(void **state)
{
    (void)state;
    fake_fail("GetLoadedClasses", 1);
    bbf_detach(fake_env(), &text);
    assert_non_null(strstr(bbf_buf_cstr(&text), "stopped: 0 classes are restored, "));
}

static void set_detached_ms_ago(uint64_t ms)
{
    detached_at_ns = bbf_clock_ns(CLOCK_MONOTONIC) - ms * 1000000;
}

/* It got its hooks as it loaded, and the pass over the loaded classes did not see it. */
static void a_class_that_was_being_loaded_is_put_back_later(void **state)
{
    (void)state;
    bbf_detach(fake_env(), &text);
    unsigned calls = fake_calls("RetransformClasses");
    world_class("com/app/Late", NULL);
    bbf_rewritten_classes_add("com/app/Late", bbf_clock_ns(CLOCK_MONOTONIC));
    set_detached_ms_ago(0);
    assert_false(bbf_finish_detach(fake_env()));
    assert_int_equal(fake_calls("RetransformClasses"), calls);
    assert_int_equal(bbf_attach_tick_ms(), 20);
    set_detached_ms_ago(LOAD_MS);
    assert_true(bbf_finish_detach(fake_env()));
    assert_int_equal(fake_calls("RetransformClasses"), calls + 1);
    assert_int_equal(bbf_attach_tick_ms(), 60000);
}

static void claim_stripe(uint64_t tid)
{
    *bbf_stripe_mark(bbf_agent.tracker, tid) = 1;
    bbf_agent.tracker->stripes[tid].owner = tid;
}

/* THREAD_END was disabled since the stop. */
static void an_attach_frees_the_stripes_of_threads_that_have_ended(void **state)
{
    enum { LIVES = 7, ENDED = 8 };
    (void)state;
    fake_thread("lives", LIVES);
    jclass thread = fake_local_class(fake_find_class("java/lang/Thread"));
    bbf_agent.tid = (*fake_env())->GetFieldID(fake_env(), thread, "tid", "J");
    struct fake_class *natives = fake_class("java/lang/BBFlowNative", NULL);
    fake_method(natives, "ping", "()V", 8);
    bbf_agent.natives = fake_local_class(natives);
    struct fake_class *track = fake_class("java/lang/BBFlowTrack", NULL);
    fake_method(track, "begin", "(Z)V", 8);
    bbf_agent.track = fake_local_class(track);
    struct fake_class *kind = fake_class("java/lang/BBFlowKind", NULL);
    fake_method(kind, "forget", "()V", 8);
    bbf_agent.kind = fake_local_class(kind);
    bbf_options_init(&bbf_agent.options);
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL)); /* as after a stop */
    claim_stripe(LIVES);
    claim_stripe(ENDED);
    bbf_attach(fake_env());
    assert_null(atomic_load(&bbf_agent.off_why));
    assert_int_equal(atomic_load(&bbf_agent.phase), BBF_PHASE_IN);
    assert_int_equal(bbf_stripe_owner(bbf_agent.tracker, LIVES), LIVES);
    assert_int_equal(bbf_stripe_owner(bbf_agent.tracker, ENDED), 0);
    bbf_options_free(&bbf_agent.options);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stop_puts_back_what_was_rewritten),
        TEST(a_class_that_cannot_be_put_back_is_counted),
        TEST(without_memory_none_is_said_to_be_restored),
        TEST(a_class_that_was_being_loaded_is_put_back_later),
        TEST(an_attach_frees_the_stripes_of_threads_that_have_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
