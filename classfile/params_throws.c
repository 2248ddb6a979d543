/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/params_throws.c - which calls may leave a method by an exception while it holds a
 * buffer that it would release, keep or hand over later, and which no handler takes either.
 *
 * Each frame has the origins held on one of the ways to it, and the handlers on a way to it; an
 * origin that the method gives up is taken by these handlers. Doubts end in silence: a handler that
 * was not walked, or that leads back (a retry), takes all.
 */
#include "classfile/params_walk.h"

#include "classfile/origin.h"
#include "classfile/reader.h"
#include "core/facts.h"

#include <string.h>

static struct cf__held *held_now(const struct cf__walk *w)
{
    return cf__held(w, cf__frame(w, 0));
}

/* ---- the walk ---- */

/* The number of the handler at `pc`, a new one if needed. */
static uint8_t number_of(struct cf__throws *t, uint16_t pc)
{
    for (uint32_t i = 0; i < t->n_handlers; i++)
        if (t->handler[i] == pc)
            return (uint8_t)i;
    if (t->n_handlers == CF__PARAMS_HANDLERS)
        return CF__PARAMS_HANDLERS;
    t->handler[t->n_handlers] = pc;
    t->takes[t->n_handlers] = t->calls[t->n_handlers] = 0;
    return (uint8_t)t->n_handlers++;
}

void cf__throws_begin(struct cf__walk *w)
{
    struct cf__throws *t = &w->to->throws;
    const uint8_t *p = w->code->exceptions;

    t->n_handlers = t->more = 0;
    w->to->pending.len = 0;
    for (uint32_t i = 0; i < w->code->n_exceptions && i < CF__PARAMS_RANGES; i++, p += 8)
        t->handler_of[i] = number_of(t, cf__u2(p + 4));
    for (unsigned i = 0; i < w->n_params; i++)
        cf__throws_made(w, i);
}

void cf__throws_made(struct cf__walk *w, unsigned origin)
{
    if (origin >= CF__PARAMS_HELD)
        return;
    w->to->throws.taken_at[origin] = 0;
    held_now(w)->origins |= UINT64_C(1) << origin;
}

/* Something of these origins happens that gives them up, or may. */
static void give_up_at(struct cf__walk *w, uint64_t origins)
{
    if (held_now(w)->passed & CF__INSIDE)
        return;
    for (uint32_t left = (uint32_t)origins; left != 0; left &= left - 1)
        w->to->throws.taken_at[__builtin_ctz(left)] = (uint16_t)w->pc;
}

void cf__throws_taken(struct cf__walk *w, uint64_t origins)
{
    struct cf__held *held = held_now(w);

    held->origins &= ~origins;
    for (uint32_t via = held->via; via != 0; via &= via - 1)
        w->to->throws.takes[__builtin_ctz(via)] |= (uint32_t)origins;
    give_up_at(w, origins);
}

void cf__throws_handed(struct cf__walk *w, unsigned origin)
{
    struct cf__held *held = held_now(w);
    uint32_t bit = 1u << w->n_handed;

    if (w->n_handed == CF__PARAMS_HANDED) {
        cf__throws_taken(w, UINT64_C(1) << origin);
        return;
    }
    w->n_handed++;
    held->passed |= bit;
    for (uint32_t via = held->via; via != 0; via &= via - 1)
        w->to->throws.calls[__builtin_ctz(via)] |= bit;
    give_up_at(w, UINT64_C(1) << origin);
}

void cf__throws_back(struct cf__walk *w)
{
    for (uint32_t via = held_now(w)->via; via != 0; via &= via - 1)
        w->to->throws.takes[__builtin_ctz(via)] = UINT32_MAX;
}

void cf__throws_enter(struct cf__walk *w, uint32_t range, const struct cf__held *from,
                      struct cf__held *to, bool made)
{
    uint8_t number = w->to->throws.handler_of[range];

    to->origins |= from->origins;
    to->passed = made ? from->passed | CF__INSIDE : to->passed & (from->passed | CF__INSIDE);
    to->via |= from->via;
    if (number < CF__PARAMS_HANDLERS)
        to->via |= 1u << number;
}

/* The handlers of exceptions at `pc`; false: of one it is not known what it takes. */
static bool handlers_at(const struct cf__walk *w, uint32_t pc, uint32_t *handlers)
{
    const struct cf__throws *t = &w->to->throws;
    const uint8_t *p = w->code->exceptions;

    *handlers = 0;
    for (uint32_t i = 0; i < w->code->n_exceptions; i++, p += 8) {
        if (pc < cf__u2(p) || pc >= cf__u2(p + 2))
            continue;
        if (t->handler_of[i] == CF__PARAMS_HANDLERS || cf__u2(p + 4) <= pc ||
            cf__u2(p + 4) >= w->code->len)
            return false;
        *handlers |= 1u << t->handler_of[i];
    }
    return true;
}

void cf__throws_note(struct cf__walk *w, uint16_t index, bool is_throw)
{
    struct cf__out *pending = &w->to->pending;
    const struct cf__held *held = held_now(w);
    struct cf__pending one = {.held = (uint32_t)held->origins,
                              .passed = held->passed,
                              .pc = (uint16_t)w->pc,
                              .index = index,
                              .is_throw = is_throw};

    if (one.held == 0 || (held->passed & CF__INSIDE) || !handlers_at(w, w->pc, &one.handlers))
        return;
    if (pending->len == CF__PARAMS_PENDING * sizeof one)
        w->to->throws.more++;
    else
        cf__out_put(pending, &one, sizeof one);
}

