/* link: bbf_core */
/* agent/classes/rewritten_classes.c: names and times of the classes that were changed; more of them
 * than it keeps. */
#include "agent/classes/rewritten_classes.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void a_class_is_changed_once_it_was_added(void **state)
{
    (void)state;
    assert_false(bbf_rewritten_classes_has("com/app/Main", 0));
    assert_false(bbf_rewritten_classes_any_since(1));
    bbf_rewritten_classes_add("com/app/Main", 0);
    assert_true(bbf_rewritten_classes_has("com/app/Main", 0));
    assert_false(bbf_rewritten_classes_has("com/app/Main", 1)); /* it was loaded before */
    assert_false(bbf_rewritten_classes_has("com/app/Mai", 0));
}

static void one_that_was_changed_as_it_loaded_has_the_last_time(void **state)
{
    char name[] = "com/app/Late";

    (void)state;
    bbf_rewritten_classes_add(name, 70);
    bbf_rewritten_classes_add(name, 0); /* retransformed since */
    name[0] = 'x';                      /* it was copied */
    assert_true(bbf_rewritten_classes_has("com/app/Late", 70));
    assert_false(bbf_rewritten_classes_has("com/app/Late", 71));
    assert_true(bbf_rewritten_classes_any_since(70));
    assert_false(bbf_rewritten_classes_any_since(71));
    bbf_rewritten_classes_add("com/app/Late", 80); /* another loader's */
    assert_true(bbf_rewritten_classes_has("com/app/Late", 71));
    assert_false(bbf_rewritten_classes_has("com/app/Main", 71));
}

static void above_the_limit_every_class_counts(void **state)
{
    char name[32];

    (void)state;
    for (int i = 0; i < BBF_REWRITTEN_CLASSES_MOST; i++) {
        snprintf(name, sizeof name, "com/app/Made%d", i);
        bbf_rewritten_classes_add(name, 90);
    }
    assert_true(bbf_rewritten_classes_has("com/app/Made7", 90));
    assert_true(bbf_rewritten_classes_has("com/app/Other", 0));
    assert_true(bbf_rewritten_classes_has("com/app/Other", 90)); /* as late as the last of all */
    assert_false(bbf_rewritten_classes_has("com/app/Other", 91));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_is_changed_once_it_was_added),
        cmocka_unit_test(one_that_was_changed_as_it_loaded_has_the_last_time),
        cmocka_unit_test(above_the_limit_every_class_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
