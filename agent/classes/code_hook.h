/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/code_hook.h - the class file load hook of environment I: it inserts the calls into
 * method bodies (design.md: insertion), by the rules in force.
 *
 * Threads: any thread that loads a class, and those that retransform.
 */
#ifndef BBF_AGENT_CLASSES_CODE_HOOK_H
#define BBF_AGENT_CLASSES_CODE_HOOK_H

#include <jvmti.h>
#include <stdbool.h>

void JNICALL bbf_code_hook(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes);

/* May a class of that loader (NULL: the boot loader) and internal name be changed at all? */
bool bbf_code_hook_takes(jobject loader, const char *name);

#endif
