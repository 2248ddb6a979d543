/* link: bbf_agent fake_jvm */
/* agent/commands/{event_command,set}.c: events and settings as a client may send them, with an
 * agent thread that answers, that is busy with older settings, and that is gone. */
#include "wire/server/server.h"

#include "core/buf.h"
#include "core/track.h"

static struct bbf_buf said; /* what the client got; '!' before an error */

static void say(const char *text, size_t len)
{
    bbf_buf_add(&said, text, len);
}

static void say_error(const char *text)
{
    bbf_buf_printf(&said, "!%s", text);
}

#define bbf_reply_text(reply, text, len) ((void)(reply), say(text, len))
#define bbf_reply_error(reply, text)     ((void)(reply), say_error(text))
#define bbf_reply_command(reply, line)   ((void)(reply), say((line)->text[0].s, (line)->text[0].len))
#include "agent/commands/event_command.c"
#undef bbf_reply_text
#undef bbf_reply_error

#include "agent/commands/set.h"
#include "tests/unit/agent/agent_world.h"

static _Atomic int result_of_jobs;
static _Atomic unsigned jobs[BBF_JOB_DETACH + 1], gc_jobs;
static unsigned effects_of_job;

static void *begin_thread(void)
{
    return jobs;
}

static unsigned wait_ms(void *context)
{
    (void)context;
    return 1000;
}

static void work(void *context)
{
    (void)context;
    for (struct bbf_job *job; (job = bbf_thread_take()) != NULL;) {
        atomic_fetch_add(&jobs[job->kind], 1);
        atomic_fetch_add(&gc_jobs, job->gc);
        effects_of_job = job->effects;
        if (job->text != NULL)
            bbf_buf_str(job->text, "done\n");
        bbf_thread_answer(job, atomic_load(&result_of_jobs));
    }
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void at_end(void *context, enum bbf_thread_end how)
{
    (void)context;
    (void)how;
}

static int start_thread(void **state)
{
    static const struct bbf_thread_body body = {
        .begin = begin_thread, .wait_ms = wait_ms, .work = work, .is_over = never, .end = at_end};
    (void)state;
    bbf_thread_init(&body);
    return bbf_thread_start();
}

static int setup(void **state)
{
    world_setup(state);
    world_rules("include=com.app");
    bbf_options_init(&bbf_agent.options);
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    atomic_store(&result_of_jobs, BBF_OK);
    memset((void *)jobs, 0, sizeof jobs);
    atomic_store(&gc_jobs, 0);
    said.len = 0;
    return 0;
}

static int teardown(void **state)
{
    bbf_options_free(&bbf_agent.options);
    bbf_buf_free(&said);
    said = (struct bbf_buf)BBF_BUF_INIT;
    return world_teardown(state);
}

static const char *event(const char *name)
{
    said.len = 0;
    bbf_event_command_reply(NULL, name, NULL);
    return bbf_buf_cstr(&said);
}

/* ---- events ---- */

static void unknown_events_are_answered_with_the_known_ones(void **state)
{
    static const char *const names[] = {"nope",     "tre",      "trees",      "tree  gc",
                                        "tree gc ", "reset gc", "reset node", "watch",
                                        "stop now", "tree\n",   " "};
    char long_name[5000];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = event(names[i]);
        if (strncmp(text, "!unknown event '", 16) != 0 || strstr(text, "events: tree") == NULL)
            fail_msg("'%s' was answered with: %s", names[i], text);
    }
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_in_range(strlen(event(long_name)), 100, 500);
    for (int i = 0; i <= BBF_JOB_DETACH; i++)
        assert_int_equal(jobs[i], 0);
}

static void no_name_means_help(void **state)
{
    (void)state;
    assert_string_equal(event(""), event("help"));
    assert_non_null(strstr(event(""), "events: "));
}

