/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/format.h - numbers, times and sizes as the JDK's `jfr` tool prints them (JDK 25).
 *
 * Threads: any. Pure.
 */
#ifndef BBF_JFR_FORMAT_H
#define BBF_JFR_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

/* The shortest text that reads back as the same number, in Java's form: 1.0, 1.0E10. */
void bbf_jfr_add_real(struct bbf_buf *out, double value, bool is_float);
/* With `decimals` digits after the point, rounded half up as Java does. */
void bbf_jfr_add_fixed(struct bbf_buf *out, double value, int decimals);
/* Unsigned if the field is; a long above 2^63 is not negative then. */
void bbf_jfr_add_integer(struct bbf_buf *out, int64_t value, bool is_unsigned);

/* A duration of seconds and nanoseconds; the whole is negative if `seconds` is. */
struct bbf_jfr_duration {
    int64_t seconds;
    int32_t nanos; /* 0 to 999,999,999, added to seconds */
};

/* ISO 8601: PT1H2M3.5S. */
void bbf_jfr_add_duration_iso(struct bbf_buf *out, struct bbf_jfr_duration d);
/* 1.23 ms, 4.56 s, 1 m 2 s. */
void bbf_jfr_add_duration(struct bbf_buf *out, struct bbf_jfr_duration d);

/* 2023-11-14T22:13:20.001Z, with the offset from UTC that it is shown in. */
void bbf_jfr_add_time_iso(struct bbf_buf *out, int64_t epoch_ns, int offset_ms);
/* 22:13:20.001 (2023-11-14); `exact`: nine digits. */
void bbf_jfr_add_time(struct bbf_buf *out, int64_t epoch_ns, int offset_ms, bool exact);
/* 2023-11-14 22:13:20, UTC. */
void bbf_jfr_add_date(struct bbf_buf *out, int64_t epoch_ns);

/* 1.5 kB; 3 bytes. `unit`: "byte" or "bit"; `per_second`: a frequency. */
void bbf_jfr_add_amount(struct bbf_buf *out, int64_t value, bool is_bits, bool per_second,
                        bool exact);

#endif
