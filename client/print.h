/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/print.h - text to the terminal: each %s is a value that is made safe, and only a
 * terminal's lines are laid out.
 *
 * Threads: one. Units: bytes.
 */
#ifndef BBF_CLIENT_PRINT_H
#define BBF_CLIENT_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/layout.h"
#include "core/buf.h"

/* The treatment of a text: unchanged, made safe, or also laid out. */
enum bbf_print_manner { BBF_PRINT_EXACT, BBF_PRINT_SAFE, BBF_PRINT_LINES };

/* Append the text to `piece` in that manner. */
void bbf_print_prepare(struct bbf_buf *piece, const char *text, size_t len,
                       enum bbf_print_manner manner, const struct bbf_look *look);
/* Write to stdout: lines for a person, or `exact` bytes, which only a terminal gets made safe.
 * False: stdout failed. */
bool bbf_print_text(const char *text, size_t len, bool exact);
/* Print a line to stdout; each %s is a value and cannot end it (bbf_safe_printf()). */
void bbf_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A note, as a line to stderr, in the same way; --quiet suppresses it. A failure is reported by
 * bbf_fail() (client/fail.h). */
void bbf_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A further line of a failure or a result, on stderr: never suppressed. */
void bbf_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print bbflow's own lines to stderr. */
void bbf_note_lines(const struct bbf_buf *text);
void bbf_vnote(const char *prefix, const char *format, va_list args);

#endif
