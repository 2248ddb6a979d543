/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/objectstream.h - reads a Java object stream (java.io.ObjectOutputStream):
 * primitives out of block data, and objects as a small tree of nodes, with the handles that later
 * ones refer to. Source: Java Object Serialization Specification, chapter 6;
 * docs/btrace-wire.md 4.1.
 *
 *   77 05 07 00 01 6E 00 | 73 72 00 11 java.lang.Integer … 00 00 00 2A | 79
 *   block data: u1, utf    object: descriptor (handle 0), the object (1)  reset
 *
 * Invariants: a read past the available bytes sets `err` to BBF_EMORE; after that every read gives
 * 0 and changes nothing. The caller then takes the stream back to its last state
 * (bbf_ostream_begin) and tries again with more bytes. Errors are sticky.
 *
 * Threads: one owner. Units: bytes; nodes by number, 0 = null.
 */
#ifndef BBF_WIRE_BTRACE_V1_OBJECTSTREAM_H
#define BBF_WIRE_BTRACE_V1_OBJECTSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"

enum bbf_onode_kind {
    BBF_ONODE_NULL,
    BBF_ONODE_CLASS,  /* a class descriptor: text = name, children = FIELDs, other = super */
    BBF_ONODE_FIELD,  /* of a descriptor: text = name, type */
    BBF_ONODE_STRING, /* text */
    BBF_ONODE_OBJECT, /* other = its descriptor, children = values of all fields, super's first */
    BBF_ONODE_ARRAY,  /* other = its descriptor, children or, of bytes, text */
    BBF_ONODE_PRIMITIVE, /* type, bits */
    BBF_ONODE_REFERENCE  /* other = the node that it refers to */
};

struct bbf_onode {
    uint8_t kind;
    char type;      /* B C D F I J S Z L [ */
    bool annotated; /* CLASS: more elements follow each of its objects */
    bool plain;     /* CLASS: serializable, so that its fields can be read */
    char boxed;     /* CLASS: the type of `value`, if it is the only field of its objects; else 0 */
    uint32_t other, child, last, next;
    uint64_t bits;
    size_t text, len; /* UTF-8 (bytes of an array: raw) in texts */
};

struct bbf_ostream {
    const uint8_t *in;
    size_t len, pos;
    size_t block;     /* bytes left of the current block of data */
    size_t want;      /* BBF_EMORE: length below which another try cannot succeed */
    size_t max_bytes; /* of one command, and of the texts kept between resets */
    size_t max_nodes; /* kept between resets */
    int err;
    const char *why;
    struct bbf_onode *nodes; /* [0] is null */
    size_t n_nodes, cap_nodes;
    uint32_t *handles;
    size_t n_handles, cap_handles;
    struct bbf_buf texts;
    struct { /* the stream's state at bbf_ostream_begin() */
        size_t block, nodes, handles, texts;
    } mark;
};

int bbf_ostream_init(struct bbf_ostream *s, size_t max_bytes, size_t max_nodes); /* BBF_ENOMEM */
void bbf_ostream_free(struct bbf_ostream *s);
/* Bytes allocated. */
size_t bbf_ostream_size(const struct bbf_ostream *s);
/* Between commands: free the memory that no kept object needs. */
void bbf_ostream_trim(struct bbf_ostream *s);

/* Read from `in`, starting at the state of the last bbf_ostream_begin() or _commit(). */
void bbf_ostream_begin(struct bbf_ostream *s, const uint8_t *in, size_t len);
/* Consume the bytes that were read: s->pos bytes. */
void bbf_ostream_commit(struct bbf_ostream *s);
enum { BBF_OSTREAM_RESET = 0x79 };
/* Between commands: forget all objects, as at a reset. */
static inline void bbf_ostream_forget(struct bbf_ostream *s)
{
    s->n_nodes = s->mark.nodes = 1;
    s->n_handles = s->mark.handles = 0;
    s->texts.len = s->mark.texts = 0;
}
/* Between commands: consume each reset that follows, and do the same. */
void bbf_ostream_resets(struct bbf_ostream *s);

/* The slow path of bbf_ostream_number(), if the next n bytes of the block are not contiguous. */
uint64_t bbf_ostream_pieces(struct bbf_ostream *s, size_t n);
/* n bytes of block data, big-endian. */
static inline uint64_t bbf_ostream_number(struct bbf_ostream *s, size_t n)
{
    if (s->block < n || s->len - s->pos < n || s->err != BBF_OK)
        return bbf_ostream_pieces(s, n);
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value = value << 8 | s->in[s->pos + i];
    s->pos += n;
    s->block -= n;
    return value;
}
static inline uint8_t bbf_ostream_u1(struct bbf_ostream *s)
{
    return (uint8_t)bbf_ostream_number(s, 1);
}
static inline uint32_t bbf_ostream_u4(struct bbf_ostream *s)
{
    return (uint32_t)bbf_ostream_number(s, 4);
}
static inline uint64_t bbf_ostream_u8(struct bbf_ostream *s)
{
    return bbf_ostream_number(s, 8);
}
/* `n` bytes of block data, appended to `out`. */
void bbf_ostream_bytes(struct bbf_ostream *s, struct bbf_buf *out, size_t n);
/* A UTF of block data, appended to `out` as UTF-8. */
void bbf_ostream_utf(struct bbf_ostream *s, struct bbf_buf *out);
/* Read one object, string, array or null between the block data. Returns its node (never a
 * REFERENCE). */
uint32_t bbf_ostream_object(struct bbf_ostream *s);
/* A fast path of the same for a box (Integer, …) whose class was described before: the value is its
 * only child. 0: nothing was read. */
uint32_t bbf_ostream_box(struct bbf_ostream *s);

/* Stop with an error, once. */
void bbf_ostream_fail(struct bbf_ostream *s, int err, const char *why);

/* The node behind any references; node 0 for null. */
static inline const struct bbf_onode *bbf_onode_at(const struct bbf_ostream *s, uint32_t number)
{
    const struct bbf_onode *n = &s->nodes[number];
    return n->kind == BBF_ONODE_REFERENCE ? &s->nodes[n->other] : n;
}
/* Is the object of class `name` (dotted) or a subclass? */
bool bbf_onode_has_class(const struct bbf_ostream *s, const struct bbf_onode *object,
                         const char *name);
/* The value of a field by name; node 0 (null) if there is none. */
const struct bbf_onode *bbf_onode_field(const struct bbf_ostream *s, const struct bbf_onode *object,
                                        const char *name);

#endif
