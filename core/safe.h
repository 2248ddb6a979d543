/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/safe.h - text from outside, made safe for a terminal: names out of class files, command
 * lines of other users, what an agent sends, file names. Whatever could end a line, move the
 * cursor, change colours, hide or turn the reading direction is written as \uXXXX (above U+FFFF as
 * two, as in Java and JSON), and a byte that is no UTF-8 as U+FFFD. What comes from outside is a
 * value; lines are made by our own formats only, so that no value can forge one.
 *
 * Threads: any, no state. Errors: those of the buffer (sticky).
 */
#ifndef BBF_CORE_SAFE_H
#define BBF_CORE_SAFE_H

#include "core/buf.h"

#define BBF_UTF8_BAD 0xFFFDu

/*
 * Decode one UTF-8 sequence at p (p < end). Returns its length and stores the code point, or
 * returns 1 and stores BBF_UTF8_BAD where the bytes are no UTF-8 (RFC 3629: overlong, surrogate,
 * above U+10FFFF, truncated).
 */
size_t bbf_utf8_next(const char *p, const char *end, uint32_t *code);

/* Controls (C0, DEL, C1), line and paragraph separators, marks that turn the reading direction, and
 * characters that cannot be seen. */
bool bbf_is_unsafe(uint32_t code);

enum bbf_safe {
    BBF_SAFE_VALUE = 0, /* nothing unsafe is left: the result has no line end */
    BBF_SAFE_LINES = 1, /* '\n' and '\t' are kept: a text of several lines */
    BBF_SAFE_ASCII = 2  /* what is not ASCII is written as \uXXXX too */
};

/* Append `len` bytes of `text`; `how` is a set of enum bbf_safe. The byte `also` ('\0': none) is
 * written as \uXXXX too: the separator of a format. */
void bbf_safe_add(struct bbf_buf *out, const char *text, size_t len, unsigned how, char also);

/*
 * As bbf_buf_printf(), but each %s and %c is a value: its text is appended by bbf_safe_add(), so
 * that every line end of the result stands in `format`. %s takes a precision, no width; integers (d
 * i u x X o with h, l, ll, z) are as usual; nothing else.
 */
void bbf_safe_printf(struct bbf_buf *out, unsigned how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void bbf_safe_vprintf(struct bbf_buf *out, unsigned how, const char *format, va_list args);

#endif
