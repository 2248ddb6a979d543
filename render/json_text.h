/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/json_text.h - a string of a JSON document (RFC 8259), from any bytes: quotes, backslashes
 * and controls are escaped, what is not UTF-8 becomes U+FFFD.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_JSON_TEXT_H
#define BBF_RENDER_JSON_TEXT_H

#include "core/buf.h"

/* With its quotes; NULL is "". */
void bbf_json_text(struct bbf_buf *out, const char *text);
/* The same of `len` bytes. */
void bbf_json_text_of(struct bbf_buf *out, const char *text, size_t len);
/* Without quotes: a part of a string. */
void bbf_json_text_part(struct bbf_buf *out, const char *text, size_t len);

#endif
