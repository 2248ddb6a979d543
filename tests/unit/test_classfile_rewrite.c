/* link: bbf_classfile bbf_core */
/*
 * The class as a whole: constant pool, ids, the ladder full - entry only - untouched, constructors,
 * fluent methods, the appended field, refusals (JVMS 4; design.md: insertion).
 */
#include "tests/unit/classfile_builder.h"

enum { NOP = 0, ACONST_NULL = 1, ALOAD_0 = 42, ALOAD_1 = 43, ARETURN = 176, RETURN = 177 };

static const uint8_t return_0[] = {ALOAD_0, ARETURN};

static struct orders enter_orders(void)
{
    return (struct orders){.plan = {.n_entry = 1}, .entry = {call_enter(0, 1000)}};
}

static struct orders exit_orders(void)
{
    return (struct orders){.plan = {.n_areturn = 1, .areturn = {call_exit(1000)}}};
}

/* ---- arguments ---- */

/* iconst, bipush, sipush, ldc_w: each at its edges; an id over 32767 is an Integer constant. */
static void ids_take_the_shortest_form(void **state)
{
    static const struct {
        uint32_t id;
        uint8_t len, bytes[3];
    } forms[] = {{0, 1, {3}},
                 {5, 1, {8}},
                 {6, 2, {16, 6}},
                 {127, 2, {16, 127}},
                 {128, 3, {17, 0, 128}},
                 {32767, 3, {17, 0x7F, 0xFF}},
                 {32768, 3, {19, 0, 0}},
                 {65535, 3, {19, 0, 0}},
                 {1000000, 3, {19, 0, 0}}};

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct made_class spec = {.methods = {{.code = return_0, .code_len = sizeof return_0}}};
        struct orders orders = {.plan = {.n_entry = 1}, .entry = {call_enter(0, forms[i].id)}};
        struct result r = rewrite_class(&spec, &orders);
        uint8_t want[3];

        memcpy(want, forms[i].bytes, 3);
        if (want[0] == 19) { /* the Integer comes first, then the 6 of the target */
            const uint8_t *integer = r.bytes + r.c.pool_at[r.first_new];

            cf__put2(want + 1, r.first_new);
            assert_int_equal(integer[0], CF__INTEGER);
            assert_int_equal(cf__u4(integer + 1), forms[i].id);
            assert_int_equal(r.c.pool_count, r.first_new + 7);
        } else {
            assert_int_equal(r.c.pool_count, r.first_new + 6);
        }
        assert_int_equal(r.code_len, 1u + forms[i].len + 3u + sizeof return_0);
        assert_memory_equal(r.code + 1, want, forms[i].len);
        result_free(&r);
    }
}

/* One Integer serves all calls of a method. */
static void an_id_is_one_constant(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN, ALOAD_0, ARETURN};
    struct made_class spec = {.methods = {{.code = code, .code_len = sizeof code}}};
    struct orders orders = {.plan = {.n_entry = 1, .n_areturn = 1, .areturn = {call_exit(40000)}},
                            .entry = {call_enter(0, 40000)}};
    struct result r = rewrite_class(&spec, &orders);

    (void)state;
    assert_int_equal(r.c.pool_count, r.first_new + 1 + 9);
    result_free(&r);
}

/* All pushes; locals up to 3, up to 255; in f(Object, 3 longs, int, int[]). */
static void arguments_of_every_kind(void **state)
{
    struct made_class spec = {.methods = {{.access = 9,
                                           .name = "m",
                                           .descriptor = "(" OBJECT "JJJI[I)" OBJECT,
                                           .max_locals = 9,
                                           .max_stack = 1,
                                           .code = return_0,
                                           .code_len = sizeof return_0}}};
    struct orders orders = {.plan = {.n_entry = 1, .n_areturn = 1},
                            .entry = {{.target = TARGET_ENTER,
                                       .n_args = 5,
                                       .args = {{BBF_CF_ALOAD, 0},
                                                {BBF_CF_ILOAD, 7},
                                                {BBF_CF_ALOAD, 8},
                                                {BBF_CF_ARRAYLENGTH, 8},
                                                {BBF_CF_INT, 5}}}}};
    struct result r;

    (void)state;
    orders.plan.areturn[0] = (struct bbf_cf_call){
        .target = TARGET_ENTER,
        .n_args = 4,
        .args = {{BBF_CF_DUP, 0}, {BBF_CF_DUP, 0}, {BBF_CF_ALOAD, 0}, {BBF_CF_INT, 0}}};
    r = rewrite_class(&spec, &orders);
    {
        uint8_t method = (uint8_t)first_method(&r);
        const uint8_t want[] = {42,     21,      7,  25, 8,  25, 8,   190, 8,      184,    0,
                                method, ALOAD_0, 89, 89, 42, 3,  184, 0,   method, ARETURN};

        assert_bytes(r.code, r.code_len, want, sizeof want);
    }
    assert_int_equal(r.max_stack, 5);
    result_free(&r);
}

