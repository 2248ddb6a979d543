/* link: bbf_agent fake_jvm */
/* agent/jvm/fields.c: a field is found wherever in the super chain it is and read by its own type;
 * what is missing, null or of another type is no value, and nothing is left behind. */
#include "agent/jvm/fields.h"
#include "tests/unit/agent/agent_world.h"

static struct bbf_fields fields;
static struct fake_class *base, *derived;
static struct fake_object *object, *other;

static int setup(void **state)
{
    world_setup(state);
    base = world_class("com/app/Base", NULL);
    fake_field(base, "size", "J");
    fake_field(base, "flag", "Z");
    fake_field(base, "list", "[Lcom/app/Base;");
    fake_field(base, "bytes", "[B");
    fake_field(base, "rows", "[[I");
    fake_static(base, "DEFAULT", "Lcom/app/Base;");
    fake_static(base, "COUNT", "J");
    derived = world_class("com/app/Derived", base);
    fake_field(derived, "count", "I");
    fake_field(derived, "next", "Lcom/app/Base;");
    object = fake_object(derived);
    other = fake_object(base);
    bbf_fields_init(&fields, fake_env());
    return 0;
}

static int teardown(void **state)
{
    bbf_fields_free(&fields);
    return world_teardown(state);
}

static void numbers_are_read_by_their_own_type(void **state)
{
    int64_t value = -1;
    jobject o = fake_local(object);
    (void)state;
    fake_number(object, "size", INT64_C(1) << 40);
    fake_number(object, "count", -7);
    assert_true(bbf_fields_number(&fields, o, "size", &value)); /* of the super class */
    assert_int_equal(value, INT64_C(1) << 40);
    assert_true(bbf_fields_number(&fields, o, "count", &value));
    assert_int_equal(value, -7);
    assert_false(bbf_fields_number(&fields, o, "flag", &value));
    assert_false(bbf_fields_number(&fields, o, "next", &value));
    assert_false(bbf_fields_number(&fields, o, "absent", &value));
    assert_false(bbf_fields_number(&fields, o, "COUNT", &value)); /* a static is no field of it */
    assert_false(bbf_fields_number(&fields, NULL, "size", &value));
    assert_int_equal(value, -7);
}

static void objects_and_arrays_of_objects_are_told_apart(void **state)
{
    JNIEnv *env = fake_env();
    jobject o = fake_local(object), found;
    (void)state;
    assert_null(bbf_fields_object(&fields, o, "next")); /* it is null */
    fake_refer(object, "next", other);
    fake_refer(object, "list", fake_array("[Lcom/app/Base;", 2));
    fake_refer(object, "bytes", fake_array("[B", 2));
    fake_refer(object, "rows", fake_array("[[I", 2));
    found = bbf_fields_object(&fields, o, "next");
    assert_ptr_equal(fake_target(found), other);
    (*env)->DeleteLocalRef(env, found);
    assert_null(bbf_fields_array(&fields, o, "next"));
    assert_null(bbf_fields_array(&fields, o, "bytes")); /* its elements are no objects */
    assert_null(bbf_fields_object(&fields, o, "bytes"));
    assert_null(bbf_fields_object(&fields, o, "size"));
    found = bbf_fields_array(&fields, o, "list");
    assert_int_equal((*env)->GetArrayLength(env, found), 2);
    (*env)->DeleteLocalRef(env, found);
    found = bbf_fields_array(&fields, o, "rows");
    assert_non_null(found);
    (*env)->DeleteLocalRef(env, found);
}

static void a_field_is_looked_up_once_for_each_class(void **state)
{
    int64_t value;
    (void)state;
    assert_true(bbf_fields_number(&fields, fake_local(object), "size", &value));
    assert_false(bbf_fields_number(&fields, fake_local(object), "absent", &value));
    unsigned calls = fake_calls("GetClassFields");
    for (int i = 0; i < 5; i++) {
        assert_true(bbf_fields_number(&fields, fake_local(object), "size", &value));
        assert_false(bbf_fields_number(&fields, fake_local(object), "absent", &value));
    }
    assert_int_equal(fake_calls("GetClassFields"), calls);
    assert_true(bbf_fields_number(&fields, fake_local(other), "size", &value));
    assert_int_equal(fake_calls("GetClassFields"), calls + 1);
}

