/* link: bbf_core */
/* The pattern language of include=, exclude=, trackConstructors= as one table (design.md: names and
 * formats). */
#include "core/err.h"
#include "core/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct match_case {
    const char *patterns;
    const char *name; /* internal form, as the JVM gives it */
    size_t length;    /* of the longest pattern that matches; 0 = none */
};

static const struct match_case matching[] = {
    /* a package and everything below it */
    {"com.app", "com/app/Main", 7},
    {"com.app", "com/app/deep/er/Main", 7},
    {"com.app.*", "com/app/Main", 7},
    {"com.app.*", "com/app/deep/Main", 7},
    {"com", "com/app/Main", 3},
    {"com.*", "com/app/Main", 3},
    /* the class of that name, its inner, lambda and hidden classes */
    {"com.app.Main", "com/app/Main", 12},
    {"com.app.Main.*", "com/app/Main", 12},
    {"com.app.Main", "com/app/Main$Inner", 12},
    {"com.app.Main", "com/app/Main$1", 12},
    {"com.app.Main", "com/app/Main$$Lambda/0x00007f1", 12},
    {"com.app.Main$Inner", "com/app/Main$Inner", 18},
    {"com.app.Main$Inner", "com/app/Main$Inner$Deep", 18},
    {"com.app.Main$Inner", "com/app/Main", 0},
    {"com.app.Main$Inner", "com/app/Main$InnerMost", 0},
    /* name boundaries */
    {"com.app", "com/application/Main", 0},
    {"com.app.*", "com/application/Main", 0},
    {"com.app", "com/ap", 0},
    {"com.app", "com/appX", 0},
    {"com.app.Main", "com/app/MainOther", 0},
    {"com.app.Main", "com/app/Mai", 0},
    {"app", "com/app/Main", 0},
    {"com.app", "org/com/app/Main", 0},
    {"com.App", "com/app/Main", 0},
    /* the default package, odd names that the JVM allows */
    {"Main", "Main", 4},
    {"Main", "Main$Inner", 4},
    {"com.app-x.package-info", "com/app-x/package-info", 22},
    {"com.\xc3\xa4pp", "com/\xc3\xa4pp/Main", 8},
    /* lists: the longest counts, in any order; blanks around do not */
    {"com.app+org.x", "org/x/Main", 5},
    {"com.app+org.x", "net/x/Main", 0},
    {"com+com.app+com.app.Main", "com/app/Main", 12},
    {"com.app.Main+com.app+com", "com/app/Main", 12},
    {"com.app.Main+com.app+com", "com/app/Other", 7},
    {" com.app + org.x.* ", "org/x/Main", 5},
    {"com.app+com.app", "com/app/Main", 7},
    {"com.app", "", 0},
};

static void each_pattern_matches_what_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof matching / sizeof matching[0]; i++) {
        const struct match_case *c = &matching[i];
        struct bbf_patterns *list;
        struct bbf_parse_error err;
        assert_int_equal(bbf_patterns_parse(&list, c->patterns, strlen(c->patterns), &err), BBF_OK);
        size_t got = bbf_patterns_match(list, c->name, strlen(c->name));
        if (got != c->length)
            fail_msg("'%s' against %s: %zu, expected %zu", c->patterns, c->name, got, c->length);
        bbf_patterns_free(list);
    }
}

static void the_length_of_the_name_is_respected(void **state)
{
    struct bbf_patterns *list;
    struct bbf_parse_error err;
    (void)state;

    assert_int_equal(bbf_patterns_parse(&list, "com.app", 7, &err), BBF_OK);
    assert_int_equal(bbf_patterns_match(list, "com/appX", 7), 7);
    assert_int_equal(bbf_patterns_match(list, "com/app/X", 6), 0);
    bbf_patterns_free(list);
    assert_int_equal(bbf_patterns_parse(&list, "com.app+bad..", 7, &err), BBF_OK);
    assert_int_equal(bbf_patterns_count(list), 1);
    bbf_patterns_free(list);
}

