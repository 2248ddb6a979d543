/* link: bbf_classfile bbf_core */
/* bbf_cf_only_calls_overload: by the code of a method, also malformed. */
#include "tests/unit/classfile_builder.h"

enum { ALOAD_1 = 43, ALOAD_2 = 44, GETFIELD = 180, VIRTUAL = 182, RETURN = 177 };

struct asked {
    uint64_t slots;
    bool answer;
    unsigned methods;
};

static void ask(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    struct asked *asked = ctx;

    (void)plan;
    asked->answer = bbf_cf_only_calls_overload(m, asked->slots);
    asked->methods++;
}

static bool answer(const char *name, const uint8_t *code, size_t len, unsigned handlers,
                   uint64_t slots)
{
    static const uint8_t handler[] = {0, 0, 0, 1, 0, 0, 0, 0};
    struct made_class spec = {.methods = {{.access = 1,
                                           .name = name,
                                           .descriptor = "(" OBJECT OBJECT ")V",
                                           .max_locals = 3,
                                           .code = code,
                                           .code_len = len,
                                           .exceptions = handler,
                                           .n_exceptions = handlers}}};
    struct asked asked = {.slots = slots};
    struct bbf_cf_config config = {.ctx = &asked, .plan = ask};
    struct bbf_cf_stats stats;
    size_t in_len, out_len;
    uint8_t *in = make_class(&spec, &in_len), *out;

    (void)bbf_cf_rewrite(in, in_len, &config, &out, &out_len, &stats);
    assert_int_equal(asked.methods, 1);
    free(in);
    return asked.answer;
}

#define ANSWER(name, code, slots) answer(name, code, sizeof(code), 0, slots)

static void a_call_of_the_same_name_is_one(void **state)
{
    static const uint8_t code[] = {42, ALOAD_1, 1, 8, VIRTUAL, 0, P_OWN, RETURN};

    (void)state;
    assert_true(ANSWER("get", code, 1 << 1));
    assert_true(ANSWER("get", code, 0));
    assert_false(ANSWER("get", code, 1 << 2));
    assert_false(ANSWER("get", code, 1 << 1 | 1 << 2));
    assert_false(ANSWER("other", code, 1 << 1));
    assert_false(answer("get", code, sizeof code, 1, 1 << 1));
}

/* `add(buffer, toListener(promise))`: get() is static and takes nothing, or one object. */
static void a_static_method_may_make_another_argument(void **state)
{
    static const uint8_t code[] = {42, ALOAD_1, 184, 0, P_GET, VIRTUAL, 0, P_OWN, RETURN};
    static const uint8_t given[] = {42,      ALOAD_1, ALOAD_2, 184,   0,
                                    P_TAKES, VIRTUAL, 0,       P_OWN, RETURN};
    static const uint8_t twice[] = {42,      ALOAD_1, ALOAD_1, 184,   0,
                                    P_TAKES, VIRTUAL, 0,       P_OWN, RETURN};
    static const uint8_t none[] = {184, 0, P_TAKES, VIRTUAL, 0, P_OWN, RETURN};
    static const uint8_t nothing_back[] = {42, ALOAD_1, 184, 0, P_VOID, VIRTUAL, 0, P_OWN, RETURN};

    (void)state;
    assert_true(ANSWER("get", code, 1 << 1));
    assert_false(ANSWER("get", code, 1 << 2));
    assert_true(ANSWER("get", given, 1 << 1));
    assert_false(ANSWER("get", given, 1 << 2));
    assert_false(ANSWER("get", given, 1 << 1 | 1 << 2));
    assert_false(ANSWER("get", twice, 1 << 1)); /* it may be kept there */
    assert_false(ANSWER("get", none, 0));
    assert_false(ANSWER("get", nothing_back, 1 << 1));
}

static void what_does_more_is_none(void **state)
{
    static const uint8_t other_class[] = {42, ALOAD_1, VIRTUAL, 0, P_GET, RETURN};
    static const uint8_t a_field[] = {42, ALOAD_1, GETFIELD, 0, 1, VIRTUAL, 0, P_OWN, RETURN};
    static const uint8_t a_call_before[] = {42,      VIRTUAL, 0,     P_GET, ALOAD_1,
                                            VIRTUAL, 0,       P_OWN, RETURN};
    static const uint8_t a_call_behind[] = {42,      ALOAD_1, VIRTUAL, 0,     P_OWN,
                                            ALOAD_2, VIRTUAL, 0,       P_GET, RETURN};
    static const uint8_t code_behind[] = {42, ALOAD_1, VIRTUAL, 0, P_OWN, RETURN, RETURN};
    static const uint8_t a_branch[] = {ALOAD_1, 198, 0, 3, 42, ALOAD_1, VIRTUAL, 0, P_OWN, RETURN};
    static const uint8_t a_store[] = {ALOAD_2, 76, 42, ALOAD_1, VIRTUAL, 0, P_OWN, RETURN};
    static const uint8_t no_call[] = {RETURN};
    static const uint8_t dynamic[] = {42, ALOAD_1, 186, 0, P_DYNAMIC, 0, 0, RETURN};
    static const uint8_t truncated[] = {42, ALOAD_1, VIRTUAL, 0};
    static const uint8_t no_end[] = {42, ALOAD_1, VIRTUAL, 0, P_OWN};
    static const uint8_t no_method[] = {42, ALOAD_1, VIRTUAL, 255, 255, RETURN};

    (void)state;
    assert_false(ANSWER("get", other_class, 1 << 1));
    assert_false(ANSWER("get", a_field, 1 << 1));
    assert_true(ANSWER("get", a_field, 1 << 0));
    assert_false(ANSWER("get", a_call_before, 1 << 1));
    assert_false(ANSWER("get", a_call_behind, 1 << 1));
    assert_false(ANSWER("get", code_behind, 1 << 1));
    assert_false(ANSWER("get", a_branch, 1 << 1));
    assert_false(ANSWER("get", a_store, 1 << 1));
    assert_false(ANSWER("get", no_call, 0));
    assert_false(ANSWER("get", dynamic, 1 << 1));
    assert_false(ANSWER("get", truncated, 1 << 1));
    assert_false(ANSWER("get", no_end, 1 << 1));
    assert_false(ANSWER("get", no_method, 1 << 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_of_the_same_name_is_one),
        cmocka_unit_test(a_static_method_may_make_another_argument),
        cmocka_unit_test(what_does_more_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
