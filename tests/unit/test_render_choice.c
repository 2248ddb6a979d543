/* link: bbf_render bbf_snapshot bbf_core */
/* Which steps a name means (--only, --path), and which losses --lost, --memory, --older, --rate and
 * --path choose. The page has the same rules: tests/long/html compares both. */
#include "render/choice.h"

#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool matches(const char *class_name, const char *method, const char *pattern)
{
    const struct bbf_snap_site site = {.class_name = (char *)(uintptr_t)class_name,
                                       .method = (char *)(uintptr_t)method,
                                       .descriptor = (char *)(uintptr_t) "",
                                       .kind = BBF_SITE_ENTER};
    return bbf_site_has_name(&site, pattern);
}

static void whole_names_match(void **state)
{
    static const char *const parts[] = {
        "com",  "com.shop",        "com.shop.CartParser", "com.shop.CartParser.total",
        "shop", "shop.CartParser", "CartParser",          "CartParser.total",
        "total"};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(matches("com.shop.CartParser", "total", parts[i]));
}

static void parts_of_names_do_not(void **state)
{
    static const char *const others[] = {"Cart",   "Parser",     "tota",           "co",
                                         "shop.C", "shop.total", "com.CartParser", "total.x",
                                         ".total", "cartparser"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(matches("com.shop.CartParser", "total", others[i]));
}

static void inner_classes_are_named_both_ways(void **state)
{
    (void)state;
    assert_true(matches("com.shop.Cart$Line", "add", "Cart$Line"));
    assert_true(matches("com.shop.Cart$Line", "add", "Cart.Line"));
    assert_true(matches("com.shop.Cart$Line", "add", "Cart"));
    assert_true(matches("com.shop.Cart$Line", "add", "Line.add"));
    assert_false(matches("com.shop.Cart.Line", "add", "Cart$Line"));
    assert_true(matches("", "?raced", "?raced"));
}

/* ---- flags ---- */

static void rates_are_read(void **state)
{
    static const char *const bad[] = {"",      ">",    "1%",  ">1",   ">-1%",
                                      ">101%", ">1%%", "=1%", "> 1%", ">x%"};
    struct bbf_choice c = {0};

    (void)state;
    assert_true(bbf_choice_parse_rate(">1%", &c));
    assert_int_equal(c.is, BBF_RATE_ABOVE);
    assert_true(c.percent == 1);
    assert_true(bbf_choice_parse_rate("<.5%", &c));
    assert_int_equal(c.is, BBF_RATE_BELOW);
    assert_true(c.percent == 0.5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (bbf_choice_parse_rate(bad[i], &c))
            fail_msg("'%s' is read as a rate", bad[i]);
}

static void kinds_of_memory_are_read(void **state)
{
    static const char *const bad[] = {"",      "+",       "direct+",    "Direct",
                                      "direc", "directs", "heap,direct"};
    struct bbf_choice c = {0};

    (void)state;
    assert_true(bbf_choice_parse_memory("heap", &c));
    assert_int_equal(c.memories, 1 << BBF_MEM_HEAP);
    assert_true(bbf_choice_parse_memory("unknown+direct", &c));
    assert_int_equal(c.memories, 1 << BBF_MEM_UNKNOWN | 1 << BBF_MEM_DIRECT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (bbf_choice_parse_memory(bad[i], &c))
            fail_msg("'%s' is read as memory", bad[i]);
}

/* ---- what is shown ---- */

/*
 *   x.Alloc.directBuffer [94] -+- a.One.lose   LEAK 4 direct, 100 s      4 of 100
 *                              +- b.Two.lose   LEAK 1 heap, 10 s; AGED 1 heap, 900 s
 */
static struct bbf_snapshot *two_places(void)
{
    struct bbf_snapshot *s = sample_new();
    const int64_t root = sample_step(s, -1, "x.Alloc", "directBuffer");
    enum { one = 1, two = 2 };

    (void)sample_step(s, root, "a.One", "lose");
    (void)sample_step(s, root, "b.Two", "lose");
    s->nodes[0].released_ = 94;
    s->nodes[one].leaked_ = 4;
    s->nodes[two].leaked_ = 1;
    s->nodes[two].live_ = s->nodes[two].aged_ = 1;
    s->leaks = sample_memory(calloc(3, sizeof *s->leaks));
    s->leaks[0] = (struct bbf_snap_leak){.node = one,
                                         .verdict = BBF_VERDICT_LEAKED,
                                         .memory = BBF_MEM_DIRECT,
                                         .count = 4,
                                         .bytes = 400,
                                         .oldest_seconds = 100};
    s->leaks[1] = (struct bbf_snap_leak){.node = two,
                                         .verdict = BBF_VERDICT_LEAKED,
                                         .memory = BBF_MEM_HEAP,
                                         .count = 1,
                                         .bytes = 10,
                                         .oldest_seconds = 10};
    s->leaks[2] = (struct bbf_snap_leak){.node = two,
                                         .verdict = BBF_VERDICT_AGED,
                                         .memory = BBF_MEM_HEAP,
                                         .count = 1,
                                         .bytes = 10,
                                         .oldest_seconds = 900};
    s->n_leaks = 3;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    return s;
}

/* Which of the two are in the entries, in the tree's lines and in the list of llm: bits 1 and 2. */
static void expect(struct bbf_choice choice, unsigned shown)
{
    const struct bbf_render_options options = {.choice = &choice, .max_lines = 100};
    static const enum bbf_format formats[] = {BBF_FORMAT_TREE, BBF_FORMAT_SUMMARY, BBF_FORMAT_LLM};
    struct bbf_snapshot *s = two_places();

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        assert_int_equal(bbf_render(&text, s, formats[i], &options), 0);
        const char *all = bbf_buf_cstr(&text);
        if ((strstr(all, "One.lose") != NULL) != (shown & 1) ||
            (strstr(all, "Two.lose") != NULL) != (shown >> 1 & 1))
            fail_msg("expected %u in:\n%s", shown, all);
        assert_non_null(strstr(all, " of 2 places that lose buffers are shown ("));
        bbf_buf_free(&text);
    }
    bbf_snapshot_free(s);
}

static void losses_are_chosen(void **state)
{
    (void)state;
    expect((struct bbf_choice){.lost = true}, 3);
    expect((struct bbf_choice){.memories = 1U << BBF_MEM_DIRECT}, 1);
    expect((struct bbf_choice){.memories = 1U << BBF_MEM_COMPOSITE}, 0);
    expect((struct bbf_choice){.older = 100}, 3);
    expect((struct bbf_choice){.older = 101}, 2);
    expect((struct bbf_choice){.older = 101, .lost = true}, 0); /* one row has to match both */
    expect((struct bbf_choice){.path = "a.One"}, 1);
    expect((struct bbf_choice){.path = "lose"}, 3);
    expect((struct bbf_choice){.path = "Alloc", .memories = 1U << BBF_MEM_HEAP}, 2);
    expect((struct bbf_choice){.path = "los"}, 0);
    expect((struct bbf_choice){.is = BBF_RATE_ABOVE, .percent = 3}, 1);
    expect((struct bbf_choice){.is = BBF_RATE_ABOVE, .percent = 4}, 0);
    expect((struct bbf_choice){.is = BBF_RATE_BELOW, .percent = 4}, 2);
    expect((struct bbf_choice){.is = BBF_RATE_BELOW, .percent = 2}, 0);
}

static void the_choice_is_named(void **state)
{
    const struct bbf_choice all = {
        true, 1U << BBF_MEM_DIRECT | 1U << BBF_MEM_HEAP, 600, "a.B\n", BBF_RATE_BELOW, 2.5};
    struct bbf_buf text = BBF_BUF_INIT;

    (void)state;
    bbf_choice_text(&text, &all);
    assert_string_equal(
        bbf_buf_cstr(&text),
        "--lost --memory direct+heap --older 600s --rate '<2.5%' --path a.B\\u000a");
    bbf_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_names_match),
        cmocka_unit_test(parts_of_names_do_not),
        cmocka_unit_test(inner_classes_are_named_both_ways),
        cmocka_unit_test(rates_are_read),
        cmocka_unit_test(kinds_of_memory_are_read),
        cmocka_unit_test(losses_are_chosen),
        cmocka_unit_test(the_choice_is_named),
    };
    return cmocka_run_group_tests_name("render_choice", tests, NULL, NULL);
}
