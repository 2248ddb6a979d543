/* tests/unit/agent/fake_jni.c - the JNI functions that the agent calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/agent/fake_inner.h"

#define RELAXED memory_order_relaxed

static struct fake_object *object_in(const _Atomic uint64_t *word)
{
    return (struct fake_object *)(uintptr_t)atomic_load_explicit(word, RELAXED);
}

static jobject local(struct fake_object *o)
{
    return fake_new_ref(FAKE_LOCAL, o, false);
}

/* ---- exceptions and frames ---- */

static jboolean JNICALL do_ExceptionCheck(JNIEnv *env)
{
    return fake_enter_jni(env, J_ExceptionCheck)->pending[0] != '\0';
}

static void JNICALL do_ExceptionClear(JNIEnv *env)
{
    fake_enter_jni(env, J_ExceptionClear)->pending[0] = '\0';
}

static void JNICALL do_ExceptionDescribe(JNIEnv *env)
{
    fake_enter_jni(env, J_ExceptionDescribe)->pending[0] = '\0';
}

static jint JNICALL do_PushLocalFrame(JNIEnv *env, jint capacity)
{
    struct fake_thread_env *e = fake_enter_jni(env, J_PushLocalFrame);
    if (fake_fails(J_PushLocalFrame)) {
        fake_throw(env, "java/lang/OutOfMemoryError");
        return JNI_ENOMEM;
    }
    assert_true(e->depth + 1 < FAKE_FRAMES);
    e->frames[++e->depth].room = capacity;
    e->frames[e->depth].used = 0;
    return 0;
}

static jobject JNICALL do_PopLocalFrame(JNIEnv *env, jobject result)
{
    struct fake_thread_env *e = fake_enter_jni(env, J_PopLocalFrame);
    struct fake_object *kept = fake_use(result, true);
    if (e->depth == 0) {
        fake_complain("PopLocalFrame without a frame");
        return NULL;
    }
    fake_leave_native();
    return local(kept);
}

/* ---- references ---- */

static jobject JNICALL do_NewLocalRef(JNIEnv *env, jobject o)
{
    fake_enter_jni(env, J_NewLocalRef);
    return fake_fails(J_NewLocalRef) ? NULL : local(fake_peek(o));
}

static void JNICALL do_DeleteLocalRef(JNIEnv *env, jobject o)
{
    fake_enter_jni(env, J_DeleteLocalRef);
    fake_delete_ref(o, FAKE_LOCAL);
}

static jobject JNICALL do_NewGlobalRef(JNIEnv *env, jobject o)
{
    fake_enter_jni(env, J_NewGlobalRef);
    struct fake_object *target = fake_peek(o);
    return fake_fails(J_NewGlobalRef) ? NULL : fake_new_ref(FAKE_GLOBAL, target, false);
}

static void JNICALL do_DeleteGlobalRef(JNIEnv *env, jobject o)
{
    fake_enter_jni(env, J_DeleteGlobalRef);
    fake_delete_ref(o, FAKE_GLOBAL);
}

static jweak JNICALL do_NewWeakGlobalRef(JNIEnv *env, jobject o)
{
    fake_enter_jni(env, J_NewWeakGlobalRef);
    struct fake_object *target = fake_peek(o);
    if (fake_fails(J_NewWeakGlobalRef)) {
        fake_throw(env, "java/lang/OutOfMemoryError");
        return NULL;
    }
    return fake_new_ref(FAKE_WEAK, target, false);
}

static void JNICALL do_DeleteWeakGlobalRef(JNIEnv *env, jweak o)
{
    fake_enter_jni(env, J_DeleteWeakGlobalRef);
    fake_delete_ref(o, FAKE_WEAK);
}

static jboolean JNICALL do_IsSameObject(JNIEnv *env, jobject a, jobject b)
{
    fake_enter_jni(env, J_IsSameObject);
    return fake_peek(a) == fake_peek(b);
}

/* ---- classes ---- */

static bool is_there(const char *name, const void *found)
{
    return !fake_is_lacking(name) && (found != NULL || fake.everything);
}

