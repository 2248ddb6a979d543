/* link: bbf_classfile bbf_core */
/*
 * The instruction stream: what is inserted where, and that every jump still lands where it should
 * (JVMS 4, rows on branches, switches, pc 0, exception table, max_stack).
 */
#include "tests/unit/classfile_builder.h"

enum { NOP = 0, ACONST_NULL = 1, ALOAD_0 = 42, ASTORE_0 = 75, POP = 87, GOTO = 167, ARETURN = 176 };

static struct orders enter_orders(void)
{
    return (struct orders){.plan = {.n_entry = 1}, .entry = {call_enter(0, 1000)}};
}

static struct orders exit_orders(void)
{
    return (struct orders){.plan = {.n_areturn = 1, .areturn = {call_exit(1000)}}};
}

static struct orders after_orders(void)
{
    return (struct orders){.plan = {.after_call = true}, .after = call_exit(1000)};
}

static struct result rewrite_code(const uint8_t *code, size_t len, struct orders *orders)
{
    struct made_class spec = {
        .methods = {{.max_stack = 1, .max_locals = 4, .code = code, .code_len = len}}};

    return rewrite_class(&spec, orders);
}

static void assert_code(const struct result *r, const uint8_t *want, size_t len)
{
    assert_int_equal(r->status, BBF_CF_CHANGED);
    assert_bytes(r->code, r->code_len, want, len);
}

/* aload_0; areturn with both: the prologue first, the exit call before the areturn. */
static void entry_and_exit_are_inserted(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN};
    struct orders orders = enter_orders();
    struct result r;

    (void)state;
    orders.plan.n_areturn = 1;
    orders.plan.areturn[0] = call_exit(1000);
    r = rewrite_code(code, sizeof code, &orders);
    {
        const uint8_t want[] = {ENTER_BYTES(0, first_method(&r)), ALOAD_0,
                                EXIT_BYTES(second_method(&r)), ARETURN};
        assert_code(&r, want, sizeof want);
    }
    assert_int_equal(r.max_stack, 3); /* old + 2 at the exit */
    assert_int_equal(r.max_locals, 4);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], 1);
    assert_int_equal(r.c.pool_count, r.first_new + 9);
    result_free(&r);
}

/* An empty stack needs two slots for the call at entry; more is left as it is. */
static void max_stack_covers_the_entry_call(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN};

    (void)state;
    for (uint16_t stack = 1; stack < 4; stack++) {
        struct made_class spec = {
            .methods = {{.max_stack = stack, .code = code, .code_len = sizeof code}}};
        struct orders orders = enter_orders();
        struct result r = rewrite_class(&spec, &orders);

        assert_int_equal(r.max_stack, stack < 2 ? 2 : stack);
        result_free(&r);
    }
}

/* A stack of 65534 has no room for an exit call: entry only. */
static void max_stack_overflow_is_entry_only(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN};
    struct made_class spec = {
        .methods = {{.max_stack = 65534, .code = code, .code_len = sizeof code}}};
    struct orders orders = enter_orders();
    struct result r;

    (void)state;
    orders.plan.n_areturn = 1;
    orders.plan.areturn[0] = call_exit(1000);
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_ENTRY_SIZE], 1);
    assert_int_equal(r.code_len, 9);
    assert_int_equal(r.max_stack, 65534);
    result_free(&r);
}

/* A loop to pc 0 must not run the prologue again: T(0) is behind it. */
static void branch_to_0_does_not_enter_again(void **state)
{
    static const uint8_t code[] = {ALOAD_0, 198, 0xFF, 0xFF, ALOAD_0, ARETURN}; /* ifnull 0 */
    struct orders orders = enter_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    const uint8_t want[] = {
        ENTER_BYTES(0, first_method(&r)), ALOAD_0, 198, 0xFF, 0xFF, ALOAD_0, ARETURN};

    (void)state;
    assert_code(&r, want, sizeof want);
    result_free(&r);

    /* The same when everything is relocated. */
    orders.plan.n_areturn = 1;
    orders.plan.areturn[0] = call_exit(1000);
    r = rewrite_code(code, sizeof code, &orders);
    assert_int_equal(r.code[8], 198);
    assert_int_equal(cf__s2(r.code + 9), -1);
    result_free(&r);
}