static void each_event_has_its_job(void **state)
{
    (void)state;
    (void)event("tree");
    (void)event("tree gc");
    (void)event("flows");
    assert_int_equal(jobs[BBF_JOB_SNAPSHOT], 3);
    assert_int_equal(gc_jobs, 1);
    assert_string_equal(event("reset"), "counters are zero, nodes and open lives stay\n");
    (void)event("reset nodes");
    assert_int_equal(jobs[BBF_JOB_RESET], 1);
    assert_int_equal(jobs[BBF_JOB_RESET_NODES], 1);
    assert_string_equal(event("stop"), "done\n");
    assert_int_equal(jobs[BBF_JOB_DETACH], 1);
}

static void failures_are_explained(void **state)
{
    (void)state;
    atomic_store(&result_of_jobs, BBF_ELIMIT);
    assert_non_null(strstr(event("reset"), "!reset: memory= has no room"));
    atomic_store(&result_of_jobs, BBF_ENOMEM);
    assert_non_null(strstr(event("summary"), "!summary: "));
    atomic_store(&result_of_jobs, BBF_ECLOSED);
    assert_string_equal(event("stop"),
                        "!stop: tracking is off: bbflow was stopped, or the JVM is ending");
    atomic_store(&bbf_agent.off_why, "of a test");
    assert_string_equal(event("tree"), "!tree: tracking is off: of a test");
}

static void a_watcher_hears_what_was_or_why_it_cannot(void **state)
{
    (void)state;
    (void)bbf_event_command_watch(NULL, NULL);
    assert_string_equal(bbf_buf_cstr(&said), "done\n");
    said.len = 0;
    atomic_store(&result_of_jobs, BBF_EREFUSED);
    (void)bbf_event_command_watch(NULL, NULL);
    assert_string_equal(bbf_buf_cstr(&said), "watch: no id range for nodes is left in this JVM\n");
}

/* ---- settings ---- */

static struct bbf_entry text_entry(const char *name, const char *value)
{
    struct bbf_entry e = {.value = {.kind = BBF_VALUE_STRING}};
    if (name != NULL)
        e.key = (struct bbf_wire_str){(char *)(uintptr_t)name, strlen(name)};
    if (value != NULL)
        e.value.text = (struct bbf_wire_str){(char *)(uintptr_t)value, strlen(value)};
    return e;
}

static int set(const struct bbf_entry *entries, size_t n)
{
    said.len = 0;
    return bbf_set(NULL, entries, n, &said);
}

static int set_one(const char *name, const char *value)
{
    const struct bbf_entry e = text_entry(name, value);
    return set(&e, 1);
}

static int add_track(const char *entry)
{
    said.len = 0;
    return bbf_set_add_track(entry, &said);
}

/* Entries are only appended: hooks have their positions. */
static void a_kind_of_objects_is_appended(void **state)
{
    static const char *const bad[] = {"com.app.A",
                                      "com.app.A:",
                                      "com.app.A:close+com.app.B:close",
                                      "com.app.A:close,com.app.B:close",
                                      "com..app:close",
                                      ""};
    char many[40];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(add_track(bad[i]), BBF_EINVAL);
        assert_null(bbf_agent.options.track);
    }
    assert_int_equal(jobs[BBF_JOB_APPLY], 0);
    assert_int_equal(add_track("com.app.Conn:close"), BBF_OK);
    assert_int_equal(add_track("com.app.Con:close"), BBF_OK);
    assert_string_equal(bbf_agent.options.track, "com.app.Conn:close+com.app.Con:close");
    assert_string_equal(atomic_load(&bbf_agent.rules)->options.track, bbf_agent.options.track);
    assert_int_equal(effects_of_job, BBF_EFFECT_TRACK | BBF_EFFECT_CLASSES);
    assert_int_equal(jobs[BBF_JOB_APPLY], 2);
    assert_int_equal(add_track("com.app.Con:close"), BBF_OK); /* as before */
    assert_int_equal(jobs[BBF_JOB_APPLY], 2);
    for (int i = 2; i < BBF_MAX_TRACKS; i++) {
        snprintf(many, sizeof many, "com.app.Many%d:close", i);
        assert_int_equal(add_track(many), BBF_OK);
    }
    assert_int_equal(add_track("com.app.More:close"), BBF_EINVAL);
    assert_non_null(strstr(bbf_buf_cstr(&said), "one too many"));
    atomic_store(&bbf_agent.phase, BBF_PHASE_OUT);
    assert_int_equal(add_track("com.app.Late:close"), BBF_EREFUSED);
}

