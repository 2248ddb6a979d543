/* link: bbf_wire bbf_core */
/*
 * What the golden frames do not show: the decoder's bounds, text that is no UTF-8, commands that
 * cannot be said, and how text is cut into frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/err.h"
#include "wire/btrace/command.h"
#include "wire/btrace/utf8.h"

static const struct bbf_wire_limits tight = {
    .frame = 100, .string = 10, .entries = 4, .objects = 1 << 16};

static int decode_tight(const char *frame, size_t len)
{
    struct bbf_command c;
    const char *why = NULL;
    size_t used;
    int err = bbf_command_decode(&c, (const uint8_t *)frame, len, &used, &tight, &why);

    assert_int_equal(err == BBF_OK, why == NULL);
    bbf_command_free(&c);
    return err;
}
#define DECODE(frame) decode_tight(frame, sizeof frame - 1)

static void each_bound_is_kept_to_the_byte(void **state)
{
    (void)state;
    assert_int_equal(DECODE("\x03\x01\0\0\0\x0A"
                            "0123456789"),
                     BBF_OK);
    assert_int_equal(DECODE("\x03\x01\0\0\0\x0B"
                            "0123456789a"),
                     BBF_ELIMIT);
    /* Refused by the length alone, before the rest is there. */
    assert_int_equal(DECODE("\x03\x01\0\0\0\x0B"), BBF_ELIMIT);
    assert_int_equal(DECODE("\x03\x0E\0\0\0\x04"), BBF_EMORE);
    assert_int_equal(DECODE("\x03\x0E\0\0\0\x05"), BBF_ELIMIT);
    assert_int_equal(DECODE("\x03\x0D\0\0\0\x05"), BBF_ELIMIT);
    assert_int_equal(DECODE("\x03\x0D\x7F\xFF\xFF\xFF"), BBF_ELIMIT);
    /* Code and messages are bounded by the frame: 2 + 4 + 94 = 100. */
    assert_int_equal(DECODE("\x03\x03\0\0\0\x5E"), BBF_EMORE);
    assert_int_equal(DECODE("\x03\x03\0\0\0\x5F"), BBF_ELIMIT);
    assert_int_equal(DECODE("\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x55"), BBF_ELIMIT);
    assert_int_equal(DECODE("\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x54"), BBF_EMORE);
    /* Also the inflated length. */
    assert_int_equal(DECODE("\x03\x04\0\0\0\0\0\0\0\0\0\x01\0\0\0\x65\0\0\0\x08"), BBF_ELIMIT);
    assert_int_equal(DECODE("\x03\x04\0\0\0\0\0\0\0\0\0\x01\0\0\0\x64\0\0\0\x08"), BBF_EMORE);
}

static void the_cells_of_a_grid_are_bounded_together(void **state)
{
    (void)state;
    /* Null name, no columns, 2 rows of 2 and 2 null cells, then of 2 and 3. */
    assert_int_equal(DECODE("\x03\x0A\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\x02"
                            "\0\0\0\x02\0\0\0\0\0\x02\0\0"),
                     BBF_OK);
    assert_int_equal(DECODE("\x03\x0A\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\x02"
                            "\0\0\0\x02\0\0\0\0\0\x03\0\0\0"),
                     BBF_ELIMIT);
}

static void an_incomplete_frame_says_how_much_it_needs(void **state)
{
    static const char frame[] = "\x03\x0F\0\0\0\x05hello\x03";
    static const size_t need[] = {1, 2, 6, 6, 6, 6, 11, 11, 11, 11, 11};
    struct bbf_command c;
    size_t used;

    (void)state;
    for (size_t len = 0; len < 11; len++) {
        assert_int_equal(bbf_command_decode(&c, (const uint8_t *)frame, len, &used, &tight, NULL),
                         BBF_EMORE);
        assert_int_equal(used, need[len]);
        assert_int_equal(bbf_command_skip((const uint8_t *)frame, len, &used, &tight, NULL),
                         BBF_EMORE);
        assert_int_equal(used, need[len]);
    }
    assert_int_equal(bbf_command_decode(&c, (const uint8_t *)frame, 12, &used, &tight, NULL),
                     BBF_OK);
    assert_int_equal(used, 11);
    assert_string_equal(c.text[0].s, "hello");
    bbf_command_free(&c);
    assert_null(c.text[0].s);
}

