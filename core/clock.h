/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/clock.h - CLOCK_MONOTONIC as a number: for time limits and for how long something took. It
 * has no relation to the time of day.
 *
 * Threads: any. Async-signal-safe, as clock_gettime(2) is.
 */
#ifndef BBF_CORE_CLOCK_H
#define BBF_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds. */
static inline uint64_t bbf_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Milliseconds; signed, because time limits are subtracted from each other. */
static inline int64_t bbf_monotonic_ms(void)
{
    return (int64_t)(bbf_monotonic_ns() / 1000000);
}

#endif