/* Calls that could not be verified are refused, and nothing of their constants is left. */
static void calls_that_do_not_fit_leave_the_method(void **state)
{
    static const struct bbf_cf_call bad[] = {
        {.target = TARGETS, .n_args = 0},
        {.target = 0, .n_args = BBF_CF_MAX_ARGS + 1},
        {.target = 0, .n_args = 1, .args = {{BBF_CF_DUP, 0}}},         /* an empty stack */
        {.target = 0, .n_args = 1, .args = {{BBF_CF_ALOAD, 1}}},       /* half a long */
        {.target = 0, .n_args = 1, .args = {{BBF_CF_ALOAD, 3}}},       /* an int */
        {.target = 0, .n_args = 1, .args = {{BBF_CF_ILOAD, 0}}},       /* a reference */
        {.target = 0, .n_args = 1, .args = {{BBF_CF_ARRAYLENGTH, 0}}}, /* no array */
        {.target = 0, .n_args = 1, .args = {{BBF_CF_ALOAD, 4}}},       /* no parameter */
        {.target = 0, .n_args = 1, .args = {{BBF_CF_ALOAD, 300}}},
        {.target = 0, .n_args = 1, .args = {{99, 0}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct made_class spec = {.methods = {{.access = 9,
                                               .name = "m",
                                               .descriptor = "(" OBJECT "JI)" OBJECT,
                                               .max_locals = 10,
                                               .code = return_0,
                                               .code_len = sizeof return_0}}};
        struct orders orders = {.plan = {.n_entry = 2}, .entry = {call_enter(0, 50000), bad[i]}};
        struct result r = rewrite_class(&spec, &orders);

        assert_int_equal(r.status, BBF_CF_NOTHING);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_PLAN], 1);
        result_free(&r);
    }
}

/* DUP behind another argument would duplicate that one. */
static void dup_comes_first(void **state)
{
    struct made_class spec = {.methods = {{.code = return_0, .code_len = sizeof return_0}}};
    struct orders orders = exit_orders();
    struct result r;

    (void)state;
    orders.plan.areturn[0] = (struct bbf_cf_call){
        .target = 0, .n_args = 2, .args = {{BBF_CF_ALOAD, 0}, {BBF_CF_DUP, 0}}};
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_PLAN], 1);
    result_free(&r);
}

/* ---- stores ---- */

struct stores {
    uint16_t slot;
    bool expected;
};

static void stores_plan(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_plan *plan)
{
    const struct stores *stores = ctx;

    (void)plan;
    assert_int_equal(bbf_cf_stores_to(method, stores->slot), stores->expected);
}

