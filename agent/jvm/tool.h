/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/tool.h - is this JVM a tool of the JDK? jcmd, javac, jps … load the agent through
 * JAVA_TOOL_OPTIONS and have nothing to follow.
 *
 * Threads: the JVM's start.
 */
#ifndef BBF_AGENT_JVM_TOOL_H
#define BBF_AGENT_JVM_TOOL_H

#include <stdbool.h>

bool bbf_jvm_is_jdk_tool(void);

#endif
