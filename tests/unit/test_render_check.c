/* link: bbf_render bbf_snapshot bbf_core */
/*
 * Rates and their intervals against published values, leaks of two snapshots by id, the rules of a
 * check, and that no name can break a format that carries it.
 */
#include "core/buf.h"
#include "render/check.h"
#include "render/check_json.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";

/* ---- Rates ----------------------------------------------------------------------------------- */

static void near(double is, double expected)
{
    if (fabs(is - expected) > 0.00006)
        fail_msg("%.6f, not %.6f", is, expected);
}

/* Newcombe 1998 (Statistics in Medicine 17, 857): Wilson's interval without continuity correction
 * for 81 of 263, 15 of 148, 0 of 20, 1 of 29. */
static void a_rate_has_wilsons_interval(void **state)
{
    (void)state;
    static const struct {
        uint64_t lost, passed;
        double low, high;
    } known[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611},
                 {1, 29, 0.0061, 0.1718},   {0, 10, 0, 0.2775},        {1, 1, 0.2065, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bbf_interval rate = bbf_rate_of(known[i].lost, known[i].passed, 0);
        near(rate.low, known[i].low);
        near(rate.high, known[i].high);
        near(rate.at, (double)known[i].lost / (double)known[i].passed);
    }
    const struct bbf_interval none = bbf_rate_of(0, 0, 0), more = bbf_rate_of(3, 2, 0);
    assert_true(none.at == 0 && none.low == 0 && none.high == 1);
    assert_true(more.at == 1 && more.high == 1);
    /* Scaled counts of a sample: the interval of the ten that were followed, not of a thousand. */
    const struct bbf_interval sampled = bbf_rate_of(0, 1000, 100);
    near(sampled.high, 0.2775);
}

/* The same author's second paper (873), table II, method 10. */
static void a_difference_has_newcombes_interval(void **state)
{
    (void)state;
    static const struct {
        uint64_t lost, passed, lost_before, passed_before;
        double low, high;
    } known[] = {{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090},
                 {6, 7, 2, 7, 0.0582, 0.8062},     {5, 56, 0, 29, -0.0381, 0.1926},
                 {0, 10, 0, 20, -0.1611, 0.2775},  {0, 10, 0, 10, -0.2775, 0.2775},
                 {10, 10, 0, 20, 0.6791, 1},       {10, 10, 0, 10, 0.6075, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bbf_interval now = bbf_rate_of(known[i].lost, known[i].passed, 0);
        const struct bbf_interval before =
            bbf_rate_of(known[i].lost_before, known[i].passed_before, 0);
        const struct bbf_interval change = bbf_rate_change(&before, &now);
        near(change.low, known[i].low);
        near(change.high, known[i].high);
    }
}

static void assert_rate_text(double share, const char *expected)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_rate_text(&text, share, true);
    assert_string_equal(bbf_buf_cstr(&text), expected);
    bbf_buf_free(&text);
}

static void a_rate_is_text(void **state)
{
    (void)state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is there */
    assert_rate_text(0, "0");
    assert_rate_text(1, "+1000");
    assert_rate_text(-1, "-1000");
    assert_rate_text(0.0961538, "+96.2");
    assert_rate_text(0.00117, "+1.17");
    assert_rate_text(0.0000412, "+0.0412");
    assert_rate_text(0.00000000041, "0");
    assert_rate_text(-0.00000123, "-0.00123");
    (void)setlocale(LC_ALL, "C");
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* root -> reader -> end: `lost` of `passed` are lost at `end`, the others released by reader. */
static struct bbf_snapshot *losing(const char *end, uint64_t lost, uint64_t passed)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    int64_t reader = sample_step(s, root, "com.app.Reader", "read");

    sample_release(s, reader, "x.Buffer", passed - lost);
    if (lost > 0)
        sample_leak(s, sample_step(s, reader, "com.app.Cart", end), BBF_VERDICT_LEAKED,
                    BBF_MEM_DIRECT, lost, 100 * lost, 1);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    return s;
}

