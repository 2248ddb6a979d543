/* link: bbf_render bbf_trie bbf_core */
/*
 * Each sample in each format against tests/golden/render/SAMPLE.FORMAT, byte for byte. With
 * BBF_GOLDEN_UPDATE=1 in the environment the files are written instead, to be looked at as a diff.
 * The binary formats have tests of their own, which read them back; so does html, most of whose
 * bytes are the page itself (test_render_html).
 */
#include "core/buf.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define FOLDER BBF_SOURCE_DIR "/tests/golden/render/"

static const char *const format_names[] = {
#define XX(id, name, extension, flags) #name,
    BBF_FORMATS(XX)
#undef XX
};

static void write_golden(const char *path, const struct bbf_buf *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->len, file), text->len);
    assert_int_equal(fclose(file), 0);
}

static void read_golden(const char *path, struct bbf_buf *text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: not there; BBF_GOLDEN_UPDATE=1 writes it", path);
    for (;;) {
        char *to = bbf_buf_reserve(text, 4096);
        assert_non_null(to);
        size_t got = fread(to, 1, 4096, file);
        if (got == 0)
            break;
        text->len += got;
    }
    fclose(file);
}

static void compare_with_golden(const char *path, struct bbf_buf *text)
{
    struct bbf_buf golden = BBF_BUF_INIT;
    size_t line = 1, i = 0;

    if (getenv("BBF_GOLDEN_UPDATE") != NULL) {
        write_golden(path, text);
        return;
    }
    read_golden(path, &golden);
    while (i < text->len && i < golden.len && text->data[i] == golden.data[i])
        line += text->data[i++] == '\n';
    if (i != text->len || i != golden.len)
        fail_msg("%s:%zu: differs from what is rendered:\n%s", path, line, bbf_buf_cstr(text));
    bbf_buf_free(&golden);
}

static bool is_for_tools(enum bbf_format format)
{
    return (bbf_format_flags(format) & BBF_FORMAT_TOOL) == BBF_FORMAT_TOOL;
}

/* Formats for tools differ less from sample to sample: these show all that they have. */
static bool has_tools(const char *sample)
{
    static const char *const names[] = {"interior", "escapes", "empty", "verdicts", "growth"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], sample) == 0)
            return true;
    return false;
}

static const struct bbf_render_options as_the_client = {.max_lines = 100};

static void samples_render_as_their_golden_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        if (!samples[i].golden)
            continue;
        struct bbf_snapshot *snapshot = samples[i].make();
        assert_int_equal(bbf_snapshot_finish(snapshot), 0);
        for (size_t f = 0; f < sizeof format_names / sizeof *format_names; f++) {
            struct bbf_buf text = BBF_BUF_INIT;
            enum bbf_format format;
            char path[512];
            assert_int_equal(bbf_format_of_name(format_names[f], &format), 0);
            if ((bbf_format_flags(format) & BBF_FORMAT_BINARY) != 0 || format == BBF_FORMAT_HTML ||
                (is_for_tools(format) && !has_tools(samples[i].name)))
                continue;
            assert_int_equal(bbf_render(&text, snapshot, format, &as_the_client), 0);
            snprintf(path, sizeof path, FOLDER "%s.%s", samples[i].name, format_names[f]);
            compare_with_golden(path, &text);
            bbf_buf_free(&text);
        }
        bbf_snapshot_free(snapshot);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_render_as_their_golden_files),
    };
    return cmocka_run_group_tests_name("render_golden", tests, NULL, NULL);
}
