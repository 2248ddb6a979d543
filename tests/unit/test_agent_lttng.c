/* link: bbf_render bbf_trie bbf_snapshot bbf_core */
/*
 * agent/lttng.c, agent/sinks/lttng.c: which daemons an option connects to, when the recorder is
 * loaded and which one, what is logged without it, and what of an event is recorded.
 */
#include "agent/event.h"
#include "agent/sinks/flow.c"
#include "agent/sinks/lttng.c"
#include "agent/event.c"

#include <dlfcn.h>
#include <stddef.h>

static void *fake_dlopen(const char *path, int flags);
static void *fake_dlsym(void *library, const char *name);
static char *fake_dlerror(void);
#define dlopen       fake_dlopen
#define dlsym        fake_dlsym
#define dlerror      fake_dlerror
#define dlclose(lib) ((void)(lib))
#include "agent/lttng.c"
#undef dlopen
#undef dlsym
#undef dlerror
#undef dlclose

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* ---- what is around ---- */

struct bbf_lttng_client {
    struct bbf_lttng_config config;
};

static struct bbf_lttng_client there;
static int starts, stops, start_result;
static int32_t least[BBF_LOGGERS]; /* level that is enabled */
static _Atomic int wakes;
static bool java_agent, on;
static struct bbf_recorder library;
static bool has_library;
static char opened[PATH_MAX], log_path[] = "/tmp/bbf-lttng-log-XXXXXX";
static struct bbf_buf recorded;

int bbf_lttng_start(struct bbf_lttng_client **out, const struct bbf_lttng_config *config)
{
    there.config = *config;
    starts++;
    *out = start_result == BBF_OK ? &there : NULL;
    return start_result;
}

void bbf_lttng_stop(struct bbf_lttng_client *stopped)
{
    stops += stopped != NULL;
}

bool bbf_lttng_wants(const struct bbf_lttng_client *asked, size_t logger, int32_t level)
{
    assert_ptr_equal(asked, &there);
    return level >= least[logger];
}

uint16_t bbf_lttng_port(const struct bbf_lttng_client *asked, enum bbf_lttng_daemon daemon)
{
    assert_ptr_equal(asked, &there);
    return daemon == BBF_LTTNG_USER ? 5345 : 0;
}

void bbf_thread_wake(void)
{
    wakes++;
}

static void *fake_dlopen(const char *path, int flags)
{
    if ((flags & RTLD_NOLOAD) != 0)
        return java_agent ? &library : NULL;
    snprintf(opened, sizeof opened, "%s", path);
    return has_library ? &library : NULL;
}

static void *fake_dlsym(void *from, const char *name)
{
    assert_ptr_equal(from, &library);
    assert_string_equal(name, "bbf_recorder");
    return from;
}

static char *fake_dlerror(void)
{
    static char text[] = "liblttng-ust.so.1: cannot open shared object file";
    return text;
}

static bool is_on_fake(void)
{
    return on;
}

static void record_fake(const struct bbf_log_record *r)
{
    bbf_buf_printf(&recorded, "%s|%s|%s|%s|%ld|%d|%d\n", r->message, r->logger, r->class_name,
                   r->method, r->time_ms, r->level, r->thread);
}

static const char *logged(void)
{
    static char text[4096];
    int fd = open(log_path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);

    assert_true(n >= 0);
    close(fd);
    assert_int_equal(truncate(log_path, 0), 0);
    text[n] = '\0';
    return text;
}

static int begin(void **state)
{
    (void)state;
    bbf_tracing_stop();
    atomic_store(&recorder, NULL);
    atomic_flag_clear(&loading);
    starts = stops = start_result = 0;
    wakes = 0;
    java_agent = false;
    on = has_library = true;
    library = (struct bbf_recorder){BBF_RECORDER_ABI, is_on_fake, record_fake};
    opened[0] = '\0';
    for (size_t i = 0; i < BBF_LOGGERS; i++)
        least[i] = INT32_MIN;
    bbf_buf_free(&recorded);
    (void)logged();
    return 0;
}

