/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/gate.h"

#include <pthread.h>
#include <sys/random.h>

#include "agent/classes/nettys.h"
#include "agent/state.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "core/spawn.h"
#include "trie/windows.h"

enum { ALL = 1000000, MS = 1000000, GRACE_MS = 2, LOOK_MS = 10, STACK = 128 << 10 };

/* Of the time since `since`: how long roots could open lives, in how many windows. */
struct watched {
    uint64_t since, open_ns, windows, frozen;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t changed;
static pthread_t thread;
static bool is_ready, is_running, is_ending;
static uint64_t duty, window_ms; /* of the options in force; duty in millionths, 0 = always open */
static uint64_t version;         /* of the two */
static struct watched watched;
static uint64_t opened_at; /* 0: no root can open a life */

void bbf_gate_choose(const struct bbf_options *options)
{
    if (options->duty != 0)
        bbf_windows_use(bbf_agent.tracker);
}

bool bbf_gate_allows(const struct bbf_options *options, const char **why)
{
    *why = NULL;
    if (options->duty != 0 && !bbf_windows_are_used(bbf_agent.tracker))
        *why = "duty: only in a JVM where bbflow was started with it";
    else if (options->duty != 0 && (options->sample > 1 || options->budget != 0))
        *why = "duty: not together with sample= or budget=";
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

/* The time by the clock: a thread wakes late on a busy machine. */
static void count_open(void)
{
    uint64_t now = bbf_monotonic_ns();
    if (opened_at != 0)
        watched.open_ns += now - opened_at;
    opened_at = now;
}

static void open_gate(void)
{
    bbf_windows_open(bbf_agent.tracker);
    opened_at = bbf_monotonic_ns();
    watched.windows++;
}

/* The lock is not held during the walk, which may be long: a report reads the numbers. */
static void shut_gate(void)
{
    bbf_windows_refuse_roots(bbf_agent.tracker);
    count_open();
    opened_at = 0;
    pass((uint64_t)GRACE_MS * MS);
    pthread_mutex_unlock(&lock);
    uint64_t frozen = bbf_windows_shut(bbf_agent.tracker);
    pthread_mutex_lock(&lock);
    watched.frozen += frozen;
}

/* In the mean the gate is open for `duty` of the time. At random, so that nothing that happens
 * regularly is always or never seen. */
static void one_window(void)
{
    uint64_t before = watched.open_ns;
    open_gate();
    pass(window_ms * MS);
    shut_gate();
    /* By the time that it was open: on a busy machine the thread wakes late. */
    uint64_t was_open = watched.open_ns > before ? watched.open_ns - before : 0;
    pass(random_below(2 * was_open / duty * (ALL - duty)));
}

static void *run(void *arg)
{
    (void)arg;
    (void)pthread_setname_np(pthread_self(), "bbflow gate");
    pthread_mutex_lock(&lock);
    while (!is_ending) {
        if (bbf_nettys_are_idle()) {
            pass((uint64_t)LOOK_MS * MS);
        } else if (duty != 0 && duty < ALL) {
            one_window();
        } else {
            open_gate();
            while (!is_ending && (duty == 0 || duty == ALL))
                pass((uint64_t)3600 * BBF_CLOCK_SECOND);
            shut_gate();
        }
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
    watched = (struct watched){.since = bbf_monotonic_ns()};
    is_running = bbf_spawn(&thread, STACK, run, NULL) == BBF_OK;
    if (!is_running)
        bbf_log(BBF_LOG_ERROR, "duty: its thread cannot be started; no buffer is followed");
}

void bbf_gate_apply(const struct bbf_options *options)
{
    if (!bbf_windows_are_used(bbf_agent.tracker))
        return;
    pthread_mutex_lock(&lock);
    duty = options->duty;
    window_ms = options->window_ms;
    version++;
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
    watched = (struct watched){.since = bbf_monotonic_ns(), .windows = opened_at != 0};
    if (opened_at != 0)
        opened_at = watched.since;
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

void bbf_gate_note(struct bbf_buf *note)
{
    uint64_t total_ns;
    if (!bbf_windows_are_used(bbf_agent.tracker))
        return;
    const struct watched w = read_watched(&total_ns);
    if (w.since == 0 || w.open_ns == 0 || total_ns == 0) {
        bbf_buf_str(note, "duty: no window was open yet, so no buffer was followed");
        return;
    }
    double share = (double)w.open_ns / (double)total_ns;
    bbf_buf_printf(
        note,
        "duty: only buffers allocated in %llu windows, %.2f s of %.1f s, were followed: "
        "one in about %.1f if the load is steady; %llu outlived their window, and only their ends "
        "were watched then; uses after release are not looked for",
        (unsigned long long)w.windows, (double)w.open_ns / BBF_CLOCK_SECOND,
        (double)total_ns / BBF_CLOCK_SECOND, 1 / share, (unsigned long long)w.frozen);
}
