/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/grace.h"

unsigned bbf_grace_enter(struct bbf_grace *grace)
{
    unsigned side = atomic_load(&grace->side) & 1;

    /* In one order with the exchange of the pointer and the look at the counts: either the look
     * sees this reader, or this reader sees the new pointer. */
    atomic_fetch_add(&grace->readers[side], 1);
    return side;
}

void bbf_grace_leave(struct bbf_grace *grace, unsigned side)
{
    atomic_fetch_sub(&grace->readers[side], 1);
}

/* Under the lock: note for all that wait which counts are 0 now. True: something can be freed. */
static bool note(struct bbf_grace *grace)
{
    unsigned zero = 0;
    bool any = false;

    for (unsigned i = 0; i < 2; i++)
        zero |= atomic_load(&grace->readers[i]) == 0 ? 1u << i : 0;
    for (size_t i = 0; i < grace->n; i++) {
        grace->waiting[i].seen |= zero;
        any = any || grace->waiting[i].seen == 3;
    }
    return any;
}

/* Under the lock. */
static void discard_free(struct bbf_grace *grace)
{
    size_t kept = 0;

    for (size_t i = 0; i < grace->n; i++) {
        struct bbf_retired *old = &grace->waiting[i];
        if (old->seen != 3) {
            grace->waiting[kept++] = *old;
            continue;
        }
        grace->bytes -= old->bytes;
        old->discard(old->memory, old->bytes);
    }
    grace->n = kept;
}

/* Under the lock. */
static void look(struct bbf_grace *grace)
{
    if (note(grace))
        discard_free(grace);
    /* The oldest decides which count is to become 0. */
    if (grace->n > 0)
        atomic_store(&grace->side, (grace->waiting[0].seen & 1) == 0 ? 1 : 0);
}

bool bbf_grace_retire(struct bbf_grace *grace, void *memory, size_t bytes,
                      void (*discard)(void *memory, size_t bytes))
{
    pthread_mutex_lock(&grace->lock);
    bool room = grace->n < BBF_GRACE_MAX_WAITING;
    if (room) {
        grace->waiting[grace->n++] = (struct bbf_retired){memory, bytes, discard, 0};
        grace->bytes += bytes;
    }
    look(grace);
    pthread_mutex_unlock(&grace->lock);
    return room;
}

size_t bbf_grace_poll(struct bbf_grace *grace, size_t *bytes)
{
    pthread_mutex_lock(&grace->lock);
    look(grace);
    size_t n = grace->n;
    if (bytes != NULL)
        *bytes = grace->bytes;
    pthread_mutex_unlock(&grace->lock);
    return n;
}
