/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/fail.h - the exit codes of the bbflow command (design.md: names and formats), and how a
 * failure is reported: on stderr, as "bbflow: THING, PLACE, REMEDY".
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_FAIL_H
#define BBF_CLIENT_FAIL_H

enum bbf_exit {
    BBF_EXIT_OK = 0,
    BBF_EXIT_FAILED = 1,
    BBF_EXIT_USAGE = 2,
    BBF_EXIT_TARGET = 3, /* no or several targets */
    BBF_EXIT_PERMISSION = 4,
    BBF_EXIT_REFUSED = 5, /* the agent said no */
    BBF_EXIT_LOST =
        10 /* a verdict: a leak is proven, a rule of check is broken, doctor found something */
};

/* Print "bbflow: " and the message to stderr; return `exit_code`. With BBF_EXIT_OK it is a note,
 * which --quiet suppresses. Only `format` can end a line:
 * each %s is a value, which is made safe (bbf_safe_printf()). */
int bbf_fail(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The exit code for a BBF_E… of a conversation with an agent. */
int bbf_exit_of(int err);

#endif
