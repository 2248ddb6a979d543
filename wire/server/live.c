/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/live.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/btrace/utf8.h"

struct bbf_live_message {
    int64_t time_ms;
    size_t len;
    char text[];
};

int bbf_live_init(struct bbf_live *live, size_t cap)
{
    live->cap = cap;
    live->cleared = 0;
    atomic_init(&live->head, 0);
    pthread_mutex_init(&live->lock, NULL);
    live->messages = calloc(cap, sizeof *live->messages);
    return live->messages != NULL ? BBF_OK : BBF_ENOMEM;
}

void bbf_live_free(struct bbf_live *live)
{
    for (size_t i = 0; live->messages != NULL && i < live->cap; i++)
        free(live->messages[i]);
    free(live->messages);
    live->messages = NULL;
    pthread_mutex_destroy(&live->lock);
}

bool bbf_live_add(struct bbf_live *live, int64_t time_ms, const char *text, size_t len)
{
    len = bbf_utf8_cut(text, len, BBF_LIVE_TEXT);
    struct bbf_live_message *message = malloc(sizeof *message + len);

    if (message == NULL)
        return false;
    message->time_ms = time_ms;
    message->len = len;
    memcpy(message->text, text, len);
    pthread_mutex_lock(&live->lock);
    uint64_t head = atomic_load_explicit(&live->head, memory_order_relaxed);
    struct bbf_live_message *old = live->messages[head % live->cap];
    live->messages[head % live->cap] = message;
    atomic_store(&live->head, head + 1);
    pthread_mutex_unlock(&live->lock);
    free(old);
    return true;
}

void bbf_live_clear(struct bbf_live *live)
{
    pthread_mutex_lock(&live->lock);
    for (size_t i = 0; i < live->cap; i++) {
        free(live->messages[i]);
        live->messages[i] = NULL;
    }
    live->cleared = atomic_load(&live->head);
    pthread_mutex_unlock(&live->lock);
}

uint64_t bbf_live_first(struct bbf_live *live)
{
    uint64_t head = atomic_load(&live->head);

    return head > live->cap ? head - live->cap : 0;
}

bool bbf_live_next(struct bbf_live *live, uint64_t *place, char text[BBF_LIVE_TEXT], size_t *len,
                   int64_t *time_ms, uint64_t *lost)
{
    struct bbf_live_message *message = NULL;

    *lost = 0;
    pthread_mutex_lock(&live->lock);
    uint64_t head = atomic_load_explicit(&live->head, memory_order_relaxed);
    if (*place < live->cleared)
        *place = live->cleared;
    if (head > live->cap && *place < head - live->cap) {
        *lost = head - live->cap - *place;
        *place = head - live->cap;
    }
    if (*place < head)
        message = live->messages[(*place)++ % live->cap];
    if (message != NULL) {
        *len = message->len;
        *time_ms = message->time_ms;
        memcpy(text, message->text, message->len);
    }
    pthread_mutex_unlock(&live->lock);
    return message != NULL;
}
