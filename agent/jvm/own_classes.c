/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/own_classes.h"

/* new URLClassLoader(new URL[0], ClassLoader.getPlatformClassLoader()) */
static jobject make_loader(JNIEnv *env)
{
    jclass base = (*env)->FindClass(env, "java/lang/ClassLoader");
    jclass kind = base != NULL ? (*env)->FindClass(env, "java/net/URLClassLoader") : NULL;
    jclass url = kind != NULL ? (*env)->FindClass(env, "java/net/URL") : NULL;
    if (url == NULL)
        return NULL;
    jmethodID platform =
        (*env)->GetStaticMethodID(env, base, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
    jmethodID make =
        platform != NULL
            ? (*env)->GetMethodID(env, kind, "<init>", "([Ljava/net/URL;Ljava/lang/ClassLoader;)V")
            : NULL;
    if (make == NULL)
        return NULL;
    jobject parent = (*env)->CallStaticObjectMethod(env, base, platform);
    jobject urls = (*env)->ExceptionCheck(env) ? NULL : (*env)->NewObjectArray(env, 0, url, NULL);
    return urls != NULL ? (*env)->NewObject(env, kind, make, urls, parent) : NULL;
}

jclass bbf_own_classes_define(JNIEnv *env, const struct bbf_own_class *classes, size_t n,
                              bool (*bind)(JNIEnv *env, jclass first))
{
    jobject loader = make_loader(env);
    jclass class = NULL;
    for (size_t i = 0; loader != NULL && i < n; i++) {
        class = (*env)->DefineClass(env, classes[i].name, loader, (const jbyte *)classes[i].bytes,
                                    (jsize)*classes[i].len);
        if (class == NULL || (i == 0 && !bind(env, class)))
            return NULL;
    }
    return class;
}
