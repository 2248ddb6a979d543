/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/section.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <ck_epoch.h>

#include "core/err.h"

static ck_epoch_t epoch;
static pthread_key_t key;
static _Thread_local ck_epoch_record_t *mine;
/* ck passes records from thread to thread with fences that TSan cannot see; this repeats them in
 * C11. */
static _Atomic unsigned handed_over;

static void give_back(void *record)
{
    mine = NULL; /* the destructor runs in its own thread, and may run once more after this */
    atomic_fetch_add_explicit(&handed_over, 1, memory_order_release);
    ck_epoch_unregister(record); /* ck keeps it for the next thread that registers */
}

int bbf_section_init(void)
{
    static bool done;
    if (done)
        return BBF_OK;
    ck_epoch_init(&epoch);
    if (pthread_key_create(&key, give_back) != 0)
        return BBF_ENOMEM;
    done = true;
    return BBF_OK;
}

static ck_epoch_record_t *join(void)
{
    ck_epoch_record_t *record = ck_epoch_recycle(&epoch, NULL);
    (void)atomic_load_explicit(&handed_over, memory_order_acquire); /* pairs with give_back() */
    if (record == NULL) {
        if (posix_memalign((void **)&record, 64, sizeof *record) != 0)
            return NULL;
        ck_epoch_register(&epoch, record, NULL);
    }
    if (pthread_setspecific(key, record) != 0) {
        ck_epoch_unregister(record);
        return NULL;
    }
    return mine = record;
}

bool bbf_section_enter(void)
{
    ck_epoch_record_t *record = mine != NULL ? mine : join();
    if (record == NULL)
        return false;
    ck_epoch_begin(record, NULL);
    return true;
}

void bbf_section_leave(void)
{
    (void)ck_epoch_end(mine, NULL);
}

void bbf_section_synchronize(void)
{
    ck_epoch_record_t *record = mine != NULL ? mine : join();
    if (record != NULL)
        ck_epoch_synchronize(record);
}
