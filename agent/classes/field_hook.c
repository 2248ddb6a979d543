/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/field_hook.h"

#include <string.h>

#include "agent/classes/nettys.h"
#include "agent/jvm/memory.h"
#include "classfile/classfile.h"
#include "core/err.h"

static const char hidden_field[] = "$bbf";
enum { FIELD_ACCESS = 0x1082 /* private transient synthetic */ };

/* A class that is redefined keeps the fields that it was loaded with. */
bool bbf_field_hook_has_field(jvmtiEnv *jvmti, jclass class, const char *class_name, size_t prefix)
{
    jint n = 0;
    jfieldID *fields = NULL;
    bool found = false;
    jvmtiError err = (*jvmti)->GetClassFields(jvmti, class, &n, &fields);
    if (err == JVMTI_ERROR_CLASS_NOT_PREPARED) /* loaded, not linked: JVMTI does not say */
        return bbf_nettys_always_with_field(class_name, prefix);
    if (err != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < n && !found; i++) {
        char *name = NULL;
        if ((*jvmti)->GetFieldName(jvmti, class, fields[i], &name, NULL, NULL) == 0) {
            found = strcmp(name, hidden_field) == 0;
            (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
        }
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)fields);
    return found;
}

void JNICALL bbf_field_hook(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                            const char *name, jobject domain, jint len, const unsigned char *bytes,
                            jint *new_len, unsigned char **new_bytes)
{
    size_t prefix;
    (void)env;
    (void)domain;
    (void)loader;
    if (name == NULL || !bbf_nettys_is_bytebuf(name, &prefix) ||
        (redefined != NULL && !bbf_field_hook_has_field(jvmti, redefined, name, prefix)))
        return;
    struct bbf_cf_shape shape;
    const char *why = NULL;
    if (bbf_cf_shape_of(bytes, (size_t)len, hidden_field, &shape) != BBF_OK)
        why = "its class file is not understood";
    else if (shape.has_field)
        return; /* never twice */
    else if (shape.is_interface || !shape.extends_object || shape.instance_fields > 0)
        why = "it is not Netty's ByteBuf";
    struct bbf_cf_config config = {.field_name = hidden_field,
                                   .field_descriptor = "J",
                                   .field_access = FIELD_ACCESS,
                                   .allocate = bbf_jvm_allocate};
    struct bbf_cf_stats stats;
    uint8_t *out;
    size_t out_len;
    if (why == NULL &&
        bbf_cf_rewrite(bytes, (size_t)len, &config, &out, &out_len, &stats) != BBF_CF_CHANGED)
        why = "the field could not be added";
    if (why != NULL) {
        bbf_nettys_set_fieldless();
        bbf_nettys_remember(name, prefix, false, why);
        return;
    }
    *new_bytes = out;
    *new_len = (jint)out_len;
    if (redefined == NULL)
        bbf_nettys_remember(name, prefix, true, NULL);
}