struct answer {
    struct bbf_buf text;
    bool is_broken;
};

static struct answer ask(struct bbf_snapshot *before, struct bbf_snapshot *now,
                         struct bbf_check_rules rules, enum bbf_format format)
{
    struct answer answer = {.text = BBF_BUF_INIT};
    const struct bbf_render_options options = {.check = &rules};

    rules.baseline = before;
    if (format == BBF_FORMAT_JSON)
        assert_int_equal(bbf_check_json(&answer.text, now, &rules), 0);
    else
        assert_int_equal(bbf_render(&answer.text, now, format, &options), 0);
    answer.is_broken = rules.is_broken;
    return answer;
}

/* Free the snapshots; expect the verdict, and that the text has `part`. */
static void expect(struct bbf_snapshot *before, struct bbf_snapshot *now,
                   const struct bbf_check_rules *rules, bool broken, const char *part)
{
    struct bbf_check_rules all = rules != NULL ? *rules : bbf_check_defaults();
    struct answer answer = ask(before, now, all, BBF_FORMAT_CHECK);

    if (strstr(bbf_buf_cstr(&answer.text), part) == NULL || answer.is_broken != broken)
        fail_msg("%s, without '%s':\n%s", answer.is_broken ? "broken" : "kept", part,
                 bbf_buf_cstr(&answer.text));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(before);
    bbf_snapshot_free(now);
}

static void what_counts_is_the_rate(void **state)
{
    (void)state;
    expect(losing("total", 10, 1000), losing("total", 20, 2000), NULL, false,
           "unchanged leak: 20 of 2000");
    expect(losing("total", 10, 1000), losing("total", 10, 1000), NULL, false, "unchanged leak");
    expect(losing("total", 10, 1000), losing("total", 40, 1000), NULL, true,
           "max-worse 0 is broken: 1 leak worse than in the baseline");
    expect(losing("total", 40, 1000), losing("total", 10, 1000), NULL, false, "better leak");
    /* 1 of 10 beside 0.5 of 10 says nothing. */
    expect(losing("total", 1, 20), losing("total", 1, 10), NULL, false, "unchanged leak");
    expect(losing("total", 10, 1000), losing("total", 0, 1000), NULL, false, "gone leak");
}

/* Sure, but not much: 1.00 % and 1.05 % of ten million. */
static void a_small_change_is_tolerated(void **state)
{
    (void)state;
    struct bbf_check_rules strict = bbf_check_defaults();

    strict.tolerance = 0;
    expect(losing("total", 100000, 10000000), losing("total", 105000, 10000000), NULL, false,
           "unchanged leak");
    expect(losing("total", 100000, 10000000), losing("total", 105000, 10000000), &strict, true,
           "worse leak");
}

static void a_new_leak_fails_and_a_known_one_does_not(void **state)
{
    (void)state;
    struct bbf_check_rules few = bbf_check_defaults();

    expect(NULL, losing("total", 1, 1000), NULL, true, "max-leaked 0 is broken: 1 life leaked");
    expect(NULL, losing("total", 0, 1000), NULL, false, "passed: 2 rules are kept");
    expect(losing("other", 5, 1000), losing("total", 1, 1000), NULL, true, "new leak: 1 of 1000");
    few.limits[BBF_RULE_MAX_LEAKED] = 3;
    expect(losing("other", 5, 1000), losing("total", 3, 1000), &few, false, "new leak: 3 of 1000");
    expect(losing("other", 5, 1000), losing("total", 4, 1000), &few, true, "4 lives leaked");
    few.limits[BBF_RULE_MAX_LEAKED_BYTES] = 299;
    expect(losing("other", 5, 1000), losing("total", 3, 1000), &few, true,
           "max-leaked-bytes 299 B is broken: 300 B leaked");
}

