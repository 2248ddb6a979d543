/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/state.h"

#include "core/log.h"

struct bbf_agent bbf_agent = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .seen_lock = PTHREAD_MUTEX_INITIALIZER};

void bbf_agent_disable(const char *why)
{
    const char *before = NULL;
    if (!atomic_compare_exchange_strong(&bbf_agent.off_why, &before, why))
        return;
    bbf_tracker_off(bbf_agent.tracker);
    bbf_log(BBF_LOG_ERROR, "tracking is off: %s", why);
}
