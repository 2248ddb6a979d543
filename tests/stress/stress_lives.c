/* link: bbf_trie bbf_core */
/*
 * The proof of design.md: proof without a JVM: threads open, step, step at once, share, release,
 * use and release after release, recycle, derive, drop and end, while an agent thread converts,
 * collects, captures and resets and a collector may run between any two steps. At rest every life
 * has exactly one outcome, the one that the application knows of, and every record is where it
 * belongs.
 *
 * BBF_STRESS_SECONDS: how long all cases together take, 6 by default. BBF_STRESS_SEED: another run.
 *
 * Built once more as schedule_lives (BBF_SCHEDULED, tests/stress/scheduler.h): BBF_STRESS_RUNS
 * short runs (24), in each of which one thread runs at a time and the seed says which.
 * BBF_STRESS_SEED=n is the n-th alone, again and again the same.
 */
#include "tests/stress/lives_app.h"
#include "tests/unit/trie_sample.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    THREADS = 4,
    SCANS = 48, /* of one scheduled run */
    REST_SCANS = 12,
    MAX_KEPT = 64
};

/* ---- the agent ---- */

static void capture(struct app *app)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    if (s == NULL || bbf_tracker_capture(app->t, s) != BBF_OK)
        app->wrong = true;
    else if (!app->rules.nodes && sample_row(s, BBF_L_NODE_BEFORE_RESET) != NULL)
        app->misplaced++;
    uint64_t listed = 0;
    for (size_t i = 0; s != NULL && i < s->n_leaks; i++)
        listed += s->leaks[i].bytes;
    app->wrong = app->wrong || s == NULL || listed != s->totals.leaked_bytes_;
    bbf_snapshot_free(s);
    app->captures++;
}

/* One for a reset now, one for that at the end: where addresses are few, there are few ranges. */
static bool has_two_ranges(const struct bbf_tracker *t)
{
    return (atomic_load(&t->next_node) >> BBF_L_ARENA_SHIFT) + 2 < t->arenas;
}

static void *agent(void *arg)
{
    struct app *app = arg;
    for (uint64_t i = 0; !atomic_load(&app->stop); i++) {
        bbf_lives_scan(app->t, &app->view);
        app->scans++;
        atomic_store(&app->since_scan, 0);
        atomic_fetch_add(bbf_shared_int(app->t, BBF_L_SHARED_NOW), 1);
        if (i % 8 == 3)
            capture(app);
        if (app->rules.baseline && i % 16 == 7) {
            app->wrong = app->wrong || bbf_tracker_baseline(app->t) != BBF_OK;
            app->resets++;
        }
        if (app->rules.nodes && i % 16 == 15 && has_two_ranges(app->t)) {
            app->wrong = app->wrong || bbf_tracker_reset_nodes(app->t) != BBF_OK;
            app->resets++;
        }
        if (app->rules.sample && i % 8 == 5)
            app->wrong = app->wrong || bbf_tracker_sample(app->t, 1 + (uint32_t)(i % 3)) != BBF_OK;
        if (i % 4 == 0)
            sched_yield();
#ifdef BBF_SCHEDULED
        if (i >= SCANS)
            atomic_store(&app->stop, true);
#endif
    }
    return NULL;
}

/* ---- the window thread ---- */

static void *window(void *arg)
{
    struct app *app = arg;
    while (!atomic_load(&app->stop)) {
        bbf_windows_open(app->t);
        nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
        bbf_windows_refuse_roots(app->t);
        sched_yield();
        app->frozen += bbf_windows_shut(app->t);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        app->windows++;
    }
    return NULL;
}

/* ---- one case ---- */

static uint32_t site(struct bbf_tracker *t, enum bbf_site_kind kind, const char *name)
{
    struct bbf_site like = {.class_name = (char *)"test/Stress",
                            .method = (char *)(uintptr_t)name,
                            .descriptor = (char *)"",
                            .kind = kind,
                            .memory = BBF_MEM_UNKNOWN};
    return bbf_site_intern(t, &like);
}

#ifdef BBF_SCHEDULED
static uint64_t scheduled_seed;
#endif

