/* link: bbf_client bbf_render bbf_trie bbf_core */
/* --redact: which texts of a snapshot are the application's, and the way back. */
#include "client/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/err.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

static struct bbf_tokens *empty(void)
{
    struct bbf_tokens *tokens;
    char why[200];
    assert_int_equal(bbf_tokens_open(&tokens, "/nonexistent/key", true, why, sizeof why), BBF_OK);
    return tokens;
}

static void restored(const struct bbf_tokens *t, const char *text, const char *want)
{
    struct bbf_buf out = BBF_BUF_INIT;
    bbf_tokens_restore(t, &out, text, strlen(text), false);
    assert_string_equal(bbf_buf_cstr(&out), want);
    bbf_buf_free(&out);
}

/* A snapshot with one site and one note, after redaction. */
static struct bbf_snapshot *redacted(struct bbf_tokens *t, const char *class_name,
                                     const char *method, const char *descriptor, const char *note)
{
    struct bbf_snapshot *s = sample_new();
    (void)sample_site(s, class_name, method, descriptor, BBF_SITE_ENTER);
    assert_int_equal(bbf_snapshot_add_text(&s->notes, &s->n_notes, note), BBF_OK);
    assert_int_equal(bbf_redact(s, t), BBF_OK);
    return s;
}

static bool is_of_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
}

/* Is the name in the text? Not where it is a part of a token, whose letters are random. */
static bool shows(const char *text, const char *name)
{
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++) {
        const char *from = at, *to = at;
        while (from > text && is_of_token(from[-1]))
            from--;
        if (from > text && from[-1] == 'N') /* of a name with a capital */
            from--;
        while (is_of_token(*to))
            to++;
        if (to - at < (ptrdiff_t)strlen(name) || to - from != BBF_TOKEN)
            return true;
    }
    return false;
}

static void the_applications_names_go_and_come_back(void **state)
{
    struct bbf_tokens *t = empty();
    struct bbf_snapshot *s =
        redacted(t, "com.acme.Shop$Cart$1", "lambda$pay$0_return", "(Lcom/acme/Bill;[BI)V",
                 "class com.acme.Shop was seen 12 times. See acme");
    (void)state;
    const struct bbf_snap_site *site = &s->sites[0];
    const char *texts[] = {site->class_name, site->method, site->descriptor,
                           s->notes[0],      s->jvm.main,  s->settings[0].value};
    const char *want[] = {
        "com.acme.Shop$Cart$1",  "lambda$pay$0_return",
        "(Lcom/acme/Bill;[BI)V", "class com.acme.Shop was seen 12 times. See acme",
        "com.app.Main",          "com.app"};
    for (size_t i = 0; i < 6; i++) {
        assert_false(shows(texts[i], "acme"));
        assert_false(shows(texts[i], "app"));
        assert_false(shows(texts[i], "Shop"));
        assert_false(shows(texts[i], "pay"));
        restored(t, texts[i], want[i]);
    }
    assert_non_null(strstr(site->class_name, "$1"));
    assert_memory_equal(site->method, "lambda$n", 8);
    assert_non_null(strstr(s->notes[0], " was seen 12 times. See "));
    bbf_snapshot_free(s);
    bbf_tokens_free(t);
}

static void nettys_and_the_jdks_names_stay(void **state)
{
    static const char *const kept[] = {"io.netty.buffer.PooledByteBuf", "java.util.ArrayList",
                                       "jdk.internal.Unsafe"};
    struct bbf_tokens *t = empty();
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bbf_snapshot *s =
            redacted(t, kept[i], "release", "(Lio/netty/buffer/ByteBuf;)V", "");
        assert_string_equal(s->sites[0].class_name, kept[i]);
        assert_string_equal(s->sites[0].method, "release");
        assert_string_equal(s->sites[0].descriptor, "(Lio/netty/buffer/ByteBuf;)V");
        bbf_snapshot_free(s);
    }
    struct bbf_snapshot *s = redacted(t, "com.acme.io.netty.buffer.ByteBuf", "read", "", "");
    assert_false(shows(s->sites[0].class_name, "acme"));
    assert_non_null(strstr(s->sites[0].class_name, ".io.netty.buffer.ByteBuf"));
    bbf_snapshot_free(s);
    s = redacted(t, "io.netty.acme.Handler", "read", "", "");
    assert_false(shows(s->sites[0].class_name, "acme"));
    bbf_snapshot_free(s);
    bbf_tokens_free(t);
}

