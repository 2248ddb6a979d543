/* link: bbf_render bbf_trie bbf_snapshot bbf_core */
/*
 * agent/sinks/{live,log,jmx}.c: what clients that watch get, what the log has, and that a
 * line below the log's level is not made.
 */
#include "agent/event.h"

static unsigned texts;

#define bbf_event_line(out, event) (texts++, bbf_event_line(out, event))
#include "agent/sinks/live.c"
#define wanted wanted_by_log
#define offer  offer_log
#include "agent/sinks/log.c"
#undef wanted
#undef offer
#define wanted wanted_by_jmx
#define offer  offer_jmx
#include "agent/sinks/jmx.c"
#undef wanted
#undef offer
#undef bbf_event_line
#include "agent/event.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/err.h"

static struct bbf_buf stream;
static bool watched, no_memory;
static char path[] = "/tmp/bbf-sinks-XXXXXX";

bool bbf_stream_publish(const char *text, size_t len)
{
    if (!no_memory)
        bbf_buf_add(&stream, text, len);
    return !no_memory;
}

bool bbf_stream_is_watched(void)
{
    return watched;
}

static bool has_listener, queue_is_full;
static struct bbf_buf notice; /* "type memory added: line" */

bool bbf_jmx_is_listened(void)
{
    return has_listener;
}

bool bbf_jmx_offer(const struct bbf_jmx_notice *n)
{
    notice.len = 0;
    bbf_buf_printf(&notice, "%s %s %d: %.*s", n->type, n->memory, (int)n->added, (int)n->line_len,
                   n->line);
    return !queue_is_full;
}

static const char *logged(void)
{
    static char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    assert_true(n >= 0);
    close(fd);
    assert_int_equal(truncate(path, 0), 0);
    text[n] = '\0';
    return text;
}

static int setup(void **state)
{
    (void)state;
    bbf_buf_free(&stream);
    watched = no_memory = has_misuse = false;
    texts = 0;
    bbf_log_set_level(BBF_LOG_WARN);
    (void)logged();
    return 0;
}

static const struct bbf_snap_misuse row = {.use = BBF_USE_ACCESS, .count = 1, .used_thread = 3};
#define ROW                                                                                        \
    "USED AFTER RELEASE 1 time: read or written in thread 3; released before, too long ago to "    \
    "say "                                                                                         \
    "where"

static struct bbf_event misuse(void)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_MISUSE);

    event.detail.misuse = &row;
    return event;
}

static struct bbf_event oom(uint64_t count, uint64_t added)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_OOM);

    event.count = count;
    event.added = added;
    return event;
}

static bool has(unsigned kinds, enum bbf_event_kind kind)
{
    return (kinds & BBF_EVENT_BIT(kind)) != 0;
}

static void the_stream_wants_lost_buffers_while_it_is_watched(void **state)
{
    (void)state;
    assert_false(has(wanted(), BBF_EVENT_LEAK) || has(wanted(), BBF_EVENT_AGED));
    assert_true(has(wanted(), BBF_EVENT_MISUSE));
    watched = true;
    assert_true(has(wanted(), BBF_EVENT_LEAK) && has(wanted(), BBF_EVENT_AGED));
    assert_false(has(wanted(), BBF_EVENT_OOM) || has(wanted(), BBF_EVENT_OOM_REPORT));
}

static void the_stream_gets_whole_lines(void **state)
{
    const struct bbf_event event = misuse();

    (void)state;
    assert_true(bbf_sink_live.offer(&event));
    assert_true(bbf_sink_live.offer(&event));
    assert_string_equal(bbf_buf_cstr(&stream), ROW "\n" ROW "\n");
}

static void a_line_that_the_stream_cannot_keep_is_dropped(void **state)
{
    const struct bbf_event event = misuse();

    (void)state;
    no_memory = true;
    assert_false(bbf_sink_live.offer(&event));
}

static void a_client_that_begins_gets_the_same_lines(void **state)
{
    const struct bbf_event event = misuse();
    struct bbf_buf text = BBF_BUF_INIT;

    (void)state;
    bbf_sink_live_greet(&text, &event);
    bbf_sink_live_more(&text, 0);
    assert_string_equal(bbf_buf_cstr(&text), ROW "\n");
    bbf_sink_live_more(&text, 12);
    assert_string_equal(bbf_buf_cstr(&text), ROW "\n… and 12 more places: see bbflow tree\n");
    bbf_buf_free(&text);
}

static void the_log_has_the_first_misuse(void **state)
{
    const struct bbf_event event = misuse();

    (void)state;
    assert_true(has(wanted_by_log(), BBF_EVENT_MISUSE));
    assert_true(bbf_sink_log.offer(&event));
    assert_true(bbf_sink_log.offer(&event)); /* not dropped: not wanted any more */
    assert_string_equal(logged(), "[bbflow] warn: " ROW " (further ones: see a report)\n");
    assert_false(has(wanted_by_log(), BBF_EVENT_MISUSE));
    assert_int_equal(texts, 1);
}

