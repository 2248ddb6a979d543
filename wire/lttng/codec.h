/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/lttng/codec.h - the messages between an application and LTTng's session daemon in its JUL
 * domain, as bytes: what the daemon commands, what the application answers. Knows no socket.
 * Source: docs/lttng.md: protocol; lttng-tools 2.8 to 2.13 as observed; RFC v0.1 of 11 September
 * 2013.
 *
 * Two versions, which share the numbers of commands and nothing else: 2.0, which every daemon since
 * 2.8 has, and 0.1, the RFC. All integers are big-endian. The daemon commands, one at a time; the
 * application answers each but REGISTERED.
 *
 * Threads: any; pure.
 */
#ifndef BBF_WIRE_LTTNG_CODEC_H
#define BBF_WIRE_LTTNG_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum bbf_lttng_version { BBF_LTTNG_2_0, BBF_LTTNG_0_1 };

enum bbf_lttng_number {
    BBF_LTTNG_LIST = 1,
    BBF_LTTNG_ENABLE,
    BBF_LTTNG_DISABLE,
    /* 2.0 only */
    BBF_LTTNG_REGISTERED,
    BBF_LTTNG_CONTEXT_ENABLE,
    BBF_LTTNG_CONTEXT_DISABLE
};

enum bbf_lttng_code { BBF_LTTNG_SUCCESS = 1, BBF_LTTNG_INVALID, BBF_LTTNG_UNKNOWN_NAME };

enum bbf_lttng_level_type { BBF_LTTNG_LEVEL_ALL, BBF_LTTNG_LEVEL_RANGE, BBF_LTTNG_LEVEL_SINGLE };

enum {
    BBF_LTTNG_NAME_SIZE = 256,    /* with the NUL; a longer one in a list kills sessiond 2.13 */
    BBF_LTTNG_FILTER_MAX = 65536, /* with the NUL, as liblttng-ctl limits it */
    BBF_LTTNG_PAYLOAD_MAX = 70 * 1024,
    BBF_LTTNG_HEADER_MAX = 24
};

/* Texts point into the bytes that were decoded, and end with a NUL there. */
struct bbf_lttng_command {
    uint64_t number;  /* enum bbf_lttng_number, or another: to be answered BBF_LTTNG_INVALID */
    const char *name; /* ENABLE, DISABLE: 1 to 255 bytes */
    int32_t level;    /* ENABLE: java.util.logging.Level.intValue() */
    enum bbf_lttng_level_type type; /* ENABLE */
    const char *filter;             /* ENABLE: as the daemon sends it; NULL: none */
    const char *provider, *context; /* CONTEXT_…: "$app.bbflow", "pool" */
};

/*
 * The first command of `in`.
 *   BBF_OK       *used bytes belong to it.
 *   BBF_EMORE    *used is the length below which trying again is in vain.
 *   BBF_EFORMAT  malformed: *used bytes belong to it, out->number is known; answer INVALID.
 *   BBF_ELIMIT   the payload is larger than BBF_LTTNG_PAYLOAD_MAX: end the connection.
 *   BBF_EVERSION these are bytes of the other version, or of no known one: end the connection.
 * *why is a constant text for the last three, else NULL.
 */
int bbf_lttng_decode(enum bbf_lttng_version version, struct bbf_lttng_command *out,
                     const uint8_t *in, size_t len, size_t *used, const char **why);

/* What the application sends first in 2.0: who it is. `pid` is shown by `lttng list`. */
void bbf_lttng_add_registration(struct bbf_buf *out, uint32_t pid);
/* The answer to every command but LIST and REGISTERED. */
void bbf_lttng_add_code(struct bbf_buf *out, enum bbf_lttng_code code);
/* The answer to LIST. BBF_EINVAL, and nothing is added: a name is empty or too long. */
int bbf_lttng_add_list(enum bbf_lttng_version version, struct bbf_buf *out,
                       const char *const *names, size_t n);

#endif
