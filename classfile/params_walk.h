/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/params_walk.h - the walk through one method: private to params_method.c, which has
 * frames and instructions, and params_calls.c, which has the calls.
 *
 * Threads: one owner.
 */
#ifndef BBF_CLASSFILE_PARAMS_WALK_H
#define BBF_CLASSFILE_PARAMS_WALK_H

#include "classfile/code.h"
#include "classfile/params.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The walk through one method. A frame is depth, locals, stack; a slot is the set of the origins
 * that its value may be. Frame 0 is the current one. */
struct cf__walk {
    const struct bbf_cf_config *config;
    const struct bbf_cf_method *info;
    const struct bbf_cf_code *code;
    struct cf__params *to;
    uint8_t *marks;
    uint32_t size; /* of a frame */
    uint32_t n_calls;
    bool dead, failed;
    bool strong; /* a parameter's type alone says that it may be a buffer */
    uint8_t n_params, n_origins;
    uint16_t slots[CF__PARAMS_ORIGINS]; /* of the parameters */
    uint8_t arguments[CF__PARAMS_ORIGINS], flags[CF__PARAMS_ORIGINS];
};

static inline uint64_t *cf__frame(const struct cf__walk *w, uint32_t number)
{
    return (uint64_t *)(void *)w->to->frames.data + (size_t)number * w->size;
}

static inline uint64_t *cf__local(const struct cf__walk *w, uint32_t slot)
{
    return cf__frame(w, 0) + 1 + slot;
}

static inline uint64_t *cf__stack(const struct cf__walk *w)
{
    return cf__frame(w, 0) + 1 + w->code->max_locals;
}

static inline void cf__use(struct cf__walk *w, uint64_t origins, unsigned flags)
{
    for (; origins != 0; origins &= origins - 1)
        w->flags[__builtin_ctzll(origins)] |= (uint8_t)flags;
}

static inline unsigned cf__resource(const struct cf__walk *w, const char *type, const char *end)
{
    if (*type != 'L')
        return 0;
    return w->config->resource(w->config->ctx,
                               (struct bbf_cf_str){type + 1, (size_t)(end - type) - 2});
}

/* Note what the invoke at `p`, which pops `pops` slots, does with them. Returns the origins that
 * its result may be. */
uint64_t cf__params_invoke(struct cf__walk *w, const uint8_t *p, unsigned pops);

#endif
