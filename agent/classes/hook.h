/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/hook.h - class files as they load: the hidden field (environment F), the
 * instrumentation (environment I), and retransformation of what is already there.
 *
 * Threads: the hooks in any thread that loads a class; retransformation in the agent thread or at
 * VMInit.
 */
#ifndef BBF_AGENT_CLASSES_HOOK_H
#define BBF_AGENT_CLASSES_HOOK_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "instrument/plan.h"

void JNICALL bbf_hook_field(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                            const char *name, jobject domain, jint len, const unsigned char *bytes,
                            jint *new_len, unsigned char **new_bytes);
void JNICALL bbf_hook_code(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes);

/* ClassPrepare, from an attach to the stop: a ByteBuf whose load began before F's hook was enabled
 * and ended after the loaded classes were looked at, and what else of Netty's was missed so
 * (agent/classes/late_classes.h). Its first use is after this. */
void JNICALL bbf_hook_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class);

/* What a pass over the loaded classes did. */
struct bbf_retransformed {
    size_t rewritten, put_back, failed;
};

/*
 * Until a class loads, or is met by bbf_hook_apply(), that is beside what include= or
 * trackConstructors= names (core/pattern.h), the hooks in Netty do nothing (ADR 29). They are awake
 * before any of its methods can run.
 */
void bbf_hook_idle(void);
/* Any thread. */
bool bbf_hook_is_idle(void);

/*
 * Bring loaded classes in line with `now`: those that it follows and `before` did not are
 * retransformed, those that it no longer follows go back. before = NULL: nothing was followed (also
 * looks for ByteBuf classes that were loaded before us). In batches of at most 64.
 */
struct bbf_retransformed bbf_hook_apply(JNIEnv *env, const struct bbf_rules *before,
                                        const struct bbf_rules *now);
/*
 * Put back what was changed by `rules`, Netty's own hooks too; since_ns not 0: only what was
 * changed as it loaded, and not before then (CLOCK_MONOTONIC). The caller has withdrawn the rules,
 * so that the hook changes nothing.
 */
struct bbf_retransformed bbf_hook_put_back(JNIEnv *env, const struct bbf_rules *rules,
                                           uint64_t since_ns);

/* Was any ByteBuf loaded with the hidden field? Any thread. */
bool bbf_hook_has_field(void);

#endif
