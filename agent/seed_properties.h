/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/seed_properties.h - the system properties of the Java tracker that have an option here
 * (docs/java-api.md): bytebuf.tracker.maxNodes and maxDepth. Others of its names that bbflow does
 * not have are named in the log, and so are wrong values, because a JVM must not stop for what was
 * left over of another tool.
 *
 * Threads: the one that starts the agent.
 */
#ifndef BBF_AGENT_SEED_PROPERTIES_H
#define BBF_AGENT_SEED_PROPERTIES_H

#include <jvmti.h>

#include "core/option.h"

/* Set the options that such properties give, before the agent's own options are read, which
 * therefore win. */
void bbf_seed_properties(jvmtiEnv *jvmti, struct bbf_options *options);

#endif
