/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/loaded.h"

#include <string.h>

#include "agent/classes/archive.h"
#include "agent/classes/code_hook.h"
#include "agent/classes/custom_types.h"
#include "agent/classes/field_hook.h"
#include "agent/classes/late_classes.h"
#include "agent/classes/nettys.h"
#include "agent/classes/rewritten_classes.h"
#include "agent/jvm/frames.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/sites.h"
#include "agent/state.h"
#include "core/log.h"

enum { BATCH = 64, MAX_LOCALS = 65536 };

static void retransform(JNIEnv *env, jclass *classes, jint n, struct bbf_retransformed *result)
{
    if (n == 0 || (*bbf_agent.code)->RetransformClasses(bbf_agent.code, n, classes) == 0)
        return;
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    /* One of them failed: retransform the others one by one. */
    for (jint i = 0; i < n; i++)
        if (n == 1 || (*bbf_agent.code)->RetransformClasses(bbf_agent.code, 1, &classes[i]) != 0) {
            result->failed++;
            atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        }
}

/* One pass over the loaded classes: from the old rules to the new ones. */
struct pass {
    const struct bbf_rules *before, *now; /* NULL: none */
    uint64_t since_ns;                    /* back, if they were changed as they loaded since */
};

/* Has a loaded class anything that we hook? The same answer as bbf_plan_inspect() gives. */
static bool has_hooks(const struct bbf_plan_class *plan, jvmtiEnv *jvmti, jclass class)
{
    jmethodID *methods = NULL;
    jint n = 0;
    bool found = bbf_plan_has_hooks(plan);
    if (found || bbf_frames_of_class(class, &n, &methods) != 0)
        return found;
    for (jint i = 0; i < n && !found; i++)
        found = bbf_custom_types_closes(jvmti, plan->tracks, methods[i]) != 0;
    bbf_jvm_free(methods);
    return found;
}

static bool has_other_tracks(const struct bbf_rules *before, const struct bbf_rules *now)
{
    const char *a = before->options.track, *b = now->options.track;
    return a == NULL || b == NULL ? a != b : strcmp(a, b) != 0;
}

/* Must the class be retransformed, and does it get or lose hooks? */
static bool concerns(jclass class, const char *name, const struct pass *pass,
                     struct bbf_retransformed *result)
{
    const struct bbf_rules *before = pass->before, *now = pass->now;
    struct bbf_plan_class plan;
    size_t len = strlen(name);
    if (now != NULL)
        bbf_nettys_wake_for(name, now, before != NULL);
    if (now == NULL) {
        bool ours = bbf_rewritten_classes_has(name, pass->since_ns) &&
                    bbf_plan_class(&plan, name, len, before, &bbf_agent_sites);
        result->put_back += ours;
        return ours;
    }
    if (before != NULL && before->options.refs != now->options.refs &&
        bbf_plan_is_refcount_class(name, len))
        return true;
    if (before != NULL && before->options.context != now->options.context &&
        bbf_plan_is_of_context(name, len))
        return true;
    if (before != NULL && before->options.scopes != now->options.scopes &&
        bbf_plan_is_of_scopes(name, len))
        return true;
    bool was = before != NULL && bbf_plan_is_followed(name, len, before);
    bool is = bbf_plan_is_followed(name, len, now);
    bool tracks = before != NULL && has_other_tracks(before, now);
    if ((before == NULL || tracks) && !is) /* at start: Netty's own hooks too */
        return bbf_plan_class(&plan, name, len, now, &bbf_agent_sites) &&
               has_hooks(&plan, bbf_agent.code, class);
    if (was && is && !tracks && before != NULL &&
        before->options.objects_everywhere == now->options.objects_everywhere &&
        before->options.context == now->options.context &&
        (bbf_patterns_match(before->options.constructors, name, len) > 0) ==
            (bbf_patterns_match(now->options.constructors, name, len) > 0))
        return false;
    was = was && bbf_rewritten_classes_has(name, 0);
    result->rewritten += is;
    result->put_back += was && !is;
    return was || is;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len > n && strcmp(text + len - n, end) == 0;
}

/* *prefix as of bbf_nettys_is_bytebuf(). */
static bool is_bytebuf(const char *name, size_t *prefix)
{
    return name != NULL && ends_with(name, "/buffer/ByteBuf") &&
           bbf_nettys_is_bytebuf(name, prefix);
}

