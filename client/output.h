/*
 * client/output.h - where a report goes and in which format.
 *
 * Called by: verbs.c. Threads: one. Each returns an exit code and has said why when it is not 0.
 */
#ifndef BBF_CLIENT_OUTPUT_H
#define BBF_CLIENT_OUTPUT_H

#include "client/client.h"
#include "core/buf.h"
#include "render/render.h"

/* The request's format: -f, else -o's extension, else the verb's own (dump: JSON). */
int bbf_output_format(const struct bbf_request *request, enum bbf_format *format);

/* Write all of `text` to the file `path`, or to stdout when it is NULL or "-". */
int bbf_output_write(const char *path, const struct bbf_buf *text);

/* Push stdout out; a full disk or a closed pipe is a failure, not a detail. */
int bbf_output_flush(void);

#endif
