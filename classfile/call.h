/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/call.h - inserted calls as bytes, and the constants that they need.
 *
 * Constants are only appended, so every index of the old class stays right (`ldc` has one byte).
 * Invariant: links->count <= 65535, constant_pool_count is a u2.
 *
 * Threads: no shared state. Errors: false is "the pool is full"; out of memory shows in
 * links->bytes.failed.
 */
#ifndef BBF_CLASSFILE_CALL_H
#define BBF_CLASSFILE_CALL_H

#include "classfile/bytes.h"
#include "classfile/classfile.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* arguments (arraylength: wide aload 4 + 1), invokestatic */
    BBF__CALL_MAX = BBF_CF_MAX_ARGS * 5 + 3,
    BBF__LINK_INTS = 8 /* recent Integers that are found again; older ones are only repeated */
};

/* What one target has in the new pool; 0 is "not yet". */
struct bbf__link {
    uint16_t owner, descriptor, method;
};

struct bbf__links {
    const struct bbf_cf_config *config;
    struct bbf__link *targets; /* config->n_targets */
    struct bbf__out bytes;     /* the appended constants */
    uint32_t count;            /* of the whole pool by now = the next free index */
    struct {
        uint32_t value;
        uint16_t index;
    } ints[BBF__LINK_INTS];
    unsigned next_int;
};

/* A place to go back to when a method does not fit. */
struct bbf__links_mark {
    uint32_t count;
    size_t len;
};
struct bbf__links_mark bbf__links_mark(const struct bbf__links *links);
void bbf__links_rollback(struct bbf__links *links, struct bbf__links_mark mark);

/* Append a Utf8, a class, or a field or method (`tag`) of one. False: full. */
bool bbf__links_utf8(struct bbf__links *links, const char *text, uint16_t *index);
bool bbf__links_class(struct bbf__links *links, const char *name, uint16_t *index);
bool bbf__links_member(struct bbf__links *links, uint8_t tag, uint16_t owner, const char *name,
                       const char *descriptor, uint16_t *index);

/*
 * Write `call` to dst (BBF__CALL_MAX bytes) and its length to *len. The call has been checked
 * against its method (rewrite.c). False: full.
 */
bool bbf__call_encode(struct bbf__links *links, const struct bbf_cf_call *call, uint8_t *dst,
                      uint32_t *len);

#endif
