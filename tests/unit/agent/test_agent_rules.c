/* link: bbf_agent fake_jvm */
/* agent/rules.c: a hook holds the rules while another thread replaces them; old copies go once
 * they are not read any more, and count in memory= until then. */
#include "tests/unit/agent/agent_world.h"

#include <pthread.h>
#include <time.h>

enum { READERS = 3, REPLACED = 3000 };

static void a_held_copy_outlives_the_one_that_replaces_it(void **state)
{
    size_t bytes;
    (void)state;
    world_rules("include=com.app");
    const struct bbf_rules_hold hold = bbf_rules_hold(), nested = bbf_rules_hold();
    uint64_t used = atomic_load(&bbf_agent.tracker->budget.used);
    world_rules("include=com.other");
    assert_int_equal(bbf_rules_old(&bytes), 1);
    assert_true(bytes > sizeof(struct bbf_rules));
    assert_true(atomic_load(&bbf_agent.tracker->budget.used) > used);
    assert_string_equal(bbf_patterns_get(hold.rules->options.include, 0), "com.app");
    bbf_rules_let_go(&nested);
    assert_int_equal(bbf_rules_old(NULL), 1);
    bbf_rules_let_go(&hold);
    assert_int_equal(bbf_rules_old(&bytes), 0);
    assert_int_equal(bytes, 0);
}

static void without_rules_there_is_nothing_to_hold(void **state)
{
    (void)state;
    const struct bbf_rules_hold hold = bbf_rules_hold();
    assert_null(hold.rules);
    bbf_rules_let_go(&hold);
    bbf_rules_retire(NULL);
}

static void memory_is_given_back(void **state)
{
    (void)state;
    uint64_t used = atomic_load(&bbf_agent.tracker->budget.used);
    for (int i = 0; i < 100; i++)
        world_rules("include=com.app,exclude=com.app.x,track=com.app.Main:close");
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL));
    assert_int_equal(bbf_rules_old(NULL), 0);
    assert_int_equal(atomic_load(&bbf_agent.tracker->budget.used), used);
}

static void there_is_room_until_too_many_are_read(void **state)
{
    (void)state;
    world_rules("include=com.app");
    const struct bbf_rules_hold hold = bbf_rules_hold();
    for (int i = 0; i < 63; i++)
        world_rules("include=com.app");
    assert_true(bbf_rules_room());
    world_rules("include=com.app");
    assert_int_equal(bbf_rules_old(NULL), 64);
    bbf_rules_let_go(&hold);
    assert_true(bbf_rules_room());
    assert_int_equal(bbf_rules_old(NULL), 0);
}

static atomic_bool stop;
static atomic_size_t reads, wrong;

/* As a hook: hold, ask whether a class is followed, let go. */
static void *hook(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        const struct bbf_rules_hold hold = bbf_rules_hold();
        const char *pattern = bbf_patterns_get(hold.rules->options.include, 0);
        if (strcmp(pattern, "com.app") != 0 && strcmp(pattern, "com.other") != 0)
            atomic_fetch_add(&wrong, 1);
        (void)bbf_plan_is_followed("com/app/Main", 12, hold.rules);
        bbf_rules_let_go(&hold);
        atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed);
    }
    return NULL;
}

static void hooks_read_while_the_rules_are_replaced(void **state)
{
    pthread_t threads[READERS];
    (void)state;
    world_rules("include=com.app");
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hook, NULL), 0);
    while (atomic_load(&reads) < READERS)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    for (int i = 0; i < REPLACED; i++) {
        assert_true(bbf_rules_room());
        world_rules(i % 2 == 0 ? "include=com.other" : "include=com.app");
    }
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(bbf_rules_old(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_held_copy_outlives_the_one_that_replaces_it),
        WORLD_TEST(without_rules_there_is_nothing_to_hold),
        WORLD_TEST(memory_is_given_back),
        WORLD_TEST(there_is_room_until_too_many_are_read),
        WORLD_TEST(hooks_read_while_the_rules_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
