/* link: bbf_trie bbf_core */
/* Which types are carriers, and how their parameters are followed (ADR 43). */
#include "tests/unit/plan_text.h"

#define FRAME "Lorg/flow/Frame;"

static void show(struct planned *p, const char *name, struct shown_class as, bool learns)
{
    static const uint8_t none[1];
    shown = as;
    assert_int_equal(bbf_carriers_learn(p->rules.carriers, name, none, sizeof none), learns);
}

static enum bbf_carrier known_as(const struct planned *p, const char *name)
{
    return bbf_carriers_find(p->rules.carriers, name, strlen(name));
}

static void a_declared_type_of_a_carrier_is_followed(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    assert_plan(p, "com/app/Main", PLAIN, "m", "(" FRAME ")V", "+C"); /* carriers=off */
    p->rules.carriers = bbf_carriers_new(NULL);
    assert_plan(p, "com/app/Main", PLAIN, "m", "(" FRAME ")V", "+C");
    assert_plan(p, "com/app/Main", PLAIN, "record",
                "(Lorg/springframework/core/io/buffer/DataBuffer;)V",
                "stepObject(a1,#Main.record) +C");
    show(p, "org/flow/BufFrame",
         (struct shown_class){.interfaces = {"org/flow/Frame"}, .fields = {"I", BUF}}, true);
    assert_plan(p, "com/app/Main", PLAIN, "m", "(I" FRAME ")V", "stepObject(a2,#Main.m) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "(Lorg/flow/BufFrame;)V",
                "stepObject(a1,#Main.m) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "()" FRAME, "r:stepObject(dup,#Main.m_return) +C");
    struct bbf_cf_call call;
    struct bbf_cf_method m = {.class_name = {"com/app/Main", 12},
                              .name = {"m", 1},
                              .descriptor = {"()V", 3},
                              .access = PLAIN};
    assert_true(p->config.after_cast(p->config.ctx, &m, (struct bbf_cf_str){"org/flow/Frame", 14},
                                     false, &call));
    assert_false(p->config.after_cast(p->config.ctx, &m, (struct bbf_cf_str){"org/flow/Fram", 13},
                                      false, &call));
    signature = "(Ljava/util/List<" FRAME ">;)V";
    assert_plan(p, "com/app/Main", PLAIN, "m", "(" LIST ")V", "stepObject(a1,#Main.m) +C");
    signature = "";
    bbf_carriers_free(p->rules.carriers);
    planned_free(p);
}

static void a_class_is_a_carrier_by_its_fields_and_super_class(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    p->rules.carriers = bbf_carriers_new("com.app.Given:thing");
    assert_int_equal(known_as(p, "com/app/Given"), BBF_CARRIER_CLASS);
    show(p, "a/Plain", (struct shown_class){.fields = {"I", "Ljava/lang/Object;", "[" BUF}}, false);
    show(p, "a/Holds", (struct shown_class){.fields = {HOLDER}}, true);
    show(p, "a/Holds", (struct shown_class){.fields = {HOLDER}}, false); /* nothing new */
    show(p, "a/Nested",
         (struct shown_class){.fields = {"La/Holds;"}, .interfaces = {"java/io/Closeable", "a/I"}},
         true);
    assert_int_equal(known_as(p, "a/I"), BBF_CARRIER_TYPE);
    assert_int_equal(known_as(p, "java/io/Closeable"), BBF_CARRIER_NONE);
    /* By what it inherits; a mere super type of carriers has no field to inherit. */
    show(p, "a/Sub", (struct shown_class){.super = "a/Holds"}, true);
    show(p, "a/Other", (struct shown_class){.super = "a/I"}, false);
    show(p, "a/Letter", (struct shown_class){.super = "io/netty/buffer/DefaultByteBufHolder"},
         true);
    assert_int_equal(known_as(p, "io/netty/buffer/DefaultByteBufHolder"), BBF_CARRIER_NONE);
    /* Links of a list, the JDK's, languages' and Netty's own classes. */
    show(p, "a/Link", (struct shown_class){.fields = {"La/Link;"}}, false);
    const struct bbf_cf_str own = {"a/Holds", 7}, to_own = {"La/Holds;", 9}, sub = {"a/Sub", 5};
    assert_false(bbf_carriers_leads(p->rules.carriers, own, to_own));
    assert_true(bbf_carriers_leads(p->rules.carriers, sub, to_own));
    show(p, "java/util/X", (struct shown_class){.fields = {BUF}}, false);
    show(p, "scala/X", (struct shown_class){.fields = {BUF}}, false);
    show(p, "io/netty/channel/X",
         (struct shown_class){.fields = {BUF}, .interfaces = {"io/netty/channel/ChannelHandler"}},
         false);
    assert_int_equal(known_as(p, "io/netty/channel/ChannelHandler"), BBF_CARRIER_NONE);
    /* A type becomes a class when its own field is seen. */
    show(p, "a/I", (struct shown_class){.fields = {BUF}}, true);
    assert_int_equal(known_as(p, "a/I"), BBF_CARRIER_CLASS);
    bbf_carriers_free(p->rules.carriers);
    planned_free(p);
}

static void constants_that_name_a_new_carrier_are_found(void **state)
{
    struct bbf_carriers *c = bbf_carriers_new(NULL);
    uint64_t before = bbf_carriers_version(c);
    const struct {
        const char *utf8;
        bool found;
    } table[] = {
        {"org/flow/Frame", true},
        {FRAME, true},
        {"(I" FRAME ")V", true},
        {"()" FRAME, true},
        {"(Ljava/util/List<" FRAME ">;)V", true},
        {"(Ljava/util/List<+" FRAME ">;)V", true},
        {"[" FRAME, true},
        {"org/flow/Frames", false},
        {"(Lorg/flow/Frames;)V", false},
        {"(Lorg/flow/Frame", true},
        {"(TLorg/flow/Frame;)V", false},
        {"", false},
        {"(", false},
        {"L;", false},
        {"(L", false},
        {"(Lorg/springframework/core/io/buffer/DataBuffer;)V", false},
    };
    (void)state;
    assert_true(bbf_carriers_learn_type(c, "org/flow/Frame", 14));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bool found = bbf_carriers_mentioned(c, table[i].utf8, strlen(table[i].utf8), before);
        if (found != table[i].found)
            print_error("%s\n", table[i].utf8);
        assert_int_equal(found, table[i].found);
    }
    const char *old = table[sizeof table / sizeof *table - 1].utf8;
    assert_true(bbf_carriers_mentioned(c, old, strlen(old), 0));
    assert_false(bbf_carriers_mentioned(NULL, FRAME, strlen(FRAME), 0));
    assert_false(bbf_carriers_mentioned(c, FRAME, strlen(FRAME), bbf_carriers_version(c)));
    bbf_carriers_free(c);
}

static void names_beyond_the_limit_are_counted(void **state)
{
    struct bbf_carriers *c = bbf_carriers_new(NULL);
    char name[40];
    size_t learned = 0;
    (void)state;
    for (int i = 0; i < 5000; i++) {
        int len = snprintf(name, sizeof name, "a/Frame%d", i);
        learned += bbf_carriers_learn_class(c, name, (size_t)len);
    }
    assert_int_equal(learned, bbf_carriers_learned(c));
    assert_int_equal(learned + bbf_carriers_refused(c), 5000);
    assert_true(learned > 4000 && learned < BBF_MOST_CARRIERS);
    for (int i = 0; i < 5000; i++) { /* each is found, or was refused */
        int len = snprintf(name, sizeof name, "a/Frame%d", i);
        learned -= bbf_carriers_find(c, name, (size_t)len) == BBF_CARRIER_CLASS;
    }
    assert_int_equal(learned, 0);
    bbf_carriers_free(c);
}

static void a_field_is_given_by_the_table_or_the_option(void **state)
{
    size_t len = 0;
    (void)state;
    const char *given = "com.app.A:one+com.app.B:x+com.app.A:two";
    assert_int_equal(strncmp(bbf_carriers_field(given, "com/app/A", 0, &len), "one", 3), 0);
    assert_int_equal(len, 3);
    assert_int_equal(strncmp(bbf_carriers_field(given, "com/app/A", 1, &len), "two", 3), 0);
    assert_null(bbf_carriers_field(given, "com/app/A", 2, &len));
    assert_null(bbf_carriers_field(NULL, "com/app/A", 0, &len));
    assert_string_equal(bbf_carriers_field(NULL, "io/grpc/netty/NettyReadableBuffer", 0, &len),
                        "buffer");
}

static void objects_on_asks_for_each_class_that_takes_one(void **state)
{
    const struct {
        const char *utf8;
        bool found;
    } table[] = {{"(Ljava/lang/Object;)V", true},
                 {"(I[Ljava/lang/Object;)V", true},
                 {"(Ljava/util/List;)V", true},
                 {"(Ljava/lang/Iterable;)V", true},
                 {"()Ljava/lang/Object;", false},
                 {"Ljava/lang/Object;", false},
                 {"(Ljava/lang/String;)Ljava/lang/Object;", false}};
    (void)state;
    for (int on = 0; on < 2; on++) {
        struct planned *p = planned_new(on ? "include=com.app,objects=on" : "include=com.app");
        plan_of(p, "com/app/Main", PLAIN, "m", "()V");
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            assert_int_equal(
                p->config.interesting(p->config.ctx, table[i].utf8, strlen(table[i].utf8)),
                on && table[i].found);
        planned_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declared_type_of_a_carrier_is_followed),
        cmocka_unit_test(a_class_is_a_carrier_by_its_fields_and_super_class),
        cmocka_unit_test(constants_that_name_a_new_carrier_are_found),
        cmocka_unit_test(names_beyond_the_limit_are_counted),
        cmocka_unit_test(a_field_is_given_by_the_table_or_the_option),
        cmocka_unit_test(objects_on_asks_for_each_class_that_takes_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
