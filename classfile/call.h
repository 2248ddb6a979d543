/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/call.h - inserted calls as bytes, and the constants that they need.
 *
 * Constants are only appended, so every index of the old class stays valid (`ldc` has an index of
 * one byte).
 * Invariant: links->count <= 65535, constant_pool_count is a u2.
 *
 * Threads: no shared state. Errors: false means that the pool is full; when memory runs out,
 * links->bytes.failed is set.
 */
#ifndef BBF_CLASSFILE_CALL_H
#define BBF_CLASSFILE_CALL_H

#include "classfile/bytes.h"
#include "classfile/classfile.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* arguments (arraylength: wide aload 4 + 1), invokestatic */
    CF__CALL_MAX = BBF_CF_MAX_ARGS * 5 + 3,
    CF__LINK_INTS = 8 /* recent Integers, which are reused; an older one is appended again */
};

/* Indexes of one target in the new pool; 0: not appended yet. */
struct cf__link {
    uint16_t owner, descriptor, method;
};

struct cf__links {
    const struct bbf_cf_config *config;
    struct cf__link *targets; /* config->n_targets */
    struct cf__out bytes;     /* the appended constants */
    uint32_t count;           /* of the whole pool = the next free index */
    struct {
        uint32_t value;
        uint16_t index;
    } ints[CF__LINK_INTS];
    unsigned next_int;
};

/* A state of the pool that a method which does not fit is rolled back to. */
struct cf__links_mark {
    uint32_t count;
    size_t len;
};
struct cf__links_mark cf__links_mark(const struct cf__links *links);
void cf__links_rollback(struct cf__links *links, struct cf__links_mark mark);

/* Append a Utf8, a class, or a class's field or method (`tag`). False: the pool is full. */
bool cf__links_utf8(struct cf__links *links, const char *text, uint16_t *index);
bool cf__links_class(struct cf__links *links, const char *name, uint16_t *index);
bool cf__links_member(struct cf__links *links, uint8_t tag, uint16_t owner, const char *name,
                      const char *descriptor, uint16_t *index);

/*
 * Write `call` to dst (room for CF__CALL_MAX bytes) and its length to *len. The caller has checked
 * the call against its method (rewrite.c). False: the pool is full.
 */
bool cf__call_encode(struct cf__links *links, const struct bbf_cf_call *call, uint8_t *dst,
                     uint32_t *len);

#endif
