/* link: bbf_render bbf_snapshot bbf_core */
/* The climb from the last step to the method that owned the buffer (render/owner.h). */
#include "core/err.h"
#include "core/facts.h"
#include "render/owner_throws.h"
#include "render/render.h"
#include "render/stock.h"
#include "render/view.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BORROWS = BBF_FACT_SEEN, NO_BUFFER = 0 };

/* A snapshot whose sites are one letter each: 'a' is site 1. Site 0 is the root. */
struct sample {
    struct bbf_snapshot *s;
    int64_t last;
};

static struct sample begin(void)
{
    struct sample x = {sample_new(), 0};
    x.last = sample_step(x.s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    return x;
}

/* A method: its step, and for each also the one of its end ("a" is 1, "a_return" is 2, "b" is 3).
 */
static void method(struct sample *x, const char *name, unsigned parameter)
{
    char text[50];
    uint32_t enter = sample_site(x->s, "com.app.Code", name, "(" BYTEBUF ")V", BBF_SITE_ENTER);
    snprintf(text, sizeof text, "%s_return", name);
    uint32_t leave = sample_site(x->s, "com.app.Code", text, "(" BYTEBUF ")V", BBF_SITE_RETURN);
    x->s->sites[enter].parameter = x->s->sites[leave].parameter = (uint8_t)parameter;
}

static uint32_t site_of(char name)
{
    return 1 + 2 * (uint32_t)(name - 'a');
}

/* `from` calls the methods `to`, which are in alphabetical order. */
static void calls(struct sample *x, char from, const char *to)
{
    struct bbf_snap_site *site = &x->s->sites[site_of(from)];
    site->calls = calloc(2 * strlen(to) + 1, sizeof *site->calls);
    for (; *to != '\0'; to++) {
        site->calls[site->n_calls++] = site_of(*to);
        site->calls[site->n_calls++] = site_of(*to) + 1;
    }
}

/* Steps: a letter enters, "-a" is the end of a. The last one loses the buffer. */
static void path(struct sample *x, const char *steps)
{
    x->last = 0;
    for (; *steps != '\0'; steps++) {
        bool end = *steps == '-';
        steps += end;
        x->last = sample_node(x->s, x->last, site_of(*steps) + end, BBF_REF_1_2);
    }
    sample_leak(x->s, x->last, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 64, 1);
}

/* What `say` appends of the last step; the sample is freed. */
static const char *said(struct sample *x,
                        void (*say)(struct bbf_buf *, const struct bbf_view *, uint32_t))
{
    static char text[300];
    struct bbf_view view;
    struct bbf_buf out = BBF_BUF_INIT;
    assert_int_equal(bbf_snapshot_finish(x->s), BBF_OK);
    assert_int_equal(bbf_view_init(&view, x->s), BBF_OK);
    assert_int_equal(bbf_view_add_names(&view, '\0'), BBF_OK);
    assert_int_equal(bbf_view_add_owners(&view), BBF_OK);
    say(&out, &view, (uint32_t)x->last);
    snprintf(text, sizeof text, "%s", bbf_buf_cstr(&out));
    bbf_buf_free(&out);
    bbf_view_free(&view);
    bbf_snapshot_free(x->s);
    return text;
}

static const char *owner(struct sample *x)
{
    return said(x, bbf_owner_text);
}

/* a owns, b to d borrow, e has no buffer as a parameter, f gives to the pipeline. */
static struct sample code(void)
{
    struct sample x = begin();
    method(&x, "a", BBF_FACT_SEEN | BBF_FACT_RELEASES);
    method(&x, "b", BORROWS);
    method(&x, "c", BORROWS);
    method(&x, "d", BORROWS);
    method(&x, "e", NO_BUFFER);
    method(&x, "f", BBF_FACT_SEEN | BBF_FACT_GIVES);
    calls(&x, 'a', "b");
    calls(&x, 'b', "c");
    calls(&x, 'c', "d");
    calls(&x, 'e', "bf");
    return x;
}

static void the_last_step_of_a_borrower_leads_to_the_method_that_lent_it(void **state)
{
    static const struct {
        const char *path, *owner;
    } table[] = {
        {"a", "Code.a"},
        {"ab", "Code.a, which lent it to Code.b"},
        {"abc", "Code.a, which lent it to Code.b → Code.c"},
        {"abcd", "Code.a, which lent it to Code.b → … → Code.d"},
        /* a method without a buffer parameter got it itself */
        {"e", "Code.e"},
        {"eb", "Code.e, which lent it to Code.b"},
        {"eabc", "Code.a, which lent it to Code.b → Code.c"}, /* nothing is known of e calling a */
        /* ends, and what comes after them */
        {"ab-ba", "Code.a"},
        {"abc-c-ba", "Code.a"},
        {"ab-bc", "Code.c"}, /* b calls it, but b is over */
        {"ab-babc", "Code.a, which lent it to Code.b → Code.c"},
        {"abcbc", "Code.b, which lent it to Code.c"}, /* b has it again: c may have returned it */
        {"ab-b", "Code.b_return"},                    /* what has it then is not known */
        /* a caller that got it back is the owner, though it is a borrower of its parameter */
        {"bcb", "Code.b"},
        /* no caller, or none that is known to call it */
        {"c", "Code.c"},
        {"ac", "Code.c"},
        {"ad", "Code.d"},
        {"abd", "Code.d"},
        /* a handler owns what the pipeline gave it */
        {"fd", "Code.d"},
        {"efd", "Code.d"},
        /* the step's caller is on the path after it: it got the buffer as a result */
        {"cb", "Code.b"},
        {"dcb", "Code.b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct sample x = code();
        path(&x, table[i].path);
        const char *text = owner(&x);
        if (strcmp(text, table[i].owner) != 0)
            fail_msg("%s: %s; expected %s", table[i].path, text, table[i].owner);
    }
}

static void each_way_to_take_a_buffer_ends_the_climb(void **state)
{
    (void)state;
    for (unsigned flag = 1; flag <= BBF_FACT_UNKNOWN; flag *= 2) {
        struct sample x = code();
        x.s->sites[site_of('b')].parameter |= (uint8_t)flag;
        path(&x, "abc");
        assert_string_equal(owner(&x), "Code.b, which lent it to Code.c");
    }
    struct sample x = code();
    x.s->sites[site_of('c')].parameter = 0; /* not known */
    path(&x, "abc");
    assert_string_equal(owner(&x), "Code.c");
}

static void a_snapshot_without_facts_names_the_last_step(void **state)
{
    struct sample x = begin();
    (void)state;
    method(&x, "a", 0);
    method(&x, "b", 0);
    path(&x, "ab");
    assert_string_equal(owner(&x), "Code.b");
}

/* ---- exceptions ---- */

/* The method `of` calls Class.method at that line, which may throw. */
static void throws(struct sample *x, char of, const char *class_name, const char *name,
                   uint32_t line)
{
    struct bbf_snap_site *site = &x->s->sites[site_of(of)];
    site->throws = realloc(site->throws, (site->n_throws + 1) * sizeof *site->throws);
    assert_non_null(site->throws);
    site->throws[site->n_throws++] =
        (struct bbf_snap_throw){line, strdup(class_name), strdup(name)};
}

static const char *throws_text(struct sample *x)
{
    return said(x, bbf_owner_throws_text);
}

static void the_calls_that_may_throw_are_those_that_the_path_fits(void **state)
{
    struct sample x = code();
    (void)state;
    path(&x, "ab");
    throws(&x, 'a', "com.app.Json", "parse", 20);
    throws(&x, 'a', "com.app.Code", "b", 21); /* the path ends in it */
    throws(&x, 'a', "com.app.Json", "close", 22);
    assert_string_equal(
        throws_text(&x),
        "   Code.a does not release them if this throws: Code.b (line 21), or 2 other calls\n");
    x = code();
    path(&x, "a");
    throws(&x, 'a', "com.app.Code", "b", 21); /* it would be the last step */
    throws(&x, 'a', "io.netty.buffer.ByteBuf", "readInt", 22);
    throws(&x, 'a', "com.app.Bad\033Frame", BBF_FACT_THROW, 0);
    throws(&x, 'a', "com.app.Json", "parse", 24);
    assert_string_equal(throws_text(&x),
                        "   Code.a does not release them if this throws: throw Bad\\u001bFrame, "
                        "Json.parse (line 24), ByteBuf.readInt (line 22), or 1 other call\n");
}

static void many_calls_that_the_path_does_not_fit_are_not_named(void **state)
{
    for (unsigned n = 5; n < 7; n++) {
        struct sample x = code();
        path(&x, "a");
        for (unsigned i = 0; i < n; i++)
            throws(&x, 'a', "com.app.Json", "parse", i + 1);
        assert_int_equal(throws_text(&x)[0] == '\0', n > BBF_THROWS_UNSURE);
    }
    struct sample none = code();
    path(&none, "a");
    assert_string_equal(throws_text(&none), "");
    (void)state;
}

/* ---- in the formats ---- */

static struct bbf_buf rendered(struct sample *x, enum bbf_format format)
{
    struct bbf_buf out = BBF_BUF_INIT;
    assert_int_equal(bbf_render(&out, x->s, format, NULL), BBF_OK);
    return out;
}

static void every_format_names_the_owner(void **state)
{
    struct sample x = code();
    struct bbf_buf out;
    const struct {
        enum bbf_format format;
        const char *text;
    } table[] = {
        {BBF_FORMAT_TREE, " end in Code.a, which lent it to Code.b → Code.c: 64 B direct (id "},
        {BBF_FORMAT_SUMMARY, "  lost in Code.a, which lent it to Code.b → Code.c\n"},
        {BBF_FORMAT_LLM, "|owner=Code.a|fingerprint="},
        {BBF_FORMAT_LLM, "|owner=Code.a[ref=1]|throws=Code.b:21|"},
        {BBF_FORMAT_TREE, "   Code.a does not release them if this throws: Code.b (line 21)\n"},
        {BBF_FORMAT_JSON,
         ",\"throws\":[{\"line\":21,\"class\":\"com.app.Code\",\"method\":\"b\"}]"},
        {BBF_FORMAT_JSON, "\"owner\":102,\"path\""},
        {BBF_FORMAT_JSON, "\"parameter\":[\"releases\"],\"calls\":[16,19]"},
    };
    (void)state;
    path(&x, "abc");
    throws(&x, 'a', "com.app.Code", "b", 21);
    assert_int_equal(bbf_snapshot_finish(x.s), BBF_OK);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        out = rendered(&x, table[i].format);
        if (strstr(bbf_buf_cstr(&out), table[i].text) == NULL)
            fail_msg("no %s in %s", table[i].text, bbf_buf_cstr(&out));
        bbf_buf_free(&out);
    }
    out = (struct bbf_buf)BBF_BUF_INIT;
    assert_int_equal(bbf_stock_leaks(&out, x.s), BBF_OK);
    assert_non_null(strstr(bbf_buf_cstr(&out), "com.app.Code.c, lent by com.app.Code.a\n"));
    bbf_buf_free(&out);
    bbf_snapshot_free(x.s);
}

static void a_document_keeps_the_facts(void **state)
{
    struct sample x = code();
    struct bbf_snapshot *back;
    char why[200];
    (void)state;
    path(&x, "abc");
    throws(&x, 'a', "com.app.Code", "b", 21);
    throws(&x, 'a', "", BBF_FACT_THROW, 0);
    x.s->sites[site_of('a')].more_throws = 3;
    assert_int_equal(bbf_snapshot_finish(x.s), BBF_OK);
    struct bbf_buf one = rendered(&x, BBF_FORMAT_JSON);
    assert_int_equal(bbf_snapshot_from_json(&back, one.data, one.len, why, sizeof why), BBF_OK);
    bbf_snapshot_free(x.s);
    x.s = back;
    struct bbf_buf two = rendered(&x, BBF_FORMAT_JSON);
    assert_string_equal(bbf_buf_cstr(&one), bbf_buf_cstr(&two));
    assert_non_null(
        strstr(bbf_buf_cstr(&one), "{\"class\":\"\",\"method\":\"throw\"}],\"more_throws\":3"));
    bbf_buf_free(&one);
    bbf_buf_free(&two);
    assert_string_equal(owner(&x), "Code.a, which lent it to Code.b → Code.c");
}

static void replace(struct bbf_buf *text, const char *from, const char *to)
{
    char *at = strstr(text->data, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
}

static void facts_of_a_document_are_not_trusted(void **state)
{
    static const struct {
        const char *from, *to, *why;
    } table[] = {
        {"[\"releases\"]", "[\"releazes\"]", "sites[1].parameter"},
        {"[\"releases\"]", "{\"rele\":\"s\"}", "sites[1].parameter"},
        {"\"calls\":[16,19]", "\"calls\":[16,99]", "sites[1].calls: no site has the id 99"},
        {"\"calls\":[16,19]", "\"calls\":[19,16]", "sites[1].calls: not in the order"},
        {"\"calls\":[16,19]", "\"calls\":[16,16]", "sites[1].calls: not in the order"},
        {"\"calls\":[16,19]", "\"calls\":\"16 19\"", "sites[1].calls"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct sample x = code();
        struct bbf_snapshot *back = NULL;
        char why[200] = "";
        path(&x, "abc");
        assert_int_equal(bbf_snapshot_finish(x.s), BBF_OK);
        struct bbf_buf text = rendered(&x, BBF_FORMAT_JSON);
        replace(&text, table[i].from, table[i].to);
        assert_int_not_equal(bbf_snapshot_from_json(&back, text.data, text.len, why, sizeof why),
                             BBF_OK);
        if (strstr(why, table[i].why) == NULL)
            fail_msg("%s: %s", table[i].to, why);
        bbf_buf_free(&text);
        bbf_snapshot_free(x.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_step_of_a_borrower_leads_to_the_method_that_lent_it),
        cmocka_unit_test(each_way_to_take_a_buffer_ends_the_climb),
        cmocka_unit_test(a_snapshot_without_facts_names_the_last_step),
        cmocka_unit_test(the_calls_that_may_throw_are_those_that_the_path_fits),
        cmocka_unit_test(many_calls_that_the_path_does_not_fit_are_not_named),
        cmocka_unit_test(every_format_names_the_owner),
        cmocka_unit_test(a_document_keeps_the_facts),
        cmocka_unit_test(facts_of_a_document_are_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