static void numbers_as_text_are_java_numbers(void **state)
{
    static const struct {
        const char *frame;
        size_t len;
        int err;
    } cases[] = {
#define BIG(tag, n, text, err)                                                                     \
    {"\x03\x09\xFF\xFF\xFF\xFF" tag "\0\0\0" n text, 11 + sizeof text - 1, err}
        BIG("\x05", "\x02", "-1", BBF_OK),        BIG("\x05", "\x02", "+1", BBF_OK),
        BIG("\x05", "\x00", "", BBF_EFORMAT),     BIG("\x05", "\x01", "-", BBF_EFORMAT),
        BIG("\x05", "\x03", "1.5", BBF_EFORMAT),  BIG("\x05", "\x02", " 1", BBF_EFORMAT),
        BIG("\x06", "\x03", "1.5", BBF_OK),       BIG("\x06", "\x02", ".5", BBF_OK),
        BIG("\x06", "\x02", "5.", BBF_OK),        BIG("\x06", "\x06", "-1E+40", BBF_OK),
        BIG("\x06", "\x03", "1e9", BBF_OK),       BIG("\x06", "\x01", ".", BBF_EFORMAT),
        BIG("\x06", "\x02", "E5", BBF_EFORMAT),   BIG("\x06", "\x03", "1E+", BBF_EFORMAT),
        BIG("\x06", "\x04", "1E5x", BBF_EFORMAT), BIG("\x06", "\x04", "1.5.", BBF_EFORMAT),
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int err = decode_tight(cases[i].frame, cases[i].len);
        if (err != cases[i].err)
            fail_msg("case %zu: %d, not %d", i, err, cases[i].err);
    }
}

/* What java.lang.String makes of the same bytes (JDK 17, new String(bytes, UTF_8)). */
static void malformed_text_is_repaired_as_java_does(void **state)
{
#define FFFD "\xEF\xBF\xBD"
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain ascii of more than sixteen bytes", "plain ascii of more than sixteen bytes"},
        {"\xC3\x28\xFF", FFFD "(" FFFD},
        {"abcdefgh\x80", "abcdefgh" FFFD},
        {"\xE4\xB8\x96\xF0\x9F\x9A\x80", "\xE4\xB8\x96\xF0\x9F\x9A\x80"},
        {"\xE4\xB8", FFFD}, /* cut short: one for the whole piece */
        {"\xE4\xB8z", FFFD "z"},
        {"\xF0\x9F\x9Az", FFFD "z"},
        {"\xC0\x80", FFFD FFFD}, /* overlong */
        {"\xE0\x80\x80", FFFD FFFD FFFD},
        {"\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD}, /* past U+10FFFF */
        {"\xF5z", FFFD "z"},
        {"\xED\xA0\x80z\xED\xA0z", FFFD "z" FFFD "z"}, /* an encoded surrogate; a part of one */
        {"\xED\x9F\xBF\xEE\x80\x80", "\xED\x9F\xBF\xEE\x80\x80"}, /* beside the surrogates */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_command in = {.type = BBF_CMD_MESSAGE};
        struct bbf_command out;
        size_t used;
        in.text[0].s = (char *)(uintptr_t)cases[i].in;
        in.text[0].len = strlen(cases[i].in);
        for (size_t over = 0; over < 2; over++) { /* deflated, and not */
            struct bbf_buf frame = BBF_BUF_INIT;
            assert_int_equal(bbf_command_encode(&frame, &in, over == 0 ? 0 : SIZE_MAX), BBF_OK);
            assert_int_equal(bbf_command_decode(&out, (uint8_t *)frame.data, frame.len, &used,
                                                &bbf_wire_client_limits, NULL),
                             BBF_OK);
            assert_int_equal(out.text[0].len, strlen(cases[i].out));
            assert_string_equal(out.text[0].s, cases[i].out);
            bbf_command_free(&out);
            bbf_buf_free(&frame);
        }
    }
}

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    assert_int_equal(bbf_utf8_cut("abc", 3, 5), 3);
    assert_int_equal(bbf_utf8_cut("abcdef", 6, 5), 5);
    assert_int_equal(bbf_utf8_cut("a\xE4\xB8\x96z", 5, 2), 1);
    assert_int_equal(bbf_utf8_cut("a\xE4\xB8\x96z", 5, 3), 1);
    assert_int_equal(bbf_utf8_cut("a\xE4\xB8\x96z", 5, 4), 4);
    assert_int_equal(bbf_utf8_cut("\xF0\x9F\x9A\x80\xF0\x9F\x9A\x80", 8, 7), 4);
    /* No boundary near: it still makes progress. */
    assert_int_equal(bbf_utf8_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 6), 6);
    assert_int_equal(bbf_utf8_cut("\xE4\xB8\x96", 3, 1), 1);
}

static void refused(const struct bbf_command *command)
{
    struct bbf_buf out = BBF_BUF_INIT;

    bbf_buf_str(&out, "before");
    assert_int_equal(bbf_command_encode(&out, command, SIZE_MAX), BBF_EINVAL);
    assert_int_equal(out.len, 6);
    assert_string_equal(bbf_buf_cstr(&out), "before");
    bbf_buf_free(&out);
}

