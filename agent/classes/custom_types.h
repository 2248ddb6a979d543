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
 * from one that track= names; 0 for others, and where the closing method that its objects would
 * run is none that bbflow can hook (native, absent, the boot loader's): then they would all look
 * lost. That is logged, once, by bbf_custom_types_poll().
 */
uint64_t bbf_custom_types_classify(JNIEnv *env, jclass type);
/* The agent thread, once a second and at its end: log which classes were left out since. */
void bbf_custom_types_poll(void);

/* Entries of the list that this method would close: an instance method with code of its own. */
unsigned bbf_custom_types_closes(jvmtiEnv *jvmti, const char *list, jmethodID method);

#endif