static jclass JNICALL do_FindClass(JNIEnv *env, const char *name)
{
    fake_enter_jni(env, J_FindClass);
    struct fake_class *class = fake_find_class(name);
    bool ours = strncmp(name, "java/lang/BBFlow", 16) == 0; /* is there once it is defined */
    if (fake_fails(J_FindClass) || !is_there(name, class) || (class == NULL && ours)) {
        fake_throw(env, "java/lang/NoClassDefFoundError");
        return NULL;
    }
    return local((class != NULL ? class : fake_class(name, NULL))->mirror);
}

static jclass JNICALL do_DefineClass(JNIEnv *env, const char *name, jobject loader,
                                     const jbyte *bytes, jsize len)
{
    fake_enter_jni(env, J_DefineClass);
    (void)fake_use(loader, true);
    const uint8_t *b = (const void *)bytes;
    bool good = len > 10 && b[0] == 0xca && b[1] == 0xfe && b[2] == 0xba && b[3] == 0xbe;
    if (fake_fails(J_DefineClass) || !good || fake_find_class(name) != NULL) {
        fake_throw(env, good ? "java/lang/LinkageError" : "java/lang/ClassFormatError");
        return NULL;
    }
    struct fake_class *class = fake_class(name, NULL);
    if (fake.defined != NULL)
        fake.defined(class);
    return local(class->mirror);
}

static jclass JNICALL do_GetSuperclass(JNIEnv *env, jclass class)
{
    fake_enter_jni(env, J_GetSuperclass);
    struct fake_class *c = fake_use_class(class);
    return c == NULL || c->super == NULL ? NULL : local(c->super->mirror);
}

static jclass JNICALL do_GetObjectClass(JNIEnv *env, jobject o)
{
    fake_enter_jni(env, J_GetObjectClass);
    struct fake_object *object = fake_use(o, false);
    return object == NULL || object->class == NULL ? NULL : local(object->class->mirror);
}

static jfieldID field_id(JNIEnv *env, enum fake_function f, jclass class, const char *name,
                         const char *descriptor, bool is_static)
{
    fake_enter_jni(env, f);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return NULL;
    struct fake_field *found = fake_find_field(c, name, descriptor, is_static, true);
    if (fake_fails(f) || !is_there(name, found)) {
        fake_throw(env, "java/lang/NoSuchFieldError");
        return NULL;
    }
    if (found == NULL)
        found = (is_static ? fake_static : fake_field)(c, name, descriptor);
    return (jfieldID)(void *)found;
}

static jfieldID JNICALL do_GetFieldID(JNIEnv *env, jclass class, const char *name,
                                      const char *descriptor)
{
    return field_id(env, J_GetFieldID, class, name, descriptor, false);
}

static jfieldID JNICALL do_GetStaticFieldID(JNIEnv *env, jclass class, const char *name,
                                            const char *descriptor)
{
    return field_id(env, J_GetStaticFieldID, class, name, descriptor, true);
}

static jmethodID method_id(JNIEnv *env, enum fake_function f, jclass class, const char *name,
                           const char *descriptor, bool is_static)
{
    fake_enter_jni(env, f);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL)
        return NULL;
    struct fake_method *found = fake_find_method(c, name, descriptor, is_static);
    char whole[300];
    snprintf(whole, sizeof whole, "%s%s", name, descriptor);
    if (fake_fails(f) || fake_is_lacking(whole) || !is_there(name, found)) {
        fake_throw(env, "java/lang/NoSuchMethodError");
        return NULL;
    }
    if (found == NULL)
        found = fake_method(c, name, descriptor, is_static ? ACC_STATIC : 0);
    return fake_method_id(found);
}

static jmethodID JNICALL do_GetMethodID(JNIEnv *env, jclass class, const char *name,
                                        const char *descriptor)
{
    return method_id(env, J_GetMethodID, class, name, descriptor, false);
}

