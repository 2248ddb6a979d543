/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/join.h - several recordings as one, chunk by chunk in the order of their start.
 *
 * The first recording's chunks are copied. The chunks of each other recording get type ids of their
 * own and the clock of the first chunk (jfr/rewrite.h has the reasons).
 *
 * Threads: one at a time.
 */
#ifndef BBF_JFR_JOIN_H
#define BBF_JFR_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_jfr_part {
    const unsigned char *bytes;
    size_t len;
};

struct bbf_jfr_join {
    int (*put)(void *ctx, const char *data, size_t len); /* not BBF_OK stops it */
    void *ctx;
    /* results */
    uint64_t chunks;
    size_t bad_part; /* BBF_EFORMAT: the part that is damaged, and where */
    uint64_t bad_offset;
};

/* BBF_EFORMAT: a part is damaged (bbf_jfr_repair() first); nothing was put. BBF_ENOMEM; or what
 * put() returned. `same_process`: the parts are pieces of one JVM's recording, and all are copied.
 */
int bbf_jfr_join(const struct bbf_jfr_part *parts, size_t n, bool same_process,
                 struct bbf_jfr_join *join);

#endif
