/*
 * tests/bench/retransform.c - an attachable agent that has all loaded classes of some packages
 * retransformed once, changes nothing, and goes: what a retransformation costs by itself, beside
 * `bbflow stop`. Options: prefixes as in class signatures ("Lio/netty/:Lcom/app/").
 */
#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved);

static int is_wanted(jvmtiEnv *jvmti, jclass class, const char *text)
{
    char *signature = NULL, *save = NULL, *options = strdup(text);
    jboolean modifiable = JNI_FALSE;
    int found = 0;
    if (options != NULL && (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == 0 &&
        (*jvmti)->IsModifiableClass(jvmti, class, &modifiable) == 0 && modifiable)
        for (char *p = strtok_r(options, ":", &save); p != NULL; p = strtok_r(NULL, ":", &save))
            found |= strncmp(signature, p, strlen(p)) == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    free(options);
    return found;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
    jvmtiEnv *jvmti = NULL;
    jvmtiCapabilities capabilities = {.can_retransform_classes = 1};
    jclass *classes = NULL;
    jint n = 0, wanted = 0;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (*jvmti)->AddCapabilities(jvmti, &capabilities) != 0 ||
        (*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != 0)
        return 1;
    for (jint i = 0; i < n; i++)
        if (is_wanted(jvmti, classes[i], text))
            classes[wanted++] = classes[i];
    jint done = 0;
    /* One of them may not link because another is missing: the others can, one by one. */
    if ((*jvmti)->RetransformClasses(jvmti, wanted, classes) == 0)
        done = wanted;
    else
        for (jint i = 0; i < wanted; i++)
            done += (*jvmti)->RetransformClasses(jvmti, 1, &classes[i]) == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    (*jvmti)->DisposeEnvironment(jvmti);
    return done > 0 ? 0 : 1;
}
