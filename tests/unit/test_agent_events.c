/* link: bbf_render bbf_trie bbf_snapshot bbf_core */
/*
 * agent/event.c, agent/events.c: an event goes to every sink that wants its kind, in order; what a
 * sink cannot take is counted and stops no one; what no sink wants costs no text.
 */
#include "render/line.h"

static unsigned texts; /* made */

#define bbf_line_loss(out, loss, path) (texts++, (bbf_line_loss)(out, loss, path))
#define bbf_line_oom(out)              (texts++, (bbf_line_oom)(out))
#include "agent/event.c"
#undef bbf_line_loss
#undef bbf_line_oom
#include "agent/events.c"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tests/unit/trie_sample.h"

enum { KEPT = 1000, ALL_KINDS = 0x1f };

/* A sink with a queue of `room` events that no thread reads. */
struct queue {
    unsigned wants, room, n;
    uint64_t counts[KEPT]; /* of the events that it took: their `count` */
    struct bbf_buf text;
};

static struct queue live, log_;

static bool take(struct queue *queue, const struct bbf_event *event)
{
    if (queue->n == queue->room)
        return false;
    queue->counts[queue->n++] = event->count;
    bbf_event_line(&queue->text, event);
    return true;
}

static unsigned wanted_live(void)
{
    return live.wants;
}

static unsigned wanted_log(void)
{
    return log_.wants;
}

static bool offer_live(const struct bbf_event *event)
{
    return take(&live, event);
}

static bool offer_log(const struct bbf_event *event)
{
    return take(&log_, event);
}

static uint64_t lost;

static uint64_t lose_once(void)
{
    uint64_t before = lost;

    lost = 0;
    return before;
}

const struct bbf_sink bbf_sink_live = {"live", wanted_live, offer_live, NULL};
const struct bbf_sink bbf_sink_log = {"log", wanted_log, offer_log, lose_once};

/* The others of the table never want anything, so they are never offered anything. */
static unsigned wanted_none(void)
{
    return 0;
}

static bool offer_none(const struct bbf_event *event)
{
    (void)event;
    fail_msg("offered to a sink that wants nothing");
    return false;
}

const struct bbf_sink bbf_sink_lttng = {"lttng", wanted_none, offer_none, NULL};
const struct bbf_sink bbf_sink_jfr = {"jfr", wanted_none, offer_none, NULL};
const struct bbf_sink bbf_sink_jmx = {"jmx", wanted_none, offer_none, NULL};

static uint64_t before_live, before_log; /* dropped in earlier tests */

static void begin(unsigned live_wants, unsigned log_wants)
{
    bbf_buf_free(&live.text);
    bbf_buf_free(&log_.text);
    live = (struct queue){.wants = live_wants, .room = KEPT};
    log_ = (struct queue){.wants = log_wants, .room = KEPT};
    texts = 0;
    before_live = bbf_events_dropped("live");
    before_log = bbf_events_dropped("log");
    bbf_events_refresh();
}

static void post(enum bbf_event_kind kind, uint64_t count)
{
    struct bbf_event event = bbf_event_new(kind);

    event.count = count;
    bbf_events_post(&event);
}

static void every_sink_gets_the_kinds_that_it_wants_in_order(void **state)
{
    (void)state;
    begin(ALL_KINDS, BBF_EVENT_BIT(BBF_EVENT_OOM));
    for (uint64_t i = 0; i < 100; i++)
        post(i % 10 == 3 ? BBF_EVENT_OOM : BBF_EVENT_LEAK, i);
    assert_int_equal(live.n, 100);
    for (unsigned i = 0; i < live.n; i++)
        assert_int_equal(live.counts[i], i);
    assert_int_equal(log_.n, 10);
    for (unsigned i = 0; i < log_.n; i++)
        assert_int_equal(log_.counts[i], 10 * i + 3);
    assert_int_equal(bbf_events_dropped("live") + bbf_events_dropped("log"),
                     before_live + before_log);
}

