/* link: bbf_classfile bbf_core */
/* bbf_cf_shape_of: what a class named like ByteBuf looks like; bbf_cf_rename_utf8. */
#include <stdio.h>

#include "core/err.h"
#include "tests/unit/classfile_builder.h"

static const uint8_t code[] = {42, 176};

static struct bbf_cf_shape shape_of(const struct made_class *spec)
{
    struct bbf_cf_shape shape;
    size_t len;
    uint8_t *in = make_class(spec, &len);

    assert_int_equal(bbf_cf_shape_of(in, len, "$bbf", &shape), BBF_OK);
    free(in);
    return shape;
}

static void shapes(void **state)
{
    struct made_class plain = {.methods = {{.code = code, .code_len = sizeof code}}};
    struct made_class fields = {.fields = {"a", "$bbf"}, .super_name = "a/Owner"};
    struct made_class interface = {.class_access = 0x601};
    struct bbf_cf_shape shape = shape_of(&plain);

    (void)state;
    assert_false(shape.is_interface);
    assert_true(shape.extends_object);
    assert_false(shape.has_field);
    assert_int_equal(shape.instance_fields, 0);
    shape = shape_of(&fields);
    assert_false(shape.extends_object);
    assert_true(shape.has_field);
    assert_int_equal(shape.instance_fields, 2);
    assert_true(shape_of(&interface).is_interface);
}

static void malformed_shapes_are_errors(void **state)
{
    struct made_class spec = {.fields = {"a"}};
    struct bbf_cf_shape shape;
    size_t len;
    uint8_t *in = make_class(&spec, &len);

    (void)state;
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(bbf_cf_shape_of(in, cut, "$bbf", &shape), BBF_EFORMAT);
    free(in);
}

/* Longer and shorter names; only whole constants, every one of them; nothing else changes. */
static void renames_whole_constants(void **state)
{
    static const struct bbf_cf_rename renames[] = {{"get", "fetch"}, {"a/Owner", "O"}, {"ge", "x"}};
    struct made_class spec = {.fields = {"get", "getter"},
                              .methods = {{.code = code, .code_len = sizeof code}}};
    size_t len, out_len;
    uint8_t *in = make_class(&spec, &len), *out;
    struct bbf_cf_str owner, name, descriptor;
    struct cf__class c;

    (void)state;
    assert_int_equal(bbf_cf_rename_utf8(in, len, renames, 3, &out, &out_len), BBF_OK);
    assert_int_equal(out_len, len + 2 * 2 - 6);
    assert_int_equal(cf__class_open(&c, out, out_len, NULL, NULL), BBF_CF_CHANGED);
    assert_true(cf__pool_invoke(&c, P_GET, &owner, &name, &descriptor));
    assert_true(cf__str_is(owner, "O"));
    assert_true(cf__str_is(name, "fetch"));
    assert_true(cf__str_is(descriptor, "()" OBJECT));
    assert_true(cf__str_is(c.name, "test/Made"));
    assert_memory_equal(out + out_len - 40, in + len - 40, 40);
    cf__class_close(&c);
    free(out);
    free(in);
}

static void rename_refuses_malformed_files(void **state)
{
    struct made_class spec = {.fields = {"a"}};
    size_t len, out_len;
    uint8_t *in = make_class(&spec, &len), *out = in;

    (void)state;
    assert_int_equal(bbf_cf_rename_utf8(in, 20, NULL, 0, &out, &out_len), BBF_EFORMAT);
    assert_null(out);
    in[0] = 0;
    assert_int_equal(bbf_cf_rename_utf8(in, len, NULL, 0, &out, &out_len), BBF_EFORMAT);
    free(in);
}

struct seen {
    char text[200];
};

static void see(struct seen *seen, const char *what, struct bbf_cf_str name)
{
    size_t len = strlen(seen->text);
    snprintf(seen->text + len, sizeof seen->text - len, "%s %.*s, ", what, (int)name.len, name.s);
}

static void see_field(void *ctx, struct bbf_cf_str name, struct bbf_cf_str descriptor)
{
    see(ctx, "field", name);
    see(ctx, "of", descriptor);
}

static void see_super(void *ctx, struct bbf_cf_str name, bool interface)
{
    see(ctx, interface ? "interface" : "super", name);
}

/* Fields, then the super class; a file that is cut short shows nothing of it. */
static void an_outline_has_the_fields_and_the_super_class(void **state)
{
    struct made_class spec = {.fields = {"a", "b"}, .super_name = "a/Base"};
    struct seen seen = {""};
    const struct bbf_cf_outline outline = {&seen, see_super, see_field};
    size_t len;
    uint8_t *in = make_class(&spec, &len);

    (void)state;
    assert_int_equal(bbf_cf_outline(in, len, &outline), BBF_OK);
    assert_string_equal(seen.text, "field a, of I, field b, of I, super a/Base, ");
    seen.text[0] = '\0';
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(bbf_cf_outline(in, cut, &outline), BBF_EFORMAT);
    assert_string_equal(seen.text, "");
    free(in);
}

static bool is_get(void *ctx, const char *utf8, size_t len)
{
    ++*(unsigned *)ctx;
    return len == 3 && memcmp(utf8, "get", 3) == 0;
}

/* As GetConstantPool has it: without the count before it. */
static void a_bare_pool_is_searched(void **state)
{
    struct made_class spec = {.fields = {"a"}};
    unsigned asked = 0;
    size_t len;
    uint8_t *in = make_class(&spec, &len);
    unsigned count = cf__u2(in + 8);

    (void)state;
    assert_true(bbf_cf_pool_has(in + 10, len - 10, count, is_get, &asked));
    assert_int_equal(asked, 6); /* test/Made, java/lang/Object, Code, a/Owner, [I, get */
    assert_false(bbf_cf_pool_has(in + 10, 20, count, is_get, &asked)); /* cut */
    assert_false(bbf_cf_pool_has(in + 10, len - 10, 1, is_get, &asked));
    assert_false(bbf_cf_pool_has(in + 10, 0, count, is_get, &asked));
    free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(malformed_shapes_are_errors),
        cmocka_unit_test(renames_whole_constants),
        cmocka_unit_test(rename_refuses_malformed_files),
        cmocka_unit_test(an_outline_has_the_fields_and_the_super_class),
        cmocka_unit_test(a_bare_pool_is_searched),
    };

    return cmocka_run_group_tests_name("classfile_shape", tests, NULL, NULL);
}
