/* link: bbf_render bbf_core */
/* bbf_step_words: the names that javac, kotlinc and scalac make, as people wrote them. */
#include "render/step_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_words(const char *class_name, const char *method, const char *enclosing,
                         uint32_t line, const char *want)
{
    struct bbf_step_words w;
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_step_words(&w, class_name, method, enclosing);
    bbf_buf_add(&text, w.class_name.s, w.class_name.len);
    bbf_buf_str(&text, w.method.len > 0 ? "." : "");
    bbf_buf_add(&text, w.method.s, w.method.len);
    bbf_buf_add(&text, w.suffix.s, w.suffix.len);
    bbf_step_remark(&text, &w, line, NULL);
    assert_string_equal(bbf_buf_cstr(&text), want);
    bbf_buf_free(&text);
}

static void java(void **state)
{
    (void)state;
    assert_words("a.B", "m", NULL, 3, "a.B.m");
    assert_words("a.B", "m_return", NULL, 3, "a.B.m_return");
    assert_words("a.B$C", "m", NULL, 3, "a.B$C.m");
    assert_words("a.B", "lambda$main$0", NULL, 26, "a.B.main (lambda, line 26)");
    assert_words("a.B", "lambda$main$12", NULL, 0, "a.B.main (lambda)");
    assert_words("a.B", "lambda$main$0_return", NULL, 26, "a.B.main_return (lambda, line 26)");
    assert_words("a.B", "lambda$main$0_retain", NULL, 0, "a.B.main_retain (lambda)");
    assert_words("a.B", "lambda$main$7f6d5f65$1", NULL, 4, "a.B.main (lambda, line 4)");
    assert_words("a.B", "lambda$a$b$1", NULL, 4, "a.B.a$b (lambda, line 4)");
    assert_words("a.B", "lambda$static$0", NULL, 4, "a.B.<clinit> (lambda, line 4)");
    assert_words("a.B", "lambda$new$0", NULL, 4, "a.B.<init> (lambda, line 4)");
    assert_words("a.B", "lambda$null$0", NULL, 4, "a.B (lambda, line 4)");
    assert_words("a.B", "lambda$0", NULL, 4, "a.B (lambda, line 4)"); /* ecj */
    assert_words("a.B$1", "onNext", "a.B.run", 31, "a.B.run (onNext, line 31)");
    assert_words("a.B$1", "onNext_return", "a.B.run", 31, "a.B.run_return (onNext, line 31)");
    assert_words("a.B$1", "onNext", "a.B.", 31, "a.B (onNext, line 31)");
    assert_words("a.B$1", "lambda$onNext$0", "a.B.run", 31, "a.B.run (lambda in onNext, line 31)");
    assert_words("a.B$1", "onNext", "a.B.lambda$run$3", 31, "a.B.run (onNext, line 31)");
    assert_words("a.B$1Local", "take", "a.B.run", 31, "a.B.run (take, line 31)");
    assert_words("a.B$$Lambda", "close$accept_release", NULL, 0,
                 "a.B.close_release (method reference)");
    assert_words("a.B$$Lambda", "lambda$close$0$accept_release", NULL, 0,
                 "a.B.close_release (method reference)");
    assert_words("a.B$$Lambda", "accept_retain", NULL, 0, "a.B_retain (method reference)");
    /* Nothing says what is around it. */
    assert_words("a.B$1", "onNext", NULL, 31, "a.B$1.onNext");
    assert_words("a.B$1", "onNext", "", 31, "a.B$1.onNext");
    assert_words("a.B$Inner$1", "onNext", NULL, 31, "a.B$Inner$1.onNext");
}

