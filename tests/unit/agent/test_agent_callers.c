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

static const char *class_at(uint32_t site)
{
    const struct bbf_site *s = bbf_site_get(bbf_agent.tracker, site);
    return s == NULL ? "" : s->class_name;
}

/* As a `set` does. */
static void include(const char *patterns)
{
    struct bbf_options options;
    struct bbf_option_error error;
    bbf_options_init(&options);
    if (patterns != NULL)
        assert_int_equal(bbf_options_parse(&options, patterns, &error), BBF_OK);
    const struct bbf_rules *rules = bbf_rules_new(&options);
    assert_non_null(rules);
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, rules));
    bbf_options_free(&options);
}

/* NettyDataBuffer.retain of Spring is no answer: who called it is. */
static void a_framework_that_hands_the_count_on_is_passed_over(void **state)
{
    jmethodID spring = method_of("org/spring/NettyDataBuffer", "retain");
    jmethodID flux = method_of("reactor/core/Flux", "onNext");
    const jmethodID stack[] = {hook, pooled, spring, flux, jdk, app};
    (void)state;
    include(NULL);
    assert_string_equal(class_at(caller(stack, 6, BBF_L_USE_RETAIN)), "reactor.core.Flux");
    /* What only forwards by its name is better than no name. */
    assert_string_equal(class_at(caller(stack, 3, BBF_L_USE_RETAIN)), "org.spring.NettyDataBuffer");
    include("include=com.app");
    assert_string_equal(class_at(caller(stack, 6, BBF_L_USE_RETAIN)), "com.app.Main");
    assert_string_equal(class_at(caller(stack, 5, BBF_L_USE_RETAIN)), "reactor.core.Flux");
    include("include=org.spring");
    assert_string_equal(method_at(caller(stack, 6, BBF_L_USE_RETAIN)), "retain_retain");
    include("include=com.none");
    assert_string_equal(class_at(caller(stack, 6, BBF_L_USE_RETAIN)), "reactor.core.Flux");
}

/* ByteBuf::release in com.app.Main: its class has an address in its name, the site has none. */
static void a_method_reference_is_named_after_the_method_that_makes_it(void **state)
{
    static const char *const classes[] = {"com/app/Main$$Lambda$14.0x0000000800c01200",
                                          "com/app/Main$$Lambda.0x00007fbe244a9378",
                                          "com/app/Main$$Lambda$3/0x0000000840064840"};
    (void)state;
    include("include=com.app");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        jmethodID proxy = method_of(classes[i], "accept");
        const jmethodID stack[] = {hook, pooled, proxy, jdk, other};
        uint32_t site = caller(stack, 5, BBF_L_USE_RELEASE);
        assert_string_equal(class_at(site), "com.app.Main$$Lambda");
        assert_string_equal(method_at(site), "write$accept_release");
        proxy = method_of(classes[i], "run");
        const jmethodID alone[] = {hook, pooled, proxy, jdk};
        assert_string_equal(method_at(caller(alone, 4, BBF_L_USE_RELEASE)), "run_release");
    }
    /* A class that only looks like it. */
    const jmethodID plain[] = {method_of("com/app/Main$$LambdaFactory", "get")};
    assert_string_equal(class_at(caller(plain, 1, BBF_L_USE_RELEASE)),
                        "com.app.Main$$LambdaFactory");
}

/* Of a method that also has a step. */
static void the_line_is_that_of_the_step(void **state)
{
    const struct bbf_site step = {.class_name = (char *)"com/app/Main",
                                  .method = (char *)"read",
                                  .descriptor = (char *)"()Z",
                                  .kind = BBF_SITE_ENTER,
                                  .line = 26};
    const jmethodID stack[] = {hook, app};
    (void)state;
    assert_int_not_equal(bbf_site_intern(bbf_agent.tracker, &step), 0);
    uint32_t site = caller(stack, 2, BBF_L_USE_RELEASE);
    assert_int_equal(bbf_site_get(bbf_agent.tracker, site)->line, 26);
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
        TEST(a_framework_that_hands_the_count_on_is_passed_over),
        TEST(a_method_reference_is_named_after_the_method_that_makes_it),
        TEST(the_line_is_that_of_the_step),
        TEST(a_method_is_looked_up_once),
        TEST(a_stack_that_only_forwards_has_no_caller),
        TEST(without_a_stack_the_step_is_dropped_and_counted),
        TEST(a_name_that_is_too_long_has_no_site),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
        TEST(many_threads_ask_for_methods_of_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
