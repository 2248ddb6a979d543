/* link: bbf_render bbf_snapshot bbf_core */
/*
 * The page: which parts it has, that its data is the JSON document and nothing in it ends its
 * element, and the report against tests/golden/render/SAMPLE.report, byte for byte. With
 * BBF_GOLDEN_UPDATE=1 in the environment those files are written instead. What a browser makes of
 * it: tests/long/html.
 */
#include "core/buf.h"
#include "render/choice.h"
#include "render/html.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define FOLDER     BBF_SOURCE_DIR "/tests/golden/render/"
#define REPORT     "<script type=\"application/json\" id=\"report\">\n"
#define SNAPSHOT   "<script type=\"application/json\" id=\"snapshot\">\n"
#define SCRIPT_END "</script>"

enum { PAGE_MOST = 150000 }; /* bytes of a page without its data */

static struct bbf_buf render(const struct bbf_snapshot *s, enum bbf_format format,
                             const struct bbf_choice *choice)
{
    struct bbf_render_options options = {.choice = choice};
    struct bbf_buf text = BBF_BUF_INIT;

    assert_int_equal(bbf_render(&text, s, format, &options), 0);
    (void)bbf_buf_cstr(&text);
    return text;
}

/* A copy of what is between `begin` and the end of that element. */
static struct bbf_buf part(const struct bbf_buf *page, const char *begin)
{
    struct bbf_buf out = BBF_BUF_INIT;
    const char *at = strstr(page->data, begin);

    assert_non_null(at);
    at += strlen(begin);
    const char *end = strstr(at, SCRIPT_END);
    assert_non_null(end);
    bbf_buf_add(&out, at, (size_t)(end - at));
    (void)bbf_buf_cstr(&out);
    return out;
}

static struct bbf_snapshot *made(struct bbf_snapshot *s)
{
    assert_int_equal(bbf_snapshot_finish(s), 0);
    return s;
}

/* ---- the page ---- */

static void the_page_is_small_ascii_and_loads_nothing(void **state)
{
    (void)state;
    struct bbf_snapshot *s = made(sample_empty());
    struct bbf_buf page = render(s, BBF_FORMAT_HTML, NULL), report = part(&page, REPORT),
                   snapshot = part(&page, SNAPSHOT);

    assert_true(strncmp(page.data, "<!DOCTYPE html>\n", 16) == 0);
    assert_true(page.len - report.len - snapshot.len < PAGE_MOST);
    size_t plain = 0;
    for (size_t i = 0; i < page.len; i++)
        plain += (page.data[i] >= ' ' && page.data[i] < 0x7F) || page.data[i] == '\n';
    assert_int_equal(plain, page.len);
    assert_non_null(strstr(page.data, "content=\"default-src 'none'; style-src 'sha256-"));
    assert_non_null(strstr(page.data, "; script-src 'sha256-"));
    assert_null(strstr(page.data, "connect-src"));
    assert_null(strstr(page.data, "fetch("));
    static const char *const never[] = {"http:",
                                        "https:",
                                        "innerHTML",
                                        "outerHTML",
                                        "eval(",
                                        "document.write",
                                        "insertAdjacentHTML",
                                        "unsafe-inline",
                                        " style=\"",
                                        " onclick=\"",
                                        "@import",
                                        "url(",
                                        "@REPORT@",
                                        "_HASH@"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(page.data, never[i]) != NULL)
            fail_msg("the page has %s", never[i]);
    bbf_buf_free(&snapshot);
    bbf_buf_free(&report);
    bbf_buf_free(&page);
    bbf_snapshot_free(s);
}

/* ---- the data ---- */

/* \u003c back to '<'. */
static void unescape(struct bbf_buf *text)
{
    size_t to = 0;

    for (size_t i = 0; i < text->len; i++) {
        bool escape =
            strncmp(text->data + i, "\\u003c", 6) == 0 && (i == 0 || text->data[i - 1] != '\\');
        text->data[to++] = escape ? '<' : text->data[i];
        i += escape ? 5 : 0;
    }
    text->data[text->len = to] = '\0';
}

