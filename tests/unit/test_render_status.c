/* link: bbf_render bbf_snapshot bbf_core */
/*
 * The text of `bbflow status`: each line, and names of others in it.
 */
#include "render/status.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct bbf_status status_of(const struct bbf_snapshot *s)
{
    return (struct bbf_status){.snapshot = s,
                               .version = "1.2.3",
                               .java = 17,
                               .oldest_java = 11,
                               .newest_java = 25,
                               .port = {.why = ""},
                               .metrics = {.url = "", .why = ""},
                               .server = {.path = ""}};
}

static void assert_lines(const struct bbf_status *status, size_t n, const char *const *lines)
{
    struct bbf_buf text = BBF_BUF_INIT;
    const char *at;

    bbf_status_text(&text, status);
    assert_false(text.failed);
    at = bbf_buf_cstr(&text);
    for (size_t i = 0; i < n; i++) { /* in order */
        const char *found = strstr(at, lines[i]);
        if (found == NULL)
            fail_msg("no \"%s\" behind the lines before in:\n%s", lines[i], bbf_buf_cstr(&text));
        assert_true(found == bbf_buf_cstr(&text) || found[-1] == '\n');
        at = found + strlen(lines[i]);
    }
    bbf_buf_free(&text);
}

static void assert_absent(const struct bbf_status *status, const char *part)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_status_text(&text, status);
    assert_null(strstr(bbf_buf_cstr(&text), part));
    bbf_buf_free(&text);
}

static void each_part_has_its_lines(void **state)
{
    (void)state;
    static const struct bbf_status_row classes[] = {{0, "nothing to do"}, {7, "rewritten"}},
                                       methods[] = {{9, "full"}, {0, "untouched"}};
    static const char *const lines[] = {
        "bbflow 1.2.3 in JVM ",
        "settings\n",
        "limits             used / limit, times reached\n",
        "old settings       2 still read, 300 bytes in memory=\n",
        "kinds of classes   5 found by the object's header (compact)\n",
        "classes looked at  20 (1.5 us each)\n  7 rewritten\nmethods\n  9 full\n"
        "  3 classes could not be retransformed\ntotals\n",
        "  lives              ",
        "since the start, whatever was reset\n",
        "scans              11, 12 conversions\nlog                13 lines could not be written\n",
        "server             /run/x.sock, 21 connections, 22 refused, 23 malformed\n"
        "                   127.0.0.1:2020, 24 without the token, 25 too late, 26 dropped while "
        "waiting for others\n"
        "                   27 dropped, 28 live messages lost\n"};
    struct bbf_snapshot *s = sample_basic();
    struct bbf_status status = status_of(s);

    status.old_settings.count = 2;
    status.old_settings.bytes = 300;
    status.kinds.known = 5;
    status.kinds.header = BBF_HEADER_COMPACT;
    status.rewriting.looked_at = 20;
    status.rewriting.ns = 30000;
    status.rewriting.failed = 3;
    status.rewriting.classes = classes;
    status.rewriting.n_classes = 2;
    status.rewriting.methods = methods;
    status.rewriting.n_methods = 2;
    status.scans = 11;
    status.conversions = 12;
    status.log_lost = 13;
    status.server.runs = true;
    status.server.path = "/run/x.sock";
    status.server.port = 2020;
    status.server.accepted = 21;
    status.server.refused = 22;
    status.server.malformed = 23;
    status.server.unauthorized = 24;
    status.server.late = 25;
    status.server.crowded = 26;
    status.server.dropped = 27;
    status.server.lost = 28;
    assert_lines(&status, sizeof lines / sizeof *lines, lines);
    assert_absent(&status, "nothing to do");
    status.kinds.header = BBF_HEADER_CLASS_WORD;
    assert_lines(&status, 1,
                 &(const char *){"kinds of classes   5 found by the object's header (with a class "
                                 "word)\n"});
    bbf_snapshot_free(s);
}

static void what_is_not_there_has_no_line(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_basic();
    struct bbf_status status = status_of(s);

    assert_absent(&status, "server ");
    assert_absent(&status, "could not be written");
    assert_lines(&status, 1,
                 &(const char *){"kinds of classes   looked up in a ClassValue each time, which is "
                                 "slower: this JVM's object headers are unknown\n"});
    status.server.runs = true; /* and no TCP */
    assert_absent(&status, "127.0.0.1");
    bbf_snapshot_free(s);
}