/* T: a jump to an areturn also runs the exit call. */
static void jump_to_areturn_lands_before_the_exit_call(void **state)
{
    static const uint8_t code[] = {ALOAD_0, GOTO, 0, 4, ACONST_NULL, ARETURN};
    struct orders orders = exit_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    const uint8_t want[] = {ALOAD_0, GOTO, 0, 4, ACONST_NULL, EXIT_BYTES(first_method(&r)),
                            ARETURN};

    (void)state;
    assert_code(&r, want, sizeof want);
    result_free(&r);
}

/* P: a branch over an exit call is measured from the branch itself. */
static void branches_over_insertions_grow(void **state)
{
    static const uint8_t code[] = {ALOAD_0, 199,     0,    5,    ALOAD_0, ARETURN, /* ifnonnull 6 */
                                   ALOAD_0, ARETURN, GOTO, 0xFF, 0xF8};            /* goto 0 */
    struct orders orders = exit_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    uint16_t exit = first_method(&r);
    const uint8_t want[] = {
        ALOAD_0,          199,     0,    12,   ALOAD_0, EXIT_BYTES(exit), ARETURN, ALOAD_0,
        EXIT_BYTES(exit), ARETURN, GOTO, 0xFF, 0xEA};

    (void)state;
    assert_code(&r, want, sizeof want);
    result_free(&r);
}

/* goto_w and jsr_w, 4-byte offsets; jsr, ret: jsr is a branch, ret a local. */
static void wide_branches_and_jsr(void **state)
{
    static const uint8_t code[] = {200,         0,       0, 0,           7,
                                   ACONST_NULL, ARETURN,                          /* goto_w 7 */
                                   201,         0,       0, 0,           5,       /* jsr_w 12 */
                                   168,         0,       5, ACONST_NULL, ARETURN, /* jsr 17 */
                                   169,         1};                               /* ret 1 */
    struct orders orders = exit_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    uint16_t exit = first_method(&r);
    const uint8_t want[] = {200, 0, 0,   0, 14, ACONST_NULL, EXIT_BYTES(exit), ARETURN, 201, 0, 0,
                            0,   5, 168, 0, 12, ACONST_NULL, EXIT_BYTES(exit), ARETURN, 169, 1};

    (void)state;
    assert_code(&r, want, sizeof want);
    result_free(&r);
}

/* What follows an invoke belongs to its fall-through: a jump to the next pc lands behind it. */
static void jump_behind_an_invoke_skips_the_after_call(void **state)
{
    static const uint8_t code[] = {ALOAD_0,  198,     0,     6, /* 1: ifnull 7 */
                                   184,      0,       P_GET,    /* 4 */
                                   ASTORE_0, ALOAD_0, 177};     /* 7 */
    struct orders orders = after_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    const uint8_t want[] = {ALOAD_0,  198,     0,  13, 184, 0, P_GET, EXIT_BYTES(first_method(&r)),
                            ASTORE_0, ALOAD_0, 177};

    (void)state;
    assert_code(&r, want, sizeof want);
    assert_int_equal(orders.questions, 1);
    assert_int_equal(r.max_stack, 3);
    result_free(&r);
}

/* Every invoke opcode is asked about with its owner; not before areturn or pop. */
static void after_calls_are_asked_for_each_invoke(void **state)
{
    static const uint8_t code[] = {
        182, 0, P_GET,     183, 0, P_GET, 184, 0,     P_GET, 185, 0, P_INTERFACE, 1,      0,
        186, 0, P_DYNAMIC, 0,   0, 184,   0,   P_GET, POP,   184, 0, P_GET,       ARETURN};
    struct orders orders = after_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    uint16_t exit = first_method(&r);
    const uint8_t want[] = {182,         0,
                            P_GET,       EXIT_BYTES(exit),
                            183,         0,
                            P_GET,       EXIT_BYTES(exit),
                            184,         0,
                            P_GET,       EXIT_BYTES(exit),
                            185,         0,
                            P_INTERFACE, 1,
                            0,           EXIT_BYTES(exit),
                            186,         0,
                            P_DYNAMIC,   0,
                            0,           EXIT_BYTES(exit),
                            184,         0,
                            P_GET,       POP,
                            184,         0,
                            P_GET,       ARETURN};

    (void)state;
    assert_code(&r, want, sizeof want);
    assert_int_equal(orders.questions, 5);
    result_free(&r);

    /* Declined everywhere: nothing to do, and no method counted. */
    orders.after.n_args = 0;
    r = rewrite_code(code, sizeof code, &orders);
    assert_int_equal(r.status, BBF_CF_NOTHING);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], 0);
    result_free(&r);
}

