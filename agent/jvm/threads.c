/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/memory.h"
#include "agent/state.h"
#include "core/err.h"

struct ended {
    uint32_t tid; /* 0 = none */
    char name[BBF_THREAD_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ended ended[BBF_ENDED_THREADS]; /* a ring; under lock */
static uint32_t next_ended;

/* A longer name keeps its beginning, whole UTF-8 sequences of it; "" if it cannot be had. */
static void name_of(jthread thread, char *out, size_t size)
{
    jvmtiThreadInfo info = {.name = NULL};
    out[0] = '\0';
    if ((*bbf_agent.code)->GetThreadInfo(bbf_agent.code, thread, &info) != 0 || info.name == NULL)
        return;
    size_t len = strlen(info.name);
    if (len >= size)
        for (len = size - 1; len > 0 && (info.name[len] & 0xc0) == 0x80; len--)
            ;
    memcpy(out, info.name, len);
    out[len] = '\0';
    bbf_jvm_free(info.name);
}

void bbf_threads_ended(jthread thread, uint64_t tid)
{
    struct ended e = {.tid = (uint32_t)tid};
    name_of(thread, e.name, sizeof e.name);
    if (e.name[0] == '\0')
        return;
    pthread_mutex_lock(&lock);
    ended[next_ended++ % BBF_ENDED_THREADS] = e;
    pthread_mutex_unlock(&lock);
}

/* Those that rows name, ascending. */
struct wanted {
    uint32_t *tids;
    size_t n;
};

static int compare_tids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool is_wanted(const struct wanted *wanted, uint32_t tid)
{
    return wanted->n > 0 &&
           bsearch(&tid, wanted->tids, wanted->n, sizeof tid, compare_tids) != NULL;
}

static int add_living(JNIEnv *env, struct bbf_snapshot *s, const struct wanted *wanted)
{
    jthread *threads = NULL;
    jint n = 0;
    int err = BBF_OK;
    char name[BBF_THREAD_NAME];
    if ((*env)->PushLocalFrame(env, 1024) != 0) {
        (*env)->ExceptionClear(env);
        return BBF_ENOMEM;
    }
    if ((*bbf_agent.code)->GetAllThreads(bbf_agent.code, &n, &threads) != 0)
        n = 0;
    for (jint i = 0; i < n && err == BBF_OK; i++) {
        uint32_t tid = (uint32_t)(*env)->GetLongField(env, threads[i], bbf_agent.tid);
        if (!is_wanted(wanted, tid))
            continue;
        name_of(threads[i], name, sizeof name);
        if (name[0] != '\0')
            err = bbf_snapshot_add_thread(s, tid, name);
    }
    bbf_jvm_free(threads);
    (void)(*env)->PopLocalFrame(env, NULL);
    return err;
}

int bbf_threads_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    struct wanted wanted = {calloc(s->n_leaks + 2 * s->n_misuses + 1, sizeof *wanted.tids), 0};
    struct ended *copy = malloc(sizeof ended);
    int err = wanted.tids == NULL || copy == NULL ? BBF_ENOMEM : BBF_OK;
    for (size_t i = 0; i < s->n_leaks && err == BBF_OK; i++)
        if (s->leaks[i].thread != 0)
            wanted.tids[wanted.n++] = (uint32_t)s->leaks[i].thread;
    for (size_t i = 0; i < s->n_misuses && err == BBF_OK; i++) {
        wanted.tids[wanted.n++] = (uint32_t)s->misuses[i].released_thread;
        wanted.tids[wanted.n++] = (uint32_t)s->misuses[i].used_thread;
    }
    if (wanted.n > 0) {
        qsort(wanted.tids, wanted.n, sizeof *wanted.tids, compare_tids);
        err = add_living(env, s, &wanted);
        pthread_mutex_lock(&lock);
        memcpy(copy, ended, sizeof ended);
        pthread_mutex_unlock(&lock);
        for (size_t i = 0; i < BBF_ENDED_THREADS && err == BBF_OK; i++)
            if (copy[i].tid != 0 && is_wanted(&wanted, copy[i].tid))
                err = bbf_snapshot_add_thread(s, copy[i].tid, copy[i].name);
    }
    free(wanted.tids);
    free(copy);
    return err;
}