static struct app *app_new(struct rules rules)
{
    static uint64_t seed;
    const struct bbf_limits limits = {.max_nodes = 1000000,
                                      .max_depth = 100,
                                      .max_children = 1000,
                                      .max_lives = HEAP_SLOTS - BBF_L_FIRST_RECORD,
                                      .max_sites = 65535,
                                      .max_facts = 1000000,
                                      .memory = UINT64_C(1) << 32,
                                      .usage = true};
    struct app *app = calloc(1, sizeof *app);
    assert_non_null(app);
#ifdef BBF_SCHEDULED
    seed = scheduled_seed;
#else
    if (seed == 0)
        seed = getenv("BBF_STRESS_SEED") != NULL ? strtoull(getenv("BBF_STRESS_SEED"), NULL, 0)
                                                 : (uint64_t)time(NULL);
    printf("BBF_STRESS_SEED=%llu\n", (unsigned long long)seed);
#endif
    app->seed = seed;
    app->rules = rules;
    assert_int_equal(bbf_tracker_create(&app->t, &limits), BBF_OK);
    app->heap = calloc(1, sizeof *app->heap);
    assert_non_null(app->heap);
    app->heap->clock = 1;
    app->heap->ticks = 100;
    app->heap->unreachable = unreachable;
    app->heap->ctx = app;
    app->view = heap_twin_agent(app->heap);
    app->root = site(app->t, BBF_SITE_ROOT, "root");
    app->derive = site(app->t, BBF_SITE_DERIVE, "derive");
    app->step[0] = site(app->t, BBF_SITE_ENTER, "a");
    app->step[1] = site(app->t, BBF_SITE_ENTER, "b");
    app->step[2] = site(app->t, BBF_SITE_RETURN, "c");
    app->class_id = bbf_class_intern(app->t, "test/ByteBuf");
    app->twin = (struct twin){.t = app->t, .heap = app->heap, .widen = 200};
    app->twin.first_site = site(app->t, BBF_SITE_ROOT, "?first-seen ByteBuf");
    app->next_tid = 100;
    app->twin.windows = rules.windows;
    if (rules.windows)
        bbf_windows_use(app->t, true);
    return app;
}

static double seconds_of_case(const struct app *app)
{
    const char *given = getenv("BBF_STRESS_SECONDS");
    return (given != NULL ? atof(given) : 6.0) / (app->rules.windows ? 6 : 3);
}

/* A busy machine may give a case little of its time. */
static void wait_for_lives(const struct app *app)
{
    for (int i = 0; i < 300; i++) {
        bool enough =
            app->opened > 1000 && app->scans > 20 && (!app->rules.windows || app->windows > 20);
        if (enough)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

static void run(struct app *app)
{
#ifdef BBF_SCHEDULED
    schedule_run(app->seed, THREADS, employ, agent, app);
    return;
#endif
    pthread_t thread[THREADS], agent_thread, window_thread;
    struct timespec ts = {.tv_sec = (time_t)seconds_of_case(app)};
    ts.tv_nsec = (long)((seconds_of_case(app) - (double)ts.tv_sec) * 1e9);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, employ, app), 0);
    assert_int_equal(pthread_create(&agent_thread, NULL, agent, app), 0);
    if (app->rules.windows)
        assert_int_equal(pthread_create(&window_thread, NULL, window, app), 0);
    nanosleep(&ts, NULL);
    wait_for_lives(app);
    atomic_store(&app->stop, true);
    if (app->rules.windows)
        pthread_join(window_thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(agent_thread, NULL);
}

/* Let the boxes go but the first, then collect and scan until nothing moves. */
static struct twin_object *come_to_rest(struct app *app)
{
    struct twin_object *kept = (struct twin_object *)(uintptr_t)(app->box[0] & ~UINT64_C(15));
    for (int i = 1; i < BOXES; i++)
        if (app->box[i] != 0)
            twin_drop(app->heap, (struct twin_object *)(uintptr_t)(app->box[i] & ~UINT64_C(15)));
    for (int i = 0; i < REST_SCANS; i++) {
        twin_collect_garbage(app->heap);
        bbf_lives_scan(app->t, &app->view);
    }
    return kept;
}

/* Every record is open, waits with its object, or is on the shared stack exactly once. */
static void assert_records(struct app *app)
{
    struct bbf_tracker *t = app->t;
    uint32_t end = t->next_record, taken = 0, free_ones = 0;
    uint8_t *seen = calloc(end, 1);
    uint64_t generations = 0;
    assert_non_null(seen);
    for (uint32_t batch = BBF_LOW(*bbf_shared_long(t, BBF_L_SHARED_FREE)); batch != 0;
         batch = bbf_record_at(t, batch)->batch)
        for (uint32_t r = batch; r != 0; r = bbf_record_at(t, r)->next) {
            assert_true(r >= BBF_L_FIRST_RECORD && r < end);
            assert_int_equal(seen[r], 0);
            seen[r] = 1;
            free_ones++;
            assert_int_equal(bbf_record_at(t, r)->jweak, 0);
            assert_null(app->heap->slots[r]);
        }
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        uint64_t life = bbf_record_at(t, r)->life;
        generations += BBF_GENERATION(life);
        if (!seen[r]) {
            taken++;
            assert_true((life & BBF_L_STATE) == BBF_L_OPEN || (life & BBF_L_STICKY) != 0);
        }
    }
    free(seen);
    assert_int_equal(free_ones + taken, end - BBF_L_FIRST_RECORD);
    assert_true(taken <= MAX_KEPT); /* the kept object and what it was derived from */
    assert_int_equal((uint32_t)generations, (uint32_t)app->opened);
}

