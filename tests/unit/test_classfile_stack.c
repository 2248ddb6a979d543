/* link: bbf_classfile bbf_core */
/*
 * What the verifier refuses as it is must not become sound by our larger max_stack or our longer
 * constant pool: each method here is rewritten with the stack that it needs, and left alone with
 * one slot less.
 */
#include "tests/unit/classfile_builder.h"

enum { ACONST_NULL = 1, ALOAD_0 = 42, POP = 87, GOTO = 167, ARETURN = 176 };

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

struct need {
    const char *what;
    uint16_t major; /* 49: without frames */
    uint16_t stack; /* what it needs */
    const uint8_t *code;
    size_t len;
    const char *frames; /* NULL: none */
    size_t frames_len;
    const uint8_t *handler; /* NULL: none */
};

#define FRAMES(text) text, sizeof(text) - 1

static struct result rewrite_need(const struct need *need, uint16_t stack)
{
    struct made_class spec = {.major = need->major,
                              .methods = {{.max_stack = stack,
                                           .max_locals = 4,
                                           .code = need->code,
                                           .code_len = need->len,
                                           .exceptions = need->handler,
                                           .n_exceptions = need->handler != NULL}}};
    struct orders orders = {.plan = {.n_entry = 1, .n_areturn = 1, .areturn = {call_exit(1000)}},
                            .entry = {call_enter(0, 1000)}};

    if (need->frames != NULL)
        spec.methods[0].attributes[0] = (struct made_attribute){
            "StackMapTable", (const uint8_t *)need->frames, need->frames_len};
    return rewrite_class(&spec, &orders);
}

static const struct need needs[] = {
    {"a constant", 52, 2, CODE(ACONST_NULL, ACONST_NULL, POP, ARETURN), NULL, 0, NULL},
    {"a long", 52, 2, CODE(9, 88, ACONST_NULL, ARETURN), NULL, 0, NULL},
    {"ldc2_w", 52, 2, CODE(20, 0, 1, 88, ACONST_NULL, ARETURN), NULL, 0, NULL},
    {"dup2_x2", 52, 6, CODE(9, 9, 94, 88, 88, 88, ACONST_NULL, ARETURN), NULL, 0, NULL},
    {"lshl pops three", 52, 4, CODE(9, 3, 121, 9, 97, 88, ACONST_NULL, ARETURN), NULL, 0, NULL},
    {"wide lload", 52, 2, CODE(196, 22, 0, 1, 88, ACONST_NULL, ARETURN), NULL, 0, NULL},
    {"a static call's result", 52, 2, CODE(ALOAD_0, 184, 0, P_GET, POP, ARETURN), NULL, 0, NULL},
    {"a receiver is popped", 52, 2, CODE(ALOAD_0, ALOAD_0, 182, 0, P_GET, POP, ARETURN), NULL, 0,
     NULL},
    {"a void call", 52, 2, CODE(ALOAD_0, ALOAD_0, 182, 0, P_VOID, ALOAD_0, POP, ARETURN), NULL, 0,
     NULL},
    {"an interface", 52, 2, CODE(ALOAD_0, ALOAD_0, 185, 0, P_INTERFACE, 1, 0, POP, ARETURN), NULL,
     0, NULL},
    {"invokedynamic", 52, 2, CODE(ALOAD_0, 186, 0, P_DYNAMIC, 0, 0, POP, ARETURN), NULL, 0, NULL},
    {"dimensions", 52, 3, CODE(3, 3, 3, 197, 0, P_ARRAY, 3, ALOAD_0, POP, ARETURN), NULL, 0, NULL},
    /* Behind the areturn only the frame tells the depth: full, local Object, stack long. */
    {"after a frame", 52, 3, CODE(ALOAD_0, ARETURN, ALOAD_0, ARETURN),
     FRAMES("\0\1\xff\0\2\0\1\7\0\2\0\1\4"), NULL},
    {"a frame itself", 52, 2, CODE(ALOAD_0, ARETURN, 88, ACONST_NULL, ARETURN),
     FRAMES("\0\1\xff\0\2\0\1\7\0\2\0\1\4"), NULL},
    {"same_locals_1", 52, 3, CODE(ALOAD_0, ARETURN, ALOAD_0, POP, ARETURN), FRAMES("\0\1\x42\4"),
     NULL},
    /* 0: goto 8. 3: the body, which only the jump at 9 leads to. */
    {"a loop, tested below", 49, 2,
     CODE(GOTO, 0, 8, ALOAD_0, ALOAD_0, POP, POP, 0, ALOAD_0, 198, 0xFF, 0xFA, ACONST_NULL,
          ARETURN),
     NULL, 0, NULL},
    {"a forward jump", 49, 3, CODE(ALOAD_0, 3, 153, 0, 4, ARETURN, 9, 88, ARETURN), NULL, 0, NULL},
    {"goto_w", 49, 2, CODE(200, 0, 0, 0, 6, 0, ALOAD_0, ALOAD_0, POP, ARETURN), NULL, 0, NULL},
    {"a switch", 49, 3,
     CODE(ALOAD_0, 3, 170, 0, 0, 0, 0, 18, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 19, ARETURN, 9, 88,
          ARETURN),
     NULL, 0, NULL},
    {"a lookup", 49, 3,
     CODE(ALOAD_0, 3, 171, 0, 0, 0, 0, 18, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 19, ARETURN, 9, 88,
          ARETURN),
     NULL, 0, NULL},
    {"a handler", 49, 3, CODE(ALOAD_0, ARETURN, 9, 88, ARETURN), NULL, 0,
     (const uint8_t[]){0, 0, 0, 2, 0, 2, 0, 0}},
    {"a subroutine", 49, 2, CODE(168, 0, 5, ACONST_NULL, ARETURN, ALOAD_0, POP, ARETURN), NULL, 0,
     NULL},
};

