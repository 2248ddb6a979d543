/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/stack.h"

#include "classfile/frames.h"
#include "classfile/reader.h"

#include <string.h>

enum {
    LDC = 18,
    LDC2_W = 20,
    GOTO = 167,
    JSR = 168,
    RET = 169,
    FIRST_RETURN = 172,
    GETSTATIC = 178,
    PUTSTATIC = 179,
    PUTFIELD = 181,
    INVOKESTATIC = 184,
    INVOKEDYNAMIC = 186,
    NEW = 187,
    ANEWARRAY = 189,
    INSTANCEOF = 193,
    MULTIANEWARRAY = 197,
    GOTO_W = 200,
    JSR_W = 201,
    PASSES = 8 /* at most, for backward jumps to code that no earlier code leads to */
};

/* pops << 4 | pushes, in slots (JVMS 6.5); 0 for instructions that depend on the constant pool. */
static const uint8_t effects[256] = {
    /* clang-format off */
    /*   0 */ 0x00,0x01,0x01,0x01,0x01,0x01,0x01,0x01,0x01,0x02,0x02,0x01,0x01,0x01,0x02,0x02,
    /*  16 */ 0x01,0x01,0x01,0x01,0x02,0x01,0x02,0x01,0x02,0x01,0x01,0x01,0x01,0x01,0x02,0x02,
    /*  32 */ 0x02,0x02,0x01,0x01,0x01,0x01,0x02,0x02,0x02,0x02,0x01,0x01,0x01,0x01,0x21,0x22,
    /*  48 */ 0x21,0x22,0x21,0x21,0x21,0x21,0x10,0x20,0x10,0x20,0x10,0x10,0x10,0x10,0x10,0x20,
    /*  64 */ 0x20,0x20,0x20,0x10,0x10,0x10,0x10,0x20,0x20,0x20,0x20,0x10,0x10,0x10,0x10,0x30,
    /*  80 */ 0x40,0x30,0x40,0x30,0x30,0x30,0x30,0x10,0x20,0x12,0x23,0x34,0x24,0x35,0x46,0x22,
    /*  96 */ 0x21,0x42,0x21,0x42,0x21,0x42,0x21,0x42,0x21,0x42,0x21,0x42,0x21,0x42,0x21,0x42,
    /* 112 */ 0x21,0x42,0x21,0x42,0x11,0x22,0x11,0x22,0x21,0x32,0x21,0x32,0x21,0x32,0x21,0x42,
    /* 128 */ 0x21,0x42,0x21,0x42,0x00,0x12,0x11,0x12,0x21,0x21,0x22,0x11,0x12,0x12,0x21,0x22,
    /* 144 */ 0x21,0x11,0x11,0x11,0x41,0x21,0x21,0x41,0x41,0x10,0x10,0x10,0x10,0x10,0x10,0x20,
    /* 160 */ 0x20,0x20,0x20,0x20,0x20,0x20,0x20,0x00,0x01,0x00,0x10,0x10,0x10,0x20,0x10,0x20,
    /* 176 */ 0x10,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x01,0x11,0x11,0x11,0x10,
    /* 192 */ 0x11,0x11,0x10,0x10,0x00,0x00,0x10,0x10,0x00,0x01,0x00,0x00,0x00,0x00,0x00,0x00,
    /* clang-format on */
};

/* The walk through one method. */
struct walk {
    const struct bbf_cf_code *code;
    uint16_t *depth; /* 1 + the depth before the instruction at pc; 0: unknown */
    bool flows;      /* no frames: jumps set the depth of their targets */
    bool again;      /* a jump set the depth of code that this pass had skipped */
    bool deep, dangling;
};

const char *cf__type_skip(const char *p, const char *end, unsigned *slots)
{
    const char *first = p;

    while (p < end && *p == '[')
        p++;
    if (p == end)
        return NULL;
    if ((*p == 'J' || *p == 'D') && p == first)
        *slots += 2;
    else if (*p != 'V')
        *slots += 1;
    if (*p != 'L')
        return p + 1;
    p = memchr(p, ';', (size_t)(end - p));
    return p != NULL ? p + 1 : NULL;
}

