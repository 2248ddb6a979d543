/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/session.h - a session's turn: it reads, obeys and writes as far as it goes without
 * waiting, is fed from the live stream, and ends when its time is up. Private to the server; the
 * states and their invariants are in wire/server/session_io.h.
 *
 * Threads: the server's only. Units: milliseconds of CLOCK_MONOTONIC.
 */
#ifndef BBF_WIRE_SERVER_SESSION_H
#define BBF_WIRE_SERVER_SESSION_H

#include <stdint.h>

#include "wire/server/session_io.h"

/* Send what the live stream has for it, as far as little waits. */
void bbf_session_feed(struct bbf_service *service, struct bbf_session *session, int64_t now);
/* What to poll for. */
short bbf_session_events(const struct bbf_session *session);
/* Read, obey, write, as far as it goes without waiting. Closes the session when it is over. */
void bbf_session_work(struct bbf_service *service, struct bbf_session *session, short revents);
/* When bbf_session_expire() may have to do something. */
int64_t bbf_session_due(const struct bbf_service *service, const struct bbf_session *session);
/* Close it if its time is up at `now`. */
void bbf_session_expire(struct bbf_service *service, struct bbf_session *session, int64_t now);

#endif
