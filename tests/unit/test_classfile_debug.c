/* link: bbf_classfile bbf_core */
/*
 * Line numbers, local variables, type annotations (JVMS 4). The code, with a
 * prologue of 7 bytes and an exit call of 7 before each areturn:
 *
 *     old pc   0 aload_0   1 areturn   2 sipush 0   5 new a   8 areturn   9 end
 *     new T    7           8           16           19        22          30
 *     new P    7          15           16           19        29
 */
#include "tests/unit/classfile_builder.h"

static const uint8_t code[] = {42, 176, 17, 0, 0, 187, 0, P_THIS, 176};

static struct result move_attribute(const char *name, const uint8_t *bytes, size_t len)
{
    struct made_class spec = {
        .methods = {{.code = code,
                     .code_len = sizeof code,
                     .attributes = {{"Unknown", (const uint8_t *)"\1\2", 2}, {name, bytes, len}}}}};
    struct orders orders = {.plan = {.n_entry = 1, .n_areturn = 1, .areturn = {call_exit(1000)}},
                            .entry = {call_enter(0, 1000)}};

    return rewrite_class(&spec, &orders);
}

static void expect_moved(const char *name, const uint8_t *in, size_t in_len, const uint8_t *want,
                         size_t want_len)
{
    struct result r = move_attribute(name, in, in_len);
    const uint8_t *got;
    uint32_t len;

    assert_int_equal(r.status, BBF_CF_CHANGED);
    /* Whatever happens to `name`, an unknown attribute is copied. */
    assert_memory_equal(result_attribute(&r, "Unknown", &len), "\1\2", 2);
    got = result_attribute(&r, name, &len);
    assert_bytes(got, len, want, want_len);
    result_free(&r);
}

#define EXPECT_MOVED(name, in, want) expect_moved(name, in, sizeof(in), want, sizeof(want))

/* A verified class with such a table is refused: not so if the table were dropped or mended. */
static void expect_left(const char *name, const uint8_t *in, size_t len)
{
    struct result r = move_attribute(name, in, len);

    assert_int_equal(r.status, BBF_CF_NOTHING);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_TABLES], 1);
    result_free(&r);
}

/* 0 stays 0: a stack trace taken in the prologue shows the first line. */
static void lines_move_and_0_stays_0(void **state)
{
    static const uint8_t in[] = {0, 4, 0, 0, 0, 11, 0, 1, 0, 12, 0, 5, 0, 13, 0, 3, 0, 14};
    static const uint8_t want[] = {0, 4, 0, 0, 0, 11, 0, 8, 0, 12, 0, 19, 0, 13, 0, 17, 0, 14};
    static const uint8_t past_end[] = {0, 1, 0, 9, 0, 1}, cut_off[] = {0, 2, 0, 0, 0, 1},
                         empty[] = {0}, none[] = {0, 0};

    (void)state;
    EXPECT_MOVED("LineNumberTable", in, want);
    EXPECT_MOVED("LineNumberTable", none, none);
    expect_left("LineNumberTable", past_end, sizeof past_end);
    expect_left("LineNumberTable", cut_off, sizeof cut_off);
    expect_left("LineNumberTable", empty, sizeof empty);
}

/* 0 stays 0: parameters are visible in the prologue; ranges may end at code_length. */
static void local_variables_move(void **state)
{
    static const uint8_t in[] = {0, 3, 0, 0, 0, 9, 0, 1, 0, 1, 0, 0, /* all of the method */
                                 0, 1, 0, 4, 0, 1, 0, 1, 0, 1,       /* 1..5 */
                                 0, 9, 0, 0, 0, 1, 0, 1, 0, 2};      /* empty, at the end */
    static const uint8_t want[] = {0, 3, 0, 0, 0, 30, 0, 1,  0, 1, 0, 0, 0, 8, 0, 11,
                                   0, 1, 0, 1, 0, 1,  0, 30, 0, 0, 0, 1, 0, 1, 0, 2};
    static const uint8_t past_end[] = {0, 1, 0, 1, 0, 9, 0, 1, 0, 1, 0, 0},
                         cut_off[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0};

    (void)state;
    EXPECT_MOVED("LocalVariableTable", in, want);
    EXPECT_MOVED("LocalVariableTypeTable", in, want);
    expect_left("LocalVariableTable", past_end, sizeof past_end);
    expect_left("LocalVariableTypeTable", cut_off, sizeof cut_off);
}