static void the_file_keeps_what_stands_for_what(void **state)
{
    char path[] = "/tmp/bbf-key-XXXXXX", why[200] = "", token[BBF_TOKEN + 1] = "";
    static const char name[] = "a\\b\nc \"d\"";
    struct bbf_tokens *t = empty(), *again;
    struct stat st;
    (void)state;
    close(mkstemp(path));
    memcpy(token, bbf_tokens_of(t, name, sizeof name - 1), BBF_TOKEN);
    assert_int_equal(bbf_tokens_save(t, path, why, sizeof why), BBF_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(bbf_tokens_open(&again, path, false, why, sizeof why), BBF_OK);
    assert_memory_equal(bbf_tokens_of(again, name, sizeof name - 1), token, BBF_TOKEN);
    struct bbf_buf out = BBF_BUF_INIT;
    bbf_tokens_restore(again, &out, token, BBF_TOKEN, true);
    assert_string_equal(bbf_buf_cstr(&out), "a\\\\b\\u000ac \\\"d\\\"");
    bbf_buf_free(&out);
    bbf_tokens_free(again);
    bbf_tokens_free(t);
    unlink(path);
    assert_int_not_equal(bbf_tokens_open(&again, path, false, why, sizeof why), BBF_OK);
    assert_non_null(strstr(why, path));
    bbf_tokens_free(again);
}

/* Words that only look like tokens, and tokens inside of words. */
/* A channel, its address and a hint say who it was; what Netty calls so for all does not. */
static void contexts_go_and_come_back(void **state)
{
    struct bbf_tokens *t = empty();
    struct bbf_snapshot *s = sample_contexts();
    struct bbf_buf text = BBF_BUF_INIT, back = BBF_BUF_INIT;
    static const char *const private[] = {"1a2b3c4", "127.0.0.1", "::1",  "cart",     "Cart#",
                                          "com.app", "[31m",      "Hint", "77f01c02", "local:"};
    static const char *const kept[] = {"java.lang.IllegalStateException", "java.io.IOException",
                                       "channel embedded", "channel ?"};
    (void)state;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_redact(s, t), BBF_OK);
    for (size_t i = 0; i < s->n_contexts; i++) {
        const struct bbf_snap_context *row = &s->contexts[i];
        const char *texts[] = {row->channel, row->address, row->hint, row->thrown, row->caught_in};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            for (size_t p = 0; p < sizeof private / sizeof *private; p++)
                assert_false(texts[k] != NULL && shows(texts[k], private[p]));
    }
    assert_int_equal(bbf_render(&text, s, BBF_FORMAT_TREE, NULL), 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_non_null(strstr(bbf_buf_cstr(&text), kept[i]));
    bbf_tokens_restore(t, &back, bbf_buf_cstr(&text), text.len, false);
    assert_non_null(
        strstr(bbf_buf_cstr(&back),
               "   last lost: channel 0x1a2b3c4d /127.0.0.1:51324, touched \"cart parsed\", "
               "after java.lang.IllegalStateException in com.app.Cart.parse\n"));
    assert_non_null(strstr(bbf_buf_cstr(&back), "touched \"\\u001b[31m\\u000a\""));
    bbf_buf_free(&text);
    bbf_buf_free(&back);
    bbf_snapshot_free(s);
    bbf_tokens_free(t);
}

static void only_whole_tokens_come_back(void **state)
{
    struct bbf_tokens *t = empty();
    char token[BBF_TOKEN + 1] = "", text[64];
    (void)state;
    memcpy(token, bbf_tokens_of(t, "acme", 4), BBF_TOKEN);
    snprintf(text, sizeof text, "x%s %s %sx n2345abcdef", token, token, token);
    struct bbf_buf out = BBF_BUF_INIT;
    bbf_tokens_restore(t, &out, text, strlen(text), false);
    assert_memory_equal(bbf_buf_cstr(&out), text, BBF_TOKEN + 2);
    assert_non_null(strstr(bbf_buf_cstr(&out), " acme "));
    assert_non_null(strstr(bbf_buf_cstr(&out), "x n2345abcdef"));
    bbf_buf_free(&out);
    bbf_tokens_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_applications_names_go_and_come_back),
        cmocka_unit_test(nettys_and_the_jdks_names_stay),
        cmocka_unit_test(the_file_keeps_what_stands_for_what),
        cmocka_unit_test(contexts_go_and_come_back),
        cmocka_unit_test(only_whole_tokens_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
