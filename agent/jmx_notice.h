/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jmx_notice.h - a notification for the listeners of jmx=, from the sink to the Java side
 * (agent/jmx_link.c).
 *
 * Threads: is_listened any; offer the agent thread.
 */
#ifndef BBF_AGENT_JMX_NOTICE_H
#define BBF_AGENT_JMX_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Has the MBean had a listener since it was registered? */
bool bbf_jmx_is_listened(void);

struct bbf_jmx_notice {
    const char *type, *line, *memory; /* memory "": not known */
    size_t line_len;
    int64_t time_ms;
    uint64_t count, bytes, added, added_bytes, fingerprint;
};
/* Queue a notification. False: no room, or no memory. */
bool bbf_jmx_offer(const struct bbf_jmx_notice *notice);

#endif
