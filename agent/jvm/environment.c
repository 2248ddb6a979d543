/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/environment.h"

#include "agent/state.h"
#include "core/err.h"

int bbf_environment_create(jvmtiEnv **out, const jvmtiCapabilities *capabilities,
                           const jvmtiEventCallbacks *callbacks)
{
    if ((*bbf_agent.vm)->GetEnv(bbf_agent.vm, (void **)out, JVMTI_VERSION_11) != JNI_OK)
        return BBF_EVERSION;
    if ((**out)->AddCapabilities(*out, capabilities) != 0 ||
        (**out)->SetEventCallbacks(*out, callbacks, (jint)sizeof *callbacks) != 0)
        return BBF_EREFUSED;
    return BBF_OK;
}

void bbf_environment_dispose(jvmtiEnv **environment)
{
    if (*environment != NULL)
        (**environment)->DisposeEnvironment(*environment);
    *environment = NULL;
}

bool bbf_environment_enable(jvmtiEnv *environment, jvmtiEvent event, bool on)
{
    jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
    return environment != NULL &&
           (*environment)->SetEventNotificationMode(environment, mode, event, NULL) ==
               JVMTI_ERROR_NONE;
}
