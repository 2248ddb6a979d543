/* link: bbf_render bbf_trie bbf_core */
/* Fingerprints: what changes them and what does not. */
#include "render/fingerprint.h"

#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static uint64_t of(const char *class_name, const char *method, const char *enclosing)
{
    return bbf_fingerprint_end(
        bbf_fingerprint_step(bbf_fingerprint_begin(), class_name, method, enclosing), 0);
}

static void assert_same(const char *class_a, const char *a, const char *class_b, const char *b)
{
    if (of(class_a, a, NULL) != of(class_b, b, NULL))
        fail_msg("%s.%s and %s.%s differ", class_a, a, class_b, b);
}

static void assert_other(const char *class_a, const char *a, const char *class_b, const char *b)
{
    if (of(class_a, a, NULL) == of(class_b, b, NULL))
        fail_msg("%s.%s and %s.%s are one", class_a, a, class_b, b);
}

static void what_a_build_changes_is_left_out(void **state)
{
    (void)state;
    assert_same("io.netty.buffer.Pooled", "m", "com.corp.shaded.io.netty.buffer.Pooled", "m");
    assert_same("io.netty.buffer.Pooled", "m", "io.grpc.netty.shaded.io.netty.buffer.Pooled", "m");
    assert_same("io.netty.handler.codec.H", "m", "org.corp.netty.handler.codec.H", "m");
    assert_same("a.B", "lambda$m$0", "a.B", "lambda$m$12");
    assert_same("a.B", "lambda$m$0", "a.B", "m$lambda$3");
    assert_same("a.B$1", "m", "a.B$23", "m");
    assert_same("a.B$1$C", "m", "a.B$2$C", "m");
    assert_same("a.B$$Lambda", "accept_release", "a.B$$Lambda", "run_release");
    assert_same("a.B$$EnhancerBySpringCGLIB$$1f2e", "m", "a.B$$EnhancerBySpringCGLIB$$77", "m");
    assert_same("a.B", "m", "a.B/0x00007f", "m");
    assert_int_equal(of("a.B$1", "on", "a.B.m"), of("a.B$2", "on", "a.B.m"));
    assert_int_equal(of("a.B$1", "on", "a.B.m"), of("a.B$2", "on", "a.B.lambda$m$0"));
}

/* A document has U+FFFD for what is no UTF-8. */
static void bytes_that_are_no_text_count_as_a_document_has_them(void **state)
{
    (void)state;
    assert_int_equal(of("com.app.\xff", "r\xed\xa0", NULL),
                     of("com.app.\xEF\xBF\xBD", "r\xEF\xBF\xBD\xEF\xBF\xBD", NULL));
    assert_int_not_equal(of("com.app.\xC3\xA4", "read", NULL),
                         of("com.app.\xff\xff", "read", NULL));
}

static void what_makes_another_leak_is_not(void **state)
{
    (void)state;
    assert_other("a.B", "m", "a.B", "n");
    assert_other("a.B", "m", "a.C", "m");
    assert_other("a.B", "m", "b.B", "m");
    assert_other("a.B", "mn", "a.Bm", "n");
    assert_other("a.B", "m", "a.B", "m_return");
    assert_other("a.B", "m", "a.B", "lambda$m$0");
    assert_other("a.B$C1", "m", "a.B$C2", "m");
    assert_other("a.B$1", "m", "a.B", "m");
    assert_other("a.B$1x", "m", "a.B$2x", "m"); /* a local class has a name after its number */
    assert_other("com.netty.app.B", "m", "org.netty.app.B", "m");
    assert_other("xnetty.buffer.B", "m", "netty.buffer.B", "m");
    assert_other("a.B", "?first-seen", "a.C", "?first-seen");
    assert_int_not_equal(of("a.B$1", "on", "a.B.m"), of("a.B$1", "off", "a.B.m"));
}

/* Numbers that people have written down must stay what they are. */
static void the_hash_is_pinned(void **state)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)state;
    bbf_fingerprint_text(&text, of("com.app.Handler", "read", NULL));
    assert_string_equal(bbf_buf_cstr(&text), "01ccf7835a3b1d5e");
    bbf_buf_free(&text);
}

static uint64_t of_sample(const char *root, const char *between, const char *last, uint32_t line,
                          bool derived)
{
    struct bbf_snapshot *s = sample_new();
    struct bbf_view view;
    int64_t node = sample_step(s, -1, root, "directBuffer");
    if (derived)
        node = sample_node(
            s, node, sample_site(s, "io.netty.buffer.ByteBuf", "retained", "", BBF_SITE_DERIVE),
            BBF_REF_1_2);
    if (between != NULL)
        node = sample_step(s, node, "com.app.A", between);
    node = sample_step(s, node, "com.app.A", last);
    s->sites[s->n_sites - 1].line = line;
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 64, 1);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_view_init(&view, s), 0);
    uint64_t id = bbf_fingerprint_leak(&view, s->leaks[0].node);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
    return id;
}