static jmethodID JNICALL do_GetStaticMethodID(JNIEnv *env, jclass class, const char *name,
                                              const char *descriptor)
{
    return method_id(env, J_GetStaticMethodID, class, name, descriptor, true);
}

/* ---- fields ---- */

/* The word of a field; complains if the object has no such field, or one of another type. */
static _Atomic uint64_t *word_of(enum fake_function f, jobject o, jfieldID id, const char *types)
{
    static _Atomic uint64_t nothing;
    struct fake_object *object = fake_use(o, false);
    struct fake_field *field = (void *)id;
    atomic_store_explicit(&nothing, 0, RELAXED);
    if (object == NULL || field == NULL) {
        if (field == NULL)
            fake_complain("%s: no field", fake_names[f]);
        return &nothing;
    }
    bool is_static = (field->modifiers & ACC_STATIC) != 0, has = object->is_class == field->owner;
    for (struct fake_class *c = object->class; !is_static && c != NULL && !has; c = c->super)
        has = c == field->owner;
    if (!has || strchr(types, field->descriptor[0]) == NULL) {
        fake_complain("%s of %s.%s %s", fake_names[f], field->owner->name, field->name,
                      field->descriptor);
        return &nothing;
    }
    return is_static ? &field->value : &object->slots[field->slot];
}

static jobject JNICALL do_GetObjectField(JNIEnv *env, jobject o, jfieldID id)
{
    fake_enter_jni(env, J_GetObjectField);
    return local(object_in(word_of(J_GetObjectField, o, id, "L[")));
}

static jint JNICALL do_GetIntField(JNIEnv *env, jobject o, jfieldID id)
{
    fake_enter_jni(env, J_GetIntField);
    return (jint)atomic_load_explicit(word_of(J_GetIntField, o, id, "I"), RELAXED);
}

static jlong JNICALL do_GetLongField(JNIEnv *env, jobject o, jfieldID id)
{
    fake_enter_jni(env, J_GetLongField);
    return (jlong)atomic_load_explicit(word_of(J_GetLongField, o, id, "J"), RELAXED);
}

static jobject JNICALL do_GetStaticObjectField(JNIEnv *env, jclass class, jfieldID id)
{
    fake_enter_jni(env, J_GetStaticObjectField);
    return local(object_in(word_of(J_GetStaticObjectField, class, id, "L[")));
}

static jlong JNICALL do_GetStaticLongField(JNIEnv *env, jclass class, jfieldID id)
{
    fake_enter_jni(env, J_GetStaticLongField);
    return (jlong)atomic_load_explicit(word_of(J_GetStaticLongField, class, id, "J"), RELAXED);
}

/* ---- arrays and strings ---- */

static jsize JNICALL do_GetArrayLength(JNIEnv *env, jarray array)
{
    fake_enter_jni(env, J_GetArrayLength);
    struct fake_object *o = fake_use(array, false);
    if (o != NULL && !o->is_array)
        fake_complain("GetArrayLength of a %s", o->class != NULL ? o->class->name : "class");
    return o == NULL ? 0 : (jsize)o->n;
}

static _Atomic uint64_t *element(JNIEnv *env, enum fake_function f, jobjectArray array, jsize i)
{
    fake_enter_jni(env, f);
    struct fake_object *o = fake_use(array, false);
    if (o != NULL && !o->is_array)
        fake_complain("%s of a %s", fake_names[f], o->class != NULL ? o->class->name : "class");
    if (o == NULL || !o->is_array)
        return NULL;
    if (i < 0 || (size_t)i >= o->n || fake_fails(f)) {
        fake_throw(env, "java/lang/ArrayIndexOutOfBoundsException");
        return NULL;
    }
    return &o->slots[i];
}

static jobject JNICALL do_GetObjectArrayElement(JNIEnv *env, jobjectArray array, jsize i)
{
    _Atomic uint64_t *word = element(env, J_GetObjectArrayElement, array, i);
    return word == NULL ? NULL : local(object_in(word));
}

