/* link: bbf_render bbf_snapshot bbf_core */
/*
 * Metrics over several documents of one memory: counters never decrease, neither at a reset nor
 * when an entry divides, and a place keeps its series.
 */
#include "core/err.h"
#include "render/metrics.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* com.app.P<i>.lose has lost `leaked` buffers of 10 bytes each and has `aged` open ones. */
static struct bbf_snapshot *losing(unsigned places, uint64_t leaked, uint64_t aged)
{
    struct bbf_snapshot *s = sample_new();
    char name[32];
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");

    for (unsigned i = 0; i < places; i++) {
        snprintf(name, sizeof name, "com.app.P%u", i);
        int64_t at = sample_step(s, root, name, "lose");
        if (leaked > 0)
            sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, leaked, 10 * leaked, 1);
        if (aged > 0)
            sample_leak(s, at, BBF_VERDICT_AGED, BBF_MEM_HEAP, aged, 100 * aged, 1);
        sample_release(s, at, "x.Buffer", 1);
    }
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    return s;
}

static struct bbf_buf text;

static void render(struct bbf_metrics *metrics, struct bbf_snapshot *s)
{
    const struct bbf_render_options options = {.metrics = metrics};

    bbf_buf_free(&text);
    assert_int_equal(bbf_render(&text, s, BBF_FORMAT_OPENMETRICS, &options), BBF_OK);
    bbf_snapshot_free(s);
}

/* The only sample whose line begins with `name` and has `label`. */
static uint64_t sample(const char *name, const char *label)
{
    uint64_t found = UINT64_MAX;

    char *lines = strdup(bbf_buf_cstr(&text)), *rest = lines;

    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (strncmp(line, name, strlen(name)) == 0 && strstr(line, label) != NULL) {
            assert_true(found == UINT64_MAX);
            found = strtoull(strchr(line + strlen(name), ' ') + 1, NULL, 10);
        }
    free(lines);
    return found;
}

#define LEAKED_OF  "bbflow_place_leaked_buffers_total{"
#define BYTES_OF   "bbflow_place_leaked_bytes_total{"
#define AGED_OF    "bbflow_place_aged_buffers{"
#define ALL_LEAKED "bbflow_leaked_buffers_total"

static void a_reset_does_not_decrease_a_counter(void **state)
{
    struct bbf_metrics *m = bbf_metrics_new(10);
    (void)state;
    render(m, losing(1, 5, 2));
    assert_int_equal(sample(LEAKED_OF, "P0"), 5);
    assert_int_equal(sample(BYTES_OF, "P0"), 50);
    assert_int_equal(sample(AGED_OF, "P0"), 2);
    render(m, losing(1, 7, 1));
    bbf_metrics_carry(m, true);
    render(m, losing(0, 0, 0));
    assert_int_equal(sample(LEAKED_OF, "P0"), 7);
    assert_int_equal(sample(AGED_OF, "P0"), 0); /* a gauge */
    assert_int_equal(sample(ALL_LEAKED, ""), 7);
    render(m, losing(1, 3, 0));
    assert_int_equal(sample(LEAKED_OF, "P0"), 10);
    assert_int_equal(sample(BYTES_OF, "P0"), 100);
    assert_int_equal(sample(ALL_LEAKED, ""), 10);
    assert_int_equal(sample("bbflow_ended_buffers_total{", "released"), 2);
    bbf_metrics_free(m);
}

/* A counter that the reset leaves as it is, is not counted twice. */
static void what_a_reset_leaves_is_not_added(void **state)
{
    struct bbf_metrics *m = bbf_metrics_new(10);
    (void)state;
    assert_int_equal(bbf_metrics_total(m, 3, 100), 100);
    bbf_metrics_carry(m, false);
    assert_int_equal(bbf_metrics_total(m, 3, 100), 100);
    assert_int_equal(bbf_metrics_total(m, 3, 110), 110);
    bbf_metrics_carry(m, false);
    assert_int_equal(bbf_metrics_total(m, 3, 1), 111);
    assert_int_equal(bbf_metrics_total(m, 3, 0), 111); /* raced: never less */
    assert_int_equal(bbf_metrics_total(m, 3, 2), 112);
    bbf_metrics_free(m);
}

static void places_beyond_the_limit_stay_among_the_others(void **state)
{
    struct bbf_metrics *m = bbf_metrics_new(3);
    (void)state;
    render(m, losing(3, 1, 0));
    assert_int_equal(sample(LEAKED_OF, "others"), UINT64_MAX);
    assert_int_equal(sample("bbflow_places{", "no"), 0);
    render(m, losing(8, 2, 1));
    assert_int_equal(sample(LEAKED_OF, "others"), 10);
    assert_int_equal(sample(AGED_OF, "others"), 5);
    assert_int_equal(sample("bbflow_places{", "yes"), 3);
    assert_int_equal(sample("bbflow_places{", "no"), 5);
    bbf_metrics_carry(m, true);
    render(m, losing(8, 1, 0)); /* the same ones */
    assert_int_equal(sample(LEAKED_OF, "others"), 15);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sample(LEAKED_OF, (char[]){'P', (char)('0' + i), '\0'}), 3);
    assert_int_equal(sample("bbflow_places{", "no"), 5);
    assert_int_equal(sample(ALL_LEAKED, ""), 24); /* the sum of all series */
    bbf_metrics_free(m);
}

/* Names from class files are of any length. */
static void a_long_name_is_cut_between_characters(void **state)
{
    struct bbf_metrics *m = bbf_metrics_new(3);
    struct bbf_snapshot *s = sample_new();
    char name[1000] = "p.X";
    (void)state;
    for (int i = 0; i < 300; i++)
        strcat(name, "\xC3\xA9");
    int64_t at = sample_step(s, -1, "x.Alloc", "heapBuffer");
    at = sample_step(s, at, name, "lose");
    sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    render(m, s);
    const char *place = strstr(bbf_buf_cstr(&text), "place=\"") + strlen("place=\"");
    size_t len = strcspn(place, "\"");
    assert_in_range(len, BBF_METRIC_PLACE_BYTES - 1, BBF_METRIC_PLACE_BYTES);
    assert_memory_equal(place + len - 2, "\xC3\xA9", 2);
    bbf_metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reset_does_not_decrease_a_counter),
        cmocka_unit_test(what_a_reset_leaves_is_not_added),
        cmocka_unit_test(places_beyond_the_limit_stay_among_the_others),
        cmocka_unit_test(a_long_name_is_cut_between_characters),
    };
    int failed = cmocka_run_group_tests_name("render_metrics", tests, NULL, NULL);
    bbf_buf_free(&text);
    return failed;
}