static void a_java_that_is_newer_than_tested_is_named(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_basic();
    struct bbf_status status = status_of(s);

    for (status.java = 11; status.java <= 25; status.java++)
        assert_absent(&status, "not tested");
    status.java = 27;
    assert_lines(&status, 1,
                 &(const char *){"not tested         with Java 27: this bbflow is tested with Java "
                                 "11 to 25\n"});
    bbf_snapshot_free(s);
}

static void what_became_of_the_port_is_behind_it(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_basic();
    struct bbf_status status = status_of(s);

    sample_setting(s, "port", "0");
    assert_lines(&status, 1, &(const char *){"  port=0\n"});
    status.port.wanted = true;
    status.port.number = 40000;
    assert_lines(&status, 1, &(const char *){"  port=0 (127.0.0.1:40000 is served)\n"});
    status.port.number = 0;
    status.port.why = "/tmp/\033[2J: no such file";
    assert_lines(&status, 1,
                 &(const char *){"  port=0 (not served: /tmp/\\u001b[2J: no such file)\n"});
    bbf_snapshot_free(s);
}

static void names_of_others_are_escaped(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_basic();
    struct bbf_status status = status_of(s);

    free(s->jvm.main);
    s->jvm.main = sample_text("com.\033[31mEvil");
    sample_string(&s->jvm.netty, &s->jvm.n_netty, "4.1\033 io.netty");
    sample_string(&s->jvm.map_mode, &s->jvm.n_map_mode, "a.\nByteBuf: loaded before");
    sample_string(&s->notes, &s->n_notes, "class \033c");
    sample_setting(s, "include", "a\nb");
    status.server.runs = true;
    status.server.path = "/tmp/\033";
    assert_absent(&status, "\033");
    static const char *const lines[] = {"bbflow 1.2.3 in JVM ",
                                        "netty              4.1\\u001b io.netty\n",
                                        "note               a.\\u000aByteBuf has no place",
                                        "note               class \\u001bc\n",
                                        "  include=a\\u000ab\n",
                                        "server             /tmp/\\u001b, "};
    assert_lines(&status, sizeof lines / sizeof *lines, lines);
    bbf_snapshot_free(s);
}

static void lttng_has_its_daemons(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_basic();
    struct bbf_status status = status_of(s);
    const char *line = "lttng              no session daemon was found, the tracer is not loaded\n";

    assert_absent(&status, "lttng");
    status.lttng.on = true;
    assert_lines(&status, 1, &line);
    status.lttng.root = 5345;
    status.lttng.user = 5346;
    status.lttng.records = true;
    line =
        "lttng              registered with the root daemon (port 5345), registered with the user "
        "daemon (port 5346), the tracer is loaded\n";
    assert_lines(&status, 1, &line);
    bbf_snapshot_free(s);
}

/* Counts, and what failed last, which is the application's text. */
static void handlers_have_a_line(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    struct bbf_status status = status_of(s);

    assert_absent(&status, "handlers  ");
    status.handlers.state = BBF_HANDLERS_STATE_WAITS;
    assert_lines(&status, 1,
                 (const char *const[]){
                     "handlers           waits: the application has not loaded the API yet\n"});
    status.handlers = (struct bbf_handlers_status){
        .state = BBF_HANDLERS_STATE_ON, .counts = {2, 1, 30, 4, 5, 1, 0}, .why = "a.B: \033[1m"};
    assert_lines(
        &status, 1,
        (const char *const[]){
            "handlers           2 in 1 copies of the API; snapshots: 30 delivered, 5 left out "
            "because the handler was busy (1 now); failures: 4; the last: a.B: \\u001b[1m\n"});
    status.handlers.counts[BBF_HANDLERS_REFUSED] = 7;
    assert_lines(
        &status, 1,
        (const char *const[]){
            "handlers           2 in 1 copies of the API; snapshots: 30 delivered, 5 left out "
            "because the handler was busy (1 now); failures: 4; beyond the limits: 7; the last: "});
    status.handlers = (struct bbf_handlers_status){.state = BBF_HANDLERS_STATE_FAILED, .why = "no"};
    assert_lines(&status, 1,
                 (const char *const[]){"handlers           no handler is called: no\n"});
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_have_a_line),
        cmocka_unit_test(each_part_has_its_lines),
        cmocka_unit_test(what_is_not_there_has_no_line),
        cmocka_unit_test(a_java_that_is_newer_than_tested_is_named),
        cmocka_unit_test(what_became_of_the_port_is_behind_it),
        cmocka_unit_test(names_of_others_are_escaped),
        cmocka_unit_test(lttng_has_its_daemons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