static void the_data_is_the_json_document(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        if (!samples[i].golden) /* the large ones show nothing more */
            continue;
        struct bbf_snapshot *s = made(samples[i].make());
        struct bbf_buf page = render(s, BBF_FORMAT_HTML, NULL),
                       json = render(s, BBF_FORMAT_JSON, NULL), data = part(&page, SNAPSHOT);
        assert_null(strchr(data.data, '<'));
        unescape(&data);
        assert_string_equal(data.data, json.data);
        bbf_buf_free(&data);
        bbf_buf_free(&json);
        bbf_buf_free(&page);
        bbf_snapshot_free(s);
    }
}

/* A snapshot whose names, notes and threads want to end their element. */
static struct bbf_snapshot *hostile(void)
{
    static const char name[] = "</script><img src=x onerror=alert(1)><!--<script>";
    struct bbf_snapshot *s = sample_new();
    const int64_t root = sample_step(s, -1, name, name);

    (void)sample_step(s, root, name, "lose");
    sample_string(&s->notes, &s->n_notes, name);
    sample_setting(s, name, name);
    s->nodes[1].leaked_ = 1;
    s->nodes[0].released_ = 1;
    assert_int_equal(bbf_snapshot_add_thread(s, 5, name), 0);
    return made(s);
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

static void no_name_ends_its_element(void **state)
{
    (void)state;
    struct bbf_snapshot *s = hostile();
    struct bbf_buf page = render(s, BBF_FORMAT_HTML, NULL), report = part(&page, REPORT),
                   snapshot = part(&page, SNAPSHOT);

    assert_null(strchr(report.data, '<'));
    assert_null(strchr(snapshot.data, '<'));
    assert_non_null(strstr(report.data, "\\u003c/script>\\u003cimg src=x"));
    assert_int_equal(count_of(page.data, "<script"), 3 + 1); /* and once in diff.js's pattern */
    assert_int_equal(count_of(page.data, SCRIPT_END), 3);
    assert_int_equal(count_of(page.data, "<img"), 0);
    assert_int_equal(count_of(page.data, "<!--"), 0);
    bbf_buf_free(&snapshot);
    bbf_buf_free(&report);
    bbf_buf_free(&page);
    bbf_snapshot_free(s);
}

/* ---- the report ---- */

static void compare_with_golden(const char *name, const struct bbf_buf *report)
{
    struct bbf_buf golden = BBF_BUF_INIT;
    char path[512];

    snprintf(path, sizeof path, FOLDER "%s.report", name);
    FILE *file = fopen(path, getenv("BBF_GOLDEN_UPDATE") != NULL ? "wb" : "rb");
    if (file == NULL)
        fail_msg("%s: not there; BBF_GOLDEN_UPDATE=1 writes it", path);
    if (getenv("BBF_GOLDEN_UPDATE") != NULL) {
        assert_int_equal(fwrite(report->data, 1, report->len, file), report->len);
        assert_int_equal(fclose(file), 0);
        return;
    }
    for (int c; (c = fgetc(file)) != EOF;)
        bbf_buf_char(&golden, (char)c);
    fclose(file);
    if (golden.len != report->len || memcmp(golden.data, report->data, golden.len) != 0)
        fail_msg("%s: differs from what is rendered:\n%s", path, report->data);
    bbf_buf_free(&golden);
}

static void reports_are_as_their_golden_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        if (!samples[i].golden)
            continue;
        struct bbf_snapshot *s = made(samples[i].make());
        struct bbf_buf page = render(s, BBF_FORMAT_HTML, NULL), report = part(&page, REPORT);
        compare_with_golden(samples[i].name, &report);
        bbf_buf_free(&report);
        bbf_buf_free(&page);
        bbf_snapshot_free(s);
    }
}