static void a_rate_must_surely_be_above(void **state)
{
    (void)state;
    struct bbf_check_rules rules = bbf_check_defaults();

    rules.limits[BBF_RULE_MAX_LEAKED] = BBF_NO_LIMIT;
    rules.limits[BBF_RULE_MAX_RATE] = 50 * UINT64_C(1000000); /* 50 per 1,000 */
    expect(NULL, losing("total", 1, 10), &rules, false, "max-rate 50 is kept");
    expect(NULL, losing("total", 100, 1000), &rules, true,
           "max-rate 50 is broken: 1 leak above 50 per 1,000");
}

static void nothing_seen_is_no_proof(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();

    assert_int_equal(bbf_snapshot_finish(s), 0);
    expect(NULL, s, NULL, true, "min-lives 1 is broken: 0 lives followed");
}

/* The bug is named by the step that lost most, which differs: its rows have ids in common. */
static void a_bug_is_known_by_any_of_its_ends(void **state)
{
    (void)state;
    struct bbf_snapshot *s[2];

    for (int i = 0; i < 2; i++) {
        s[i] = sample_new();
        int64_t at = sample_step(s[i], -1, pooled, "directBuffer");
        uint32_t a = sample_site(s[i], "com.app.Loop", "a", "", BBF_SITE_ENTER);
        uint32_t b = sample_site(s[i], "com.app.Loop", "b", "", BBF_SITE_ENTER);
        int64_t first = sample_node(s[i], at, a, BBF_REF_1_2);
        int64_t second = sample_node(s[i], first, b, BBF_REF_1_2);
        int64_t third = sample_node(s[i], second, a, BBF_REF_1_2);
        sample_release(s[i], third, "x.Buffer", 1000);
        sample_leak(s[i], second, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, i == 0 ? 9 : 1, 10, 1);
        sample_leak(s[i], third, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, i == 0 ? 1 : 9, 10, 1);
        assert_int_equal(bbf_snapshot_finish(s[i]), 0);
    }
    expect(s[0], s[1], NULL, false, "unchanged leak: 10 of 1010");
}

/* Two Nettys, one relocated, are two origins: lives of both, and those that passed both. */
static void origins_of_one_id_are_added(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    const char *const roots[] = {pooled, "shaded.io.netty.buffer.PooledByteBufAllocator"};

    for (int i = 0; i < 2; i++) {
        int64_t reader =
            sample_step(s, sample_step(s, -1, roots[i], "directBuffer"), "com.app.Reader", "read");
        sample_release(s, reader, "x.Buffer", 9);
        sample_leak(s, sample_step(s, reader, "com.app.Cart", "total"), BBF_VERDICT_LEAKED,
                    BBF_MEM_DIRECT, 1, 10, 1);
    }
    assert_int_equal(bbf_snapshot_finish(s), 0);
    expect(losing("total", 2, 20), s, NULL, false, "before 2 of 20, 100 per 1,000");
    struct bbf_check_rules json = bbf_check_defaults();
    s = sample_new();
    for (int i = 0; i < 2; i++) {
        int64_t root = sample_step(s, -1, roots[i], "directBuffer");
        sample_release(s, root, "x.Buffer", 9);
        sample_leak(s, sample_step(s, root, "com.app.Cart", "total"), BBF_VERDICT_LEAKED,
                    BBF_MEM_DIRECT, 1, 10, 1);
    }
    assert_int_equal(bbf_snapshot_finish(s), 0);
    struct answer answer = ask(NULL, s, json, BBF_FORMAT_JSON);
    assert_non_null(
        strstr(bbf_buf_cstr(&answer.text), "\"leaked\":2,\"aged\":0,\"bytes\":20,\"passed\":20,"));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(s);
}

/* ---- Notes on two snapshots ------------------------------------------------------------------ */

static void set_main(struct bbf_snapshot *s, const char *name)
{
    free(s->jvm.main);
    s->jvm.main = sample_text(name);
}

