/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/link.h - does this JVM have what the shim's classes refer to? HotSpot resolves a
 * reference when it is used first, which would be in an application's thread, in the middle of a
 * hook. So all of them are looked up before a class is defined: a JDK that has renamed one of its
 * internal methods gets one line that names it, and runs unchanged.
 *
 * Threads: no shared state.
 */
#ifndef BBF_AGENT_BOOT_LINK_H
#define BBF_AGENT_BOOT_LINK_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Earlier results, so that each method is looked up only once: the classes refer to the same few
 * methods. Owned by the caller, all zero at first. Methods beyond its size are looked up each
 * time. */
struct bbf_link_found {
    uint64_t hashes[128];
    size_t n;
};

/*
 * Look up each method and field that the constant pool of the class refers to and that is not of a
 * class java/lang/BBFlow*. `bytes`: a whole class file, trusted. False: `missing` names the first
 * one that is not there, or says that there is no memory. No exception is left pending.
 */
bool bbf_link_check(JNIEnv *env, const uint8_t *bytes, struct bbf_link_found *found, char *missing,
                    size_t size);

#endif
