/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/lttng/enabled.h - the names that a session daemon has enabled, and from which log level.
 *
 * Invariants: a name's level range is the smallest one that has all levels it was enabled with.
 * DISABLE has a name and no level, so it takes one away from the name's count, and the range stays
 * until the count is 0. So this may let through more than the sessions want, never less: the
 * tracer (liblttng-ust) applies their filters.
 *
 * Threads: one owner.
 */
#ifndef BBF_WIRE_LTTNG_ENABLED_H
#define BBF_WIRE_LTTNG_ENABLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/lttng/codec.h"

enum { BBF_LTTNG_NAMES_MAX = 1024 }; /* different ones, of one daemon: 280 KiB */

/* Levels, both ends included; empty if least > most. */
struct bbf_lttng_levels {
    int32_t least, most;
};
#define BBF_LTTNG_NO_LEVELS ((struct bbf_lttng_levels){INT32_MAX, INT32_MIN})

struct bbf_lttng_enabled {
    struct bbf_lttng_name *names; /* owned */
    size_t n, room;
};

#define BBF_LTTNG_ENABLED_INIT ((struct bbf_lttng_enabled){NULL, 0, 0})

void bbf_lttng_enabled_free(struct bbf_lttng_enabled *enabled);
/* Forget all, and keep the memory. */
void bbf_lttng_enabled_clear(struct bbf_lttng_enabled *enabled);
/* BBF_ENOMEM; BBF_ELIMIT: BBF_LTTNG_NAMES_MAX other names are enabled. */
int bbf_lttng_enabled_add(struct bbf_lttng_enabled *enabled,
                          const struct bbf_lttng_command *command);
/* BBF_ENOTFOUND. */
int bbf_lttng_enabled_remove(struct bbf_lttng_enabled *enabled, const char *name);
/* The smallest range that has all levels for which `logger` is enabled. */
struct bbf_lttng_levels bbf_lttng_enabled_levels(const struct bbf_lttng_enabled *enabled,
                                                 const char *logger);

/* Does `logger` match? '*' stands for any text; "\*" and "\\" for those characters. */
bool bbf_lttng_matches(const char *pattern, const char *logger);

#endif
