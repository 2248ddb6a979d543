/* link: bbf_client bbf_render bbf_trie bbf_wire bbf_core */
/* client/layout.h: whatever bytes come, at any width: it ends, it fits, and nothing unsafe goes
 * out. */
#include "client/layout.h"
#include "core/safe.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

/* In the place of libc's: how often the columns of a character were looked up. */
static size_t lookups, most_lookups = SIZE_MAX;

int wcwidth(wchar_t code)
{
    if (++lookups > most_lookups) {
        most_lookups = SIZE_MAX; /* of the next test */
        fail_msg("a lookup more than a linear time takes: %zu", lookups);
    }
    return code == L'日' || code == L'本' || code == L'語' || code >= 0x1F000 ? 2
           : code >= 0x300 && code < 0x370                                    ? 0
                                                                              : 1;
}

static void assert_layout(const char *text, struct bbf_look look, const char *shown)
{
    struct bbf_buf out = BBF_BUF_INIT;
    (void)bbf_layout(&out, text, strlen(text), &look);
    assert_string_equal(bbf_buf_cstr(&out), shown);
    bbf_buf_free(&out);
}

/* Without colours no row is wider than the screen, and only line ends are left of the controls. */
static void assert_fits(const struct bbf_buf *out, const struct bbf_look *look)
{
    const char *end = out->data + out->len;
    for (const char *line = out->data; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop != NULL ? stop : end;
        if (look->width != 0 && !look->colour)
            assert_true(bbf_columns(line, (size_t)(stop - line)) <= look->width);
        for (const char *p = line; p < stop;) {
            uint32_t code;
            p += bbf_utf8_next(p, stop, &code);
            assert_true(!bbf_is_unsafe(code) || (look->colour && code == '\033') ||
                        (look->width == 0 && code == '\t'));
            assert_true(!look->ascii || code < 0x80);
        }
        line = stop + 1;
    }
}

static void any_text_fits_and_is_safe(void **state)
{
    static const char *const parts[] = {
        "│   ",
        "    ",
        "├── ",
        "└── ",
        "ROOT: ",
        "(+12) ",
        "(+",
        "Handler.read",
        "日本語",
        "é",
        " [ref=1, count=3]",
        " [count=3]",
        " 🚨 LEAK 4 (1.0 KiB direct)",
        " ⏳ AGED 2 (5 B heap)",
        ", ",
        " ",
        "\n",
        "\t",
        "\033[2J",
        "\xE2\x80\xAE",
        "\x9B",
        "\xE2\x82",
        "e\xCC\x81",
        "…",
        "aLongWordWithoutAnEndThatNoRowHasRoomForWhateverTheWidthOfTheScreen",
        "bbflow: no",
        "\0",
    };
    uint32_t seed = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct bbf_buf text = BBF_BUF_INIT, out = BBF_BUF_INIT;
        for (int i = 0; i < 12; i++) {
            seed = seed * 1664525 + 1013904223;
            bbf_buf_str(&text, parts[(seed >> 16) % (sizeof parts / sizeof parts[0])]);
        }
        struct bbf_look look = {.width = seed >> 30 == 0 ? 0 : 20 + (seed >> 20) % 90,
                                .ascii = (seed >> 12 & 1) != 0,
                                .colour = (seed >> 13 & 3) == 0,
                                .foreign = true};
        (void)bbf_layout(&out, text.data, text.len, &look);
        assert_false(out.failed);
        assert_fits(&out, &look);
        assert_true(strncmp(bbf_buf_cstr(&out), "bbflow:", 7) != 0);
        assert_null(strstr(bbf_buf_cstr(&out), "\nbbflow:"));
        bbf_buf_free(&text);
        bbf_buf_free(&out);
    }
}

