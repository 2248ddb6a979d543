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

#include "agent/commands/serve.h"
#include "agent/cost/overhead.h"
#include "agent/jvm/threads.h"
#include "agent/report/misuse.h"
#include "agent/state.h"
#include "core/err.h"
#include "wire/server/live.h"

enum { PLACES = 1100, TID = 7 };

struct bbf_agent bbf_agent;
static struct bbf_tracker tracker;
static struct bbf_node nodes[PLACES + 1];
static struct bbf_site sites[PLACES + 1];
static struct bbf_tomb tombs[PLACES + 1];
static uint64_t aged_buffers[PLACES + 1]; /* buffers that are aged at each node */
static uint32_t rate;
static bool someone_watches;
static struct bbf_buf stream; /* what was published */
static const char *thread_name;

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

void bbf_serve_publish(const char *text, size_t len)
{
    bbf_buf_add(&stream, text, len);
}

uint64_t bbf_serve_published(void)
{
    return 0;
}

void bbf_serve_unpublish(void)
{
}

bool bbf_serve_is_watched(void)
{
    return someone_watches;
}

void bbf_misuse_lines(struct bbf_buf *out)
{
    (void)out;
}

uint64_t bbf_overhead_clock(void)
{
    return 0;
}

int bbf_threads_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    (void)env;
    return bbf_snapshot_add_thread(s, TID, thread_name);
}

#define bbf_node_at(t, id)        (&nodes[id])
#define bbf_site_get(t, id)       (&sites[id])
#define bbf_tomb_at(t, number)    (&tombs[number])
#define bbf_node_weight(t, node)  rate
#define bbf_tracker_capture(t, s) capture(s)
#include "agent/report/watch.c"

static char names[PLACES + 1][1001];

static int setup(void **state)
{
    (void)state;
    memset(&tracker, 0, sizeof tracker);
    memset(tombs, 0, sizeof tombs);
    memset(aged_buffers, 0, sizeof aged_buffers);
    atomic_store(&tracker.max_age, 1);
    tracker.budget.limit = UINT64_MAX;
    bbf_agent.tracker = &tracker;
    rate = 1;
    thread_name = "main";
    someone_watches = false;
    for (uint32_t i = 1; i <= PLACES; i++) {
        snprintf(names[i], sizeof names[i], "place%u", i);
        sites[i] = (struct bbf_site){.class_name = (char *)"com.app.Steps", .method = names[i]};
        atomic_store(&nodes[i].site, i);
        atomic_store(&nodes[i].parent, BBF_L_NODE_NONE);
        tombs[i].node = i;
        tombs[i].end = BBF_END_LEAKED;
        tombs[i].memory = BBF_MEM_HEAP;
    }
    tracker.n_tombs = PLACES;
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
static void let_all_be_told(void)
{
    for (int i = 0; i < PLACES / LINES + 1; i++) {
        tell_leaks(NULL);
        aged_at_ns = 0;
        tell_aged(NULL);
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
    enum { NEW = 2 * LINES + 10 };

    (void)state;
    aged_buffers[1] = 4;
    struct bbf_buf a = come();
    assert_has(&a, "AGED heap: 4 buffers so far (40 bytes): Steps.place1\n");
    aged_buffers[1] = 6;
    for (uint32_t i = 2; i < 2 + NEW; i++)
        aged_buffers[i] = 1;
    struct bbf_buf b = come();
    size_t common = stream.len; /* the second one hears what comes from here on */
    let_all_be_told();
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
    for (uint32_t i = 1; i <= FIRST + 9; i++)
        aged_buffers[i] = 1;
    lose(1, 1);
    struct bbf_buf a = come();
    assert_int_equal(sum(bbf_buf_cstr(&a), "AGED heap: "), FIRST);
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
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
