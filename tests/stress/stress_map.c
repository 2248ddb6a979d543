/* link: bbf_trie bbf_core */
/*
 * Map mode, and leaving and coming back, without a JVM: threads open, step, see first, hand over,
 * release, recycle and drop buffers, with the field or found by the map, while an agent thread
 * converts and collects. The properties: each buffer has one life, which ends as the application
 * ended it; and a stop invents no leak, whatever it did not see.
 *
 * BBF_STRESS_SECONDS: how long all cases together take, 3 by default. BBF_STRESS_SEED: another run.
 * -DMUTANT=n breaks one rule (tests/long/mutate-twin).
 */
#include "tests/stress/map_twin.h"
#include "tests/unit/trie_sample.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    AHEAD = 20000, /* lives that may be opened between two scans: records do not run out */
    THREADS = 4,
    ENTRIES = 8,
    POOL = 4,
    BOXES = 3,
    STEPS = 3,
    BURST = 3000,
    REST_SCANS = 12
};

struct rules {
    bool mapped; /* buffers without the field */
    bool stops;  /* the agent leaves and comes back; the application releases all that it opens */
};

struct app {
    struct rules rules;
    struct twin twin;
    struct heap_twin heap;
    struct bbf_tracker *t;
    struct bbf_jvm_refs view;
    _Atomic uint64_t lives, released, leaked;         /* by the application's own count */
    _Atomic uint64_t opened, closed, undone, unknown; /* by the twins' */
    _Atomic uint64_t next_tid, since_scan;
    _Atomic(struct twin_object *) box[BOXES]; /* borrowed, never counted on */
    _Atomic bool stop, hooked;
    uint32_t root, step[STEPS];
    uint64_t seed, scans, stops;
};

struct worker {
    struct app *app;
    struct twin_thread me;
    struct twin_object *own[ENTRIES], *pool[POOL], *borrowed;
    unsigned n, pooled;
};

/* The collector's word to us: this object is gone. */
static void unreachable(void *ctx, struct twin_object *o)
{
    struct app *app = ctx;
    if (atomic_load(&o->count) != 0)
        app->leaked++;
}

/* ---- the application; its hooks are there while `hooked` ---- */

static void step(struct worker *w, struct twin_object *o)
{
    uint32_t site = w->app->step[twin_random(&w->me) % STEPS];
    if (!atomic_load(&w->app->hooked))
        return;
    if (w->app->rules.mapped)
        map_step(&w->me, o, site);
    else
        twin_step(&w->me, o, site);
}

static void borrow(struct worker *w, struct twin_object *o)
{
    twin_hold(o);
    struct twin_object *got = atomic_exchange(&w->app->box[twin_random(&w->me) % BOXES], o);
    if (w->borrowed != NULL)
        twin_drop(&w->app->heap, w->borrowed);
    w->borrowed = got;
}

static void release(struct worker *w, unsigned i)
{
    struct twin_object *o = w->own[i];
    atomic_store(&o->count, 0);
    w->app->released++;
    if (!atomic_load(&w->app->hooked))
        ;
    else if (w->app->rules.mapped)
        map_release(&w->me, o);
    else
        twin_release(&w->me, o, true);
    w->own[i] = w->own[--w->n];
    if (w->pooled < POOL && twin_random(&w->me) % 4 != 0)
        w->pool[w->pooled++] = o;
    else
        twin_drop(&w->app->heap, o);
}

/* Room for one more; unless the agent stops now and then, the application may leak. */
static void make_room(struct worker *w)
{
    unsigned i = twin_random(&w->me) % ENTRIES;
    if (w->n < ENTRIES)
        return;
    if (w->app->rules.stops || twin_random(&w->me) % 2 == 0) {
        release(w, i);
    } else {
        twin_drop(&w->app->heap, w->own[i]);
        w->own[i] = w->own[--w->n];
    }
}

static void open_buffer(struct worker *w)
{
    struct app *app = w->app;
    uint64_t kind =
        BBF_L_KIND_OWNER | 1 | (app->rules.mapped ? BBF_L_KIND_MAPPED : BBF_L_KIND_FIELD);
    uint32_t random = twin_random(&w->me),
             meta = app->root | BBF_MEM_DIRECT << BBF_L_META_MEM_SHIFT;
    struct twin_object *o;
    make_room(w);
    o = w->pooled > 0 && random % 4 != 0 ? w->pool[--w->pooled] : twin_new(&app->heap, kind, NULL);
    atomic_store(&o->count, 1);
    app->lives++;
    if (random % 8 < 3) /* `this` escapes before the root hook */
        borrow(w, o);
    if (random % 16 == 5)
        step(w, o); /* a hook inside its constructor */
    if (!atomic_load(&app->hooked))
        ;
    else if (app->rules.mapped)
        map_root(&w->me, o, 100, meta);
    else
        twin_root(&w->me, o, 100, meta);
    w->own[w->n++] = o;
}

