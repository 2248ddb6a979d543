/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/refusal.h - why a TCP connection gets no place: the four bytes that the server sends behind
 * "BTAF", and that the client turns into a message (docs/protocol.md).
 *
 * Threads: constants.
 */
#ifndef BBF_WIRE_REFUSAL_H
#define BBF_WIRE_REFUSAL_H

/* Four bytes behind BTAF say why, for our own client; a stock one reads BTAF alone. */
#define BBF_WHY_BUSY "BUSY" /* other connections without the token took its place */
#define BBF_WHY_FULL "FULL" /* all of maxClients */
#define BBF_WHY_LATE "LATE" /* the token did not come in time */
#define BBF_WHY_NONE "NONE" /* auth=off: there is no token */

#endif
