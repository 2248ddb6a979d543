/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/rules.h"

#include <stdlib.h>
#include <time.h>

#include "agent/grace.h"
#include "agent/state.h"
#include "core/err.h"

enum { LOOKS = 1000, LOOK_MS = 1 };

static struct bbf_grace grace = BBF_GRACE_INIT;

struct bbf_rules_hold bbf_rules_hold(void)
{
    struct bbf_rules_hold hold = {.side = bbf_grace_enter(&grace)};
    hold.rules = atomic_load(&bbf_agent.rules);
    return hold;
}

void bbf_rules_let_go(const struct bbf_rules_hold *hold)
{
    bbf_grace_leave(&grace, hold->side);
}

static size_t bytes_of(const struct bbf_rules *rules)
{
    return sizeof *rules + bbf_options_bytes(&rules->options);
}

static void discard(void *memory, size_t bytes)
{
    struct bbf_rules *rules = memory;
    bbf_options_free(&rules->options);
    free(rules);
    bbf_tracker_uncharge(bbf_agent.tracker, bytes);
}

struct bbf_rules *bbf_rules_new(const struct bbf_options *options)
{
    static _Atomic uint32_t last;
    struct bbf_rules *rules = calloc(1, sizeof *rules);
    if (rules == NULL || bbf_options_copy(&rules->options, options) != BBF_OK) {
        free(rules);
        return NULL;
    }
    rules->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    rules->carriers = bbf_options_carriers(options) ? bbf_agent.carriers : NULL;
    bbf_tracker_take(bbf_agent.tracker, bytes_of(rules));
    return rules;
}

void bbf_rules_retire(const struct bbf_rules *rules)
{
    /* If too many wait, it is never freed; the caller checked bbf_rules_room() first. */
    if (rules != NULL)
        (void)bbf_grace_retire(&grace, (void *)(uintptr_t)rules, bytes_of(rules), discard);
}

bool bbf_rules_room(void)
{
    for (int i = 0; i < LOOKS; i++) {
        if (bbf_grace_poll(&grace, NULL) < BBF_GRACE_MAX_WAITING)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
    return false;
}

size_t bbf_rules_old(size_t *bytes)
{
    return bbf_grace_poll(&grace, bytes);
}
