/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/names.h"

#include <stdlib.h>

#include "agent/jvm/threads.h"
#include "core/err.h"

int bbf_names_of_threads(JNIEnv *env, struct bbf_event *events, size_t n,
                         struct bbf_snapshot *names)
{
    names->leaks = calloc(n + 1, sizeof *names->leaks);
    if (names->leaks == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n; i++)
        names->leaks[names->n_leaks++].thread = events[i].thread;
    int err = bbf_threads_fill(env, names);
    for (size_t i = 0; i < n && err == BBF_OK; i++)
        events[i].thread_name = bbf_snapshot_thread(names, events[i].thread);
    return err;
}
