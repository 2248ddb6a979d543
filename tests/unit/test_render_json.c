/* link: bbf_render bbf_trie bbf_core */
/*
 * bbflow-snapshot/1: a written document is read back unchanged; one that is not a snapshot, ends
 * too early or does not add up is refused with the place and the reason.
 */
#include "core/buf.h"
#include "core/err.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void write_sample(struct bbf_buf *text, struct bbf_snapshot *(*make)(void))
{
    struct bbf_snapshot *s = make();
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_render(text, s, BBF_FORMAT_JSON, NULL), 0);
    bbf_snapshot_free(s);
}

static void written_read_and_written_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct bbf_buf first = BBF_BUF_INIT, second = BBF_BUF_INIT;
        struct bbf_snapshot *back;
        char why[200];
        write_sample(&first, samples[i].make);
        int err = bbf_snapshot_from_json(&back, first.data, first.len, why, sizeof why);
        if (err != 0)
            fail_msg("%s: %s", samples[i].name, why);
        assert_int_equal(bbf_render(&second, back, BBF_FORMAT_JSON, NULL), 0);
        assert_int_equal(first.len, second.len);
        assert_memory_equal(first.data, second.data, first.len);
        bbf_snapshot_free(back);
        bbf_buf_free(&first);
        bbf_buf_free(&second);
    }
}

/* Rows that bbflow wrote are read without json-c; with a space in them they are not. Both ways must
 * read the same. */
static void rows_mean_the_same_with_spaces_in_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct bbf_buf plain = BBF_BUF_INIT, spaced = BBF_BUF_INIT, again = BBF_BUF_INIT;
        struct bbf_snapshot *s;
        char why[200];
        write_sample(&plain, samples[i].make);
        for (size_t at = 0; at < plain.len; at++) {
            bbf_buf_char(&spaced, plain.data[at]);
            if (plain.data[at] == '{' && plain.data[at + 1] == '"')
                bbf_buf_char(&spaced, ' ');
        }
        assert_int_equal(bbf_snapshot_from_json(&s, spaced.data, spaced.len, why, sizeof why), 0);
        assert_int_equal(bbf_render(&again, s, BBF_FORMAT_JSON, NULL), 0);
        assert_int_equal(plain.len, again.len);
        assert_memory_equal(plain.data, again.data, plain.len);
        bbf_snapshot_free(s);
        bbf_buf_free(&plain);
        bbf_buf_free(&spaced);
        bbf_buf_free(&again);
    }
}

/* Not only equal bytes: the numbers and strings are those that were put in. */
static void members_come_back_as_they_were(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s;
    char why[200];

    write_sample(&text, sample_escapes);
    assert_int_equal(bbf_snapshot_from_json(&s, text.data, text.len, why, sizeof why), 0);
    assert_int_equal(s->captured_at_ms, INT64_C(1795291477123));
    assert_int_equal(s->jvm.pid, 4711);
    assert_string_equal(s->jvm.main, "com.app.Main");
    assert_string_equal(s->jvm.netty[0], "4.1.140.Final io.netty");
    assert_string_equal(s->settings[1].value, "/tmp/\"x\"-\xC3\xA9.json");
    assert_int_equal(s->limits[0].limit, 1000000);
    assert_string_equal(s->notes[0], "quote \" backslash \\ newline \n tab \t bell \a end");
    assert_string_equal(s->sites[1].method, "l\x1B[31mred");
    assert_string_equal(s->sites[2].class_name,
                        "com.app.Bad\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                        "\xEF\xBF\xBDUTF8");
    assert_int_equal(s->nodes[3].id, 104);
    assert_int_equal(s->nodes[3].parent, 103);
    assert_int_equal(s->nodes[3].site, 3);
    assert_int_equal(s->leaks[0].node, 3);
    assert_int_equal(s->leaks[0].bytes, UINT64_C(1) << 40);
    bbf_snapshot_free(s);
    bbf_buf_free(&text);
}

static void numbers_use_all_64_bits(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_interior(), *back;
    struct bbf_buf text = BBF_BUF_INIT;
    char why[200];

    s->nodes[2].live_bytes_ = UINT64_MAX;
    s->totals.misuse_ = (UINT64_C(1) << 63) + 1;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_render(&text, s, BBF_FORMAT_JSON, NULL), 0);
    assert_int_equal(bbf_snapshot_from_json(&back, text.data, text.len, why, sizeof why), 0);
    assert_true(back->nodes[2].live_bytes_ == UINT64_MAX);
    assert_true(back->totals.misuse_ == (UINT64_C(1) << 63) + 1);
    bbf_snapshot_free(s);
    bbf_snapshot_free(back);
    bbf_buf_free(&text);
}

