/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/governor.h"

enum { MILLION = 1000000 };

uint64_t bbf_governor_ppm(uint64_t overhead, uint64_t process)
{
    if (process == 0)
        return 0;
    if (overhead > (UINT64_MAX - process) / MILLION) /* hours: microseconds are exact enough */
        return bbf_governor_ppm(overhead / 1000, process / 1000);
    return (overhead * MILLION + process / 2) / process;
}

void bbf_governor_set(struct bbf_governor *governor, uint64_t budget_ppm, uint32_t floor)
{
    governor->budget_ppm = budget_ppm;
    governor->floor = floor > 0 ? floor : 1;
    if (budget_ppm == 0 || governor->sample < governor->floor)
        governor->sample = governor->floor;
    /* A rate between the floor and the next power of two was an older floor. */
    if (governor->sample != governor->floor && (governor->sample & (governor->sample - 1)) != 0)
        governor->sample = governor->floor;
    governor->calm = 0;
}

/* The next power of two, if there is one that is allowed. */
static void up(struct bbf_governor *governor)
{
    uint32_t next = 2;
    while (next <= governor->sample)
        next *= 2;
    if (next > BBF_GOVERNOR_MOST)
        return;
    governor->sample = next;
    governor->raised++;
}

static void down(struct bbf_governor *governor)
{
    uint32_t next = governor->sample / 2;
    governor->sample = next > governor->floor ? next : governor->floor;
    governor->lowered++;
}

uint32_t bbf_governor_step(struct bbf_governor *governor,
                           const struct bbf_governor_measured *measured)
{
    if (governor->budget_ppm == 0 || measured->elapsed <= 0 || measured->process < 0 ||
        measured->overhead < 0)
        return governor->sample;
    uint64_t ppm = bbf_governor_ppm((uint64_t)measured->overhead, (uint64_t)measured->process);
    if (measured->process < measured->elapsed / BBF_GOVERNOR_IDLE)
        ppm = 0; /* what is much of nearly nothing is nearly nothing */
    governor->ppm = ppm;
    if (ppm > governor->budget_ppm) {
        governor->calm = 0;
        if (governor->sample < BBF_GOVERNOR_MOST)
            up(governor);
    } else if (ppm * 5 > governor->budget_ppm * 2) {
        governor->calm = 0;
    } else if (governor->sample > governor->floor && ++governor->calm >= BBF_GOVERNOR_CALM) {
        governor->calm = 0;
        down(governor);
    }
    return governor->sample;
}

void bbf_governor_refused(struct bbf_governor *governor, uint32_t before)
{
    if (governor->sample > before)
        governor->raised--;
    else if (governor->sample < before)
        governor->lowered--;
    governor->sample = before;
}