static void stores_are_found_in_every_form(void **state)
{
    static const struct {
        uint8_t code[7];
        uint8_t len;
        struct stores stores[3];
    } cases[] = {
        {{58, 7}, 2, {{7, true}, {8, false}, {6, false}}},               /* astore 7 */
        {{55, 7}, 2, {{7, true}, {8, true}, {9, false}}},                /* lstore 7 */
        {{56, 7}, 2, {{7, true}, {8, false}, {6, false}}},               /* fstore 7 */
        {{57, 7}, 2, {{7, true}, {8, true}, {6, false}}},                /* dstore 7 */
        {{75}, 1, {{0, true}, {1, false}, {2, false}}},                  /* astore_0 */
        {{78}, 1, {{3, true}, {0, false}, {4, false}}},                  /* astore_3 */
        {{59}, 1, {{0, true}, {1, false}, {2, false}}},                  /* istore_0 */
        {{66}, 1, {{3, true}, {4, true}, {2, false}}},                   /* lstore_3 */
        {{74}, 1, {{3, true}, {4, true}, {0, false}}},                   /* dstore_3 */
        {{132, 9, 1}, 3, {{9, true}, {1, false}, {10, false}}},          /* iinc 9 */
        {{196, 58, 1, 44}, 4, {{300, true}, {301, false}, {44, false}}}, /* wide astore 300 */
        {{196, 55, 1, 44}, 4, {{300, true}, {301, true}, {302, false}}},
        {{196, 132, 1, 44, 0, 1}, 6, {{300, true}, {0, false}, {1, false}}},
        {{25, 7}, 2, {{7, false}, {0, false}, {1, false}}}, /* aload 7 */
        {{196, 25, 1, 44}, 4, {{300, false}, {44, false}, {1, false}}},
        {{169, 7}, 2, {{7, false}, {0, false}, {1, false}}}, /* ret 7 */
        {{202}, 1, {{7, true}, {0, true}, {1, true}}},       /* malformed */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 3; k++) {
            struct made_class spec = {
                .methods = {{.max_locals = 400, .code = cases[i].code, .code_len = cases[i].len}}};
            struct stores stores = cases[i].stores[k];
            struct bbf_cf_config config = {.ctx = &stores, .plan = stores_plan};
            struct bbf_cf_stats stats;
            size_t len;
            uint8_t *in = make_class(&spec, &len), *out;

            assert_int_equal(bbf_cf_rewrite(in, len, &config, &out, &len, &stats), BBF_CF_NOTHING);
            free(in);
        }
    }
}

/* An exit call is left out, and counted, when a local that it loads was stored to. */
static void exit_calls_do_not_load_overwritten_parameters(void **state)
{
    static const uint8_t code[] = {ACONST_NULL, 75, ALOAD_0, ARETURN}; /* astore_0 */
    struct made_class spec = {.methods = {{.max_stack = 1, .code = code, .code_len = sizeof code}}};
    struct orders orders = exit_orders();
    struct result r;

    (void)state;
    orders.plan.areturn[0].args[1] = orders.plan.areturn[0].args[0];
    orders.plan.areturn[0].args[1].push = BBF_CF_ALOAD;
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.status, BBF_CF_NOTHING);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_THIS], 1);
    result_free(&r);
}

/* ---- constructors ---- */

/* aload_0; invokespecial get()V (as good as any); return; with `this` at the return. */
static struct result rewrite_init(const uint8_t *code, size_t len, const uint8_t *frames,
                                  size_t frames_len, uint16_t major)
{
    struct made_class spec = {.major = major,
                              .methods = {{.access = 1,
                                           .name = "<init>",
                                           .descriptor = "(" OBJECT ")V",
                                           .max_stack = 1,
                                           .max_locals = 2,
                                           .code = code,
                                           .code_len = len,
                                           .attributes = {{frames != NULL ? "StackMapTable" : NULL,
                                                           frames, frames_len}}}}};
    struct orders orders = {.plan = {.n_entry = 1, .n_return = 1, .vreturn = {call_enter(0, 1000)}},
                            .entry = {call_enter(1, 1000)}};

    return rewrite_class(&spec, &orders);
}

/* Parameters at pc 0, where `this` is uninitialized; `this` before each return. */
static void constructors_report_this_at_return(void **state)
{
    static const uint8_t code[] = {ALOAD_0, 183, 0, P_VOID, ALOAD_1, 198, 0, 4, RETURN, RETURN};
    static const uint8_t frames[] = {0, 1, 255, 0, 9, 0, 2, 7, 0, 2, 7, 0, 2, 0, 0};
    struct result r = rewrite_init(code, sizeof code, frames, sizeof frames, 52);
    uint16_t enter = first_method(&r);
    const uint8_t want[] = {ENTER_BYTES(1, enter),
                            ALOAD_0,
                            183,
                            0,
                            P_VOID,
                            ALOAD_1,
                            198,
                            0,
                            11,
                            ENTER_BYTES(0, enter),
                            RETURN,
                            ENTER_BYTES(0, enter),
                            RETURN};

    (void)state;
    assert_bytes(r.code, r.code_len, want, sizeof want);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], 1);
    result_free(&r);
}

/* The entry call stays, the return call is left out and counted. */
static void check_left_this(const uint8_t *code, size_t len, const uint8_t *frames,
                            size_t frames_len, uint16_t major, bool left)
{
    struct result r = rewrite_init(code, len, frames, frames_len, major);

    assert_int_equal(r.status, BBF_CF_CHANGED);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_THIS], left);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], !left);
    assert_int_equal(r.code_len, len + (left ? 7 : 14));
    result_free(&r);
}

