/* link: bbf_client bbf_core */
/*
 * Which source file a class has: below the usual folders, below given ones, relative to the
 * repository; and no name of a class leads out of them.
 */
#include "client/sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/bbf-sources-XXXXXX";

static void make(const char *path)
{
    char text[200];

    snprintf(text, sizeof text, "mkdir -p \"$(dirname '%s')\" && touch '%s'", path, path);
    assert_int_equal(system(text), 0);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    (void)unsetenv("GITHUB_WORKSPACE");
    (void)unsetenv("CI_PROJECT_DIR");
    make("src/main/java/com/app/A.java");
    make("src/test/kotlin/com/app/Util.kt");
    make("shop/src/main/scala/com/shop/Cart.scala");
    make("own/com/own/B.java");
    make("C.java");
    make("out.java");
    return 0;
}

static int tear_down(void **state)
{
    char text[100];

    (void)state;
    snprintf(text, sizeof text, "rm -r %s", folder);
    return chdir("/") != 0 || system(text) != 0;
}

static void assert_found(const char *folders, const char *class_name, const char *expected)
{
    struct bbf_sources sources;

    bbf_sources_init(&sources, folders);
    for (int again = 0; again < 2; again++) {
        const char *found = bbf_sources_find(&sources, class_name);
        if (expected == NULL)
            assert_null(found);
        else
            assert_string_equal(found, expected);
    }
    bbf_sources_free(&sources);
}

static void classes_have_files(void **state)
{
    (void)state;
    assert_found(NULL, "com.app.A", "src/main/java/com/app/A.java");
    assert_found(NULL, "com.app.A$Inner$1", "src/main/java/com/app/A.java");
    assert_found(NULL, "com.app.UtilKt", "src/test/kotlin/com/app/Util.kt");
    assert_found(NULL, "com.shop.Cart$", "shop/src/main/scala/com/shop/Cart.scala");
    assert_found(NULL, "C", "C.java");
    assert_found(NULL, "com.own.B", NULL);
    assert_found("none:own", "com.own.B", "own/com/own/B.java");
    assert_found("./own/", "com.own.B", "own/com/own/B.java");
    assert_found("own", "com.app.A", NULL);
}

static void no_name_leads_elsewhere(void **state)
{
    static const char *const names[] = {"",   ".",        "..",     "...out", ".out",
                                        "a.", "/out",     "../out", "..out",  "com..app.A",
                                        "$",  "com.app.", "A\n"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_found(NULL, names[i], NULL);
    assert_int_equal(chdir("src"), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_found(NULL, names[i], NULL);
    assert_int_equal(chdir(folder), 0);
}

static void paths_are_relative_to_the_repository(void **state)
{
    char given[100];

    (void)state;
    (void)setenv("GITHUB_WORKSPACE", folder, 1);
    assert_int_equal(chdir("shop"), 0);
    assert_found(NULL, "com.shop.Cart", "shop/src/main/scala/com/shop/Cart.scala");
    snprintf(given, sizeof given, "%s/shop/src/main/scala", folder);
    assert_found(given, "com.shop.Cart", "shop/src/main/scala/com/shop/Cart.scala");
    assert_int_equal(chdir(folder), 0);
    (void)unsetenv("GITHUB_WORKSPACE");
}

/* More classes than the table has room for at first. */
static void many_classes_are_known(void **state)
{
    struct bbf_sources sources;
    char name[32];

    (void)state;
    bbf_sources_init(&sources, "own");
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "com.own.X%d", i % 500);
        assert_null(bbf_sources_find(&sources, name));
        assert_string_equal(bbf_sources_find(&sources, "com.own.B"), "own/com/own/B.java");
    }
    assert_int_equal(sources.n_known, 501);
    bbf_sources_free(&sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_have_files),
        cmocka_unit_test(no_name_leads_elsewhere),
        cmocka_unit_test(paths_are_relative_to_the_repository),
        cmocka_unit_test(many_classes_are_known),
    };
    return cmocka_run_group_tests_name("client_sources", tests, set_up, tear_down);
}
