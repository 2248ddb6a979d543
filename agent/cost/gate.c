/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/gate.h"

#include <pthread.h>
#include <math.h>
#include <sys/random.h>

#include "agent/classes/nettys.h"
#include "agent/cost/governor.h"
#include "agent/state.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "core/spawn.h"
#include "core/units.h"
#include "render/text.h"
#include "trie/windows.h"

enum {
    ALL = 1000000,
    SELDOM_PPM = ALL / 2,
    MS = 1000000,
    GRACE_MS = 2,
    LOOK_MS = 10,
    STACK = 128 << 10
};

/* Of the time since `since`: how long roots could open lives, in how many windows. */
struct watched {
    uint64_t since, open_ns, windows, frozen;
    uint64_t whole;     /* windows after which the pause was measured also; of these: */
    double open_roots;  /* calls of root hooks in them, */
    double open_square; /* the sum of the squares of that, */
    double shut_roots;  /* and in the pauses, by the rate at their begin and end */
    bool always;        /* the gate was also open without windows, and nothing was counted */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t changed;
static pthread_t thread;
static bool is_ready, is_running, is_ending;
/* Of the options in force, in millionths: 0 = off, BBF_SHARE_NONE = 0 %. */
static uint64_t duty, budget, window_ms;
static uint64_t version; /* of the three */
static uint64_t fixed_ppm;
static struct watched watched;
static struct bbf_governor governor;
static bool is_always;              /* open without windows */
static uint64_t opened_at;          /* 0: no root can open a life */
static uint64_t opened_process;     /* the process's time at the last open; 0: the gate is shut */
static uint64_t window_process;     /* processor time in windows and their grace, until then */
static uint64_t own_ns, own_before; /* processor time of the thread, and of those that ended */

void bbf_gate_choose(const struct bbf_options *options)
{
    uint64_t share = options->duty != 0 ? options->duty : options->budget;
    if (share != 0)
        bbf_windows_use(bbf_agent.tracker, share < SELDOM_PPM);
}

bool bbf_gate_allows(const struct bbf_options *options, const char **why)
{
    *why = bbf_options_conflict(options);
    if (*why == NULL && (options->duty != 0 || options->budget != 0) &&
        !bbf_windows_are_used(bbf_agent.tracker))
        *why = "budget, duty: only in a JVM where bbflow was loaded with one of them, because the "
               "hooks have a gate only then; restart the JVM with budget=1%, or with duty=100% to "
               "follow all until you set either";
    return *why == NULL;
}

/* ---- the thread ---- */

/* SplitMix64: Steele, Lea, Flood, OOPSLA 2014. */
static uint64_t random_below(uint64_t limit)
{
    static uint64_t state;
    if (state == 0 && getrandom(&state, sizeof state, GRND_NONBLOCK) != (ssize_t)sizeof state)
        state = bbf_monotonic_ns();
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return limit != 0 ? z % limit : 0;
}

/* Locked. Waits that long, less if the options change or the thread is to end. */
static void pass(uint64_t ns)
{
    const struct timespec until = bbf_clock_timespec(bbf_monotonic_ns() + ns);
    uint64_t before = version;
    while (!is_ending && version == before && pthread_cond_timedwait(&changed, &lock, &until) == 0)
        ;
}

static struct bbf_governor_phase read_clocks(void)
{
    return (struct bbf_governor_phase){.elapsed = bbf_monotonic_ns(),
                                       .process = bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
                                       .roots = bbf_windows_roots(bbf_agent.tracker)};
}

/* Locked. That long, by the clocks: a thread wakes late on a busy machine. */
static struct bbf_governor_phase phase(uint64_t ns)
{
    const struct bbf_governor_phase from = read_clocks();
    pass(ns);
    const struct bbf_governor_phase to = read_clocks();
    return (struct bbf_governor_phase){.elapsed = to.elapsed - from.elapsed,
                                       .process = to.process - from.process,
                                       .roots = to.roots - from.roots};
}

static void open_gate(void)
{
    bbf_windows_open(bbf_agent.tracker);
    opened_at = bbf_monotonic_ns();
    opened_process = bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    watched.windows++;
}

/* The lock is not held during the walk, which may be long: a report reads the numbers. */
static void shut_gate(void)
{
    bbf_windows_refuse_roots(bbf_agent.tracker);
    watched.open_ns += bbf_monotonic_ns() - opened_at;
    opened_at = 0;
    pass((uint64_t)GRACE_MS * MS);
    pthread_mutex_unlock(&lock);
    uint64_t frozen = bbf_windows_shut(bbf_agent.tracker);
    pthread_mutex_lock(&lock);
    watched.frozen += frozen;
    /* In the grace hooks cost as much as in the window: they meet lives that are open. */
    window_process += bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - opened_process;
    opened_process = 0;
    own_ns = bbf_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The share of the time that is to be watched: ALL, 0 or between; of a budget before it is known.
 */
static uint64_t wanted(void)
{
    uint64_t option = budget != 0 ? budget : duty;
    if (option == 0)
        return ALL;
    return option == BBF_SHARE_NONE ? 0 : option;
}

static bool has_windows(void)
{
    return wanted() > 0 && wanted() < ALL;
}

/* At random, so that nothing that happens regularly is always or never seen. In the mean the gate
 * is open for duty= of the time; by budget= that time has the grace in it, which costs as much. */
static uint64_t draw_pause(uint64_t open_ns, uint64_t with_grace_ns)
{
    uint64_t now = wanted();
    if (now == 0 || now >= ALL)
        return 0; /* the options changed */
    if (budget != 0)
        now = bbf_governor_share(&governor, budget, fixed_ppm);
    return random_below(2 * (budget != 0 ? with_grace_ns : open_ns) / now * (ALL - now));
}

static void add_watched(const struct bbf_governor_phase *open,
                        const struct bbf_governor_phase *after,
                        const struct bbf_governor_phase *before, uint64_t shut_ns)
{
    uint64_t beside = after->elapsed + before->elapsed;
    double rate = beside > MS ? (double)(after->roots + before->roots) / (double)beside
                              : (double)open->roots / (double)open->elapsed;
    watched.whole++;
    watched.open_roots += (double)open->roots;
    watched.open_square += (double)open->roots * (double)open->roots;
    watched.shut_roots += rate * (double)shut_ns;
}

/* `before`: the last time before the window, with the gate shut; then that before the next. */
static void one_window(struct bbf_governor_phase *before)
{
    uint64_t begin_version = version, since = watched.since, begin = bbf_monotonic_ns();
    bbf_windows_count(bbf_agent.tracker, true);
    open_gate();
    const struct bbf_governor_phase open = phase(window_ms * MS);
    shut_gate();
    uint64_t shut_at = bbf_monotonic_ns();
    uint64_t pause = draw_pause(open.elapsed, shut_at - begin);
    uint64_t beside = pause / 2 < open.elapsed ? pause / 2 : open.elapsed;
    const struct bbf_governor_phase after = phase(beside);
    if (version == begin_version)
        bbf_governor_add(&governor, &open, before, &after);
    bbf_windows_count(bbf_agent.tracker, false);
    if (pause > 2 * beside)
        pass(pause - 2 * beside);
    bbf_windows_count(bbf_agent.tracker, true);
    *before = phase(beside);
    if (version != begin_version)
        *before = (struct bbf_governor_phase){0, 0, 0};
    if (since == watched.since && open.elapsed > 0)
        add_watched(&open, &after, before, bbf_monotonic_ns() - begin - open.elapsed);
    bbf_windows_count(bbf_agent.tracker, false);
}

static void always(bool open)
{
    uint64_t before = version;
    if (open) {
        is_always = watched.always = true;
        open_gate();
    }
    while (!is_ending && version == before)
        pass((uint64_t)3600 * BBF_CLOCK_SECOND);
    if (open) {
        is_always = false;
        shut_gate();
    }
}

static void *run(void *arg)
{
    struct bbf_governor_phase before = {0, 0, 0};
    (void)arg;
    (void)pthread_setname_np(pthread_self(), "bbflow gate");
    pthread_mutex_lock(&lock);
    while (!is_ending) {
        uint64_t now = wanted();
        if (bbf_nettys_are_idle())
            pass((uint64_t)LOOK_MS * MS);
        else if (now == 0 || now >= ALL)
            always(now != 0);
        else
            one_window(&before);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void start(void)
{
    if (!is_ready) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&changed, &attributes);
        pthread_condattr_destroy(&attributes);
        is_ready = true;
    }
    is_ending = false;
    own_before += own_ns;
    own_ns = 0;
    watched = (struct watched){.since = bbf_monotonic_ns()};
    is_running = bbf_spawn(&thread, STACK, run, NULL) == BBF_OK;
    if (!is_running)
        bbf_log(BBF_LOG_ERROR, "budget, duty: the thread cannot be started; no buffer is followed");
}

void bbf_gate_apply(const struct bbf_options *options)
{
    if (!bbf_windows_are_used(bbf_agent.tracker))
        return;
    pthread_mutex_lock(&lock);
    const bool had_windows = has_windows();
    if (budget != options->budget)
        governor.share_ppm = 0; /* the new one's share is not to rise from the old one's */
    duty = options->duty;
    budget = options->budget;
    window_ms = options->window_ms;
    version++;
    if (has_windows() && !had_windows) /* what was measured earlier may be of another load */
        governor = (struct bbf_governor){.pairs = 0};
    if (!is_running)
        start();
    else
        pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void bbf_gate_end(void)
{
    pthread_mutex_lock(&lock);
    bool was_running = is_running;
    is_ending = true;
    is_running = false;
    if (was_running)
        pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    if (was_running)
        pthread_join(thread, NULL);
}

/* ---- reports ---- */

void bbf_gate_reset(void)
{
    pthread_mutex_lock(&lock);
    watched = (struct watched){
        .since = bbf_monotonic_ns(), .windows = opened_at != 0, .always = is_always};
    if (opened_at != 0)
        opened_at = watched.since;
    pthread_mutex_unlock(&lock);
}

void bbf_gate_fixed(uint64_t ppm)
{
    pthread_mutex_lock(&lock);
    fixed_ppm = ppm;
    pthread_mutex_unlock(&lock);
}

void bbf_gate_cost(struct bbf_gate_cost *cost)
{
    pthread_mutex_lock(&lock);
    *cost = (struct bbf_gate_cost){.own_ns = own_before + own_ns, .process_ns = window_process};
    if (opened_process != 0)
        cost->process_ns += bbf_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - opened_process;
    bbf_governor_cost(&governor, &cost->followed);
    if (is_running && has_windows())
        cost->share_ppm = budget != 0 ? governor.share_ppm : duty;
    pthread_mutex_unlock(&lock);
}

static struct watched read_watched(uint64_t *total_ns)
{
    pthread_mutex_lock(&lock);
    struct watched w = watched;
    uint64_t now = bbf_monotonic_ns();
    if (opened_at != 0)
        w.open_ns += now - opened_at;
    *total_ns = now - w.since;
    pthread_mutex_unlock(&lock);
    return w;
}

/* Of the allocations: in windows, of those and of what the time beside them lets expect between. If
 * nothing was counted, or also lives were followed without windows, of the time. */
static void fill_share(struct bbf_snap_windows *to, const struct watched *w)
{
    double n = (double)w->whole, all = w->open_roots + w->shut_roots;
    double share = (double)to->open_ns_ / (double)to->elapsed_ns_;
    double spread = w->windows > 0 ? 1 / sqrt((double)w->windows) : 1;

    if (!w->always && w->whole > 1 && w->open_roots > 0 && all > 0) {
        double square = (w->open_square - w->open_roots * w->open_roots / n) / (n - 1);
        share = w->open_roots / all;
        spread = square > 0 ? sqrt(square * n) / w->open_roots : 0;
    }
    if (to->open_ns_ >= to->elapsed_ns_ || share >= 1)
        share = 1, spread = 0;
    to->share_ppb_ = (uint64_t)(share * BBF_SHARE_ALL_PPB);
    to->share_ppb_ += to->share_ppb_ == 0;
    to->spread_ppm_ = (uint64_t)(spread * ALL);
}

void bbf_gate_fill(struct bbf_snap_windows *to)
{
    uint64_t total_ns;
    if (!bbf_windows_are_used(bbf_agent.tracker))
        return;
    const struct watched w = read_watched(&total_ns);
    if (w.since == 0 || w.open_ns == 0 || total_ns == 0)
        return;
    *to = (struct bbf_snap_windows){.used = true,
                                    .elapsed_ns_ = total_ns,
                                    .open_ns_ = w.open_ns,
                                    .windows_ = w.windows,
                                    .frozen_ = w.frozen};
    fill_share(to, &w);
}

static void note_used_up(struct bbf_buf *note)
{
    pthread_mutex_lock(&lock);
    uint64_t share = budget, fixed = fixed_ppm;
    pthread_mutex_unlock(&lock);
    if (share == 0 || !bbf_governor_is_used_up(share, fixed))
        return;
    bbf_buf_str(note, "; bbflow's own threads and the shut gate (estimated) take ");
    bbf_text_percent(note, fixed, ALL);
    bbf_buf_str(note, ", so the budget of ");
    bbf_text_percent(note, share, ALL);
    bbf_buf_str(note,
                " leaves windows only a tenth of it: set a larger one, or follow fewer packages "
                "with include=");
}

void bbf_gate_note(struct bbf_buf *note)
{
    struct bbf_snap_windows w = {.used = false};
    if (!bbf_windows_are_used(bbf_agent.tracker))
        return;
    bbf_gate_fill(&w);
    if (!w.used) {
        bbf_buf_str(note, "budget, duty: no window was open yet, so no buffer was followed");
        return;
    }
    bbf_buf_printf(
        note,
        "%s: only buffers allocated in %llu windows, %.2f s of %.1f s, were followed, and numbers "
        "are of these; %llu outlived their window, and only their ends were watched then; uses "
        "after release are not looked for",
        budget != 0 ? "budget" : "duty", (unsigned long long)w.windows_,
        (double)w.open_ns_ / BBF_CLOCK_SECOND, (double)w.elapsed_ns_ / BBF_CLOCK_SECOND,
        (unsigned long long)w.frozen_);
    note_used_up(note);
}
