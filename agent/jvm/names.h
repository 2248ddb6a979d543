/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/names.h - names of classes in internal form, "com/app/Main". Arrays and primitive types
 * have none. A hidden class's ends in ".0x…" or the like: no other name has a dot.
 *
 * Threads: any; each_class the agent thread.
 */
#ifndef BBF_AGENT_JVM_NAMES_H
#define BBF_AGENT_JVM_NAMES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

/* The name of `class`, to be freed by bbf_jvm_free(). NULL: it has none, or the JVM does not
 * answer. */
char *bbf_names_of(jclass class);
/* The name of `class`, copied to `out`; "" if it has none or it does not fit. False: the JVM does
 * not answer, and `out` is "". */
bool bbf_names_copy(jclass class, char *out, size_t size);

/* What the name of a lambda's or a method reference's own class has after the name of the class in
 * which it was written. */
#define BBF_NAMES_LAMBDA "$$Lambda"

/* Cut, in place, what each run of a program has anew: the address of a hidden class, the number of
 * a lambda's. True: it is a lambda's class, "com/app/Main$$Lambda". */
bool bbf_names_make_stable(char *name);
/* The same: how much of the `len` bytes is left. */
size_t bbf_names_stable_len(const char *name, size_t len);

/* Call `visit` for each loaded class that has a name; local references that it leaves are gone
 * afterwards. No exception is left pending. */
void bbf_names_each_class(JNIEnv *env, void *ctx,
                          void (*visit)(JNIEnv *env, void *ctx, jclass class, const char *name));

#endif
