/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/params.h"

#include "classfile/params_walk.h"
#include "classfile/reader.h"
#include "classfile/stack.h"
#include "core/facts.h"

#include <string.h>

/* Opcodes that move references (JVMS 6.5). */
enum {
    ASTORE = 58,
    ISTORE = 54,
    ISTORE_0 = 59,
    ASTORE_0 = 75,
    ASTORE_3 = 78,
    AASTORE = 83,
    DUP = 89,
    DUP_X1 = 90,
    DUP_X2 = 91,
    DUP2 = 92,
    DUP2_X1 = 93,
    DUP2_X2 = 94,
    SWAP = 95,
    JSR = 168,
    RET = 169,
    PUTSTATIC = 179,
    PUTFIELD = 181,
    INVOKEVIRTUAL = 182,
    INVOKEDYNAMIC = 186,
    JSR_W = 201
};

/* ---- frames ---- */

/* A new frame, all zero; 0: no room. */
static uint32_t frame_new(struct cf__walk *w)
{
    size_t bytes = w->size * sizeof(uint64_t), at = w->to->frames.len;
    uint8_t *p = at + bytes <= CF__PARAMS_SLOTS * sizeof(uint64_t)
                     ? cf__out_reserve(&w->to->frames, bytes)
                     : NULL;

    if (p == NULL) {
        w->failed = true;
        return 0;
    }
    memset(p, 0, bytes);
    w->to->frames.len += bytes;
    return (uint32_t)(at / bytes);
}

/* Add the origins of `from` to `to`. */
static void merge(struct cf__walk *w, uint64_t *to, const uint64_t *from)
{
    if (to[0] != from[0]) { /* no verified class has two depths at one place */
        w->failed = true;
        return;
    }
    for (uint32_t i = 1; i < 1 + w->code->max_locals + (uint32_t)from[0]; i++)
        to[i] |= from[i];
    const struct cf__held *add =
        (const struct cf__held *)(const void *)(from + w->size - CF__HELD_SLOTS);
    cf__held(w, to)->origins |= add->origins;
    cf__held(w, to)->via |= add->via;
    cf__held(w, to)->passed &= add->passed;
}

/* The frame of an instruction that has not been reached yet, made if needed; NULL: no room. */
static uint64_t *frame_at(struct cf__walk *w, uint32_t pc, bool *made)
{
    uint16_t *of = (uint16_t *)(void *)w->to->frame_of.data + pc;

    *made = *of == 0;
    if (*of == 0)
        *of = (uint16_t)frame_new(w); /* 2^17 slots, of at least 2 each, are 2^16 frames */
    return *of != 0 ? cf__frame(w, *of) : NULL;
}

/* Carry the current frame to `to`, where a jump from `from` leads. */
static void lead_to(struct cf__walk *w, uint32_t from, int64_t offset)
{
    uint32_t to = (uint32_t)((int64_t)from + offset); /* within the code: it was scanned */
    uint64_t *there;
    bool made;

    if (to <= from)
        cf__throws_back(w);
    if (to <= from || (there = frame_at(w, to, &made)) == NULL)
        return;
    if (made)
        memcpy(there, cf__frame(w, 0), w->size * sizeof *there);
    else
        merge(w, there, cf__frame(w, 0));
}

static void lead_on(struct cf__walk *w, uint32_t pc, uint32_t len)
{
    const uint8_t *c = w->code->code;
    uint32_t base = (pc + 4) & ~3u, at, step;

    if (cf__opcodes[c[pc]] & CF__BRANCH2) {
        lead_to(w, pc, cf__s2(c + pc + 1));
    } else if (cf__opcodes[c[pc]] & CF__BRANCH4) {
        lead_to(w, pc, cf__s4(c + pc + 1));
    } else if (cf__opcodes[c[pc]] & CF__SWITCH) {
        step = c[pc] == CF__TABLESWITCH ? 4 : 8;
        lead_to(w, pc, cf__s4(c + base));
        for (at = base + 12; at < pc + len; at += step)
            lead_to(w, pc, cf__s4(c + at));
    }
}