struct bad_case {
    const char *patterns;
    size_t column;
    const char *text; /* the whole message */
};

static const struct bad_case bad[] = {
    {"", 1, "empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'"},
    {"  ", 3, "empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'"},
    {"com.app+", 9, "empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'"},
    {"+com.app", 1, "empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'"},
    {"com.app++com.b", 9,
     "empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'"},
    {"*", 1,
     "pattern '*' would match every class; name a package, as 'com.app', or leave the option out: "
     "then every application class matches"},
    {".*", 1,
     "pattern '.*' would match every class; name a package, as 'com.app', or leave the option out: "
     "then every application class matches"},
    {"com.b+**", 7,
     "pattern '**' would match every class; name a package, as 'com.app', or leave the option out: "
     "then every application class matches"},
    {"com.app*", 8,
     "pattern 'com.app*': '*' is allowed only at the end, after a dot; write 'com.app', which is "
     "that "
     "package (or class) and everything below it"},
    {"com.app.**", 9,
     "pattern 'com.app.**': '*' is allowed only at the end, after a dot; write 'com.app', which is "
     "that package (or class) and everything below it"},
    {"com.*.app", 5,
     "pattern 'com.*.app': '*' is allowed only at the end, after a dot; write 'com', which is that "
     "package (or class) and everything below it"},
    {"a..b", 2, "pattern 'a..b' has an empty name between two dots; write one dot"},
    {"a..*", 2, "pattern 'a..*' has an empty name between two dots; write one dot"},
    {"x+a.b..c", 6, "pattern 'a.b..c' has an empty name between two dots; write one dot"},
    {"com.app.", 8,
     "pattern 'com.app.' ends in a dot; leave it out ('com.app' is the package and everything "
     "below it)"},
    {".com.app", 1, "pattern '.com.app' starts with a dot; leave it out"},
    {".", 1, "pattern '.' starts with a dot; leave it out"},
    {"com/app", 4, "pattern 'com/app' holds '/'; packages are written with dots, as 'com.app'"},
    {"com.app.Main#run", 13,
     "pattern 'com.app.Main#run' holds '#'; a pattern names a package or a class, never a method"},
    {"com.app.Main.run()", 17,
     "pattern 'com.app.Main.run()' holds '('; a pattern names a package or a class, never a "
     "method"},
    {"com.app:org.x", 8, "pattern 'com.app:org.x' holds ':'; the patterns of a list join with '+'"},
    {"com.a,com.b", 6, "pattern 'com.a,com.b' holds ','; the patterns of a list join with '+'"},
    {"com.a;com.b", 6, "pattern 'com.a;com.b' holds ';'; the patterns of a list join with '+'"},
    {"com.a com.b", 6, "pattern 'com.a com.b' holds ' '; names hold no blanks"},
    {"com.a\ncom", 6, "pattern 'com.a\ncom' holds ' '; names hold no blanks"},
    {"com.a?", 6,
     "pattern 'com.a?' holds '?'; a pattern is a package or a class name, not an expression"},
    {"List<Buf>", 5, "pattern 'List<Buf>' holds '<'; name the class without its type parameters"},
    {"Buf[]", 4, "pattern 'Buf[]' holds '['; an array has no methods; name the class"},
    {"'com.app'", 1, "pattern ''com.app'' holds '''; leave the quotes out"},
};

static void each_bad_pattern_is_refused_with_thing_place_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bbf_patterns *list = (struct bbf_patterns *)&list;
        struct bbf_parse_error err = {0, ""};
        int rc = bbf_patterns_parse(&list, bad[i].patterns, strlen(bad[i].patterns), &err);
        if (rc != BBF_EINVAL)
            fail_msg("'%s' gives %d", bad[i].patterns, rc);
        assert_null(list);
        assert_string_equal(err.text, bad[i].text);
        if (err.column != bad[i].column)
            fail_msg("'%s': column %zu, expected %zu", bad[i].patterns, err.column, bad[i].column);
    }
}