static void a_leak_is_its_root_its_last_step_and_what_it_passed(void **state)
{
    static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";
    static const char shaded[] = "com.corp.io.netty.buffer.PooledByteBufAllocator";
    static const char other[] = "io.netty.buffer.UnpooledByteBufAllocator";
    uint64_t id = of_sample(pooled, "b", "c", 7, false);
    (void)state;
    assert_int_equal(id, of_sample(shaded, "b", "c", 9, false));
    assert_int_not_equal(id, of_sample(pooled, "way", "c", 7, false)); /* another bug's way */
    assert_int_not_equal(id, of_sample(pooled, NULL, "c", 7, false));
    assert_int_not_equal(id, of_sample(other, "b", "c", 7, false));
    assert_int_not_equal(id, of_sample(pooled, "c", "b", 7, false));
    assert_int_not_equal(id, of_sample(pooled, "b", "c", 7, true));
}

/* The id of a path of one-letter methods; a capital letter is a refs=on step. */
static uint64_t of_path(const char *steps)
{
    struct bbf_snapshot *s = sample_new();
    struct bbf_view view;
    int64_t node = sample_step(s, -1, "io.netty.buffer.P", "directBuffer");
    uint32_t sites[128] = {0};
    for (; *steps != '\0'; steps++) {
        unsigned letter = (unsigned char)*steps;
        const char name[] = {*steps, '\0'};
        if (sites[letter] == 0)
            sites[letter] = sample_site(s, "com.app.A", name, "()V",
                                        letter < 'a' ? BBF_SITE_RETAIN : BBF_SITE_ENTER);
        node = sample_node(s, node, sites[letter], BBF_REF_1_2);
    }
    assert_int_equal(bbf_view_init(&view, s), 0);
    uint64_t id = bbf_fingerprint_leak(&view, (uint32_t)s->n_nodes - 1);
    bbf_view_free(&view);
    bbf_snapshot_free(s);
    return id;
}

/* Two bugs of one root and one last step differ in what the buffers passed; turns of a loop, its
 * order and refs=on do not make another bug. */
static void the_methods_that_it_passed_tell_bugs_apart(void **state)
{
    static const struct {
        const char *one, *other;
        bool is_same;
    } table[] = {
        {"abz", "acz", false},  {"abz", "bz", false},   {"abz", "aby", false},
        {"abz", "abz", true},   {"abz", "ababz", true}, {"abcz", "abcabcabcz", true},
        {"abcz", "acbz", true}, {"abz", "azbz", true},  {"abz", "aRbRz", true},
        {"abz", "abcz", false}, {"z", "", false},       {"zz", "z", true},
        {"azb", "abz", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((of_path(table[i].one) == of_path(table[i].other)) != table[i].is_same)
            fail_msg("%s and %s", table[i].one, table[i].other);
}

/* One leak has one number, whatever shows it. */
static void every_format_has_it(void **state)
{
    static const enum bbf_format formats[] = {BBF_FORMAT_TREE, BBF_FORMAT_LLM, BBF_FORMAT_SUMMARY,
                                              BBF_FORMAT_JSON};
    struct bbf_snapshot *s = sample_made();
    struct bbf_buf id = BBF_BUF_INIT;
    struct bbf_view view;
    (void)state;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_view_init(&view, s), 0);
    bbf_fingerprint_text(&id, bbf_fingerprint_leak(&view, s->leaks[0].node));
    bbf_view_free(&view);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        assert_int_equal(bbf_render(&text, s, formats[i], NULL), 0);
        assert_non_null(strstr(bbf_buf_cstr(&text), bbf_buf_cstr(&id)));
        bbf_buf_free(&text);
    }
    bbf_buf_free(&id);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_build_changes_is_left_out),
        cmocka_unit_test(bytes_that_are_no_text_count_as_a_document_has_them),
        cmocka_unit_test(what_makes_another_leak_is_not),
        cmocka_unit_test(the_hash_is_pinned),
        cmocka_unit_test(a_leak_is_its_root_its_last_step_and_what_it_passed),
        cmocka_unit_test(the_methods_that_it_passed_tell_bugs_apart),
        cmocka_unit_test(every_format_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
