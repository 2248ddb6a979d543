/* link: bbf_render bbf_trie bbf_jfr bbf_snapshot bbf_core */
/*
 * agent/sinks/jfr.c, agent/sinks/disk.c: what is in the file after a flush, at the end, after a
 * kill -9, and when the disk takes no more; new files by size; what has no room is dropped.
 */
#include "agent/event.h"

#include <stdint.h>

/* The clock of the test. */
static uint64_t clock_ns = UINT64_C(5000000000000);
#include "core/clock.h"
static uint64_t test_clock(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC ? clock_ns : UINT64_C(1700000000000000000) + clock_ns;
}
#define bbf_clock_ns test_clock
#include "agent/sinks/disk.c"
#include "agent/sinks/jfr.c"
#include "agent/event.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "core/buf.h"
#include "jfr/recording.h"
#include "jfr/rewrite.h"

static char folder[64], path[128], previous[128];
static struct bbf_options options;

int bbf_report_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size)
{
    (void)why;
    (void)why_size;
    bbf_buf_str(out, pattern);
    return BBF_OK;
}

/* ---- reading back ---- */

static struct bbf_buf read_all(const char *from)
{
    struct bbf_buf bytes = BBF_BUF_INIT;
    FILE *file = fopen(from, "rb");
    size_t n = 0;

    assert_non_null(file);
    do {
        char *to = bbf_buf_reserve(&bytes, 65536);
        assert_non_null(to);
        n = fread(to, 1, 65536, file);
        bytes.len += n;
    } while (n > 0);
    fclose(file);
    return bytes;
}

/* Events of a type in a file. Every chunk but the last is finished; the last one if `is_ended`. */
static uint64_t count(const char *from, const char *type, bool is_ended)
{
    struct bbf_buf bytes = read_all(from);
    struct bbf_jfr_recording r;
    uint64_t n = 0;
    int err;

    bbf_jfr_recording_init(&r, (const unsigned char *)bytes.data, bytes.len, true);
    while ((err = bbf_jfr_next_chunk(&r)) == BBF_OK) {
        struct bbf_jfr_event event;
        bool is_last = r.at + r.chunk.len >= bytes.len;
        assert_true(r.chunk.header.state == 0 || (is_last && !is_ended));
        assert_int_equal(r.chunk.header.size, r.chunk.len);
        for (uint64_t at = BBF_JFR_HEADER_BYTES; bbf_jfr_next_event(&r.chunk, &at, &event);) {
            assert_true(event.type == NULL || bbf_jfr_is_whole(&event));
            n += event.type != NULL && strcmp(event.type->name, type) == 0;
        }
    }
    assert_int_equal(err, BBF_ENOTFOUND);
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&bytes);
    return n;
}

/* ---- doing ---- */

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/bbf-jfr-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.jfr", folder);
    snprintf(previous, sizeof previous, "%s/x.1.jfr", folder);
    options = (struct bbf_options){
        .jfr = path, .jfr_max_size = 64 << 20, .jfr_summary = 10, .jfr_life_share = 1};
    bbf_log_set_level(BBF_LOG_NONE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bbf_sink_jfr_end(10000);
    (void)unlink(path);
    (void)unlink(previous);
    (void)rmdir(folder);
    return 0;
}

static void begin(void)
{
    char why[REASON] = "";

    if (bbf_sink_jfr_apply(&options, why, sizeof why) != BBF_OK)
        fail_msg("%s", why);
}

static bool post(const char *value)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_SETTING);

    event.monotonic_ns = clock_ns;
    event.detail.setting.name = "name";
    event.detail.setting.value = value;
    return bbf_sink_jfr.offer(&event);
}

/* Has the disk's thread nothing left to do? */
static void settle(void)
{
    bool is_idle = false;

    while (!is_idle) {
        pthread_mutex_lock(&now.disk->lock);
        is_idle = now.disk->first == NULL && !now.disk->is_busy;
        pthread_mutex_unlock(&now.disk->lock);
        usleep(1000);
    }
}

static void pass_second(void)
{
    clock_ns += BBF_CLOCK_SECOND;
    bbf_sink_jfr_poll(&options);
    if (now.disk != NULL)
        settle();
}

/* ---- tests ---- */

static void nothing_is_wanted_without_a_file(void **state)
{
    (void)state;
    assert_int_equal(bbf_sink_jfr.wanted(), 0);
    assert_true(post("x")); /* not dropped: no sink asked for it */
    begin();
    assert_true((bbf_sink_jfr.wanted() & BBF_EVENT_BIT(BBF_EVENT_LIFE)) != 0);
    options.jfr = NULL;
    begin();
    assert_int_equal(bbf_sink_jfr.wanted(), 0);
    assert_int_equal(count(path, "bbflow.Setting", true), 0);
}