/* Handlers after `pc` get the locals from `first` to `last` of the ranges that include it;
 * `begins`: of those that begin there. A handler starts with the exception on its stack. */
static void lead_to_handlers(struct cf__walk *w, uint32_t pc, bool begins, uint32_t first,
                             uint32_t last)
{
    const uint8_t *p = w->code->exceptions;

    for (uint32_t i = 0; i < w->code->n_exceptions && !w->failed; i++, p += 8) {
        uint32_t handler = cf__u2(p + 4);
        uint64_t *there;
        bool made;

        if (pc < cf__u2(p) || pc >= cf__u2(p + 2) || handler <= pc || handler >= w->code->len ||
            (begins && pc != cf__u2(p)) || (there = frame_at(w, handler, &made)) == NULL)
            continue;
        there[0] = 1;
        cf__throws_enter(w, i, cf__held(w, cf__frame(w, 0)), cf__held(w, there), made);
        for (uint32_t slot = first; slot <= last; slot++)
            there[1 + slot] |= *cf__local(w, slot);
    }
}

static void mark_ranges(struct cf__walk *w)
{
    const uint8_t *p = w->code->exceptions;

    for (uint32_t i = 0; i < w->code->n_exceptions; i++, p += 8)
        if (cf__u2(p) < w->code->len)
            w->marks[cf__u2(p)] |= CF__RANGE;
}

/* ---- origins ---- */

/* An origin for each parameter that may be or hold what is followed. */
static void add_parameters(struct cf__walk *w)
{
    struct bbf_cf_str d = w->info->descriptor;
    const char *p = d.s + 1, *end = d.s + d.len, *next;
    unsigned slot = w->code->is_static ? 0 : 1, argument = slot;

    for (; p < end && *p != ')'; p = next, argument++) {
        unsigned slots = 0, kind;

        if ((next = cf__type_skip(p, end, &slots)) == NULL || slot + slots > w->code->max_locals) {
            w->failed = true;
            return;
        }
        kind = cf__resource(w, p, next);
        w->strong = w->strong || kind == BBF_FACT_SEEN;
        if (kind != 0 && w->n_params < CF__PARAMS_ORIGINS / 2) {
            w->arguments[w->n_params] = (uint8_t)argument;
            w->flags[w->n_params] = kind & BBF_FACT_WEAK;
            w->slots[w->n_params++] = (uint16_t)slot;
        }
        slot += slots;
    }
    w->n_origins = w->n_params;
}

/* ---- instructions ---- */

/* A store of `slots` slots at pc; `origins` of a reference, else 0. */
static void store(struct cf__walk *w, uint32_t pc, unsigned slots, uint64_t origins)
{
    uint32_t slot = cf__slot_of(w->code->code + pc, ISTORE_0);

    if (slot + slots > w->code->max_locals) {
        w->failed = true;
        return;
    }
    for (unsigned i = 0; i < slots; i++)
        *cf__local(w, slot + i) = 0;
    *cf__local(w, slot) = origins;
    if (origins != 0)
        lead_to_handlers(w, pc, false, slot, slot);
}

/* dup and its kin: the top `n` slots once more, below `below` others. */
static void duplicate(struct cf__walk *w, unsigned n, unsigned below)
{
    uint64_t *at = cf__stack(w) + cf__frame(w, 0)[0] - n - below;

    memmove(at + n, at, (n + below) * sizeof *at);
    memmove(at, at + n + below, n * sizeof *at);
}

static void swap(const struct cf__walk *w)
{
    uint64_t *top = cf__stack(w) + cf__frame(w, 0)[0] - 1, below = top[-1];

    top[-1] = top[0];
    top[0] = below;
}