static struct bbf_options with(enum bbf_lttng_option lttng, enum bbf_lttng_protocol version)
{
    return (struct bbf_options){.lttng = lttng, .lttng_protocol = version};
}

static int apply(enum bbf_lttng_option lttng)
{
    const struct bbf_options options = with(lttng, BBF_LTTNG_PROTOCOL_AUTO);
    return bbf_tracing_apply(&options);
}

/* The recorder is loaded in a thread of its own, which wakes the agent thread at its end. */
static void enable(void)
{
    int before = wakes;

    there.config.enabled();
    for (int i = 0; i < 1000 && wakes < before + 2; i++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_int_equal(wakes, before + 2);
}

/* ---- the option ---- */

static void an_option_chooses_the_daemons(void **state)
{
    static const struct {
        enum bbf_lttng_option option;
        bool root, user;
    } cases[] = {{BBF_LTTNG_ON, true, true},
                 {BBF_LTTNG_ONLY_ROOT, true, false},
                 {BBF_LTTNG_ONLY_USER, false, true}};
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_OFF), BBF_OK);
    assert_int_equal(starts, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(apply(cases[i].option), BBF_OK);
        assert_int_equal(apply(cases[i].option), BBF_OK); /* as before: nothing is done */
        assert_int_equal(starts, i + 1);
        assert_int_equal(stops, i);
        assert_true(there.config.daemons[BBF_LTTNG_ROOT] == cases[i].root);
        assert_true(there.config.daemons[BBF_LTTNG_USER] == cases[i].user);
        assert_true(there.config.may_switch && there.config.version == BBF_LTTNG_2_0);
    }
    assert_int_equal(apply(BBF_LTTNG_OFF), BBF_OK);
    assert_int_equal(stops, 3);
    assert_false(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_SEVERE));
}

static void an_option_chooses_the_version(void **state)
{
    const struct bbf_options old = with(BBF_LTTNG_ON, BBF_LTTNG_PROTOCOL_0_1),
                             new = with(BBF_LTTNG_ON, BBF_LTTNG_PROTOCOL_2_0);
    (void)state;

    assert_int_equal(bbf_tracing_apply(&old), BBF_OK);
    assert_true(there.config.version == BBF_LTTNG_0_1 && !there.config.may_switch);
    assert_int_equal(bbf_tracing_apply(&new), BBF_OK);
    assert_true(there.config.version == BBF_LTTNG_2_0 && !there.config.may_switch);
    assert_int_equal(stops, 1);
}

static void a_start_that_fails_is_logged(void **state)
{
    (void)state;
    start_result = BBF_ENOMEM;
    assert_int_equal(apply(BBF_LTTNG_ON), BBF_ENOMEM);
    assert_non_null(strstr(logged(), "lttng: no connection to a session daemon: out of memory"));
    assert_false(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_SEVERE));
    start_result = BBF_OK;
    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK); /* it may be tried again */
    assert_int_equal(starts, 2);
}

/* ---- the recorder ---- */

static void the_recorder_is_loaded_when_a_logger_is_enabled(void **state)
{
    (void)state;
    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    assert_string_equal(opened, "");
    assert_false(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_WARNING));
    enable();
    assert_non_null(strstr(opened, "/libbbflow-lttng.so"));
    assert_true(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_WARNING));
    struct bbf_tracing_status status;
    bbf_tracing_status(&status);
    assert_true(status.on && status.records && status.root == 0 && status.user == 5345);
    opened[0] = '\0';
    there.config.enabled(); /* once */
    assert_string_equal(opened, "");
    on = false; /* no session has the tracepoint enabled */
    assert_false(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_WARNING));
    assert_string_equal(logged(), "");
}

static void beside_the_java_agent_it_shares_the_tracepoint(void **state)
{
    (void)state;
    java_agent = true;
    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    assert_non_null(strstr(opened, "/libbbflow-lttng-shared.so"));
}

