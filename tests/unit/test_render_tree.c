/* link: bbf_render bbf_trie bbf_core */
/*
 * What golden files do not show of the tree: very deep paths, what is kept where not all is shown,
 * and that the order of rows in the snapshot is not the order of lines.
 */
#include "core/buf.h"
#include "core/err.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The text before the tree has its own test. */
static void skip_divergences(struct bbf_buf *text)
{
    static const char title[] = "Where lives are lost:\n";
    const char *at = strstr(text->data, title), *end = at != NULL ? strstr(at, "\n\n") : NULL;
    if (end == NULL)
        return;
    size_t from = (size_t)(at - text->data), to = (size_t)(end + 2 - text->data);
    memmove(text->data + from, text->data + to, text->len + 1 - to);
    text->len -= to - from;
}

static void render(struct bbf_buf *text, struct bbf_snapshot *s, enum bbf_format format,
                   size_t max_lines)
{
    struct bbf_render_options options = {.max_lines = max_lines};
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_render(text, s, format, &options), 0);
    bbf_snapshot_free(s);
    bbf_buf_cstr(text);
    skip_divergences(text);
}

static size_t count_of(const struct bbf_buf *text, const char *word)
{
    size_t count = 0;
    const char *end = text->data + text->len;
    /* Not strstr(): a sanitizer makes it look at all of the text each time. */
    for (const char *p = text->data; (p = memmem(p, (size_t)(end - p), word, strlen(word))) != NULL;
         p += strlen(word))
        count++;
    return count;
}

/* The line that contains `word`, without its end. */
static char *line_of(const struct bbf_buf *text, const char *word)
{
    const char *at = strstr(text->data, word);
    if (at == NULL)
        fail_msg("no %s in:\n%s", word, text->data);
    const char *start = at;
    while (start > text->data && start[-1] != '\n')
        start--;
    return sample_memory(strndup(start, strcspn(start, "\n")));
}

static void assert_line(const struct bbf_buf *text, const char *word, const char *expected)
{
    char *line = line_of(text, word);
    assert_string_equal(line, expected);
    free(line);
}

static void a_path_of_ten_thousand_steps_is_shown_whole(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    char expected[600], indent[256] = "";

    render(&text, sample_deep(), BBF_FORMAT_TREE, 0);
    /* Totals, a line for each of the nodes, nothing left out. */
    assert_int_equal(count_of(&text, "\n"), 1 + SAMPLE_DEPTH + 1);
    assert_int_equal(count_of(&text, "not shown"), 0);
    assert_line(&text, "step0 ", "ROOT: Deep.step0 [count=7]");
    assert_line(&text, "step2 ", "    └── Deep.step2 [ref=1, count=0]");
    for (int i = 0; i < 60; i++)
        strcat(indent, "    ");
    snprintf(expected, sizeof expected, "%s└── Deep.step61 [ref=1, count=0]", indent);
    assert_line(&text, "step61 ", expected);
    snprintf(expected, sizeof expected, "(+1) %s└── Deep.step62 [ref=1, count=0]", indent);
    assert_line(&text, "step62 ", expected);
    snprintf(
        expected, sizeof expected,
        "(+4939) %s└── Deep.step5000 [ref=1, count=1] ⚠️ LEAK 1 (10 B heap) oldest 1 s",
        indent);
    assert_line(&text, "step5000 ", expected);
    /* The last levels of the indentation still tell which line hangs on which. */
    snprintf(expected, sizeof expected, "(+9937) %s├── Deep.step9998 [ref=1, count=0]", indent);
    assert_line(&text, "step9998 ", expected);
    indent[59 * 4] = '\0';
    snprintf(expected, sizeof expected,
             "(+9938) %s│   └── Deep.step9999 [ref=1, count=5] 🚨 LEAK 5 (50 B direct) oldest 1 s",
             indent);
    assert_line(&text, "step9999 ", expected);
    assert_true(text.len < (size_t)SAMPLE_DEPTH * 400);
    bbf_buf_free(&text);
}

