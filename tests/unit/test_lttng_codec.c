/* link: bbf_wire bbf_core */
/* The messages of LTTng's JUL domain, both versions: every command, every malformed length by its
 * reason, every prefix of a command. */
#include "core/err.h"
#include "lttng_bytes.h"
#include "wire/lttng/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lttng_bytes bytes;

static int decode(enum bbf_lttng_version version, struct bbf_lttng_command *out, const char **why)
{
    size_t used;
    int err = bbf_lttng_decode(version, out, bytes.at, bytes.len, &used, why);

    if (err == BBF_OK || err == BBF_EFORMAT)
        assert_int_equal(used, bytes.len);
    return err;
}

static int decoded(enum bbf_lttng_version version, struct bbf_lttng_command *out)
{
    const char *why;
    int err = decode(version, out, &why);

    assert_true(err != BBF_OK || why == NULL);
    return err;
}

static void enable_has_level_name_and_filter(void **state)
{
    const char *filter = "(logger_name == \"bbflow.leak\") && (int_loglevel >= 800)";
    struct bbf_lttng_command c;
    (void)state;

    bytes.len = 0;
    add_enable(&bytes, "bbflow.leak", 800, 1, filter);
    assert_int_equal(decoded(BBF_LTTNG_2_0, &c), BBF_OK);
    assert_int_equal(c.number, BBF_LTTNG_ENABLE);
    assert_string_equal(c.name, "bbflow.leak");
    assert_int_equal(c.level, 800);
    assert_int_equal(c.type, BBF_LTTNG_LEVEL_RANGE);
    assert_string_equal(c.filter, filter);

    bytes.len = 0;
    add_enable(&bytes, "*", INT32_MIN, 0, NULL);
    assert_int_equal(decoded(BBF_LTTNG_2_0, &c), BBF_OK);
    assert_int_equal(c.level, INT32_MIN);
    assert_null(c.filter);
}

static void add_text(const char *text)
{
    add_number(&bytes, strlen(text) + 1, 4);
    add_bytes(&bytes, text, strlen(text) + 1);
}

static void other_commands(void **state)
{
    struct bbf_lttng_command c;
    (void)state;

    bytes.len = 0;
    add_disable(&bytes, "bbflow.*");
    assert_int_equal(decoded(BBF_LTTNG_2_0, &c), BBF_OK);
    assert_int_equal(c.number, BBF_LTTNG_DISABLE);
    assert_string_equal(c.name, "bbflow.*");
    for (uint32_t number = 5; number <= 6; number++) {
        bytes.len = 0;
        add_header(&bytes, false, 25, number);
        add_text("$app.bbflow");
        add_text("pool");
        assert_int_equal(decoded(BBF_LTTNG_2_0, &c), BBF_OK);
        assert_string_equal(c.provider, "$app.bbflow");
        assert_string_equal(c.context, "pool");
    }
    static const uint32_t empty[] = {1, 4, 0, 7, 99, 0x7FFFFFFF, 0xFFFFFFFF};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        bytes.len = 0;
        add_header(&bytes, false, 0, empty[i]);
        assert_int_equal(decoded(BBF_LTTNG_2_0, &c), BBF_OK);
        assert_int_equal(c.number, empty[i]);
    }
    bytes.len = 0;
    add_header(&bytes, false, 3, 99);
    add_bytes(&bytes, "abc", 3);
    assert_int_equal(decoded(BBF_LTTNG_2_0, &c), BBF_OK);
}

static void the_rfc_has_names_of_any_size(void **state)
{
    static const size_t sizes[] = {12, 256, 1024, 70 * 1024};
    struct bbf_lttng_command c;
    (void)state;

    for (uint32_t number = 2; number <= 3; number++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            bytes.len = 0;
            add_header(&bytes, true, sizes[i], number);
            add_name(&bytes, "bbflow.leak", sizes[i]);
            assert_int_equal(decoded(BBF_LTTNG_0_1, &c), BBF_OK);
            assert_int_equal(c.number, number);
            assert_string_equal(c.name, "bbflow.leak");
        }
    bytes.len = 0;
    add_header(&bytes, true, 0, 1);
    assert_int_equal(decoded(BBF_LTTNG_0_1, &c), BBF_OK);
    assert_int_equal(c.number, BBF_LTTNG_LIST);
}

/* ---- malformed ---- */

static void refused(enum bbf_lttng_version version, int err, const char *reason)
{
    struct bbf_lttng_command c;
    const char *why;

    assert_int_equal(decode(version, &c, &why), err);
    assert_non_null(why);
    if (strstr(why, reason) == NULL)
        fail_msg("'%s' does not have '%s'", why, reason);
}

