/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/negotiate.h - the bytes before the first command of a session: BTrace 3.0's
 * authentication and the choice between v2 and v1 (docs/btrace-wire.md 2).
 *
 * Threads: the server's only.
 */
#ifndef BBF_WIRE_SERVER_NEGOTIATE_H
#define BBF_WIRE_SERVER_NEGOTIATE_H

#include <stddef.h>

#include "wire/server/session_io.h"
#include "wire/token.h"

/* The bytes before the first command: token, choice of the protocol. *pos advances past the
 * consumed bytes. */
void bbf_session_negotiate(struct bbf_service *service, struct bbf_session *session, size_t *pos);
/* The most bytes that are read before a token is accepted. */
enum { BBF_AUTH_BYTES = 4 + 4 + BBF_TOKEN_MAX };

#endif