/* A cast is asked about like an invoke; not before areturn or pop, not for what is no class. */
static void after_casts_are_asked_for(void **state)
{
    static const uint8_t code[] = {ALOAD_0, 192,    0,   P_THIS, ASTORE_0, ALOAD_0, 192,
                                   0,       P_THIS, POP, 1,      192,      0,       P_GET,
                                   POP,     1,      192, 0,      P_THIS,   ARETURN};
    struct orders orders = after_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    uint16_t exit = first_method(&r);
    const uint8_t want[] = {ALOAD_0,  192,     0,   P_THIS, EXIT_BYTES(exit),
                            ASTORE_0, ALOAD_0, 192, 0,      P_THIS,
                            POP,      1,       192, 0,      P_GET,
                            POP,      1,       192, 0,      P_THIS,
                            ARETURN};

    (void)state;
    assert_code(&r, want, sizeof want);
    assert_int_equal(orders.questions, 1);
    result_free(&r);
}

/* By the instruction before the cast: not if a jump leads to the cast, nor for another variable.
 * Stores to it are not looked for. */
static void a_cast_of_what_another_call_is_given_is_known(void **state)
{
    enum { CAST = 192, WIDE = 196, NONE = 0xffff };
    static const struct {
        uint8_t code[14];
        size_t len;
        uint32_t slot; /* that the call at the entry is given */
        unsigned given, questions;
    } table[] = {
        {{ALOAD_0, CAST, 0, P_THIS, ASTORE_0, 177}, 6, 0, 1, 1},
        {{25, 0, CAST, 0, P_THIS, ASTORE_0, 177}, 7, 0, 1, 1},
        {{WIDE, 25, 0, 0, CAST, 0, P_THIS, ASTORE_0, 177}, 9, 0, 1, 1},
        {{ACONST_NULL, CAST, 0, P_THIS, ASTORE_0, 177}, 6, 0, 0, 1},
        {{1, 3, 153, 0, 5, POP, ALOAD_0, CAST, 0, P_THIS, ASTORE_0, 177}, 12, 0, 0, 1},
        {{ALOAD_0 + 1, CAST, 0, P_THIS, ASTORE_0, 177}, 6, 0, 0, 1},
        {{ALOAD_0 + 1, CAST, 0, P_THIS, ASTORE_0, 177}, 6, 1, 1, 1},
        {{ALOAD_0, CAST, 0, P_THIS, ASTORE_0, 177}, 6, NONE, 0, 1},
        {{184, 0, P_GET, CAST, 0, P_THIS, ASTORE_0, 177}, 8, NONE, 1, 2},
        {{ALOAD_0, CAST, 0, P_THIS, CAST, 0, P_THIS, ASTORE_0, 177}, 9, NONE, 1, 2},
        {{1, 3, 153, 0, 7, POP, 184, 0, P_GET, CAST, 0, P_THIS, ASTORE_0, 177}, 14, NONE, 0, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct orders orders = after_orders();
        if (table[i].slot != NONE) {
            orders.plan.n_entry = 1;
            orders.entry[0] = call_enter(table[i].slot, 1000);
        }
        struct made_class spec = {.methods = {{.access = 9,
                                               .name = "m",
                                               .descriptor = "(" OBJECT OBJECT ")V",
                                               .max_locals = 2,
                                               .code = table[i].code,
                                               .code_len = table[i].len}}};
        struct result r = rewrite_class(&spec, &orders);
        if (orders.questions != table[i].questions || orders.given != table[i].given)
            fail_msg("row %zu: %u of %u", i, orders.given, orders.questions);
        result_free(&r);
    }
}

/* Without a call: the cast directly behind the invoke, and no other one. */
static void a_cast_of_what_is_known_is_given(void **state)
{
    static const uint8_t behind[] = {184, 0, P_GET, 192, 0, P_THIS, ASTORE_0, 177};
    static const uint8_t apart[] = {184, 0, P_GET, POP, 1, 192, 0, P_THIS, ASTORE_0, 177};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct orders orders = after_orders();
        orders.after = (struct bbf_cf_call){.known = i > 0};
        struct result r = i < 2 ? rewrite_code(behind, sizeof behind, &orders)
                                : rewrite_code(apart, sizeof apart, &orders);
        assert_int_equal(r.status, BBF_CF_NOTHING);
        assert_int_equal(orders.questions, i < 2 ? 2 : 1);
        assert_int_equal(orders.given, i == 1);
        result_free(&r);
    }
}