static void without_the_recorder_one_line_has_the_reason(void **state)
{
    (void)state;
    has_library = false;
    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    const char *text = logged();
    assert_non_null(strstr(text, "events are not recorded: liblttng-ust.so.1: cannot open"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_false(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_WARNING));
    assert_int_equal(bbf_sink_lttng.wanted(), 0);
}

static void a_recorder_of_another_bbflow_is_refused(void **state)
{
    (void)state;
    library.abi = BBF_RECORDER_ABI + 1;
    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    assert_non_null(strstr(logged(), "is of another bbflow"));
    assert_false(bbf_tracing_wants(BBF_LOGGER_LEAK, BBF_LEVEL_WARNING));
}

/* ---- the sink ---- */

static void the_sink_wants_what_is_enabled(void **state)
{
    unsigned life = BBF_EVENT_BIT(BBF_EVENT_LIFE), summary = BBF_EVENT_BIT(BBF_EVENT_SUMMARY),
             leak = BBF_EVENT_BIT(BBF_EVENT_LEAK), aged = BBF_EVENT_BIT(BBF_EVENT_AGED),
             misuse = BBF_EVENT_BIT(BBF_EVENT_MISUSE),
             oom = BBF_EVENT_BIT(BBF_EVENT_OOM) | BBF_EVENT_BIT(BBF_EVENT_OOM_REPORT) |
                   BBF_EVENT_BIT(BBF_EVENT_NEAR_LIMIT);
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    assert_int_equal(bbf_sink_lttng.wanted(), leak | aged | misuse | oom | life | summary);
    least[BBF_LOGGER_FLOW] = BBF_LEVEL_WARNING;
    least[BBF_LOGGER_LIFE] = BBF_LEVEL_INFO;
    assert_int_equal(bbf_sink_lttng.wanted(), leak | aged | misuse | oom | life | summary);
    least[BBF_LOGGER_LIFE] = BBF_LEVEL_WARNING;
    least[BBF_LOGGER_STATS] = BBF_LEVEL_WARNING;
    assert_int_equal(bbf_sink_lttng.wanted(), leak | aged | misuse | oom);
    least[BBF_LOGGER_FLOW] = BBF_LEVEL_INFO;
    assert_int_equal(bbf_sink_lttng.wanted(), leak | aged | misuse | oom | summary);
    least[BBF_LOGGER_FLOW] = INT32_MAX;
    least[BBF_LOGGER_MISUSE] = INT32_MAX;
    assert_int_equal(bbf_sink_lttng.wanted(), leak | aged | oom);
    least[BBF_LOGGER_LEAK] = 801;
    assert_int_equal(bbf_sink_lttng.wanted(), leak | oom);
    least[BBF_LOGGER_LEAK] = 901;
    assert_int_equal(bbf_sink_lttng.wanted(), oom);
}

static void events_are_records(void **state)
{
    char *used_by[] = {(char *)"io.netty.buffer.ByteBuf.release", (char *)"com.app.Handler.late"};
    struct bbf_snap_misuse misuse = {
        .used_thread = 7, .count = 1, .used_by = used_by, .n_used_by = 2};
    struct bbf_event event = bbf_event_new(BBF_EVENT_MISUSE);
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    event.time_ns = INT64_C(1795273400123456789);
    event.thread = 7;
    event.detail.misuse = &misuse;
    assert_true(bbf_sink_lttng.offer(&event));
    const char *text = bbf_buf_cstr(&recorded);
    assert_non_null(strstr(text, "|bbflow.misuse|com.app.Handler|late|1795273400123|900|7\n"));
    bbf_buf_free(&recorded);
    event.kind = BBF_EVENT_OOM;
    assert_true(bbf_sink_lttng.offer(&event));
    assert_string_equal(bbf_buf_cstr(&recorded),
                        "direct memory ran out|bbflow.leak|||1795273400123|1000|7\n");
    bbf_buf_free(&recorded);
    least[BBF_LOGGER_LEAK] = INT32_MAX;
    assert_true(bbf_sink_lttng.offer(&event)); /* not dropped: not wanted any more */
    assert_int_equal(recorded.len, 0);
}

static struct bbf_snap_site sites[] = {
    {.class_name = (char *)"com.app.Root", .method = (char *)"open"},
    {.class_name = (char *)"com.app.End", .method = (char *)"shut"}};

static const char *summary_of(struct bbf_snap_node *nodes, size_t n, uint64_t before_reset)
{
    struct bbf_snapshot s = {.sites = sites, .n_sites = 2, .nodes = nodes, .n_nodes = n};
    struct bbf_event event = bbf_event_new(BBF_EVENT_SUMMARY);

    for (size_t i = 0; i < n; i++)
        s.totals.released_ += nodes[i].released_;
    s.totals.lives_ = s.totals.released_;
    s.since_start.released_ = s.totals.released_ + before_reset;
    event.time_ns = 5000000;
    event.detail.snapshot = &s;
    bbf_buf_free(&recorded);
    assert_true(bbf_sink_lttng.offer(&event));
    return bbf_buf_cstr(&recorded);
}

#define STATS(n)                                                                                   \
    "STATS " n " lives: " n                                                                        \
    " released, 0 open (0 bytes), 0 leaked (0 bytes), 0 held, 0 harmless, "                        \
    "0 unknown; 0 not followed, 0 uses after release|bbflow.stats|||5|800|0\n"
#define FLOW(counts) "FLOW " counts ": Root.open → End.shut|bbflow.flow|com.app.End|shut|5|800|0\n"

static void a_summary_has_what_ended_on_each_path(void **state)
{
    struct bbf_snap_node nodes[] = {{.id = 4, .parent = -1, .live_ = 9},
                                    {.id = 7, .parent = 4, .site = 1, .released_ = 3}};
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    assert_string_equal(summary_of(nodes, 2, 0),
                        STATS("3") FLOW("3 so far (3 released, 0 leaked), 0 open"));
    assert_string_equal(summary_of(nodes, 2, 0), STATS("3")); /* nothing new */
    nodes[1].released_ = 5;
    nodes[1].live_ = 1;
    assert_string_equal(summary_of(nodes, 2, 0),
                        STATS("5") FLOW("2 ended, 5 so far (5 released, 0 leaked), 1 open"));
    nodes[1].released_ = 6; /* after a reset that took 5 */
    assert_string_equal(summary_of(nodes, 2, 5),
                        STATS("6") FLOW("6 so far (6 released, 0 leaked), 1 open"));
    least[BBF_LOGGER_STATS] = INT32_MAX;
    nodes[1].released_ = 7;
    assert_string_equal(summary_of(nodes, 2, 5),
                        FLOW("1 ended, 7 so far (7 released, 0 leaked), 1 open"));
    least[BBF_LOGGER_FLOW] = INT32_MAX;
    (void)bbf_sink_lttng.wanted();
    assert_null(places); /* nothing is remembered */
}

static void paths_without_room_are_counted(void **state)
{
    enum { N = BBF_FLOW_LINES + 3 };
    static struct bbf_snap_node nodes[N];
    size_t lines = 0;
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    least[BBF_LOGGER_STATS] = INT32_MAX;
    for (size_t i = 0; i < N; i++)
        nodes[i] = (struct bbf_snap_node){.id = (uint32_t)i, .parent = -1, .released_ = 1};
    const char *text = summary_of(nodes, N, 0);
    assert_non_null(strstr(text, "FLOW … and 3 more places: see bbflow tree|bbflow.flow|"));
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    assert_int_equal(lines, BBF_FLOW_LINES + 1);
    text = summary_of(nodes, N, 0); /* the three come now */
    for (lines = 0; *text != '\0'; text++)
        lines += *text == '\n';
    assert_int_equal(lines, 3);
    bbf_flow_forget();
}

/* Each of them is one event less, in each summary; those that are remembered continue. */
static void paths_that_are_not_remembered_are_lost(void **state)
{
    enum { N = BBF_FLOW_PLACES + 5 };
    static struct bbf_snap_node nodes[N];
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    least[BBF_LOGGER_STATS] = INT32_MAX;
    for (size_t i = 0; i < N; i++)
        nodes[i] = (struct bbf_snap_node){.id = (uint32_t)i, .parent = -1, .released_ = i > 0};
    for (uint64_t summaries = 1; summaries <= BBF_FLOW_PLACES / BBF_FLOW_LINES; summaries++) {
        assert_true(strlen(summary_of(nodes, N, 0)) > BBF_FLOW_LINES);
        assert_int_equal(bbf_sink_lttng.lost(), 4); /* the first one has no life that ended */
    }
    nodes[7].released_ = 2;
    assert_non_null(
        strstr(summary_of(nodes, N, 0), "FLOW 1 ended, 2 so far (2 released, 0 leaked)"));
    bbf_flow_forget();
}

static void a_life_has_a_level_by_its_end(void **state)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_LIFE);
    (void)state;

    assert_int_equal(apply(BBF_LTTNG_ON), BBF_OK);
    enable();
    event.time_ns = 5000000;
    event.memory = BBF_MEM_HEAP;
    event.count = event.added = 3;
    event.bytes = event.added_bytes = 192;
    event.age_ns = 4 * BBF_CLOCK_SECOND;
    event.detail.life.end = BBF_END_LEAKED;
    assert_true(bbf_sink_lttng.offer(&event));
    assert_non_null(
        strstr(bbf_buf_cstr(&recorded), "LIFE heap: 3 buffers (192 bytes), leaked after 4 s: "));
    assert_non_null(strstr(bbf_buf_cstr(&recorded), "|bbflow.life|||5|800|0\n"));
    bbf_buf_free(&recorded);
    event.detail.life.end = BBF_END_HARMLESS;
    assert_true(bbf_sink_lttng.offer(&event));
    assert_non_null(strstr(bbf_buf_cstr(&recorded), "harmless after 4 s"));
    assert_non_null(strstr(bbf_buf_cstr(&recorded), "|bbflow.life|||5|500|0\n"));
    bbf_buf_free(&recorded);
    event.detail.life.end = BBF_END_LEAKED; /* of a released one it says nothing */
    event.detail.life.is_released = true;
    assert_true(bbf_sink_lttng.offer(&event));
    assert_non_null(strstr(bbf_buf_cstr(&recorded), "released after 4 s"));
    assert_non_null(strstr(bbf_buf_cstr(&recorded), "|bbflow.life|||5|500|0\n"));
    bbf_buf_free(&recorded);
    least[BBF_LOGGER_LIFE] = BBF_LEVEL_INFO;
    assert_true(bbf_sink_lttng.offer(&event));
    assert_int_equal(recorded.len, 0);
}

