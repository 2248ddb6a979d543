/* link: bbf_agent fake_jvm */
/* agent/boot/shim.c and link.c: the shim's classes in a JVM that has all they refer to, in one that
 * lacks something, and with each step failing. */
#include "agent/boot/shim.h"
#include "agent/boot/link.h"

#include "shim_classes.h"

#include "core/log.h"
#include "tests/unit/agent/agent_world.h"

static unsigned defined_classes, calls_of_ping, fails_of_ping;

static jvalue give_unsafe(JNIEnv *env, jobject self, const jvalue *arguments)
{
    (void)env;
    (void)self;
    (void)arguments;
    return (jvalue){.l = fake_give(fake_object(fake_find_class("jdk/internal/misc/Unsafe")))};
}

static jvalue give_sixteen(JNIEnv *env, jobject self, const jvalue *arguments)
{
    (void)env;
    (void)self;
    (void)arguments;
    return (jvalue){.j = 16};
}

static jvalue ping(JNIEnv *env, jobject self, const jvalue *arguments)
{
    (void)self;
    (void)arguments;
    if (++calls_of_ping <= fails_of_ping)
        fake_throw(env, "java/lang/UnsatisfiedLinkError");
    return (jvalue){.j = 0};
}

/* What the class file has, as far as the agent asks for it. */
static void complete(struct fake_class *class)
{
    defined_classes++;
    (void)fake_method(class, "<init>", "()V", 0); /* asked for, so that the class is initialised */
    if (class == fake_find_class("java/lang/BBFlowRecords")) {
        fake_static(class, "SLOTS", "[[Ljava/lang/Object;");
        fake_static_refer(class, "SLOTS", fake_array("[[Ljava/lang/Object;", 4));
    } else if (class == fake_find_class("java/lang/BBFlowNative")) {
        fake_does(fake_method(class, "ping", "()V", 8), ping);
    } else if (class == fake_find_class("java/lang/BBFlowKind")) {
        fake_static(class, "klassAt", "J");
        fake_static_number(class, "klassAt", 8);
    }
}

