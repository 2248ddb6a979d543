/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 (OASIS), for code scanning: a result for each leak, whose code flow is the path of
 * the buffer, whose partial fingerprint is the leak's id, and whose baselineState is what became of
 * it. Leaks that are gone are no results: GitHub closes an alert whose result is gone. Broken rules
 * and notes are notifications of the run. GitHub shows 5,000 results of a run.
 */
#include "render/check.h"

#include <inttypes.h>
#include <string.h>

#include "render/json_text.h"
#include "render/names.h"
#include "render/text.h"

enum { MOST_RESULTS = 5000, MOST_STEPS = 1000 };

struct sarif {
    struct bbf_buf *out;
    struct bbf_check *check;
    struct bbf_buf text; /* for what is then escaped */
};

/* A string of what was written to the text, which is empty then. */
static void move(struct sarif *s)
{
    s->out->failed = s->out->failed || s->text.failed;
    bbf_json_text(s->out, bbf_buf_cstr(&s->text));
    s->text.len = 0;
}

/* In a message "[text](target)" is a link and "{0}" a placeholder (SARIF 3.11.5, 3.11.6): not in
 * ours, whatever a name has. */
static void add_message(struct sarif *s, const char *name)
{
    const bool link = strstr(bbf_buf_cstr(&s->text), "](") != NULL;
    struct bbf_buf plain = BBF_BUF_INIT;

    for (size_t i = 0; i < s->text.len; i++) {
        const char c = s->text.data[i], next = s->text.data[i + 1]; /* a NUL at the end */
        if (link && (c == '[' || c == ']' || c == '\\'))
            bbf_buf_char(&plain, '\\');
        else if (c == '{' && next >= '0' && next <= '9')
            bbf_buf_char(&plain, c);
        bbf_buf_char(&plain, c);
    }
    s->text.len = 0;
    s->out->failed = s->out->failed || s->text.failed || plain.failed;
    bbf_buf_printf(s->out, "\"%s\":{\"text\":", name);
    bbf_json_text(s->out, bbf_buf_cstr(&plain));
    bbf_buf_char(s->out, '}');
    bbf_buf_free(&plain);
}

static const struct {
    const char *id, *name, *text, *help;
} rules[] = {
    {"bbflow/leak", "ByteBufLeak", "A ByteBuf was garbage-collected and nothing had released it.",
     "The method at the result's place had the buffer last. Release it there on each way out, also "
     "where an exception leaves, or hand it to a method that does. The code flow is the way of the "
     "buffer from its allocation. docs/ci.md and docs/reading-a-tree.md of bbflow say more."},
    {"bbflow/open", "ByteBufOpenForLong", "A ByteBuf is open for too long.",
     "Nothing has released it and something still refers to it: a cache, a queue, or a leak that "
     "no "
     "garbage collection has proven yet."}};

static void add_rule(struct bbf_buf *out, size_t i)
{
    bbf_buf_printf(out,
                   "{\"id\":\"%s\",\"name\":\"%s\",\"shortDescription\":{\"text\":\"%s\"},"
                   "\"fullDescription\":{\"text\":\"%s\"},\"help\":{\"text\":\"%s\"},"
                   "\"defaultConfiguration\":{\"level\":\"error\"}}",
                   rules[i].id, rules[i].name, rules[i].text, rules[i].text, rules[i].help);
}

static void add_tool(struct sarif *s)
{
    struct bbf_buf *out = s->out;

    bbf_buf_str(out, "\"tool\":{\"driver\":{\"name\":\"bbflow\",\"semanticVersion\":\"" BBF_VERSION
                     "\",\"rules\":[\n");
    add_rule(out, 0);
    bbf_buf_str(out, ",\n");
    add_rule(out, 1);
    bbf_buf_str(out, "]}},\n");
}

static void add_notification(struct sarif *s, const char *glue, const char *level)
{
    bbf_buf_printf(s->out, "%s{\"level\":\"%s\",", glue, level);
    add_message(s, "message");
    bbf_buf_char(s->out, '}');
}

/* What the run was about, which rules are broken, what it did not see. Not results: a rule has no
 * place, and GitHub refuses a file that has a result without one. */
