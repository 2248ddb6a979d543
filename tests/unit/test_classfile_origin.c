/* link: bbf_classfile bbf_core */
/* bbf_cf_line, bbf_cf_enclosing: where a method was written, also in malformed class files. */
#include "tests/unit/classfile_builder.h"

static const uint8_t code[] = {42, 176};

struct seen {
    unsigned methods;
    uint32_t line;
    bool enclosed;
    char class_name[64], method[64];
};

static void look(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    struct seen *seen = ctx;
    struct bbf_cf_str class_name, method;

    (void)plan;
    seen->methods++;
    seen->line = bbf_cf_line(m);
    seen->enclosed = bbf_cf_enclosing(m, &class_name, &method);
    if (!seen->enclosed)
        return;
    snprintf(seen->class_name, sizeof seen->class_name, "%.*s", (int)class_name.len, class_name.s);
    snprintf(seen->method, sizeof seen->method, "%.*s", (int)method.len, method.s);
}

/* A class of one method, whose Code has two attributes, and which has one. */
static struct seen seen_in(struct made_attribute a, struct made_attribute b,
                           struct made_attribute of_class)
{
    struct made_class spec = {
        .methods = {{.code = code, .code_len = sizeof code, .attributes = {a, b}}},
        .attributes = {of_class}};
    struct seen seen = {0};
    struct bbf_cf_config config = {.ctx = &seen, .plan = look};
    struct bbf_cf_stats stats;
    size_t len, out_len;
    uint8_t *in = make_class(&spec, &len), *out;

    assert_int_equal(bbf_cf_rewrite(in, len, &config, &out, &out_len, &stats), BBF_CF_NOTHING);
    assert_int_equal(seen.methods, 1);
    free(in);
    return seen;
}

static uint32_t line_in(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    struct made_attribute first = {"LineNumberTable", a, a_len}, second = {NULL, NULL, 0};

    if (b != NULL)
        second = (struct made_attribute){"LineNumberTable", b, b_len};
    return seen_in(first, second, (struct made_attribute){NULL, NULL, 0}).line;
}

/* Lines need not be in the order of the code, nor in one table (JVMS 4.7.12). */
static void the_line_is_that_of_the_first_instruction(void **state)
{
    static const uint8_t first[] = {0, 2, 0, 0, 0, 26, 0, 1, 0, 27};
    static const uint8_t back[] = {0, 2, 0, 1, 0, 31, 0, 0, 0, 30};
    static const uint8_t late[] = {0, 1, 0, 1, 0, 9}, large[] = {0, 1, 0, 0, 0xFF, 0xFF};
    static const uint8_t none[] = {0, 0}, cut[] = {0, 2, 0, 0, 0, 26}, empty[] = {0};

    (void)state;
    assert_int_equal(line_in(first, sizeof first, NULL, 0), 26);
    assert_int_equal(line_in(back, sizeof back, NULL, 0), 30);
    assert_int_equal(line_in(late, sizeof late, first, sizeof first), 26);
    assert_int_equal(line_in(late, sizeof late, NULL, 0), 9);
    assert_int_equal(line_in(large, sizeof large, NULL, 0), 65535);
    assert_int_equal(line_in(none, sizeof none, NULL, 0), 0);
    assert_int_equal(line_in(cut, sizeof cut, NULL, 0), 0);
    assert_int_equal(line_in(empty, sizeof empty, NULL, 0), 0);
}

static struct seen enclosed_by(const char *name, const uint8_t *data, size_t len)
{
    static const struct made_attribute no = {NULL, NULL, 0};
    return seen_in(no, no, (struct made_attribute){name, data, len});
}

static void the_method_around_a_class(void **state)
{
    static const uint8_t method[] = {0, P_THIS, 0, P_TYPE}, initialiser[] = {0, P_THIS, 0, 0};
    static const uint8_t no_class[] = {0, P_CODE, 0, P_TYPE}, short_of[] = {0, P_THIS, 0};
    static const uint8_t far[] = {0x7F, 0xFF, 0, 0}, no_type[] = {0, P_THIS, 0x7F, 0xFF};
    struct seen seen = enclosed_by("EnclosingMethod", method, sizeof method);

    (void)state;
    assert_true(seen.enclosed);
    assert_string_equal(seen.class_name, "test/Made");
    assert_string_equal(seen.method, "get");
    seen = enclosed_by("EnclosingMethod", initialiser, sizeof initialiser);
    assert_true(seen.enclosed);
    assert_string_equal(seen.method, "");
    seen = enclosed_by("EnclosingMethod", no_type, sizeof no_type);
    assert_true(seen.enclosed);
    assert_string_equal(seen.method, "");
    assert_false(enclosed_by("EnclosingMethod", no_class, sizeof no_class).enclosed);
    assert_false(enclosed_by("EnclosingMethod", short_of, sizeof short_of).enclosed);
    assert_false(enclosed_by("EnclosingMethod", far, sizeof far).enclosed);
    assert_false(enclosed_by("Unknown", method, sizeof method).enclosed);
    assert_false(enclosed_by(NULL, NULL, 0).enclosed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_is_that_of_the_first_instruction),
        cmocka_unit_test(the_method_around_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
