/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/custom_types.h - which objects track= means, asked once per class by
 * java.lang.BBFlowTrack.
 *
 * Threads: any application thread asks; poll the agent thread. No exception is left pending.
 */
#ifndef BBF_AGENT_CLASSES_CUSTOM_TYPES_H
#define BBF_AGENT_CLASSES_CUSTOM_TYPES_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

/*
 * Class number | entries of track= (one bit each) << 16 | root site << 32 of a class that inherits
 * from one that track= names; 0 for other classes, and for one whose closing method bbflow cannot
 * hook (native, absent, the boot loader's), because all its objects would look lost. The latter is
 * logged once, by bbf_custom_types_poll().
 */
uint64_t bbf_custom_types_classify(JNIEnv *env, jclass type);
/* A duty, also at the agent thread's end: log which classes were left out since the last time. */
void bbf_custom_types_poll(void);

/* Entries of the list that this method would close: an instance method with code of its own. */
unsigned bbf_custom_types_closes(jvmtiEnv *jvmti, const char *list, jmethodID method);

#endif
