/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/pace.h"

enum { MILLION = 1000000 };

uint64_t bbf_pace_ppm(uint64_t overhead, uint64_t process)
{
    if (process == 0)
        return 0;
    if (overhead > (UINT64_MAX - process) / MILLION) /* hours: microseconds are exact enough */
        return bbf_pace_ppm(overhead / 1000, process / 1000);
    return (overhead * MILLION + process / 2) / process;
}

void bbf_pace_set(struct bbf_pace *pace, uint64_t budget_ppm, uint32_t floor)
{
    pace->budget_ppm = budget_ppm;
    pace->floor = floor > 0 ? floor : 1;
    if (budget_ppm == 0 || pace->sample < pace->floor)
        pace->sample = pace->floor;
    /* A rate between the floor and the next power of two was an older floor. */
    if (pace->sample != pace->floor && (pace->sample & (pace->sample - 1)) != 0)
        pace->sample = pace->floor;
    pace->calm = 0;
}

/* The next power of two, if there is one that is allowed. */
static void up(struct bbf_pace *pace)
{
    uint32_t next = 2;
    while (next <= pace->sample)
        next *= 2;
    if (next > BBF_PACE_MOST)
        return;
    pace->sample = next;
    pace->raised++;
}

static void down(struct bbf_pace *pace)
{
    uint32_t next = pace->sample / 2;
    pace->sample = next > pace->floor ? next : pace->floor;
    pace->lowered++;
}

uint32_t bbf_pace_step(struct bbf_pace *pace, const struct bbf_pace_measured *measured)
{
    if (pace->budget_ppm == 0 || measured->elapsed <= 0 || measured->process < 0 ||
        measured->overhead < 0)
        return pace->sample;
    uint64_t ppm = bbf_pace_ppm((uint64_t)measured->overhead, (uint64_t)measured->process);
    if (measured->process < measured->elapsed / BBF_PACE_IDLE)
        ppm = 0; /* what is much of nearly nothing is nearly nothing */
    pace->ppm = ppm;
    if (ppm > pace->budget_ppm) {
        pace->calm = 0;
        if (pace->sample < BBF_PACE_MOST)
            up(pace);
    } else if (ppm * 5 > pace->budget_ppm * 2) {
        pace->calm = 0;
    } else if (pace->sample > pace->floor && ++pace->calm >= BBF_PACE_CALM) {
        pace->calm = 0;
        down(pace);
    }
    return pace->sample;
}

void bbf_pace_refused(struct bbf_pace *pace, uint32_t before)
{
    if (pace->sample > before)
        pace->raised--;
    else if (pace->sample < before)
        pace->lowered--;
    pace->sample = before;
}
