/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/grace.h - memory that hooks in the application's threads may still read after it was
 * replaced: it is freed once no reader is left that may have seen it. A reader adds itself to one
 * of two counts before it loads the pointer. The thread that replaces the pointer retires the old
 * memory afterwards. That memory can be freed when each count has been seen at 0 since then, each
 * at any time, because a later reader loads the new pointer. New readers use the count that need
 * not become 0 any more, so the other count becomes 0, however many readers there are.
 *
 * Threads: any. Progress: enter and leave are wait-free, allocate nothing and may nest; the others
 * take a lock that no reader ever takes.
 */
#ifndef BBF_AGENT_GRACE_H
#define BBF_AGENT_GRACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { BBF_GRACE_MOST = 64 }; /* that wait at once */

struct bbf_grace {
    atomic_uint readers[2];
    atomic_uint side; /* of the readers to come */
    pthread_mutex_t lock;
    struct bbf_retired {
        void *memory;
        size_t bytes;
        void (*discard)(void *memory, size_t bytes);
        unsigned seen; /* bit i: readers[i] was 0 since */
    } waiting[BBF_GRACE_MOST];
    size_t n, bytes; /* that wait */
};

#define BBF_GRACE_INIT                                                                             \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Call it before the pointer is loaded; pass its result to leave() once nothing is read any
 * more. */
unsigned bbf_grace_enter(struct bbf_grace *grace);
void bbf_grace_leave(struct bbf_grace *grace, unsigned side);

/* After the pointer was replaced: discard(memory, bytes) is called now or later, in a thread that
 * calls retire or look. False: too many wait already, and the caller keeps the memory. */
bool bbf_grace_retire(struct bbf_grace *grace, void *memory, size_t bytes,
                      void (*discard)(void *memory, size_t bytes));
/* Free what can be. How many still wait, and (NULL is allowed) how many bytes that is. */
size_t bbf_grace_look(struct bbf_grace *grace, size_t *bytes);

#endif