/* Lives that were not followed; a baseline would hide them from a capture. */
static uint64_t dropped_lives(const struct bbf_tracker *t)
{
    uint64_t n = *bbf_shared_long(t, BBF_L_SHARED_TALLY + 8 * BBF_L_TALLY_DROPPED_LIVES);
    for (int i = 0; i < BBF_L_STRIPES; i++)
        n += t->stripes[i].tally[BBF_L_TALLY_DROPPED_LIVES];
    return n;
}

/* The partition of design.md: verdicts, and each part is what the application counted. */
static void assert_ends(struct app *app)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_int_equal(bbf_tracker_capture(app->t, s), BBF_OK);
    const struct bbf_snap_since_start ours = s->since_start;
    uint64_t live = bbf_lives_open(app->t);
    bbf_snapshot_free(s);
#ifndef BBF_SCHEDULED
    printf(
        "%llu lives in %llu scans, %llu captures, %llu resets: %llu released %llu leaked %llu held "
        "%llu harmless %llu unknown %llu live; %llu undone\n",
        (unsigned long long)app->opened, (unsigned long long)app->scans,
        (unsigned long long)app->captures, (unsigned long long)app->resets,
        (unsigned long long)ours.released_, (unsigned long long)ours.leaked_,
        (unsigned long long)ours.held_, (unsigned long long)ours.harmless_,
        (unsigned long long)ours.unknown_, (unsigned long long)live,
        (unsigned long long)ours.undone_);
    printf("by the application: %llu released %llu leaked %llu held %llu harmless %llu unknown\n",
           (unsigned long long)app->ends.released, (unsigned long long)app->ends.leaked,
           (unsigned long long)app->ends.held, (unsigned long long)app->ends.harmless,
           (unsigned long long)app->ends.unknown);
    assert_true(app->opened > 100 && ours.leaked_ > 0 && app->scans > 0);
#endif
    assert_false(app->wrong);
    assert_int_equal(app->misplaced, 0);
    assert_int_equal(app->t->empty_slots, 0);
    assert_int_equal(dropped_lives(app->t), 0);
    assert_int_equal(app->opened, ours.released_ + ours.leaked_ + ours.held_ + ours.harmless_ +
                                      ours.unknown_ + live + ours.undone_);
    assert_int_equal(ours.live_, live);
    assert_int_equal(ours.undone_, app->undone);
    assert_int_equal(ours.released_, app->ends.released);
    assert_int_equal(ours.leaked_, app->ends.leaked);
    assert_int_equal(ours.held_, app->ends.held);
    assert_int_equal(ours.harmless_, app->ends.harmless);
    assert_int_equal(ours.unknown_, app->ends.unknown);
    assert_int_equal(app->closed, app->ends.released); /* the twins agree, each by its own count */
    assert_int_equal(app->unknown, app->ends.unknown);
    assert_int_equal(ours.generations_, (uint32_t)app->opened);
}

static void app_free(struct app *app, struct twin_object *kept)
{
    if (kept != NULL)
        twin_drop(app->heap, kept);
    for (int i = 0; i < REST_SCANS; i++) {
        twin_collect_garbage(app->heap);
        bbf_lives_scan(app->t, &app->view);
    }
    assert_int_equal(bbf_lives_open(app->t), 0);
    assert_int_equal(app->heap->objects, 0);
    free(app->heap);
    sample_free(app->t); /* no thread is left that could step in it */
    free(app);
}

/* ---- the cases ---- */

/* One user at a time: nothing races, so each life ends exactly where its user left it. */
static void lives_of_one_user_each_end_where_they_stood(void **state)
{
    struct app *app = app_new((struct rules){0});
    (void)state;
    run(app);
    struct twin_object *kept = come_to_rest(app);
    assert_ends(app);
    assert_records(app);
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_int_equal(bbf_tracker_capture(app->t, s), BBF_OK);
    assert_int_equal(s->totals.raced_steps_, 0);
    assert_int_equal(s->totals.released_, app->closed);
    assert_int_equal(s->totals.leaked_, app->ends.leaked);
    assert_int_equal(s->totals.undone_, 0);
    assert_int_equal(s->totals.dropped_lives_, 0);
    uint64_t released_at[64] = {0}, lost_at[64] = {0};
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct bbf_snap_node *n = &s->nodes[i];
        assert_int_not_equal(n->id, BBF_L_NODE_RACED);
        uint32_t stood = bbf_node_at(app->t, n->id)->site;
        if (n->ref == BBF_REF_0)
            stood = bbf_node_at(app->t, (uint32_t)n->parent)->site;
        released_at[stood] += n->released_;
        lost_at[stood] += n->leaked_ + n->held_ + n->harmless_;
    }
    for (int i = 0; i < 64; i++) {
        assert_int_equal(released_at[i], app->ends.released_at[i]);
        assert_int_equal(lost_at[i], app->ends.lost_at[i]);
    }
    bbf_snapshot_free(s);
    app_free(app, kept);
}

