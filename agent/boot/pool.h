/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/pool.h - steps through the constant pool of the shim's own class files (JVMS 4.4).
 *
 * Threads: no state. The bytes are trusted: they are embedded at build time.
 */
#ifndef BBF_AGENT_BOOT_POOL_H
#define BBF_AGENT_BOOT_POOL_H

#include <stdint.h>

enum { BBF_POOL_UTF8 = 1, BBF_POOL_LONG = 5, BBF_POOL_DOUBLE = 6 };

/* Bytes of an entry, with its tag. A long and a double take two numbers, which the caller must
 * count. */
static inline unsigned bbf_pool_size(const uint8_t *entry)
{
    static const uint8_t size[21] = {
        [3] = 5,  [4] = 5,  [5] = 9,  [6] = 9,  [7] = 3,  [8] = 3,  [9] = 5,  [10] = 5,
        [11] = 5, [12] = 5, [15] = 4, [16] = 3, [17] = 5, [18] = 5, [19] = 3, [20] = 3};
    unsigned length = (unsigned)entry[1] << 8 | entry[2];
    return entry[0] == BBF_POOL_UTF8 ? 3 + length : size[entry[0]];
}

#endif
