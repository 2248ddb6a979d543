/* link: bbf_agent fake_jvm */
/* agent/duties.c: the agent's real thread and its duties in a fake JVM: jobs, collections, settings
 * that change meanwhile, and a JVM that does not let it attach. */
#include "tests/unit/agent/agent_world.h"

#include "agent/duties.c" /* after that file, whose parameters would shadow work() */

#include "agent/cost/account.h"
#include "agent/cost/meter.h"
#include "agent/settings.h"
#include "agent/thread.h"
#include "core/buf.h"
#include "trie/model.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int setup(void **state)
{
    (void)state;
    world_begin();
    world_rules("include=com.app");
    bbf_options_init(&bbf_agent.options);
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    struct fake_class *weak = fake_class("java/lang/ref/WeakReference", NULL);
    fake_field(weak, "referent", "Ljava/lang/Object;");
    fake_method(weak, "<init>", "(Ljava/lang/Object;)V", 0);
    fake_thread("main", 1);
    jclass class = fake_local_class(fake_find_class("java/lang/Thread"));
    bbf_agent.tid = (*fake_env())->GetFieldID(fake_env(), class, "tid", "J");
    bbf_agent.slots = fake_global(fake_array("[[Ljava/lang/Object;", BBF_L_CHUNKS));
    world_class("com/app/Main", NULL);
    for (int i = 0; i < 3; i++) /* as attaches that failed without address space */
        bbf_duties_init();
    alarm(100);
    return 0;
}

static int teardown(void **state)
{
    alarm(0);
    fake_keep_globals(); /* java.lang.ref.WeakReference */
    bbf_options_free(&bbf_agent.options);
    return world_teardown(state);
}

static int ask(enum bbf_job_kind kind, struct bbf_snapshot *s, struct bbf_buf *text)
{
    struct bbf_job job = {.kind = kind, .snapshot = s, .text = text};
    return bbf_thread_ask(&job, 60000, 0);
}

/* Before the thread is started for good. */
static void a_jvm_that_does_not_let_the_thread_attach_turns_tracking_off(void **state)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    (void)state;
    fake_fail("GetVersion", 1); /* AttachCurrentThreadAsDaemon */
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(ask(BBF_JOB_SNAPSHOT, s, NULL), BBF_ECLOSED);
    assert_string_equal(atomic_load(&bbf_agent.off_why),
                        "the agent thread cannot be attached to the JVM");
    bbf_snapshot_free(s);
}

/* It sleeps until a second begins: early in one, that is longer than until a scan. */
static void await_long_sleep(void)
{
    while (wait_ms(NULL) <= SCAN_MS)
        (void)usleep(10000);
    assert_in_range(wait_ms(NULL), 1, bbf_attach_tick_ms());
}

/* A scan is not due yet, because the last one was just before: the thread must not sleep as long as
 * without a collection. */
static void a_collection_shortens_the_sleep(void **state)
{
    (void)state;
    await_long_sleep();
    bbf_thread_gc_finished(true);
    assert_in_range(wait_ms(NULL), 1, SCAN_MS);
    bbf_thread_clear_gc();
    await_long_sleep();
}

/* A collector that runs a hundred times a second has lives scanned as often while they begin, and
 * less often while none does. */
static void scans_are_less_often_while_no_life_begins(void **state)
{
    (void)state;
    scanned_ns = 0;
    assert_int_equal(next_scan_ns(), 0);
    bbf_thread_gc_finished(true);
    poll_scan(NULL);
    assert_false(bbf_thread_has_gc());
    scanned_ns += 60 * BBF_CLOCK_SECOND; /* so that no machine is too slow for what follows */
    scan_took_ns = MS;
    bbf_thread_gc_finished(true);
    assert_int_equal(next_scan_ns(), scanned_ns + (SCAN_MS + SCAN_SHARE) * MS);
    bbf_tracker_set_idle(bbf_agent.tracker, true);
    assert_int_equal(next_scan_ns(), scanned_ns + (IDLE_SCAN_MS + SCAN_SHARE) * MS);
    poll_scan(NULL);
    assert_true(bbf_thread_has_gc()); /* not yet */
    assert_in_range(wait_for_scan(), 2, 60000 + IDLE_SCAN_MS + SCAN_SHARE + 1);
    bbf_tracker_set_idle(bbf_agent.tracker, false); /* asked anew: lives begin again */
    assert_int_equal(next_scan_ns(), scanned_ns + (SCAN_MS + SCAN_SHARE) * MS);
    scanned_ns = 1;
    assert_int_equal(wait_for_scan(), 1);
    poll_scan(NULL);
    assert_false(bbf_thread_has_gc());
}

