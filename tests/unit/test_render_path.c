/* link: bbf_render bbf_core */
/*
 * A path in one line: names, arrows, and what is left of a long one.
 */
#include "render/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_path(const struct bbf_path *path, enum bbf_class_style style, size_t max_bytes,
                        const char *expected)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_path_text(&text, path, style, max_bytes);
    assert_false(text.failed);
    assert_string_equal(bbf_buf_cstr(&text), expected);
    bbf_buf_free(&text);
}

static void steps_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *class_name, *method, *full, *simple;
    } cases[] = {
        {"com.app.A", "read", "com.app.A.read", "A.read"},
        {"A", "<init>", "A.<init>", "A.<init>"},
        {"a.B$C", "", "a.B$C", "B$C"},
        {"", "?raced", "?raced", "?raced"},
        {"a.B", "?first-seen", "?first-seen a.B", "?first-seen B"},
        {"a.\033[31mB", "re\nad", "a.\\u001b[31mB.re\\u000aad", "\\u001b[31mB.re\\u000aad"},
        {NULL, "", "?", "?"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_path path = BBF_PATH_INIT;
        assert_true(bbf_path_climb(&path, cases[i].class_name, cases[i].method));
        assert_path(&path, BBF_CLASS_FULL, 0, cases[i].full);
        assert_path(&path, BBF_CLASS_SIMPLE, 0, cases[i].simple);
    }
}

static void the_root_comes_first(void **state)
{
    (void)state;
    struct bbf_path path = BBF_PATH_INIT;

    assert_path(&path, BBF_CLASS_FULL, 0, "");
    assert_true(bbf_path_climb(&path, "a.Last", "lose"));
    assert_true(bbf_path_climb(&path, "a.Middle", "pass"));
    assert_true(bbf_path_climb(&path, "a.Root", "make"));
    assert_path(&path, BBF_CLASS_FULL, 0, "a.Root.make → a.Middle.pass → a.Last.lose");
    assert_path(&path, BBF_CLASS_SIMPLE, 0, "Root.make → Middle.pass → Last.lose");
}

/* Each step counts with one arrow: 9 + 11 + 9 bytes and 3 arrows of 5. */
static void the_end_of_a_long_text_is_kept(void **state)
{
    (void)state;
    struct bbf_path path = BBF_PATH_INIT;

    assert_true(bbf_path_climb(&path, "Last", "lose"));
    assert_true(bbf_path_climb(&path, "Middle", "pass"));
    assert_true(bbf_path_climb(&path, "Root", "make"));
    assert_path(&path, BBF_CLASS_FULL, 44, "Root.make → Middle.pass → Last.lose");
    assert_path(&path, BBF_CLASS_FULL, 43, "… → Middle.pass → Last.lose");
    assert_path(&path, BBF_CLASS_FULL, 30, "… → Middle.pass → Last.lose");
    assert_path(&path, BBF_CLASS_FULL, 29, "… → Last.lose");
    assert_path(&path, BBF_CLASS_FULL, 9, "… → Last.lose");
    assert_path(&path, BBF_CLASS_FULL, 4, "… → …lose");
}

/* "ä" has two bytes: the cut is before a character, never in it. */
static void no_character_is_cut(void **state)
{
    (void)state;
    struct bbf_path path = BBF_PATH_INIT;

    assert_true(bbf_path_climb(&path, "A", "xäy"));
    assert_path(&path, BBF_CLASS_FULL, 3, "…äy");
    assert_path(&path, BBF_CLASS_FULL, 2, "…y");
    assert_path(&path, BBF_CLASS_FULL, 1, "…y");
}

static void a_path_of_many_steps_is_cut(void **state)
{
    (void)state;
    struct bbf_path path = BBF_PATH_INIT;
    struct bbf_buf text = BBF_BUF_INIT;

    for (size_t i = 0; i < BBF_PATH_STEPS; i++)
        assert_true(bbf_path_climb(&path, "A", "b"));
    bbf_path_text(&text, &path, BBF_CLASS_FULL, 0);
    assert_null(strstr(bbf_buf_cstr(&text), "…"));
    size_t len = text.len;
    assert_false(bbf_path_climb(&path, "A", "b"));
    bbf_path_text(&text, &path, BBF_CLASS_FULL, 0);
    assert_int_equal(text.len, 2 * len + strlen("… → "));
    assert_int_equal(strncmp(bbf_buf_cstr(&text) + len, "… → A.b → A.b", 15), 0);
    bbf_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_named),
        cmocka_unit_test(the_root_comes_first),
        cmocka_unit_test(the_end_of_a_long_text_is_kept),
        cmocka_unit_test(no_character_is_cut),
        cmocka_unit_test(a_path_of_many_steps_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