/* localvar_target: (start, length, index)*; catch_target is an index and stays. */
static void annotation_ranges_move(void **state)
{
    static const uint8_t in[] = {0, 3, 0x40, 0, 2,    0, 0,    0, 9, 0, 1, 0, 2, 0, 3, 0,
                                 2, 0, 0,    1, 0,    0, 0x41, 0, 1, 0, 5, 0, 4, 0, 1, 0,
                                 0, 1, 0,    0, 0x42, 0, 1,    1, 3, 0, 0, 1, 0, 0};
    static const uint8_t want[] = {0, 3, 0x40, 0, 2,    0, 0,    0, 30, 0, 1,  0, 16, 0, 3, 0,
                                   2, 0, 0,    1, 0,    0, 0x41, 0, 1,  0, 19, 0, 11, 0, 1, 0,
                                   0, 1, 0,    0, 0x42, 0, 1,    1, 3,  0, 0,  1, 0,  0};

    (void)state;
    EXPECT_MOVED("RuntimeVisibleTypeAnnotations", in, want);
    EXPECT_MOVED("RuntimeInvisibleTypeAnnotations", in, want);
}

/* offset_target and type_argument_target name the instruction itself: P, not T. */
static void annotation_offsets_name_the_instruction(void **state)
{
    static const uint8_t in[] = {
        0,    5, 0x43, 0, 5, 0, 0, 1, 0,    0, 0x44, 0, 5, 0, 0, 1, 0, 0,
        0x46, 0, 0,    0, 0, 1, 0, 0, 0x47, 0, 1,    0, 0, 0, 1, 0, 0, /* javac's CAST at an areturn
                                                                        */
        0x4B, 0, 8,    2, 0, 0, 1, 0, 0};
    static const uint8_t want[] = {0, 5, 0x43, 0,    19, 0,    0, 1,  0, 0, 0x44, 0,    19, 0,  0,
                                   1, 0, 0,    0x46, 0,  7,    0, 0,  1, 0, 0,    0x47, 0,  15, 0,
                                   0, 0, 1,    0,    0,  0x4B, 0, 29, 2, 0, 0,    1,    0,  0};

    (void)state;
    EXPECT_MOVED("RuntimeVisibleTypeAnnotations", in, want);
}

/* All kinds of element values are skipped correctly: the annotation behind them moves. */
static void annotation_values_are_skipped(void **state)
{
    static const uint8_t in[] = {0,   2,   0x44, 0,    5, 0, 0, 1, 0,   5, 0, 3,   'I', 0,
                                 1,   0,   3,    's',  0, 1, 0, 3, 'e', 0, 1, 0,   1,   0,
                                 3,   '@', 0,    1,    0, 0, 0, 3, '[', 0, 2, 'c', 0,   1,
                                 '[', 0,   0,    0x44, 0, 8, 0, 0, 1,   0, 0};
    uint8_t want[sizeof in];

    (void)state;
    memcpy(want, in, sizeof in);
    want[4] = 19;
    want[sizeof in - 6] = 29;
    EXPECT_MOVED("RuntimeVisibleTypeAnnotations", in, want);
}

/* Odd annotations are never a reason to refuse: the rest stays as it is. */
static void odd_annotations_are_copied(void **state)
{
    static const uint8_t odd[][12] = {
        {0, 1, 0x99, 0, 5, 0, 0, 1, 0, 0},        /* unknown target */
        {0, 1, 0x47, 0, 5},                       /* cut off */
        {0, 1, 0x44, 0, 99, 0, 0, 1, 0, 0},       /* past the end */
        {0, 1, 0x40, 0, 1, 0, 5, 0, 99, 0, 1, 0}, /* range past the end */
        {0, 9},                                   /* none of nine */
    };
    static const size_t lens[] = {10, 5, 10, 12, 2};

    (void)state;
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++)
        expect_moved("RuntimeVisibleTypeAnnotations", odd[i], lens[i], odd[i], lens[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_move_and_0_stays_0),
        cmocka_unit_test(local_variables_move),
        cmocka_unit_test(annotation_ranges_move),
        cmocka_unit_test(annotation_offsets_name_the_instruction),
        cmocka_unit_test(annotation_values_are_skipped),
        cmocka_unit_test(odd_annotations_are_copied),
    };

    return cmocka_run_group_tests_name("classfile_debug", tests, NULL, NULL);
}