static void what_is_below_the_level_is_not_made(void **state)
{
    const struct bbf_event use = misuse(), first = oom(1, 1);

    (void)state;
    bbf_log_set_level(BBF_LOG_ERROR);
    assert_true(bbf_sink_log.offer(&use));
    assert_true(bbf_sink_log.offer(&first));
    assert_int_equal(texts, 0);
    assert_string_equal(logged(), "");
    bbf_log_set_level(BBF_LOG_WARN);
    assert_true(bbf_sink_log.offer(&use)); /* the first one is over */
    assert_string_equal(logged(), "");
}

static void the_log_has_the_first_time_that_memory_ran_out(void **state)
{
    const struct bbf_event first = oom(3, 3), later = oom(5, 2);

    (void)state;
    assert_true(bbf_sink_log.offer(&first));
    assert_true(bbf_sink_log.offer(&later));
    assert_string_equal(logged(), "[bbflow] warn: direct memory ran out\n");
}

static void the_log_has_why_there_is_no_report(void **state)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_OOM_REPORT);

    (void)state;
    event.detail.report.path = "/tmp/out-oom.json";
    assert_true(bbf_sink_log.offer(&event));
    assert_string_equal(logged(), "");
    event.detail.report.path = NULL;
    event.detail.report.why = "no room";
    bbf_log_set_level(BBF_LOG_ERROR);
    assert_true(bbf_sink_log.offer(&event));
    assert_string_equal(logged(),
                        "[bbflow] error: direct memory ran out, and no report: no room\n");
}

static void lost_buffers_are_in_no_log(void **state)
{
    const struct bbf_event leak = bbf_event_new(BBF_EVENT_LEAK);

    (void)state;
    assert_false(has(wanted_by_log(), BBF_EVENT_LEAK) || has(wanted_by_log(), BBF_EVENT_AGED));
    assert_true(bbf_sink_log.offer(&leak));
    assert_string_equal(logged(), "");
}

static void listeners_of_jmx_get_the_line_and_the_numbers(void **state)
{
    (void)state;
    struct bbf_event oom = bbf_event_new(BBF_EVENT_OOM);
    struct bbf_event life = bbf_event_new(BBF_EVENT_LIFE);

    assert_int_equal(bbf_sink_jmx.wanted(), 0);
    has_listener = true;
    assert_int_equal(bbf_sink_jmx.wanted(), BBF_EVENT_BIT(BBF_EVENT_LIFE) - 1);
    oom.added = 2;
    assert_true(bbf_sink_jmx.offer(&oom));
    struct bbf_buf expected = BBF_BUF_INIT;
    bbf_buf_str(&expected, "oom  2: ");
    bbf_event_line(&expected, &oom);
    assert_string_equal(bbf_buf_cstr(&notice), bbf_buf_cstr(&expected));
    notice.len = 0;
    assert_true(bbf_sink_jmx.offer(&life)); /* not wanted: no notification, nothing dropped */
    assert_int_equal(notice.len, 0);
    queue_is_full = true;
    assert_false(bbf_sink_jmx.offer(&oom));
    bbf_buf_free(&expected);
    bbf_buf_free(&notice);
}

static int open_log(void **state)
{
    char why[200];
    int fd = mkstemp(path);

    (void)state;
    if (fd < 0 || bbf_log_open(path, why, sizeof why) != BBF_OK)
        return -1;
    return close(fd);
}

static int close_log(void **state)
{
    char why[200];

    (void)state;
    bbf_buf_free(&stream);
    (void)bbf_log_open(NULL, why, sizeof why);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_stream_wants_lost_buffers_while_it_is_watched, setup),
        cmocka_unit_test_setup(the_stream_gets_whole_lines, setup),
        cmocka_unit_test_setup(a_line_that_the_stream_cannot_keep_is_dropped, setup),
        cmocka_unit_test_setup(a_client_that_begins_gets_the_same_lines, setup),
        cmocka_unit_test_setup(the_log_has_the_first_misuse, setup),
        cmocka_unit_test_setup(what_is_below_the_level_is_not_made, setup),
        cmocka_unit_test_setup(the_log_has_the_first_time_that_memory_ran_out, setup),
        cmocka_unit_test_setup(the_log_has_why_there_is_no_report, setup),
        cmocka_unit_test_setup(lost_buffers_are_in_no_log, setup),
        cmocka_unit_test(listeners_of_jmx_get_the_line_and_the_numbers),
    };
    return cmocka_run_group_tests(tests, open_log, close_log);
}
