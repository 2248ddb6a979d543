/* link: bbf_agent fake_jvm */
/* agent/classes/callers.c: with refs=on, the method on the stack that retained or released. */
#include "agent/classes/callers.c"

#include "tests/unit/agent/agent_world.h"

static jmethodID hook, pooled, holder, jdk, app, other;

static jmethodID method_of(const char *class, const char *name)
{
    return fake_method_id(fake_method(world_class(class, NULL), name, "()Z", 1));
}

static void begin(void)
{
    world_begin();
    bbf_agent.jdk = 17;
    memset((void *)known, 0, sizeof known);
    hook = method_of("java/lang/BBFlowShim", "released");
    pooled = method_of("io/netty/buffer/AbstractReferenceCountedByteBuf", "release");
    holder = method_of("io/netty/handler/codec/http/DefaultFullHttpRequest", "release");
    jdk = method_of("java/util/ArrayList", "forEach");
    app = method_of("com/app/Main", "read");
    other = method_of("com/app/Main", "write");
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

static uint32_t caller(const jmethodID *stack, size_t n, uint32_t use)
{
    fake_stack(stack, n);
    fake_enter_native();
    uint32_t site = bbf_caller_site(fake_env(), use);
    fake_leave_native();
    return site;
}

static const char *method_at(uint32_t site)
{
    const struct bbf_site *s = bbf_site_get(bbf_agent.tracker, site);
    return s == NULL ? "" : s->method;
}

static void what_only_forwards_is_passed_over(void **state)
{
    const jmethodID stack[] = {hook, pooled, holder, jdk, app, other};
    (void)state;
    assert_string_equal(method_at(caller(stack, 6, BBF_L_USE_RELEASE)), "read_release");
    assert_string_equal(method_at(caller(stack, 6, BBF_L_USE_RETAIN)), "read_retain");
    assert_string_equal(method_at(caller(stack + 5, 1, BBF_L_USE_RETAIN)), "write_retain");
}

static void a_method_is_looked_up_once(void **state)
{
    const jmethodID stack[] = {hook, app};
    (void)state;
    uint32_t site = caller(stack, 2, BBF_L_USE_RELEASE);
    unsigned calls = fake_calls("GetMethodName");
    assert_int_equal(caller(stack, 2, BBF_L_USE_RELEASE), site);
    assert_int_equal(fake_calls("GetMethodName"), calls);
}

static void a_stack_that_only_forwards_has_no_caller(void **state)
{
    const jmethodID stack[] = {hook, pooled, jdk};
    (void)state;
    assert_int_equal(caller(stack, 3, BBF_L_USE_RELEASE), 0);
    assert_int_equal(caller(NULL, 0, BBF_L_USE_RELEASE), 0);
}

static void without_a_stack_the_step_is_dropped_and_counted(void **state)
{
    const jmethodID stack[] = {hook, app};
    struct bbf_snapshot *s = bbf_snapshot_new();
    (void)state;
    fake_fail("GetStackTrace", 1);
    assert_int_equal(caller(stack, 2, BBF_L_USE_RELEASE), 0);
    assert_int_equal(bbf_tracker_capture(bbf_agent.tracker, s), BBF_OK);
    assert_int_equal(s->totals.dropped_steps_, 1);
    bbf_snapshot_free(s);
}

static void a_name_that_is_too_long_has_no_site(void **state)
{
    static char name[2000];
    (void)state;
    memset(name, 'm', sizeof name - 1);
    const jmethodID stack[] = {method_of("com/app/Long", name)};
    assert_int_equal(caller(stack, 1, BBF_L_USE_RELEASE), 0);
}

static void ask(void)
{
    const jmethodID stack[] = {hook, app};
    (void)caller(stack, 2, BBF_L_USE_RELEASE);
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, ask, world_free), 7, 50);
}

static void *call_often(void *arg)
{
    const jmethodID *stack = arg;
    for (int i = 0; i < 1000; i++) {
        const char *method = method_at(caller(&stack[i % 2], 1, BBF_L_USE_RELEASE));
        if (method[0] != '\0' && strcmp(method, i % 2 == 0 ? "read_release" : "write_release") != 0)
            fail_msg("%s", method);
    }
    return NULL;
}

/* Two methods that share a place in the table: neither is taken for the other. */
static void many_threads_ask_for_methods_of_one_place(void **state)
{
    pthread_t threads[3];
    jmethodID stack[2] = {app, NULL};
    (void)state;
    /* The table compares a jmethodID and does not use it; the fake reads it as a struct
     * fake_method, so a copy at an address with the same place is a method as well. */
    static _Alignas(64) char arena[METHODS * 64][sizeof(void *) * 8];
    struct fake_method *const original = (void *)other;
    for (size_t i = 0; i < METHODS * 64 && stack[1] == NULL; i++)
        if (place_of((jmethodID)(void *)arena[i]) == place_of(app)) {
            memcpy(arena[i], (const void *)original, sizeof arena[i]);
            stack[1] = (jmethodID)(void *)arena[i];
        }
    assert_non_null(stack[1]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, stack), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_only_forwards_is_passed_over),
        TEST(a_method_is_looked_up_once),
        TEST(a_stack_that_only_forwards_has_no_caller),
        TEST(without_a_stack_the_step_is_dropped_and_counted),
        TEST(a_name_that_is_too_long_has_no_site),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
        TEST(many_threads_ask_for_methods_of_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
