/* link: bbf_core */
/* core/safe.h: every class of what a terminal would obey, as a value, as lines and in ASCII;
 * formats whose values cannot end a line. */
#include "core/safe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BAD "\xEF\xBF\xBD"

static void assert_safe(const char *bytes, size_t len, unsigned how, const char *shown)
{
    struct bbf_buf text = BBF_BUF_INIT;
    bbf_safe_add(&text, bytes, len, how, '\0');
    assert_string_equal(bbf_buf_cstr(&text), shown);
    bbf_buf_free(&text);
}

/* UTF-8 of a code point, also of 0xD800 and above U+10FFFF, which then is not UTF-8. */
static size_t utf8(uint32_t code, char to[4])
{
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(lead[n] | code);
    return n;
}

static void each_control_becomes_its_number(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0xA0; code++) {
        char bytes[4], shown[16];
        size_t len = utf8(code, bytes);
        if (code >= 0x20 && code < 0x7F)
            snprintf(shown, sizeof shown, "%c", (char)code);
        else
            snprintf(shown, sizeof shown, "\\u%04x", (unsigned)code);
        assert_safe(bytes, len, BBF_SAFE_VALUE, shown);
        if (code == '\n' || code == '\t')
            snprintf(shown, sizeof shown, "%c", (char)code);
        assert_safe(bytes, len, BBF_SAFE_LINES, shown);
    }
    /* Named once, as people know them: NUL, BEL, BS, CR, ESC, DEL, CSI. */
    assert_safe("\0\a\b\r\033\177\xC2\x9B", 8, BBF_SAFE_LINES,
                "\\u0000\\u0007\\u0008\\u000d\\u001b\\u007f\\u009b");
}

static void what_is_not_seen_or_turns_the_reading_becomes_its_number(void **state)
{
    static const uint32_t codes[] = {
        0x00AD, 0x061C, 0x115F, 0x1160, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F,
        0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2064, 0x2066,
        0x2067, 0x2068, 0x2069, 0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB,
    };
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char bytes[4], shown[16];
        size_t len = utf8(codes[i], bytes);
        snprintf(shown, sizeof shown, "\\u%04x", (unsigned)codes[i]);
        assert_safe(bytes, len, BBF_SAFE_VALUE, shown);
        assert_safe(bytes, len, BBF_SAFE_LINES, shown);
    }
    assert_safe("\xF3\xA0\x81\x81", 4, BBF_SAFE_VALUE, "\\udb40\\udc41"); /* a tag: U+E0041 */
}

static void no_utf8_is_one_mark_a_byte(void **state)
{
    static const struct {
        const char *bytes, *shown;
    } cases[] = {
        {"\x9B"
         "31m",
         BAD "31m"},                           /* CSI as a byte */
        {"\x85\x90\x9D", BAD BAD BAD},         /* NEL, DCS, OSC as bytes */
        {"\xC0\x8A", BAD BAD},                 /* overlong newline */
        {"\xC1\x9B", BAD BAD},                 /* overlong '[' */
        {"\xE0\x80\x9B", BAD BAD BAD},         /* overlong ESC, three bytes */
        {"\xF0\x80\x80\x8A", BAD BAD BAD BAD}, /* overlong newline, four bytes */
        {"\xED\xA0\x80", BAD BAD BAD},         /* lone high surrogate */
        {"\xED\xBF\xBF", BAD BAD BAD},         /* lone low surrogate */
        {"\xED\xA0\xBD\xED\xBA\xA8",
         BAD BAD BAD BAD BAD BAD},                     /* a pair, as modified UTF-8 has it */
        {"\xF4\x90\x80\x80", BAD BAD BAD BAD},         /* above U+10FFFF */
        {"\xF8\x88\x80\x80\x80", BAD BAD BAD BAD BAD}, /* five bytes */
        {"\xFE\xFF", BAD BAD},                         /* of UTF-16 */
        {"a\xE2\x82", "a" BAD BAD},                    /* cut off */
        {"\xE2\x82\nx", BAD BAD "\\u000ax"},           /* a newline is not swallowed */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_safe(cases[i].bytes, strlen(cases[i].bytes), BBF_SAFE_VALUE, cases[i].shown);
}

static void what_is_harmless_stays(void **state)
{
    const char *text = "com.app.Été$日本 🚨 ⚠️ ├── \xEF\xBF\xBD ~!\"\\";
    (void)state;
    assert_safe(text, strlen(text), BBF_SAFE_VALUE, text);
    assert_safe("", 0, BBF_SAFE_VALUE, "");
}

static void ascii_has_nothing_else(void **state)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)state;
    assert_safe("É日🚨\xFF\033\n", strlen("É日🚨\xFF\033\n"), BBF_SAFE_ASCII | BBF_SAFE_LINES,
                "\\u00c9\\u65e5\\ud83d\\udea8\\ufffd\\u001b\n");
    for (int c = 0; c < 256; c++) {
        char bytes[5] = {(char)c, (char)(c * 7), (char)(c * 31), (char)(255 - c), 'x'};
        bbf_safe_add(&text, bytes, sizeof bytes, BBF_SAFE_ASCII, '|');
    }
    for (size_t i = 0; i < text.len; i++)
        assert_true(text.data[i] >= ' ' && text.data[i] <= '~' && text.data[i] != '|');
    bbf_buf_free(&text);
}

