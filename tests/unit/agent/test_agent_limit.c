/* link: bbf_agent fake_jvm */
/* agent/report/limit.c: one event for each crossing of the cgroup's limit, and none while the use
 * only moves about it. */
#include "agent/events.h"
#include "agent/report/blackbox.h"
#include "agent/report/cgroup.h"
#include "agent/report/urgent.h"

static void keep(const struct bbf_event *event);
static bool is_wanted(enum bbf_event_kind kind);
static bool found(struct bbf_cgroup *to);
static bool read_use(const struct bbf_cgroup *cgroup, uint64_t ppm, struct bbf_cgroup_memory *to);
static void note_memory(uint64_t used, uint64_t limit);
static void hurry(void);
static bool write_urgent(JNIEnv *env, const struct bbf_options *options, struct bbf_urgent *urgent);
#define bbf_events_post     keep
#define bbf_events_wanted   is_wanted
#define bbf_cgroup_find     found
#define bbf_cgroup_read     read_use
#define bbf_blackbox_memory note_memory
#define bbf_blackbox_hurry  hurry
#define bbf_urgent_write    write_urgent
#include "agent/report/limit.c"
#undef bbf_events_post
#undef bbf_events_wanted
#undef bbf_cgroup_find
#undef bbf_cgroup_read
#undef bbf_blackbox_memory
#undef bbf_blackbox_hurry
#undef bbf_urgent_write

#include "tests/unit/agent/agent_world.h"

static struct bbf_options options;
static uint64_t use; /* of 1,000 */
static bool has_limit;
static unsigned n_posted, n_hurried, n_written;
static struct bbf_event last;
static uint64_t noted;

static void keep(const struct bbf_event *event)
{
    n_posted++;
    last = *event;
}

static bool is_wanted(enum bbf_event_kind kind)
{
    return kind == BBF_EVENT_NEAR_LIMIT;
}

static bool found(struct bbf_cgroup *to)
{
    (void)to;
    return true;
}

static bool read_use(const struct bbf_cgroup *group, uint64_t ppm, struct bbf_cgroup_memory *to)
{
    (void)group;
    (void)ppm;
    *to = (struct bbf_cgroup_memory){use, 1000};
    return has_limit;
}

static void note_memory(uint64_t used, uint64_t limit)
{
    noted = limit > 0 ? used : UINT64_MAX;
}

static void hurry(void)
{
    n_hurried++;
}

static bool write_urgent(JNIEnv *env, const struct bbf_options *o, struct bbf_urgent *urgent)
{
    (void)env;
    if (o->file == NULL)
        return false;
    n_written++;
    snprintf(urgent->last_path, sizeof urgent->last_path, "%s", o->file);
    return true;
}

static int setup(void **state)
{
    world_setup(state);
    bbf_options_init(&options);
    is_near = false;
    crossings = passed_over = 0;
    highest = (struct bbf_cgroup_memory){0, 0};
    reports = (struct bbf_urgent){.suffix = "limit"};
    has_limit = true;
    n_posted = n_hurried = n_written = 0;
    return 0;
}

static int teardown(void **state)
{
    bbf_options_free(&options);
    return world_teardown(state);
}

/* A second later the use is `now`. */
static void look_at(uint64_t now)
{
    use = now;
    looked_s = 0;
    bbf_limit_poll(fake_env(), &options);
}

static void each_crossing_is_one_event(void **state)
{
    static const uint64_t uses[] = {100, 899, 900, 950, 899, 851, 905, 999};
    (void)state;
    assert_int_equal(options.near_limit, 900000);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        look_at(uses[i]);
        assert_int_equal(noted, uses[i]);
    }
    assert_int_equal(n_posted, 1);
    assert_int_equal(n_hurried, 1);
    assert_int_equal(last.detail.near_limit.used, 900);
    assert_int_equal(last.detail.near_limit.limit, 1000);
    assert_null(last.detail.near_limit.path);
    assert_null(last.detail.near_limit.why);
    look_at(849);
    look_at(950);
    assert_int_equal(n_posted, 2);
    assert_int_equal(last.count, 2);
    assert_int_equal(n_written, 0);
}

static void a_report_is_named(void **state)
{
    struct bbf_buf note = BBF_BUF_INIT;
    (void)state;
    bbf_limit_note(&note);
    assert_int_equal(note.len, 0);
    options.file = strdup("out.json");
    look_at(930);
    assert_int_equal(n_written, 1);
    assert_string_equal(last.detail.near_limit.path, "out.json");
    bbf_limit_note(&note);
    assert_non_null(strstr(bbf_buf_cstr(&note),
                           "930 B of the cgroup's memory limit of 1000 B in use "
                           "(93%), at the most, when nearLimit= was reached (1 "
                           "time); out.json is how it was at 1970"));
    bbf_buf_free(&note);
}

static void nothing_happens_without_a_limit_or_when_off(void **state)
{
    (void)state;
    has_limit = false;
    look_at(1000);
    assert_int_equal(noted, UINT64_MAX);
    has_limit = true;
    options.near_limit = 0;
    look_at(1000);
    assert_int_equal(n_posted, 0);
    bbf_limit_poll(fake_env(), NULL);
    options.near_limit = 900000;
    look_at(1000);
    use = 100; /* in the same second it is not looked at again */
    bbf_limit_poll(fake_env(), &options);
    assert_int_equal(noted, 1000);
    assert_int_equal(n_posted, 1);
}

/* The kernel gives the lowest free number, so the highest ones say how many are left. */
static void a_look_that_is_left_out_is_noted(void **state)
{
    struct bbf_buf note = BBF_BUF_INIT;
    struct rlimit limit, few;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = (struct rlimit){SPARE - 1, limit.rlim_max};
    look_at(500);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    look_at(950);
    look_at(950);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(noted, UINT64_MAX);
    assert_int_equal(n_posted, 0);
    bbf_limit_note(&note);
    assert_string_equal(bbf_buf_cstr(&note),
                        "the cgroup's memory was not looked at 2 times (nearLimit=), because fewer "
                        "than 16 file descriptors were free; ulimit -n sets their number");
    look_at(950);
    assert_int_equal(n_posted, 1);
    note.len = 0;
    bbf_limit_note(&note);
    assert_non_null(
        strstr(bbf_buf_cstr(&note), "(1 time); the cgroup's memory was not looked at 2"));
    bbf_buf_free(&note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_crossing_is_one_event, setup, teardown),
        cmocka_unit_test_setup_teardown(a_report_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_look_that_is_left_out_is_noted, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_happens_without_a_limit_or_when_off, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
