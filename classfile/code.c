/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/code.h"

#include <string.h>

/* Sums of the marks in code.h, from JVMS 6.5 and 7; 202 and above are reserved: 0. */
const uint8_t cf__opcodes[256] = {
    /*   0 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /*  16 */ 2,   3,   2,  3,  3,  2,  2,  2,  2,  2,  1,  1,  1,  1,  1,  1,
    /*  32 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /*  48 */ 1,   1,   1,  1,  1,  1,  2,  2,  2,  2,  2,  1,  1,  1,  1,  1,
    /*  64 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /*  80 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /*  96 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /* 112 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /* 128 */ 1,   1,   1,  1,  3,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    /* 144 */ 1,   1,   1,  1,  1,  1,  1,  1,  1,  11, 11, 11, 11, 11, 11, 11,
    /* 160 */ 11,  11,  11, 11, 11, 11, 11, 11, 11, 2,  32, 32, 1,  1,  1,  1,
    /* 176 */ 129, 129, 3,  3,  3,  3,  67, 67, 67, 69, 69, 3,  2,  3,  1,  129,
    /* 192 */ 3,   3,   1,  1,  0,  4,  11, 11, 21, 21, 0,  0,  0,  0,  0,  0,
};

static bool is_kind(uint8_t opcode, uint8_t kind)
{
    return (cf__opcodes[opcode] & kind) != 0;
}

/* tableswitch and lookupswitch: padding to a multiple of 4, default, then their table. */
static uint32_t switch_length(const uint8_t *code, uint32_t len, uint32_t pc)
{
    uint32_t base = (pc + 4) & ~3u;
    int64_t count;

    if (code[pc] == CF__TABLESWITCH) {
        if (base > len || len - base < 12)
            return 0;
        count = (int64_t)cf__s4(code + base + 8) - cf__s4(code + base + 4) + 1;
        if (count < 1 || count > (len - base - 12) / 4)
            return 0;
        return base + 12 + 4 * (uint32_t)count - pc;
    }
    if (base > len || len - base < 8)
        return 0;
    count = cf__s4(code + base + 4);
    if (count < 0 || count > (len - base - 8) / 8)
        return 0;
    return base + 8 + 8 * (uint32_t)count - pc;
}

static uint32_t wide_length(const uint8_t *code, uint32_t len, uint32_t pc)
{
    uint32_t size;

    if (len - pc < 4)
        return 0;
    if (code[pc + 1] == CF__IINC)
        size = 6;
    else if ((code[pc + 1] >= 21 && code[pc + 1] <= 25) || /* loads */
             (code[pc + 1] >= 54 && code[pc + 1] <= 58) || /* stores */
             code[pc + 1] == 169)                          /* ret */
        size = 4;
    else
        return 0;
    return size <= len - pc ? size : 0;
}

uint32_t cf__insn_length_slow(const uint8_t *code, uint32_t len, uint32_t pc)
{
    if (is_kind(code[pc], CF__SWITCH))
        return switch_length(code, len, pc);
    return code[pc] == CF__WIDE ? wide_length(code, len, pc) : 0;
}

/* Are there `count` well-formed attributes that end exactly at `end`? */
static bool attributes_fit(const uint8_t *p, const uint8_t *end, uint32_t count)
{
    for (; count > 0; count--) {
        if (end - p < 6 || cf__u4(p + 2) > (size_t)(end - p) - 6)
            return false;
        p += 6 + cf__u4(p + 2);
    }
    return p == end;
}