/* The document with the first `from` replaced by `to`. */
static void replace(struct bbf_buf *text, const char *from, const char *to)
{
    struct bbf_buf changed = BBF_BUF_INIT;
    const char *at = strstr(bbf_buf_cstr(text), from);
    if (at == NULL)
        fail_msg("the sample has no %s", from);
    bbf_buf_add(&changed, text->data, (size_t)(at - text->data));
    bbf_buf_str(&changed, to);
    bbf_buf_str(&changed, at + strlen(from));
    bbf_buf_free(text);
    *text = changed;
}

static int read_why(const struct bbf_buf *text, char *why, size_t size)
{
    struct bbf_snapshot *s;
    int err = bbf_snapshot_from_json(&s, text->data, text->len, why, size);
    if (err != 0)
        assert_null(s);
    bbf_snapshot_free(s);
    return err;
}

static void a_wrong_document_is_refused_with_place_and_reason(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why;
        int err;
    } cases[] = {
        {"{\"schema\"", "[\"schema\"", "at byte 0: '{' is expected here", BBF_EFORMAT},
        {"bbflow-snapshot/1", "bbflow-snapshot/2", "schema: \"bbflow-snapshot/2\"; this bbflow",
         BBF_EVERSION},
        {"bbflow-snapshot/1", "other/1", "at byte 10: schema: not", BBF_EFORMAT},
        {"\"schema\"", "\"scheme\"", "schema is missing: no bbflow snapshot", BBF_EFORMAT},
        {"2026-11-21T", "2026-11-21 ", "captured_at: no time", BBF_EFORMAT},
        {"\"pid\":4711", "\"pid\":\"4711\"", "jvm.pid: no integer", BBF_EFORMAT},
        {"\"main\"", "\"Main\"", "jvm.main: missing", BBF_EFORMAT},
        {"[\"4.1.140.Final io.netty\"]", "[7]", "jvm.netty: no string", BBF_EFORMAT},
        {"\"include\":\"com.app\"", "\"include\":null", "settings.include: no string", BBF_EFORMAT},
        {"\"hit\":0", "\"hat\":0", "maxNodes.hit: missing", BBF_EFORMAT},
        {"\"notes\":[]", "\"notes\":{}", "notes: no array", BBF_EFORMAT},
        {"\"leaked\":46", "\"leaked\":45", "totals.leaked: 45, but the nodes add up to 46",
         BBF_EFORMAT},
        {"\"kind\":\"enter\"", "\"kind\":\"entry\"", "sites[1].kind: a word", BBF_EFORMAT},
        {"\"id\":10", "\"id\":7", "sites[1].id: a site before it has the same", BBF_EFORMAT},
        {"\"id\":102", "\"id\":101", "nodes[1].id: a node before it has the same", BBF_EFORMAT},
        {"\"parent\":102", "\"parent\":109", "nodes[2].parent: no node before it has the id 109",
         BBF_EFORMAT},
        {"\"parent\":102", "\"parent\":-2", "nodes[2].parent: neither", BBF_EFORMAT},
        {"\"site\":13", "\"site\":14", "nodes[2].site: no site has the id 14", BBF_EFORMAT},
        {"\"ref\":\"1-2\"", "\"ref\":\"1\"", "nodes[0].ref: a word", BBF_EFORMAT},
        {"\"passed\":1045", "\"passed\":1044", "nodes[1].passed: 1044, but its rows add up to 1045",
         BBF_EFORMAT},
        {"\"released\":1000,\"live\":0", "\"released\":1000", "nodes[3].live: missing",
         BBF_EFORMAT},
        {"\"released\":1000,\"live\":0", "\"released\":1000,\"live\":-1", "nodes[3].live: negative",
         BBF_EFORMAT},
        {"\"released\":1000,\"live\":0", "\"released\":1000,\"live\":0.0",
         "nodes[3].live: no integer", BBF_EFORMAT},
        {"\"id\":102", "\"id\":0102", "nodes: ", BBF_EFORMAT},
        {"\"id\":102", "\"id\":4294967296", "nodes[1].id: larger", BBF_EFORMAT},
        {"\"verdict\":\"leaked\"", "\"verdict\":\"lost\"", "leaks[0].verdict: a word", BBF_EFORMAT},
        {"{\"node\":101", "{\"node\":99", "leaks[0].node: no node has the id 99", BBF_EFORMAT},
        {"\"count\":3,", "\"count\":2,", "leaks: does not list each", BBF_EFORMAT},
        {"\"nodes\":[", "\"nodes\":[7,", "nodes: a row that is no object", BBF_EFORMAT},
        {"\"nodes\":[", "\"nodes\":[],\"nodes\":[", "nodes is there twice", BBF_EFORMAT},
        {"\"nodes\":[", "\"nodes\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
         "nodes: nesting too deep", BBF_EFORMAT},
        {"]}\n", "]}\n}", "more text after the end", BBF_EFORMAT},
        {"]}\n", "]\n", "the document ends after a member, where '}' is expected: truncated?",
         BBF_EFORMAT},
    };
    char why[200];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        /* The rows of totals and nodes have members of one name: the first in the text is meant,
         * "]}\n" is at the end only. */
        write_sample(&text, sample_interior);
        replace(&text, cases[i].from, cases[i].to);
        int err = read_why(&text, why, sizeof why);
        if (err != cases[i].err || strstr(why, cases[i].why) == NULL)
            fail_msg("%s for %s: %d \"%s\", not \"%s\"", cases[i].to, cases[i].from, err, why,
                     cases[i].why);
        bbf_buf_free(&text);
    }
}

