/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/open_life.h - an open life, read from its record while the application may end it.
 *
 * Threads: stated at each function. Units: bytes, seconds.
 */
#ifndef BBF_TRIE_OPEN_LIFE_H
#define BBF_TRIE_OPEN_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "trie/tomb.h"

struct bbf_tracker;

struct bbf_open_life {
    uint32_t node, generation;
    uint8_t mem;          /* MEM_ bits; STATIC also if a class initialiser had the buffer */
    bool stopped;         /* opened before a stop */
    struct bbf_loss loss; /* as if it were lost now; `node` is not set */
};

/* False if record `r` has no open life, or its life ended during the read. `now`: seconds since
 * start. Any thread. */
bool bbf_open_life_read(const struct bbf_tracker *t, uint32_t r, uint32_t now,
                        struct bbf_open_life *life);

/* May it be judged by its age? Not if it is static, nothing is lost with it, or its release may not
 * be seen. */
bool bbf_open_life_is_judged(const struct bbf_open_life *life);

#endif
