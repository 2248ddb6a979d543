/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/frames.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "agent/state.h"

/* Naps are 20 ms, and as much again by the timer's slack: longer than a thread that has the turn
 * waits for a processor. */
enum { SPINS = 200, NAPS = 400, NAP_NS = 50000 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool stuck; /* a thread recently failed to get the turn; a hint */

/* JDK-8313332: the table grows at a safepoint since then. */
static bool needs_turn(void)
{
    return bbf_agent.jdk < 23;
}

/* A debugger may suspend the thread that has the turn. So a hook waits only for a limited time, and
 * not every hook waits again. */
static bool take_turn(void)
{
    for (int i = 0; pthread_mutex_trylock(&turn) != 0; i++) {
        if (i < SPINS)
            continue; /* it takes a microsecond or two */
        if (i == SPINS + NAPS || atomic_load_explicit(&stuck, memory_order_relaxed)) {
            atomic_store_explicit(&stuck, true, memory_order_relaxed);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    atomic_store_explicit(&stuck, false, memory_order_relaxed);
    return true;
}

static jint read_frames(jvmtiFrameInfo *frames, jint most, bool waits)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    bool turns = needs_turn();
    jint n = 0;
    if (turns && !(waits ? take_turn() : pthread_mutex_trylock(&turn) == 0))
        return -1;
    jvmtiError err = (*jvmti)->GetStackTrace(jvmti, NULL, 0, most, frames, &n);
    if (turns)
        pthread_mutex_unlock(&turn);
    return err == JVMTI_ERROR_NONE ? n : -1;
}

jint bbf_frames_here(jvmtiFrameInfo *frames, jint most)
{
    return read_frames(frames, most, true);
}

jint bbf_frames_at_once(jvmtiFrameInfo *frames, jint most)
{
    return read_frames(frames, most, false);
}

jvmtiError bbf_frames_of_class(jclass type, jint *n, jmethodID **methods)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    bool ours = needs_turn() && take_turn();
    jvmtiError err = (*jvmti)->GetClassMethods(jvmti, type, n, methods);
    if (ours)
        pthread_mutex_unlock(&turn);
    return err;
}
