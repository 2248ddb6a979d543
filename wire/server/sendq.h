/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/sendq.h - the queue of bytes to send on one connection: a list of chunks, so that a
 * document of 100 MB is neither copied while it grows nor kept once it is sent. Never blocks.
 *
 * Threads: one owner. Units: bytes.
 */
#ifndef BBF_WIRE_SERVER_SENDQ_H
#define BBF_WIRE_SERVER_SENDQ_H

#include <stddef.h>

#include "wire/btrace/command.h"

struct bbf_chunk;

struct bbf_sendq {
    struct bbf_chunk *head, *tail;
    size_t sent;  /* of head */
    size_t bytes; /* that wait */
};

#define BBF_SENDQ_INIT                                                                             \
    {                                                                                              \
        NULL, NULL, 0, 0                                                                           \
    }

/* Append raw bytes. BBF_ENOMEM. */
int bbf_sendq_add(struct bbf_sendq *queue, const void *data, size_t len);
/* Append a frame. As bbf_command_encode(). */
int bbf_sendq_command(struct bbf_sendq *queue, const struct bbf_command *command,
                      size_t deflate_over);
/* Append a v1 command, behind a reset. As bbf_v1_encode(). */
int bbf_sendq_v1(struct bbf_sendq *queue, const struct bbf_command *command);
/* Send what the socket takes now; *moved says whether it took anything. BBF_OK, also when some is
 * left; BBF_ECLOSED when the peer is gone. */
int bbf_sendq_flush(struct bbf_sendq *queue, int fd, bool *moved);
void bbf_sendq_free(struct bbf_sendq *queue); /* empty and usable again */

#endif
