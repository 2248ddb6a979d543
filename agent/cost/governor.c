/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/governor.h"

#include <math.h>
#include <stdlib.h>

#include "core/units.h"

enum { MILLION = 1000000, TENTH = 10 }; /* windows have at least a tenth of the budget */

static const double Z95 = 1.96; /* of a normal distribution: 95 % within as many deviations */

uint64_t bbf_governor_ppm(uint64_t overhead, uint64_t process)
{
    if (process == 0)
        return 0;
    if (overhead > (UINT64_MAX - process) / MILLION) /* hours: microseconds are exact enough */
        return bbf_governor_ppm(overhead / 1000, process / 1000);
    return (overhead * MILLION + process / 2) / process;
}

uint64_t bbf_governor_part_ppm(int64_t extra_ppm)
{
    return extra_ppm <= 0 ? 0
                          : bbf_governor_ppm((uint64_t)extra_ppm, (uint64_t)extra_ppm + MILLION);
}

/* ---- pairs ---- */

static bool is_whole(const struct bbf_governor_phase *p)
{
    return p->elapsed > 0 && p->process > 0 && p->elapsed < (uint64_t)INT64_MAX &&
           p->process < (uint64_t)INT64_MAX;
}

static void gather(struct bbf_governor_phase *to, const struct bbf_governor_phase *from)
{
    to->elapsed += from->elapsed;
    to->process += from->process;
    to->roots += from->roots;
}

void bbf_governor_add(struct bbf_governor *governor, const struct bbf_governor_phase *open,
                      const struct bbf_governor_phase *before,
                      const struct bbf_governor_phase *after)
{
    if (!is_whole(open) || !is_whole(before) || !is_whole(after) ||
        before->elapsed + after->elapsed < open->elapsed / 2)
        return;
    gather(&governor->open, open);
    gather(&governor->beside, before);
    gather(&governor->beside, after);
    const struct bbf_governor_phase *o = &governor->open, *b = &governor->beside;
    if (o->roots < BBF_GOVERNOR_ROOTS || b->roots < BBF_GOVERNOR_ROOTS)
        return;
    double extra =
        (double)o->process / (double)o->roots * (double)b->roots / (double)b->process - 1;
    if (extra > 1000)
        extra = 1000; /* a load that stopped in the time beside */
    governor->extra_ppm[governor->next] = (int64_t)(extra * MILLION);
    governor->next = (governor->next + 1) % BBF_GOVERNOR_PAIRS;
    governor->pairs++;
    governor->shut_process += b->process - governor->shut_process / BBF_GOVERNOR_PAIRS;
    governor->shut_roots += b->roots - governor->shut_roots / BBF_GOVERNOR_PAIRS;
    governor->open = governor->beside = (struct bbf_governor_phase){0, 0, 0};
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The last `most` pairs, in order of their size; returns how many there are. */
static uint32_t sorted(const struct bbf_governor *governor, uint32_t most, int64_t *to)
{
    uint32_t n = governor->pairs < most ? (uint32_t)governor->pairs : most;
    for (uint32_t i = 0; i < n; i++)
        to[i] =
            governor->extra_ppm[(governor->next + BBF_GOVERNOR_PAIRS - 1 - i) % BBF_GOVERNOR_PAIRS];
    qsort(to, n, sizeof *to, compare);
    return n;
}

/* The value that is `deviations` above the median of n values in order, rounded outwards: of n, the
 * number below the true median is binomial, with a standard deviation of sqrt(n) / 2. */
static int64_t at(const int64_t *values, uint32_t n, double deviations)
{
    if (deviations == 0)
        return (values[(n - 1) / 2] + values[n / 2]) / 2;
    double away = (deviations < 0 ? -deviations : deviations) * sqrt(n) / 2 + (n - 1) / 2.0;
    uint32_t place = (uint32_t)away + ((double)(uint32_t)away < away);
    if (place > n - 1)
        place = n - 1;
    return values[deviations < 0 ? n - 1 - place : place];
}

void bbf_governor_cost(const struct bbf_governor *governor, struct bbf_governor_cost *cost)
{
    int64_t values[BBF_GOVERNOR_PAIRS];
    uint32_t n = sorted(governor, BBF_GOVERNOR_PAIRS, values);
    *cost = (struct bbf_governor_cost){.pairs = governor->pairs};
    if (n < BBF_GOVERNOR_FIRST)
        return;
    cost->extra_ppm = at(values, n, 0);
    cost->low_ppm = at(values, n, -Z95);
    cost->high_ppm = at(values, n, Z95);
    cost->shut_process = governor->shut_process;
    cost->shut_roots = governor->shut_roots;
}

/* ---- the share ---- */

static uint64_t within(uint64_t share)
{
    if (share < BBF_GOVERNOR_LEAST)
        return BBF_GOVERNOR_LEAST;
    return share > BBF_GOVERNOR_MOST ? BBF_GOVERNOR_MOST : share;
}

/* Without what is fixed. */
static uint64_t left_of(uint64_t budget_ppm, uint64_t fixed_ppm)
{
    return budget_ppm > fixed_ppm ? budget_ppm - fixed_ppm : 0;
}

bool bbf_governor_is_used_up(uint64_t budget_ppm, uint64_t fixed_ppm)
{
    return budget_ppm != BBF_SHARE_NONE && budget_ppm < MILLION &&
           left_of(budget_ppm, fixed_ppm) <= budget_ppm / TENTH;
}

uint64_t bbf_governor_share(struct bbf_governor *governor, uint64_t budget_ppm, uint64_t fixed_ppm)
{
    int64_t values[BBF_GOVERNOR_RECENT];
    if (budget_ppm == BBF_SHARE_NONE || budget_ppm >= MILLION)
        return governor->share_ppm = budget_ppm >= MILLION ? BBF_GOVERNOR_ALL : 0;
    uint32_t n = sorted(governor, BBF_GOVERNOR_RECENT, values);
    int64_t extra = n < BBF_GOVERNOR_FIRST ? BBF_GOVERNOR_UNKNOWN : at(values, n, 1);
    uint64_t part = bbf_governor_part_ppm(extra);
    uint64_t left = bbf_governor_is_used_up(budget_ppm, fixed_ppm) ? budget_ppm / TENTH
                                                                   : left_of(budget_ppm, fixed_ppm);
    uint64_t share = within(part == 0 ? BBF_GOVERNOR_MOST : bbf_governor_ppm(left, part));
    uint64_t before = governor->share_ppm;
    /* From nothing, or from all, it begins with what is right while the cost is not known. */
    if (before == 0 || before > BBF_GOVERNOR_MOST)
        before = within(bbf_governor_ppm(left, bbf_governor_part_ppm(BBF_GOVERNOR_UNKNOWN)));
    if (share > before + before / 2)
        share = within(before + before / 2);
    return governor->share_ppm = share;
}