#ifndef BBF_SCHEDULED
/* Every life that was drawn has its end, and none that was not; recycled objects keep records. */
static void lives_of_a_sample_each_have_one_end(void **state)
{
    struct app *app = app_new((struct rules){.sample = true});
    (void)state;
    run(app);
    struct twin_object *kept = come_to_rest(app);
    assert_ends(app);
    assert_records(app);
    app_free(app, kept);
}
#endif

#ifndef BBF_SCHEDULED
/* The gate opens and shuts: each followed life has its end, and no path hides a step that was
 * missed. */
static void lives_of_windows_end_once_and_hide_no_step(void **state)
{
    struct app *app = app_new((struct rules){.windows = true, .nodes = true});
    (void)state;
    run(app);
    struct twin_object *kept = come_to_rest(app);
    printf("%llu windows froze %llu lives; released at a gap %llu, at a step %llu\n",
           (unsigned long long)app->windows, (unsigned long long)app->frozen,
           (unsigned long long)app->at_gap, (unsigned long long)app->at_step);
    assert_ends(app);
    assert_records(app);
    assert_true(app->windows > 10 && app->frozen > 0 && app->at_gap > 0 && app->at_step > 0);
    assert_int_equal(app->misled, 0);
    assert_true(app->at_raced * 4 <= app->at_gap); /* what was under way as its life was frozen */
    app_free(app, kept);
}

static void lives_of_windows_and_many_users_have_one_end_each(void **state)
{
    struct app *app = app_new((struct rules){.windows = true, .sharing = true, .baseline = true});
    (void)state;
    run(app);
    struct twin_object *kept = come_to_rest(app);
    assert_ends(app);
    assert_records(app);
    assert_true(app->windows > 10 && app->frozen > 0);
    app_free(app, kept);
}
#endif

static void lives_of_many_users_have_one_end_each(void **state)
{
    struct app *app = app_new((struct rules){.sharing = true, .baseline = true});
    (void)state;
    run(app);
    struct twin_object *kept = come_to_rest(app);
    assert_ends(app);
    assert_records(app);
    assert_true(app->undone > 0 || app->opened < 100000); /* some roots did race */
    app_free(app, kept);
}

static void no_life_is_lost_when_the_trie_is_emptied_under_it(void **state)
{
    struct app *app = app_new((struct rules){.sharing = true, .baseline = true, .nodes = true});
    (void)state;
    run(app);
    struct twin_object *kept = come_to_rest(app);
    assert_ends(app);
    assert_records(app);
    /* After a reset at rest, counts are exact again. */
    assert_int_equal(bbf_tracker_reset_nodes(app->t), BBF_OK);
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_int_equal(bbf_tracker_capture(app->t, s), BBF_OK);
    assert_int_equal(s->totals.lives_, bbf_lives_open(app->t));
    bbf_snapshot_free(s);
    app_free(app, kept);
}

#ifdef BBF_SCHEDULED
/* Printed at the end, also of a failed run. */
static void tell(void)
{
    fprintf(stderr, "schedule_lives: the last run was BBF_STRESS_SEED=%llu\n",
            (unsigned long long)scheduled_seed);
}

static void lives_have_one_end_each_in_every_schedule(void **state)
{
    static void (*const cases[])(void **) = {lives_of_one_user_each_end_where_they_stood,
                                             lives_of_many_users_have_one_end_each,
                                             no_life_is_lost_when_the_trie_is_emptied_under_it};
    const char *given = getenv("BBF_STRESS_SEED");
    const char *runs = getenv("BBF_STRESS_RUNS");
    uint64_t end = runs != NULL ? strtoull(runs, NULL, 0) : 24;
    atexit(tell);
    scheduled_seed = given != NULL ? strtoull(given, NULL, 0) : 0;
    do
        cases[scheduled_seed / 4 % 3](state);
    while (given == NULL && ++scheduled_seed < end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lives_have_one_end_each_in_every_schedule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_of_one_user_each_end_where_they_stood),
        cmocka_unit_test(lives_of_a_sample_each_have_one_end),
        cmocka_unit_test(lives_of_many_users_have_one_end_each),
        cmocka_unit_test(lives_of_windows_end_once_and_hide_no_step),
        cmocka_unit_test(lives_of_windows_and_many_users_have_one_end_each),
        cmocka_unit_test(no_life_is_lost_when_the_trie_is_emptied_under_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