/* What an instruction does before its slots are popped; returns the origins of what it pushes. */
static uint64_t act(struct cf__walk *w, uint32_t pc, uint8_t opcode, unsigned pops)
{
    const uint8_t *p = w->code->code + pc;
    uint64_t top = pops > 0 ? cf__stack(w)[cf__frame(w, 0)[0] - 1] : 0;
    uint32_t slot;

    if (cf__is_aload(p, &slot)) {
        w->failed = w->failed || slot >= w->code->max_locals;
        return w->failed ? 0 : *cf__local(w, slot);
    }
    if (opcode >= ISTORE && opcode <= ASTORE_3) {
        bool reference = opcode == ASTORE || opcode >= ASTORE_0;

        store(w, pc, pops, reference ? top : 0);
        return 0;
    }
    if (opcode >= INVOKEVIRTUAL && opcode <= INVOKEDYNAMIC)
        return cf__params_invoke(w, p, pops);
    if (opcode == AASTORE || opcode == PUTSTATIC || opcode == PUTFIELD)
        cf__use(w, top, BBF_FACT_KEEPS);
    else if (opcode == CF__ARETURN)
        cf__use(w, top, BBF_FACT_RETURNS);
    else if (opcode == CF__ATHROW)
        cf__throws_note(w, w->exception, true);
    return opcode == CF__CHECKCAST ? top : 0;
}

/* dup, swap; false: another instruction. */
static bool moves(struct cf__walk *w, uint8_t opcode)
{
    if (opcode == SWAP)
        swap(w);
    else if (opcode >= DUP && opcode <= DUP_X2)
        duplicate(w, 1, opcode - DUP);
    else if (opcode >= DUP2 && opcode <= DUP2_X2)
        duplicate(w, 2, opcode - DUP2);
    else
        return false;
    return true;
}

static void execute(struct cf__walk *w, uint32_t pc)
{
    const uint8_t *p = w->code->code + pc;
    uint8_t opcode = *p == CF__WIDE ? p[1] : *p;
    unsigned pops = 0, pushes = 0;
    bool dangling = false;
    uint64_t *depth, origins;

    if (!cf__stack_effect(w->code->owner, p, &pops, &pushes, &dangling) ||
        cf__frame(w, 0)[0] < pops || cf__frame(w, 0)[0] - pops + pushes > w->code->max_stack ||
        opcode == JSR || opcode == JSR_W || opcode == RET) {
        w->failed = true;
        return;
    }
    origins = moves(w, opcode) ? 0 : act(w, pc, opcode, pops);
    if (w->failed)
        return;
    depth = cf__frame(w, 0);
    *depth += (uint64_t)pushes - pops;
    if (opcode >= DUP && opcode <= SWAP)
        return;
    for (unsigned i = 0; i < pushes; i++)
        cf__stack(w)[*depth - pushes + i] = 0;
    if (origins != 0 && pushes == 1)
        cf__stack(w)[*depth - 1] = origins;
}

/* Jumps that lead to `pc`: their frames, and the current one if it falls through. */
static void arrive(struct cf__walk *w, uint32_t pc)
{
    uint16_t number = ((const uint16_t *)(const void *)w->to->frame_of.data)[pc];

    if (number == 0) { /* only backward jumps: the earlier locals, an empty stack */
        if (w->dead)
            cf__frame(w, 0)[0] = 0;
    } else if (w->dead) {
        memcpy(cf__frame(w, 0), cf__frame(w, number), w->size * sizeof(uint64_t));
    } else {
        merge(w, cf__frame(w, 0), cf__frame(w, number));
    }
    w->dead = false;
}

static void walk(struct cf__walk *w)
{
    const struct bbf_cf_code *code = w->code;

    for (uint32_t pc = 0, len; pc < code->len && !w->failed; pc += len) {
        uint8_t opcode = code->code[pc];

        len = cf__insn_length(code->code, code->len, pc);
        if (w->marks[pc] & CF__TARGET)
            arrive(w, pc);
        if (w->dead)
            continue;
        w->pc = pc;
        if ((w->marks[pc] & CF__RANGE) && code->max_locals > 0)
            lead_to_handlers(w, pc, true, 0, code->max_locals - 1u);
        execute(w, pc);
        if (!w->failed && (cf__opcodes[opcode] & CF__JUMPS))
            lead_on(w, pc, len);
        w->dead = cf__ends_flow(opcode == CF__WIDE ? code->code[pc + 1] : opcode);
    }
}

