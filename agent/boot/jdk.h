/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/jdk.h - which Java versions bbflow runs on. Older ones are refused; newer ones are
 * accepted, because the features that bbflow needs are probed at start (agent/boot/link.h,
 * java.lang.BBFlowHeader), and `status` says that they are not tested.
 */
#ifndef BBF_AGENT_BOOT_JDK_H
#define BBF_AGENT_BOOT_JDK_H

enum { BBF_JDK_FIRST = 11, BBF_JDK_LAST_TESTED = 25 };

#endif