static void constructors_that_lose_local_0(void **state)
{
    static const uint8_t stores[] = {ALOAD_0, 183, 0, P_VOID, ACONST_NULL, 75, RETURN};
    static const uint8_t plain[] = {ALOAD_0, 183, 0, P_VOID, NOP, NOP, RETURN};
    static const uint8_t top_0[] = {0, 1, 255, 0, 4, 0, 1, 0, 0, 0};
    static const uint8_t int_0[] = {0, 1, 255, 0, 4, 0, 1, 1, 0, 0};
    static const uint8_t none[] = {0, 1, 255, 0, 4, 0, 0, 0, 0};
    static const uint8_t chopped[] = {0, 1, 249, 0, 4}; /* this and the parameter */
    static const uint8_t chopped_1[] = {0, 1, 250, 0, 4};
    static const uint8_t unset[] = {0, 1, 255, 0, 4, 0, 1, 6, 0, 0}; /* uninitializedThis */

    (void)state;
    check_left_this(stores, sizeof stores, NULL, 0, 52, true);
    check_left_this(stores, sizeof stores, NULL, 0, 48, true);
    check_left_this(plain, sizeof plain, NULL, 0, 52, false);
    check_left_this(plain, sizeof plain, top_0, sizeof top_0, 52, true);
    check_left_this(plain, sizeof plain, int_0, sizeof int_0, 52, true);
    check_left_this(plain, sizeof plain, none, sizeof none, 52, true);
    check_left_this(plain, sizeof plain, chopped, sizeof chopped, 52, true);
    check_left_this(plain, sizeof plain, chopped_1, sizeof chopped_1, 52, false);
    check_left_this(plain, sizeof plain, unset, sizeof unset, 50, false);
}

/* At any other place of a constructor `this` may be uninitialized. */
static void constructors_do_not_pass_this_early(void **state)
{
    static const uint8_t code[] = {ALOAD_0, 183, 0, P_VOID, ACONST_NULL, 191};
    struct made_class spec = {.methods = {{.access = 1,
                                           .name = "<init>",
                                           .descriptor = "()V",
                                           .max_locals = 1,
                                           .code = code,
                                           .code_len = sizeof code}}};
    struct orders orders = enter_orders();
    struct result r = rewrite_class(&spec, &orders);

    (void)state;
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_PLAN], 1);
    result_free(&r);
    orders =
        (struct orders){.plan = {.before_athrow_set = true, .before_athrow = call_enter(0, 1000)}};
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_PLAN], 1);
    result_free(&r);
}

/* ---- fluent methods ---- */

static void check_fluent(const uint8_t *code, size_t len, bool hooked)
{
    struct made_class spec = {.methods = {{.max_locals = 4, .code = code, .code_len = len}}};
    struct orders orders = exit_orders();
    struct result r;

    orders.plan.areturn_unless_fluent = true;
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.status, hooked ? BBF_CF_CHANGED : BBF_CF_NOTHING);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], hooked);
    result_free(&r);
}

static void fluent_returns_are_not_hooked(void **state)
{
    static const uint8_t param[] = {ALOAD_0, ARETURN}, long_form[] = {25, 0, ARETURN},
                         wide[] = {196, 25, 0, 0, ARETURN},
                         getter[] = {ALOAD_0, 180, 0, P_GET, ARETURN},
                         local[] = {ALOAD_1, ARETURN}, /* no parameter */
        made[] = {184, 0, P_GET, ARETURN},
                         jumped[] = {ALOAD_0, 198, 0, 4, ALOAD_0, ARETURN, 1, 167, 0xFF, 0xFE},
                         handled[] = {178, 0, P_GET, ARETURN}, /* getstatic */
        stored[] = {184, 0, P_GET, 75, ALOAD_0, ARETURN};      /* b = f(b); return b */

    (void)state;
    check_fluent(param, sizeof param, false);
    check_fluent(long_form, sizeof long_form, false);
    check_fluent(wide, sizeof wide, false);
    check_fluent(getter, sizeof getter, false);
    check_fluent(local, sizeof local, true);
    check_fluent(made, sizeof made, true);
    check_fluent(jumped, sizeof jumped, true); /* the areturn at 5 is reached with a null, too */
    check_fluent(handled, sizeof handled, true);
    check_fluent(stored, sizeof stored, true);
}