static void a_deep_path_keeps_both_ends_in_one_line(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;

    render(&text, sample_deep(), BBF_FORMAT_LLM, 0);
    assert_non_null(strstr(text.data, "Deep.step9[ref=1] -> [9910 steps left out] -> "
                                      "Deep.step9920[ref=1] -> "));
    assert_non_null(strstr(text.data, "Deep.step9998[ref=1] -> Deep.step9999[ref=1]\n"));
    bbf_buf_free(&text);
    render(&text, sample_deep(), BBF_FORMAT_SUMMARY, 0);
    assert_non_null(strstr(text.data, "  Deep.step0 -> Deep.step1 -> Deep.step2 -> Deep.step3 -> "
                                      "[9988 steps] -> Deep.step9992 -> "));
    bbf_buf_free(&text);
}

/* Ten forks of 30 ways each, none of them rare; the last way of each fork loses one life. */
static struct bbf_snapshot *sample_forks(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    char method[32];

    for (unsigned i = 0; i < 10; i++) {
        snprintf(method, sizeof method, "fork%u", i);
        int64_t fork = sample_step(s, root, "com.app.Wide", method);
        for (unsigned way = 0; way < 30; way++) {
            snprintf(method, sizeof method, "path%u%02u", i, way);
            int64_t node = sample_step(s, fork, "com.app.Wide", method);
            if (way == 29)
                sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 16, 1);
            sample_release(s, node, "io.netty.buffer.PooledUnsafeDirectByteBuf",
                           1000 - 30 * i - way);
        }
    }
    return s;
}

static void a_cut_tree_shows_every_leak_and_says_what_is_missing(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;

    render(&text, sample_forks(), BBF_FORMAT_TREE, 100);
    assert_int_equal(count_of(&text, "🚨 LEAK 1 (16 B direct)"), 10);
    /* The root, 10 forks, 10 lines with lost lives; the rest are ways, the largest first, each with
     * its release. */
    assert_int_equal(count_of(&text, "release [ref=0"), 40);
    assert_line(&text, "path000 ", "│   ├── Wide.path000 [ref=1, count=0]");
    assert_line(&text, "path029 ",
                "│   └── Wide.path029 [ref=1, count=1] 🚨 LEAK 1 (16 B direct) oldest 1 s");
    /* The release behind this one is left out, as its line says. */
    assert_line(&text, "path929 ",
                "    └── Wide.path929 [ref=1, count=1] 🚨 LEAK 1 (16 B direct) oldest 1 s (+1 not "
                "shown)");
    assert_line(&text, "fork9 ", "└── Wide.fork9 [ref=1, count=0] (+29 not shown)");
    assert_line(&text, "left out",
                "(260 of 300 leaf lines left out, 511 lines in all; no leak is among them: --all "
                "shows them)");
    bbf_buf_free(&text);
}

/* 300 ways from one step, each taken by less than a hundredth of its lives. */
static void where_lives_are_lost_rare_ways_and_clean_roots_are_hidden(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s = sample_wide();
    int64_t clean = sample_step(s, -1, "com.app.Clean", "heapBuffer");
    sample_release(s, clean, "io.netty.buffer.UnpooledHeapByteBuf", 1000000);
    int64_t open = sample_step(s, -1, "com.app.Open", "heapBuffer");
    s->nodes[open].live_ = 1;

    render(&text, s, BBF_FORMAT_TREE, 1000);
    assert_int_equal(count_of(&text, "🚨 LEAK 1 (16 B direct)"), 4);
    assert_int_equal(count_of(&text, "⏳ AGED 1 (16 B direct)"), 1);
    assert_int_equal(count_of(&text, "path000 "), 0);
    assert_int_equal(count_of(&text, "Clean.heapBuffer"), 0);
    assert_line(&text, "Open.heapBuffer ", "ROOT: Open.heapBuffer [count=1] live 1 (0 B)");
    /* What path251 did not lose is not rare there. */
    assert_line(&text, "path251 ",
                "├── Wide.path251 [ref=1, count=1] 🚨 LEAK 1 (16 B direct) oldest 1 s");
    assert_int_equal(count_of(&text, "release [ref=0"), 1);
    assert_line(&text, "ROOT: Pooled",
                "ROOT: PooledByteBufAllocator.directBuffer [count=252002] (+295 not shown)");
    assert_line(&text, "left out",
                "(296 of 302 leaf lines left out, 592 lines in all; no leak is among them: --all "
                "shows them)");
    bbf_buf_free(&text);
}