static void numbers_of_netty_come_back_as_they_were(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s;
    char why[200];

    write_sample(&text, sample_reconciled);
    assert_int_equal(bbf_snapshot_from_json(&s, text.data, text.len, why, sizeof why), 0);
    assert_true(s->reconciled.read);
    assert_int_equal(s->reconciled.n_pools, 4);
    assert_int_equal(s->reconciled.pools[0].netty_lives_, 49);
    assert_int_equal(s->reconciled.pools[1].memory, BBF_MEM_HEAP);
    assert_true(s->reconciled.pools[1].netty_bytes_ == BBF_NOT_TOLD);
    assert_int_equal(s->reconciled.pools[2].pool, BBF_POOL_UNPOOLED);
    assert_int_equal(s->reconciled.nio_buffers_, 3);
    assert_int_equal(s->reconciled.n_causes, 2);
    assert_int_equal(s->reconciled.pools[1].pinned_free_, (16 << 20) - 16384);
    assert_true(s->reconciled.pools[2].pinned_chunks_ == BBF_NOT_TOLD);
    assert_int_equal(s->n_pins, 3);
    assert_int_equal(s->pins[0].node, 2);
    assert_int_equal(s->pins[0].memory, BBF_MEM_HEAP);
    assert_int_equal(s->pins[0].largest, 200);
    assert_int_equal(s->pins[1].pool, BBF_POOL_ADAPTIVE);
    assert_int_equal(s->pins[1].reserved, 131072);
    assert_int_equal(s->usage_of.seconds, 61);
    assert_int_equal(s->usage_of.unlisted, 10 << 20);
    assert_int_equal(s->n_usage, 3);
    assert_int_equal(s->usage[1].node, 2);
    assert_int_equal(s->usage[1].memory, BBF_MEM_HEAP);
    assert_int_equal(s->usage[1].lives, 2000);
    assert_int_equal(s->usage[1].byte_seconds, 60 << 20);
    assert_int_equal(s->usage[0].not_read, 1);
    bbf_snapshot_free(s);
    /* Without it, and without a total of the process: neither was read. */
    replace(&text, ",\"nio_buffers\":3", "");
    assert_int_equal(bbf_snapshot_from_json(&s, text.data, text.len, why, sizeof why), 0);
    assert_true(s->reconciled.nio_buffers_ == BBF_NOT_TOLD);
    bbf_snapshot_free(s);
    replace(&text, "\"reconciled\"", "\"later\"");
    assert_int_equal(bbf_snapshot_from_json(&s, text.data, text.len, why, sizeof why), 0);
    assert_false(s->reconciled.read);
    bbf_snapshot_free(s);
    bbf_buf_free(&text);
}