/* Whatever bytes come: nothing unsafe goes out, and a second pass finds nothing to do. */
static void any_bytes_are_safe_after_one_pass(void **state)
{
    uint32_t seed = 1;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct bbf_buf once = BBF_BUF_INIT, twice = BBF_BUF_INIT;
        char bytes[64];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525 + 1013904223;
            /* Half of it near the borders of the cases: leads, continuations, controls. */
            static const unsigned char near[] = {0x1B, 0x0A, 0xC2, 0x80, 0x9B, 0xE2, 0xED,
                                                 0xA0, 0xF3, 0xAE, 0xEF, 0xBB, 0xBF, 0xF4};
            bytes[i] = (char)(seed >> 31 ? seed >> 16 : near[(seed >> 16) % sizeof near]);
        }
        bbf_safe_add(&once, bytes, sizeof bytes, BBF_SAFE_VALUE, '\0');
        for (const char *p = once.data, *end = p + once.len; p < end;) {
            uint32_t code;
            p += bbf_utf8_next(p, end, &code);
            assert_false(bbf_is_unsafe(code));
        }
        bbf_safe_add(&twice, once.data, once.len, BBF_SAFE_VALUE, '\0');
        assert_int_equal(once.len, twice.len);
        assert_memory_equal(once.data, twice.data, once.len);
        bbf_buf_free(&once);
        bbf_buf_free(&twice);
    }
}

static void a_value_ends_no_line_and_a_format_does(void **state)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)state;
    bbf_safe_printf(&text, BBF_SAFE_VALUE, "%s: %.*s|%.3s|%c%c%%\n%d %ld %zu %llu %04o %u\n",
                    "x\nbbflow: all is well", 2, "ab\033", "\n\n\n\n", '\r', 'y', -1, -2L,
                    (size_t)3, 4ULL, 0755u, 5u);
    assert_string_equal(bbf_buf_cstr(&text),
                        "x\\u000abbflow: all is well: ab|\\u000a\\u000a\\u000a|\\u000dy%\n"
                        "-1 -2 3 4 0755 5\n");
    assert_false(text.failed);
    bbf_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_control_becomes_its_number),
        cmocka_unit_test(what_is_not_seen_or_turns_the_reading_becomes_its_number),
        cmocka_unit_test(no_utf8_is_one_mark_a_byte),
        cmocka_unit_test(what_is_harmless_stays),
        cmocka_unit_test(ascii_has_nothing_else),
        cmocka_unit_test(any_bytes_are_safe_after_one_pass),
        cmocka_unit_test(a_value_ends_no_line_and_a_format_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