static void begin_on(bool with_long_offsets)
{
    world_begin();
    fake_has_everything();
    fake_on_define(complete);
    fake_class("[Ljava/lang/Object;", NULL);
    struct fake_class *unsafe = fake_class("jdk/internal/misc/Unsafe", NULL);
    fake_does(fake_method(unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;", 8), give_unsafe);
    fake_does(fake_method(unsafe, "arrayIndexScale", "(Ljava/lang/Class;)I", 0), give_sixteen);
    fake_does(fake_method(unsafe, "arrayBaseOffset",
                          with_long_offsets ? "(Ljava/lang/Class;)J" : "(Ljava/lang/Class;)I", 0),
              give_sixteen);
    fake_lacks(with_long_offsets ? "arrayBaseOffset(Ljava/lang/Class;)I"
                                 : "arrayBaseOffset(Ljava/lang/Class;)J");
    defined_classes = calls_of_ping = fails_of_ping = 0;
}

static void begin(void)
{
    begin_on(true);
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

static int teardown(void **state)
{
    fake_keep_globals(); /* the shim's classes stay as long as the JVM does */
    return world_teardown(state);
}

enum {
#define XX(name) +1
    CLASSES = BBF_SHIM_CLASSES(XX)
#undef XX
};

static void all_classes_are_defined_and_kept(void **state)
{
    enum { CLASS_WORD_AT = 8 };
    unsigned known = 1;
    (void)state;
    fake_enter_native();
    assert_int_equal(bbf_shim_define(fake_env()), BBF_OK);
    fake_leave_native();
    assert_int_equal(defined_classes, CLASSES);
    assert_ptr_equal(fake_target(bbf_agent.shim),
                     fake_mirror(fake_find_class("java/lang/BBFlowShim")));
    assert_non_null(bbf_agent.ping);
    assert_non_null(bbf_agent.track);
    assert_non_null(bbf_agent.slots);
    assert_non_null(bbf_agent.group);
    assert_non_null(bbf_agent.tid);
    assert_null(bbf_agent.exit);
    assert_int_equal(bbf_shim_kinds(&known), CLASS_WORD_AT);
    assert_int_equal(known, 0);
}

/* Up to JDK 24 the first element's place was an int. */
static void older_jdks_are_fitted(void **state)
{
    static const int jdks[] = {11, 17, 21};
    (void)state;
    for (size_t i = 0; i < sizeof jdks / sizeof *jdks; i++) {
        teardown(state);
        begin_on(false);
        bbf_agent.jdk = jdks[i];
        fake_enter_native();
        assert_int_equal(bbf_shim_define(fake_env()), BBF_OK);
        fake_leave_native();
        assert_int_equal(defined_classes, CLASSES);
    }
}

static void a_second_build_of_bbflow_is_refused(void **state)
{
    (void)state;
    fake_class("java/lang/BBFlowShim", NULL);
    fake_enter_native();
    assert_int_equal(bbf_shim_define(fake_env()), BBF_EREFUSED);
    fake_leave_native();
    assert_int_equal(fake_calls("DefineClass"), 0);
}

static void a_jdk_without_a_method_is_left_as_it_was(void **state)
{
    (void)state;
    fake_lacks("getReferenceVolatile");
    fake_lacks("getReference");
    fake_lacks("putLong");
    fake_enter_native();
    assert_int_equal(bbf_shim_define(fake_env()), BBF_EREFUSED);
    fake_leave_native();
    assert_int_equal(fake_calls("DefineClass"), 0);
    assert_false(fake_is_pending());
}

static void what_is_missing_is_named(void **state)
{
    char missing[300] = "";
    struct bbf_link_found found = {0};
    extern const unsigned char bbf_BBFlowWalk_class[];
    (void)state;
    fake_lacks("compareAndSetLong");
    assert_false(bbf_link_check(fake_env(), bbf_BBFlowWalk_class, &found, missing, sizeof missing));
    assert_string_equal(missing,
                        "jdk.internal.misc.Unsafe.compareAndSetLong(Ljava/lang/Object;JJJ)Z");
    fake_lacks("jdk/internal/misc/Unsafe");
    found.n = 0;
    assert_false(bbf_link_check(fake_env(), bbf_BBFlowWalk_class, &found, missing, sizeof missing));
    assert_non_null(strstr(missing, "jdk.internal.misc.Unsafe."));
    assert_false(fake_is_pending());
}

static void fields_are_looked_up_as_their_own_and_as_the_classes(void **state)
{
    /* Fieldref a/Owner.f I */
    static const uint8_t bytes[] = {0xca, 0xfe, 0xba, 0xbe, 0,   0,   0, 55, 0, 7, 1, 0, 7,   'a',
                                    '/',  'O',  'w',  'n',  'e', 'r', 7, 0,  1, 1, 0, 1, 'f', 1,
                                    0,    1,    'I',  12,   0,   3,   0, 4,  9, 0, 2, 0, 5};
    char missing[100] = "";
    struct bbf_link_found found = {0};
    (void)state;
    fake_lacks("f");
    assert_false(bbf_link_check(fake_env(), bytes, &found, missing, sizeof missing));
    assert_string_equal(missing, "a.Owner.f I");
    assert_true(fake_calls("GetStaticFieldID") > 0);
}

static void define(void)
{
    fake_enter_native();
    (void)bbf_shim_define(fake_env());
    fake_leave_native();
}

static void done(void)
{
    fake_keep_globals();
    world_free();
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, define, done), 100, 5000);
}

static void the_wait_for_the_natives_ends_when_they_link(void **state)
{
    (void)state;
    define();
    fails_of_ping = 3;
    fake_enter_native();
    assert_true(bbf_shim_wait(fake_env(), 1000));
    assert_int_equal(calls_of_ping, 4);
    fails_of_ping = 1000;
    assert_false(bbf_shim_wait(fake_env(), 5));
    assert_false(fake_is_pending());
    fake_leave_native();
}

static void the_exits_class_is_defined_once_and_when_it_is_needed(void **state)
{
    (void)state;
    define();
    fake_enter_native();
    bbf_shim_unhook_exit(fake_env()); /* nothing to take back */
    assert_null(bbf_agent.exit);
    bbf_shim_hook_exit(fake_env());
    assert_non_null(bbf_agent.exit);
    bbf_shim_unhook_exit(fake_env());
    bbf_shim_hook_exit(fake_env());
    assert_int_equal(defined_classes, CLASSES + 1);
    assert_int_equal(fake_calls("CallStaticVoidMethod"), 3);
    fake_leave_native();
}

static void work_after_define(void)
{
    fake_enter_native();
    bbf_shim_hook_exit(fake_env());
    bbf_shim_unhook_exit(fake_env());
    (void)bbf_shim_track(fake_env(), true);
    fake_leave_native();
}

static void begin_defined(void)
{
    begin();
    define();
}

static void a_failing_exit_hook_leaves_nothing_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin_defined, work_after_define, done), 6, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_classes_are_defined_and_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(older_jdks_are_fitted, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_build_of_bbflow_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_jdk_without_a_method_is_left_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_missing_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_are_looked_up_as_their_own_and_as_the_classes, setup,
                                        teardown),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
        cmocka_unit_test_setup_teardown(the_wait_for_the_natives_ends_when_they_link, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_exits_class_is_defined_once_and_when_it_is_needed,
                                        setup, teardown),
        cmocka_unit_test(a_failing_exit_hook_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
