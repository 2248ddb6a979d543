/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/properties.h - system properties as they were when the JVM started (JVMTI).
 *
 * Threads: any, also before the live phase.
 */
#ifndef BBF_AGENT_JVM_PROPERTIES_H
#define BBF_AGENT_JVM_PROPERTIES_H

#include <jvmti.h>
#include <stddef.h>

/* The value of property `name`, cut to fit into `out`; "" if it has none. */
void bbf_property(jvmtiEnv *jvmti, const char *name, char *out, size_t size);

#endif
