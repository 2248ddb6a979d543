/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/limit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/events.h"
#include "agent/report/blackbox.h"
#include "agent/report/cgroup.h"
#include "agent/report/urgent.h"
#include "core/clock.h"
#include "render/line.h"

enum { FIND_SECONDS = 60, BACK_PPM = 50000, SPARE = 16 };

static struct bbf_cgroup cgroup;
static bool has_cgroup;
static uint64_t find_ns, looked_s; /* CLOCK_MONOTONIC: when to look for it again; the last look */
static bool is_near;               /* and the use has not fallen since */
static uint64_t crossings;
static uint64_t passed_over;             /* looks left out: too few descriptors were free */
static struct bbf_cgroup_memory highest; /* at a crossing */
static struct bbf_urgent reports = {.suffix = "limit"};

static void post(const struct bbf_cgroup_memory *memory, bool reported)
{
    if (!bbf_events_wanted(BBF_EVENT_NEAR_LIMIT))
        return;
    struct bbf_event event = bbf_event_new(BBF_EVENT_NEAR_LIMIT);
    event.count = crossings;
    event.detail.near_limit.used = memory->used;
    event.detail.near_limit.limit = memory->limit;
    event.detail.near_limit.path =
        reported && reports.last_path[0] != '\0' ? reports.last_path : NULL;
    event.detail.near_limit.why = reported && reports.last_path[0] == '\0' ? reports.why : NULL;
    bbf_events_post(&event);
}

static void cross(JNIEnv *env, const struct bbf_options *options,
                  const struct bbf_cgroup_memory *memory)
{
    is_near = true;
    crossings++;
    if (memory->used > highest.used)
        highest = *memory;
    bbf_blackbox_hurry();
    post(memory, bbf_urgent_write(env, options, &reports));
}

/* Are the highest SPARE descriptors free? The kernel gives the lowest free number, so they go last.
 * The application may be about to open the only one that it has left: a look would take it. */
static bool descriptors_to_spare(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < SPARE)
        return false;
    int end = limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
    for (int fd = end - SPARE; fd < end; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            return false;
    return true;
}

/* A process is seldom moved, but a mount or a limit may come later. */
static bool find(uint64_t now)
{
    if (now >= find_ns) {
        has_cgroup = bbf_cgroup_find(&cgroup);
        find_ns = now + FIND_SECONDS * BBF_CLOCK_SECOND;
    }
    return has_cgroup;
}

static void look(JNIEnv *env, const struct bbf_options *options, uint64_t now)
{
    struct bbf_cgroup_memory memory = {0, 0};
    uint64_t ppm = options->near_limit;
    bool may_look = descriptors_to_spare();
    passed_over += !may_look;
    if (!may_look || !find(now) || !bbf_cgroup_read(&cgroup, ppm, &memory)) {
        bbf_blackbox_memory(0, 0);
        return;
    }
    bbf_blackbox_memory(memory.used, memory.limit);
    if (!is_near && bbf_cgroup_reaches(&memory, ppm))
        cross(env, options, &memory);
    else if (is_near && !bbf_cgroup_reaches(&memory, ppm > BACK_PPM ? ppm - BACK_PPM : 0))
        is_near = false;
}

void bbf_limit_poll(JNIEnv *env, const struct bbf_options *options)
{
    uint64_t now = bbf_clock_ns(CLOCK_MONOTONIC);
    if (options == NULL || options->near_limit == 0 || now / BBF_CLOCK_SECOND == looked_s)
        return;
    looked_s = now / BBF_CLOCK_SECOND;
    look(env, options, now);
}

void bbf_limit_note(struct bbf_buf *out)
{
    if (crossings > 0)
        bbf_line_limit_note(out, crossings, highest.used, highest.limit,
                            reports.last_path[0] != '\0' ? reports.last_path : NULL,
                            reports.last_at);
    if (passed_over > 0)
        bbf_line_limit_unseen(out, passed_over, SPARE);
}
