/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/params_walk.h - the walk through one method: private to params_method.c, which has
 * frames and instructions, params_calls.c, which has the calls, and params_throws.c, which has what
 * exceptions leave behind.
 *
 * Threads: one owner.
 */
#ifndef BBF_CLASSFILE_PARAMS_WALK_H
#define BBF_CLASSFILE_PARAMS_WALK_H

#include "classfile/code.h"
#include "classfile/params.h"
#include "core/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The walk through one method. A frame is depth, locals, stack, and two slots of struct cf__held; a
 * slot is the set of the origins that its value may be. Frame 0 is the current one. */
struct cf__walk {
    const struct bbf_cf_config *config;
    const struct bbf_cf_method *info;
    const struct bbf_cf_code *code;
    struct cf__params *to;
    uint8_t *marks;
    uint32_t size;              /* of a frame */
    uint32_t n_calls, n_handed; /* handed: with an origin */
    uint32_t pc;
    uint16_t exception; /* of the last call: the constructor of an exception, in the pool; 0 */
    uint64_t fresh;     /* origins that are no parameter, nor the result of a call that had one */
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

/* What the method has at a place, as part of a frame. */
struct cf__held {
    uint64_t origins; /* not taken, on one of the ways here */
    uint32_t via;     /* handlers that lead here */
    uint32_t passed;  /* calls with an origin, made on every way here; CF__INSIDE */
};
#define CF__INSIDE (1u << CF__PARAMS_HANDED) /* every way here goes through a handler */
enum { CF__HELD_SLOTS = sizeof(struct cf__held) / sizeof(uint64_t) };

static inline struct cf__held *cf__held(const struct cf__walk *w, uint64_t *frame)
{
    return (struct cf__held *)(void *)(frame + w->size - CF__HELD_SLOTS);
}

/* The method gives these up, here. */
void cf__throws_taken(struct cf__walk *w, uint64_t origins);
/* It calls a method with this one, which may take it; the method has made n_handed such calls. */
void cf__throws_handed(struct cf__walk *w, unsigned origin);
/* It has a new one. */
void cf__throws_made(struct cf__walk *w, unsigned origin);
/* The instruction calls that method of the pool, or throws (0: an exception of no known class). */
void cf__throws_note(struct cf__walk *w, uint16_t index, bool is_throw);

/* The walk begins; a handler is led to, from `from`; a jump leads back; the walk has ended. */
void cf__throws_begin(struct cf__walk *w);
void cf__throws_enter(struct cf__walk *w, uint32_t range, const struct cf__held *from,
                      struct cf__held *to, bool made);
void cf__throws_back(struct cf__walk *w);
/* Append the method's throws; returns how many. */
unsigned cf__throws_end(struct cf__walk *w, struct bbf_fact_throw *throws, uint8_t *more);

static inline void cf__use(struct cf__walk *w, uint64_t origins, unsigned flags)
{
    if (origins != 0 && (flags & BBF_FACT_TAKES) != 0)
        cf__throws_taken(w, origins);
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

/* Forget the origins that only exceptions need: their calls are calls without one. */
void cf__params_forget_fresh(struct cf__walk *w);

/* Note what the invoke at `p`, which pops `pops` slots, does with them. Returns the origins that
 * its result may be. */
uint64_t cf__params_invoke(struct cf__walk *w, const uint8_t *p, unsigned pops);

#endif
