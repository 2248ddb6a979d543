/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML, for the test reports of Jenkins, GitLab and others: a test case for each rule, and one
 * for each leak, which fails if it fails the check. The root is one testsuite, which both
 * Surefire's schema and Jenkins' have (tests/long/check-formats).
 */
#include "render/check.h"

#include <inttypes.h>

#include "core/safe.h"
#include "render/owner_throws.h"
#include "render/text.h"

enum { MOST_LEAKS = 5000 };

/* Text of an element or an attribute. XML 1.0 has no U+FFFE and U+FFFF, and of controls only those
 * that bbf_text_safe() and our own texts leave. */
static void add_xml(struct bbf_buf *out, const char *text, size_t len)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&apos;"};
    const char *end = text + len;

    for (const char *p = text; p < end;) {
        uint32_t code;
        size_t n = bbf_utf8_next(p, end, &code);
        if (code < sizeof names / sizeof *names && names[code] != NULL)
            bbf_buf_str(out, names[code]);
        else if (code == BBF_UTF8_BAD || code == 0xFFFE || code == 0xFFFF ||
                 (code < 0x20 && code != '\n' && code != '\t'))
            bbf_buf_str(out, "\xEF\xBF\xBD");
        else
            bbf_buf_add(out, p, n);
        p += n;
    }
}

/* The same of a text that another function made; it is empty then. */
static void move_xml(struct bbf_buf *out, struct bbf_buf *text)
{
    out->failed = out->failed || text->failed;
    add_xml(out, text->data, text->len);
    text->len = 0;
}

static void add_property(struct bbf_buf *out, const char *name, struct bbf_buf *value)
{
    bbf_buf_printf(out, "    <property name=\"bbflow.%s\" value=\"", name);
    move_xml(out, value);
    bbf_buf_str(out, "\"/>\n");
}

static void add_properties(struct bbf_buf *out, const struct bbf_check *check, size_t not_listed,
                           struct bbf_buf *text)
{
    bbf_buf_str(out, "  <properties>\n");
    bbf_buf_str(text, BBF_VERSION);
    add_property(out, "version", text);
    bbf_check_program(text, check);
    add_property(out, "program", text);
    bbf_check_verdict_text(text, check);
    add_property(out, "verdict", text);
    if (not_listed > 0) {
        bbf_buf_printf(text, "%zu more leaks are not listed", not_listed);
        add_property(out, "note", text);
    }
    for (size_t i = 0; i < check->n_notes; i++) {
        bbf_buf_str(text, check->notes[i]);
        add_property(out, "note", text);
    }
    bbf_buf_str(out, "  </properties>\n");
}

static void add_rule(struct bbf_buf *out, const struct bbf_check_rule *rule, struct bbf_buf *text)
{
    bbf_buf_printf(out, "  <testcase classname=\"bbflow.rules\" name=\"%s\" time=\"0\">\n",
                   bbf_rule_name(rule->id));
    bbf_check_rule_text(text, rule);
    if (rule->is_broken) {
        bbf_buf_printf(out, "    <failure type=\"bbflow.%s\" message=\"", bbf_rule_name(rule->id));
        move_xml(out, text);
        bbf_buf_str(out, "\"/>\n");
    } else {
        bbf_buf_str(out, "    <system-out>");
        move_xml(out, text);
        bbf_buf_str(out, "</system-out>\n");
    }
    bbf_buf_str(out, "  </testcase>\n");
}

/* What a developer reads in the report: the sentence, the rate, the path, a step a line. */
static void add_details(struct bbf_buf *text, struct bbf_check *check,
                        const struct bbf_compared *row, struct bbf_view *view, uint32_t last)
{
    bbf_check_row_text(text, check, row);
    bbf_buf_str(text, "\nrate: ");
    bbf_check_rates_text(text, row);
    bbf_buf_char(text, '\n');
    const struct bbf_check_place place = bbf_check_place(check, view, last);
    if (place.file != NULL) {
        bbf_buf_str(text, "in ");
        bbf_text_safe(text, place.file, '\0');
        if (place.line != 0)
            bbf_buf_printf(text, ":%" PRIu32, place.line);
        bbf_buf_char(text, '\n');
    }
    bbf_owner_throws_text(text, view, last);
    const struct bbf_view_path path = bbf_view_path(view, last);
    bbf_buf_str(text, "path:\n");
    for (size_t i = 0; i < path.n; i++) {
        bbf_buf_str(text, "  ");
        bbf_view_name(text, view, path.nodes[i]);
        bbf_buf_char(text, '\n');
    }
}

