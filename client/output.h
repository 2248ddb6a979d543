/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/output.h - the only way to stdout and stderr, and the choice of a report's file and
 * format. Nothing is printed in any other way, so all foreign text passes core/safe.h.
 *
 * Threads: one. Each function returns an exit code; if it is not 0, it has printed the reason.
 */
#ifndef BBF_CLIENT_OUTPUT_H
#define BBF_CLIENT_OUTPUT_H

#include "client/client.h"
#include "core/buf.h"
#include "render/render.h"

/* The request's format: that of -f, else of -o's extension, else the verb's own (dump: JSON). */
int bbf_output_format(const struct bbf_command_line *request, enum bbf_format *format);

/* For client/progress.h: the report of this snapshot is made now. */
void bbf_output_stage(const struct bbf_snapshot *snapshot);

/* Write all of `text`, lines for a person, to the file `path`, or to stdout when it is NULL or "-".
 * Only a terminal's lines are laid out. */
int bbf_output_write(const char *path, const struct bbf_buf *text);

/* The same for a document that a program reads: unchanged, except that characters which must not
 * reach a terminal are written as \uXXXX there. */
int bbf_output_exact(const char *path, const struct bbf_buf *text);

/* The same for bytes that are no text: unchanged, and never to a terminal. */
int bbf_output_binary(const char *path, const struct bbf_buf *bytes);

/* Write the complete lines of `text` to stdout and remove them from it. A line without an end
 * within BBF_BUF_PIECE is broken there. `exact`: as above; then no line is broken. */
int bbf_output_lines(struct bbf_buf *text, bool exact);

/* Flush stdout; a full disk or a closed pipe is reported as a failure. */
int bbf_output_flush(void);

#endif
