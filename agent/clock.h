/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/clock.h - clock_gettime(2) in nanoseconds.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_CLOCK_H
#define BBF_AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define BBF_CLOCK_SECOND UINT64_C(1000000000) /* in nanoseconds */

static inline uint64_t bbf_clock_ns(clockid_t clock)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * BBF_CLOCK_SECOND + (uint64_t)t.tv_nsec;
}

static inline struct timespec bbf_clock_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / BBF_CLOCK_SECOND),
                             .tv_nsec = (long)(ns % BBF_CLOCK_SECOND)};
}

#endif
