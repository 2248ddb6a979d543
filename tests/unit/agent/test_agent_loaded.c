/* link: bbf_agent fake_jvm */
/* agent/classes/{loaded,nettys,late_classes}.c: classes that are there already: which are
 * retransformed, which cannot be, and what an attach met too late. */
#include "agent/classes/late_classes.h"
#include "agent/classes/loaded.h"
#include "agent/classes/nettys.h"
#include "agent/classes/rewritten_classes.h"
#include "agent/thread.h"
#include "tests/unit/agent/agent_world.h"
#include "trie/windows.h"

static const struct bbf_rules *rules;

static void begin(void)
{
    world_begin();
    rules = world_rules("include=com.app");
    world_class("com/app/One", NULL);
    world_class("com/app/Two", NULL);
    world_class("com/other/Three", NULL);
    fake_class("java/util/ArrayList", NULL);
    fake_class("[Lcom/app/One;", NULL);
    bbf_agent.attached = true;
}

static void *no_begin(void)
{
    return NULL;
}

static int setup(void **state)
{
    static const struct bbf_thread_body body = {.begin = no_begin};
    static bool once;
    (void)state;
    if (!once) /* late classes wake the agent's thread */
        bbf_thread_init(&body);
    once = true;
    begin();
    return 0;
}

static void included_classes_are_retransformed_and_others_are_not(void **state)
{
    (void)state;
    struct bbf_retransformed r = bbf_loaded_apply(fake_env(), NULL, rules);
    assert_int_equal(r.rewritten, 2);
    assert_int_equal(r.put_back, 0);
    assert_int_equal(r.failed, 0);
    assert_int_equal(fake_calls("RetransformClasses"), 1); /* one batch */
}

static void classes_are_retransformed_in_batches_of_64(void **state)
{
    char name[40];
    (void)state;
    for (int i = 0; i < 126; i++) {
        snprintf(name, sizeof name, "com/app/Made%d", i);
        world_class(name, NULL);
    }
    assert_int_equal(bbf_loaded_apply(fake_env(), NULL, rules).rewritten, 128);
    assert_int_equal(fake_calls("RetransformClasses"), 2);
}

static void one_class_that_cannot_be_changed_does_not_stop_the_others(void **state)
{
    (void)state;
    fake_not_retransformable(fake_find_class("com/app/One"));
    struct bbf_retransformed r = bbf_loaded_apply(fake_env(), NULL, rules);
    assert_int_equal(r.failed, 1);
    assert_int_equal(atomic_load(&bbf_agent.retransform_failed), 1);
    assert_int_equal(fake_calls("RetransformClasses"), 3); /* both, then each */
    fake_unmodifiable(fake_find_class("com/app/One"));
    assert_int_equal(bbf_loaded_apply(fake_env(), NULL, rules).failed, 0); /* not even tried */
}

static void without_memory_no_class_is_changed_and_that_is_counted(void **state)
{
    (void)state;
    fake_fail("PushLocalFrame", 1);
    assert_int_equal(bbf_loaded_apply(fake_env(), NULL, rules).failed, 1);
    assert_false(fake_is_pending());
    fake_fail("GetLoadedClasses", 1);
    assert_int_equal(bbf_loaded_apply(fake_env(), NULL, rules).failed, 1);
    assert_int_equal(atomic_load(&bbf_agent.retransform_failed), 2);
    assert_int_equal(fake_calls("RetransformClasses"), 0);
}

static void only_what_was_rewritten_is_put_back(void **state)
{
    (void)state;
    bbf_rewritten_classes_add("com/app/One", 0);
    struct bbf_retransformed r = bbf_loaded_put_back(fake_env(), rules, 0);
    assert_int_equal(r.put_back, 1);
    assert_int_equal(r.rewritten, 0);
}

static void another_include_moves_both_ways(void **state)
{
    (void)state;
    bbf_rewritten_classes_add("com/app/Two", 0);
    const struct bbf_rules *before = world_rules("include=com.app.Two");
    const struct bbf_rules_hold hold = bbf_rules_hold();
    rules = world_rules("include=com.other");
    struct bbf_retransformed r = bbf_loaded_apply(fake_env(), before, rules);
    bbf_rules_let_go(&hold);
    assert_int_equal(r.rewritten, 1);
    assert_int_equal(r.put_back, 1);
}

static void a_bytebuf_without_the_field_is_met_and_named(void **state)
{
    (void)state;
    struct fake_class *with = world_class("org/shaded/netty/buffer/ByteBuf", NULL);
    fake_field(with, "$bbf", "J");
    (void)bbf_loaded_apply(fake_env(), NULL, rules);
    assert_int_equal(bbf_agent.n_seen, 0);
    world_class("io/netty/buffer/ByteBuf", NULL);
    (void)bbf_loaded_apply(fake_env(), NULL, rules);
    (void)bbf_loaded_apply(fake_env(), NULL, rules);
    assert_int_equal(bbf_agent.n_seen, 1);
    assert_string_equal(bbf_agent.seen[0].prefix, "io.netty");
    assert_string_equal(bbf_agent.seen[0].why, "it was loaded before bbflow");
    assert_true(bbf_nettys_is_known_without("io/netty/buffer/ByteBuf", 9));
    assert_false(bbf_nettys_have_field());
}