static void start(void)
{
    assert_int_equal(bbf_thread_start(), BBF_OK);
}

static atomic_bool stop;

/* As the application: class files, natives that are timed, collections. */
static void *application(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 100; i++)
            bbf_meter_leave(bbf_meter_enter());
        bbf_meter_rewritten(1000);
        bbf_thread_gc_finished(true);
        const struct bbf_rules_hold hold = bbf_rules_hold();
        (void)bbf_plan_is_followed("com/app/Main", 12, hold.rules);
        bbf_rules_let_go(&hold);
    }
    return NULL;
}

static void report(void)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_int_equal(ask(BBF_JOB_SNAPSHOT, s, NULL), BBF_OK);
    assert_true(s->cost.measured);
    bbf_snapshot_free(s);
}

/* Also after attaches that failed. */
static void report_has_each_note_once(void)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    size_t n = 0;
    atomic_store(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_EXHAUSTED), 1);
    assert_int_equal(ask(BBF_JOB_SNAPSHOT, s, NULL), BBF_OK);
    for (size_t i = 0; i < s->n_notes; i++)
        n += strstr(s->notes[i], "direct memory ran out") != NULL;
    assert_int_equal(n, 1);
    bbf_snapshot_free(s);
}

static void change_depth(uint64_t depth)
{
    char text[60];
    const struct bbf_rules *before = atomic_load(&bbf_agent.rules);
    const struct bbf_rules_hold hold = bbf_rules_hold();
    struct bbf_buf answer = BBF_BUF_INIT;
    snprintf(text, sizeof text, "include=com.app%s,maxDepth=%d", depth % 2 == 0 ? "" : ".x",
             (int)depth);
    assert_true(bbf_rules_room());
    world_rules(text);
    struct bbf_job job = {.kind = BBF_JOB_APPLY,
                          .effects = BBF_EFFECT_LIMITS | BBF_EFFECT_CLASSES | BBF_EFFECT_BUDGET,
                          .before = before,
                          .text = &answer};
    assert_int_equal(bbf_thread_ask(&job, 60000, 0), BBF_OK);
    assert_non_null(strstr(bbf_buf_cstr(&answer), " loaded classes newly followed, "));
    assert_int_equal(atomic_load(&bbf_agent.tracker->max_depth), depth);
    bbf_rules_let_go(&hold);
    bbf_buf_free(&answer);
}

/* All jobs, while the application continues. */
static void the_thread_does_its_jobs_while_the_application_continues(void **state)
{
    struct bbf_buf text = BBF_BUF_INIT;
    pthread_t threads[2];
    (void)state;
    start();
    report_has_each_note_once();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, application, NULL), 0);
    for (uint64_t i = 0; i < 10; i++) {
        report();
        change_depth(50 + i);
    }
    assert_int_equal(ask(BBF_JOB_GC, NULL, NULL), BBF_OK);
    assert_int_equal(fake_calls("ForceGarbageCollection"), 1);
    assert_int_equal(ask(BBF_JOB_RESET, NULL, NULL), BBF_OK);
    assert_int_equal(ask(BBF_JOB_RESET_NODES, NULL, NULL), BBF_OK);
    assert_int_equal(ask(BBF_JOB_WATCH, NULL, &text), BBF_OK);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    /* Hooks keep failing. */
    assert_null(atomic_load(&bbf_agent.off_why));
    atomic_store(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_ERRORS), 1000);
    /* The thread may have looked already when it takes the first of these jobs, but not the second:
     * jobs without a pause do not keep it from its duties. */
    report();
    report();
    assert_non_null(atomic_load(&bbf_agent.off_why));
    assert_string_equal(atomic_load(&bbf_agent.off_why), "too many internal errors in the hooks");
    /* Detached: nothing is answered any more. */
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL));
    assert_int_equal(ask(BBF_JOB_GC, NULL, NULL), BBF_ECLOSED);
    bbf_buf_free(&text);
    /* The thread keeps its JNIEnv, which the next test's JVM does not have. */
    bbf_thread_leave(5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_jvm_that_does_not_let_the_thread_attach_turns_tracking_off),
        TEST(a_collection_shortens_the_sleep),
        TEST(scans_are_less_often_while_no_life_begins),
        TEST(the_thread_does_its_jobs_while_the_application_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
