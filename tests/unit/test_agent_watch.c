/* link: bbf_render bbf_trie bbf_snapshot bbf_core */
/*
 * agent/report/watch.c: what each of several clients hears of the places where buffers are lost or
 * aged, with a tracker of arrays. The sum of what a client hears of a place is its total.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/stream.h"
#include "agent/cost/meter.h"
#include "agent/jvm/threads.h"
#include "agent/report/after_release.h"
#include "agent/report/misuse.h"
#include "agent/sinks/sinks.h"
#include "agent/state.h"
#include "core/err.h"
#include "trie/model.h"
#include "wire/server/live.h"

enum { PLACES = 1100, TID = 7 };

struct bbf_agent bbf_agent;
static struct bbf_tracker fake;
static struct bbf_node nodes[PLACES + 1];
static struct bbf_site sites[PLACES + 1];
static struct bbf_tomb tombs[PLACES + 1];
static uint64_t aged_buffers[PLACES + 1]; /* buffers that are aged at each node */
static uint32_t rate;
static bool someone_watches;
static struct bbf_buf stream; /* what was published */
static const char *thread_name;
static unsigned asked_for_threads;
static bool no_memory;

/* Another sink beside the live stream: it wants what a test says. */
static unsigned other_wants, other_took;

static unsigned wanted_by_other(void)
{
    return other_wants;
}

static bool offer_other(const struct bbf_event *event)
{
    (void)event;
    other_took++;
    return true;
}

const struct bbf_sink bbf_sink_log = {"log", wanted_by_other, offer_other, NULL};
static unsigned wanted_none(void)
{
    return 0;
}
const struct bbf_sink bbf_sink_jfr = {"jfr", wanted_none, NULL, NULL};
const struct bbf_sink bbf_sink_jmx = {"jmx", wanted_none, NULL, NULL};

static unsigned wanted_by_none(void)
{
    return 0;
}

const struct bbf_sink bbf_sink_lttng = {"lttng", wanted_by_none, offer_other, NULL};

static int capture(struct bbf_snapshot *s)
{
    s->nodes = calloc(PLACES + 1, sizeof *s->nodes);
    s->leaks = calloc(PLACES + 1, sizeof *s->leaks);
    assert_true(s->nodes != NULL && s->leaks != NULL);
    for (uint32_t i = 0; i <= PLACES; i++) {
        s->nodes[i].id = i;
        if (aged_buffers[i] > 0)
            s->leaks[s->n_leaks++] = (struct bbf_snap_leak){.node = i,
                                                            .verdict = BBF_VERDICT_AGED,
                                                            .memory = BBF_MEM_HEAP,
                                                            .count = aged_buffers[i],
                                                            .bytes = 10 * aged_buffers[i]};
    }
    return BBF_OK;
}

bool bbf_stream_publish(const char *text, size_t len)
{
    bbf_buf_add(&stream, text, len);
    return true;
}

uint64_t bbf_stream_published(void)
{
    return 0;
}

void bbf_stream_unpublish(void)
{
}

bool bbf_stream_is_watched(void)
{
    return someone_watches;
}

void bbf_after_release_each(void (*take)(void *ctx, const struct bbf_event *event), void *ctx)
{
    (void)take;
    (void)ctx;
}

void bbf_misuse_each(void (*take)(void *ctx, const struct bbf_event *event), void *ctx)
{
    (void)take;
    (void)ctx;
}

uint64_t bbf_meter_clock(void)
{
    return 0;
}

int bbf_threads_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    (void)env;
    asked_for_threads++;
    if (no_memory)
        return BBF_ENOMEM;
    return bbf_snapshot_add_thread(s, TID, thread_name);
}

#define bbf_node_place(t, id)        ((void)(t), (struct bbf_place){nodes[id].site, nodes[id].parent})
#define bbf_site_get(t, id)          ((void)(t), &sites[id])
#define bbf_tracker_tomb(t, number)  (&tombs[number])
#define bbf_node_sampled_by(t, node) rate
#define bbf_tracker_capture(t, s)    capture(s)
#include "agent/event.c"
#include "agent/events.c"
#include "agent/report/names.c"
#include "agent/report/watch.c"
#include "agent/sinks/live.c"

static char names[PLACES + 1][1001];