/* There is nothing to dup after a void call, and an invoke of no method is not asked about. */
static void after_call_needs_a_reference(void **state)
{
    static const uint8_t code[] = {184, 0, P_VOID, ACONST_NULL, ARETURN};
    static const uint8_t no_method[] = {184, 0, P_THIS, 184, 0xFF, 0xFF, ACONST_NULL, ARETURN};
    struct orders orders = after_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);

    (void)state;
    assert_int_equal(r.status, BBF_CF_NOTHING);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_PLAN], 1);
    result_free(&r);
    orders.questions = 0;
    r = rewrite_code(no_method, sizeof no_method, &orders);
    assert_int_equal(r.status, BBF_CF_NOTHING);
    assert_int_equal(orders.questions, 0);
    result_free(&r);
}

/* before_athrow: `dup` is the exception. */
static void athrow_gets_its_call(void **state)
{
    static const uint8_t code[] = {ACONST_NULL, 191};
    struct orders orders = {.plan = {.before_athrow_set = true, .before_athrow = call_exit(1000)}};
    struct result r = rewrite_code(code, sizeof code, &orders);
    const uint8_t want[] = {ACONST_NULL, EXIT_BYTES(first_method(&r)), 191};

    (void)state;
    assert_code(&r, want, sizeof want);
    result_free(&r);
}

/* The call of that name alone, and a jump to it lands before what is inserted. */
static void a_named_call_gets_a_call_before_it(void **state)
{
    static const uint8_t code[] = {ALOAD_0, 182,  0,     P_GET,  POP,
                                   ALOAD_0, GOTO, 0,     3, /* 6: to 9 */
                                   182,     0,    P_GET, ARETURN};
    struct orders orders = {.plan = {.before_name = "get",
                                     .before_descriptor = "()Ljava/lang/Object;",
                                     .before_call = call_enter(0, 1000)}};
    struct result r = rewrite_code(code, sizeof code, &orders);
    uint16_t enter = first_method(&r);
    const uint8_t want[] = {ALOAD_0, ENTER_BYTES(0, enter), 182, 0, P_GET, POP,    ALOAD_0, GOTO, 0,
                            3,       ENTER_BYTES(0, enter), 182, 0, P_GET, ARETURN};

    (void)state;
    assert_code(&r, want, sizeof want);
    result_free(&r);
    orders.plan.before_descriptor = "()V";
    r = rewrite_code(code, sizeof code, &orders);
    assert_int_equal(r.status, BBF_CF_NOTHING);
    result_free(&r);
    orders.plan.before_descriptor = "()Ljava/lang/Object;";
    orders.plan.before_call = call_exit(1000); /* what is on top is not known */
    r = rewrite_code(code, sizeof code, &orders);
    assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_PLAN], 1);
    result_free(&r);
}

/*
 * All four paddings of a switch, before (0-3 nops) and after (0-3 exit calls of 7 bytes each in
 * front of it move it by 0, 3, 2, 1 modulo 4).
 */
