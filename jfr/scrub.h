/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/scrub.h - a copy of a recording in which text is unreadable: each byte of what matches
 * becomes a '*', and all sizes stay. Memory: one chunk.
 *
 * It looks at strings in events and constants (also class, method and thread names), not at the
 * names of types and fields. It reads damaged parts as far as possible; the rest is reported.
 *
 * Threads: one at a time.
 */
#ifndef BBF_JFR_SCRUB_H
#define BBF_JFR_SCRUB_H

#include <stddef.h>
#include <stdint.h>

#include "jfr/recording.h"

struct bbf_jfr_scrub {
    const char *pattern; /* POSIX extended regular expression */
    /* The copy, chunk by chunk; not BBF_OK stops it. */
    int (*put)(void *ctx, const char *data, size_t len);
    void *ctx;
    /* results */
    char why[128]; /* BBF_EINVAL: what is wrong with the pattern */
    uint64_t matches;
};

/* 0, or as bbf_jfr_next_chunk() at the end of `recording`; BBF_EINVAL: the pattern; BBF_ENOMEM; or
 * what put() returned. */
int bbf_jfr_scrub(struct bbf_jfr_recording *recording, struct bbf_jfr_scrub *scrub);

#endif
