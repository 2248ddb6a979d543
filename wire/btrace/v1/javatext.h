/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/javatext.h - Java's ways with text and numbers that a v1 stream is made of:
 * modified UTF-8 (java.io.DataInput), BigInteger's magnitude, BigDecimal's unscaled value and
 * scale.
 *
 * Threads: any. Pure.
 */
#ifndef BBF_WIRE_BTRACE_V1_JAVATEXT_H
#define BBF_WIRE_BTRACE_V1_JAVATEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

/* Append modified UTF-8 as UTF-8: C0 80 is NUL, surrogate pairs are one character, a lone surrogate
 * is '?' (as Java writes it). false: malformed. */
bool bbf_java_to_utf8(struct bbf_buf *out, const uint8_t *text, size_t len);
/* Append UTF-8 as modified UTF-8; bytes that are not UTF-8 become U+FFFD. */
void bbf_utf8_to_java(struct bbf_buf *out, const char *text, size_t len);

/* Append a big-endian magnitude as decimal digits, '-' before it if signum < 0. Quadratic. */
void bbf_java_bigint(struct bbf_buf *out, int signum, const uint8_t *magnitude, size_t len);
/* Append the magnitude of decimal digits (no sign), big-endian, no leading zeros; none for 0. */
void bbf_java_magnitude(struct bbf_buf *out, const char *digits, size_t len);
/* Append unscaled * 10^-scale as BigDecimal.toString() does (JDK documentation of that method). */
void bbf_java_bigdec(struct bbf_buf *out, const char *unscaled, size_t len, int32_t scale);
/* The reverse: appends sign and digits, sets *scale. false: not a number, or the scale does not
 * fit. */
bool bbf_java_bigdec_parse(struct bbf_buf *unscaled, int32_t *scale, const char *text, size_t len);

#endif
