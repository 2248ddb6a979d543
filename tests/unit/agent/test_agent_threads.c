/* link: bbf_agent fake_jvm */
/* agent/jvm/threads.c: names of threads for a report: living ones, those that ended, those that
 * have none. */
#include "agent/jvm/threads.c"

#include "tests/unit/agent/agent_world.h"

static struct bbf_snapshot *snapshot;

static void begin(void)
{
    world_begin();
    memset(ended, 0, sizeof ended);
    next_ended = 0;
    fake_thread("main", 1);
    fake_thread("nio-1", 21);
    fake_thread(NULL, 22); /* the JVM has no name, as of a thread that begins */
    jclass class = fake_local_class(fake_find_class("java/lang/Thread"));
    bbf_agent.tid = (*fake_env())->GetFieldID(fake_env(), class, "tid", "J");
    snapshot = bbf_snapshot_new();
    assert_non_null(snapshot);
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

static int teardown(void **state)
{
    bbf_snapshot_free(snapshot);
    return world_teardown(state);
}

/* A leak row of a thread. */
static void add_row(uint64_t tid)
{
    snapshot->leaks = realloc(snapshot->leaks, (snapshot->n_leaks + 1) * sizeof *snapshot->leaks);
    assert_non_null(snapshot->leaks);
    snapshot->leaks[snapshot->n_leaks++] = (struct bbf_snap_leak){.thread = tid};
}

static const char *name_in_report(uint32_t tid)
{
    for (size_t i = 0; i < snapshot->n_threads; i++)
        if (snapshot->threads[i].id == tid)
            return snapshot->threads[i].name;
    return NULL;
}

static void threads_of_rows_are_named_and_no_others(void **state)
{
    (void)state;
    add_row(0); /* no thread's */
    add_row(21);
    add_row(22);
    add_row(99); /* there is none */
    assert_int_equal(bbf_threads_fill(fake_env(), snapshot), BBF_OK);
    assert_int_equal(snapshot->n_threads, 1);
    assert_string_equal(name_in_report(21), "nio-1");
}

static void a_report_without_rows_asks_the_jvm_nothing(void **state)
{
    (void)state;
    assert_int_equal(bbf_threads_fill(fake_env(), snapshot), BBF_OK);
    assert_int_equal(fake_calls("GetAllThreads"), 0);
}

/* ThreadEnd is a callback: what it leaves in local references ends with it. */
static void end_thread(const char *name, int64_t tid)
{
    fake_enter_native();
    bbf_threads_ended(fake_local(fake_thread(name, tid)), (uint64_t)tid);
    fake_leave_native();
}

static void a_thread_that_ended_keeps_its_name(void **state)
{
    (void)state;
    end_thread("worker", 50);
    end_thread(NULL, 51);
    add_row(50);
    add_row(51);
    assert_int_equal(bbf_threads_fill(fake_env(), snapshot), BBF_OK);
    assert_string_equal(name_in_report(50), "worker");
    assert_null(name_in_report(51));
}

static void a_long_name_keeps_whole_letters(void **state)
{
    char name[201] = "";
    (void)state;
    for (int i = 0; i < 40; i++)
        strcat(name, "ä€"); /* five bytes */
    fake_thread(name, 30);
    add_row(30);
    assert_int_equal(bbf_threads_fill(fake_env(), snapshot), BBF_OK);
    const char *kept = name_in_report(30);
    assert_non_null(kept);
    assert_int_equal(strlen(kept), 62); /* 12 times both, then an ä; of 63 there is a part of € */
    assert_memory_equal(kept, name, 62);
}

static void the_oldest_of_too_many_is_forgotten(void **state)
{
    (void)state;
    struct fake_object *thread = fake_thread("pool", 7);
    for (uint64_t i = 0; i < BBF_ENDED_THREADS; i++) {
        fake_enter_native();
        bbf_threads_ended(fake_local(thread), 1000 + i);
        fake_leave_native();
    }
    add_row(1000);
    add_row(1001);
    fake_enter_native();
    bbf_threads_ended(fake_local(thread), 5000);
    fake_leave_native();
    assert_int_equal(bbf_threads_fill(fake_env(), snapshot), BBF_OK);
    assert_null(name_in_report(1000));
    assert_string_equal(name_in_report(1001), "pool");
}

static void fill(void)
{
    add_row(21);
    add_row(1);
    (void)bbf_threads_fill(fake_env(), snapshot);
}

static void done(void)
{
    bbf_snapshot_free(snapshot);
    world_free();
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, fill, done), 4, 20);
}

static void *end_threads(void *arg)
{
    jobject thread = fake_local(arg);
    for (uint64_t i = 0; i < 2000; i++) {
        fake_enter_native();
        bbf_threads_ended(thread, 100 + i % 5);
        fake_leave_native();
    }
    return NULL;
}

static void threads_end_while_a_report_is_made(void **state)
{
    pthread_t threads[2];
    (void)state;
    struct fake_object *thread = fake_thread("ends", 100);
    add_row(21);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, end_threads, thread), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(bbf_threads_fill(fake_env(), snapshot), BBF_OK);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_string_equal(name_in_report(21), "nio-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_of_rows_are_named_and_no_others, setup, teardown),
        cmocka_unit_test_setup_teardown(a_report_without_rows_asks_the_jvm_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_ended_keeps_its_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_name_keeps_whole_letters, setup, teardown),
        cmocka_unit_test_setup_teardown(the_oldest_of_too_many_is_forgotten, setup, teardown),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
        cmocka_unit_test_setup_teardown(threads_end_while_a_report_is_made, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