static void JNICALL do_SetObjectArrayElement(JNIEnv *env, jobjectArray array, jsize i, jobject to)
{
    _Atomic uint64_t *word = element(env, J_SetObjectArrayElement, array, i);
    struct fake_object *o = fake_use(to, true);
    if (word != NULL)
        atomic_store_explicit(word, (uint64_t)(uintptr_t)o, RELAXED);
}

static const char *text_of(jstring string)
{
    struct fake_object *o = fake_use(string, false);
    return o == NULL || o->text == NULL ? "" : o->text;
}

static jstring JNICALL do_NewStringUTF(JNIEnv *env, const char *text)
{
    fake_enter_jni(env, J_NewStringUTF);
    if (fake_fails(J_NewStringUTF)) {
        fake_throw(env, "java/lang/OutOfMemoryError");
        return NULL;
    }
    return local(fake_string(text));
}

static jsize JNICALL do_GetStringLength(JNIEnv *env, jstring string)
{
    jsize n = 0;
    fake_enter_jni(env, J_GetStringLength);
    for (const char *p = text_of(string); *p != '\0'; p++)
        n += (*p & 0xc0) != 0x80;
    return n;
}

static jsize JNICALL do_GetStringUTFLength(JNIEnv *env, jstring string)
{
    fake_enter_jni(env, J_GetStringUTFLength);
    return (jsize)strlen(text_of(string));
}

static const char *JNICALL do_GetStringUTFChars(JNIEnv *env, jstring string, jboolean *is_copy)
{
    fake_enter_jni(env, J_GetStringUTFChars);
    if (is_copy != NULL)
        *is_copy = JNI_TRUE;
    const char *text = text_of(string);
    if (fake_fails(J_GetStringUTFChars)) {
        fake_throw(env, "java/lang/OutOfMemoryError");
        return NULL;
    }
    atomic_fetch_add_explicit(&fake.allocated, 1, RELAXED);
    return strdup(text);
}

static void JNICALL do_ReleaseStringUTFChars(JNIEnv *env, jstring string, const char *text)
{
    fake_enter_jni(env, J_ReleaseStringUTFChars);
    (void)string;
    atomic_fetch_sub_explicit(&fake.allocated, 1, RELAXED);
    free((char *)(uintptr_t)text);
}

static void JNICALL do_GetStringUTFRegion(JNIEnv *env, jstring string, jsize from, jsize n,
                                          char *out)
{
    fake_enter_jni(env, J_GetStringUTFRegion);
    if (from != 0 || n != do_GetStringLength(env, string))
        fake_complain("GetStringUTFRegion of a part is not implemented");
    strcpy(out, text_of(string));
}

/* ---- calls ---- */

static jvalue call(JNIEnv *env, enum fake_function f, jobject self, jmethodID id, bool is_static,
                   const jvalue *arguments)
{
    struct fake_method *m = (void *)id;
    jvalue nothing = {.j = 0};
    fake_enter_jni(env, f);
    if (fake_use(self, false) == NULL || m == NULL) {
        if (m == NULL)
            fake_complain("%s: no method", fake_names[f]);
        return nothing;
    }
    if (((m->modifiers & ACC_STATIC) != 0) != is_static)
        fake_complain("%s of %s.%s", fake_names[f], m->owner->name, m->name);
    if (fake_fails(f)) {
        fake_throw(env, "java/lang/OutOfMemoryError");
        return nothing;
    }
    return m->body == NULL ? nothing : m->body(env, self, arguments);
}

/* The arguments of the few descriptors that the agent calls: objects and booleans. */
static void take_arguments(jmethodID id, va_list args, jvalue out[4])
{
    const struct fake_method *m = (const void *)id;
    const char *p = m == NULL ? ")" : m->descriptor + 1;
    for (int n = 0; *p != ')' && n < 4; n++) {
        if (*p == 'Z')
            out[n].z = (jboolean)va_arg(args, int);
        else
            out[n].l = va_arg(args, jobject);
        while (*p == '[')
            p++;
        p = *p == 'L' ? strchr(p, ';') + 1 : p + 1;
    }
}