static void what_cannot_be_compared_is_noted(void **state)
{
    (void)state;
    struct bbf_snapshot *before = losing("total", 1, 10), *now = losing("total", 1, 10);

    set_main(now, "com.other.Main");
    free(now->settings[0].value);
    now->settings[0].value = sample_text("com.other");
    struct answer answer = ask(before, now, bbf_check_defaults(), BBF_FORMAT_CHECK);
    const char *text = bbf_buf_cstr(&answer.text);
    assert_non_null(
        strstr(text, "of another program: main class com.app.Main, now com.other.Main"));
    assert_non_null(strstr(text, "include= differs: 'com.app' in the baseline, 'com.other' now"));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(before);

    before = losing("total", 1, 10);
    before->sites[0].order = 1;
    before->totals.sampled_ = 7;
    before->totals.dropped_lives_ = 3;
    set_main(before, "/a/target/surefire/surefirebooter20260101_3.jar");
    set_main(now, "/b/target/surefire/surefirebooter20261124-7.jar");
    answer = ask(before, now, bbf_check_defaults(), BBF_FORMAT_CHECK);
    text = bbf_buf_cstr(&answer.text);
    assert_non_null(strstr(text, "the baseline is redacted"));
    assert_non_null(strstr(text, "one life in 7 in the baseline, one in 1 now"));
    assert_non_null(strstr(text, "the baseline reached a limit: 3 buffers were not followed"));
    assert_null(strstr(text, "another program"));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(before);
    bbf_snapshot_free(now);
}

/* ---- Hostile names --------------------------------------------------------------------------- */

static const char hostile[] = "a\"'<&>]]>`` `%0A::error::x](http://e){0}|**@all\r\n\xEF\xBF\xBE,:";

static struct bbf_snapshot *hostile_snapshot(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");

    sample_leak(s, sample_step(s, root, hostile, hostile), BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 1,
                1);
    sample_string(&s->notes, &s->n_notes, hostile);
    set_main(s, hostile);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    return s;
}

static const char *a_file(void *ctx, const char *class_name)
{
    (void)ctx;
    (void)class_name;
    return "src/a,b:c%\n/X.java";
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

static void no_name_breaks_a_workflow_command(void **state)
{
    (void)state;
    struct bbf_snapshot *s = hostile_snapshot();
    struct bbf_check_rules rules = bbf_check_defaults();

    rules.source = a_file;
    struct answer answer = ask(NULL, s, rules, BBF_FORMAT_GITHUB);
    char *text = sample_text(bbf_buf_cstr(&answer.text)), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        assert_true(strncmp(line, "::error ", 8) == 0 || strncmp(line, "::notice ", 9) == 0);
        for (const char *p = strchr(line, '%'); p != NULL; p = strchr(p + 1, '%'))
            assert_true(strncmp(p, "%25", 3) == 0 || strncmp(p, "%0A", 3) == 0 ||
                        strncmp(p, "%3A", 3) == 0 || strncmp(p, "%2C", 3) == 0);
    }
    assert_non_null(strstr(bbf_buf_cstr(&answer.text),
                           "::error file=src/a%2Cb%3Ac%25%0A/X.java,title=ByteBuf leak in "));
    assert_null(strstr(bbf_buf_cstr(&answer.text), "title=ByteBuf leak in a\"'<&>]]>`` `%0A"));
    free(text);
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(s);
}

static void no_name_breaks_xml(void **state)
{
    (void)state;
    struct bbf_snapshot *s = hostile_snapshot();
    struct answer answer = ask(NULL, s, bbf_check_defaults(), BBF_FORMAT_JUNIT);
    const char *text = bbf_buf_cstr(&answer.text);

    assert_int_equal(count_of(text, "<testcase "), 3);
    assert_int_equal(count_of(text, "</testcase>"), 3);
    assert_null(strstr(text, "'<"));
    assert_non_null(strstr(text, "a&quot;&apos;&lt;&amp;&gt;]]&gt;"));
    assert_null(strstr(text, "\xEF\xBF\xBE"));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(s);
}