static void what_cannot_be_said_is_refused_and_leaves_nothing(void **state)
{
    struct bbf_entry entry = {.key = {(char *)(uintptr_t) "k", 1},
                              .value = {.kind = BBF_VALUE_STRING}};
    struct bbf_row row = {&entry.value, 1};
    struct bbf_wire_str huge = {(char *)(uintptr_t) "", BBF_WIRE_STRING_MAX + 1};

    (void)state;
    refused(&(struct bbf_command){.type = BBF_CMD_TYPES});
    refused(&(struct bbf_command){.type = (enum bbf_command_type)255});
    /* A number is no string, a text is no boolean, a grid has no big integers. */
    refused(&(struct bbf_command){.type = BBF_CMD_NUMBER_MAP, .entries = &entry, .n_entries = 1});
    entry.value.kind = BBF_VALUE_BOOLEAN;
    refused(&(struct bbf_command){.type = BBF_CMD_NUMBER, .value = entry.value});
    refused(&(struct bbf_command){.type = BBF_CMD_STRING_MAP, .entries = &entry, .n_entries = 1});
    refused(&(struct bbf_command){.type = BBF_CMD_INSTRUMENT, .entries = &entry, .n_entries = 1});
    entry.value.kind = BBF_VALUE_BIGINT;
    refused(&(struct bbf_command){.type = BBF_CMD_GRID_DATA, .rows = &row, .n_rows = 1});
    refused(&(struct bbf_command){.type = BBF_CMD_SET_PARAMS, .entries = &entry, .n_entries = 1});
    /* A big integer without text has no meaning for the peer. */
    refused(&(struct bbf_command){.type = BBF_CMD_NUMBER, .value = entry.value});
    refused(&(struct bbf_command){.type = BBF_CMD_EVENT, .text = {huge}});
    refused(&(struct bbf_command){.type = BBF_CMD_MESSAGE, .text = {huge}});
}

static void the_threshold_of_deflating_is_a_length_in_bytes(void **state)
{
    char text[2001];
    struct bbf_command c = {.type = BBF_CMD_MESSAGE, .text = {{text, 0}}};

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t len = 1023; len < 1027; len++) {
        struct bbf_buf out = BBF_BUF_INIT;
        c.text[0].len = len;
        assert_int_equal(bbf_command_encode(&out, &c, BBF_DEFLATE_OVER), BBF_OK);
        assert_int_equal(out.data[11], len > 1024);
        if (len > 1024)
            assert_in_range(out.len, 20, 100);
        else
            assert_int_equal(out.len, 16 + len);
        bbf_buf_free(&out);
    }
}

/* Cut inside the check value, the text is all there and its check is not. */
static void a_deflated_text_ends_with_its_check_value(void **state)
{
    char text[2000];
    struct bbf_command c = {.type = BBF_CMD_MESSAGE, .text = {{text, sizeof text}}}, out;
    struct bbf_buf frame = BBF_BUF_INIT;
    size_t used;

    (void)state;
    memset(text, 'x', sizeof text);
    assert_int_equal(bbf_command_encode(&frame, &c, 0), BBF_OK);
    for (size_t cut = 0; cut < 5; cut++) {
        size_t zip_len = frame.len - 20 - cut;
        assert_in_range(zip_len, 1, 255);
        frame.data[19] = (char)zip_len;
        int err = bbf_command_decode(&out, (uint8_t *)frame.data, frame.len - cut, &used,
                                     &bbf_wire_client_limits, NULL);
        assert_int_equal(err, cut == 0 ? BBF_OK : BBF_EFORMAT);
        bbf_command_free(&out);
    }
    bbf_buf_free(&frame);
}

static void names_and_numbers_of_the_commands(void **state)
{
    (void)state;
    assert_string_equal(bbf_command_name(BBF_CMD_ERROR), "ERROR");
    assert_string_equal(bbf_command_name(BBF_CMD_LIST_FAILED_EXTENSIONS), "LIST_FAILED_EXTENSIONS");
    assert_string_equal(bbf_command_name((enum bbf_command_type)18), "unknown command");
    assert_int_equal(BBF_CMD_TYPES, 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bound_is_kept_to_the_byte),
        cmocka_unit_test(the_cells_of_a_grid_are_bounded_together),
        cmocka_unit_test(an_incomplete_frame_says_how_much_it_needs),
        cmocka_unit_test(numbers_as_text_are_java_numbers),
        cmocka_unit_test(malformed_text_is_repaired_as_java_does),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(what_cannot_be_said_is_refused_and_leaves_nothing),
        cmocka_unit_test(the_threshold_of_deflating_is_a_length_in_bytes),
        cmocka_unit_test(a_deflated_text_ends_with_its_check_value),
        cmocka_unit_test(names_and_numbers_of_the_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