static void a_full_sink_counts_what_it_drops_and_stops_no_other(void **state)
{
    struct bbf_buf note = BBF_BUF_INIT;

    (void)state;
    begin(ALL_KINDS, ALL_KINDS);
    bbf_events_note(&note);
    assert_int_equal(note.len, 0); /* nothing was dropped so far */
    live.room = 7;
    for (uint64_t i = 0; i < 50; i++)
        post(BBF_EVENT_LEAK, i);
    assert_int_equal(live.n, 7);
    assert_int_equal(bbf_events_dropped("live") - before_live, 43);
    assert_int_equal(log_.n, 50);
    assert_int_equal(bbf_events_dropped("log") - before_log, 0);
    bbf_events_note(&note);
    assert_string_equal(bbf_buf_cstr(&note), "events dropped: 43 live");
    bbf_events_unmade(BBF_EVENT_LEAK, 2); /* both wanted them */
    bbf_buf_free(&note);
    bbf_events_note(&note);
    assert_string_equal(bbf_buf_cstr(&note), "events dropped: 45 live, 2 log");
    bbf_buf_free(&note);
    lost = 7; /* of an event that it takes */
    post(BBF_EVENT_LEAK, 1);
    post(BBF_EVENT_LEAK, 2);
    assert_int_equal(bbf_events_dropped("log") - before_log, 9);
    assert_int_equal(bbf_events_dropped("no such sink"), 0);
}

static void what_no_sink_wants_costs_no_text(void **state)
{
    (void)state;
    begin(BBF_EVENT_BIT(BBF_EVENT_AGED), 0);
    assert_false(bbf_events_wanted(BBF_EVENT_LEAK));
    assert_true(bbf_events_wanted(BBF_EVENT_AGED));
    for (uint64_t i = 0; i < 50; i++) {
        post(BBF_EVENT_LEAK, i);
        post(BBF_EVENT_OOM, i);
    }
    bbf_events_unmade(BBF_EVENT_LEAK, 9);
    assert_int_equal(texts, 0);
    assert_int_equal(live.n + log_.n, 0);
    assert_int_equal(bbf_events_dropped("live"), before_live);
    post(BBF_EVENT_AGED, 1);
    assert_int_equal(texts, 1);
    assert_int_equal(live.n, 1);
    live.wants = 0; /* from the next round on */
    bbf_events_refresh();
    post(BBF_EVENT_AGED, 1);
    assert_int_equal(live.n, 1);
}

/* ---- any thread may ask ---- */

static atomic_bool enough;

static void *ask(void *asked)
{
    while (!atomic_load(&enough)) {
        *(uint64_t *)asked += bbf_events_wanted(BBF_EVENT_LEAK) ? 1 : 0;
        assert_true(bbf_events_dropped("live") - before_live <= KEPT);
        (void)sched_yield();
    }
    return NULL;
}

static void any_thread_may_ask_meanwhile(void **state)
{
    pthread_t threads[3];
    uint64_t asked[3] = {0};

    (void)state;
    begin(ALL_KINDS, 0);
    live.room = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &asked[i]), 0);
    for (uint64_t i = 0; i < KEPT; i++) {
        live.wants = ALL_KINDS;
        bbf_events_refresh();
        post(BBF_EVENT_LEAK, i);
        live.wants = 0;
        bbf_events_refresh();
        post(BBF_EVENT_LEAK, i);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(bbf_events_dropped("live") - before_live, KEPT);
}

/* ---- what it says ---- */

static struct bbf_event at_a_place(struct bbf_tracker *t, enum bbf_event_kind kind)
{
    struct bbf_event event = bbf_event_new(kind);

    event.tracker = t;
    event.memory = BBF_MEM_DIRECT;
    event.count = 48;
    event.bytes = 480;
    event.thread = 7;
    event.thread_count = 48;
    return event;
}

static void assert_line(const struct bbf_event *event, const char *line)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_event_line(&text, event);
    assert_string_equal(bbf_buf_cstr(&text), line);
    bbf_buf_free(&text);
}

