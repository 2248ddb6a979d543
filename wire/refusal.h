/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/refusal.h - why the server refuses a TCP connection: four bytes that it sends after "BTAF",
 * and that the client turns into a message (docs/protocol.md).
 *
 * Threads: constants.
 */
#ifndef BBF_WIRE_REFUSAL_H
#define BBF_WIRE_REFUSAL_H

/* The four bytes after BTAF, for our own client; a stock client reads only BTAF. */
#define BBF_WHY_BUSY "BUSY" /* other connections without the token took its place */
#define BBF_WHY_FULL "FULL" /* all of maxClients */
#define BBF_WHY_LATE "LATE" /* the token did not come in time */
#define BBF_WHY_NONE "NONE" /* auth=off: there is no token */

#endif
