/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/jdk.h - which Java versions bbflow runs on. Older ones are refused; newer ones are
 * taken, as what bbflow needs of them is tried at start (agent/boot/link.h,
 * java.lang.BBFlowHeader), and `status` says that they are not tested.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_BOOT_JDK_H
#define BBF_AGENT_BOOT_JDK_H

#include "core/buf.h"

enum { BBF_JDK_FIRST = 11, BBF_JDK_LAST_TESTED = 25 };

/* The line of `status` for a JVM of Java `jdk` that is newer than the tested ones; else nothing. */
void bbf_jdk_status(struct bbf_buf *out, int jdk);

#endif