static void check_switch(uint8_t opcode, unsigned nops, unsigned exits)
{
    uint8_t code[128];
    uint32_t at = 0, pc, base, got;
    struct orders orders = exit_orders();
    struct result r;
    const uint8_t *sw;

    for (unsigned i = 0; i < exits; i++) {
        code[at++] = ACONST_NULL;
        code[at++] = ARETURN;
    }
    memset(code + at, NOP, nops);
    at += nops;
    pc = at;
    memset(code + at, 0, sizeof code - at);
    code[at] = opcode;
    base = (pc + 4) & ~3u;
    /* default -> the areturn behind; two cases -> pc 0 and the switch itself */
    if (opcode == 170) {
        cf__put4(code + base + 4, 5);
        cf__put4(code + base + 8, 6);
        cf__put4(code + base + 12, (uint32_t) - (int32_t)pc);
        cf__put4(code + base + 16, 0);
        at = base + 20;
    } else {
        cf__put4(code + base + 4, 2);
        cf__put4(code + base + 8, 77);
        cf__put4(code + base + 12, (uint32_t) - (int32_t)pc);
        cf__put4(code + base + 16, 99);
        cf__put4(code + base + 20, 0);
        at = base + 24;
    }
    cf__put4(code + base, at + 1 - pc);
    code[at++] = ACONST_NULL;
    code[at++] = ARETURN;
    r = rewrite_code(code, at, &orders);
    assert_int_equal(r.status, BBF_CF_CHANGED);
    got = pc + 7 * exits;
    assert_int_equal(r.code[got], opcode);
    sw = r.code + ((got + 4) & ~3u);
    for (const uint8_t *pad = r.code + got + 1; pad < sw; pad++)
        assert_int_equal(*pad, 0);
    /* The default is where the last exit call begins: 8 bytes before the end. */
    assert_int_equal(got + cf__u4(sw), r.code_len - 8);
    assert_int_equal(r.code[r.code_len - 8], 89);
    if (opcode == 170) {
        assert_int_equal(cf__u4(sw + 4), 5);
        assert_int_equal(cf__u4(sw + 8), 6);
        assert_int_equal(cf__s4(sw + 12), -(int32_t)got);
        assert_int_equal(cf__s4(sw + 16), 0);
        assert_int_equal(sw + 20 - r.code, r.code_len - 9);
    } else {
        assert_int_equal(cf__u4(sw + 4), 2);
        assert_int_equal(cf__u4(sw + 8), 77);
        assert_int_equal(cf__s4(sw + 12), -(int32_t)got);
        assert_int_equal(cf__u4(sw + 16), 99);
        assert_int_equal(cf__s4(sw + 20), 0);
        assert_int_equal(sw + 24 - r.code, r.code_len - 9);
    }
    result_free(&r);
}

static void switch_padding_follows_the_new_pc(void **state)
{
    (void)state;
    for (unsigned nops = 0; nops < 4; nops++) {
        for (unsigned exits = 0; exits < 4; exits++) {
            check_switch(170, nops, exits);
            check_switch(171, nops, exits);
        }
    }
}

/* Entry only: the code stays as it is, the prologue is padded to 4 for the switches' sake. */
static void entry_only_keeps_switches_verbatim(void **state)
{
    uint8_t code[] = {NOP, 170, 0, 0, 0, 0, 0, 19, 0,  0,           0,
                      5,   0,   0, 0, 5, 0, 0, 0,  19, ACONST_NULL, ARETURN};
    struct orders orders = enter_orders();
    struct result r = rewrite_code(code, sizeof code, &orders);
    const uint8_t want[] = {ENTER_BYTES(0, first_method(&r)), NOP};

    (void)state;
    assert_int_equal(r.code_len, sizeof code + 8);
    assert_memory_equal(r.code, want, 8);
    assert_memory_equal(r.code + 8, code, sizeof code);
    result_free(&r);
}

/* start, end, handler by T: an exit call is protected exactly if its areturn is. */
static void exception_ranges_go_with_their_instructions(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN, ALOAD_0, ARETURN, ARETURN};
    static const uint8_t table[] = {0, 0, 0, 1, 0, 4, 0, 0,  /* ends at the areturn: not covered */
                                    0, 1, 0, 2, 0, 4, 0, 7,  /* begins at it: its call is covered */
                                    0, 0, 0, 5, 0, 4, 0, 0}; /* end == code_length */
    struct made_class spec = {.methods = {{.max_stack = 1,
                                           .code = code,
                                           .code_len = sizeof code,
                                           .exceptions = table,
                                           .n_exceptions = 3}}};
    struct orders orders = exit_orders();
    struct result r;

    (void)state;
    orders.plan.n_entry = 1;
    orders.entry[0] = call_enter(0, 1000);
    r = rewrite_class(&spec, &orders);
    {
        /* T: 0->7, 1->8, 2->16, 3->17, 4->25, 5->33 */
        const uint8_t want[] = {0, 7,  0, 8, 0, 25, 0, 0,  0, 8,  0, 16,
                                0, 25, 0, 7, 0, 7,  0, 33, 0, 25, 0, 0};
        assert_bytes(r.exceptions, 8 * r.n_exceptions, want, sizeof want);
    }
    result_free(&r);
}

/* Each handler of a class gets the call once, whatever leads there. One of any exception (finally)
 * gets none, nor one that an exception of the call itself could lead back to, directly or by an
 * earlier handler. */
