/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/safe.h - makes text from outside safe for a terminal: names from class files, command lines
 * of other users, messages of an agent, file names. A character that could end a line, move the
 * cursor, change colours, hide text or turn the reading direction is written as \uXXXX (above
 * U+FFFF as two, as in Java and JSON), and a byte that is not UTF-8 as U+FFFD. Text from outside is
 * always a value; only our own formats end lines, so no value can forge a line.
 *
 * Threads: any, no state. Errors: those of the buffer (sticky).
 */
#ifndef BBF_CORE_SAFE_H
#define BBF_CORE_SAFE_H

#include "core/buf.h"

#define BBF_UTF8_BAD 0xFFFDu

/*
 * Decode one UTF-8 sequence at p (p < end). Returns its length and stores the code point, or
 * returns 1 and stores BBF_UTF8_BAD if the bytes are not UTF-8 (RFC 3629: overlong, surrogate,
 * above U+10FFFF, truncated).
 */
size_t bbf_utf8_next(const char *p, const char *end, uint32_t *code);

/* Is it a control (C0, DEL, C1), a line or paragraph separator, a mark that turns the reading
 * direction, or an invisible character? */
bool bbf_is_unsafe(uint32_t code);

enum bbf_safe {
    BBF_SAFE_VALUE = 0, /* every unsafe character is escaped; the result has no line end */
    BBF_SAFE_LINES = 1, /* '\n' and '\t' are kept, for a text of several lines */
    BBF_SAFE_ASCII = 2  /* characters outside ASCII are also written as \uXXXX */
};

/* Append `len` bytes of `text`; `how` is a set of enum bbf_safe. The byte `also` ('\0': none), the
 * separator of a format, is also written as \uXXXX. */
void bbf_safe_add(struct bbf_buf *out, const char *text, size_t len, unsigned how, char also);

/*
 * Like bbf_buf_printf(), but each %s and %c is a value: its text is appended by bbf_safe_add(), so
 * every line end of the result comes from `format`. %s takes a precision but no width; integers (d
 * i u x X o with h, l, ll, z) are as usual; no other conversions.
 */
void bbf_safe_printf(struct bbf_buf *out, unsigned how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void bbf_safe_vprintf(struct bbf_buf *out, unsigned how, const char *format, va_list args);

#endif