static void a_long_bad_pattern_is_cut_in_its_message(void **state)
{
    char text[5000];
    struct bbf_patterns *list;
    struct bbf_parse_error err;
    (void)state;

    memset(text, 'a', sizeof text);
    text[4000] = '/';
    assert_int_equal(bbf_patterns_parse(&list, text, sizeof text, &err), BBF_EINVAL);
    assert_int_equal(err.column, 4001);
    assert_true(strlen(err.text) < sizeof err.text - 1);
    assert_non_null(strstr(err.text, "packages are written with dots"));
}

static void lists_are_shown_without_their_star_and_join(void **state)
{
    struct bbf_patterns *a, *b, *both;
    struct bbf_parse_error err;
    (void)state;

    assert_int_equal(bbf_patterns_parse(&a, "com.a.*+com.b", 13, &err), BBF_OK);
    assert_int_equal(bbf_patterns_parse(&b, "org.x.Main.*", 12, &err), BBF_OK);
    assert_int_equal(bbf_patterns_join(&both, a, b), BBF_OK);
    bbf_patterns_free(a);
    bbf_patterns_free(b);
    assert_int_equal(bbf_patterns_count(both), 3);
    assert_string_equal(bbf_patterns_get(both, 0), "com.a");
    assert_string_equal(bbf_patterns_get(both, 1), "com.b");
    assert_string_equal(bbf_patterns_get(both, 2), "org.x.Main");
    assert_int_equal(bbf_patterns_match(both, "org/x/Main", 10), 10);
    bbf_patterns_free(both);
}

static const struct {
    const char *patterns, *name;
    bool near;
} beside[] = {
    {"com.seed.alpha.Alpha", "com/seed/Main", true},
    {"com.seed.alpha.*", "com/seed/beta/deep/Beta$Inner", true},
    {"com.seed.alpha.Alpha", "com/seedling/Main", false},
    {"com.seed.alpha.Alpha", "com/other/alpha/Alpha", false},
    {"com.app", "com/app/Main", true},
    {"com.app", "com/Main", false},
    {"no.such.application+com.app.net", "com/app/Main", true},
    {"Main", "Main$Inner", true},
    {"Main", "Mainly", false},
};

static void what_is_beside_a_pattern_begins_with_its_first_two_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const char *patterns = beside[i].patterns, *name = beside[i].name;
        struct bbf_patterns *list;
        struct bbf_parse_error err;
        assert_int_equal(bbf_patterns_parse(&list, patterns, strlen(patterns), &err), BBF_OK);
        if (bbf_patterns_near(list, name, strlen(name)) != beside[i].near)
            fail_msg("'%s' beside %s: not %d", patterns, name, beside[i].near);
        bbf_patterns_free(list);
    }
}

static void no_list_matches_nothing(void **state)
{
    struct bbf_patterns *none = (struct bbf_patterns *)&none;
    (void)state;
    assert_int_equal(bbf_patterns_match(NULL, "com/app/Main", 12), 0);
    assert_false(bbf_patterns_near(NULL, "com/app/Main", 12));
    assert_int_equal(bbf_patterns_count(NULL), 0);
    assert_int_equal(bbf_patterns_join(&none, NULL, NULL), BBF_OK);
    assert_null(none);
    bbf_patterns_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pattern_matches_what_the_table_says),
        cmocka_unit_test(the_length_of_the_name_is_respected),
        cmocka_unit_test(each_bad_pattern_is_refused_with_thing_place_and_remedy),
        cmocka_unit_test(a_long_bad_pattern_is_cut_in_its_message),
        cmocka_unit_test(lists_are_shown_without_their_star_and_join),
        cmocka_unit_test(what_is_beside_a_pattern_begins_with_its_first_two_names),
        cmocka_unit_test(no_list_matches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
