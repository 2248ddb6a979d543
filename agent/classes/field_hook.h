/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/field_hook.h - the class file load hook of environment F: it adds the hidden field
 * to Netty's ByteBuf (design.md: hidden field).
 *
 * Threads: any thread that loads a class.
 */
#ifndef BBF_AGENT_CLASSES_FIELD_HOOK_H
#define BBF_AGENT_CLASSES_FIELD_HOOK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

void JNICALL bbf_field_hook(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                            const char *name, jobject domain, jint len, const unsigned char *bytes,
                            jint *new_len, unsigned char **new_bytes);

/* Was a loaded ByteBuf given the field? A class that is redefined keeps the fields that it was
 * loaded with. `class_name` and `prefix` as of bbf_nettys_is_bytebuf(). */
bool bbf_field_hook_has_field(jvmtiEnv *jvmti, jclass class, const char *class_name, size_t prefix);

#endif