void cf__code_open(struct bbf_cf_code *code, const struct cf__class *c,
                   const struct cf__member *member)
{
    const uint8_t *p = c->in + member->code + 6;
    struct bbf_cf_str name;

    *code = (struct bbf_cf_code){.owner = c};
    code->is_static = (member->access & CF__ACC_STATIC) != 0;
    (void)cf__pool_utf8(c, member->descriptor, &code->descriptor); /* checked at open */
    code->is_init = cf__pool_utf8(c, member->name, &name) && cf__str_is(name, "<init>");
    code->end = p + cf__u4(p - 4);
    if (code->end - p < 12)
        return;
    code->max_stack = cf__u2(p);
    code->max_locals = cf__u2(p + 2);
    code->len = cf__u4(p + 4);
    code->code = p += 8;
    if (code->len == 0 || code->len > CF__CODE_MAX || code->len > (size_t)(code->end - p) - 4)
        return;
    p += code->len;
    code->n_exceptions = cf__u2(p);
    code->exceptions = p += 2;
    if ((size_t)(code->end - p) < 8u * code->n_exceptions + 2u)
        return;
    p += 8u * code->n_exceptions;
    code->n_attributes = cf__u2(p);
    code->attributes = p += 2;
    code->ok = attributes_fit(p, code->end, code->n_attributes);
}

/* Mark one jump. */
static bool mark_target(const struct bbf_cf_code *code, uint8_t *marks, int64_t pc)
{
    if (pc < 0 || pc >= code->len)
        return false;
    marks[pc] |= CF__TARGET;
    return true;
}

static bool mark_switch(const struct bbf_cf_code *code, uint8_t *marks, uint32_t pc, uint32_t len)
{
    uint32_t base = (pc + 4) & ~3u, at = base + 8, step = 8;

    if (!mark_target(code, marks, (int64_t)pc + cf__s4(code->code + base)))
        return false;
    if (code->code[pc] == CF__TABLESWITCH) {
        at = base + 12;
        step = 4;
    } else {
        at += 4; /* behind the match */
    }
    for (; at < pc + len; at += step)
        if (!mark_target(code, marks, (int64_t)pc + cf__s4(code->code + at)))
            return false;
    return true;
}

bool cf__code_scan(const struct bbf_cf_code *code, uint8_t *marks, bool *has_switch)
{
    const uint8_t *c = code->code;
    bool ok = true;

    *has_switch = false;
    memset(marks, 0, code->len + 1);
    for (uint32_t pc = 0, len; pc < code->len && ok; pc += len) {
        if ((len = cf__insn_length(c, code->len, pc)) == 0)
            return false;
        marks[pc] |= CF__START;
        if (!is_kind(c[pc], CF__JUMPS))
            continue;
        if (is_kind(c[pc], CF__BRANCH2)) {
            ok = mark_target(code, marks, (int64_t)pc + cf__s2(c + pc + 1));
        } else if (is_kind(c[pc], CF__SWITCH)) {
            *has_switch = true;
            ok = mark_switch(code, marks, pc, len);
        } else {
            ok = mark_target(code, marks, (int64_t)pc + cf__s4(c + pc + 1));
        }
    }
    for (uint32_t i = 0; i < code->n_exceptions && ok; i++)
        ok = mark_target(code, marks, cf__u2(code->exceptions + 8 * i + 4));
    for (uint32_t pc = 0; pc < code->len && ok; pc++)
        ok = (marks[pc] & (CF__START | CF__TARGET)) != CF__TARGET;
    return ok;
}

const struct cf__piece *cf__piece_before(const struct cf__inserts *inserts, uint8_t opcode,
                                         uint8_t mark)
{
    if (mark & CF__HANDLER)
        return &inserts->handler;
    if (opcode == CF__ARETURN)
        return &inserts->areturn;
    if (opcode == CF__ATHROW)
        return &inserts->athrow;
    return opcode == CF__RETURN ? &inserts->vreturn : &inserts->call;
}

