/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/units.h - numbers as people write them: digits, sizes, durations.
 *
 * Threads: any. Pure.
 */
#ifndef BBF_CORE_UNITS_H
#define BBF_CORE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Read the decimal digits at *text and move *text past them. Errors: BBF_EINVAL (no digit there),
 * BBF_ERANGE (more than 64 bits; *text has moved). */
int bbf_parse_digits(const char **text, uint64_t *value);

/* "256M", "1g", "4096" -> bytes; "10ms", "5s", "10m" -> nanoseconds. Errors: BBF_EINVAL,
 * BBF_ERANGE. */
int bbf_parse_size(const char *text, uint64_t *bytes);
int bbf_parse_duration(const char *text, uint64_t *nanoseconds);

/* Format the exact size as bbf_parse_size() reads it: "256M", "4095". Returns `to`. */
const char *bbf_size_text(uint64_t bytes, char *to, size_t to_size);

/* A share of 0 %, in millionths: less than any share that an option takes otherwise. 0 is off. */
enum { BBF_SHARE_NONE = 1 };

#endif