static void wrong_numbers_of_netty_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"\"reconciled\":{\"pools\"", "\"reconciled\":7,\"x\":{\"pools\"", "reconciled: no object"},
        {"{\"pools\":[", "{\"pools\":[7,", "reconciled.pools[0]: no object"},
        {"{\"pools\":", "{\"pools\":{},\"x\":", "reconciled.pools: no array"},
        {"\"pool\":\"adaptive\"", "\"pool\":\"other\"", "reconciled.pools[3].pool: a word"},
        {"\"pool\":\"adaptive\",\"memory\":\"direct\"",
         "\"pool\":\"adaptive\",\"memory\":\"composite\"", "reconciled.pools[3].memory: a word"},
        {"\"lives\":7,\"bytes\":700", "\"bytes\":700", "reconciled.pools[1]: lives, bytes"},
        {"\"reserved\":131072", "\"reserved\":-1", "reconciled.pools[3].reserved: negative"},
        {"\"used_direct\":", "\"used_direct\":null,\"x\":", "reconciled.used_direct: no integer"},
        {"\"causes\":[", "\"causes\":[7,", "reconciled.causes: no string"},
        {"\"pins\":[\n{\"node\":103", "\"pins\":[\n{\"node\":999", "pins[0].node: no node has"},
        {"\"buffers\":2,", "", "pins[0]"},
        {"\"smallest\":40", "\"smallest\":-40", "pins[0].smallest: negative"},
        {"\"usage_of\":{", "\"usage_of\":7,\"x\":{", "usage_of: no object"},
        {"\"seconds\":61", "\"seconds\":0", "usage_of.seconds: out of range"},
        {",\"unlisted\":10485760", "", "usage_of"},
        {"\"usage_of\"", "\"later\"", "usage: usage_of is missing"},
        {"\"usage\":[\n{\"node\":102", "\"usage\":[\n{\"node\":999", "usage[0].node: no node has"},
        {"\"lives\":2000", "\"lives\":-1", "usage[1].lives: negative"},
        {"102,\"memory\":\"direct\"", "102,\"memory\":\"none\"", "usage[0].memory"},
        {"\"unwritten_byte_seconds\":6291456", "\"unwritten_byte_seconds\":62914561",
         "usage[1].unwritten_byte_seconds: more than"},
    };
    char why[200];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        write_sample(&text, sample_reconciled);
        replace(&text, cases[i].from, cases[i].to);
        int err = read_why(&text, why, sizeof why);
        if (err != BBF_EFORMAT || strstr(why, cases[i].why) == NULL)
            fail_msg("%s: %d \"%s\", not \"%s\"", cases[i].to, err, why, cases[i].why);
        bbf_buf_free(&text);
    }
}

