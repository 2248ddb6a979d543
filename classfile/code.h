/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/code.h - one Code attribute: its instructions, the code inserted between them, and the
 * new offset of each (JVMS 4.7.3, 6.5).
 *
 * Each instruction at `pc` of the old code has two new offsets:
 *
 *        old            new
 *        pc-k  invoke   invoke            <- P
 *                       (inserted after it)
 *        pc    areturn  (inserted before) <- T(pc): where a jump to pc, a frame, a range starts
 *                       areturn           <- P(pc): the instruction itself
 *
 * So code inserted before an instruction also runs after a jump to that instruction; code inserted
 * after an invoke runs only when that invoke returned. The prologue is before T(0): a loop to pc 0
 * does not run it again. Exception ranges are moved by T: code inserted for an instruction is
 * protected if and only if that instruction is.
 *
 * Threads: no shared state.
 */
#ifndef BBF_CLASSFILE_CODE_H
#define BBF_CLASSFILE_CODE_H

#include "classfile/bytes.h"
#include "classfile/classfile.h"
#include "classfile/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum { CF__CODE_MAX = 65535 }; /* code_length, JVMS 4.7.3 */

/* The opcodes that the rewriter names. */
enum {
    CF__NOP = 0,
    CF__ILOAD = 21,
    CF__ALOAD = 25,
    CF__ALOAD_0 = 42,
    CF__ALOAD_3 = 45,
    CF__POP = 87,
    CF__IINC = 132,
    CF__TABLESWITCH = 170,
    CF__ARETURN = 176,
    CF__RETURN = 177,
    CF__GETFIELD = 180,
    CF__INVOKEVIRTUAL = 182,
    CF__ATHROW = 191,
    CF__CHECKCAST = 192,
    CF__WIDE = 196
};

/* A parsed Code attribute. Opaque outside classfile/. */
struct bbf_cf_code {
    const struct cf__class *owner;
    struct bbf_cf_str descriptor;
    bool is_static, is_init;
    bool ok; /* false: nothing below is valid */
    uint16_t max_stack, max_locals;
    const uint8_t *code;
    uint32_t len;
    const uint8_t *exceptions; /* n_exceptions entries of 8 bytes */
    uint16_t n_exceptions;
    const uint8_t *attributes; /* the attributes of the Code attribute, n_attributes of them */
    uint16_t n_attributes;
    const uint8_t *end;
};

/* Parse the attribute at member->code; code->ok says whether it is well-formed. */
void cf__code_open(struct bbf_cf_code *code, const struct cf__class *c,
                   const struct cf__member *member);

/* For each opcode: its length (0: it varies, or is unknown) and its properties. */
enum {
    CF__LENGTH = 0x07,
    CF__BRANCH2 = 0x08, /* if*, goto, jsr, ifnull, ifnonnull */
    CF__BRANCH4 = 0x10, /* goto_w, jsr_w */
    CF__SWITCH = 0x20,
    CF__JUMPS = CF__BRANCH2 | CF__BRANCH4 | CF__SWITCH,
    CF__INVOKES = 0x40,
    CF__EXITS = 0x80 /* areturn, return, athrow */
};
extern const uint8_t cf__opcodes[256];

uint32_t cf__insn_length_slow(const uint8_t *code, uint32_t len, uint32_t pc);

/* Length of the instruction at `pc`; 0: unknown, or not inside the code. */
static inline uint32_t cf__insn_length(const uint8_t *code, uint32_t len, uint32_t pc)
{
    uint32_t size = cf__opcodes[code[pc]] & CF__LENGTH;

    if (size == 0)
        return cf__insn_length_slow(code, len, pc);
    return size <= len - pc ? size : 0;
}

/* The local of the load or store at `p`, an instruction of a scanned method; `shortest`: the first
 * of its one-byte forms, CF__ALOAD_0 for an aload. */
static inline uint32_t cf__slot_of(const uint8_t *p, uint8_t shortest)
{
    if (*p == CF__WIDE)
        return cf__u2(p + 2);
    return *p >= shortest ? (uint32_t)(*p - shortest) % 4 : p[1];
}

/* Is the instruction at `p`, of a scanned method, an aload? Then *slot is its local. */
static inline bool cf__is_aload(const uint8_t *p, uint32_t *slot)
{
    uint8_t opcode = *p == CF__WIDE ? p[1] : *p;

    if (opcode != CF__ALOAD && (opcode < CF__ALOAD_0 || opcode > CF__ALOAD_3))
        return false;
    *slot = cf__slot_of(p, CF__ALOAD_0);
    return true;
}

/* Marks of each byte of the code. */
enum {
    CF__START = 1,    /* an instruction begins here */
    CF__TARGET = 2,   /* a jump leads here, or a handler begins here */
    CF__BEFORE = 4,   /* code is inserted before this instruction */
    CF__AFTER = 8,    /* code is inserted after this instruction */
    CF__GIVEN = 64,   /* what it left on the stack is given to that, or known */
    CF__HANDLER = 32, /* with BEFORE: that code is for an exception handler, which begins here */
    CF__RANGE = 16    /* an exception range begins here (classfile/params_method.c) */
};

/*
 * Fill marks[0..len] (START, TARGET). False: an unknown or truncated instruction, or a jump that
 * does not lead to the start of an instruction.
 */
bool cf__code_scan(const struct bbf_cf_code *code, uint8_t *marks, bool *has_switch);

/* A run of inserted instructions. */
struct cf__piece {
    uint8_t *bytes;
    uint32_t len;
};

/* All code to insert. `after`: for each instruction marked AFTER, in order: u1 length, bytes. */
struct cf__inserts {
    struct cf__piece entry, areturn, vreturn, athrow, call, handler;
    const uint8_t *after;
};

#define CF__NOWHERE UINT32_MAX

/* Maps old offsets to new ones. `to` is NULL when all code moves by the same `shift` (entry
 * only). */
struct cf__map {
    const struct bbf_cf_code *code;
    const uint8_t *marks;
    uint32_t new_len;
    uint32_t shift;
    uint16_t *to; /* T, len + 1 entries, valid at START and at len */
    const struct cf__inserts *inserts;
};

/* Compute every new offset into map->to. False: the code would be longer than 65535. */
bool cf__map_full(struct cf__map *map);
/* The same with the prologue only, padded with nops to a multiple of 4 if there is a switch. False:
 * the code would be longer than 65535. */
bool cf__map_entry(struct cf__map *map, bool has_switch);

/* T(pc) if an instruction starts at pc or the code ends there, else CF__NOWHERE. */
uint32_t cf__map_target(const struct cf__map *map, uint32_t pc);
/* T(pc); pc may be inside an instruction (debug tables of obfuscators). CF__NOWHERE past the
 * end. */
uint32_t cf__map_near(const struct cf__map *map, uint32_t pc);
/* P(pc); pc may be inside an instruction. */
uint32_t cf__map_insn(const struct cf__map *map, uint32_t pc);

/* The piece that is inserted before an instruction with the mark BEFORE. */
const struct cf__piece *cf__piece_before(const struct cf__inserts *inserts, uint8_t opcode,
                                         uint8_t mark);

/*
 * Write the new code, exactly map->new_len bytes, to dst. False: a 16-bit branch would have to span
 * more than 32 KiB (possible only with a full map).
 */
bool cf__code_emit(const struct cf__map *map, uint8_t *dst);

/* Does an instruction of well-formed code store to `slot`? */
bool cf__code_stores(const struct bbf_cf_code *code, uint32_t slot);

#endif
