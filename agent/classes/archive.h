/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/archive.h - finds why a class was loaded before bbflow. Since JDK 24 an AOT cache
 * gives the JVM its classes before any agent starts (JEP 483); or an agent that started earlier has
 * loaded it.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_CLASSES_ARCHIVE_H
#define BBF_AGENT_CLASSES_ARCHIVE_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

/* Which archive of classes, other than the JDK's own, the JVM has mapped: its path, malloc'd. NULL:
 * none that can be seen. `maps`: "/proc/self/maps"; `jdk`: the JDK's folder, whose are skipped. */
char *bbf_archive_find(const char *maps, const char *jdk);

/* For users, kept for good: why `class` was loaded before bbflow, then "; remedy: " and the
 * remedy, if there is one besides a start with bbflow (render/text.h shows both). */
const char *bbf_archive_why_before(jvmtiEnv *jvmti, jclass class, bool attached);

#endif