static int setup(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    memset(tombs, 0, sizeof tombs);
    memset(aged_buffers, 0, sizeof aged_buffers);
    atomic_store(&fake.max_age, 1);
    fake.budget.limit = UINT64_MAX;
    bbf_agent.tracker = &fake;
    rate = 1;
    thread_name = "main";
    someone_watches = no_memory = false;
    asked_for_threads = other_wants = other_took = 0;
    for (uint32_t i = 1; i <= PLACES; i++) {
        snprintf(names[i], sizeof names[i], "place%u", i);
        sites[i] = (struct bbf_site){.class_name = (char *)"com.app.Steps", .method = names[i]};
        atomic_store(&nodes[i].site, i);
        atomic_store(&nodes[i].parent, BBF_L_NODE_NONE);
        tombs[i].node = i;
        tombs[i].end = BBF_END_LEAKED;
        tombs[i].memory = BBF_MEM_HEAP;
    }
    fake.n_tombs = PLACES;
    bbf_watch_reset();
    bbf_buf_free(&stream);
    return 0;
}

static void lose(uint32_t place, uint32_t n)
{
    const struct bbf_loss loss = {.node = place, .bytes = 10, .tid = TID};

    while (n-- > 0)
        bbf_tomb_add(&tombs[place], &loss);
}

/* A client comes: what it hears first. */
static struct bbf_buf come(void)
{
    struct bbf_buf text = BBF_BUF_INIT;
    uint64_t place;

    assert_int_equal(bbf_watch_begin(NULL, &text, &place), BBF_OK);
    someone_watches = true;
    return text;
}

/* As after the seconds that every place needs for its turn. */
static void let_all_be_reported(void)
{
    for (int i = 0; i < PLACES / EVENTS_A_SECOND + 1; i++) {
        report_leaks(NULL);
        aged_at_ns = 0;
        report_aged(NULL);
    }
}

/* Sum of the buffers that the lines tell of. */
static unsigned long sum(const char *text, const char *verdict)
{
    unsigned long all = 0;

    for (const char *at = text; (at = strstr(at, verdict)) != NULL; at += strlen(verdict))
        all += strtoul(at + strlen(verdict), NULL, 10);
    return all;
}

static void assert_has(struct bbf_buf *text, const char *words)
{
    if (strstr(bbf_buf_cstr(text), words) == NULL)
        fail_msg("no '%s' in: %.2000s", words, bbf_buf_cstr(text));
}

static void a_second_watcher_takes_no_loss_from_the_first(void **state)
{
    (void)state;
    lose(1, 5);
    struct bbf_buf a = come();
    assert_has(&a, "LEAK heap: 5 buffers so far (50 bytes), by main: Steps.place1\n");
    lose(1, 3); /* within the same second */
    struct bbf_buf b = come();
    assert_has(&stream, "LEAK heap: 3 new buffers (30 bytes), 8 so far (80 bytes), by main");
    assert_has(&b, "LEAK heap: 8 buffers so far (80 bytes), by main: Steps.place1\n");
    bbf_buf_free(&a);
    bbf_buf_free(&b);
}

static void a_second_watcher_takes_no_aged_buffer_from_the_first(void **state)
{
    enum { NEW = 2 * EVENTS_A_SECOND + 10 };

    (void)state;
    aged_buffers[1] = 4;
    struct bbf_buf a = come();
    assert_has(&a, "AGED heap: 4 buffers so far (40 bytes): Steps.place1\n");
    aged_buffers[1] = 6;
    for (uint32_t i = 2; i < 2 + NEW; i++)
        aged_buffers[i] = 1;
    struct bbf_buf b = come();
    size_t common = stream.len; /* the second one hears what comes from here on */
    let_all_be_reported();
    assert_int_equal(
        sum(bbf_buf_cstr(&a), "AGED heap: ") + sum(bbf_buf_cstr(&stream), "AGED heap: "), 6 + NEW);
    assert_int_equal(sum(bbf_buf_cstr(&b), "AGED heap: ") +
                         sum(bbf_buf_cstr(&stream) + common, "AGED heap: "),
                     6 + NEW);
    bbf_buf_free(&a);
    bbf_buf_free(&b);
}

static void places_without_a_line_are_counted(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= GREETING + 9; i++)
        aged_buffers[i] = 1;
    lose(1, 1);
    struct bbf_buf a = come();
    assert_int_equal(sum(bbf_buf_cstr(&a), "AGED heap: "), GREETING);
    assert_has(&a, "\n… and 9 more places: see bbflow tree\n");
    bbf_buf_free(&a);
}