static void act(struct worker *w)
{
    uint32_t random = twin_random(&w->me) % 100;
    unsigned i;
    if (!atomic_load(&w->app->hooked)) /* or it does a hundred times as much unseen as seen */
        sched_yield();
    if (w->n == 0 || random < 30) {
        open_buffer(w);
        return;
    }
    i = twin_random(&w->me) % w->n;
    if (random < 55)
        step(w, w->own[i]);
    else if (random < 80)
        release(w, i);
    else if (random < 88)
        borrow(w, w->own[i]);
    else if (w->borrowed != NULL)
        step(w, w->borrowed);
}

static void do_not_run_ahead(struct worker *w, uint64_t *told)
{
    struct app *app = w->app;
    atomic_fetch_add(&app->since_scan, w->me.opened - *told);
    *told = w->me.opened;
    while (atomic_load(&app->since_scan) > AHEAD && !atomic_load(&app->stop))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* One thread's life. */
static void work(struct app *app)
{
    struct worker w = {.app = app};
    uint64_t n = atomic_fetch_add(&app->next_tid, 1), told = 0;
    w.me.w = &app->twin;
    w.me.tid = n % 3 == 0 ? 1024 * n + 7 : n; /* some find their stripe taken */
    w.me.random = app->seed + n * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (unsigned i = 0; i < BURST && !atomic_load(&app->stop); i++) {
        if (i % 64 == 0)
            do_not_run_ahead(&w, &told);
        act(&w);
    }
    while (w.n > 0 && app->rules.stops)
        release(&w, 0);
    while (w.n > 0)
        twin_drop(&app->heap, w.own[--w.n]);
    while (w.pooled > 0)
        twin_drop(&app->heap, w.pool[--w.pooled]);
    if (w.borrowed != NULL)
        twin_drop(&app->heap, w.borrowed);
    bbf_stripe_retire(app->t, w.me.tid);
    atomic_fetch_add(&app->opened, w.me.opened);
    atomic_fetch_add(&app->closed, w.me.closed);
    atomic_fetch_add(&app->undone, w.me.undone);
    atomic_fetch_add(&app->unknown, w.me.unknown);
}

static void *employ(void *arg)
{
    struct app *app = arg;
    while (!atomic_load(&app->stop))
        work(app);
    return NULL;
}

/* ---- the agent ---- */

static void leave(struct app *app)
{
    if (MUTANT != MUTANT_NOT_PAUSED)
        bbf_tracker_pause(app->t);
    if (MUTANT != MUTANT_NOT_TOLD)
        atomic_fetch_or(bbf_shared_int(app->t, BBF_L_SHARED_FLAGS), (uint32_t)BBF_L_SHARED_UNSEEN);
    atomic_store(&app->hooked, false);
    if (MUTANT != MUTANT_NOT_MARKED)
        bbf_lives_mark_stopped(app->t);
    app->stops++;
}

static void come_back(struct app *app)
{
    if (MUTANT != MUTANT_NOT_PAUSED)
        bbf_tracker_pause(app->t);
    atomic_store(&app->hooked, true);
    if (MUTANT != MUTANT_NOT_MARKED)
        bbf_lives_mark_stopped(app->t);
    bbf_tracker_resume(app->t);
}

static void *agent(void *arg)
{
    struct app *app = arg;
    for (uint64_t i = 0; !atomic_load(&app->stop); i++) {
        bbf_lives_scan(app->t, &app->view);
        app->scans++;
        atomic_store(&app->since_scan, 0);
        if (app->rules.stops && i % 16 == 12)
            leave(app);
        if (app->rules.stops && i % 16 == 15)
            come_back(app);
        if (i % 4 == 0)
            sched_yield();
    }
    return NULL;
}

/* ---- one case ---- */

static struct app *app_new(struct rules rules)
{
    static uint64_t seed;
    struct bbf_limits limits = sample_limits();
    struct app *app = calloc(1, sizeof *app);
    assert_non_null(app);
    if (seed == 0)
        seed = getenv("BBF_STRESS_SEED") != NULL ? strtoull(getenv("BBF_STRESS_SEED"), NULL, 0)
                                                 : (uint64_t)time(NULL);
    printf("BBF_STRESS_SEED=%llu\n", (unsigned long long)seed);
    app->seed = seed;
    app->rules = rules;
    limits.max_lives = HEAP_SLOTS - BBF_L_FIRST_RECORD;
    limits.memory = UINT64_C(1) << 32;
    app->t = sample_tracker(limits);
    assert_true(bbf_map_open(app->t));
    app->heap.clock = 1;
    app->heap.ticks = 100;
    app->heap.unreachable = unreachable;
    app->heap.ctx = app;
    app->view = map_twin_agent(&app->heap);
    app->root = sample_site(app->t, BBF_SITE_ROOT, "root");
    app->step[0] = sample_site(app->t, BBF_SITE_ENTER, "a");
    app->step[1] = sample_site(app->t, BBF_SITE_ENTER, "b");
    app->step[2] = sample_site(app->t, BBF_SITE_RETURN, "c");
    assert_int_equal(bbf_class_intern(app->t, "test/ByteBuf"), 1);
    app->twin = (struct twin){.t = app->t, .heap = &app->heap, .widen = 200};
    app->twin.first_site = sample_site(app->t, BBF_SITE_ROOT, "?first-seen ByteBuf");
    app->next_tid = 100;
    app->hooked = true;
    return app;
}

static void run(struct app *app)
{
    const char *given = getenv("BBF_STRESS_SECONDS");
    double seconds = (given != NULL ? atof(given) : 3.0) / 3;
    pthread_t thread[THREADS], agent_thread;
    struct timespec ts = {.tv_sec = (time_t)seconds};
    ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, employ, app), 0);
    assert_int_equal(pthread_create(&agent_thread, NULL, agent, app), 0);
    nanosleep(&ts, NULL);
    atomic_store(&app->stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(agent_thread, NULL);
    for (int i = 0; i < BOXES; i++)
        if (app->box[i] != NULL)
            twin_drop(&app->heap, app->box[i]);
    for (int i = 0; i < REST_SCANS; i++) {
        twin_collect_garbage(&app->heap);
        bbf_lives_scan(app->t, &app->view);
    }
}