static void kotlin(void **state)
{
    (void)state;
    assert_words("a.MainKt", "main$lambda$0", NULL, 7, "a.MainKt.main (lambda, line 7)");
    assert_words("a.MainKt", "main$lambda-0", NULL, 7, "a.MainKt.main (lambda, line 7)");
    assert_words("a.B", "m$lambda$2$lambda$1", NULL, 7, "a.B.m (lambda, line 7)");
    assert_words("a.B$m$1", "invokeSuspend", "a.B.m", 7, "a.B.m (coroutine, line 7)");
    assert_words("a.B$m$1", "invokeSuspend", NULL, 7, "a.B.m (coroutine, line 7)");
    assert_words("a.B$m$1$2", "emit", NULL, 7, "a.B.m (emit, line 7)");
    assert_words("a.B$m$1", "invoke", "a.B.m", 7, "a.B.m (invoke, line 7)");
    /* As kotlinc 2.0.21 made them: launch in runBlocking, and an inlined map. */
    assert_words("a.BKt$main$1$1", "invokeSuspend", "a.BKt$main$1.invokeSuspend", 73,
                 "a.BKt.main (coroutine, line 73)");
    assert_words("a.BKt$m$$inlined$map$1$2", "emit", "a.BKt$m$$inlined$map$1.collect", 0,
                 "a.BKt.m (emit)");
    assert_words("a.BKt$m$$inlined$map$1$2", "emit", NULL, 0, "a.BKt.m (emit)");
    assert_words("a.B$1$1", "run", "a.B$1.call", 7, "a.B$1.call (run, line 7)");
}

static void scala_and_groovy(void **state)
{
    (void)state;
    assert_words("a.B", "$anonfun$m$1", NULL, 8, "a.B.m (lambda, line 8)");
    assert_words("a.B$", "$anonfun$m$1$adapted", NULL, 8, "a.B$.m (lambda, line 8)");
    assert_words("a.B$$anonfun$m$1", "apply", NULL, 8, "a.B.m (lambda, line 8)");
    /* As scalac 3.3.4 made them. */
    assert_words("a.B", "m$$anonfun$1", NULL, 8, "a.B.m (lambda, line 8)");
    assert_words("a.B", "m$$anonfun$1$$anonfun$2", NULL, 8, "a.B.m (lambda, line 8)");
    assert_words("a.B$", "a$B$Inner$$_$m$$anonfun$3", NULL, 8, "a.B$.m (lambda, line 8)");
    assert_words("a.B", "$anonfun$1", NULL, 8, "a.B (lambda, line 8)");
    assert_words("a.B$$anon$1", "onNext", "a.B.m", 8, "a.B.m (onNext, line 8)");
    assert_words("a.B$_m_closure1", "doCall", NULL, 8, "a.B.m (closure, line 8)");
}

/* Names that only look like those, and what bbflow itself puts there. */
static void others_stay_as_they_are(void **state)
{
    static const struct {
        const char *class_name, *method, *want;
    } cases[] = {{"", "?raced", ".?raced"},
                 {"a.B", "?first-seen", "a.B.?first-seen"},
                 {"a.B", "lambda$", "a.B.lambda$"},
                 {"a.B", "lambda$x", "a.B.lambda$x"},
                 {"a.B", "$anonfun$", "a.B.$anonfun$"},
                 {"a.B", "$lambda$0", "a.B.$lambda$0"},
                 {"a.B", "$$anonfun$1", "a.B.$$anonfun$1"},
                 {"a.B", "m$$anonfun$", "a.B.m$$anonfun$"},
                 {"a.B$$inlined$1", "m", "a.B$$inlined$1.m"},
                 {"a.B", "m$", "a.B.m$"},
                 {"a.B", "_return", "a.B._return"},
                 {"$1", "m", "$1.m"},
                 {"$", "m", "$.m"},
                 {"$$", "m", "$$.m"},
                 {"a.B$_closure1", "doCall", "a.B$_closure1.doCall"},
                 {"a.B", "", "a.B"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_words(cases[i].class_name, cases[i].method, NULL, 5, cases[i].want);
    assert_words("a.B$1", "m", ".", 0, "a.B$1.m");
    assert_words("a.B$1", "m", "nodot", 0, "a.B$1.m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(java),
        cmocka_unit_test(kotlin),
        cmocka_unit_test(scala_and_groovy),
        cmocka_unit_test(others_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