/* The class and method to look at, and the id: the same in each build, so that a server shows since
 * when the test fails. */
static void add_names(struct bbf_buf *out, const struct bbf_compared *row, struct bbf_view *view,
                      uint32_t last, struct bbf_buf *text)
{
    const uint32_t owner = bbf_owner_to_mend(view, last);
    const struct bbf_snap_site *site = &view->snapshot->sites[view->snapshot->nodes[owner].site];

    bbf_text_safe(text, site->class_name[0] != '\0' ? site->class_name : "bbflow.leaks", '\0');
    bbf_buf_str(out, "  <testcase classname=\"");
    move_xml(out, text);
    bbf_buf_str(out, "\" name=\"");
    bbf_view_name(text, view, owner);
    bbf_buf_printf(text, " (id %016" PRIx64 ")", row->id);
    move_xml(out, text);
    bbf_buf_str(out, "\" time=\"0\">\n");
}

static void add_leak(struct bbf_buf *out, struct bbf_check *check, size_t i, struct bbf_buf *text)
{
    const struct bbf_compared *row = &check->comparison.rows[i];
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(check, row, &d);

    add_names(out, row, view, d->last, text);
    if (check->fails[i] != 0) {
        bbf_buf_str(out, "    <failure type=\"bbflow.leak\" message=\"");
        bbf_check_kind(text, check, row);
        bbf_buf_str(text, ": ");
        bbf_check_row_text(text, check, row);
        move_xml(out, text);
        bbf_buf_str(out, "\">");
    } else {
        bbf_buf_str(out, "    <system-out>");
        bbf_check_kind(text, check, row);
        bbf_buf_str(text, ": ");
    }
    add_details(text, check, row, view, d->last);
    move_xml(out, text);
    bbf_buf_str(out, check->fails[i] != 0 ? "</failure>\n" : "</system-out>\n");
    bbf_buf_str(out, "  </testcase>\n");
}

/* Failing ones first, so that a limit leaves out none of them before the others. */
static size_t add_leaks(struct bbf_buf *out, struct bbf_check *check, bool failing, size_t most,
                        struct bbf_buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < check->comparison.count && n < most; i++)
        if ((check->fails[i] != 0) == failing && check->comparison.rows[i].change != BBF_GONE) {
            add_leak(out, check, i, text);
            n++;
        }
    return n;
}

static void write(struct bbf_buf *out, struct bbf_check *check)
{
    const size_t shown = check->comparison.count - check->comparison.of[BBF_GONE];
    struct bbf_buf text = BBF_BUF_INIT;
    size_t leaks = shown < MOST_LEAKS ? shown : MOST_LEAKS;
    size_t failing = check->n_failing < MOST_LEAKS ? check->n_failing : MOST_LEAKS;

    bbf_buf_printf(out,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"bbflow\" "
                   "tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\" time=\"0\">\n",
                   check->n_rules + leaks, check->n_broken + failing);
    add_properties(out, check, shown - leaks, &text);
    for (size_t i = 0; i < check->n_rules; i++)
        add_rule(out, &check->rules[i], &text);
    size_t n = add_leaks(out, check, true, MOST_LEAKS, &text);
    (void)add_leaks(out, check, false, MOST_LEAKS - n, &text);
    bbf_buf_str(out, "</testsuite>\n");
    out->failed = out->failed || text.failed;
    bbf_buf_free(&text);
}

int bbf_render_junit(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options)
{
    return bbf_check_render(out, view, options, write);
}