static void the_filters_of_the_command_are_in_the_report(void **state)
{
    (void)state;
    const struct bbf_choice choice = {.lost = true,
                                      .memories = 1U << BBF_MEM_HEAP | 1U << BBF_MEM_DIRECT,
                                      .older = 600,
                                      .path = "a\"<b",
                                      .is = BBF_RATE_ABOVE,
                                      .percent = 0.5};
    struct bbf_snapshot *s = made(sample_growth());
    struct bbf_buf page = render(s, BBF_FORMAT_HTML, &choice), report = part(&page, REPORT);

    assert_non_null(strstr(
        report.data, "\n\"choice\":{\"lost\":true,\"older\":600,\"memories\":[\"direct\",\"heap\"],"
                     "\"rate\":\">0.5\",\"path\":\"a\\\"\\u003cb\"}"));
    assert_int_equal(count_of(report.data, "{\"id\":\""), 2); /* all entries are in the page */
    bbf_buf_free(&report);
    bbf_buf_free(&page);
    bbf_snapshot_free(s);
}

/* ---- the live form ---- */

static void the_live_form_has_no_data_and_may_ask_its_server_only(void **state)
{
    (void)state;
    struct bbf_buf page = BBF_BUF_INIT;

    bbf_html_live(&page);
    assert_false(page.failed);
    assert_non_null(strstr(bbf_buf_cstr(&page), "; script-src 'sha256-"));
    assert_non_null(strstr(page.data, "' 'sha256-"));
    assert_non_null(strstr(page.data, "; connect-src 'self'\">"));
    assert_int_equal(count_of(page.data, "connect-src"), 1);
    struct bbf_buf report = part(&page, REPORT), snapshot = part(&page, SNAPSHOT);
    assert_string_equal(report.data, "null\n");
    assert_string_equal(snapshot.data, "null\n");
    assert_int_equal(count_of(page.data, SCRIPT_END), 4);
    static const char *const never[] = {"http:", "https:", "innerHTML", "unsafe-inline", "eval("};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_null(strstr(page.data, never[i]));
    assert_false(bbf_html_data(&page)); /* not a page with data */
    bbf_buf_free(&snapshot);
    bbf_buf_free(&report);
    bbf_buf_free(&page);
}

static void the_live_form_fetches_what_a_page_has(void **state)
{
    (void)state;
    struct bbf_snapshot *s = hostile();
    struct bbf_buf page = render(s, BBF_FORMAT_HTML, NULL), report = part(&page, REPORT),
                   snapshot = part(&page, SNAPSHOT), cut = render(s, BBF_FORMAT_HTML, NULL);

    assert_true(bbf_html_data(&page));
    const char *mark = memchr(page.data, BBF_HTML_MARK, page.len);
    assert_non_null(mark);
    assert_int_equal(mark - page.data, report.len);
    assert_memory_equal(page.data, report.data, report.len);
    assert_int_equal(page.len - report.len - 1, snapshot.len);
    assert_memory_equal(mark + 1, snapshot.data, snapshot.len);
    assert_false(bbf_html_data(&page)); /* once */
    for (size_t len = cut.len - 1; len > 0; len = len * 9 / 10) {
        cut.len = len;
        assert_false(bbf_html_data(&cut));
        assert_int_equal(cut.len, len);
    }
    bbf_buf_free(&cut);
    bbf_buf_free(&snapshot);
    bbf_buf_free(&report);
    bbf_buf_free(&page);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_live_form_has_no_data_and_may_ask_its_server_only),
        cmocka_unit_test(the_live_form_fetches_what_a_page_has),
        cmocka_unit_test(the_page_is_small_ascii_and_loads_nothing),
        cmocka_unit_test(the_data_is_the_json_document),
        cmocka_unit_test(no_name_ends_its_element),
        cmocka_unit_test(reports_are_as_their_golden_files),
        cmocka_unit_test(the_filters_of_the_command_are_in_the_report),
    };
    return cmocka_run_group_tests_name("render_html", tests, NULL, NULL);
}
