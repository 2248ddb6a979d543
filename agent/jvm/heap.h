/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/heap.h - the JVM as trie/lives.c sees it: strong slots and weak references, over JNI.
 *
 * Threads: the agent thread only; it alone makes, asks and deletes weak references (design.md:
 * garbage detection: a deleted handle reads as "collected", and its place is reused).
 */
#ifndef BBF_AGENT_JVM_HEAP_H
#define BBF_AGENT_JVM_HEAP_H

#include <jni.h>

#include "trie/trie.h"

/* `env` is the agent thread's, for as long as that thread lives. */
void bbf_heap_init(struct bbf_jvm_refs *heap, JNIEnv *env);

#endif
