/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/clock.h - clock_gettime(2) as a number. bbf_monotonic_ns() and _ms() are for time limits and
 * for how long something took; they have no relation to the time of day.
 *
 * Threads: any. Async-signal-safe, as clock_gettime(2) is.
 */
#ifndef BBF_CORE_CLOCK_H
#define BBF_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define BBF_CLOCK_SECOND UINT64_C(1000000000) /* in nanoseconds */

/* Nanoseconds of any clock; 0 if the system does not have it. */
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

static inline uint64_t bbf_monotonic_ns(void)
{
    return bbf_clock_ns(CLOCK_MONOTONIC);
}

/* Milliseconds; signed, because time limits are subtracted from each other. */
static inline int64_t bbf_monotonic_ms(void)
{
    return (int64_t)(bbf_monotonic_ns() / 1000000);
}

#endif
