/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/admit.h - who gets a place at the server. A connection over TCP waits first, in
 * places of its own, until it has shown the token (auth=off: until it has said which protocol it
 * speaks); only then it takes one of the maxClients places. So clients without the token take no
 * place from clients that have it.
 *
 * Where the waiting places fill up:
 *   - another user than the JVM's and root has at most a quarter of them: his oldest goes;
 *   - when all are taken, the oldest of the user who has the most goes.
 * One whose bytes have come and were not read yet goes last. Whose a connection is the kernel says
 * (sock_diag(7)); where it does not, such connections count as one user's. It is asked only when a
 * quarter of the places is taken.
 *
 * Where the clients' places are all taken, the client that has been stuck longest makes room: one
 * that has not come as far as a command, or does not read what is sent to it, for two seconds.
 *
 * Threads: the server's only.
 */
#ifndef BBF_WIRE_SERVER_ADMIT_H
#define BBF_WIRE_SERVER_ADMIT_H

#include <stdbool.h>

#include "wire/server/session_io.h"

/*
 * A session for `fd`, which is connected, over TCP or not; it is opened. NULL: there is no place
 * (counted as refused; the peer got the reason, and `fd` is closed).
 */
struct bbf_session *bbf_admit(struct bbf_service *service, int fd, bool tcp);
/* A waiting session has said what it had to: it becomes a client. False: there is no place. */
bool bbf_admit_client(struct bbf_service *service, struct bbf_session *session);
/* Tell the peer why it is not served, and close. */
void bbf_admit_end(struct bbf_session *session, const char *why);

#endif