static void see_bytebuf(JNIEnv *env, void *found, jclass class, const char *name)
{
    size_t prefix;
    (void)env;
    (void)class;
    *(bool *)found = *(bool *)found || is_bytebuf(name, &prefix);
}

bool bbf_loaded_has_bytebuf(JNIEnv *env)
{
    bool found = false;
    bbf_names_each_class(env, &found, see_bytebuf);
    return found;
}

/* Remember a ByteBuf that was loaded without the field, and why it has none. */
static void find_bytebuf(jvmtiEnv *jvmti, jclass class)
{
    char *name = bbf_names_of(class);
    size_t prefix;
    if (is_bytebuf(name, &prefix) && !bbf_field_hook_has_field(jvmti, class, name, prefix)) {
        bbf_nettys_set_fieldless();
        if (!bbf_nettys_is_known_without(name, prefix))
            bbf_nettys_remember(name, prefix, false,
                                bbf_archive_why_before(jvmti, class, bbf_agent.attached));
    }
    bbf_jvm_free(name);
}

void JNICALL bbf_loaded_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
    (void)thread;
    find_bytebuf(jvmti, class);
    bbf_late_classes_prepare(jvmti, env, class);
}

/* Must any class be retransformed? */
static bool is_candidate(JNIEnv *env, jclass class, const struct pass *pass,
                         struct bbf_retransformed *result)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jobject loader = NULL;
    jboolean modifiable = JNI_FALSE;
    char *name = bbf_names_of(class);
    bool is = name != NULL && (*jvmti)->GetClassLoader(jvmti, class, &loader) == 0 &&
              bbf_code_hook_takes(loader, name) &&
              (*jvmti)->IsModifiableClass(jvmti, class, &modifiable) == 0 && modifiable &&
              concerns(class, name, pass, result);
    if (loader != NULL)
        (*env)->DeleteLocalRef(env, loader);
    bbf_jvm_free(name);
    return is;
}

/* False, and no local frame: no memory. */
static bool get_loaded(JNIEnv *env, jclass **loaded, jint *n)
{
    /* GetLoadedClasses makes a local reference for each; -Xcheck:jni wants room asked for. */
    if ((*env)->PushLocalFrame(env, MAX_LOCALS) != 0) {
        (*env)->ExceptionClear(env);
        return false;
    }
    if ((*bbf_agent.code)->GetLoadedClasses(bbf_agent.code, n, loaded) == 0)
        return true;
    (void)(*env)->PopLocalFrame(env, NULL);
    return false;
}

static struct bbf_retransformed pass_over(JNIEnv *env, const struct pass *pass)
{
    const struct bbf_rules *before = pass->before, *now = pass->now;
    struct bbf_retransformed result = {0, 0, 0};
    jclass *loaded = NULL, batch[BATCH];
    jint n = 0, queued = 0;
    if (!get_loaded(env, &loaded, &n)) {
        bbf_log(BBF_LOG_ERROR, "no memory to look at the loaded classes: none was changed");
        atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        result.failed = 1;
        return result;
    }
    /* Before a class is retransformed: its steps read the field unless FIELDLESS is set. */
    for (jint i = 0; before == NULL && i < n; i++)
        find_bytebuf(bbf_agent.code, loaded[i]);
    if (now != NULL && bbf_nettys_are_idle() &&
        (now->options.include == NULL || now->options.track != NULL))
        bbf_nettys_wake(before != NULL);
    for (jint i = 0; i < n; i++) {
        if (is_candidate(env, loaded[i], pass, &result))
            batch[queued++] = loaded[i];
        if (queued == BATCH) {
            retransform(env, batch, queued, &result);
            queued = 0;
        }
    }
    retransform(env, batch, queued, &result);
    bbf_jvm_free(loaded);
    (void)(*env)->PopLocalFrame(env, NULL);
    return result;
}

struct bbf_retransformed bbf_loaded_apply(JNIEnv *env, const struct bbf_rules *before,
                                          const struct bbf_rules *now)
{
    return pass_over(env, &(struct pass){.before = before, .now = now});
}

struct bbf_retransformed bbf_loaded_put_back(JNIEnv *env, const struct bbf_rules *rules,
                                             uint64_t since_ns)
{
    return pass_over(env, &(struct pass){.before = rules, .since_ns = since_ns});
}
