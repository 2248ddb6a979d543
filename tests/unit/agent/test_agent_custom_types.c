/* link: bbf_agent fake_jvm */
/* agent/classes/custom_types.c: which classes track= means, and which are left out because the call
 * that closes them cannot be seen. */
#include "agent/classes/custom_types.h"

#include "core/log.h"
#include "tests/unit/agent/agent_world.h"

#include <stdio.h>
#include <unistd.h>

static struct fake_class *session, *closeable;

static void begin(void)
{
    world_begin();
    world_rules("track=com.app.Session:close");
    closeable = world_class("com/app/Closeable", NULL);
    session = world_class("com/app/Session", NULL);
    fake_method(session, "<init>", "()V", 1);
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

static int teardown(void **state)
{
    bbf_custom_types_poll(); /* reports what was left out, so that the next test does not */
    return world_teardown(state);
}

static uint64_t classify(struct fake_class *class)
{
    fake_enter_native();
    uint64_t answer = bbf_custom_types_classify(fake_env(), fake_local_class(class));
    fake_leave_native();
    assert_false(fake_is_pending());
    return answer;
}

static void a_class_and_its_subclasses_are_meant(void **state)
{
    (void)state;
    fake_method(session, "close", "()V", 1);
    uint64_t answer = classify(session);
    assert_int_not_equal(answer & 0xffff, 0);   /* its number */
    assert_int_equal(answer >> 16 & 0xffff, 1); /* the first entry */
    assert_string_equal(bbf_site_get(bbf_agent.tracker, (uint32_t)(answer >> 32))->method,
                        "<init>");
    struct fake_class *sub = world_class("com/app/TlsSession", session);
    assert_int_not_equal(classify(sub), 0);
    assert_int_not_equal(classify(sub) & 0xffff, answer & 0xffff);
    assert_int_equal(classify(world_class("com/app/Other", NULL)), 0);
}

static void a_closing_method_may_be_inherited(void **state)
{
    (void)state;
    struct fake_class *base = world_class("com/app/Base", NULL);
    fake_method(base, "close", "()V", 1);
    assert_int_not_equal(
        classify(world_class("com/app/Sub", world_class("com/app/Session2", base))) == 0, 0);
    world_rules("track=com.app.Session2:close");
    assert_int_not_equal(classify(fake_find_class("com/app/Sub")), 0);
    fake_method(closeable, "close", "()V", 1); /* a default method */
    world_rules("track=com.app.Session:close");
    fake_implements(session, closeable);
    assert_int_not_equal(classify(session), 0);
}

static void what_cannot_be_seen_closing_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(classify(session), 0); /* it has no such method */
    fake_method(session, "close", "()V", 0x0101);
    assert_int_equal(classify(session), 0); /* native */
    struct fake_class *boot = fake_class("com/app/Session3", NULL);
    fake_method(boot, "close", "()V", 1);
    world_rules("track=com.app.Session3:close");
    assert_int_equal(classify(boot), 0); /* the boot loader's are not rewritten */
    struct fake_class *sub = world_class("com/app/Sub3", boot);
    fake_method(sub, "close", "()V", 0x0101); /* native, nearer to the object */
    assert_int_equal(classify(sub), 0);
}

static void a_static_or_abstract_method_closes_nothing(void **state)
{
    (void)state;
    jvmtiEnv *jvmti = bbf_agent.code;
    struct fake_method *instance = fake_method(session, "close", "()V", 1);
    struct fake_method *of_class = fake_method(session, "close", "(I)V", 9);
    struct fake_method *without = fake_method(session, "close", "(J)V", 0x0401);
    const char *list = "com.app.Session:close";
    assert_int_equal(bbf_custom_types_closes(jvmti, list, fake_method_id(instance)), 1);
    assert_int_equal(bbf_custom_types_closes(jvmti, list, fake_method_id(of_class)), 0);
    assert_int_equal(bbf_custom_types_closes(jvmti, list, fake_method_id(without)), 0);
    assert_int_equal(
        bbf_custom_types_closes(jvmti, "com.app.Session:end", fake_method_id(instance)), 0);
}

static void without_the_option_nothing_is_asked(void **state)
{
    (void)state;
    world_rules("include=com.app");
    assert_int_equal(classify(session), 0);
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL));
    assert_int_equal(classify(session), 0);
    assert_int_equal(fake_calls("GetClassSignature"), 0);
}

/* Nine classes are left out between two looks of the agent thread: eight have a place. */
static void those_left_out_are_logged_once_and_counted_beyond_eight(void **state)
{
    char name[40], text[4000] = "";
    (void)state;
    FILE *file = tmpfile();
    int before = dup(2);
    fflush(stderr);
    dup2(fileno(file), 2);
    bbf_log_set_level(BBF_LOG_WARN);
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "com/app/Session%d", i);
        (void)classify(world_class(name, session));
    }
    bbf_custom_types_poll();
    bbf_custom_types_poll();
    bbf_log_set_level(BBF_LOG_ERROR);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "com/app/Session7 is not followed"));
    assert_null(strstr(text, "com/app/Session8"));
    assert_non_null(strstr(text, "1 more classes are not followed"));
    assert_null(strstr(strstr(text, "Session7") + 1, "Session7")); /* once */
}

static void ask(void)
{
    fake_method(closeable, "close", "()V", 1);
    fake_implements(session, closeable);
    (void)classify(world_class("com/app/Sub", session));
    bbf_custom_types_poll();
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, ask, world_free), 15, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_class_and_its_subclasses_are_meant, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closing_method_may_be_inherited, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_seen_closing_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_static_or_abstract_method_closes_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_the_option_nothing_is_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(those_left_out_are_logged_once_and_counted_beyond_eight,
                                        setup, teardown),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