static void where_nothing_is_lost_nothing_is_hidden(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s = sample_wide();

    for (size_t i = 0; i < s->n_nodes; i++)
        s->nodes[i].leaked_ = s->nodes[i].leaked_bytes_ = s->nodes[i].aged_ = 0;
    s->n_leaks = 0;
    render(&text, s, BBF_FORMAT_TREE, 1000);
    assert_int_equal(count_of(&text, "left out"), 0);
    assert_int_equal(count_of(&text, "release [ref=0"), 296);
    bbf_buf_free(&text);
}

/* Leaks are shown though there are more of them than lines. */
static void a_cut_to_one_line_still_shows_every_leak(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;

    render(&text, sample_wide(), BBF_FORMAT_TREE, 1);
    assert_int_equal(count_of(&text, "LEAK 1"), 4);
    assert_int_equal(count_of(&text, "AGED 1"), 1);
    assert_int_equal(count_of(&text, "release [ref=0"), 0);
    bbf_buf_free(&text);
    render(&text, sample_interior(), BBF_FORMAT_TREE, 1);
    assert_int_equal(count_of(&text, "left out"), 0);
    bbf_buf_free(&text);
}

static void a_tree_that_fits_is_not_cut(void **state)
{
    (void)state;
    struct bbf_buf all = BBF_BUF_INIT, cut = BBF_BUF_INIT;

    render(&all, sample_forks(), BBF_FORMAT_TREE, 0);
    render(&cut, sample_forks(), BBF_FORMAT_TREE, 611);
    assert_int_equal(count_of(&all, "ref="), 10 + 300 + 300);
    assert_int_equal(all.len, cut.len);
    assert_memory_equal(all.data, cut.data, all.len);
    bbf_buf_free(&all);
    render(&all, sample_forks(), BBF_FORMAT_TREE, 610);
    assert_int_equal(count_of(&all, "release [ref=0"), 298);
    assert_line(
        &all, "left out",
        "(2 of 300 leaf lines left out, 3 lines in all; no leak is among them: --all shows them)");
    bbf_buf_free(&all);
    bbf_buf_free(&cut);
}

/* 60 turns of a loop, a release behind each: too many lines, but few methods. */
static void loops_are_folded_where_there_are_too_many_lines(void **state)
{
    (void)state;
    for (size_t max = 0; max <= 50; max += 50) {
        struct bbf_buf text = BBF_BUF_INIT;
        struct bbf_snapshot *s = sample_new();
        int64_t at = sample_step(s, -1, "x.Alloc", "heapBuffer");
        uint32_t a = sample_site(s, "x.Loop", "a", "", BBF_SITE_ENTER);
        uint32_t release = sample_site(s, "x.Buffer", "release", "", BBF_SITE_RELEASE);
        for (int turn = 0; turn < 60; turn++) {
            at = sample_node(s, at, a, turn % 2 == 0 ? BBF_REF_1_2 : BBF_REF_3_5);
            int64_t end = sample_node(s, at, release, BBF_REF_0);
            s->nodes[end].released_ = 2;
        }
        sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 3, 30, 1);
        render(&text, s, BBF_FORMAT_TREE, max);
        assert_int_equal(count_of(&text, "Loop.a"), max == 0 ? 60 : 1);
        if (max != 0)
            assert_string_equal(
                strstr(text.data, "ROOT"),
                "ROOT: Alloc.heapBuffer [count=123]\n"
                "└── Loop.a [ref=1, count=3] (loop) ⚠️ LEAK 3 (30 B heap) oldest 1 s\n"
                "    └── Buffer.release [ref=0, count=120]\n"
                "(loops are folded: 121 lines became 3; each life is counted where it ended. --all "
                "shows every turn)\n");
        bbf_buf_free(&text);
    }
}

