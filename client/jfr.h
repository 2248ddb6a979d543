/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/jfr.h - `bbflow jfr`: flight recordings of any JVM, read, joined and mended.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_JFR_H
#define BBF_CLIENT_JFR_H

#include "core/buf.h"

/* The words behind "bbflow jfr"; an exit code. */
int bbf_jfr_command(int n, char **words);
/* Its part of `bbflow help jfr`, and of `bbflow help words`: "command jfr --flag=ARGUMENT ...",
 * then "jfr NAME --flag=ARGUMENT ..." for each of its commands. */
void bbf_jfr_help(struct bbf_buf *to);
void bbf_jfr_words(struct bbf_buf *to);

#endif
