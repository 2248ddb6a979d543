/* link: bbf_client bbf_render bbf_snapshot bbf_wire bbf_core */
/* --only: which steps a name means. */
#include "client/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool matches(const char *class_name, const char *method, const char *pattern)
{
    const struct bbf_snap_site site = {.class_name = (char *)(uintptr_t)class_name,
                                       .method = (char *)(uintptr_t)method,
                                       .descriptor = (char *)(uintptr_t) "",
                                       .kind = BBF_SITE_ENTER};
    return bbf_filter_matches(&site, pattern);
}

static void whole_names_match(void **state)
{
    static const char *const parts[] = {
        "com",  "com.shop",        "com.shop.CartParser", "com.shop.CartParser.total",
        "shop", "shop.CartParser", "CartParser",          "CartParser.total",
        "total"};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(matches("com.shop.CartParser", "total", parts[i]));
}

static void parts_of_names_do_not(void **state)
{
    static const char *const others[] = {"Cart",   "Parser",     "tota",           "co",
                                         "shop.C", "shop.total", "com.CartParser", "total.x",
                                         ".total", "cartparser"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(matches("com.shop.CartParser", "total", others[i]));
}

static void inner_classes_are_named_both_ways(void **state)
{
    (void)state;
    assert_true(matches("com.shop.Cart$Line", "add", "Cart$Line"));
    assert_true(matches("com.shop.Cart$Line", "add", "Cart.Line"));
    assert_true(matches("com.shop.Cart$Line", "add", "Cart"));
    assert_true(matches("com.shop.Cart$Line", "add", "Line.add"));
    assert_false(matches("com.shop.Cart.Line", "add", "Cart$Line"));
    assert_true(matches("", "?raced", "?raced"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_names_match),
        cmocka_unit_test(parts_of_names_do_not),
        cmocka_unit_test(inner_classes_are_named_both_ways),
    };
    return cmocka_run_group_tests_name("client_filter", tests, NULL, NULL);
}
