/*
 * Another native agent on the same classes. Options, any of them, in any order: "bytes" (the hook
 * returns a copy of what it got, else nothing), "retransform" (the environment is retransform-
 * capable, else its hook sees loads and redefinitions only), "all" (can_generate_all_class_hook_
 * events), "early" (can_generate_early_class_hook_events, hook enabled at load).
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static jvmtiEnv *hook_env, *retransform_env;
static bool give_bytes;
static atomic_int loads, again;

static bool ours(const char *name)
{
    return strncmp(name, "io/netty/", 9) == 0 || strncmp(name, "com/app/", 8) == 0;
}

static void JNICALL hook(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                         const char *name, jobject domain, jint len, const unsigned char *bytes,
                         jint *new_len, unsigned char **new_bytes)
{
    (void)env;
    (void)loader;
    (void)domain;
    if (name == NULL || !ours(name))
        return;
    atomic_fetch_add(redefined == NULL ? &loads : &again, 1);
    if (give_bytes && (*jvmti)->Allocate(jvmti, len, new_bytes) == JVMTI_ERROR_NONE) {
        memcpy(*new_bytes, bytes, (size_t)len);
        *new_len = len;
    }
}

static int change(jclass class)
{
    char *name = NULL;
    jboolean may = JNI_FALSE;
    int result = 0; /* not one of ours */
    jvmtiEnv *jvmti = retransform_env;
    if ((*jvmti)->GetClassSignature(jvmti, class, &name, NULL) != JVMTI_ERROR_NONE)
        return -1;
    if (name[0] == 'L' && ours(name + 1) &&
        (*jvmti)->IsModifiableClass(jvmti, class, &may) == JVMTI_ERROR_NONE && may)
        result = (*jvmti)->RetransformClasses(jvmti, 1, &class) == JVMTI_ERROR_NONE ? 1 : -1;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    return result;
}

JNIEXPORT jstring JNICALL Java_com_agents_Native_retransform(JNIEnv *env, jclass self)
{
    jint n = 0;
    jclass *classes = NULL;
    int changed = 0, failed = 0;
    char text[200];
    (void)self;
    if ((*retransform_env)->GetLoadedClasses(retransform_env, &n, &classes) != JVMTI_ERROR_NONE)
        return (*env)->NewStringUTF(env, "no classes");
    for (jint i = 0; i < n; i++) {
        int result = change(classes[i]);
        changed += result > 0;
        failed += result < 0;
        (*env)->DeleteLocalRef(env, classes[i]);
    }
    (*retransform_env)->Deallocate(retransform_env, (unsigned char *)classes);
    /* The hook has seen none, or each; it may have seen those that failed. */
    int seen = atomic_exchange(&again, 0);
    const char *word = seen == 0                                     ? "none"
                       : seen >= changed && seen <= changed + failed ? "all"
                                                                     : "some";
    snprintf(text, sizeof text, "changed=%s failed=%d seen=%s", changed > 200 ? "all" : "few",
             failed, word);
    return (*env)->NewStringUTF(env, text);
}

JNIEXPORT jint JNICALL Java_com_agents_Native_loads(JNIEnv *env, jclass self)
{
    (void)env;
    (void)self;
    return atomic_load(&loads);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities can = {0}, retransform = {.can_retransform_classes = 1};
    jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = hook};
    (void)reserved;
    give_bytes = strstr(options, "bytes") != NULL;
    can.can_retransform_classes = strstr(options, "retransform") != NULL;
    can.can_generate_all_class_hook_events = strstr(options, "all") != NULL;
    can.can_generate_early_class_hook_events = strstr(options, "early") != NULL;
    if ((*vm)->GetEnv(vm, (void **)&hook_env, JVMTI_VERSION_11) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **)&retransform_env, JVMTI_VERSION_11) != JNI_OK ||
        (*hook_env)->AddCapabilities(hook_env, &can) != JVMTI_ERROR_NONE ||
        (*retransform_env)->AddCapabilities(retransform_env, &retransform) != JVMTI_ERROR_NONE ||
        (*hook_env)->SetEventCallbacks(hook_env, &callbacks, sizeof callbacks) !=
            JVMTI_ERROR_NONE ||
        (*hook_env)->SetEventNotificationMode(
            hook_env, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    return JNI_OK;
}