static void a_setting_is_applied_by_the_agent_thread(void **state)
{
    (void)state;
    assert_int_equal(set_one("maxDepth", "49"), BBF_OK);
    uint64_t used = atomic_load(&bbf_agent.tracker->budget.used);
    assert_int_equal(set_one("maxDepth", "50"), BBF_OK);
    assert_int_equal(atomic_load(&bbf_agent.tracker->budget.used), used); /* the old ones went */
    assert_string_equal(bbf_buf_cstr(&said), "maxDepth=50\ndone\n");
    assert_int_equal(bbf_agent.options.max_depth, 50);
    assert_int_equal(jobs[BBF_JOB_APPLY], 2);
    assert_int_equal(effects_of_job, BBF_EFFECT_LIMITS);
    assert_int_equal(set_one("maxDepth", "50"), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&said), "maxDepth=50 (as before)\n");
    assert_int_equal(jobs[BBF_JOB_APPLY], 2); /* nothing to apply */
    assert_int_equal(bbf_rules_old(NULL), 0);
}

static void bad_settings_change_nothing(void **state)
{
    static const struct {
        const char *name, *value;
        int err;
    } bad[] = {{"maxDepth", "0", BBF_EINVAL},     {"maxDepth", "many", BBF_EINVAL},
               {"maxDepth", "", BBF_EINVAL},      {"maxDepht", "10", BBF_ENOTFOUND},
               {"", "1", BBF_ENOTFOUND},          {NULL, NULL, BBF_ENOTFOUND},
               {"port", "1", BBF_EREFUSED},       {"refs", "perhaps", BBF_EINVAL},
               {"sample", "99999999", BBF_EINVAL}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct bbf_rules *before = atomic_load(&bbf_agent.rules);
        const struct bbf_entry entries[] = {text_entry("maxDepth", "77"),
                                            text_entry(bad[i].name, bad[i].value)};
        int err = set(entries, 2);
        if (err != bad[i].err)
            fail_msg("%s=%s: %d, '%s'", bad[i].name, bad[i].value, err, bbf_buf_cstr(&said));
        assert_true(said.len > 0);
        assert_null(strstr(bbf_buf_cstr(&said), "maxDepth=77"));
        assert_int_equal(bbf_agent.options.max_depth, 100);
        assert_ptr_equal(atomic_load(&bbf_agent.rules), before);
    }
    assert_int_equal(jobs[BBF_JOB_APPLY], 0);
}