static void begin(uint64_t size, uint32_t number)
{
    bytes.len = 0;
    add_header(&bytes, false, size, number);
}

static void malformed_enable(void **state)
{
    static const size_t too_short[] = {0, 1, 4, 8, 255, 264, 267};
    char name[300];
    (void)state;

    for (size_t i = 0; i < sizeof too_short / sizeof too_short[0]; i++) {
        begin(too_short[i], 2);
        add_name(&bytes, "", too_short[i]);
        refused(BBF_LTTNG_2_0, BBF_EFORMAT, "shorter than 268");
    }
    bytes.len = 0;
    add_enable(&bytes, "", 0, 0, NULL);
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "name is empty");
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    bytes.len = 0;
    add_enable(&bytes, name, 0, 0, "f");
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "does not end within");
    bytes.len = 0;
    add_enable(&bytes, "a", 0, 3, NULL);
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "type of the log level");
}

static void malformed_filter(void **state)
{
    static const uint32_t sizes[] = {1, 3, 5, 0x7FFFFFFF, 0xFFFFFFFF, 0};
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bytes.len = 0;
        add_enable(&bytes, "a", 0, 0, "abc");
        for (size_t at = 0; at < 4; at++)
            bytes.at[16 + 264 + at] = (uint8_t)(sizes[i] >> 8 * (3 - at));
        refused(BBF_LTTNG_2_0, BBF_EFORMAT, "filter's length");
    }
    bytes.len = 0;
    add_enable(&bytes, "a", 0, 0, "abc");
    bytes.at[bytes.len - 1] = 'd';
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "only NUL");
    bytes.at[bytes.len - 1] = bytes.at[bytes.len - 3] = '\0';
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "only NUL");
    begin(268 + 65537, 2);
    add_number(&bytes, 0, 8);
    add_name(&bytes, "a", 256);
    add_number(&bytes, 65537, 4);
    memset(bytes.at + bytes.len, 'x', 65537);
    bytes.len += 65537;
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "65,536");
}

static void malformed_others(void **state)
{
    static const size_t sizes[] = {0, 1, 255, 257};
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        begin(sizes[i], 3);
        memset(bytes.at + bytes.len, 'x', sizes[i]);
        bytes.len += sizes[i];
        refused(BBF_LTTNG_2_0, BBF_EFORMAT, "not 256 bytes");
    }
    begin(2, 1);
    add_number(&bytes, 0, 2);
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "has a payload");
    begin(1, 4);
    add_number(&bytes, 0, 1);
    refused(BBF_LTTNG_2_0, BBF_EFORMAT, "has a payload");
    bytes.len = 0;
    add_header(&bytes, true, 0, 2);
    refused(BBF_LTTNG_0_1, BBF_EFORMAT, "name is empty");
    bytes.len = 0;
    add_header(&bytes, true, 4, 3);
    add_bytes(&bytes, "abcd", 4);
    refused(BBF_LTTNG_0_1, BBF_EFORMAT, "does not end within");
    bytes.len = 0;
    add_header(&bytes, true, 400, 2);
    memset(bytes.at + bytes.len, 'x', 400);
    bytes.len += 400;
    bytes.at[bytes.len - 1] = '\0';
    refused(BBF_LTTNG_0_1, BBF_EFORMAT, "more than 255");
}