static int open_log(void **state)
{
    (void)state;
    int fd = mkstemp(log_path);
    close(fd);
    bbf_log_set_level(BBF_LOG_ERROR);
    return bbf_log_open(log_path, NULL, 0);
}

static int close_log(void **state)
{
    (void)state;
    bbf_buf_free(&recorded);
    return unlink(log_path) + bbf_log_open(NULL, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_option_chooses_the_daemons, begin),
        cmocka_unit_test_setup(an_option_chooses_the_version, begin),
        cmocka_unit_test_setup(a_start_that_fails_is_logged, begin),
        cmocka_unit_test_setup(the_recorder_is_loaded_when_a_logger_is_enabled, begin),
        cmocka_unit_test_setup(beside_the_java_agent_it_shares_the_tracepoint, begin),
        cmocka_unit_test_setup(without_the_recorder_one_line_has_the_reason, begin),
        cmocka_unit_test_setup(a_recorder_of_another_bbflow_is_refused, begin),
        cmocka_unit_test_setup(the_sink_wants_what_is_enabled, begin),
        cmocka_unit_test_setup(events_are_records, begin),
        cmocka_unit_test_setup(a_summary_has_what_ended_on_each_path, begin),
        cmocka_unit_test_setup(paths_without_room_are_counted, begin),
        cmocka_unit_test_setup(paths_that_are_not_remembered_are_lost, begin),
        cmocka_unit_test_setup(a_life_has_a_level_by_its_end, begin),
    };
    return cmocka_run_group_tests(tests, open_log, close_log);
}