static void wrong_histories_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"\"history\":{", "\"history\":7,\"x\":{", "history: no object"},
        {"\"history\":{", "\"x\":{", "growth: history is missing"},
        {"{\"seconds\":60", "{\"seconds\":0", "history.seconds: out of range"},
        {"{\"seconds\":60", "{\"seconds\":86401", "history.seconds: out of range"},
        {"\"intervals\":60", "\"intervals\":1441", "history.intervals: out of range"},
        {"\"intervals\":60", "\"intervals\":59", "growth[0].lives: more than history.intervals"},
        {"\"current_seconds\":37", "\"current_seconds\":60", "history.current_seconds: not below"},
        {"\"growth\":[\n{\"node\":106", "\"growth\":[\n{\"node\":9", "growth[0].node: no node"},
        {"\"of\":\"held\"", "\"of\":\"seen\"", "growth[2].of: a word"},
        {"\"first\":\"2026", "\"first\":\"x2026", "growth[0].first: no time"},
        {"\"lives\":[120,", "\"lives\":[-1,", "growth[2].lives: negative"},
        {"\"lives\":[120,", "\"lives\":[", "growth[2].lives: no array as long"},
        {"\"lives\":[120,", "\"lives\":7,\"x\":[", "growth[2].lives: no array"},
        {"\"bytes\":[12582912,", "\"bytes\":[\"x\",", "growth[2].bytes: no integer"},
    };
    char why[200];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        write_sample(&text, sample_growth);
        replace(&text, cases[i].from, cases[i].to);
        int err = read_why(&text, why, sizeof why);
        if (err != BBF_EFORMAT || strstr(why, cases[i].why) == NULL)
            fail_msg("%s: %d \"%s\", not \"%s\"", cases[i].to, err, why, cases[i].why);
        bbf_buf_free(&text);
    }
}

static void wrong_contexts_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"\"contexts\":[\n{\"node\":", "\"contexts\":[\n{\"node\":9", "contexts[0].node: no node"},
        {"\"lost_at\":\"2026", "\"lost_at\":\"x2026", "contexts[0].lost_at: no time"},
        {"\"open_seconds\":0", "\"open_seconds\":-1", "contexts[0].open_seconds: negative"},
        {"\"channel\":\"0x1a2b3c4e\"", "\"channel\":7", "contexts[0].channel: no string"},
        {"\"hint_is\":\"handler\"", "\"hint_is\":\"x\"", "contexts[0].hint_is: a word"},
        {"\"hint_is\":\"handler\",", "", "contexts[0].hint: without hint_is"},
        {"\"hint\":\"Cart#0\"", "\"x\":0", "contexts[0].hint: without hint_is"},
        {"\"exception\":\"java.lang", "\"x\":\"java.lang", "contexts[1].caught_in: without"},
    };
    char why[200];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        write_sample(&text, sample_contexts);
        replace(&text, cases[i].from, cases[i].to);
        int err = read_why(&text, why, sizeof why);
        if (err != BBF_EFORMAT || strstr(why, cases[i].why) == NULL)
            fail_msg("%s: %d \"%s\", not \"%s\"", cases[i].to, err, why, cases[i].why);
        bbf_buf_free(&text);
    }
}

static void a_document_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s;
    char why[200];

    write_sample(&text, sample_loops);
    for (size_t len = 0; len + 1 < text.len; len++) {
        /* An exact copy: a sanitizer sees a look beyond the cut. */
        char *cut = sample_memory(malloc(len + 1));
        memcpy(cut, text.data, len);
        cut = sample_memory(realloc(cut, len > 0 ? len : 1));
        assert_int_equal(bbf_snapshot_from_json(&s, cut, len, why, sizeof why), BBF_EFORMAT);
        assert_non_null(strstr(why, "truncated?"));
        free(cut);
    }
    bbf_buf_free(&text);
}