/* The descriptor that a Fieldref, Methodref, InterfaceMethodref or InvokeDynamic names. */
static bool member_descriptor(const struct cf__class *c, uint32_t index, struct bbf_cf_str *d)
{
    const uint8_t *ref = c->pool_at[index] != 0 ? c->in + c->pool_at[index] : NULL, *type;

    if (ref == NULL ||
        ((*ref < CF__FIELDREF || *ref > CF__INTERFACE_METHODREF) && *ref != CF__INVOKE_DYNAMIC))
        return false;
    type = cf__pool_constant(c, cf__u2(ref + 3), CF__NAME_AND_TYPE);
    return type != NULL && cf__pool_utf8(c, cf__u2(type + 3), d) && d->len > 0;
}

/* The effect of an instruction on a field, or of an invoke. */
static bool member_effect(const struct cf__class *c, uint8_t opcode, uint32_t index, unsigned *pops,
                          unsigned *pushes)
{
    struct bbf_cf_str d;
    const char *p, *end;
    unsigned slots = 0;

    if (!member_descriptor(c, index, &d))
        return false;
    p = d.s;
    end = d.s + d.len;
    if (opcode <= PUTFIELD) {
        if (cf__type_skip(p, end, &slots) == NULL)
            return false;
        *pops = opcode > PUTSTATIC ? 1 : 0;
        if (opcode == PUTSTATIC || opcode == PUTFIELD)
            *pops += slots;
        else
            *pushes = slots;
        return true;
    }
    if (*p++ != '(')
        return false;
    while (p < end && *p != ')')
        if ((p = cf__type_skip(p, end, &slots)) == NULL)
            return false;
    *pops = slots + (opcode != INVOKESTATIC && opcode != INVOKEDYNAMIC);
    return p < end && cf__type_skip(p + 1, end, pushes) != NULL;
}

/* Does the instruction have an index into the constant pool, and which? */
static bool pool_index(const uint8_t *p, uint32_t *index)
{
    uint8_t opcode = *p;

    *index = 0;
    if (opcode == LDC)
        *index = p[1];
    else if ((opcode > LDC && opcode <= LDC2_W) || (opcode >= GETSTATIC && opcode <= NEW) ||
             opcode == ANEWARRAY || (opcode >= CF__CHECKCAST && opcode <= INSTANCEOF) ||
             opcode == MULTIANEWARRAY)
        *index = cf__u2(p + 1);
    else
        return false;
    return true;
}

bool cf__stack_effect(const struct cf__class *c, const uint8_t *p, unsigned *pops, unsigned *pushes,
                      bool *dangling)
{
    uint8_t opcode = *p == CF__WIDE ? p[1] : *p;
    uint32_t index;

    *pops = effects[opcode] >> 4;
    *pushes = effects[opcode] & 15u; /* both 0 of a member: member_effect() tells */
    if (!pool_index(p, &index))
        return true;
    if (index >= c->pool_count) {
        *dangling = true;
        return false;
    }
    if (opcode == MULTIANEWARRAY) {
        *pops = p[3];
        *pushes = 1;
    } else if (opcode >= GETSTATIC && opcode <= INVOKEDYNAMIC) {
        return member_effect(c, opcode, index, pops, pushes);
    }
    return true;
}

/* ---- without frames ---- */

static void lead_to(struct walk *w, uint32_t from, int64_t offset, uint32_t depth)
{
    uint32_t to = (uint32_t)((int64_t)from + offset); /* within the code: it was scanned */

    if (w->depth[to] != 0)
        return;
    w->depth[to] = (uint16_t)(depth + 1);
    if (to <= from)
        w->again = true;
}

