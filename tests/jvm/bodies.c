/*
 * tests/jvm/bodies.c - an attachable agent that writes down what every method of the classes of
 * some packages is made of right now: one line "CLASS.METHODDESCRIPTOR LENGTH HASH" each, of the
 * bytecode in force (JVMTI GetBytecodes), unsorted. Options: FILE:PREFIX:PREFIX…, the
 * prefixes as in class signatures ("Lio/netty/"). tests/jvm/attach.py compares two of them.
 */
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved);

static int wanted(const char *signature, char **prefixes, int n)
{
    for (int i = 0; i < n; i++)
        if (strncmp(signature, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

static void write_method(jvmtiEnv *jvmti, jmethodID method, const char *signature, FILE *out)
{
    char *name = NULL, *descriptor = NULL;
    unsigned char *code = NULL;
    jint len = 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL) != 0)
        return;
    if ((*jvmti)->GetBytecodes(jvmti, method, &len, &code) == 0) {
        for (jint i = 0; i < len; i++)
            hash = (hash ^ code[i]) * UINT64_C(0x100000001b3);
        fprintf(out, "%s.%s%s %d %016llx\n", signature, name, descriptor, (int)len,
                (unsigned long long)hash);
    }
    (*jvmti)->Deallocate(jvmti, code);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
    jvmtiEnv *jvmti = NULL;
    char *prefixes[16], *save = NULL;
    jvmtiCapabilities capabilities = {.can_get_bytecodes = 1};
    jclass *classes = NULL;
    jint n = 0;
    int count = 0;
    (void)reserved;
    char *options = strdup(text);
    FILE *out = fopen(strtok_r(options, ":", &save), "we");
    for (char *p; count < 16 && (p = strtok_r(NULL, ":", &save)) != NULL;)
        prefixes[count++] = p;
    if (out == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (*jvmti)->AddCapabilities(jvmti, &capabilities) != 0 ||
        (*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != 0)
        return 1;
    for (jint i = 0; i < n; i++) {
        char *signature = NULL;
        jmethodID *methods = NULL;
        jint m = 0;
        if ((*jvmti)->GetClassSignature(jvmti, classes[i], &signature, NULL) != 0)
            continue;
        if (wanted(signature, prefixes, count) &&
            (*jvmti)->GetClassMethods(jvmti, classes[i], &m, &methods) == 0) {
            for (jint k = 0; k < m; k++)
                write_method(jvmti, methods[k], signature, out);
            (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    (*jvmti)->DisposeEnvironment(jvmti);
    free(options);
    return fclose(out) == 0 ? 0 : 1;
}
