/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/suggestions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/state.h"
#include "core/nearest.h"

enum { KEEP = 3, MAX_PACKAGE = 200, MAX_LOCALS = 65536 };

struct candidate {
    char name[MAX_PACKAGE]; /* dotted */
    size_t distance;
};

static void clear_exception(JNIEnv *env)
{
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
}

static bool is_jdk(const char *name)
{
    static const char *const jdk[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
    for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++)
        if (strncmp(name, jdk[i], strlen(jdk[i])) == 0)
            return true;
    return false;
}

/* Edit distance to the nearest pattern; a common beginning counts more than letters. */
static size_t distance_of(const char *name, const struct bbf_patterns *include)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < bbf_patterns_count(include); i++) {
        const char *pattern = bbf_patterns_get(include, i);
        size_t common = 0;
        while (name[common] != '\0' && name[common] == pattern[common])
            common++;
        size_t d = 4 * bbf_edit_distance(name, strlen(name), pattern, strlen(pattern));
        d -= common < d ? common : d;
        best = d < best ? d : best;
    }
    return best;
}

static void offer(struct candidate *best, const char *name, size_t distance)
{
    for (int i = 0; i < KEEP; i++)
        if (strcmp(best[i].name, name) == 0)
            return;
    for (int i = 0; i < KEEP; i++)
        if (best[i].name[0] == '\0' || distance < best[i].distance ||
            (distance == best[i].distance && strcmp(name, best[i].name) < 0)) {
            memmove(&best[i + 1], &best[i], (size_t)(KEEP - 1 - i) * sizeof *best);
            snprintf(best[i].name, MAX_PACKAGE, "%s", name);
            best[i].distance = distance;
            return;
        }
}

/* Package of a class signature "Lcom/app/Main;", dotted; false for the default package or arrays.
 */
static bool package_of(const char *signature, char *out)
{
    const char *slash = strrchr(signature, '/');
    if (signature[0] != 'L' || slash == NULL || (size_t)(slash - signature) > MAX_PACKAGE - 1)
        return false;
    size_t len = (size_t)(slash - signature) - 1;
    for (size_t i = 0; i < len; i++)
        out[i] = signature[1 + i] == '/' ? '.' : signature[1 + i];
    out[len] = '\0';
    strcat(out, "."); /* so that "java." matches the package java.x */
    bool jdk = is_jdk(out);
    out[len] = '\0';
    return !jdk;
}

void bbf_nearby_each_class(JNIEnv *env, void *ctx,
                           void (*visit)(JNIEnv *env, void *ctx, jclass class,
                                         const char *signature))
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass *loaded = NULL;
    jint n = 0;
    if ((*env)->PushLocalFrame(env, MAX_LOCALS) != 0) {
        clear_exception(env);
        return;
    }
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &loaded) != 0)
        n = 0;
    for (jint i = 0; i < n; i++) {
        char *signature = NULL;
        if ((*jvmti)->GetClassSignature(jvmti, loaded[i], &signature, NULL) != 0)
            continue;
        visit(env, ctx, loaded[i], signature);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)loaded);
    (void)(*env)->PopLocalFrame(env, NULL);
}

struct nearest {
    const struct bbf_patterns *include;
    struct candidate best[KEEP];
};

static void visit_package(JNIEnv *env, void *ctx, jclass class, const char *signature)
{
    struct nearest *nearest = ctx;
    char name[MAX_PACKAGE];
    (void)env;
    (void)class;
    if (package_of(signature, name))
        offer(nearest->best, name,
              nearest->include != NULL ? distance_of(name, nearest->include) : 0);
}

void bbf_suggest_packages(JNIEnv *env, const struct bbf_patterns *include, struct bbf_buf *out)
{
    struct nearest nearest = {.include = include};
    bbf_nearby_each_class(env, &nearest, visit_package);
    for (int i = 0; i < KEEP && nearest.best[i].name[0] != '\0'; i++)
        bbf_buf_printf(out, "%s%s", i == 0 ? "; nearest loaded packages: " : ", ",
                       nearest.best[i].name);
}

/* ---- the version of a Netty, from the name of its jar ---- */

static jobject call(JNIEnv *env, jobject o, const char *class_name, const char *method,
                    const char *descriptor)
{
    if (o == NULL)
        return NULL;
    jclass class = (*env)->FindClass(env, class_name);
    jmethodID id = class == NULL ? NULL : (*env)->GetMethodID(env, class, method, descriptor);
    jobject result = id == NULL ? NULL : (*env)->CallObjectMethod(env, o, id);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        result = NULL;
    }
    return result;
}

static void version_in(const char *location, char *out, size_t size)
{
    /* …/netty-buffer-4.1.140.Final.jar: from the last '-' that a digit follows to ".jar" */
    const char *end = strstr(location, ".jar"), *from = NULL;
    for (const char *p = location; end != NULL && p < end; p++)
        if (*p == '-' && p[1] >= '0' && p[1] <= '9')
            from = p + 1;
    if (from != NULL)
        snprintf(out, size, "%.*s", (int)(end - from), from);
}

static void version_of(JNIEnv *env, jclass class, char *out, size_t size)
{
    if ((*env)->PushLocalFrame(env, 16) != 0) {
        clear_exception(env);
        return;
    }
    jobject domain = call(env, class, "java/lang/Class", "getProtectionDomain",
                          "()Ljava/security/ProtectionDomain;");
    jobject source = call(env, domain, "java/security/ProtectionDomain", "getCodeSource",
                          "()Ljava/security/CodeSource;");
    jobject url = call(env, source, "java/security/CodeSource", "getLocation", "()Ljava/net/URL;");
    jstring file = call(env, url, "java/net/URL", "getPath", "()Ljava/lang/String;");
    const char *text = file == NULL ? NULL : (*env)->GetStringUTFChars(env, file, NULL);
    if (text != NULL) {
        version_in(text, out, size);
        (*env)->ReleaseStringUTFChars(env, file, text);
    }
    clear_exception(env);
    (*env)->PopLocalFrame(env, NULL);
}

struct wanted {
    char signature[BBF_MAX_PREFIX + 32];
    char *out;
    size_t size;
};

static void visit_bytebuf(JNIEnv *env, void *ctx, jclass class, const char *signature)
{
    struct wanted *wanted = ctx;
    if (strcmp(signature, wanted->signature) == 0)
        version_of(env, class, wanted->out, wanted->size);
}

void bbf_nearby_netty_version(JNIEnv *env, const char *prefix, char *out, size_t size)
{
    struct wanted wanted = {.out = out, .size = size};
    snprintf(out, size, "unknown");
    snprintf(wanted.signature, sizeof wanted.signature, "L%s.buffer.ByteBuf;", prefix);
    for (char *p = wanted.signature; *p != '\0'; p++)
        *p = *p == '.' ? '/' : *p;
    bbf_nearby_each_class(env, &wanted, visit_bytebuf);
}