bool cf__map_full(struct cf__map *map)
{
    const struct bbf_cf_code *code = map->code;
    const uint8_t *after = map->inserts->after;
    uint32_t at = map->inserts->entry.len;

    for (uint32_t pc = 0, len; pc < code->len; pc += len) {
        uint8_t opcode = code->code[pc];

        if (at > CF__CODE_MAX)
            return false;
        len = cf__insn_length(code->code, code->len, pc);
        map->to[pc] = (uint16_t)at;
        if (map->marks[pc] & CF__BEFORE)
            at += cf__piece_before(map->inserts, opcode, map->marks[pc])->len;
        if (is_kind(opcode, CF__SWITCH)) /* the padding follows the new place */
            at += len - (3 - (pc & 3)) + (3 - (at & 3));
        else
            at += len;
        if (map->marks[pc] & CF__AFTER) {
            at += *after;
            after += 1 + *after;
        }
    }
    if (at > CF__CODE_MAX)
        return false;
    map->to[code->len] = (uint16_t)at;
    map->new_len = at;
    return true;
}

bool cf__map_entry(struct cf__map *map, bool has_switch)
{
    map->to = NULL;
    map->shift = map->inserts->entry.len;
    if (has_switch) /* all switches keep their padding: the code is copied as it is */
        map->shift = (map->shift + 3) & ~3u;
    map->new_len = map->code->len + map->shift;
    return map->new_len <= CF__CODE_MAX;
}

uint32_t cf__map_target(const struct cf__map *map, uint32_t pc)
{
    if (pc > map->code->len || (pc < map->code->len && !(map->marks[pc] & CF__START)))
        return CF__NOWHERE;
    return map->to == NULL ? pc + map->shift : map->to[pc];
}

/* The start of the instruction around pc. Only debug tables need it; an offset far inside an
 * instruction is absurd. */
static uint32_t insn_start(const struct cf__map *map, uint32_t pc)
{
    uint32_t back = 0;

    while (pc < map->code->len && !(map->marks[pc] & CF__START)) {
        if (++back > 16)
            return CF__NOWHERE;
        pc--;
    }
    return pc;
}

uint32_t cf__map_near(const struct cf__map *map, uint32_t pc)
{
    uint32_t start, to;

    if (pc > map->code->len || (start = insn_start(map, pc)) == CF__NOWHERE)
        return CF__NOWHERE;
    to = cf__map_target(map, start) + (pc - start);
    return to < map->new_len ? to : map->new_len;
}

uint32_t cf__map_insn(const struct cf__map *map, uint32_t pc)
{
    uint32_t to = cf__map_near(map, pc);

    if (to != CF__NOWHERE && map->to != NULL && (map->marks[pc] & CF__BEFORE))
        to += cf__piece_before(map->inserts, map->code->code[pc], map->marks[pc])->len;
    return to;
}

/* The instruction that is being written. */
struct emit {
    const struct cf__map *map;
    uint8_t *dst;
    uint32_t at;
};

static void emit_bytes(struct emit *e, const uint8_t *bytes, uint32_t len)
{
    if (len > 0)
        memcpy(e->dst + e->at, bytes, len);
    e->at += len;
}

static void emit_offset4(struct emit *e, uint32_t pc, uint32_t insn_at, const uint8_t *old)
{
    uint32_t target = cf__map_target(e->map, (uint32_t)((int64_t)pc + cf__s4(old)));

    cf__put4(e->dst + e->at, target - insn_at);
    e->at += 4;
}

static bool emit_branch2(struct emit *e, uint32_t pc)
{
    const uint8_t *old = e->map->code->code + pc;
    uint32_t target = cf__map_target(e->map, (uint32_t)((int64_t)pc + cf__s2(old + 1)));
    int64_t offset = (int64_t)target - e->at;

    if (offset < INT16_MIN || offset > INT16_MAX)
        return false;
    e->dst[e->at] = *old;
    cf__put2(e->dst + e->at + 1, (uint32_t)offset & 0xFFFF);
    e->at += 3;
    return true;
}

static void emit_switch(struct emit *e, uint32_t pc, uint32_t len)
{
    const uint8_t *c = e->map->code->code;
    uint32_t base = (pc + 4) & ~3u, insn_at = e->at;

    e->dst[e->at++] = c[pc];
    while (e->at & 3)
        e->dst[e->at++] = 0;
    emit_offset4(e, pc, insn_at, c + base);
    if (c[pc] == CF__TABLESWITCH) {
        emit_bytes(e, c + base + 4, 8); /* low, high */
        for (uint32_t at = base + 12; at < pc + len; at += 4)
            emit_offset4(e, pc, insn_at, c + at);
        return;
    }
    emit_bytes(e, c + base + 4, 4); /* npairs */
    for (uint32_t at = base + 8; at < pc + len; at += 8) {
        emit_bytes(e, c + at, 4);
        emit_offset4(e, pc, insn_at, c + at + 4);
    }
}

