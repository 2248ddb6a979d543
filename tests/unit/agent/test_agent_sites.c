/* link: bbf_agent fake_jvm */
/* agent/sites.c: the numbers of steps and roots, given out by many hooks at once. */
#include "agent/sites.h"

#include "tests/unit/agent/agent_world.h"

#include <pthread.h>

enum { THREADS = 4, NAMES = 200 };

static uint32_t number(const char *class_name, const char *method, enum bbf_site_kind kind)
{
    const struct bbf_plan_site site = {.class_name = class_name,
                                       .method = method,
                                       .descriptor = "()V",
                                       .kind = kind,
                                       .memory = BBF_MEM_UNKNOWN};
    return bbf_agent_sites.number(bbf_agent_sites.ctx, &site);
}

static void one_site_has_one_number(void **state)
{
    (void)state;
    uint32_t a = number("com/app/Main", "read", BBF_SITE_ENTER);
    assert_int_not_equal(a, 0);
    assert_int_equal(number("com/app/Main", "read", BBF_SITE_ENTER), a);
    assert_int_not_equal(number("com/app/Main", "write", BBF_SITE_ENTER), a);
    assert_int_not_equal(number("com/app/Main", "read", BBF_SITE_ROOT), a);
    assert_string_equal(bbf_site_get(bbf_agent.tracker, a)->class_name, "com.app.Main");
}

static void at_the_limit_a_site_has_no_number(void **state)
{
    char method[20];
    struct bbf_limits limits = sample_limits();
    (void)state;
    limits.max_sites = 64;
    bbf_tracker_limit(bbf_agent.tracker, &limits);
    uint32_t first = number("com/app/Main", "m", BBF_SITE_ENTER), last = first;
    for (int i = 0; i < 100; i++) {
        snprintf(method, sizeof method, "m%d", i);
        last = number("com/app/Main", method, BBF_SITE_ENTER);
    }
    assert_int_equal(last, 0);
    assert_int_equal(number("com/app/Main", "m", BBF_SITE_ENTER), first);
}

static void *give_out(void *arg)
{
    uint32_t *numbers = arg;
    char method[20];
    for (int i = 0; i < NAMES; i++) {
        snprintf(method, sizeof method, "m%d", i);
        numbers[i] = number("com/app/Main", method, BBF_SITE_ENTER);
    }
    return NULL;
}

static void all_hooks_get_the_same_numbers(void **state)
{
    static uint32_t numbers[THREADS][NAMES];
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, give_out, numbers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        assert_memory_equal(numbers[i], numbers[0], sizeof numbers[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(one_site_has_one_number),
        WORLD_TEST(at_the_limit_a_site_has_no_number),
        WORLD_TEST(all_hooks_get_the_same_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
