/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/sendq.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/err.h"
#include "wire/btrace/v1/v1.h"

/* Small frames share a chunk up to this size. */
enum { CHUNK_BYTES = 64 * 1024 };

struct bbf_chunk {
    struct bbf_chunk *next;
    struct bbf_buf buf;
};

/* The chunk to write to: the last one while it is small, else a new one. NULL: out of memory. */
static struct bbf_chunk *writable(struct bbf_sendq *queue)
{
    struct bbf_chunk *tail = queue->tail;

    if (tail != NULL && tail->buf.len < CHUNK_BYTES && !tail->buf.failed)
        return tail;
    struct bbf_chunk *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return NULL;
    if (tail == NULL)
        queue->head = fresh;
    else
        tail->next = fresh;
    queue->tail = fresh;
    return fresh;
}

int bbf_sendq_add(struct bbf_sendq *queue, const void *data, size_t len)
{
    struct bbf_chunk *chunk = writable(queue);

    if (chunk == NULL)
        return BBF_ENOMEM;
    bbf_buf_add(&chunk->buf, data, len);
    if (chunk->buf.failed)
        return BBF_ENOMEM;
    queue->bytes += len;
    return BBF_OK;
}

int bbf_sendq_command(struct bbf_sendq *queue, const struct bbf_command *command,
                      size_t deflate_over)
{
    struct bbf_chunk *chunk = writable(queue);

    if (chunk == NULL)
        return BBF_ENOMEM;
    size_t before = chunk->buf.len;
    int err = bbf_command_encode(&chunk->buf, command, deflate_over);
    if (err == BBF_OK)
        queue->bytes += chunk->buf.len - before;
    return err;
}

int bbf_sendq_v1(struct bbf_sendq *queue, const struct bbf_command *command)
{
    struct bbf_chunk *chunk = writable(queue);

    if (chunk == NULL)
        return BBF_ENOMEM;
    size_t before = chunk->buf.len;
    int err = bbf_v1_encode(&chunk->buf, command, true);
    if (err == BBF_OK)
        queue->bytes += chunk->buf.len - before;
    return err;
}

static void drop_head(struct bbf_sendq *queue)
{
    struct bbf_chunk *head = queue->head;

    queue->head = head->next;
    if (queue->head == NULL)
        queue->tail = NULL;
    queue->sent = 0;
    bbf_buf_free(&head->buf);
    free(head);
}

int bbf_sendq_flush(struct bbf_sendq *queue, int fd, bool *moved)
{
    *moved = false;
    while (queue->head != NULL) {
        struct bbf_buf *buf = &queue->head->buf;
        if (queue->sent == buf->len) {
            drop_head(queue);
            continue;
        }
        ssize_t n =
            send(fd, buf->data + queue->sent, buf->len - queue->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? BBF_OK
                                                                               : BBF_ECLOSED;
        queue->sent += (size_t)n;
        queue->bytes -= (size_t)n;
        *moved = true;
    }
    return BBF_OK;
}

void bbf_sendq_free(struct bbf_sendq *queue)
{
    while (queue->head != NULL)
        drop_head(queue);
    queue->bytes = 0;
}