static void more_fields_than_are_remembered_are_found_all_the_same(void **state)
{
    static char names[BBF_FIELDS + 20][16];
    int64_t value;
    (void)state;
    struct fake_class *wide = world_class("com/app/Wide", NULL);
    for (size_t i = 0; i < BBF_FIELDS + 20; i++) {
        snprintf(names[i], sizeof names[i], "f%zu", i);
        fake_field(wide, names[i], "I");
    }
    struct fake_object *o = fake_object(wide);
    for (size_t i = 0; i < BBF_FIELDS + 20; i++) {
        fake_number(o, names[i], (int64_t)i);
        assert_true(bbf_fields_number(&fields, fake_local(o), names[i], &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(fields.n, BBF_FIELDS);
}

/* As javap shows java.util.concurrent's. */
static struct fake_object *adder(int64_t base_value, size_t cells, const int64_t *values)
{
    struct fake_class *striped = fake_class("java/util/concurrent/atomic/Striped64", NULL);
    struct fake_class *cell = fake_class("java/util/concurrent/atomic/Striped64$Cell", NULL);
    fake_field(cell, "value", "J");
    fake_field(striped, "base", "J");
    fake_field(striped, "cells", "[Ljava/util/concurrent/atomic/Striped64$Cell;");
    struct fake_object *o =
        fake_object(fake_class("java/util/concurrent/atomic/LongAdder", striped));
    fake_number(o, "base", base_value);
    if (cells > 0) {
        struct fake_object *array =
            fake_array("[Ljava/util/concurrent/atomic/Striped64$Cell;", cells);
        for (size_t i = 0; i < cells; i++)
            if (values[i] != 0) { /* 0: none has been made there */
                struct fake_object *c = fake_object(cell);
                fake_number(c, "value", values[i]);
                fake_element(array, i, c);
            }
        fake_refer(o, "cells", array);
    }
    return o;
}

static void a_counter_is_a_number_an_atomic_or_an_adder(void **state)
{
    static const int64_t values[] = {5, 0, -2, 0};
    int64_t value;
    (void)state;
    struct fake_class *arena = world_class("com/app/Arena", NULL);
    struct fake_class *atomic = fake_class("java/util/concurrent/atomic/AtomicLong", NULL);
    fake_field(arena, "plain", "J");
    fake_field(arena, "atomic", "Ljava/util/concurrent/atomic/AtomicLong;");
    fake_field(arena, "adder", "Ljava/util/concurrent/atomic/LongAdder;");
    fake_field(arena, "bare", "Ljava/util/concurrent/atomic/LongAdder;");
    fake_field(atomic, "value", "J");
    struct fake_object *o = fake_object(arena), *a = fake_object(atomic);
    fake_number(o, "plain", 3);
    fake_number(a, "value", 11);
    fake_refer(o, "atomic", a);
    fake_refer(o, "adder", adder(100, 4, values));
    jobject arena_ref = fake_local(o);
    assert_true(bbf_fields_counter(&fields, arena_ref, "plain", &value));
    assert_int_equal(value, 3);
    assert_true(bbf_fields_counter(&fields, arena_ref, "atomic", &value));
    assert_int_equal(value, 11);
    assert_true(bbf_fields_counter(&fields, arena_ref, "adder", &value));
    assert_int_equal(value, 103);
    assert_false(bbf_fields_counter(&fields, arena_ref, "bare", &value)); /* null in it */
    assert_false(bbf_fields_counter(&fields, arena_ref, "absent", &value));
}

static void a_static_is_read_of_an_initialised_class_only(void **state)
{
    JNIEnv *env = fake_env();
    jclass class = fake_local_class(base);
    (void)state;
    fake_static_refer(base, "DEFAULT", other);
    jobject found = bbf_fields_static(&fields, class, "DEFAULT");
    assert_ptr_equal(fake_target(found), other);
    (*env)->DeleteLocalRef(env, found);
    assert_null(bbf_fields_static(&fields, class, "COUNT"));
    assert_null(bbf_fields_static(&fields, class, "absent"));
    assert_null(bbf_fields_static(&fields, fake_local_class(derived), "DEFAULT")); /* not its own */
    fake_status(base, JVMTI_CLASS_STATUS_PREPARED);
    assert_null(bbf_fields_static(&fields, class, "DEFAULT"));
}

static void prepare(void)
{
    void *none = NULL;
    setup(&none);
    fake_refer(object, "next", other);
    fake_refer(object, "list", fake_array("[Lcom/app/Base;", 1));
    fake_static_refer(base, "DEFAULT", other);
}

static void read_all(void)
{
    int64_t value;
    JNIEnv *env = fake_env();
    jobject o = fake_local(object);
    (*env)->DeleteLocalRef(env, bbf_fields_object(&fields, o, "next"));
    (*env)->DeleteLocalRef(env, bbf_fields_array(&fields, o, "list"));
    (*env)->DeleteLocalRef(env, bbf_fields_static(&fields, fake_local_class(base), "DEFAULT"));
    (void)bbf_fields_number(&fields, o, "size", &value);
    (void)bbf_fields_counter(&fields, o, "next", &value);
    (void)bbf_fields_number(&fields, o, "absent", &value);
}

static void done(void)
{
    bbf_fields_free(&fields);
    world_free();
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(prepare, read_all, done), 30, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_read_by_their_own_type, setup, teardown),
        cmocka_unit_test_setup_teardown(objects_and_arrays_of_objects_are_told_apart, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_field_is_looked_up_once_for_each_class, setup, teardown),
        cmocka_unit_test_setup_teardown(more_fields_than_are_remembered_are_found_all_the_same,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_counter_is_a_number_an_atomic_or_an_adder, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_static_is_read_of_an_initialised_class_only, setup,
                                        teardown),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