static void the_share_of_the_opener_is_of_buffers_as_well(void **state)
{
    const struct bbf_loss other = {.node = 1, .bytes = 10, .tid = TID + 1};

    (void)state;
    rate = 10;
    lose(1, 281);
    for (int i = 0; i < 108; i++)
        bbf_tomb_add(&tombs[1], &other);
    struct bbf_buf a = come();
    assert_has(&a, "about 3890 buffers so far (about 38900 bytes), by main (2810 of 3890): Steps");
    bbf_buf_free(&a);
}

/* A path of `steps` steps whose names have `letters` letters each; its line. */
static struct bbf_buf line_of_path(uint32_t steps, size_t letters, char letter)
{
    for (uint32_t i = 1; i <= steps; i++) {
        memset(names[i], letter, letters);
        snprintf(names[i] + letters, sizeof names[i] - letters, "-%u", i);
        atomic_store(&nodes[i].parent, i > 1 ? i - 1 : BBF_L_NODE_NONE);
    }
    lose(steps, 1);
    struct bbf_buf a = come();
    assert_in_range(a.len, 1, BBF_LIVE_TEXT);
    return a;
}

static void the_losing_step_of_a_long_path_is_there(void **state)
{
    static const struct {
        size_t letters;
        char letter;
    } paths[] = {{1, 'x'},   {10, 'x'},    {60, 'x'},    {300, 'x'},
                 {900, 'x'}, {40, '\x1B'}, {300, '\x1B'}};
    static char long_name[] = "a name \x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B"
                              "\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B";

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        setup(state);
        thread_name = long_name;
        struct bbf_buf a = line_of_path(60, paths[i].letters, paths[i].letter);
        assert_has(&a, "-60\n");
        assert_has(&a, "… → ");
        bbf_buf_free(&a);
    }
    setup(state);
    struct bbf_buf whole = line_of_path(20, 4, 'x');
    assert_has(&whole, "main: Steps.xxxx-1 → Steps.xxxx-2 → ");
    bbf_buf_free(&whole);
}

/* A second later. */
static void look(void)
{
    second = 0;
    bbf_events_refresh();
    bbf_watch_poll(NULL);
}

static void what_no_sink_wants_is_not_even_made(void **state)
{
    (void)state;
    lose(1, 5);
    look();
    assert_int_equal(asked_for_threads, 0);
    assert_int_equal(tombs[1].reported, 0);
    assert_int_equal(stream.len, 0);
}

static void a_sink_that_listens_always_leaves_each_client_its_total(void **state)
{
    (void)state;
    other_wants = BBF_EVENT_BIT(BBF_EVENT_LEAK);
    lose(1, 5);
    look();
    assert_int_equal(other_took, 1);
    assert_int_equal(stream.len, 0); /* no client watches */
    lose(1, 2);
    struct bbf_buf a = come();
    assert_int_equal(other_took, 2);
    assert_has(&a, "LEAK heap: 7 buffers so far (70 bytes), by main: Steps.place1\n");
    lose(1, 1);
    look();
    assert_int_equal(other_took, 3);
    assert_has(&stream, "LEAK heap: 1 new buffer (10 bytes), 8 so far (80 bytes), by main");
    bbf_buf_free(&a);
}

static void events_that_cannot_be_made_are_counted_for_who_wants_them(void **state)
{
    (void)state;
    uint64_t before = bbf_events_dropped("live");
    someone_watches = no_memory = true;
    lose(1, 5);
    lose(2, 1);
    look();
    assert_int_equal(bbf_events_dropped("live") - before, 2);
    assert_int_equal(bbf_events_dropped("log"), 0);
    assert_int_equal(stream.len, 0);
}

static int teardown(void **state)
{
    (void)state;
    bbf_watch_reset();
    bbf_buf_free(&stream);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_second_watcher_takes_no_loss_from_the_first, setup),
        cmocka_unit_test_setup(a_second_watcher_takes_no_aged_buffer_from_the_first, setup),
        cmocka_unit_test_setup(places_without_a_line_are_counted, setup),
        cmocka_unit_test_setup(the_share_of_the_opener_is_of_buffers_as_well, setup),
        cmocka_unit_test_setup(the_losing_step_of_a_long_path_is_there, setup),
        cmocka_unit_test_setup(what_no_sink_wants_is_not_even_made, setup),
        cmocka_unit_test_setup(a_sink_that_listens_always_leaves_each_client_its_total, setup),
        cmocka_unit_test_setup(events_that_cannot_be_made_are_counted_for_who_wants_them, setup),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
