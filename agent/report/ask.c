/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/ask.h"

#include "agent/thread.h"
#include "core/err.h"

struct bbf_snapshot *bbf_ask_snapshot(bool gc, unsigned wait_ms, int *err)
{
    struct bbf_snapshot *snapshot = bbf_snapshot_new();
    struct bbf_job job = {.kind = BBF_JOB_SNAPSHOT, .gc = gc, .snapshot = snapshot};
    *err = snapshot == NULL ? BBF_ENOMEM : bbf_thread_ask(&job, wait_ms, 0);
    if (*err == BBF_OK)
        return snapshot;
    bbf_snapshot_free(snapshot);
    return NULL;
}