/* ---- the ladder ---- */

/* A goto over `gap` bytes, an areturn in it. */
static struct result rewrite_gap(uint32_t gap, bool entry)
{
    uint8_t *code = calloc(1, gap + 6);
    struct made_class spec = {.methods = {{.code = code, .code_len = gap + 6}}};
    struct orders orders = exit_orders();
    struct result r;

    assert_non_null(code);
    code[0] = 167;
    cf__put2(code + 1, gap + 3);
    code[4] = ARETURN;
    code[gap + 5] = ARETURN;
    if (entry) {
        orders.plan.n_entry = 1;
        orders.entry[0] = call_enter(0, 1000);
    }
    r = rewrite_class(&spec, &orders);
    free(code);
    return r;
}

/* 32767 is the furthest a branch goes; one more, and only the entry is instrumented. */
static void branch_over_32k_is_entry_only(void **state)
{
    struct result r = rewrite_gap(32767 - 3 - 7, true);

    (void)state;
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], 1);
    assert_int_equal(cf__s2(r.code + 8), 32767);
    result_free(&r);
    r = rewrite_gap(32767 - 3 - 6, true);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_ENTRY_JUMP], 1);
    assert_int_equal(r.code[0], ALOAD_0);
    assert_int_equal(r.code[7], 167);
    assert_int_equal(cf__s2(r.code + 8), 32761); /* as it was */
    assert_int_equal(r.code_len, 32758 + 6 + 7);
    result_free(&r);
    r = rewrite_gap(32767 - 3 - 6, false);
    assert_int_equal(r.status, BBF_CF_NOTHING);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_SIZE], 1);
    result_free(&r);
}

static void check_size(uint32_t size, enum bbf_cf_method_result expected, uint32_t expected_len)
{
    uint8_t *code = calloc(1, size);
    struct made_class spec = {.methods = {{.code = code, .code_len = size}}};
    struct orders orders = enter_orders();
    struct result r;

    assert_non_null(code);
    code[size - 1] = ARETURN;
    orders.plan.n_areturn = 1;
    orders.plan.areturn[0] = call_exit(1000);
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.stats.methods[expected], 1);
    if (expected_len > 0)
        assert_int_equal(r.code_len, expected_len);
    else
        assert_int_equal(r.status, BBF_CF_NOTHING);
    result_free(&r);
    free(code);
}

/* 65535 bytes at most: 14 with everything, 7 with the entry alone. */
static void method_size_ladder(void **state)
{
    (void)state;
    check_size(65521, BBF_CF_METHOD_FULL, 65535);
    check_size(65522, BBF_CF_METHOD_ENTRY_SIZE, 65529);
    check_size(65528, BBF_CF_METHOD_ENTRY_SIZE, 65535);
    check_size(65529, BBF_CF_METHOD_LEFT_SIZE, 0);
    check_size(65535, BBF_CF_METHOD_LEFT_SIZE, 0);
}

/*
 * 65535 is the largest constant_pool_count. The first target needs 6 constants, the second, which
 * shares class and descriptor, 3 more; m and n are instrumented with one each.
 */
static void constant_pool_ladder(void **state)
{
    static const struct {
        unsigned room; /* free indices */
        enum bbf_cf_class_result status;
        unsigned full, left;
    } cases[] = {{0, BBF_CF_POOL_FULL, 0, 2}, {5, BBF_CF_POOL_FULL, 0, 2},
                 {6, BBF_CF_CHANGED, 1, 1},   {8, BBF_CF_CHANGED, 1, 1},
                 {9, BBF_CF_CHANGED, 2, 0},   {100, BBF_CF_CHANGED, 2, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_class spec = {.pool_count = 65535 - cases[i].room,
                                  .methods = {{.code = return_0, .code_len = sizeof return_0},
                                              {.access = 9,
                                               .name = "n",
                                               .descriptor = "(" OBJECT ")" OBJECT,
                                               .code = return_0,
                                               .code_len = sizeof return_0}}};
        struct orders orders = enter_orders();
        struct result r;

        orders.second = call_enter(0, 1000);
        orders.second.target = TARGET_EXIT;
        r = rewrite_class(&spec, &orders);
        assert_int_equal(r.status, cases[i].status);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], cases[i].full);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_POOL], cases[i].left);
        if (r.bytes != NULL) /* what did not fit left nothing behind */
            assert_int_equal(r.c.pool_count, r.first_new + (cases[i].full == 2 ? 9 : 6));
        result_free(&r);
    }
}

