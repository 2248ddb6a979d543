/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/late_classes.h"

#include <pthread.h>
#include <string.h>

#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/rules.h"
#include "agent/sites.h"
#include "agent/state.h"
#include "agent/thread.h"

enum { WAITING = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jclass waiting[WAITING]; /* global references; under the lock */
static int n_waiting;

/* Has it calls of our hooks? What cannot be asked is left as it is. */
static bool has_calls(jvmtiEnv *jvmti, jclass class)
{
    static const char shim[] = "java/lang/BBFlowShim";
    unsigned char *pool = NULL;
    jint count = 0, len = 0;
    if ((*jvmti)->GetConstantPool(jvmti, class, &count, &len, &pool) != 0)
        return true;
    bool found = memmem(pool, (size_t)len, shim, sizeof shim - 1) != NULL;
    bbf_jvm_free(pool);
    return found;
}

static bool is_late(jvmtiEnv *jvmti, jclass class, const struct bbf_rules *rules)
{
    struct bbf_plan_class plan;
    char *name = rules != NULL ? bbf_names_of(class) : NULL;
    bool late = name != NULL &&
                bbf_plan_class(&plan, name, strlen(name), rules, &bbf_agent_sites) &&
                plan.buffer_prefix > 0 && !has_calls(jvmti, class);
    bbf_jvm_free(name);
    return late;
}

void bbf_late_classes_prepare(jvmtiEnv *jvmti, JNIEnv *env, jclass class)
{
    const struct bbf_rules_hold hold = bbf_rules_hold();
    bool late = is_late(jvmti, class, hold.rules);
    bbf_rules_let_go(&hold);
    if (!late)
        return;
    jclass kept = (*env)->NewGlobalRef(env, class);
    pthread_mutex_lock(&lock);
    bool room = kept != NULL && n_waiting < WAITING;
    if (room) {
        waiting[n_waiting++] = kept;
        bbf_tracker_hold(bbf_agent.tracker);
    }
    pthread_mutex_unlock(&lock);
    if (room) {
        bbf_thread_wake();
        return;
    }
    atomic_fetch_add(&bbf_agent.retransform_failed, 1);
    if (kept != NULL)
        (*env)->DeleteGlobalRef(env, kept);
}

void bbf_late_classes_catch_up(JNIEnv *env, bool resume)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        jclass class = n_waiting > 0 ? waiting[--n_waiting] : NULL;
        if (class == NULL && resume)
            bbf_tracker_resume(bbf_agent.tracker);
        pthread_mutex_unlock(&lock);
        if (class == NULL)
            return;
        if ((*bbf_agent.code)->RetransformClasses(bbf_agent.code, 1, &class) != 0)
            atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        if ((*env)->ExceptionCheck(env))
            (*env)->ExceptionClear(env);
        (*env)->DeleteGlobalRef(env, class);
    }
}

void bbf_late_classes_poll(JNIEnv *env)
{
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    pthread_mutex_lock(&lock);
    bool any = n_waiting > 0;
    pthread_mutex_unlock(&lock);
    if (any)
        bbf_late_classes_catch_up(env, true);
}