/* Children by lives that passed, then by name, whatever the order of rows and sites. */
static void lines_are_ordered_by_lives_then_by_name(void **state)
{
    (void)state;
    static const char *const methods[] = {"c", "a", "d", "b"};
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s = sample_new();

    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    for (size_t i = 0; i < 4; i++) {
        int64_t node = sample_step(s, root, "x.Y", methods[i]);
        s->nodes[node].released_ = methods[i][0] == 'd' ? 2 : 1;
    }
    int64_t other = sample_step(s, -1, "x.Other", "heapBuffer");
    s->nodes[other].released_ = 9;
    render(&text, s, BBF_FORMAT_TREE, 0);
    assert_string_equal(text.data, "14 lives: 14 released, 0 live, 0 leaked\n"
                                   "ROOT: Other.heapBuffer [count=9] released 9\n"
                                   "ROOT: Alloc.heapBuffer [count=5]\n"
                                   "├── Y.d [ref=1, count=2] released 2\n"
                                   "├── Y.a [ref=1, count=1] released 1\n"
                                   "├── Y.b [ref=1, count=1] released 1\n"
                                   "└── Y.c [ref=1, count=1] released 1\n");
    bbf_buf_free(&text);
}

static void no_leaks_is_said_once(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;

    render(&text, sample_loops(), BBF_FORMAT_SUMMARY, 0);
    assert_int_equal(count_of(&text, "No leaks detected\n"), 1);
    bbf_buf_free(&text);
    render(&text, sample_interior(), BBF_FORMAT_SUMMARY, 0);
    assert_int_equal(count_of(&text, "No leaks detected"), 0);
    bbf_buf_free(&text);
}

/* What bbf_snapshot_finish() refuses no format renders. */
static void what_does_not_hang_together_is_not_rendered(void **state)
{
    (void)state;
    static const enum bbf_format formats[] = {
#define XX(id, name, extension, flags) BBF_FORMAT_##id,
        BBF_FORMATS(XX)
#undef XX
    };
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct bbf_buf text = BBF_BUF_INIT;
        struct bbf_snapshot *s = sample_interior();
        s->nodes[1].site = 99;
        assert_int_equal(bbf_render(&text, s, formats[f], NULL), BBF_EFORMAT);
        bbf_snapshot_free(s);
        s = sample_interior();
        s->nodes[1].parent = s->nodes[2].id;
        assert_int_equal(bbf_render(&text, s, formats[f], NULL), BBF_EFORMAT);
        assert_int_equal(text.len, 0);
        bbf_snapshot_free(s);
        bbf_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_of_ten_thousand_steps_is_shown_whole),
        cmocka_unit_test(a_deep_path_keeps_both_ends_in_one_line),
        cmocka_unit_test(a_cut_tree_shows_every_leak_and_says_what_is_missing),
        cmocka_unit_test(where_lives_are_lost_rare_ways_and_clean_roots_are_hidden),
        cmocka_unit_test(where_nothing_is_lost_nothing_is_hidden),
        cmocka_unit_test(a_cut_to_one_line_still_shows_every_leak),
        cmocka_unit_test(a_tree_that_fits_is_not_cut),
        cmocka_unit_test(loops_are_folded_where_there_are_too_many_lines),
        cmocka_unit_test(lines_are_ordered_by_lives_then_by_name),
        cmocka_unit_test(no_leaks_is_said_once),
        cmocka_unit_test(what_does_not_hang_together_is_not_rendered),
    };
    return cmocka_run_group_tests_name("render_tree", tests, NULL, NULL);
}