#define CALL(type, name, member, receiver, is_static)                                              \
    static type JNICALL do_##name(JNIEnv *env, receiver self, jmethodID id, ...)                   \
    {                                                                                              \
        jvalue arguments[4];                                                                       \
        va_list args;                                                                              \
        va_start(args, id);                                                                        \
        take_arguments(id, args, arguments);                                                       \
        va_end(args);                                                                              \
        return call(env, J_##name, self, id, is_static, arguments).member;                         \
    }
CALL(jobject, CallObjectMethod, l, jobject, false)
CALL(jint, CallIntMethod, i, jobject, false)
CALL(jlong, CallLongMethod, j, jobject, false)
CALL(jobject, CallStaticObjectMethod, l, jclass, true)
#undef CALL

static void JNICALL do_CallStaticVoidMethod(JNIEnv *env, jclass class, jmethodID id, ...)
{
    jvalue arguments[4];
    va_list args;
    va_start(args, id);
    take_arguments(id, args, arguments);
    va_end(args);
    (void)call(env, J_CallStaticVoidMethod, class, id, true, arguments);
}

static jobject JNICALL do_CallStaticObjectMethodA(JNIEnv *env, jclass class, jmethodID id,
                                                  const jvalue *arguments)
{
    return call(env, J_CallStaticObjectMethodA, class, id, true, arguments).l;
}

/* The object is new, with its first argument in a field "referent" where there is one. */
static jobject JNICALL do_NewObject(JNIEnv *env, jclass class, jmethodID id, ...)
{
    jvalue arguments[4] = {{.l = NULL}};
    va_list args;
    va_start(args, id);
    take_arguments(id, args, arguments);
    va_end(args);
    fake_enter_jni(env, J_NewObject);
    struct fake_class *c = fake_use_class(class);
    if (c == NULL || fake_fails(J_NewObject)) {
        fake_throw(env, "java/lang/OutOfMemoryError");
        return NULL;
    }
    struct fake_object *o = fake_object(c);
    if (fake_find_field(c, "referent", NULL, false, true) != NULL)
        fake_refer(o, "referent", fake_use(arguments[0].l, true));
    return local(o);
}

/* ---- the table ---- */

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
FAKE_JNI_FUNCTIONS(XX)
#undef XX

const struct JNINativeInterface_ *fake_jni_table(void)
{
    static const struct JNINativeInterface_ table = {
#define XX(name) .name = (void *)lacks_##name,
        FAKE_JNI_FUNCTIONS(XX)
#undef XX
    };
    static struct JNINativeInterface_ made;
    struct JNINativeInterface_ all = table;
#define XX(name) all.name = do_##name;
    XX(ExceptionCheck) XX(ExceptionClear) XX(ExceptionDescribe) XX(PushLocalFrame);
    XX(PopLocalFrame) XX(NewLocalRef) XX(DeleteLocalRef) XX(NewGlobalRef) XX(DeleteGlobalRef);
    XX(NewWeakGlobalRef) XX(DeleteWeakGlobalRef) XX(IsSameObject) XX(FindClass) XX(DefineClass);
    XX(GetSuperclass) XX(GetObjectClass) XX(GetFieldID) XX(GetStaticFieldID) XX(GetMethodID);
    XX(GetStaticMethodID) XX(GetObjectField) XX(GetIntField) XX(GetLongField);
    XX(GetStaticObjectField) XX(GetStaticLongField) XX(GetArrayLength) XX(GetObjectArrayElement);
    XX(SetObjectArrayElement) XX(NewStringUTF) XX(GetStringLength) XX(GetStringUTFLength);
    XX(GetStringUTFChars) XX(ReleaseStringUTFChars) XX(GetStringUTFRegion) XX(CallObjectMethod);
    XX(CallIntMethod) XX(CallLongMethod) XX(CallStaticObjectMethod) XX(CallStaticVoidMethod);
    XX(CallStaticObjectMethodA) XX(NewObject);
#undef XX
    if (made.ExceptionCheck == NULL) /* the first environment is made before other threads are */
        made = all;
    return &made;
}