static void a_name_gives_way_to_its_marker_and_counts(void **state)
{
    const char *line = "└── AnExtremelyLongClassNameOfTheApplication.channelRead [ref=1, count=43]"
                       " 🚨 LEAK 41 (10.3 KiB direct) oldest 90 s\n";
    (void)state;
    assert_layout(line, (struct bbf_look){0}, line);
    assert_layout(line, (struct bbf_look){.width = 96},
                  "└── AnExtremelyLon…meOfTheApplication.channelRead [ref=1, count=43]"
                  " 🚨 LEAK 41 (10.3 KiB direct)\n        oldest 90 s\n");
    assert_layout(line, (struct bbf_look){.width = 60},
                  "└── AnExtremelyL…heApplication.channelRead [ref=1, count=43]\n"
                  "        🚨 LEAK 41 (10.3 KiB direct) oldest 90 s\n");
    assert_layout(line, (struct bbf_look){.width = 60, .ascii = true},
                  "`-- AnExtremely...eApplication.channelRead [ref=1, count=43]\n"
                  "        CRITICAL LEAK 41 (10.3 KiB direct) oldest 90 s\n");
    assert_layout("│   │   │   │   └── A.b [ref=1, count=0]\n", (struct bbf_look){.width = 40},
                  "(+2) │   │   └── A.b [ref=1, count=0]\n");
}

static void a_line_goes_on_below_itself(void **state)
{
    (void)state;
    assert_layout("  path of many words, not all of which fit\n", (struct bbf_look){.width = 24},
                  "  path of many words,\n      not all of which\n      fit\n");
    assert_layout("a\tb\n", (struct bbf_look){.width = 24}, "a       b\n");
    assert_layout("bbflow: x\nsaid bbflow: y", (struct bbf_look){.foreign = true},
                  "the agent says: bbflow: x\nsaid bbflow: y");
}

/* A line of `start`, 200,000 times `part`, and `end`. */
static void assert_linear(const char *start, const char *part, const char *end)
{
    enum { PARTS = 200000, PASSES = 8 };
    struct bbf_buf text = BBF_BUF_INIT, out = BBF_BUF_INIT;
    struct bbf_look look = {.width = 80};

    bbf_buf_str(&text, start);
    for (int i = 0; i < PARTS; i++)
        bbf_buf_str(&text, part);
    bbf_buf_str(&text, end);
    lookups = 0;
    most_lookups = (size_t)PARTS * PASSES;
    alarm(60); /* spaces are not looked up */
    (void)bbf_layout(&out, text.data, text.len, &look);
    alarm(0);
    assert_true(lookups >= PARTS);
    most_lookups = SIZE_MAX;
    assert_fits(&out, &look);
    bbf_buf_free(&text);
    bbf_buf_free(&out);
}

static void a_long_line_takes_linear_time(void **state)
{
    (void)state;
    assert_linear("", "é\t", "\n");
    assert_linear("", "é ", "\n");
    assert_linear("└── A.b", "é", " [ref=1, count=3]\n");
    assert_linear("└── A.b [ref=1, ", "é ", "]\n");
    assert_linear("└── A.b [ref=1, count=3] ", "é\t", "\n");
}

static void a_tab_ends_at_the_next_stop(void **state)
{
    (void)state;
    assert_layout("\t日\tb\t\tc\n", (struct bbf_look){.width = 60},
                  "        日      b               c\n");
    assert_layout("1234567\t12345678\tc\n", (struct bbf_look){.width = 60},
                  "1234567 12345678        c\n");
}

static int use_utf8(void **state)
{
    (void)state;
    return setlocale(LC_CTYPE, "C.UTF-8") != NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_text_fits_and_is_safe),
        cmocka_unit_test(a_name_gives_way_to_its_marker_and_counts),
        cmocka_unit_test(a_line_goes_on_below_itself),
        cmocka_unit_test(a_long_line_takes_linear_time),
        cmocka_unit_test(a_tab_ends_at_the_next_stop),
    };
    return cmocka_run_group_tests(tests, use_utf8, NULL);
}
