/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/fields.h"

#include <string.h>

#include "agent/jvm/memory.h"
#include "agent/state.h"

enum { ACC_STATIC = 8, MAX_SUPERS = 16, MAX_CELLS = 1024 };

void bbf_fields_init(struct bbf_fields *f, JNIEnv *env)
{
    *f = (struct bbf_fields){.env = env};
}

void bbf_fields_free(struct bbf_fields *f)
{
    for (size_t i = 0; i < f->n; i++)
        (*f->env)->DeleteGlobalRef(f->env, f->known[i].class);
    f->n = 0;
}

/* The type of a field that we read, '\0' for others: an array's elements have to be objects. */
static char type_of(const char *descriptor)
{
    if (descriptor[0] == '[')
        return descriptor[1] == 'L' || descriptor[1] == '[' ? '[' : '\0';
    return descriptor[0] == 'J' || descriptor[0] == 'I' || descriptor[0] == 'L' ? descriptor[0]
                                                                                : '\0';
}

static bool is_it(jclass class, jfieldID id, const char *wanted, bool of_class, char *type)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    char *name = NULL, *descriptor = NULL;
    jint modifiers = 0;
    if ((*jvmti)->GetFieldName(jvmti, class, id, &name, &descriptor, NULL) != 0)
        return false;
    bool same = strcmp(name, wanted) == 0 &&
                (*jvmti)->GetFieldModifiers(jvmti, class, id, &modifiers) == 0 &&
                ((modifiers & ACC_STATIC) != 0) == of_class;
    *type = type_of(descriptor);
    bbf_jvm_free(name);
    bbf_jvm_free(descriptor);
    return same;
}

/* Of the fields that the class itself declares. */
static jfieldID declared(jclass class, const char *name, bool of_class, char *type)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jfieldID *ids = NULL, found = NULL;
    jint n = 0;
    if ((*jvmti)->GetClassFields(jvmti, class, &n, &ids) != 0)
        return NULL;
    for (jint i = 0; i < n && found == NULL; i++)
        if (is_it(class, ids[i], name, of_class, type))
            found = ids[i];
    bbf_jvm_free(ids);
    return *type != '\0' ? found : NULL;
}

static jfieldID search(JNIEnv *env, jclass class, const char *name, char *type)
{
    jfieldID id = NULL;
    for (int i = 0; class != NULL && id == NULL && i < MAX_SUPERS; i++) {
        id = declared(class, name, false, type);
        class = (*env)->GetSuperclass(env, class);
    }
    return id;
}

struct bbf_field bbf_fields_find(struct bbf_fields *f, jobject o, const char *name)
{
    struct bbf_field field = {.name = name};
    JNIEnv *env = f->env;
    if (o == NULL || (*env)->PushLocalFrame(env, MAX_SUPERS + 2) != 0) {
        (*env)->ExceptionClear(env);
        return field;
    }
    jclass class = (*env)->GetObjectClass(env, o);
    size_t i = 0;
    while (i < f->n && (strcmp(f->known[i].name, name) != 0 ||
                        !(*env)->IsSameObject(env, f->known[i].class, class)))
        i++;
    if (i < f->n) {
        field = f->known[i];
    } else {
        field.id = search(env, class, name, &field.type);
        field.class = f->n < BBF_FIELDS ? (*env)->NewGlobalRef(env, class) : NULL;
        (*env)->ExceptionClear(env);
        if (field.class != NULL)
            f->known[f->n++] = field;
    }
    (void)(*env)->PopLocalFrame(env, NULL);
    return field;
}

jobject bbf_fields_object(struct bbf_fields *f, jobject o, const char *name)
{
    struct bbf_field field = bbf_fields_find(f, o, name);
    if (field.id == NULL || (field.type != 'L' && field.type != '['))
        return NULL;
    return (*f->env)->GetObjectField(f->env, o, field.id);
}

jobjectArray bbf_fields_array(struct bbf_fields *f, jobject o, const char *name)
{
    struct bbf_field field = bbf_fields_find(f, o, name);
    if (field.id == NULL || field.type != '[')
        return NULL;
    return (*f->env)->GetObjectField(f->env, o, field.id);
}

bool bbf_fields_number(struct bbf_fields *f, jobject o, const char *name, int64_t *value)
{
    struct bbf_field field = bbf_fields_find(f, o, name);
    if (field.id == NULL || (field.type != 'J' && field.type != 'I'))
        return false;
    *value = field.type == 'J' ? (*f->env)->GetLongField(f->env, o, field.id)
                               : (*f->env)->GetIntField(f->env, o, field.id);
    return true;
}

static int64_t sum_cells(struct bbf_fields *f, jobjectArray cells)
{
    JNIEnv *env = f->env;
    int64_t sum = 0, value;
    jsize n = cells != NULL ? (*env)->GetArrayLength(env, cells) : 0;
    for (jsize i = 0; i < n && i < MAX_CELLS; i++) {
        jobject cell = (*env)->GetObjectArrayElement(env, cells, i);
        if (bbf_fields_number(f, cell, "value", &value))
            sum += value;
        (*env)->DeleteLocalRef(env, cell);
    }
    return sum;
}

bool bbf_fields_counter(struct bbf_fields *f, jobject o, const char *name, int64_t *value)
{
    JNIEnv *env = f->env;
    if (bbf_fields_number(f, o, name, value))
        return true;
    jobject counter = bbf_fields_object(f, o, name);
    bool told = bbf_fields_number(f, counter, "base", value);
    if (told) {
        jobjectArray cells = bbf_fields_array(f, counter, "cells");
        *value += sum_cells(f, cells);
        (*env)->DeleteLocalRef(env, cells);
    } else {
        told = bbf_fields_number(f, counter, "value", value);
    }
    (*env)->DeleteLocalRef(env, counter);
    return told;
}

/* Asking a class that is not initialised would initialise it. */
static jfieldID of_class(jclass class, const char *name, char *type)
{
    jint status = 0;
    if ((*bbf_agent.code)->GetClassStatus(bbf_agent.code, class, &status) != 0 ||
        (status & JVMTI_CLASS_STATUS_INITIALIZED) == 0)
        return NULL;
    return declared(class, name, true, type);
}

jobject bbf_fields_static(struct bbf_fields *f, jclass class, const char *name)
{
    char type = '\0';
    jfieldID id = of_class(class, name, &type);
    if (id == NULL || (type != 'L' && type != '['))
        return NULL;
    return (*f->env)->GetStaticObjectField(f->env, class, id);
}

bool bbf_fields_static_number(struct bbf_fields *f, jclass class, const char *name, int64_t *value)
{
    char type = '\0';
    jfieldID id = of_class(class, name, &type);
    if (id == NULL || type != 'J')
        return false;
    *value = (*f->env)->GetStaticLongField(f->env, class, id);
    return true;
}
