/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/flags.h - flags with which the JVM was started, from its command line and environment.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_JVM_FLAGS_H
#define BBF_AGENT_JVM_FLAGS_H

#include <stdbool.h>

/* -Xverify:none & co.: then a parameter's declared type proves nothing, and every step tests the
 * class (design.md: hot path). */
bool bbf_jvm_verification_is_off(void);

#endif