static void what_was_flushed_can_be_read(void **state)
{
    (void)state;
    begin();
    assert_true(post("a"));
    pass_second();
    assert_int_equal(count(path, "bbflow.Setting", false), 1);
    assert_true(post("b"));
    assert_int_equal(count(path, "bbflow.Setting", false), 1); /* not yet */
    pass_second();
    assert_int_equal(count(path, "bbflow.Setting", false), 2);
    assert_true(post("c"));
    bbf_sink_jfr_end(10000);
    assert_int_equal(count(path, "bbflow.Setting", true), 3);
}

static void a_kill_loses_what_was_not_flushed(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        begin();
        (void)post("a");
        pass_second();
        (void)post("b");
        (void)raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count(path, "bbflow.Setting", false), 1);
    begin(); /* the next run keeps it */
    assert_int_equal(count(previous, "bbflow.Setting", false), 1);
}

static void both_files_have_half_of_maxsize(void **state)
{
    static char text[1000];
    uint64_t posted = 0;
    struct stat st;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    options.jfr_max_size = 1 << 20;
    begin();
    for (int second = 0; second < 40; second++) {
        for (int i = 0; i < 50; i++)
            posted += post(text);
        pass_second();
        assert_true(stat(path, &st) == 0 && st.st_size < (1 << 19) + 60000);
        assert_true(stat(previous, &st) != 0 || st.st_size < (1 << 19) + 60000);
    }
    assert_int_equal(posted, 2000);
    bbf_sink_jfr_end(10000);
    uint64_t kept = count(path, "bbflow.Setting", true) + count(previous, "bbflow.Setting", true);
    assert_true(kept > 500 && kept < 1100);
}

static void a_file_lasts_maxage(void **state)
{
    (void)state;
    options.jfr_max_age = 3;
    begin();
    for (int second = 0; second < 5; second++) {
        assert_true(post("a"));
        pass_second();
    }
    assert_int_equal(count(previous, "bbflow.Setting", true), 3);
    assert_int_equal(count(path, "bbflow.Setting", false), 2);
}

static void parts_can_be_put_together(void **state)
{
    (void)state;
    options.jfr_max_age = 2;
    begin();
    assert_true(post("the first of these texts"));
    pass_second();
    pass_second();
    assert_true(post("the second of these texts"));
    bbf_sink_jfr_end(10000);
    struct bbf_buf one = read_all(previous), two = read_all(path);
    bbf_buf_add(&one, two.data, two.len);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(one.data, 1, one.len, file), one.len);
    fclose(file);
    assert_int_equal(count(path, "bbflow.Setting", true), 2);
    bbf_buf_free(&one);
    bbf_buf_free(&two);
}

static void end_lives(uint64_t count, uint64_t seconds, bool is_released)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_LIFE);

    event.tracker = NULL;
    event.node = BBF_L_NODE_NONE;
    event.monotonic_ns = clock_ns;
    event.count = count;
    event.bytes = 64 * count;
    event.age_ns = seconds * BBF_CLOCK_SECOND;
    event.detail.life.end = BBF_END_LEAKED;
    event.detail.life.is_released = is_released;
    assert_true(bbf_sink_jfr.offer(&event));
}

/* Short lives and those that chance leaves out are counted; each lost buffer still has its Malloc.
 */
static void lives_below_the_threshold_are_counted(void **state)
{
    (void)state;
    options.jfr_life_age = 10;
    begin();
    end_lives(3, 9, false);
    end_lives(5, 10, false);
    end_lives(2, 11, true);
    assert_int_equal(now.left_out.short_, 3);
    options.jfr_life_age = 0;
    begin(); /* as bbflow set */
    end_lives(1, 0, false);
    bbf_sink_jfr_end(10000);
    assert_int_equal(count(path, "bbflow.Life", true), 3);
    assert_int_equal(count(path, "profiler.Malloc", true), 3 + 5 + 1);
}

static void one_life_in_many_is_recorded(void **state)
{
    enum { LIVES = 20000, ONE_IN = 10 };
    uint64_t before = now.left_out.unsampled;

    (void)state;
    options.jfr_life_share = ONE_IN;
    begin();
    for (int i = 0; i < LIVES; i++)
        end_lives(1, 1, true);
    bbf_sink_jfr_end(10000);
    uint64_t recorded = count(path, "bbflow.Life", true);
    assert_int_equal(recorded + now.left_out.unsampled - before, LIVES);
    assert_in_range(recorded, LIVES / ONE_IN - 300, LIVES / ONE_IN + 300); /* seven sigma */
    assert_int_equal(count(path, "profiler.Malloc", true), 0);
}

