/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/loaded.h - classes that are loaded already: retransformed when the rules change,
 * and looked through for ByteBuf classes that were loaded without the hidden field.
 *
 * Threads: the agent thread, or the JVM's start; prepare any.
 */
#ifndef BBF_AGENT_CLASSES_LOADED_H
#define BBF_AGENT_CLASSES_LOADED_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instrument/plan.h"

/* ClassPrepare, from an attach to the detach: a ByteBuf whose load began before F's hook was
 * enabled and ended after the loaded classes were looked at, and what else of Netty's was missed so
 * (agent/classes/late_classes.h). Its first use is after this. */
void JNICALL bbf_loaded_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class);

/* Is a ByteBuf of Netty's loaded? False also if the JVM does not answer. */
bool bbf_loaded_has_bytebuf(JNIEnv *env);

/* The result of a pass over the loaded classes. */
struct bbf_retransformed {
    size_t rewritten, put_back, failed;
};

/*
 * Bring loaded classes in line with `now`: those that it follows and `before` did not are
 * retransformed, those that it no longer follows are restored. before = NULL: nothing was followed
 * (also looks for ByteBuf classes that were loaded before bbflow). In batches of at most 64.
 */
struct bbf_retransformed bbf_loaded_apply(JNIEnv *env, const struct bbf_rules *before,
                                          const struct bbf_rules *now);
/*
 * Restore the classes that were changed by `rules`, including Netty's own hooks. since_ns not 0:
 * only classes that were changed at load, and not before that time (CLOCK_MONOTONIC). The caller
 * has withdrawn the rules, so the hook changes nothing.
 */
struct bbf_retransformed bbf_loaded_put_back(JNIEnv *env, const struct bbf_rules *rules,
                                             uint64_t since_ns);

#endif
