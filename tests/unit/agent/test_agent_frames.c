/* link: bbf_agent fake_jvm */
/* agent/jvm/frames.c: before JDK 23 one thread at a time asks for its stack, and none waits for a
 * thread that was suspended meanwhile. */
#include "agent/jvm/frames.c"

#include "tests/unit/agent/agent_world.h"

enum { THREADS = 4, ROUNDS = 500 };

static jmethodID methods[3];

static int setup(void **state)
{
    world_setup(state);
    struct fake_class *class = world_class("com/app/Main", NULL);
    for (int i = 0; i < 3; i++)
        methods[i] = fake_method_id(fake_method(class, "m", "()V", 0));
    fake_stack(methods, 3);
    atomic_store(&stuck, false);
    return 0;
}

static void the_innermost_frames_are_given(void **state)
{
    jvmtiFrameInfo frames[3];
    (void)state;
    assert_int_equal(bbf_frames_here(frames, 2), 2);
    assert_ptr_equal(frames[0].method, methods[0]);
    assert_ptr_equal(frames[1].method, methods[1]);
    fake_stack(NULL, 0); /* a thread without Java frames */
    assert_int_equal(bbf_frames_here(frames, 2), 0);
}

static void no_stack_is_less_than_none(void **state)
{
    jvmtiFrameInfo frames[3];
    (void)state;
    fake_fail_with("GetStackTrace", 1, JVMTI_ERROR_THREAD_NOT_ALIVE);
    assert_int_equal(bbf_frames_here(frames, 3), -1);
    assert_int_equal(bbf_frames_here(frames, 3), 3);
}

/* The thread that has the turn is suspended: a hook gives up, a question about a class is asked
 * anyway. */
static void a_turn_that_does_not_come_is_not_waited_for_twice(void **state)
{
    jvmtiFrameInfo frames[3];
    jmethodID *found;
    jint n;
    (void)state;
    bbf_agent.jdk = 17;
    pthread_mutex_lock(&turn);
    assert_int_equal(bbf_frames_here(frames, 3), -1);
    assert_true(atomic_load(&stuck));
    assert_int_equal(fake_calls("GetStackTrace"), 0);
    jclass class = fake_local_class(fake_find_class("com/app/Main"));
    assert_int_equal(bbf_frames_of_class(class, &n, &found), 0);
    assert_int_equal(n, 3);
    (*bbf_agent.code)->Deallocate(bbf_agent.code, (unsigned char *)found);
    pthread_mutex_unlock(&turn);
    assert_int_equal(bbf_frames_here(frames, 3), 3);
    assert_false(atomic_load(&stuck));
    assert_int_equal(pthread_mutex_trylock(&turn), 0); /* it was given back */
    pthread_mutex_unlock(&turn);
}

static void since_23_nobody_takes_turns(void **state)
{
    jvmtiFrameInfo frames[3];
    (void)state;
    bbf_agent.jdk = 23;
    pthread_mutex_lock(&turn);
    assert_int_equal(bbf_frames_here(frames, 3), 3);
    pthread_mutex_unlock(&turn);
}

static _Atomic int inside, most_inside, refused;

static jvmtiError JNICALL watched(jvmtiEnv *jvmti, jthread thread, jint start, jint most,
                                  jvmtiFrameInfo *frames, jint *n)
{
    int now = atomic_fetch_add(&inside, 1) + 1;
    (void)jvmti;
    (void)thread;
    (void)start;
    (void)most;
    (void)frames;
    if (now > atomic_load(&most_inside))
        atomic_store(&most_inside, now);
    *n = 0;
    atomic_fetch_sub(&inside, 1);
    return JVMTI_ERROR_NONE;
}

static void *ask_often(void *arg)
{
    jvmtiFrameInfo frames[3];
    (void)arg;
    for (int i = 0; i < ROUNDS; i++)
        if (bbf_frames_here(frames, 3) < 0)
            atomic_fetch_add(&refused, 1);
    return NULL;
}

static void one_thread_at_a_time_asks(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    struct jvmtiInterface_1_ table = **bbf_agent.code;
    jvmtiEnv watching = &table;
    table.GetStackTrace = watched;
    bbf_agent.code = &watching;
    bbf_agent.jdk = 17;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(most_inside, 1);
    bbf_agent.code = fake_jvmti();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_innermost_frames_are_given, setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_stack_is_less_than_none, setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_turn_that_does_not_come_is_not_waited_for_twice, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(since_23_nobody_takes_turns, setup, world_teardown),
        cmocka_unit_test_setup_teardown(one_thread_at_a_time_asks, setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