/* At rest, all objects gone: no record is in use, no entry is left, no slot is filled. */
static void assert_empty(struct app *app)
{
    const _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)app->t->map.base;
    assert_int_equal(bbf_lives_open(app->t), 0);
    assert_int_equal(app->heap.objects, 0);
    assert_int_equal(app->t->empty_slots, 0);
    for (size_t i = 0; i < app->t->map.size / sizeof *words; i++)
        if (i % MAP_BUCKET != 0)
            assert_int_equal(words[i], 0);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < app->t->next_record; r++)
        assert_null(app->heap.slots[r % HEAP_SLOTS]);
}

static struct bbf_snap_since_start ends_of(struct app *app)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_int_equal(bbf_tracker_capture(app->t, s), BBF_OK);
    const struct bbf_snap_since_start ours = s->since_start;
    printf("%llu lives of the application, %llu released, %llu leaked; ours: %llu opened, %llu "
           "released, %llu leaked, %llu unknown, %llu undone; %llu scans, %llu stops\n",
           (unsigned long long)app->lives, (unsigned long long)app->released,
           (unsigned long long)app->leaked, (unsigned long long)app->opened,
           (unsigned long long)ours.released_, (unsigned long long)ours.leaked_,
           (unsigned long long)ours.unknown_, (unsigned long long)ours.undone_,
           (unsigned long long)app->scans, (unsigned long long)app->stops);
    assert_int_equal(app->opened, ours.released_ + ours.leaked_ + ours.held_ + ours.harmless_ +
                                      ours.unknown_ + ours.undone_);
    assert_int_equal(ours.generations_, (uint32_t)app->opened);
    assert_int_equal(ours.undone_, app->undone);
    assert_int_equal(ours.released_, app->closed);
    assert_int_equal(s->totals.dropped_lives_, 0);
    bbf_snapshot_free(s);
    return ours;
}

static void app_free(struct app *app)
{
    munmap(app->t->map.base, app->t->map.size);
    sample_free(app->t);
    free(app);
}

/* ---- the cases ---- */

static void lives_found_by_the_map_have_one_end_each(void **state)
{
    struct app *app = app_new((struct rules){.mapped = true});
    (void)state;
    run(app);
    const struct bbf_snap_since_start ours = ends_of(app);
    assert_empty(app);
    assert_true(ours.leaked_ > 0 && app->scans > 0);
    assert_int_equal(ours.released_, app->released);
    assert_int_equal(ours.leaked_, app->leaked);
    assert_int_equal(ours.unknown_, 0);
    app_free(app);
}

/* The application loses nothing; what it did unseen may be unknown, but is never a leak. */
static void stop_invents_nothing(struct rules rules)
{
    struct app *app = app_new(rules);
    run(app);
    const struct bbf_snap_since_start ours = ends_of(app);
    assert_empty(app);
    assert_true(app->stops > 0 && ours.unknown_ > 0 && ours.released_ > 0);
    assert_int_equal(app->leaked, 0);
    assert_int_equal(ours.leaked_, 0);
    assert_true(ours.released_ <= app->released);
    app_free(app);
}

static void a_stop_invents_no_leak(void **state)
{
    (void)state;
    stop_invents_nothing((struct rules){.stops = true});
}

static void a_stop_invents_no_leak_in_map_mode(void **state)
{
    (void)state;
    stop_invents_nothing((struct rules){.stops = true, .mapped = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_found_by_the_map_have_one_end_each),
        cmocka_unit_test(a_stop_invents_no_leak),
        cmocka_unit_test(a_stop_invents_no_leak_in_map_mode),
    };
    return cmocka_run_group_tests_name("stress_map", tests, NULL, NULL);
}
