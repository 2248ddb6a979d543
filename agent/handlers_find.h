/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/handlers_find.h - the class loaders in which handlers= looks for handlers: those that own a
 * ByteBuf or a copy of the API.
 *
 * Threads: loads any; the others the agent thread.
 */
#ifndef BBF_AGENT_HANDLERS_FIND_H
#define BBF_AGENT_HANDLERS_FIND_H

#include <jni.h>
#include <stdbool.h>

/* Watch, or no longer. */
void bbf_handlers_watch(bool on);
/* A class of that internal name is about to be loaded, not by the boot loader. In a hook: no lock,
 * no JVM call. */
void bbf_handlers_loads(const char *name);
/* Until the next look at the loaded classes, in milliseconds; 0: now; UINT32_MAX: none is due. */
unsigned bbf_handlers_look_in_ms(void);
/* Look: a new array of ClassLoaders, at most 256; *has_api: a copy of the API is loaded. NULL: the
 * JVM has no memory; no exception is pending. */
jobjectArray bbf_handlers_look(JNIEnv *env, bool *has_api);

#endif
