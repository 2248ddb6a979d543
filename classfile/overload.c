/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/overload.c - methods that only call another one of their class with the same name, with
 * defaults for what was left out.
 *
 * Threads: no shared state.
 */
#include "classfile/classfile.h"
#include "classfile/code.h"
#include "classfile/reader.h"

#include <string.h>

enum { LDC2_W = 20, ALOAD_END = 45, IRETURN = 172, GETSTATIC = 178, SLOTS = 64 };

/* Constants, locals and fields. */
static bool pushes(uint8_t opcode)
{
    return (opcode > CF__NOP && opcode <= LDC2_W) || (opcode >= CF__ILOAD && opcode <= ALOAD_END) ||
           opcode == GETSTATIC || opcode == CF__GETFIELD;
}

/* The slot that the aload at `p` loads, as a bit; 0: another instruction, or too high a slot. */
static uint64_t loaded(const uint8_t *p)
{
    unsigned slot = SLOTS;

    if (*p >= CF__ALOAD_0 && *p <= CF__ALOAD_3)
        slot = (unsigned)(*p - CF__ALOAD_0);
    else if (*p == CF__ALOAD)
        slot = p[1];
    return slot < SLOTS ? UINT64_C(1) << slot : 0;
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

bool bbf_cf_only_calls_overload(const struct bbf_cf_method *m, uint64_t slots)
{
    const struct bbf_cf_code *code = m->code;
    uint64_t passed = 0, last = 0; /* `last`: by the instruction before */
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
        if (!called && !pushes(*p))
            return false;
        passed |= *p == CF__GETFIELD ? 0 : last; /* a field of it is not it */
        last = loaded(p);
    }
    return false;
}