static void a_loss_has_its_path_from_the_tracker(void **state)
{
    struct bbf_tracker *t = sample_default();
    struct bbf_event leak = at_a_place(t, BBF_EVENT_LEAK), aged = at_a_place(t, BBF_EVENT_AGED);

    (void)state;
    leak.node = aged.node = bbf_node_child(t, sample_root(t), sample_step(t, 1));
    leak.added = 3;
    leak.added_bytes = 30;
    leak.thread_name = "worker-1";
    assert_line(&leak, "LEAK direct: 3 new buffers (30 bytes), 48 so far (480 bytes), by worker-1: "
                       "Sample.directBuffer → Sample.step1");
    aged.weight = 8;
    aged.thread_count = 40;
    assert_line(&aged,
                "AGED direct: about 48 buffers so far (about 480 bytes), by thread 7 (ended) "
                "(40 of 48): Sample.directBuffer → Sample.step1");
    aged.node = BBF_L_NODE_NONE;
    aged.thread = 0;
    aged.weight = 1;
    assert_line(&aged, "AGED direct: 48 buffers so far (480 bytes): ");
    sample_free(t);
}

static void a_long_path_is_cut_towards_its_root(void **state)
{
    struct bbf_tracker *t = sample_default();
    struct bbf_path path;
    uint32_t node = sample_root(t);

    (void)state;
    for (unsigned i = 1; i < BBF_PATH_STEPS; i++)
        node = bbf_node_child(t, node, sample_step(t, i));
    bbf_event_path(t, node, &path);
    assert_int_equal(path.n, BBF_PATH_STEPS);
    assert_false(path.cut);
    assert_string_equal(path.steps[BBF_PATH_STEPS - 1].method, "directBuffer");
    node = bbf_node_child(t, node, sample_step(t, 1000));
    bbf_event_path(t, node, &path);
    assert_true(path.cut);
    assert_string_equal(path.steps[0].method, "step1000");
    assert_string_equal(path.steps[0].class_name, "test.Sample");
    sample_free(t);
}

static void the_other_kinds_have_their_words(void **state)
{
    char *path[] = {(char *)"a.A.new", (char *)"B.release"}, *stack[] = {(char *)"a.C.read"};
    const struct bbf_snap_misuse row = {.use = BBF_USE_RETAIN,
                                        .count = 2,
                                        .path = path,
                                        .n_path = 2,
                                        .used_by = stack,
                                        .n_used_by = 1,
                                        .used_thread = 5};
    struct bbf_event misuse = bbf_event_new(BBF_EVENT_MISUSE);
    struct bbf_event oom = bbf_event_new(BBF_EVENT_OOM);
    struct bbf_event report = bbf_event_new(BBF_EVENT_OOM_REPORT);

    (void)state;
    misuse.detail.misuse = &row;
    assert_line(&misuse, "USED AFTER RELEASE 2 times: retained by a.C.read in thread 5; released "
                         "before at a.A.new -> B.release");
    assert_line(&oom, "direct memory ran out");
    report.detail.report.why = "file: no report: no room";
    assert_line(&report, "direct memory ran out, and no report: file: no report: no room");
    report.detail.report.path = "/tmp/out-oom.json";
    assert_line(&report, "direct memory ran out, report: /tmp/out-oom.json");
}

static void an_event_has_the_time_of_both_clocks(void **state)
{
    struct bbf_event first = bbf_event_new(BBF_EVENT_OOM), second = bbf_event_new(BBF_EVENT_LEAK);

    (void)state;
    assert_true(first.monotonic_ns <= second.monotonic_ns && first.monotonic_ns > 0);
    assert_true(first.time_ns / 1000000000 - time(NULL) <= 1);
    assert_int_equal(second.kind, BBF_EVENT_LEAK);
    assert_int_equal(second.node, BBF_L_NODE_NONE);
    assert_int_equal(second.weight, 1);
}

static int teardown(void **state)
{
    (void)state;
    begin(0, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_sink_counts_what_it_drops_and_stops_no_other),
        cmocka_unit_test(every_sink_gets_the_kinds_that_it_wants_in_order),
        cmocka_unit_test(what_no_sink_wants_costs_no_text),
        cmocka_unit_test(any_thread_may_ask_meanwhile),
        cmocka_unit_test(a_loss_has_its_path_from_the_tracker),
        cmocka_unit_test(a_long_path_is_cut_towards_its_root),
        cmocka_unit_test(the_other_kinds_have_their_words),
        cmocka_unit_test(an_event_has_the_time_of_both_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