static void malformed_contexts(void **state)
{
    static const struct {
        const char *payload;
        size_t size;
        const char *reason;
    } cases[] = {
        {"", 0, "before a text's length"},
        {"\0\0\0", 3, "before a text's length"},
        {"\0\0\0\2a", 5, "longer than the payload's rest"},
        {"\xff\xff\xff\xff", 4, "longer than the payload's rest"},
        {"\0\0\0\0", 4, "empty or does not end"},
        {"\0\0\0\1\0", 5, "empty or does not end"},
        {"\0\0\0\2ab", 6, "empty or does not end"},
        {"\0\0\0\3a\0\0", 7, "empty or does not end"},
        {"\0\0\0\2a\0", 6, "before a text's length"},
        {"\0\0\0\2a\0\0\0\0\2b\0c", 13, "bytes after its two texts"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(cases[i].size, 5 + i % 2);
        add_bytes(&bytes, cases[i].payload, cases[i].size);
        refused(BBF_LTTNG_2_0, BBF_EFORMAT, cases[i].reason);
    }
}

static void payloads_have_a_limit(void **state)
{
    static const uint64_t sizes[] = {70 * 1024 + 1, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        begin(sizes[i], 2);
        refused(BBF_LTTNG_2_0, BBF_ELIMIT, "71,680");
        bytes.len = 0;
        add_header(&bytes, true, sizes[i], 2);
        refused(BBF_LTTNG_0_1, BBF_ELIMIT, "71,680");
    }
}

static void each_version_knows_the_other(void **state)
{
    (void)state;

    for (uint32_t number = 1; number <= 3; number++) {
        bytes.len = 0;
        add_header(&bytes, true, 0, number);
        refused(BBF_LTTNG_2_0, BBF_EVERSION, "version 0.1");
        begin(0, number << 24);
        refused(BBF_LTTNG_2_0, BBF_EVERSION, "little-endian");
        refused(BBF_LTTNG_0_1, BBF_EVERSION, "little-endian");
    }
    for (uint32_t number = 1; number <= 6; number++) {
        begin(0, number);
        refused(BBF_LTTNG_0_1, BBF_EVERSION, "version 2.0");
    }
}

/* An incomplete command waits for the rest, and the number of bytes that it needs is right. */
static void a_part_is_no_command(void **state)
{
    struct bbf_lttng_command c;
    const char *why;
    size_t used;
    (void)state;

    for (int old = 0; old <= 1; old++) {
        enum bbf_lttng_version version = old ? BBF_LTTNG_0_1 : BBF_LTTNG_2_0;
        bytes.len = 0;
        if (old) {
            add_header(&bytes, true, 256, 2);
            add_name(&bytes, "bbflow.leak", 256);
        } else {
            add_enable(&bytes, "bbflow.leak", 0, 0, "x == 1");
        }
        for (size_t len = 0; len < bytes.len; len++) {
            uint8_t *exact = malloc(len > 0 ? len : 1); /* for ASan */
            memcpy(exact, bytes.at, len);
            assert_int_equal(bbf_lttng_decode(version, &c, exact, len, &used, &why), BBF_EMORE);
            assert_true(used > len && used <= bytes.len);
            assert_null(why);
            free(exact);
        }
    }
}

/* ---- what the application sends ---- */

static void assert_bytes(struct bbf_buf *out, const char *expected, size_t len)
{
    assert_int_equal(out->len, len);
    assert_memory_equal(out->data, expected, len);
    bbf_buf_free(out);
}

static void registration_and_codes(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;

    bbf_lttng_add_registration(&out, 0x01020304);
    assert_bytes(&out, "\0\0\0\3\1\2\3\4\0\0\0\2\0\0\0", 16);
    bbf_lttng_add_code(&out, BBF_LTTNG_UNKNOWN_NAME);
    assert_bytes(&out, "\0\0\0\3", 4);
}

static void lists(void **state)
{
    static const char *const names[] = {"a", "bc"};
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;

    assert_int_equal(bbf_lttng_add_list(BBF_LTTNG_2_0, &out, names, 2), BBF_OK);
    assert_bytes(&out, "\0\0\0\1\0\0\0\5\0\0\0\2a\0bc", 17);
    assert_int_equal(bbf_lttng_add_list(BBF_LTTNG_0_1, &out, names, 2), BBF_OK);
    assert_bytes(&out, "\0\0\0\0\0\0\0\2a\0bc\0\0\0\0\1", 17);
    assert_int_equal(bbf_lttng_add_list(BBF_LTTNG_2_0, &out, NULL, 0), BBF_OK);
    assert_bytes(&out, "\0\0\0\1\0\0\0\0\0\0\0", 12);
}

/* They kill lttng-sessiond 2.13. */
static void a_list_has_no_bad_name(void **state)
{
    char name[257];
    const char *names[] = {"good", name};
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;

    memset(name, 'x', sizeof name);
    name[256] = '\0';
    assert_int_equal(bbf_lttng_add_list(BBF_LTTNG_2_0, &out, names, 2), BBF_EINVAL);
    name[0] = '\0';
    assert_int_equal(bbf_lttng_add_list(BBF_LTTNG_2_0, &out, names, 2), BBF_EINVAL);
    assert_int_equal(out.len, 0);
    memset(name, 'x', 255);
    name[255] = '\0';
    assert_int_equal(bbf_lttng_add_list(BBF_LTTNG_2_0, &out, names, 2), BBF_OK);
    assert_int_equal(out.len, 12 + 5 + 256);
    bbf_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enable_has_level_name_and_filter),
        cmocka_unit_test(other_commands),
        cmocka_unit_test(the_rfc_has_names_of_any_size),
        cmocka_unit_test(malformed_enable),
        cmocka_unit_test(malformed_filter),
        cmocka_unit_test(malformed_others),
        cmocka_unit_test(malformed_contexts),
        cmocka_unit_test(payloads_have_a_limit),
        cmocka_unit_test(each_version_knows_the_other),
        cmocka_unit_test(a_part_is_no_command),
        cmocka_unit_test(registration_and_codes),
        cmocka_unit_test(lists),
        cmocka_unit_test(a_list_has_no_bad_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
