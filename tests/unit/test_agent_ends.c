/* link: bbf_snapshot bbf_core */
/*
 * agent/report/ends.c: what ends alike is one event; released lives above the threshold arrive
 * whole from any thread; what has no room is counted, and nothing is kept while no sink wants it.
 */
#include "agent/report/ends.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { THREADS = 3, EACH = 1000 };

struct bbf_agent bbf_agent;
static struct bbf_rules rules;
static bool is_wanted;
static struct bbf_event posted[2 * BBF_ENDS_ROOM];
static size_t n_posted;
static uint64_t unmade, charged;

bool bbf_events_wanted(enum bbf_event_kind kind)
{
    return kind == BBF_EVENT_LIFE && is_wanted;
}

void bbf_events_post(const struct bbf_event *event)
{
    posted[n_posted++] = *event;
}

void bbf_events_unmade(enum bbf_event_kind kind, uint64_t count)
{
    assert_int_equal(kind, BBF_EVENT_LIFE);
    unmade += count;
}

struct bbf_event bbf_event_new(enum bbf_event_kind kind)
{
    return (struct bbf_event){.kind = kind, .weight = 1};
}

int bbf_names_of_threads(JNIEnv *env, struct bbf_event *events, size_t n, struct bbf_snapshot *keep)
{
    (void)env;
    (void)events;
    (void)n;
    (void)keep;
    return BBF_OK;
}

bool bbf_tracker_charge(struct bbf_tracker *t, size_t bytes)
{
    (void)t;
    charged += bytes;
    return true;
}

void bbf_tracker_uncharge(struct bbf_tracker *t, size_t bytes)
{
    (void)t;
    charged -= bytes;
}

void bbf_tracker_hear_ends(struct bbf_tracker *t, void (*to)(const struct bbf_loss *loss))
{
    (void)t;
    assert_true((to != NULL) == is_wanted);
}

uint32_t bbf_node_sampled_by(const struct bbf_tracker *t, uint32_t node)
{
    (void)t;
    (void)node;
    return 1;
}

static uint64_t lives(void)
{
    uint64_t n = 0;

    for (size_t i = 0; i < n_posted; i++)
        n += posted[i].count;
    return n;
}

static void poll_anew(void)
{
    n_posted = 0;
    unmade = 0;
    bbf_ends_poll(NULL);
}

static int setup(void **state)
{
    (void)state;
    atomic_store(&bbf_agent.rules, &rules);
    rules.options.jfr_life_age = 5;
    is_wanted = true;
    poll_anew(); /* begins */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    is_wanted = false;
    poll_anew();
    assert_int_equal(charged, 0);
    return 0;
}

static void released_lives_of_one_second_are_one_event(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++)
        bbf_ends_released(3, 6);
    bbf_ends_released(3, 9);
    bbf_ends_released(4, 6);
    bbf_ends_released(4, 4); /* below the threshold */
    hear(&(struct bbf_loss){.node = 3, .seconds = 6, .memory = BBF_MEM_UNKNOWN});
    poll_anew();
    assert_int_equal(n_posted, 4);
    assert_int_equal(lives(), 10);
    for (size_t i = 0; i < n_posted; i++) {
        const struct bbf_event *e = &posted[i];
        if (!e->detail.life.is_released)
            continue;
        assert_int_equal(e->count, e->node == 3 && e->age_ns == 6 * SECOND ? 7 : 1);
        assert_int_equal(e->memory, BBF_MEM_UNKNOWN);
        assert_int_equal(e->thread, 0);
    }
    assert_false(posted[0].detail.life.is_released); /* heard in the scan, before the poll */
    poll_anew();
    assert_int_equal(n_posted, 0);
}

static void the_threshold_is_live_and_off_without_a_sink(void **state)
{
    (void)state;
    rules.options.jfr_life_age = 0;
    poll_anew();
    bbf_ends_released(3, 100);
    poll_anew();
    assert_int_equal(n_posted, 0);
    rules.options.jfr_life_age = 50;
    poll_anew();
    bbf_ends_released(3, 49);
    bbf_ends_released(3, 50);
    poll_anew();
    assert_int_equal(lives(), 1);
    is_wanted = false;
    poll_anew();
    bbf_ends_released(3, 100);
    is_wanted = true;
    poll_anew();
    poll_anew();
    assert_int_equal(n_posted, 0);
    assert_int_equal(unmade, 0);
}

static void what_has_no_room_is_counted(void **state)
{
    (void)state;
    for (int i = 0; i < BBF_ENDS_ROOM + 10; i++)
        bbf_ends_released(3, 6);
    poll_anew();
    assert_int_equal(lives(), BBF_ENDS_ROOM);
    assert_int_equal(unmade, 10);
    poll_anew();
    assert_int_equal(unmade, 0);
}

static void *release_some(void *number)
{
    uint32_t n = *(const uint32_t *)number;

    for (int i = 0; i < EACH; i++)
        bbf_ends_released(n, 10 * n);
    return NULL;
}

/* A word is of one thread: no node comes with another one's age. */
static void threads_do_not_mix(void **state)
{
    pthread_t threads[THREADS];
    uint32_t numbers[THREADS], seen[THREADS + 1] = {0};

    (void)state;
    n_posted = 0;
    unmade = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, release_some, &numbers[i]), 0);
    }
    for (int i = 0; i < 20; i++)
        bbf_ends_poll(NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    bbf_ends_poll(NULL);
    for (size_t i = 0; i < n_posted; i++) {
        assert_int_equal(posted[i].age_ns, 10 * posted[i].node * SECOND);
        seen[posted[i].node] += (uint32_t)posted[i].count;
    }
    assert_int_equal(lives() + unmade, THREADS * EACH);
    for (uint32_t i = 1; i <= THREADS; i++)
        assert_in_range(seen[i], 0, EACH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(released_lives_of_one_second_are_one_event),
        TEST(the_threshold_is_live_and_off_without_a_sink),
        TEST(what_has_no_room_is_counted),
        TEST(threads_do_not_mix),
    };
    return cmocka_run_group_tests_name("agent_ends", tests, NULL, NULL);
}
