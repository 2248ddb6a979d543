/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/json_string.h - strings of the JSON documents (RFC 8259).
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_JSON_STRING_H
#define BBF_RENDER_JSON_STRING_H

#include "core/buf.h"

/* Append `text`, UTF-8 or not, as a string with its quotation marks; NULL as "". */
void bbf_json_string(struct bbf_buf *out, const char *text);

#endif