static void handlers_of_a_class_get_a_call(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN,           /* 0 */
                                   POP,     ALOAD_0, ARETURN,  /* 2: twice in the table */
                                   POP,     ALOAD_0, ARETURN,  /* 5: finally */
                                   POP,     ALOAD_0, ARETURN,  /* 8: protects itself */
                                   POP,     ALOAD_0, ARETURN,  /* 11: protected by 2 */
                                   ARETURN};                   /* 14: returns the exception */
    static const uint8_t table[] = {0, 0,  0, 2,  0, 2,  0, 7, /* */
                                    0, 0,  0, 1,  0, 2,  0, 7, /* */
                                    0, 0,  0, 2,  0, 5,  0, 0, /* */
                                    0, 0,  0, 9,  0, 8,  0, 7, /* */
                                    0, 0,  0, 2,  0, 11, 0, 7, /* */
                                    0, 11, 0, 12, 0, 2,  0, 7, /* */
                                    0, 0,  0, 2,  0, 14, 0, 7};
    struct made_class spec = {.methods = {{.max_stack = 1,
                                           .code = code,
                                           .code_len = sizeof code,
                                           .exceptions = table,
                                           .n_exceptions = sizeof table / 8}}};
    struct orders orders = {.plan = {.at_handler_set = true, .at_handler = call_exit(1000)}};
    struct result r = rewrite_class(&spec, &orders);
    uint16_t exit = first_method(&r);
    const uint8_t want[] = {
        ALOAD_0, ARETURN, EXIT_BYTES(exit), POP,     ALOAD_0, ARETURN, POP,     ALOAD_0,
        ARETURN, POP,     ALOAD_0,          ARETURN, POP,     ALOAD_0, ARETURN, EXIT_BYTES(exit),
        ARETURN};

    (void)state;
    assert_code(&r, want, sizeof want);
    assert_int_equal(r.max_stack, 3);
    assert_int_equal(cf__u2(r.exceptions + 4), 2);          /* the handler begins at the call */
    assert_int_equal(cf__u2(r.exceptions + 8 * 2 + 4), 12); /* T: 5->12 */
    result_free(&r);
    orders.plan.n_areturn = 1; /* where another call is inserted there is no second one */
    orders.plan.areturn[0] = call_exit(1001);
    r = rewrite_class(&spec, &orders);
    assert_int_equal(r.status, BBF_CF_CHANGED);
    assert_int_equal(r.code_len, sizeof code + 7 * (5 + 1 + 1));
    result_free(&r);
}

static void malformed_exception_tables_leave_the_method(void **state)
{
    static const uint8_t code[] = {17, 0, 0, ALOAD_0, ARETURN}; /* sipush 0 */
    static const uint8_t tables[][8] = {
        {0, 0, 0, 0, 0, 0, 0, 0}, /* empty range */
        {0, 4, 0, 3, 0, 0, 0, 0}, /* backwards */
        {0, 0, 0, 6, 0, 0, 0, 0}, /* past the end */
        {0, 1, 0, 3, 0, 0, 0, 0}, /* inside an instruction */
        {0, 0, 0, 2, 0, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct made_class spec = {.methods = {{.max_stack = 2,
                                               .code = code,
                                               .code_len = sizeof code,
                                               .exceptions = tables[i],
                                               .n_exceptions = 1}}};
        struct orders orders = enter_orders();
        struct result r = rewrite_class(&spec, &orders);

        assert_int_equal(r.status, BBF_CF_NOTHING);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_TABLES], 1);
        result_free(&r);
    }
}

/* The verifier of versions below 50 refuses a handler at 0, which a prologue would move away. */
static void handlers_at_0_leave_an_old_method(void **state)
{
    static const uint8_t code[] = {ALOAD_0, ARETURN};
    static const uint8_t table[] = {0, 0, 0, 2, 0, 0, 0, 0};

    (void)state;
    for (uint16_t major = 49; major <= 51; major++) {
        struct made_class spec = {.major = major,
                                  .methods = {{.max_stack = 1,
                                               .code = code,
                                               .code_len = sizeof code,
                                               .exceptions = table,
                                               .n_exceptions = 1}}};
        struct orders orders = enter_orders();
        struct result r = rewrite_class(&spec, &orders);

        /* 50 falls back to that verifier if the newer one refuses. */
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_TABLES], major <= 50);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_FULL], major > 50);
        result_free(&r);
    }
}

