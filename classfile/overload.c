/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/overload.c - methods that only call another one of their class with the same name, with
 * defaults for what was left out, which a static method may make.
 *
 * Threads: no shared state.
 */
#include "classfile/classfile.h"
#include "classfile/code.h"
#include "classfile/reader.h"

#include <string.h>

enum {
    LDC2_W = 20,
    IRETURN = 172,
    GETSTATIC = 178,
    INVOKESTATIC = 184,
    SLOTS = 64,
    PUSHED = 64,     /* values on the stack; more: not looked at */
    NO_SLOT = 0xffff /* higher than all of a method's */
};

/* Constants, locals and static fields. */
static bool pushes(uint8_t opcode)
{
    return (opcode > CF__NOP && opcode <= LDC2_W) ||
           (opcode >= CF__ILOAD && opcode <= CF__ALOAD_3) || opcode == GETSTATIC;
}

/* The slot that the aload at `p` loads, as a bit; 0: another instruction, or too high a slot. */
static uint64_t loaded(const uint8_t *p)
{
    uint32_t slot;

    return cf__is_aload(p, &slot) && slot < SLOTS ? UINT64_C(1) << slot : 0;
}

static bool same(struct bbf_cf_str a, struct bbf_cf_str b)
{
    return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static bool is_overload(const struct bbf_cf_method *m, const uint8_t *invoke)
{
    struct bbf_cf_str owner, name, descriptor;

    return cf__pool_invoke(m->code->owner, cf__u2(invoke + 1), &owner, &name, &descriptor) &&
           same(owner, m->class_name) && same(name, m->name);
}

/* The values on the stack: the slot that each was loaded from, as a bit. */
struct pushed {
    uint64_t from[PUSHED];
    uint32_t n;
};

/* A static method that makes an argument of others (`toListener(promise)`) is called. False: it is
 * given what is in `slots`, or it is no such call. */
static bool makes_argument(const struct bbf_cf_method *m, const uint8_t *p, uint64_t slots,
                           struct pushed *stack)
{
    struct bbf_cf_str owner, name, descriptor;
    struct cf__param all;

    if (*p != INVOKESTATIC ||
        !cf__pool_invoke(m->code->owner, cf__u2(p + 1), &owner, &name, &descriptor) ||
        !cf__returns_reference(descriptor) || !cf__param_find(descriptor, true, NO_SLOT, &all) ||
        all.entries > stack->n)
        return false;
    for (unsigned i = 0; i < all.entries; i++)
        if (stack->from[--stack->n] & slots)
            return false;
    stack->from[stack->n++] = 0;
    return true;
}

/* False: it is no instruction that an overload has before its call. */
static bool step_over(const struct bbf_cf_method *m, const uint8_t *p, uint64_t slots,
                      struct pushed *stack)
{
    if (*p == CF__GETFIELD && stack->n > 0) {
        stack->from[stack->n - 1] = 0; /* a field of it is not it */
        return true;
    }
    if (!pushes(*p))
        return makes_argument(m, p, slots, stack);
    if (stack->n == PUSHED)
        return false;
    stack->from[stack->n++] = loaded(p);
    return true;
}

bool bbf_cf_only_calls_overload(const struct bbf_cf_method *m, uint64_t slots)
{
    const struct bbf_cf_code *code = m->code;
    struct pushed stack = {.n = 0};
    uint64_t passed = 0;
    bool called = false;

    if (!code->ok || code->n_exceptions > 0)
        return false;
    for (uint32_t pc = 0, len; pc < code->len; pc += len) {
        const uint8_t *p = code->code + pc;

        if ((len = cf__insn_length(code->code, code->len, pc)) == 0)
            return false;
        if (called)
            return *p >= IRETURN && *p <= CF__RETURN && pc + len == code->len &&
                   (passed & slots) == slots;
        called = (cf__opcodes[*p] & CF__INVOKES) != 0 && is_overload(m, p);
        if (!called && !step_over(m, p, slots, &stack))
            return false;
        for (uint32_t i = 0; called && i < stack.n; i++)
            passed |= stack.from[i];
    }
    return false;
}
