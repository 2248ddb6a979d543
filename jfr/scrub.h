/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/scrub.h - makes text in a recording unreadable, in place: each byte of what matches becomes a
 * '*', and all sizes stay.
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
    char why[128];       /* BBF_EINVAL: what is wrong with it */
    uint64_t matches;
};

/* `bytes` are changed. Result as bbf_jfr_next_chunk() at the end of `recording`, which must be of
 * the same bytes; BBF_EINVAL: the pattern. */
int bbf_jfr_scrub(unsigned char *bytes, struct bbf_jfr_recording *recording,
                  struct bbf_jfr_scrub *scrub);

#endif