/* Hooks rely on the field only where no ByteBuf can lack it by then, and windows are seldom. */
static void a_bytebuf_that_is_there_already_is_seen(void **state)
{
    (void)state;
    world_class("com/app/buffer/ByteBuf", NULL);
    assert_false(bbf_loaded_has_bytebuf(fake_env()));
    world_class("org/shaded/netty/buffer/ByteBuf", NULL);
    assert_true(bbf_loaded_has_bytebuf(fake_env()));
    bbf_windows_rely_on_fields(bbf_agent.tracker);
    assert_false(bbf_windows_are_by_field(bbf_agent.tracker));
    bbf_windows_use(bbf_agent.tracker, false);
    bbf_windows_rely_on_fields(bbf_agent.tracker);
    assert_false(bbf_windows_are_by_field(bbf_agent.tracker));
    bbf_windows_use(bbf_agent.tracker, true);
    bbf_windows_rely_on_fields(bbf_agent.tracker);
    assert_true(bbf_windows_are_by_field(bbf_agent.tracker));
}

static void each_netty_has_a_row_and_too_many_are_no_harm(void **state)
{
    char name[600];
    (void)state;
    for (int i = 0; i < BBF_MAX_NETTYS + 5; i++) {
        int n = snprintf(name, sizeof name, "shaded%d/netty/", i);
        bbf_nettys_remember(name, (size_t)n, true, NULL);
        bbf_nettys_remember(name, (size_t)n, true, NULL);
    }
    assert_int_equal(bbf_agent.n_seen, BBF_MAX_NETTYS);
    bbf_agent.n_seen = 0;
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    bbf_nettys_remember(name, sizeof name - 1, false, "why");
    assert_int_equal(strlen(bbf_agent.seen[0].prefix), BBF_MAX_PREFIX - 1);
    assert_true(bbf_nettys_is_known_without(name, sizeof name - 1));
}

static void idle_hooks_wake_for_a_loaded_class(void **state)
{
    (void)state;
    bbf_nettys_set_idle();
    rules = world_rules("include=com.nobody");
    (void)bbf_loaded_apply(fake_env(), NULL, rules);
    assert_true(bbf_nettys_are_idle());
    rules = world_rules("include=com.app");
    (void)bbf_loaded_apply(fake_env(), NULL, rules);
    assert_false(bbf_nettys_are_idle());
}

/* ---- late classes ---- */

static bool is_paused(void)
{
    return (atomic_load(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_FLAGS)) &
            (uint32_t)BBF_L_SHARED_PAUSED) != 0;
}

static struct fake_class *late_class(void)
{
    return world_class("io/netty/buffer/AbstractReferenceCountedByteBuf", NULL);
}

static void prepare(struct fake_class *class)
{
    fake_enter_native();
    bbf_loaded_prepare(bbf_agent.code, fake_env(), NULL, fake_local_class(class));
    fake_leave_native();
}

static void a_late_class_opens_no_life_until_it_is_retransformed(void **state)
{
    (void)state;
    prepare(late_class());
    assert_true(is_paused());
    assert_int_equal(fake_globals(), 1);
    bbf_late_classes_poll(fake_env()); /* not while the agent is on its way in or out */
    assert_int_equal(fake_calls("RetransformClasses"), 0);
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    bbf_late_classes_poll(fake_env());
    assert_int_equal(fake_calls("RetransformClasses"), 1);
    assert_false(is_paused());
    assert_int_equal(fake_globals(), 0);
    bbf_late_classes_poll(fake_env());
    assert_int_equal(fake_calls("RetransformClasses"), 1);
}

static void a_class_with_calls_is_not_late_and_none_that_is_not_nettys(void **state)
{
    static const char pool[] = "\1\0\24java/lang/BBFlowShim";
    (void)state;
    struct fake_class *done = late_class();
    fake_constant_pool(done, pool, sizeof pool - 1);
    prepare(done);
    prepare(fake_find_class("com/other/Three"));
    prepare(fake_find_class("[Lcom/app/One;"));
    assert_false(is_paused());
    assert_int_equal(fake_globals(), 0);
}

static void beyond_64_late_classes_are_counted_as_failed(void **state)
{
    (void)state;
    for (int i = 0; i < 65; i++)
        prepare(late_class());
    assert_int_equal(fake_globals(), 64);
    assert_int_equal(atomic_load(&bbf_agent.retransform_failed), 1);
    bbf_late_classes_catch_up(fake_env(), false);
    assert_true(is_paused()); /* not asked to resume */
    bbf_late_classes_catch_up(fake_env(), true);
    assert_false(is_paused());
    assert_int_equal(fake_calls("RetransformClasses"), 64);
}

static void work(void)
{
    bbf_agent.attached = true;
    world_class("io/netty/buffer/ByteBuf", NULL);
    fake_not_retransformable(fake_find_class("com/app/One"));
    (void)bbf_loaded_has_bytebuf(fake_env());
    (void)bbf_loaded_apply(fake_env(), NULL, rules);
    prepare(late_class());
    bbf_late_classes_catch_up(fake_env(), true);
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, work, world_free), 30, 500);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(included_classes_are_retransformed_and_others_are_not),
        TEST(classes_are_retransformed_in_batches_of_64),
        TEST(one_class_that_cannot_be_changed_does_not_stop_the_others),
        TEST(without_memory_no_class_is_changed_and_that_is_counted),
        TEST(only_what_was_rewritten_is_put_back),
        TEST(another_include_moves_both_ways),
        TEST(a_bytebuf_without_the_field_is_met_and_named),
        TEST(a_bytebuf_that_is_there_already_is_seen),
        TEST(each_netty_has_a_row_and_too_many_are_no_harm),
        TEST(idle_hooks_wake_for_a_loaded_class),
        TEST(a_late_class_opens_no_life_until_it_is_retransformed),
        TEST(a_class_with_calls_is_not_late_and_none_that_is_not_nettys),
        TEST(beyond_64_late_classes_are_counted_as_failed),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
