/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/progress.h - one line on stderr while a command works for longer than a second: what it
 * does, how much of it is done, and the seconds since it began. It renews itself, and nothing of it
 * remains: client/print.c erases it before other output; bbf_progress_end() and the signals that
 * end the process also erase it.
 *
 * It is drawn only if stderr is a terminal that can erase a line (TERM), bbflow is in its
 * foreground, and --quiet was not given; otherwise each function does nothing.
 *
 * A timer's signal (SIGALRM) draws it, because the program computes or waits meanwhile. Calls that
 * the signal interrupts continue by SA_RESTART; poll(2) and nanosleep(2) do not, so their callers
 * loop.
 *
 * Threads: one. bbf_progress_hide() may also be called in a signal handler.
 */
#ifndef BBF_CLIENT_PROGRESS_H
#define BBF_CLIENT_PROGRESS_H

#include <stdint.h>

enum bbf_progress_unit { BBF_PROGRESS_BYTES, BBF_PROGRESS_COUNT };

/* From now on the line may be drawn; the seconds count from here. After bbf_screen_set(). */
void bbf_progress_allow(void);
/* The work of now, as a text; each %s is a value, which is made safe. The count before it is
 * forgotten. */
void bbf_progress_stage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The next stages are of the `i`th of `n` things, counted from 1; n = 0: of all. */
void bbf_progress_part(uint64_t i, uint64_t n);
/* How much there is to do in this stage, if that is known, and its unit (without: bytes). */
void bbf_progress_of(uint64_t total, enum bbf_progress_unit unit);
/* So much more of it is done. */
void bbf_progress_add(uint64_t done);
/* Erase the line; it comes back with the next stage. */
void bbf_progress_hide(void);
/* Erase it for good. */
void bbf_progress_end(void);

#endif
