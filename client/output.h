/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/output.h - the one way to stdout and stderr, where a report goes, and in which format.
 * Nothing is printed in any other way: what is foreign leaves here as core/safe.h has it.
 *
 * Threads: one. Each returns an exit code and has said why when it is not 0.
 */
#ifndef BBF_CLIENT_OUTPUT_H
#define BBF_CLIENT_OUTPUT_H

#include "client/client.h"
#include "core/buf.h"
#include "render/render.h"

/* The request's format: -f, else -o's extension, else the verb's own (dump: JSON). */
int bbf_output_format(const struct bbf_command_line *request, enum bbf_format *format);

/* Write all of `text`, lines for a person, to the file `path`, or to stdout when it is NULL or "-".
 * Only a terminal's lines are laid out. */
int bbf_output_write(const char *path, const struct bbf_buf *text);

/* The same for a document that a program reads: each byte as it is, but for what must not reach a
 * terminal, and is then written as \uXXXX. */
int bbf_output_exact(const char *path, const struct bbf_buf *text);

/* The same for what is no text: each byte as it is, and nothing of it to a terminal. */
int bbf_output_binary(const char *path, const struct bbf_buf *bytes);

/* To stdout, the whole lines of `text`, which are then taken out of it. A line that has no
 * end within BBF_BUF_PIECE is broken there. `exact` as above, and then nothing is. */
int bbf_output_lines(struct bbf_buf *text, bool exact);

/* Push stdout out; a full disk or a closed pipe is a failure, not a detail. */
int bbf_output_flush(void);

#endif
