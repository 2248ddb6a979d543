/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/management.h - has the application made the platform MBean server? Asked without making
 * it, which takes a fifth of a second and fixes which java.util.logging.LogManager the JVM has.
 * ManagementFactory is neither loaded nor initialised by the question.
 *
 * Threads: loads any; the others the agent thread.
 */
#ifndef BBF_AGENT_JVM_MANAGEMENT_H
#define BBF_AGENT_JVM_MANAGEMENT_H

#include <jni.h>
#include <stdbool.h>

/* A class of the boot loader is being loaded. Wait-free, safe in the class-file load hook. */
void bbf_management_loads(const char *name);

/* Has this JVM the module java.management? Loads ManagementFactory, without initialising it. */
bool bbf_management_has_module(JNIEnv *env);

/*
 * The platform server, a local reference; NULL: there is none yet, or it was first seen less than a
 * second ago (another thread may be making it). *unreadable: this JDK keeps it elsewhere. No
 * exception is left pending.
 */
jobject bbf_management_server(JNIEnv *env, bool *unreadable);
/* The hook ends: the loaded classes are looked at again at the next question. */
void bbf_management_forget(void);

#endif
