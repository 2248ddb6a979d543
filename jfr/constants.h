/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/constants.h - the constant pools of a chunk: where each value is, decoded when it is used.
 *
 * A key may name a value that another checkpoint of the chunk has, earlier or later, and values may
 * name each other in a circle. Of a key that is there twice the later checkpoint's value holds.
 *
 * Threads: one thread reads, because what it decodes is remembered.
 */
#ifndef BBF_JFR_CONSTANTS_H
#define BBF_JFR_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/arena.h"
#include "jfr/decode.h"
#include "jfr/types.h"

/* Keys of one type and the places of their values. */
struct bbf_jfr_keys {
    struct bbf_jfr_place {
        uint64_t key, at; /* at: offset in the chunk; 0: the place is free */
    } * places;
    size_t n, room; /* room: 0 or a power of two */
};

/* All zero is empty. `at` is not 0; a key that is there keeps its place. False: no memory. */
bool bbf_jfr_keys_add(struct bbf_jfr_keys *keys, uint64_t key, uint64_t at);
/* 0: it is not there. */
uint64_t bbf_jfr_keys_get(const struct bbf_jfr_keys *keys, uint64_t key);

/* The place of a key, NULL: it is not there. Valid until the next bbf_jfr_keys_add(). */
const struct bbf_jfr_place *bbf_jfr_keys_find(const struct bbf_jfr_keys *keys, uint64_t key);

struct bbf_jfr_value;

/* The constants of one type. */
struct bbf_jfr_pooled {
    struct bbf_jfr_keys keys;
    const struct bbf_jfr_value **decoded; /* by place: jfr/value.h; NULL: none yet, or not at all */
    bool
        is_kept; /* what was decoded stays: values of this type have no list, which could be long */
};

/* Decoded values stay until the chunk is closed; they never take more bytes than this. */
enum { BBF_JFR_DECODED_MAX = 16 << 20 };

struct bbf_jfr_decoded {
    struct bbf_jfr_arena memory;
    uint64_t refused; /* how often there was no room */
};

struct bbf_jfr_constants {
    struct bbf_jfr_pooled *of_type; /* by bbf_jfr_type.index */
    size_t n_types;
    struct bbf_jfr_decoded *decoded;
};

/* Skip a value of that type, or of that field. False: it is cut, or nested too deeply. */
bool bbf_jfr_skip(struct bbf_jfr_cursor *c, const struct bbf_jfr_type *type);
bool bbf_jfr_skip_field(struct bbf_jfr_cursor *c, const struct bbf_jfr_field *field);

/* Empty, for the types of `metadata`. BBF_ENOMEM. */
int bbf_jfr_constants_init(struct bbf_jfr_constants *constants,
                           const struct bbf_jfr_metadata *metadata);
void bbf_jfr_constants_free(struct bbf_jfr_constants *constants);

/* What a checkpoint event says before its pools. */
struct bbf_jfr_checkpoint {
    uint64_t size;
    int64_t delta; /* to the previous checkpoint; 0: it is the first */
};

/*
 * Add the values of the checkpoint at offset `at` of the chunk's `len` bytes; keys that are there
 * keep their value. BBF_EFORMAT: no checkpoint, or only its first pools could be read (these are
 * added); BBF_ENOMEM.
 */
int bbf_jfr_constants_add(struct bbf_jfr_constants *constants,
                          const struct bbf_jfr_metadata *metadata, const unsigned char *chunk,
                          size_t len, uint64_t at, struct bbf_jfr_checkpoint *head);

/*
 * Where the value of `key` is in the chunk; 0: it is not there (null). *slot (NULL is allowed) is
 * where what is decoded of it is remembered, or NULL: it cannot be. All keys must have been added.
 */
uint64_t bbf_jfr_constant_at(const struct bbf_jfr_constants *constants,
                             const struct bbf_jfr_type *type, uint64_t key,
                             const struct bbf_jfr_value ***slot);
/* Memory for `n` decoded values of `size` bytes; NULL: no room. */
void *bbf_jfr_take_decoded(const struct bbf_jfr_constants *constants, size_t n, size_t size);

#endif
