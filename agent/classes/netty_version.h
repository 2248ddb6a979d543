/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/netty_version.h - the version of a loaded Netty, from the name of its jar.
 *
 * Threads: the agent thread; it calls methods of java.lang, java.security and java.net. No
 * exception is left pending.
 */
#ifndef BBF_AGENT_CLASSES_NETTY_VERSION_H
#define BBF_AGENT_CLASSES_NETTY_VERSION_H

#include <jni.h>
#include <stddef.h>

/* "4.1.140.Final" if the class ByteBuf of `prefix` (dotted) came from such a jar; otherwise
 * "unknown". */
void bbf_netty_version(JNIEnv *env, const char *prefix, char *out, size_t size);

#endif