static void add_invocation(struct sarif *s, size_t not_listed)
{
    bbf_buf_str(s->out, "\"invocations\":[{\"executionSuccessful\":true,"
                        "\"toolExecutionNotifications\":[\n");
    bbf_check_verdict_text(&s->text, s->check);
    bbf_buf_str(&s->text, " (");
    bbf_check_program(&s->text, s->check);
    bbf_buf_char(&s->text, ')');
    if (not_listed > 0)
        bbf_buf_printf(&s->text, "; %zu more leaks are not listed", not_listed);
    add_notification(s, "", "note");
    for (size_t i = 0; i < s->check->n_rules; i++)
        if (s->check->rules[i].is_broken) {
            bbf_check_rule_text(&s->text, &s->check->rules[i]);
            add_notification(s, ",\n", "error");
        }
    for (size_t i = 0; i < s->check->n_notes; i++) {
        bbf_buf_str(&s->text, s->check->notes[i]);
        add_notification(s, ",\n", "note");
    }
    bbf_buf_str(s->out, "]}],\n");
}

/* A URI reference of a path that may have any bytes (RFC 3986). */
static void add_uri(struct bbf_buf *out, const char *path)
{
    static const char plain[] = "-._~/";

    for (; *path != '\0'; path++) {
        const char c = *path;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            strchr(plain, c) != NULL)
            bbf_buf_char(out, c);
        else
            bbf_buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

/* com.app.Outer$Inner is in com/app/Outer.java, unless it is not Java: for a file that was not
 * found, because GitHub refuses a place without one. */
static void add_guess(struct bbf_buf *out, const char *class_name)
{
    struct bbf_buf path = BBF_BUF_INIT;

    while (*class_name == '.')
        class_name++;
    for (size_t i = 0; class_name[i] != '\0' && class_name[i] != '$'; i++)
        bbf_buf_char(&path, (char)(class_name[i] == '.' ? '/' : class_name[i]));
    bbf_buf_str(&path, path.len > 0 ? ".java" : "unknown.java");
    out->failed = out->failed || path.failed;
    add_uri(out, bbf_buf_cstr(&path));
    bbf_buf_free(&path);
}

static void add_physical(struct bbf_buf *out, const char *file, const struct bbf_snap_site *site)
{
    bbf_buf_str(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
    if (file != NULL)
        add_uri(out, file);
    else
        add_guess(out, site->class_name);
    bbf_buf_printf(out, "\"%s},\"region\":{\"startLine\":%" PRIu32 "}},",
                   file != NULL ? ",\"uriBaseId\":\"%SRCROOT%\"" : "",
                   site->line != 0 ? site->line : 1);
}

/* {"physicalLocation":…,"logicalLocations":[…]}; `words`: the step's message. */
static void add_location(struct sarif *s, struct bbf_view *view, uint32_t node, const char *file,
                         bool words)
{
    const struct bbf_snap_site *site = &view->snapshot->sites[view->snapshot->nodes[node].site];
    struct bbf_buf full = BBF_BUF_INIT;

    bbf_buf_char(s->out, '{');
    add_physical(s->out, file, site);
    if (words) {
        bbf_view_name(&s->text, view, node);
        add_message(s, "message");
        bbf_buf_char(s->out, ',');
    }
    bbf_buf_str(s->out, "\"logicalLocations\":[{\"fullyQualifiedName\":");
    bbf_site_full_name(&full, site);
    bbf_text_safe(&s->text, bbf_buf_cstr(&full), '\0');
    s->text.failed = s->text.failed || full.failed;
    bbf_buf_free(&full);
    move(s);
    bbf_buf_str(s->out, ",\"kind\":\"function\"}]}");
}

static const char *source_of(const struct sarif *s, const struct bbf_view *view, uint32_t node)
{
    const struct bbf_check_rules *asked = s->check->asked;
    const char *name = view->snapshot->sites[view->snapshot->nodes[node].site].class_name;

    return asked->source != NULL && name[0] != '\0' ? asked->source(asked->source_ctx, name) : NULL;
}

/* The path, root first; of a very long one its last steps, where the loss is. */
static void add_flow(struct sarif *s, struct bbf_view *view, uint32_t last)
{
    const struct bbf_view_path path = bbf_view_path(view, last);
    size_t first = path.n > MOST_STEPS ? path.n - MOST_STEPS : 0;

    bbf_buf_str(s->out, "\"codeFlows\":[{\"threadFlows\":[{\"locations\":[\n");
    for (size_t i = first; i < path.n; i++) {
        bbf_buf_printf(s->out, "%s{\"executionOrder\":%zu,\"importance\":\"%s\",\"location\":",
                       i > first ? ",\n" : "", i + 1,
                       i + 1 == path.n || i == 0 ? "essential" : "important");
        add_location(s, view, path.nodes[i], source_of(s, view, path.nodes[i]), true);
        bbf_buf_char(s->out, '}');
    }
    bbf_buf_str(s->out, "]}]}],\n");
}

static void add_rate(struct sarif *s, const char *name, const struct bbf_loss *loss)
{
    bbf_buf_printf(s->out,
                   "\"%s\":{\"leaked\":%" PRIu64 ",\"aged\":%" PRIu64 ",\"bytes\":%" PRIu64
                   ",\"passed\":%" PRIu64 ",\"lostPer1000\":",
                   name, loss->leaked, loss->aged, loss->bytes, loss->passed);
    bbf_rate_text(s->out, loss->rate.at, false);
    bbf_buf_str(s->out, ",\"low\":");
    bbf_rate_text(s->out, loss->rate.low, false);
    bbf_buf_str(s->out, ",\"high\":");
    bbf_rate_text(s->out, loss->rate.high, false);
    bbf_buf_char(s->out, '}');
}

/* The words of SARIF for what became of a result. */
static const char *state_of(enum bbf_change change)
{
    return change == BBF_NEW ? "new" : change == BBF_UNCHANGED ? "unchanged" : "updated";
}

static void add_leak(struct sarif *s, size_t i)
{
    const struct bbf_compared *row = &s->check->comparison.rows[i];
    const struct bbf_loss *loss = row->now.row != BBF_NO_NODE ? &row->now : &row->before;
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(s->check, row, &d);
    const struct bbf_check_place place = bbf_check_place(s->check, view, d->last);

    bbf_buf_printf(s->out, "{\"ruleId\":\"%s\",\"level\":\"%s\",",
                   loss->leaked > 0 ? "bbflow/leak" : "bbflow/open",
                   s->check->fails[i] != 0         ? "error"
                   : s->check->asked->compare_only ? "warning"
                                                   : "note");
    if (s->check->has_before)
        bbf_buf_printf(s->out, "\"baselineState\":\"%s\",", state_of(row->change));
    bbf_check_row_text(&s->text, s->check, row);
    bbf_buf_str(&s->text, "; rate ");
    bbf_check_rates_text(&s->text, row);
    add_message(s, "message");
    bbf_buf_printf(s->out, ",\n\"partialFingerprints\":{\"bbflowLeak/v1\":\"%016" PRIx64 "\"},\n",
                   row->id);
    bbf_buf_str(s->out, "\"locations\":[");
    add_location(s, view, place.node, place.file, false);
    bbf_buf_str(s->out, "],\n");
    add_flow(s, view, d->last);
    bbf_buf_printf(s->out, "\"properties\":{\"fileFound\":%s,",
                   place.file != NULL ? "true" : "false");
    if (row->now.row != BBF_NO_NODE)
        add_rate(s, "now", &row->now);
    bbf_buf_str(s->out, row->now.row != BBF_NO_NODE && row->before.row != BBF_NO_NODE ? "," : "");
    if (row->before.row != BBF_NO_NODE)
        add_rate(s, "before", &row->before);
    bbf_buf_str(s->out, "}}");
}

static size_t add_leaks(struct sarif *s, bool failing, size_t most, const char **glue)
{
    size_t n = 0;

    for (size_t i = 0; i < s->check->comparison.count && n < most; i++)
        if ((s->check->fails[i] != 0) == failing &&
            s->check->comparison.rows[i].change != BBF_GONE) {
            bbf_buf_str(s->out, *glue);
            add_leak(s, i);
            *glue = ",\n";
            n++;
        }
    return n;
}

static void write(struct bbf_buf *out, struct bbf_check *check)
{
    struct sarif s = {.out = out, .check = check, .text = BBF_BUF_INIT};
    const size_t leaks = check->comparison.count - check->comparison.of[BBF_GONE];
    const char *glue = "";

    bbf_buf_str(out, "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
                     "schemas/sarif-schema-2.1.0.json\",\n\"version\":\"2.1.0\",\n\"runs\":[{\n");
    add_tool(&s);
    add_invocation(&s, leaks > MOST_RESULTS ? leaks - MOST_RESULTS : 0);
    bbf_buf_str(out, "\"columnKind\":\"utf16CodeUnits\",\n\"results\":[\n");
    size_t n = add_leaks(&s, true, MOST_RESULTS, &glue);
    (void)add_leaks(&s, false, MOST_RESULTS - n, &glue);
    bbf_buf_str(out, "]}]}\n");
    bbf_buf_free(&s.text);
}

int bbf_render_sarif(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options)
{
    return bbf_check_render(out, view, options, write);
}