/* Each name is in a code span whose fence is longer than its backticks. */
static void no_name_breaks_markdown(void **state)
{
    (void)state;
    struct bbf_snapshot *s = hostile_snapshot();
    struct answer answer = ask(NULL, s, bbf_check_defaults(), BBF_FORMAT_MARKDOWN);
    char *text = sample_text(bbf_buf_cstr(&answer.text)), *rest = text;

    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *name = strstr(line, "@all");
        if (name == NULL)
            continue;
        const char *fence = strstr(line, "``` ");
        assert_true(fence != NULL && fence < name);
        assert_string_equal(line + strlen(line) - 4, " ```");
    }
    assert_int_equal(count_of(bbf_buf_cstr(&answer.text), "@all"), 6);
    free(text);
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(s);
}

static void no_name_is_a_link_in_sarif(void **state)
{
    (void)state;
    struct bbf_snapshot *s = hostile_snapshot();
    struct answer answer = ask(NULL, s, bbf_check_defaults(), BBF_FORMAT_SARIF);
    const char *text = bbf_buf_cstr(&answer.text);

    for (const char *p = text; (p = strstr(p, "\"text\":")) != NULL; p++) {
        size_t len = strcspn(p, "\n");
        const char *link = memmem(p, len, "](http", 6), *zero = memmem(p, len, "{0}", 3);
        if (link != NULL)
            assert_true(link[-1] == '\\');
        if (zero != NULL)
            assert_true(zero[-1] == '{');
    }
    assert_non_null(strstr(text, "](http"));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(s);
}

/* 20,000 leaks: a comment stays below its limit, annotations are ten, and the rest is counted. */
static void many_leaks_are_cut_and_counted(void **state)
{
    (void)state;
    enum { LEAKS = 20000 };
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, pooled, "directBuffer");
    char name[32];

    sample_release(s, root, "x.Buffer", 1);
    for (int i = 0; i < LEAKS; i++) {
        snprintf(name, sizeof name, "m%d", i);
        sample_leak(s, sample_step(s, root, "com.app.Many", name), BBF_VERDICT_LEAKED,
                    BBF_MEM_DIRECT, 1, 1, 1);
    }
    assert_int_equal(bbf_snapshot_finish(s), 0);
    struct answer answer = ask(NULL, s, bbf_check_defaults(), BBF_FORMAT_MARKDOWN);
    assert_true(answer.text.len < 65536);
    assert_non_null(strstr(bbf_buf_cstr(&answer.text), " more leaks\n"));
    bbf_buf_free(&answer.text);
    answer = ask(NULL, s, bbf_check_defaults(), BBF_FORMAT_GITHUB);
    assert_int_equal(count_of(bbf_buf_cstr(&answer.text), "::error "), 10);
    assert_non_null(strstr(bbf_buf_cstr(&answer.text), "::19992 more leaks"));
    bbf_buf_free(&answer.text);
    answer = ask(NULL, s, bbf_check_defaults(), BBF_FORMAT_JUNIT);
    assert_int_equal(count_of(bbf_buf_cstr(&answer.text), "<testcase "), 5002);
    assert_non_null(strstr(bbf_buf_cstr(&answer.text), "tests=\"5002\" failures=\"5001\""));
    bbf_buf_free(&answer.text);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_has_wilsons_interval),
        cmocka_unit_test(a_difference_has_newcombes_interval),
        cmocka_unit_test(a_rate_is_text),
        cmocka_unit_test(what_counts_is_the_rate),
        cmocka_unit_test(a_small_change_is_tolerated),
        cmocka_unit_test(a_new_leak_fails_and_a_known_one_does_not),
        cmocka_unit_test(a_rate_must_surely_be_above),
        cmocka_unit_test(nothing_seen_is_no_proof),
        cmocka_unit_test(a_bug_is_known_by_any_of_its_ends),
        cmocka_unit_test(origins_of_one_id_are_added),
        cmocka_unit_test(what_cannot_be_compared_is_noted),
        cmocka_unit_test(no_name_breaks_a_workflow_command),
        cmocka_unit_test(no_name_breaks_xml),
        cmocka_unit_test(no_name_breaks_markdown),
        cmocka_unit_test(no_name_is_a_link_in_sarif),
        cmocka_unit_test(many_leaks_are_cut_and_counted),
    };
    return cmocka_run_group_tests_name("render_check", tests, NULL, NULL);
}