/* Values of every type of the protocol; a text longer than any option. */
static void values_may_have_any_type(void **state)
{
    char long_value[9000];
    struct bbf_entry e = text_entry("maxDepth", NULL);
    (void)state;
    e.value = (struct bbf_value){.kind = BBF_VALUE_INT, .u.i = 60};
    assert_int_equal(set(&e, 1), BBF_OK);
    e.value = (struct bbf_value){.kind = BBF_VALUE_LONG, .u.l = 70};
    assert_int_equal(set(&e, 1), BBF_OK);
    assert_int_equal(bbf_agent.options.max_depth, 70);
    e.value = (struct bbf_value){.kind = BBF_VALUE_LONG, .u.l = INT64_MIN};
    assert_int_equal(set(&e, 1), BBF_EINVAL);
    e.value = (struct bbf_value){.kind = BBF_VALUE_DOUBLE, .u.double_bits = ~UINT64_C(0)};
    assert_int_equal(set(&e, 1), BBF_EINVAL);
    e.value = (struct bbf_value){.kind = (enum bbf_value_kind)99};
    assert_int_equal(set(&e, 1), BBF_EINVAL);
    e = text_entry("refs", NULL);
    e.value = (struct bbf_value){.kind = BBF_VALUE_BOOLEAN, .u.b = true};
    (void)set(&e, 1);
    assert_true(bbf_agent.options.refs);
    memset(long_value, 'a', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    assert_int_not_equal(set_one("maxDepth", long_value), BBF_OK);
    (void)set_one("include", long_value);
    assert_int_equal(set(NULL, 0), BBF_OK);
}

static void while_bbflow_stops_nothing_is_set(void **state)
{
    (void)state;
    atomic_store(&bbf_agent.phase, BBF_PHASE_DETACHING);
    assert_int_equal(set_one("maxDepth", "50"), BBF_EREFUSED);
    assert_string_equal(bbf_buf_cstr(&said), "bbflow is stopping");
}

static void more_sampling_rates_than_there_is_room_for_are_refused(void **state)
{
    char rate[20];
    (void)state;
    for (uint32_t i = 2; i < 2 + BBF_L_RATES - 1; i++)
        assert_int_equal(bbf_tracker_sample(bbf_agent.tracker, i), BBF_OK);
    snprintf(rate, sizeof rate, "%d", 1000);
    assert_int_equal(set_one("sample", rate), BBF_ELIMIT);
    assert_int_equal(bbf_agent.options.sample, 1);
    assert_int_equal(set_one("sample", "2"), BBF_OK);
}

static void a_failure_of_the_agent_thread_is_said(void **state)
{
    (void)state;
    atomic_store(&result_of_jobs, BBF_ELIMIT);
    assert_int_equal(set_one("maxDepth", "51"), BBF_ELIMIT);
    assert_non_null(strstr(bbf_buf_cstr(&said), "set: "));
    assert_null(strstr(bbf_buf_cstr(&said), "maxDepth=51"));
    assert_int_equal(bbf_rules_old(NULL), 0);
}

static void while_too_many_old_settings_are_read_new_ones_are_refused(void **state)
{
    (void)state;
    const struct bbf_rules_hold hold = bbf_rules_hold();
    for (int i = 0; i < 64; i++)
        world_rules("include=com.app");
    assert_int_equal(set_one("maxDepth", "52"), BBF_EREFUSED);
    assert_non_null(strstr(bbf_buf_cstr(&said), "older settings are still read"));
    bbf_rules_let_go(&hold);
    assert_int_equal(set_one("maxDepth", "52"), BBF_OK);
}

/* Last: the thread does not come back. */
static void without_the_agent_thread_each_command_says_why(void **state)
{
    (void)state;
    bbf_thread_leave(5000);
    assert_non_null(strstr(event("tree"), "!tree: tracking is off: bbflow was stopped"));
    assert_non_null(strstr(event("stop"), "!stop: tracking is off: "));
    said.len = 0;
    (void)bbf_event_command_watch(NULL, NULL);
    assert_non_null(strstr(bbf_buf_cstr(&said), "watch: tracking is off: "));
    assert_int_equal(set_one("maxDepth", "53"), BBF_ECLOSED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unknown_events_are_answered_with_the_known_ones),
        TEST(no_name_means_help),
        TEST(each_event_has_its_job),
        TEST(failures_are_explained),
        TEST(a_watcher_hears_what_was_or_why_it_cannot),
        TEST(a_kind_of_objects_is_appended),
        TEST(a_setting_is_applied_by_the_agent_thread),
        TEST(bad_settings_change_nothing),
        TEST(values_may_have_any_type),
        TEST(while_bbflow_stops_nothing_is_set),
        TEST(more_sampling_rates_than_there_is_room_for_are_refused),
        TEST(a_failure_of_the_agent_thread_is_said),
        TEST(while_too_many_old_settings_are_read_new_ones_are_refused),
        TEST(without_the_agent_thread_each_command_says_why),
    };
    return cmocka_run_group_tests(tests, start_thread, NULL);
}
