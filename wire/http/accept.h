/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/http/accept.h - which of the two media types a client prefers (RFC 9110, 12.5.1).
 *
 * Threads: any, no state.
 */
#ifndef BBF_WIRE_HTTP_ACCEPT_H
#define BBF_WIRE_HTTP_ACCEPT_H

#include <stddef.h>

enum bbf_http_media { BBF_HTTP_TEXT, BBF_HTTP_OPENMETRICS };
enum { BBF_HTTP_MEDIA = BBF_HTTP_OPENMETRICS + 1 };

/* The value of Content-Type. */
const char *bbf_http_media_type(enum bbf_http_media media);

/* The media type that this value of Accept prefers; text where it accepts neither. `value` may be
 * NULL. */
enum bbf_http_media bbf_http_accept(const char *value, size_t len);

#endif
