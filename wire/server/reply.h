/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/reply.h - the answers of a callback of the server's config. A document for our own
 * client and a text for a person differ in the size of their frames.
 *
 * Threads: the server's, inside a callback. Units: bytes.
 */
#ifndef BBF_WIRE_SERVER_REPLY_H
#define BBF_WIRE_SERVER_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/btrace/command.h"

struct bbf_reply; /* one conversation's output, valid during a callback only */

/* Any other answer, in the client's protocol: a grid, a map, a number. Names, cells and values must
 * not be null (a stock client ends at a null cell); column names are not shown by stock clients. */
void bbf_reply_command(struct bbf_reply *reply, const struct bbf_command *command);
/* A text, sent as MESSAGE frames with time 0: whole lines, <= 1,024 bytes each, in order. */
void bbf_reply_text(struct bbf_reply *reply, const char *text, size_t len);
/* A document for our own client, sent as MESSAGE frames <= 1 MiB. */
void bbf_reply_document(struct bbf_reply *reply, const char *text, size_t len);
/* The same for a part of a document that is made as it goes out: waits, while the other clients are
 * served, until no more than 1 MiB is left to send. BBF_ECLOSED: the client has read nothing for 5
 * s, or is gone; nothing more can be sent. */
int bbf_reply_part(struct bbf_reply *reply, const char *text, size_t len);
/* ERROR(class "bbflow", message, stack) followed by STATUS(0, failed). */
void bbf_reply_error(struct bbf_reply *reply, const char *message);
/* STATUS(0, ok | failed): the end of an answer that was a MESSAGE, such as "unknown event". */
void bbf_reply_status(struct bbf_reply *reply, bool ok);

#endif
