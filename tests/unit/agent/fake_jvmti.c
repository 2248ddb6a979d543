/* tests/unit/agent/fake_jvmti.c - the JVMTI functions that the agent calls, and the JavaVM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/agent/fake_inner.h"

/* Count, check, fail: what each function that can fail begins with. */
#define BEGIN(name)                                                                                \
    do {                                                                                           \
        (void)jvmti;                                                                               \
        fake_enter_jvmti(T_##name);                                                                \
        const jvmtiError err = fake_fails(T_##name);                                               \
        if (err != JVMTI_ERROR_NONE)                                                               \
            return err;                                                                            \
    } while (0)

#define OK JVMTI_ERROR_NONE

/* Never NULL, not even for nothing: what it gives has to be given back. */
static void *memory(size_t size)
{
    void *p = calloc(1, size > 0 ? size : 1);
    if (p == NULL)
        abort();
    atomic_fetch_add_explicit(&fake.allocated, 1, memory_order_relaxed);
    return p;
}

static char *text(const char *from)
{
    return from == NULL ? NULL : strcpy(memory(strlen(from) + 1), from);
}

static jobject local(struct fake_object *o)
{
    return fake_new_ref(FAKE_LOCAL, o, false);
}

static jvmtiError JNICALL do_Allocate(jvmtiEnv *jvmti, jlong size, unsigned char **out)
{
    BEGIN(Allocate);
    *out = size == 0 ? NULL : memory((size_t)size);
    return OK;
}

static jvmtiError JNICALL do_Deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
    (void)jvmti;
    fake_enter_jvmti(T_Deallocate);
    if (memory != NULL)
        atomic_fetch_sub_explicit(&fake.allocated, 1, memory_order_relaxed);
    free(memory);
    return OK;
}

/* ---- classes ---- */

static jvmtiError JNICALL do_GetClassSignature(jvmtiEnv *jvmti, jclass class, char **signature,
                                               char **generic)
{
    BEGIN(GetClassSignature);
    struct fake_class *c = fake_use_class(class);
    char whole[600];
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    snprintf(whole, sizeof whole, c->name[0] == '[' ? "%s" : "L%s;", c->name);
    if (signature != NULL)
        *signature = text(whole);
    if (generic != NULL)
        *generic = NULL;
    return OK;
}

/* Few numbers, so that objects share one. */
static jvmtiError JNICALL do_GetObjectHashCode(jvmtiEnv *jvmti, jobject o, jint *hash)
{
    BEGIN(GetObjectHashCode);
    *hash = (jint)((uintptr_t)fake_use(o, false) >> 4 & 7);
    return OK;
}

static jvmtiError JNICALL do_GetClassStatus(jvmtiEnv *jvmti, jclass class, jint *status)
{
    BEGIN(GetClassStatus);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    *status = c->status;
    return OK;
}

static jvmtiError JNICALL do_GetClassLoader(jvmtiEnv *jvmti, jclass class, jobject *loader)
{
    BEGIN(GetClassLoader);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    *loader = local(c->loader);
    return OK;
}

static jvmtiError JNICALL do_IsModifiableClass(jvmtiEnv *jvmti, jclass class, jboolean *is)
{
    BEGIN(IsModifiableClass);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    *is = !c->unmodifiable;
    return OK;
}

static jvmtiError JNICALL do_GetConstantPool(jvmtiEnv *jvmti, jclass class, jint *count, jint *len,
                                             unsigned char **bytes)
{
    BEGIN(GetConstantPool);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    *count = (jint)c->pool_len + 1; /* at most */
    *len = (jint)c->pool_len;
    *bytes = memory(c->pool_len);
    if (c->pool_len > 0)
        memcpy(*bytes, c->pool, c->pool_len);
    return OK;
}

static jvmtiError JNICALL do_GetLoadedClasses(jvmtiEnv *jvmti, jint *n, jclass **classes)
{
    jint i = 0;
    BEGIN(GetLoadedClasses);
    for (struct fake_class *c = fake.classes; c != NULL; c = c->next)
        i++;
    *n = i;
    *classes = memory((size_t)i * sizeof **classes);
    for (struct fake_class *c = fake.classes; c != NULL; c = c->next)
        (*classes)[--i] = local(c->mirror); /* in the order in which they were made */
    return OK;
}

static jvmtiError JNICALL do_GetImplementedInterfaces(jvmtiEnv *jvmti, jclass class, jint *n,
                                                      jclass **interfaces)
{
    BEGIN(GetImplementedInterfaces);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    if (!fake_is_prepared(c))
        return JVMTI_ERROR_CLASS_NOT_PREPARED;
    *n = (jint)c->n_interfaces;
    *interfaces = memory(c->n_interfaces * sizeof **interfaces);
    for (size_t i = 0; i < c->n_interfaces; i++)
        (*interfaces)[i] = local(c->interfaces[i]->mirror);
    return OK;
}

static jvmtiError JNICALL do_RetransformClasses(jvmtiEnv *jvmti, jint n, const jclass *classes)
{
    BEGIN(RetransformClasses);
    for (jint i = 0; i < n; i++) {
        struct fake_class *c = fake_use_class(classes[i]);
        if (c == NULL || c->unmodifiable || c->not_retransformable)
            return JVMTI_ERROR_UNMODIFIABLE_CLASS;
    }
    return OK;
}

/* ---- fields and methods ---- */

static jvmtiError JNICALL do_GetClassFields(jvmtiEnv *jvmti, jclass class, jint *n, jfieldID **ids)
{
    jint i = 0;
    BEGIN(GetClassFields);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    if (!fake_is_prepared(c))
        return JVMTI_ERROR_CLASS_NOT_PREPARED;
    for (struct fake_field *f = c->fields; f != NULL; f = f->next)
        i++;
    *n = i;
    *ids = memory((size_t)i * sizeof **ids);
    i = 0;
    for (struct fake_field *f = c->fields; f != NULL; f = f->next)
        (*ids)[i++] = (jfieldID)(void *)f;
    return OK;
}

static bool is_of(jclass class, const struct fake_class *owner)
{
    struct fake_class *c = fake_use_class(class);
    if (c != owner)
        fake_complain("a field of %s is asked of %s", owner->name, c != NULL ? c->name : "null");
    return c == owner;
}

static jvmtiError JNICALL do_GetFieldName(jvmtiEnv *jvmti, jclass class, jfieldID id, char **name,
                                          char **descriptor, char **generic)
{
    BEGIN(GetFieldName);
    const struct fake_field *f = (const void *)id;
    if (!is_of(class, f->owner))
        return JVMTI_ERROR_INVALID_FIELDID;
    if (name != NULL)
        *name = text(f->name);
    if (descriptor != NULL)
        *descriptor = text(f->descriptor);
    if (generic != NULL)
        *generic = NULL;
    return OK;
}

static jvmtiError JNICALL do_GetFieldModifiers(jvmtiEnv *jvmti, jclass class, jfieldID id,
                                               jint *modifiers)
{
    BEGIN(GetFieldModifiers);
    const struct fake_field *f = (const void *)id;
    if (!is_of(class, f->owner))
        return JVMTI_ERROR_INVALID_FIELDID;
    *modifiers = f->modifiers;
    return OK;
}

static jvmtiError JNICALL do_GetClassMethods(jvmtiEnv *jvmti, jclass class, jint *n,
                                             jmethodID **ids)
{
    jint i = 0;
    BEGIN(GetClassMethods);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return JVMTI_ERROR_INVALID_CLASS;
    if (!fake_is_prepared(c))
        return JVMTI_ERROR_CLASS_NOT_PREPARED;
    for (struct fake_method *m = c->methods; m != NULL; m = m->next)
        i++;
    *n = i;
    *ids = memory((size_t)i * sizeof **ids);
    i = 0;
    for (struct fake_method *m = c->methods; m != NULL; m = m->next)
        (*ids)[i++] = fake_method_id(m);
    return OK;
}

static jvmtiError JNICALL do_GetMethodName(jvmtiEnv *jvmti, jmethodID id, char **name,
                                           char **descriptor, char **generic)
{
    BEGIN(GetMethodName);
    const struct fake_method *m = (const void *)id;
    if (name != NULL)
        *name = text(m->name);
    if (descriptor != NULL)
        *descriptor = text(m->descriptor);
    if (generic != NULL)
        *generic = NULL;
    return OK;
}

static jvmtiError JNICALL do_GetMethodModifiers(jvmtiEnv *jvmti, jmethodID id, jint *modifiers)
{
    BEGIN(GetMethodModifiers);
    *modifiers = ((const struct fake_method *)(const void *)id)->modifiers;
    return OK;
}

static jvmtiError JNICALL do_GetMethodDeclaringClass(jvmtiEnv *jvmti, jmethodID id, jclass *class)
{
    BEGIN(GetMethodDeclaringClass);
    *class = local(((const struct fake_method *)(const void *)id)->owner->mirror);
    return OK;
}

static jvmtiError JNICALL do_GetBytecodes(jvmtiEnv *jvmti, jmethodID id, jint *len,
                                          unsigned char **bytes)
{
    BEGIN(GetBytecodes);
    const struct fake_method *m = (const void *)id;
    if (m->code == NULL)
        return JVMTI_ERROR_NATIVE_METHOD;
    *len = (jint)m->len;
    *bytes = memory(m->len);
    memcpy(*bytes, m->code, m->len);
    return OK;
}

/* ---- threads ---- */

static jvmtiError JNICALL do_GetStackTrace(jvmtiEnv *jvmti, jthread thread, jint start, jint most,
                                           jvmtiFrameInfo *frames, jint *n)
{
    BEGIN(GetStackTrace);
    const struct fake_thread_env *e = fake_this();
    if (thread != NULL || start != 0)
        fake_complain("GetStackTrace of another thread, or of a part, is not implemented");
    *n = 0;
    for (size_t i = 0; i < e->n_stack && *n < most; i++)
        frames[(*n)++] = (jvmtiFrameInfo){.method = e->stack[i], .location = 0};
    return OK;
}

static jvmtiError JNICALL do_GetThreadInfo(jvmtiEnv *jvmti, jthread thread, jvmtiThreadInfo *info)
{
    BEGIN(GetThreadInfo);
    struct fake_object *o = fake_use(thread, false);
    if (o == NULL)
        return JVMTI_ERROR_INVALID_THREAD;
    *info = (jvmtiThreadInfo){.name = text(o->text),
                              .priority = 5,
                              .thread_group = local(fake.group),
                              .context_class_loader = NULL};
    return OK;
}

static jvmtiError JNICALL do_GetAllThreads(jvmtiEnv *jvmti, jint *n, jthread **threads)
{
    BEGIN(GetAllThreads);
    *n = (jint)fake.n_threads;
    *threads = memory(fake.n_threads * sizeof **threads);
    for (size_t i = 0; i < fake.n_threads; i++)
        (*threads)[i] = local(fake.threads[i]);
    return OK;
}

static jvmtiError JNICALL do_GetTopThreadGroups(jvmtiEnv *jvmti, jint *n, jthreadGroup **groups)
{
    BEGIN(GetTopThreadGroups);
    *n = 1;
    *groups = memory(sizeof **groups);
    **groups = local(fake.group);
    return OK;
}

/* ---- the JVM ---- */

static jvmtiError JNICALL do_GetSystemProperty(jvmtiEnv *jvmti, const char *name, char **value)
{
    BEGIN(GetSystemProperty);
    for (size_t i = 0; i < fake.n_properties; i++)
        if (strcmp(fake.properties[i].name, name) == 0) {
            *value = text(fake.properties[i].value);
            return OK;
        }
    return JVMTI_ERROR_NOT_AVAILABLE;
}

static jvmtiError JNICALL do_ForceGarbageCollection(jvmtiEnv *jvmti)
{
    BEGIN(ForceGarbageCollection);
    return OK;
}

static jvmtiError JNICALL do_SetEventNotificationMode(jvmtiEnv *jvmti, jvmtiEventMode mode,
                                                      jvmtiEvent event, jthread thread, ...)
{
    BEGIN(SetEventNotificationMode);
    (void)mode;
    (void)event;
    (void)fake_use(thread, true);
    return OK;
}

static jint JNICALL vm_AttachCurrentThreadAsDaemon(JavaVM *vm, void **env, void *args)
{
    (void)vm;
    (void)args;
    if (fake_fails(J_GetVersion)) /* by this name, as the invocation interface has no list */
        return JNI_ERR;
    *env = fake_env();
    return JNI_OK;
}

static jint JNICALL vm_DetachCurrentThread(JavaVM *vm)
{
    (void)vm;
    return JNI_OK;
}

static jint JNICALL vm_GetEnv(JavaVM *vm, void **env, jint version)
{
    (void)vm;
    (void)version;
    *env = fake_env();
    return JNI_OK;
}

JavaVM *fake_vm(void)
{
    static const struct JNIInvokeInterface_ table = {
        .AttachCurrentThreadAsDaemon = vm_AttachCurrentThreadAsDaemon,
        .DetachCurrentThread = vm_DetachCurrentThread,
        .GetEnv = vm_GetEnv,
    };
    static const struct JNIInvokeInterface_ *vm = &table;
    return (JavaVM *)&vm;
}

static void __attribute__((noreturn)) abort_with(const char *name)
{
    fprintf(stderr, "fake JVM: %s is not implemented\n", name);
    abort();
}

#define XX(name)                                                                                   \
    static void lacks_##name(void)                                                                 \
    {                                                                                              \
        abort_with(#name);                                                                         \
    }
FAKE_JVMTI_FUNCTIONS(XX)
#undef XX

const struct jvmtiInterface_1_ *fake_jvmti_table(void)
{
    static struct jvmtiInterface_1_ table;
#define XX(name) table.name = (void *)lacks_##name;
    FAKE_JVMTI_FUNCTIONS(XX)
#undef XX
#define XX(name) table.name = do_##name;
    XX(Allocate)
    XX(Deallocate)
    XX(GetClassSignature) XX(GetClassStatus) XX(GetObjectHashCode) XX(GetClassLoader);
    XX(IsModifiableClass) XX(GetConstantPool) XX(GetLoadedClasses) XX(GetImplementedInterfaces);
    XX(RetransformClasses) XX(GetClassFields) XX(GetFieldName) XX(GetFieldModifiers);
    XX(GetClassMethods) XX(GetMethodName) XX(GetMethodModifiers) XX(GetMethodDeclaringClass);
    XX(GetBytecodes) XX(GetStackTrace) XX(GetThreadInfo) XX(GetAllThreads) XX(GetTopThreadGroups);
    XX(GetSystemProperty) XX(ForceGarbageCollection) XX(SetEventNotificationMode);
#undef XX
    return &table;
}