/* ---- the field ---- */

static void field_is_appended_once(void **state)
{
    struct made_class spec = {.fields = {"a", "b"},
                              .methods = {{.code = return_0, .code_len = sizeof return_0}}};
    struct orders orders = {.field = "$bbf"};
    struct result r = rewrite_class(&spec, &orders), again;
    struct cf__member field;
    struct bbf_cf_str text;
    uint32_t at;

    (void)state;
    assert_int_equal(r.status, BBF_CF_CHANGED);
    assert_int_equal(r.c.n_fields, 3);
    at = r.c.fields_at + 2;
    for (int i = 0; i < 3; i++, at = field.end)
        cf__member_read(&r.c, at, false, &field);
    assert_int_equal(field.access, 0x1082);
    assert_true(cf__pool_utf8(&r.c, field.name, &text) && cf__str_is(text, "$bbf"));
    assert_true(cf__pool_utf8(&r.c, field.descriptor, &text) && cf__str_is(text, "J"));
    assert_int_equal(r.c.pool_count, r.first_new + 2);
    assert_bytes(r.code, r.code_len, return_0, sizeof return_0);

    again = rewrite_bytes(r.bytes, r.len, &orders); /* it is there: never twice */
    assert_int_equal(again.status, BBF_CF_NOTHING);
    result_free(&again);

    orders.plan.n_entry = 1; /* field and methods at once */
    orders.entry[0] = call_enter(0, 1000);
    again = rewrite_class(&spec, &orders);
    assert_int_equal(again.c.n_fields, 3);
    assert_int_equal(again.code_len, 9);
    assert_int_equal(again.c.pool_count, again.first_new + 8);
    result_free(&again);
    result_free(&r);

    spec.pool_count = 65534;
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.status, BBF_CF_POOL_FULL);
    result_free(&r);
}

/* ---- the class ---- */

static void header_is_copied(void **state)
{
    struct made_class spec = {
        .major = 69, .minor = 0xFFFF, .methods = {{.code = return_0, .code_len = sizeof return_0}}};
    struct orders orders = enter_orders();
    struct result r = rewrite_class(&spec, &orders);

    (void)state;
    assert_int_equal(cf__u2(r.bytes + 4), 0xFFFF); /* a preview class stays one */
    assert_int_equal(r.c.major, 69);
    assert_true(cf__str_is(r.c.name, "test/Made"));
    result_free(&r);
}

/* Old constants keep their indices, old bytes their order: all but Code is copied. */
static void other_methods_are_copied(void **state)
{
    struct made_class spec = {.methods = {{.code = return_0, .code_len = sizeof return_0},
                                          {.access = 9,
                                           .name = "other",
                                           .descriptor = "()V",
                                           .code = (const uint8_t *)"\xB1",
                                           .code_len = 1},
                                          {.access = 9,
                                           .name = "last",
                                           .descriptor = "()" OBJECT,
                                           .code = return_0,
                                           .code_len = sizeof return_0}}};
    struct orders orders = enter_orders();
    size_t len;
    uint8_t *in = make_class(&spec, &len);
    struct result r;

    (void)state;
    orders.only = "m";
    r = rewrite_bytes(in, len, &orders);
    assert_memory_equal(r.bytes + 10, in + 10, r.c.pool_at[r.first_new] - 10);
    result_method(&r, 1);
    assert_bytes(r.code, r.code_len, (const uint8_t *)"\xB1", 1);
    result_method(&r, 2);
    assert_bytes(r.code, r.code_len, return_0, sizeof return_0);
    /* From the second method on the two files end alike. */
    assert_memory_equal(r.bytes + r.len - 60, in + len - 60, 60);
    result_free(&r);
    free(in);
}