/* Unknown, cut off or jumping into the middle: the method is left alone, with its cause. */
static void malformed_code_is_left_alone(void **state)
{
    static const struct {
        uint8_t code[24];
        size_t len;
    } bad[] = {
        {{202}, 1},                                               /* breakpoint */
        {{255}, 1},                                               /* impdep2 */
        {{17, 0}, 2},                                             /* sipush cut off */
        {{196, 21, 0}, 3},                                        /* wide iload cut off */
        {{196, 132, 0, 1, 0}, 5},                                 /* wide iinc cut off */
        {{196, 0, 0, 1}, 4},                                      /* wide nop */
        {{GOTO, 0, 1}, 3},                                        /* into itself */
        {{GOTO, 0, 3}, 3},                                        /* to the end */
        {{GOTO, 0xFF, 0xFF}, 3},                                  /* before the start */
        {{200, 0, 0, 0, 5}, 5},                                   /* goto_w to the end */
        {{170, 0, 0, 0}, 4},                                      /* tableswitch cut off */
        {{170, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1}, 16}, /* high < low */
        {{170, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF}, 16}, /* huge */
        {{171, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}, 12},             /* negative */
        {{171, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 12},                         /* pair cut off */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct orders orders = enter_orders();
        struct result r = rewrite_code(bad[i].code, bad[i].len, &orders);

        assert_int_equal(r.status, BBF_CF_NOTHING);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_CODE], 1);
        result_free(&r);
    }
}

/* Every instruction of the set goes through, wide forms and odd lengths included. */
static void all_instruction_lengths_are_known(void **state)
{
    static const uint8_t code[] = {
        16,  1, 17,  1, 2,   18,  1,   19,  0, 1,   20,  0, 1,   21,  1,  54, 1,           132,
        1,   1, 169, 1, 178, 0,   1,   185, 0, 1,   1,   0, 186, 0,   1,  0,  0,           187,
        0,   1, 188, 4, 189, 0,   1,   192, 0, 1,   193, 0, 1,   196, 21, 0,  1,           196,
        132, 0, 1,   0, 1,   196, 169, 0,   1, 197, 0,   1, 2,   199, 0,  3,  ACONST_NULL, ARETURN};
    struct made_class spec = {
        .methods = {{.max_stack = 20, .max_locals = 4, .code = code, .code_len = sizeof code}}};
    struct orders orders = exit_orders();
    struct result r = rewrite_class(&spec, &orders);

    (void)state;
    assert_int_equal(r.status, BBF_CF_CHANGED);
    assert_int_equal(r.code_len, sizeof code + 7);
    assert_memory_equal(r.code, code, sizeof code - 1);
    assert_int_equal(r.code[sizeof code - 1], 89);
    assert_int_equal(r.code[r.code_len - 1], ARETURN);
    result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entry_and_exit_are_inserted),
        cmocka_unit_test(max_stack_covers_the_entry_call),
        cmocka_unit_test(max_stack_overflow_is_entry_only),
        cmocka_unit_test(branch_to_0_does_not_enter_again),
        cmocka_unit_test(jump_to_areturn_lands_before_the_exit_call),
        cmocka_unit_test(branches_over_insertions_grow),
        cmocka_unit_test(wide_branches_and_jsr),
        cmocka_unit_test(jump_behind_an_invoke_skips_the_after_call),
        cmocka_unit_test(after_calls_are_asked_for_each_invoke),
        cmocka_unit_test(after_casts_are_asked_for),
        cmocka_unit_test(a_cast_of_what_another_call_is_given_is_known),
        cmocka_unit_test(a_cast_of_what_is_known_is_given),
        cmocka_unit_test(after_call_needs_a_reference),
        cmocka_unit_test(athrow_gets_its_call),
        cmocka_unit_test(a_named_call_gets_a_call_before_it),
        cmocka_unit_test(switch_padding_follows_the_new_pc),
        cmocka_unit_test(entry_only_keeps_switches_verbatim),
        cmocka_unit_test(exception_ranges_go_with_their_instructions),
        cmocka_unit_test(handlers_of_a_class_get_a_call),
        cmocka_unit_test(malformed_exception_tables_leave_the_method),
        cmocka_unit_test(handlers_at_0_leave_an_old_method),
        cmocka_unit_test(malformed_code_is_left_alone),
        cmocka_unit_test(all_instruction_lengths_are_known),
    };

    return cmocka_run_group_tests_name("classfile_code", tests, NULL, NULL);
}