static void one_slot_too_few_leaves_the_method(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        struct result fits = rewrite_need(&needs[i], needs[i].stack);
        struct result deep = rewrite_need(&needs[i], needs[i].stack - 1);

        if (fits.status != BBF_CF_CHANGED || fits.stats.methods[BBF_CF_METHOD_FULL] != 1)
            fail_msg("%s: left alone with the stack that it needs", needs[i].what);
        if (deep.status != BBF_CF_NOTHING || deep.stats.methods[BBF_CF_METHOD_LEFT_CODE] != 1)
            fail_msg("%s: rewritten with a slot too few", needs[i].what);
        result_free(&fits);
        result_free(&deep);
    }
}

/* Code that nothing tells the depth of is not judged: behind a jsr, in dead code without frames. */
static void what_cannot_be_followed_is_rewritten(void **state)
{
    const struct need unknown[] = {
        {"behind a jsr", 49, 1, CODE(168, 0, 6, 9, 88, ARETURN, 76, 169, 1), NULL, 0, NULL},
        {"dead", 49, 1, CODE(ALOAD_0, ARETURN, 9, 88, ALOAD_0, ARETURN), NULL, 0, NULL},
        {"an empty stack", 52, 1, CODE(POP, 9, 88, ALOAD_0, ARETURN), NULL, 0, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct result r = rewrite_need(&unknown[i], unknown[i].stack);

        if (r.status != BBF_CF_CHANGED)
            fail_msg("%s: left alone", unknown[i].what);
        result_free(&r);
    }
}

/* An index just past the pool, where the new constants would begin: the whole class is left,
 * because any other of its methods would also make the pool grow. */
static void an_index_past_the_pool_leaves_the_class(void **state)
{
    const struct need cases[] = {
        {"new", 52, 2, CODE(187, 0, 0xFF, POP, ALOAD_0, ARETURN), NULL, 0, NULL},
        {"checkcast", 52, 2, CODE(ALOAD_0, 192, 0, 0xFF, ARETURN), NULL, 0, NULL},
        {"getstatic", 52, 2, CODE(178, 0, 0xFF, ARETURN), NULL, 0, NULL},
        {"invokestatic", 52, 2, CODE(184, 0, 0xFF, ALOAD_0, ARETURN), NULL, 0, NULL},
        {"ldc", 52, 2, CODE(18, 0xFF, ARETURN), NULL, 0, NULL},
        {"multianewarray", 52, 2, CODE(3, 197, 0, 0xFF, 1, ARETURN), NULL, 0, NULL},
        {"a frame", 52, 2, CODE(ALOAD_0, ARETURN, ALOAD_0, ARETURN),
         FRAMES("\0\1\xff\0\2\0\1\7\0\xff\0\0"), NULL},
        {"a catch type", 52, 2, CODE(ALOAD_0, ARETURN, ARETURN), FRAMES("\0\1\x42\7\0\2"),
         (const uint8_t[]){0, 0, 0, 2, 0, 2, 0, 0xFF}},
    };
    static const uint8_t sound[] = {ALOAD_0, ARETURN};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_class spec = {
            .pool_count = 0xFF,
            .methods = {{.max_stack = 2, .code = sound, .code_len = sizeof sound},
                        {.name = "n",
                         .access = 9,
                         .max_stack = 2,
                         .code = cases[i].code,
                         .code_len = cases[i].len,
                         .exceptions = cases[i].handler,
                         .n_exceptions = cases[i].handler != NULL}}};
        struct orders orders = {.plan = {.n_areturn = 1, .areturn = {call_exit(1000)}}};

        if (cases[i].frames != NULL)
            spec.methods[1].attributes[0] = (struct made_attribute){
                "StackMapTable", (const uint8_t *)cases[i].frames, cases[i].frames_len};
        for (spec.pool_count = 0xFF; spec.pool_count <= 0x100; spec.pool_count++) {
            struct result r = rewrite_class(&spec, &orders);

            if ((r.status == BBF_CF_POOL) != (spec.pool_count == 0xFF))
                fail_msg("%s: status %d, pool of %u", cases[i].what, (int)r.status,
                         spec.pool_count);
            result_free(&r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slot_too_few_leaves_the_method),
        cmocka_unit_test(what_cannot_be_followed_is_rewritten),
        cmocka_unit_test(an_index_past_the_pool_leaves_the_class),
    };

    return cmocka_run_group_tests_name("classfile_stack", tests, NULL, NULL);
}
