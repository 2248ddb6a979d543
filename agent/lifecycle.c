/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/lifecycle.h"

#include "agent/attach.h"
#include "agent/boot/shim.h"
#include "agent/classes/code_hook.h"
#include "agent/classes/loaded.h"
#include "agent/commands/endpoint.h"
#include "agent/exit.h"
#include "agent/jvm/environment.h"
#include "agent/jvm/flags.h"
#include "agent/jvm/threads.h"
#include "agent/jvm/tool.h"
#include "agent/lttng.h"
#include "agent/metrics_server.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "trie/switches.h"
#include "trie/windows.h"

void bbf_lifecycle_begin(JNIEnv *env)
{
    if (bbf_jvm_is_jdk_tool())
        return;
    if (bbf_windows_are_used(bbf_agent.tracker) && !bbf_jvm_verification_is_off() &&
        !bbf_loaded_has_bytebuf(env))
        bbf_windows_rely_on_fields(bbf_agent.tracker);
    if (bbf_shim_define(env) != BBF_OK)
        return;
    atomic_store(&bbf_agent.phase, BBF_PHASE_ATTACHING);
    if (!bbf_attach_hooks(env, false))
        return;
    if (bbf_thread_start() != BBF_OK) {
        bbf_agent_disable("the agent thread cannot be started");
        return;
    }
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    bbf_endpoint_start(env);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    (void)thread;
    bbf_lifecycle_begin(env);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    (void)env;
    if (atomic_exchange(&bbf_agent.dying, true))
        return;
    bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    bbf_environment_enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    bbf_exit_write();
    bbf_exit_record();
    bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, false);
    bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, false);
    bbf_endpoint_stop(NULL, 50);
    bbf_thread_leave(50);
    bbf_metrics_server_stop(50);
    bbf_tracing_stop();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    uint64_t tid = (uint64_t)(*env)->GetLongField(env, thread, bbf_agent.tid);
    if (bbf_stripe_retire(bbf_agent.tracker, tid))
        bbf_threads_ended(thread, tid);
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    bbf_thread_gc_finished(!bbf_tracker_is_idle(bbf_agent.tracker));
}

/* ---- install ---- */

int bbf_lifecycle_install(bool vm_init_comes)
{
    /* Never: early hook, method, exception, breakpoint or tag capabilities (design.md: rewriting).
     */
    const jvmtiCapabilities capabilities = {
        .can_generate_all_class_hook_events = 1,
        .can_retransform_classes = 1,
        .can_generate_garbage_collection_events = 1,
        .can_get_bytecodes = 1,    /* of a few release(): see agent/classes/kinds.c */
        .can_get_constant_pool = 1 /* is a class hooked? see agent/classes/late_classes.c */
    };
    const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = bbf_code_hook,
                                           .VMInit = on_vm_init,
                                           .VMDeath = on_vm_death,
                                           .ThreadEnd = on_thread_end,
                                           .ClassPrepare = bbf_loaded_prepare,
                                           .GarbageCollectionFinish = on_gc_finish};
    int err = bbf_environment_create(&bbf_agent.code, &capabilities, &callbacks);
    if (err == BBF_OK &&
        ((vm_init_comes && !bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_VM_INIT, true)) ||
         !bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_VM_DEATH, true)))
        err = BBF_EREFUSED;
    return err;
}

void bbf_lifecycle_uninstall(void)
{
    bbf_environment_dispose(&bbf_agent.code);
    bbf_environment_dispose(&bbf_agent.field);
}
