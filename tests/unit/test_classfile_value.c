/* link: bbf_classfile bbf_core */
/*
 * Class files of value classes (JEP 401, a preview): left as they are, with a cause that is
 * counted. A preview's class file of any other kind is rewritten as ever, and where one of its
 * methods has a frame of the new kind (246, early_larval) that method is left.
 */
#include "tests/unit/classfile_builder.h"

enum { PREVIEW = 65535, FINAL = 0x10, SUPER = 0x20, INTERFACE = 0x200, ABSTRACT = 0x400 };
enum { JDK_28 = 72, ALOAD_0 = 42, ARETURN = 176, NOP = 0 };

static const uint8_t code[] = {ALOAD_0, ARETURN};

static struct result rewrite(uint16_t minor, uint16_t access, const uint8_t *frames, size_t len)
{
    static const uint8_t framed[] = {NOP, ALOAD_0, ARETURN};
    struct made_class spec = {
        .major = JDK_28,
        .minor = minor,
        .class_access = access,
        .methods = {{.code = frames != NULL ? framed : code,
                     .code_len = frames != NULL ? sizeof framed : sizeof code,
                     .attributes = {{frames != NULL ? "StackMapTable" : NULL, frames, len}}},
                    {.code = code, .code_len = sizeof code, .name = "n", .access = 9}}};
    struct orders orders = {.plan = {.n_entry = 1}, .entry = {call_enter(0, 1000)}};

    return rewrite_class(&spec, &orders);
}

static void a_value_class_is_left_alone(void **state)
{
    static const uint16_t values[] = {1, FINAL | 1, ABSTRACT | 1, FINAL};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct result r = rewrite(PREVIEW, values[i], NULL, 0);

        assert_int_equal(r.status, BBF_CF_VALUE);
        assert_null(r.bytes);
        for (int m = 0; m < BBF_CF_METHOD_RESULTS; m++)
            assert_int_equal(r.stats.methods[m], 0);
        result_free(&r);
    }
    assert_string_equal(bbf_cf_class_text(BBF_CF_VALUE), "value class, a preview of the JVM");
}

static void other_classes_are_rewritten(void **state)
{
    static const struct {
        uint16_t minor, access;
    } others[] = {{PREVIEW, SUPER | 1},
                  {PREVIEW, SUPER | FINAL},
                  {PREVIEW, INTERFACE | ABSTRACT | 1},
                  {0, 1}, /* from before JDK 1.1's ACC_SUPER, or by a tool: no preview */
                  {3, FINAL | 1}};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct result r = rewrite(others[i].minor, others[i].access, NULL, 0);

        assert_int_equal(r.status, BBF_CF_CHANGED);
        assert_int_equal(cf__u2(r.bytes + 4), others[i].minor);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], 2);
        result_free(&r);
    }
}

/* early_larval_frame { u1 246; u2 number; u2 unset_fields[number]; the frame proper }: the method
 * with it is left, the other one is not. */
static void an_early_larval_frame_leaves_its_method(void **state)
{
    static const uint8_t none[] = {0, 1, 246, 0, 0, 1}, one[] = {0, 1, 246, 0, 1, 0, 12, 1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct result r =
            rewrite(PREVIEW, SUPER | 1, i == 0 ? none : one, i == 0 ? sizeof none : sizeof one);

        assert_int_equal(r.status, BBF_CF_CHANGED);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_FRAMES], 1);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], 1);
        result_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_class_is_left_alone),
        cmocka_unit_test(other_classes_are_rewritten),
        cmocka_unit_test(an_early_larval_frame_leaves_its_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
