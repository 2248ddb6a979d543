/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/json_string.h - a string of JSON (RFC 8259): quotes, backslashes and controls escaped, a
 * byte that is not UTF-8 as U+FFFD.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_JSON_STRING_H
#define BBF_RENDER_JSON_STRING_H

#include "core/buf.h"

/* Without the quotes. */
void bbf_json_string_part(struct bbf_buf *out, const char *text, size_t len);
/* With the quotes. */
void bbf_json_string(struct bbf_buf *out, const char *text, size_t len);

#endif