/* ---- a method ---- */

static void append(struct cf__walk *w)
{
    struct cf__out *out = &w->to->records;
    unsigned flags = w->n_params + w->n_origins, padded = (flags + 7) & ~7u;
    struct bbf_fact_throw throws[CF__PARAMS_THROWS];
    struct bbf_fact_method head = {.key = bbf_fact_method_key(w->info->name.s, w->info->name.len,
                                                              w->info->descriptor.s,
                                                              w->info->descriptor.len),
                                   .n_params = w->n_params,
                                   .n_origins = w->n_origins,
                                   .bytes_of_flags = (uint16_t)padded};
    static const uint8_t zero[8] = {0};

    head.n_throws = (uint8_t)(w->failed ? 0 : cf__throws_end(w, throws, &head.more_throws));
    if (head.n_throws == 0)
        cf__params_forget_fresh(w);
    head.n_calls = (uint16_t)w->n_calls;
    cf__out_put(out, &head, sizeof head);
    cf__out_put(out, w->arguments, w->n_params);
    cf__out_put(out, w->flags, w->n_origins);
    cf__out_put(out, zero, padded - flags);
    cf__out_put(out, w->to->calls.data, w->n_calls * sizeof(struct bbf_fact_call));
    cf__out_put(out, throws, head.n_throws * sizeof *throws);
    w->to->n_facts += w->n_params + w->n_calls + head.n_throws;
}

/* A method that could not be walked: its parameters' use is unknown. */
static void forget(struct cf__walk *w)
{
    w->n_calls = 0;
    w->to->calls.len = 0;
    w->n_origins = w->n_params;
    for (unsigned i = 0; i < w->n_params; i++)
        w->flags[i] |= BBF_FACT_UNKNOWN;
}

/* The first frame, and the table of frames. */
static bool begin(struct cf__walk *w)
{
    size_t bytes = 2 * ((size_t)w->code->len + 1);
    uint8_t *of;

    w->to->calls.len = w->to->frames.len = 0;
    of = cf__out_reserve(&w->to->frame_of, bytes);
    if (of == NULL)
        return false;
    memset(of, 0, bytes);
    (void)frame_new(w);
    for (unsigned i = 0; i < w->n_params && !w->failed; i++)
        *cf__local(w, w->slots[i]) = UINT64_C(1) << i;
    if (w->to->frames.len > 0)
        cf__throws_begin(w);
    return w->to->frames.len > 0;
}

void cf__params_method(struct cf__params *params, const struct bbf_cf_config *config,
                       const struct bbf_cf_method *method, bool followed, uint8_t *marks)
{
    const struct bbf_cf_code *code = method->code;
    struct cf__walk w = {.config = config,
                         .info = method,
                         .code = code,
                         .to = params,
                         .marks = marks,
                         .size = 1u + code->max_locals + code->max_stack + CF__HELD_SLOTS};

    add_parameters(&w);
    if ((!w.strong && !followed) || w.size > CF__PARAMS_FRAME || !begin(&w))
        return; /* or no memory */
    w.failed = w.failed || code->n_exceptions > CF__PARAMS_RANGES ||
               (code->n_exceptions > 0 && code->max_stack == 0);
    if (!w.failed) {
        mark_ranges(&w);
        walk(&w);
    }
    if (w.failed)
        forget(&w);
    if (w.n_params > 0 || w.n_calls > 0)
        append(&w);
}

void cf__params_free(struct cf__params *params)
{
    cf__out_free(&params->records);
    cf__out_free(&params->calls);
    cf__out_free(&params->frames);
    cf__out_free(&params->frame_of);
    cf__out_free(&params->pending);
    cf__out_free(&params->names);
    cf__out_free(&params->name_of);
}
