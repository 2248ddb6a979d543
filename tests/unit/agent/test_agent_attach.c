/* link: bbf_agent fake_jvm */
/* agent/attach.c: a stop puts classes back, and says truly what it could not. */
#include "agent/attach.c"

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stop_puts_back_what_was_rewritten),
        TEST(a_class_that_cannot_be_put_back_is_counted),
        TEST(without_memory_none_is_said_to_be_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
