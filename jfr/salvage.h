/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/salvage.h - reads what is left of a damaged tree of metadata.
 *
 * The format has no sizes: after a lost count nothing is where it was. So each element must look
 * like one that a JVM writes; behind the damage the next one that does is looked for. A type that
 * lost children of its own is left out: its fields would be at wrong places.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_SALVAGE_H
#define BBF_JFR_SALVAGE_H

#include <stdint.h>

#include "jfr/tree.h"

struct bbf_jfr_salvage {
    /* May be NULL. Offsets are in the event. */
    void (*lost)(void *ctx, uint64_t at, uint64_t len, const char *what);
    void *ctx;
};

/* As bbf_jfr_tree_read(). BBF_EFORMAT: no type is left, or `why`. */
int bbf_jfr_salvage(struct bbf_jfr_tree *tree, struct bbf_jfr_cursor event,
                    struct bbf_jfr_arena *arena, const struct bbf_jfr_salvage *salvage);

#endif
