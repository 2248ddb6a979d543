/* link: bbf_render bbf_snapshot bbf_core */
/* render/line.h: the words of an event, and that its line is never longer than the stream's. */
#include "render/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_text(struct bbf_buf *out, const char *text)
{
    assert_string_equal(bbf_buf_cstr(out), text);
    bbf_buf_free(out);
}

static struct bbf_path short_path(void)
{
    struct bbf_path path = BBF_PATH_INIT;

    assert_true(bbf_path_climb(&path, "com.app.Handler", "read"));
    assert_true(bbf_path_climb(&path, "io.netty.buffer.Alloc", "heapBuffer"));
    return path;
}

static void one_buffer_and_many(void **state)
{
    const struct bbf_path path = short_path();
    struct bbf_line_loss loss = {.memory = BBF_MEM_HEAP, .count = 1, .bytes = 64};
    struct bbf_buf out = BBF_BUF_INIT;

    (void)state;
    bbf_line_loss(&out, &loss, &path);
    assert_text(&out, "LEAK heap: 1 buffer so far (64 bytes): Alloc.heapBuffer → Handler.read");
    loss.verdict = BBF_VERDICT_AGED;
    loss.added = 1;
    loss.added_bytes = 64;
    loss.count = 2;
    loss.bytes = 128;
    bbf_line_loss(&out, &loss, &path);
    assert_text(&out,
                "AGED heap: 1 new buffer (64 bytes), 2 so far (128 bytes): Alloc.heapBuffer → "
                "Handler.read");
    loss.estimated = true;
    loss.added = 2;
    loss.memory = BBF_MEM_COMPOSITE;
    bbf_line_loss(&out, &loss, &path);
    assert_text(&out, "AGED composite: about 2 new buffers (about 64 bytes), about 2 so far (about "
                      "128 bytes): Alloc.heapBuffer → Handler.read");
}

static void the_opener_and_its_share(void **state)
{
    const struct bbf_path path = BBF_PATH_INIT;
    struct bbf_line_loss loss = {.count = 5, .bytes = 9, .thread = 4, .thread_count = 5};
    struct bbf_buf out = BBF_BUF_INIT;

    (void)state;
    bbf_line_loss(&out, &loss, &path);
    assert_text(&out, "LEAK direct: 5 buffers so far (9 bytes), by thread 4 (ended): ");
    loss.thread_name = "a\nb";
    loss.thread_count = 3;
    bbf_line_loss(&out, &loss, &path);
    assert_text(&out, "LEAK direct: 5 buffers so far (9 bytes), by a\\u000ab (3 of 5): ");
}

static void no_line_is_longer_than_a_message(void **state)
{
    static char name[2000], thread[2000];
    const struct bbf_line_loss loss = {.memory = BBF_MEM_COMPOSITE,
                                       .estimated = true,
                                       .added = UINT64_MAX,
                                       .added_bytes = UINT64_MAX,
                                       .count = UINT64_MAX,
                                       .bytes = UINT64_MAX,
                                       .thread = 1,
                                       .thread_count = UINT64_MAX - 1,
                                       .thread_name = thread};
    struct bbf_path path = BBF_PATH_INIT;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    memset(thread, '\x1b', sizeof thread - 1);
    while (bbf_path_climb(&path, "a.B", name))
        ;
    struct bbf_buf out = BBF_BUF_INIT;
    bbf_line_loss(&out, &loss, &path);
    assert_in_range(out.len, 800, 1023);
    bbf_buf_free(&out);
}

static void memory_that_ran_out(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;

    (void)state;
    bbf_line_oom_note(&out, 1, NULL, 0, 0);
    assert_text(&out, "direct memory ran out: 1 error");
    bbf_line_oom_note(&out, 3, "/a-oom.json", 86400, 1);
    assert_text(&out, "direct memory ran out: 3 errors; /a-oom.json is how it was at "
                      "1970-01-02T00:00:00Z (1 report, at most one a minute)");
    bbf_line_oom_note(&out, 3, "b", 0, 2);
    assert_text(&out, "direct memory ran out: 3 errors; b is how it was at 1970-01-01T00:00:00Z (2 "
                      "reports, at most one a minute)");
}

static void what_was_dropped_is_one_note(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;

    (void)state;
    bbf_line_dropped(&out, "live", 0);
    assert_int_equal(out.len, 0);
    bbf_line_dropped(&out, "live", 2);
    bbf_line_dropped(&out, "log", 0);
    bbf_line_dropped(&out, "jfr", 1);
    assert_text(&out, "events dropped: 2 live, 1 jfr");
    bbf_line_more_places(&out, 3);
    assert_text(&out, "… and 3 more places: see bbflow tree");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_buffer_and_many),
        cmocka_unit_test(the_opener_and_its_share),
        cmocka_unit_test(no_line_is_longer_than_a_message),
        cmocka_unit_test(memory_that_ran_out),
        cmocka_unit_test(what_was_dropped_is_one_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