/* ---- what is left of them ---- */

/* What the method holds at that call, gives up later, and no handler takes. */
static uint32_t still_held(const struct cf__walk *w, const struct cf__pending *p, uint32_t *caught)
{
    const struct cf__throws *t = &w->to->throws;
    const uint16_t *frame_of = (const uint16_t *)(const void *)w->to->frame_of.data;
    uint32_t held = p->held;

    *caught = 0;
    for (uint32_t left = p->handlers; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        if (frame_of[t->handler[i]] == 0)
            return 0;
        held &= ~t->takes[i];
        *caught |= t->calls[i];
    }
    for (uint32_t left = held; left != 0; left &= left - 1) {
        unsigned origin = (unsigned)__builtin_ctz(left);

        if (t->taken_at[origin] <= p->pc)
            held &= ~(1u << origin);
    }
    return held;
}

static struct cf__pending *pending_of(const struct cf__walk *w, uint32_t *n)
{
    *n = (uint32_t)(w->to->pending.len / sizeof(struct cf__pending));
    return (struct cf__pending *)(void *)w->to->pending.data;
}

/* Drop what does not leave the method, or practically never throws; how many there are by rank. */
static void sift(const struct cf__walk *w, unsigned by_rank[4])
{
    uint32_t n, caught;
    struct cf__pending *p = pending_of(w, &n);

    for (; n > 0; n--, p++) {
        struct bbf_cf_called called;

        p->held = still_held(w, p, &caught);
        if (p->held == 0 || p->is_throw) {
            by_rank[0] += p->held != 0;
            continue;
        }
        called.opcode = w->code->code[p->pc];
        if (!cf__pool_invoke(w->code->owner, p->index, &called.owner, &called.name,
                             &called.descriptor) ||
            (p->rank = (uint8_t)w->config->may_throw(w->config->ctx, &called)) == 0)
            p->held = 0;
        else
            by_rank[p->rank & 3]++;
    }
}

/* Append the name of a method of the pool, unless the class has it; false: no room. */
static bool name_of(struct cf__walk *w, const struct cf__pending *p, uint16_t *name)
{
    const uint16_t key = (uint16_t)(p->index | (p->is_throw ? 0x8000 : 0));
    struct cf__out *names = &w->to->names, *of = &w->to->name_of;
    const uint16_t *pairs = (const uint16_t *)(const void *)of->data;
    struct bbf_cf_str owner = {"", 0}, method, descriptor;
    uint16_t pair[2] = {key, (uint16_t)names->len};

    for (size_t i = 0; i < of->len / sizeof *pairs; i += 2)
        if (pairs[i] == key) {
            *name = pairs[i + 1];
            return true;
        }
    if (p->index >= 0x8000 ||
        (p->index != 0 && !cf__pool_invoke(w->code->owner, p->index, &owner, &method, &descriptor)))
        return false;
    if (p->is_throw)
        method = (struct bbf_cf_str){BBF_FACT_THROW, sizeof BBF_FACT_THROW - 1};
    if (names->len + owner.len + method.len + 2 > UINT16_MAX)
        return false;
    cf__out_put(names, owner.s, owner.len);
    cf__out_u1(names, 0);
    cf__out_put(names, method.s, method.len);
    cf__out_u1(names, 0);
    cf__out_put(of, pair, sizeof pair);
    *name = pair[1];
    return true;
}

/* The same method on the same line says nothing new. */
static bool is_there(const struct bbf_fact_throw *throws, unsigned n,
                     const struct bbf_fact_throw *one)
{
    for (unsigned i = 0; i < n; i++)
        if (throws[i].line == one->line && throws[i].name == one->name &&
            throws[i].held == one->held)
            return true;
    return false;
}

unsigned cf__throws_end(struct cf__walk *w, struct bbf_fact_throw *throws, uint8_t *more)
{
    struct cf__throws *t = &w->to->throws;
    unsigned by_rank[4] = {0}, rank = 0, room = CF__PARAMS_THROWS, n = 0;
    uint32_t left;
    const struct cf__pending *p = pending_of(w, &left);

    sift(w, by_rank);
    for (; rank < 3 && by_rank[rank] <= room; rank++) /* all of the ranks below have room */
        room -= by_rank[rank];
    for (; left > 0; left--, p++) {
        struct bbf_fact_throw one = {.held = p->held, .passed = p->passed & ~CF__INSIDE};

        if (p->held == 0)
            continue;
        if (p->rank > rank || (p->rank == rank && room == 0) || !name_of(w, p, &one.name)) {
            t->more++;
            continue;
        }
        room -= p->rank == rank;
        (void)still_held(w, p, &one.caught);
        one.line = (uint16_t)cf__line_at(w->code, p->pc);
        if (!is_there(throws, n, &one))
            throws[n++] = one;
    }
    *more = (uint8_t)(n == 0 ? 0 : t->more < UINT8_MAX ? t->more : UINT8_MAX);
    return n;
}
