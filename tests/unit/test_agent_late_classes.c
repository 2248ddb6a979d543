/* link: bbf_trie bbf_snapshot bbf_core */
/*
 * agent/classes/late_classes.c on agent/thread.c: a class that is met late wakes the agent thread,
 * which retransforms it and pays for no scan; a garbage collection brings one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/classes/late_classes.c"
#include "agent/thread.c"
#include "tests/unit/trie_sample.h"
#include "trie/model.h"

/* ---- what late_classes.c asks of others ---- */

struct bbf_agent bbf_agent;
const struct bbf_plan_sites bbf_agent_sites;
static struct bbf_rules rules;
static bool has_hooks; /* the class at hand */
static _Atomic unsigned retransformed, references;

struct bbf_rules_hold bbf_rules_hold(void)
{
    return (struct bbf_rules_hold){.rules = &rules};
}

void bbf_rules_let_go(const struct bbf_rules_hold *hold)
{
    (void)hold;
}

char *bbf_names_of(jclass class)
{
    (void)class;
    return strdup("io/netty/buffer/LateByteBuf");
}

void bbf_jvm_free(void *memory)
{
    free(memory);
}

bool bbf_plan_class(struct bbf_plan_class *plan, const char *name, size_t len,
                    const struct bbf_rules *by, const struct bbf_plan_sites *sites)
{
    (void)name;
    (void)len;
    (void)by;
    (void)sites;
    *plan = (struct bbf_plan_class){.buffer_prefix = 9};
    return true;
}

static jvmtiError JNICALL get_constant_pool(jvmtiEnv *env, jclass class, jint *count, jint *len,
                                            unsigned char **bytes)
{
    const char *pool = has_hooks ? "java/lang/BBFlowShim" : "java/lang/Object";
    (void)env;
    (void)class;
    *count = 1;
    *len = (jint)strlen(pool);
    *bytes = (unsigned char *)strdup(pool);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL retransform_classes(jvmtiEnv *env, jint n, const jclass *classes)
{
    (void)env;
    (void)classes;
    retransformed += (unsigned)n;
    return JVMTI_ERROR_NONE;
}

static jobject JNICALL new_global(JNIEnv *env, jobject o)
{
    (void)env;
    references++;
    return o;
}

static void JNICALL delete_global(JNIEnv *env, jobject o)
{
    (void)env;
    (void)o;
    references--;
}

static jboolean JNICALL exception_check(JNIEnv *env)
{
    (void)env;
    return JNI_FALSE;
}

static const struct jvmtiInterface_1_ jvmti_functions = {.GetConstantPool = get_constant_pool,
                                                         .RetransformClasses = retransform_classes};
static const struct JNINativeInterface_ jni_functions = {.NewGlobalRef = new_global,
                                                         .DeleteGlobalRef = delete_global,
                                                         .ExceptionCheck = exception_check};
static jvmtiEnv jvmti = &jvmti_functions;
static JNIEnv jni = &jni_functions;

/* ---- an agent thread with two duties ---- */

static _Atomic unsigned rounds, scans, ended;

static void *body_begin(void)
{
    return &jni;
}

static unsigned body_wait_ms(void *context)
{
    (void)context;
    return 60000; /* it works when it is woken, and not otherwise */
}

static void body_work(void *context)
{
    if (bbf_thread_has_gc()) { /* as agent/duties.c */
        bbf_thread_clear_gc();
        scans++;
    }
    bbf_late_classes_poll(context);
    rounds++;
}

static bool body_is_over(void *context)
{
    (void)context;
    return false;
}

static void body_end(void *context, enum bbf_thread_end how)
{
    (void)context;
    ended = how == BBF_THREAD_LEFT ? 1 : 100;
}

static void wait_for(_Atomic unsigned *counter, unsigned value)
{
    for (int i = 0; i < 5000 && atomic_load(counter) < value; i++)
        usleep(1000);
    assert_int_equal(atomic_load(counter), value);
}

static int setup(void **state)
{
    static const struct bbf_thread_body body_of_test = {.begin = body_begin,
                                                        .wait_ms = body_wait_ms,
                                                        .work = body_work,
                                                        .is_over = body_is_over,
                                                        .end = body_end};
    static const struct bbf_limits limits = {.max_nodes = 1000,
                                             .max_depth = 10,
                                             .max_children = 10,
                                             .max_lives = 1000,
                                             .max_elements = 1,
                                             .max_sites = 100,
                                             .max_facts = 1000000,
                                             .memory = 64 << 20};
    (void)state;
    bbf_agent.code = &jvmti;
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    assert_int_equal(bbf_tracker_create(&bbf_agent.tracker, &limits), BBF_OK);
    bbf_thread_init(&body_of_test);
    return bbf_thread_start();
}

static int teardown(void **state)
{
    (void)state;
    bbf_thread_leave(5000);
    assert_int_equal(ended, 1);
    sample_free(bbf_agent.tracker);
    return 0;
}

static bool is_paused(void)
{
    return (atomic_load(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_FLAGS)) &
            (uint32_t)BBF_L_SHARED_PAUSED) != 0;
}

static void a_late_class_is_retransformed_at_once_and_without_a_scan(void **state)
{
    unsigned before = rounds;
    (void)state;
    has_hooks = false;
    bbf_late_classes_prepare(&jvmti, &jni, (jclass)&rules);
    wait_for(&rounds, before + 1);
    assert_int_equal(retransformed, 1);
    assert_int_equal(references, 0);
    assert_false(is_paused());
    assert_int_equal(scans, 0);
    assert_false(bbf_thread_has_gc());
}

static void a_class_that_has_hooks_wakes_no_thread(void **state)
{
    unsigned before = rounds, classes = retransformed;
    (void)state;
    has_hooks = true;
    bbf_late_classes_prepare(&jvmti, &jni, (jclass)&rules);
    usleep(50000);
    assert_int_equal(rounds, before);
    assert_int_equal(retransformed, classes);
}

static void a_collection_brings_one_scan(void **state)
{
    unsigned before = scans;
    (void)state;
    bbf_thread_gc_finished(true);
    wait_for(&scans, before + 1);
    bbf_thread_wake();
    usleep(20000);
    assert_int_equal(scans, before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_class_is_retransformed_at_once_and_without_a_scan),
        cmocka_unit_test(a_class_that_has_hooks_wakes_no_thread),
        cmocka_unit_test(a_collection_brings_one_scan),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