/* The format may grow: members of a later bbflow, and totals that an earlier one did not have. */
static void unknown_members_are_ignored_and_new_totals_are_0(void **state)
{
    (void)state;
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s;
    char why[200];

    write_sample(&text, sample_empty);
    replace(&text, "\"captured_at\"", "\"later\":{\"a\":[1,null,{}]},\"captured_at\"");
    replace(&text, "\"pid\"", "\"host\":\"x\",\"pid\"");
    replace(&text, ",\"internal_errors\":14", ",\"new\":1");
    assert_int_equal(bbf_snapshot_from_json(&s, text.data, text.len, why, sizeof why), 0);
    assert_int_equal(s->totals.internal_errors_, 0);
    assert_int_equal(s->totals.entry_only_methods_, 13);
    bbf_snapshot_free(s);
    bbf_buf_free(&text);
}

static void times_of_other_writers_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } times[] = {{"1970-01-01T00:00:00Z", 0},
                 {"1970-01-01T00:00:00.5Z", 500},
                 {"1970-01-01T01:30:00.123456789+01:30", 123},
                 {"1969-12-31T23:59:59.999Z", -1},
                 {"0000-01-01T00:00:00.000Z", -INT64_C(62167219200000)},
                 {"9999-12-31T23:59:59.999Z", INT64_C(253402300799999)}};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct bbf_buf text = BBF_BUF_INIT, again = BBF_BUF_INIT;
        struct bbf_snapshot *s;
        char why[200];
        write_sample(&text, sample_basic);
        replace(&text, "2026-11-21T20:04:37.123Z", times[i].text);
        assert_int_equal(bbf_snapshot_from_json(&s, text.data, text.len, why, sizeof why), 0);
        assert_true(s->captured_at_ms == times[i].ms);
        assert_int_equal(bbf_render(&again, s, BBF_FORMAT_JSON, NULL), 0);
        if (strlen(times[i].text) == 24)
            assert_non_null(strstr(bbf_buf_cstr(&again), times[i].text));
        bbf_snapshot_free(s);
        bbf_buf_free(&text);
        bbf_buf_free(&again);
    }
}

static void formats_are_known_by_name_and_by_extension(void **state)
{
    (void)state;
    enum bbf_format format;

    assert_int_equal(bbf_format_of_name("summary", &format), 0);
    assert_int_equal(format, BBF_FORMAT_SUMMARY);
    assert_int_equal(bbf_format_of_name("txt", &format), BBF_ENOTFOUND);
    assert_int_equal(bbf_format_of_path("/tmp/a.b/leaks-7.JSON", &format), 0);
    assert_int_equal(format, BBF_FORMAT_JSON);
    assert_int_equal(bbf_format_of_path("leaks.txt", &format), 0);
    assert_int_equal(format, BBF_FORMAT_TREE);
    assert_int_equal(bbf_format_of_path("x.llm", &format), 0);
    assert_int_equal(format, BBF_FORMAT_LLM);
    assert_int_equal(bbf_format_of_path("/tmp/a.json/leaks", &format), BBF_ENOTFOUND);
    assert_int_equal(bbf_format_of_path("leaks.jso", &format), BBF_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_read_and_written_is_the_same),
        cmocka_unit_test(rows_mean_the_same_with_spaces_in_them),
        cmocka_unit_test(members_come_back_as_they_were),
        cmocka_unit_test(numbers_use_all_64_bits),
        cmocka_unit_test(a_wrong_document_is_refused_with_place_and_reason),
        cmocka_unit_test(numbers_of_netty_come_back_as_they_were),
        cmocka_unit_test(wrong_numbers_of_netty_are_refused),
        cmocka_unit_test(wrong_histories_are_refused),
        cmocka_unit_test(wrong_contexts_are_refused),
        cmocka_unit_test(a_document_cut_anywhere_is_refused),
        cmocka_unit_test(unknown_members_are_ignored_and_new_totals_are_0),
        cmocka_unit_test(times_of_other_writers_are_understood),
        cmocka_unit_test(formats_are_known_by_name_and_by_extension),
    };
    return cmocka_run_group_tests_name("render_json", tests, NULL, NULL);
}