/* An instruction whose operands or neighbours change. */
static bool emit_insn(struct emit *e, uint32_t pc, uint32_t len, const uint8_t **after)
{
    const uint8_t *old = e->map->code->code + pc;
    uint8_t mark = e->map->marks[pc];

    if (mark & CF__BEFORE) {
        const struct cf__piece *piece = cf__piece_before(e->map->inserts, *old, mark);

        emit_bytes(e, piece->bytes, piece->len);
    }
    if (is_kind(*old, CF__BRANCH2)) {
        if (!emit_branch2(e, pc))
            return false;
    } else if (is_kind(*old, CF__BRANCH4)) {
        uint32_t insn_at = e->at;

        e->dst[e->at++] = *old;
        emit_offset4(e, pc, insn_at, old + 1);
    } else if (is_kind(*old, CF__SWITCH)) {
        emit_switch(e, pc, len);
    } else {
        emit_bytes(e, old, len);
    }
    if (mark & CF__AFTER) {
        emit_bytes(e, *after + 1, **after);
        *after += 1 + **after;
    }
    return true;
}

bool cf__code_emit(const struct cf__map *map, uint8_t *dst)
{
    const struct bbf_cf_code *code = map->code;
    const uint8_t *c = code->code, *after = map->inserts->after;
    struct emit e = {map, dst, 0};
    uint32_t run = 0; /* what follows it is copied at once */

    emit_bytes(&e, map->inserts->entry.bytes, map->inserts->entry.len);
    if (map->to == NULL) {
        while (e.at < map->shift)
            dst[e.at++] = CF__NOP;
        emit_bytes(&e, c, code->len);
        return true;
    }
    for (uint32_t pc = 0, len; pc < code->len; pc += len) {
        len = cf__insn_length(c, code->len, pc);
        if (!(map->marks[pc] & (CF__BEFORE | CF__AFTER)) && !is_kind(c[pc], CF__JUMPS))
            continue;
        emit_bytes(&e, c + run, pc - run);
        if (!emit_insn(&e, pc, len, &after))
            return false;
        run = pc + len;
    }
    emit_bytes(&e, c + run, code->len - run);
    return e.at == map->new_len;
}

/* Does the instruction at p store to slot? Longs and doubles take two. */
static bool insn_stores(const uint8_t *p, uint32_t slot)
{
    uint8_t opcode = *p;
    uint32_t first, type; /* type 0..4: int long float double reference */

    if (opcode >= 59 && opcode <= 78) { /* xstore_n */
        first = (opcode - 59u) & 3;
        type = (opcode - 59u) >> 2;
    } else if (opcode >= 54 && opcode <= 58) {
        first = p[1];
        type = opcode - 54u;
    } else if (opcode == CF__IINC) {
        first = p[1];
        type = 0;
    } else if (opcode == CF__WIDE && p[1] >= 54 && p[1] <= 58) {
        first = cf__u2(p + 2);
        type = p[1] - 54u;
    } else if (opcode == CF__WIDE && p[1] == CF__IINC) {
        first = cf__u2(p + 2);
        type = 0;
    } else {
        return false;
    }
    return slot == first || ((type == 1 || type == 3) && slot == first + 1);
}

bool cf__code_stores(const struct bbf_cf_code *code, uint32_t slot)
{
    for (uint32_t pc = 0, len; pc < code->len; pc += len) {
        if ((len = cf__insn_length(code->code, code->len, pc)) == 0)
            return true;
        if (insn_stores(code->code + pc, slot))
            return true;
    }
    return false;
}
