/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/http/answer.h - the header of an answer (RFC 9110). No part of it is from a request.
 *
 * Threads: any, no state.
 */
#ifndef BBF_WIRE_HTTP_ANSWER_H
#define BBF_WIRE_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "wire/http/accept.h"

enum { BBF_HTTP_HEAD_BYTES = 512 };

/* A body of one line, for a person; of 200 "". */
const char *bbf_http_status_line(int status);

/* Write the header, for a body of `len` bytes. Returns its bytes. `now`: for Date. */
size_t bbf_http_head(char out[BBF_HTTP_HEAD_BYTES], int status, enum bbf_http_media media,
                     size_t len, bool keeps, time_t now);

#endif
