/* link: bbf_core */
/* agent/boot/jdk.c: what `status` says of a Java version that is newer than the tested ones. */
#include "agent/boot/jdk.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void tested_versions_need_no_line(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;

    (void)state;
    for (int jdk = BBF_JDK_FIRST; jdk <= BBF_JDK_LAST_TESTED; jdk++)
        bbf_jdk_status(&out, jdk);
    assert_string_equal(bbf_buf_cstr(&out), "");
    bbf_buf_free(&out);
}

static void a_newer_version_is_named(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;

    (void)state;
    bbf_jdk_status(&out, 27);
    assert_string_equal(
        bbf_buf_cstr(&out),
        "not tested         with Java 27: this bbflow is tested with Java 11 to 25\n");
    bbf_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tested_versions_need_no_line),
        cmocka_unit_test(a_newer_version_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