static void refusals_name_their_cause(void **state)
{
    struct made_class spec = {.methods = {{.code = return_0, .code_len = sizeof return_0}}};
    struct orders orders = enter_orders();
    size_t len;
    uint8_t *in = make_class(&spec, &len);
    struct result r;

    (void)state;
    in[0] = 0xCB;
    assert_int_equal(rewrite_bytes(in, len, &orders).status, BBF_CF_MAGIC);
    in[0] = 0xCA;
    in[7] = 44;
    assert_int_equal(rewrite_bytes(in, len, &orders).status, BBF_CF_VERSION);
    in[7] = 81;
    assert_int_equal(rewrite_bytes(in, len, &orders).status, BBF_CF_VERSION);
    in[7] = 80;
    r = rewrite_bytes(in, len, &orders);
    assert_int_equal(r.status, BBF_CF_CHANGED);
    result_free(&r);
    in[7] = 45;
    r = rewrite_bytes(in, len, &orders);
    assert_int_equal(r.status, BBF_CF_CHANGED);
    result_free(&r);
    in[10] = 2; /* a tag that does not exist */
    assert_int_equal(rewrite_bytes(in, len, &orders).status, BBF_CF_POOL);
    in[10] = 1;
    /* Every shorter file is refused, and without an output. */
    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *part = malloc(cut + 1);

        memcpy(part, in, cut);
        r = rewrite_bytes(part, cut, &orders);
        assert_true(r.status == BBF_CF_TRUNCATED || r.status == BBF_CF_POOL);
        free(part);
    }
    in = realloc(in, len + 1);
    in[len] = 0;
    assert_int_equal(rewrite_bytes(in, len + 1, &orders).status, BBF_CF_STRUCTURE);
    free(in);
}

#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)
/* Counting allocator, glibc only; the sanitizers bring their own. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
static unsigned long allocations;

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    allocations++;
    return __libc_realloc(old, size);
}
#define COUNTS_ALLOCATIONS 1
#else
static unsigned long allocations;
#define COUNTS_ALLOCATIONS 0
#endif

/* No constant of interest: the class costs a walk over its pool, nothing else. */
static void uninteresting_classes_cost_no_allocation(void **state)
{
    struct made_class spec = {.methods = {{.code = return_0, .code_len = sizeof return_0}}};
    struct orders orders = enter_orders();
    struct bbf_cf_config config = {.targets = made_targets,
                                   .n_targets = TARGETS,
                                   .ctx = &orders,
                                   .interesting = orders_interesting,
                                   .plan = orders_plan};
    struct bbf_cf_stats stats;
    size_t len, out_len;
    uint8_t *in = make_class(&spec, &len), *out;
    unsigned long before = allocations;

    (void)state;
    orders.no_interest = true;
    assert_int_equal(bbf_cf_rewrite(in, len, &config, &out, &out_len, &stats), BBF_CF_NOTHING);
    assert_int_equal(allocations - before, 0);
    orders.no_interest = false;
    assert_int_equal(bbf_cf_rewrite(in, len, &config, &out, &out_len, &stats), BBF_CF_CHANGED);
    assert_true(!COUNTS_ALLOCATIONS || allocations > before); /* the counter counts */
    free(out);
    free(in);
}

static void results_have_texts(void **state)
{
    (void)state;
    assert_string_equal(bbf_cf_class_text(BBF_CF_POOL_FULL), "constant pool full");
    assert_string_equal(bbf_cf_method_text(BBF_CF_METHOD_ENTRY_JUMP),
                        "entry only: a branch over 32 KiB");
    assert_string_equal(bbf_cf_method_text(BBF_CF_METHOD_RESULTS), "unknown result");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_take_the_shortest_form),
        cmocka_unit_test(an_id_is_one_constant),
        cmocka_unit_test(arguments_of_every_kind),
        cmocka_unit_test(calls_that_do_not_fit_leave_the_method),
        cmocka_unit_test(dup_comes_first),
        cmocka_unit_test(stores_are_found_in_every_form),
        cmocka_unit_test(exit_calls_do_not_load_overwritten_parameters),
        cmocka_unit_test(constructors_report_this_at_return),
        cmocka_unit_test(constructors_that_lose_local_0),
        cmocka_unit_test(constructors_do_not_pass_this_early),
        cmocka_unit_test(fluent_returns_are_not_hooked),
        cmocka_unit_test(branch_over_32k_is_entry_only),
        cmocka_unit_test(method_size_ladder),
        cmocka_unit_test(constant_pool_ladder),
        cmocka_unit_test(field_is_appended_once),
        cmocka_unit_test(header_is_copied),
        cmocka_unit_test(other_methods_are_copied),
        cmocka_unit_test(refusals_name_their_cause),
        cmocka_unit_test(uninteresting_classes_cost_no_allocation),
        cmocka_unit_test(results_have_texts),
    };

    return cmocka_run_group_tests_name("classfile_rewrite", tests, NULL, NULL);
}
