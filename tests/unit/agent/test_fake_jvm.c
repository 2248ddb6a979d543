/* link: fake_jvm */
/* The fake JVM itself: what it has to complain about, it complains about. */
#include "tests/unit/agent/fake_jvm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static JNIEnv *env;
static jvmtiEnv *jvmti;

static int setup(void **state)
{
    fake_setup(state);
    env = fake_env();
    jvmti = fake_jvmti();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)fake_end(); /* each test has looked at the complaints */
    return 0;
}

static void assert_complains(const char *about)
{
    if (strstr(fake_complaint(), about) == NULL)
        fail_msg("no complaint about %s, but '%s'", about, fake_complaint());
}

static void references_that_are_left_are_complained_about(void **state)
{
    (void)state;
    jobject o = fake_local(fake_object(fake_class("com/app/Main", NULL)));
    assert_non_null((*env)->NewLocalRef(env, o));
    assert_non_null((*env)->NewGlobalRef(env, o));
    assert_non_null((*env)->NewWeakGlobalRef(env, o));
    assert_int_equal(fake_locals(), 1);
    assert_int_equal(fake_globals(), 1);
    assert_int_equal(fake_weaks(), 1);
    assert_int_equal(fake_end(), 3);
    assert_complains("1 local references are left");
    fake_begin();
}

static void memory_that_is_left_is_complained_about(void **state)
{
    unsigned char *memory;
    char *signature;
    (void)state;
    assert_int_equal((*jvmti)->Allocate(jvmti, 8, &memory), 0);
    jclass class = fake_local_class(fake_class("com/app/Main", NULL));
    assert_int_equal((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL), 0);
    assert_string_equal(signature, "Lcom/app/Main;");
    assert_int_equal(fake_allocated(), 2);
    (*jvmti)->Deallocate(jvmti, memory);
    assert_int_equal(fake_allocated(), 1);
    assert_int_equal(fake_end(), 1);
    assert_complains("1 blocks");
    free(signature);
    fake_begin();
}

static void a_reference_after_its_deletion_is_complained_about(void **state)
{
    (void)state;
    jobject o = fake_local(fake_object(fake_class("com/app/Main", NULL)));
    jobject global = (*env)->NewGlobalRef(env, o);
    (*env)->DeleteGlobalRef(env, global);
    assert_int_equal(fake_complaints(), 0);
    assert_null((*env)->GetObjectClass(env, global));
    assert_complains("after it was deleted");
    fake_forgive();
    (*env)->DeleteGlobalRef(env, o);
    assert_complains("of another kind");
}

static void a_frame_takes_its_references_with_it(void **state)
{
    (void)state;
    jobject o = fake_local(fake_object(fake_class("com/app/Main", NULL)));
    assert_int_equal((*env)->PushLocalFrame(env, 2), 0);
    jobject inner = (*env)->NewLocalRef(env, o);
    jobject kept = (*env)->PopLocalFrame(env, inner);
    assert_int_equal(fake_locals(), 1);
    (void)(*env)->GetObjectClass(env, inner);
    assert_complains("after it was deleted");
    (*env)->DeleteLocalRef(env, kept);
    assert_int_equal(fake_locals(), 0);
}

static void a_call_while_an_exception_is_pending_is_complained_about(void **state)
{
    (void)state;
    assert_null((*env)->FindClass(env, "com/app/Absent"));
    assert_string_equal(fake_pending(), "java/lang/NoClassDefFoundError");
    assert_true((*env)->ExceptionCheck(env));
    assert_int_equal(fake_complaints(), 0);
    assert_null((*env)->FindClass(env, "com/app/Absent"));
    assert_complains("FindClass is called while java/lang/NoClassDefFoundError is pending");
    (*env)->ExceptionClear(env);
    assert_false(fake_is_pending());
}

static void a_field_of_another_type_or_class_is_complained_about(void **state)
{
    (void)state;
    struct fake_class *class = fake_class("com/app/Main", NULL);
    fake_field(class, "count", "I");
    struct fake_object *object = fake_object(class);
    fake_number(object, "count", 7);
    jobject o = fake_local(object);
    jfieldID id = (*env)->GetFieldID(env, fake_local_class(class), "count", "I");
    assert_int_equal((*env)->GetIntField(env, o, id), 7);
    assert_int_equal(fake_complaints(), 0);
    assert_int_equal((*env)->GetLongField(env, o, id), 0);
    assert_complains("GetLongField of com/app/Main.count I");
    fake_forgive();
    jobject other = fake_local(fake_object(fake_class("com/app/Other", NULL)));
    assert_int_equal((*env)->GetIntField(env, other, id), 0);
    assert_complains("GetIntField of com/app/Main.count");
}

static void the_collectors_callback_and_the_phases_are_watched(void **state)
{
    unsigned char *memory;
    jint n;
    jclass *classes;
    (void)state;
    fake_enter_gc();
    assert_int_equal((*jvmti)->Allocate(jvmti, 8, &memory), 0);
    (*jvmti)->Deallocate(jvmti, memory);
    assert_int_equal(fake_complaints(), 0);
    (void)(*env)->ExceptionCheck(env);
    assert_complains("ExceptionCheck is called in the collector's callback");
    fake_leave_gc();
    fake_forgive();
    fake_phase(JVMTI_PHASE_START);
    assert_int_equal((*jvmti)->GetLoadedClasses(jvmti, &n, &classes), 0);
    assert_complains("GetLoadedClasses is called in phase");
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    fake_phase(JVMTI_PHASE_LIVE);
}

static void the_call_that_is_to_fail_fails(void **state)
{
    (void)state;
    jobject o = fake_local(fake_object(fake_class("com/app/Main", NULL)));
    fake_fail("NewWeakGlobalRef", 2);
    jweak first = (*env)->NewWeakGlobalRef(env, o);
    assert_non_null(first);
    assert_null((*env)->NewWeakGlobalRef(env, o));
    assert_string_equal(fake_pending(), "java/lang/OutOfMemoryError");
    (*env)->ExceptionClear(env);
    jweak third = (*env)->NewWeakGlobalRef(env, o);
    assert_non_null(third);
    fake_collect(fake_target(first));
    assert_true((*env)->IsSameObject(env, first, NULL));
    (*env)->DeleteWeakGlobalRef(env, first);
    (*env)->DeleteWeakGlobalRef(env, third);
    assert_int_equal(fake_complaints(), 0);
    assert_int_equal(fake_calls("NewWeakGlobalRef"), 3);
}

static void what_is_not_implemented_aborts_with_its_name(void **state)
{
    int ends[2], status;
    char said[100] = "";
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL);
        (void)(*env)->GetDirectBufferAddress(env, NULL);
        _exit(0);
    }
    close(ends[1]);
    FILE *pipe_end = fdopen(ends[0], "r");
    assert_non_null(fgets(said, sizeof said, pipe_end)); /* a line: an emulator may add its own */
    fclose(pipe_end);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_string_equal(said, "fake JVM: GetDirectBufferAddress is not implemented\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(references_that_are_left_are_complained_about, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(memory_that_is_left_is_complained_about, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reference_after_its_deletion_is_complained_about, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_frame_takes_its_references_with_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_call_while_an_exception_is_pending_is_complained_about,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_field_of_another_type_or_class_is_complained_about, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_collectors_callback_and_the_phases_are_watched, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_call_that_is_to_fail_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_implemented_aborts_with_its_name, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