/* Carry the depth to the targets of the instruction at pc, `len` bytes long. */
static void lead_on(struct walk *w, uint32_t pc, uint32_t len, uint32_t depth)
{
    const uint8_t *c = w->code->code;
    uint32_t base = (pc + 4) & ~3u, table, step;

    if (cf__opcodes[c[pc]] & CF__BRANCH2) {
        lead_to(w, pc, cf__s2(c + pc + 1), depth);
    } else if (cf__opcodes[c[pc]] & CF__BRANCH4) {
        lead_to(w, pc, cf__s4(c + pc + 1), depth);
    } else if (cf__opcodes[c[pc]] & CF__SWITCH) {
        step = c[pc] == CF__TABLESWITCH ? 4 : 8;
        table = base + 12; /* after low and high, or after npairs and the first match */
        lead_to(w, pc, cf__s4(c + base), depth);
        for (; table < pc + len; table += step)
            lead_to(w, pc, cf__s4(c + table), depth);
    }
}

/* ---- one pass ---- */

bool cf__ends_flow(uint8_t opcode)
{
    return opcode == GOTO || opcode == GOTO_W || opcode == JSR || opcode == JSR_W ||
           opcode == RET || opcode == CF__TABLESWITCH || opcode == CF__TABLESWITCH + 1 ||
           (opcode >= FIRST_RETURN && opcode <= CF__RETURN) || opcode == CF__ATHROW;
}

static void pass(struct walk *w)
{
    const struct bbf_cf_code *code = w->code;
    uint32_t at = 0; /* 1 + depth, 0: unknown */

    w->again = false;
    for (uint32_t pc = 0, len; pc < code->len && !w->deep && !w->dangling; pc += len) {
        const uint8_t *p = code->code + pc;
        unsigned pops, pushes;

        len = cf__insn_length(code->code, code->len, pc);
        if (w->depth[pc] != 0)
            at = w->depth[pc];
        else if (w->flows) /* the first known depth is kept */
            w->depth[pc] = (uint16_t)at;
        if (!cf__stack_effect(code->owner, p, &pops, &pushes, &w->dangling) || at <= pops) {
            at = 0; /* unknown, or refused: a wrong constant, an empty stack */
            continue;
        }
        at += pushes - pops;
        w->deep = at - 1 > code->max_stack;
        if (w->flows && !w->deep)
            lead_on(w, pc, len, at - 1);
        if (cf__ends_flow(*p == CF__WIDE ? p[1] : *p))
            at = 0;
    }
}

/* The handlers: their catch types, and the depth that they begin with. */
static void handlers(struct walk *w)
{
    const uint8_t *p = w->code->exceptions;

    for (uint32_t i = 0; i < w->code->n_exceptions; i++, p += 8) {
        if (cf__u2(p + 6) >= w->code->owner->pool_count)
            w->dangling = true;
        if (w->flows && cf__u2(p + 4) < w->code->len)
            w->depth[cf__u2(p + 4)] = 1 + 1; /* the exception */
    }
}

enum cf__stack_result cf__stack_check(const struct bbf_cf_code *code, uint16_t *depth)
{
    struct walk w = {.code = code, .depth = depth};
    uint32_t deepest = 0;
    bool framed;

    memset(depth, 0, (code->len + 1u) * sizeof *depth);
    framed = cf__frames_depths(code, depth, &deepest, &w.dangling);
    w.flows = !framed && code->owner->major <= CF__MAJOR_FRAMES;
    if (deepest == 0 && code->n_exceptions > 0)
        deepest = 1; /* the exception; a verifier may not check it if the handler pops it at once */
    w.deep = deepest > code->max_stack;
    handlers(&w);
    if (depth[0] == 0 || w.flows)
        depth[0] = 1; /* empty */
    pass(&w);
    for (int i = 1; i < PASSES && w.again && !w.deep && !w.dangling; i++)
        pass(&w);
    if (w.dangling)
        return CF__STACK_DANGLING;
    return w.deep ? CF__STACK_DEEP : CF__STACK_FITS;
}