/* The disk takes no more than `bytes` of a file. */
static void limit(rlim_t bytes)
{
    struct rlimit limits;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limits), 0);
    limits.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limits), 0);
}

static void a_full_disk_costs_events_and_no_more(void **state)
{
    static char text[4000];
    struct bbf_buf note = BBF_BUF_INIT;
    struct stat st;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    begin();
    assert_true(post("before"));
    pass_second();
    assert_int_equal(stat(path, &st), 0);
    limit((rlim_t)st.st_size + 3000);
    assert_true(post(text));
    pass_second(); /* fails */
    uint64_t dropped = now.left_out.dropped;
    assert_false(post("while it is full"));
    assert_int_equal(now.left_out.dropped, dropped + 1);
    bbf_sink_jfr_note(&note);
    assert_non_null(strstr(bbf_buf_cstr(&note), "File too large"));
    /* The part before the error is a whole recording. */
    assert_int_equal(count(path, "bbflow.Setting", true), 1);
    limit(RLIM_INFINITY);
    for (int i = 0; i <= RETRY_SECONDS; i++)
        pass_second();
    assert_true(post("after"));
    bbf_sink_jfr_end(10000);
    assert_int_equal(count(path, "bbflow.Setting", true), 2);
    bbf_buf_free(&note);
}

static void a_file_that_is_removed_is_made_anew(void **state)
{
    (void)state;
    begin();
    settle(); /* otherwise the first batch already meets the removed file */
    assert_int_equal(unlink(path), 0);
    assert_true(post("lost"));
    pass_second();
    assert_false(post("dropped"));
    for (int i = 0; i <= RETRY_SECONDS; i++)
        pass_second();
    assert_true(post("kept"));
    pass_second();
    assert_int_equal(count(path, "bbflow.Setting", false), 1);
}

static void a_disk_that_does_not_answer_holds_up_no_one(void **state)
{
    static char text[100000];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    begin();
    settle();
    pthread_mutex_lock(&now.disk->lock);
    now.disk->is_busy = true; /* as if write(2) did not return */
    struct batch *none = now.disk->first;
    pthread_mutex_unlock(&now.disk->lock);
    assert_null(none);
    now.disk->queued = BBF_DISK_QUEUE;
    assert_false(post(text));
    assert_int_equal(now.left_out.dropped > 0, 1);
    bbf_sink_jfr_poll(&options);
    pthread_mutex_lock(&now.disk->lock);
    now.disk->is_busy = false;
    now.disk->queued = 0;
    pthread_mutex_unlock(&now.disk->lock);
    assert_true(post(text));
}

static void what_waits_for_a_flush_is_bounded(void **state)
{
    static char text[100000];
    unsigned taken = 0;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    options.jfr_max_size = UINT64_C(1) << 30;
    begin();
    for (int i = 0; i < 100; i++)
        taken += post(text);
    assert_true(taken >= 39 && taken <= 42);
}

static void what_another_put_there_is_refused(void **state)
{
    char why[REASON] = "", outside[sizeof path];

    (void)state;
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(bbf_sink_jfr_apply(&options, why, sizeof why), BBF_EPERMISSION);
    assert_non_null(strstr(why, "a symlink is there"));
    why[0] = '\0';
    assert_int_equal(bbf_sink_jfr_apply(&options, why, sizeof why), BBF_EIO); /* said again */
    assert_non_null(strstr(why, "a symlink is there"));
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i <= RETRY_SECONDS; i++)
        pass_second();
    assert_true(post("kept"));
    snprintf(outside, sizeof outside, "%s/x.txt", folder);
    options.jfr = outside;
    assert_int_equal(bbf_sink_jfr_apply(&options, why, sizeof why), BBF_EINVAL);
    assert_non_null(strstr(why, "does not end with .jfr"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_wanted_without_a_file),
        TEST(what_was_flushed_can_be_read),
        TEST(a_kill_loses_what_was_not_flushed),
        TEST(both_files_have_half_of_maxsize),
        TEST(a_file_lasts_maxage),
        TEST(parts_can_be_put_together),
        TEST(lives_below_the_threshold_are_counted),
        TEST(one_life_in_many_is_recorded),
        TEST(a_full_disk_costs_events_and_no_more),
        TEST(a_file_that_is_removed_is_made_anew),
        TEST(a_disk_that_does_not_answer_holds_up_no_one),
        TEST(what_waits_for_a_flush_is_bounded),
        TEST(what_another_put_there_is_refused),
    };
    return cmocka_run_group_tests_name("agent_jfr", tests, NULL, NULL);
}
