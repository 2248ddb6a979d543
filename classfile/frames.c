/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/frames.h"

#include <string.h>

/* Frame types, JVMS 4.7.4; below 64 same, below 128 same_locals_1_stack_item. */
enum {
    SAME_LOCALS_1_EXTENDED = 247,
    CHOP_FIRST = 248,
    SAME_EXTENDED = 251,
    FULL = 255,
    DELTA_MAX = 63 /* that fits into the frame type itself */
};

/* verification_type_info tags. */
enum {
    T_INTEGER = 1,
    T_DOUBLE = 3,
    T_LONG = 4,
    T_NULL = 5,
    T_UNINITIALIZED_THIS = 6,
    T_OBJECT = 7,
    T_UNINITIALIZED = 8
};

/* Reads one table; a read past the end makes `bad` and gives 0. */
struct reader {
    const uint8_t *p, *end;
    bool bad;
};

static uint32_t read_u1(struct reader *r)
{
    if (r->p >= r->end) {
        r->bad = true;
        return 0;
    }
    return *r->p++;
}

static uint32_t read_u2(struct reader *r)
{
    if (r->end - r->p < 2) {
        r->bad = true;
        r->p = r->end;
        return 0;
    }
    r->p += 2;
    return cf__u2(r->p - 2);
}

/* The head of a frame: its type and delta. */
static uint32_t read_frame(struct reader *r, uint32_t *delta)
{
    uint32_t type = read_u1(r);

    if (type < 128) {
        *delta = type & DELTA_MAX;
    } else {
        if (type < SAME_LOCALS_1_EXTENDED)
            r->bad = true; /* reserved */
        *delta = read_u2(r);
    }
    return type;
}

/* ---- moving ---- */

/* Writes without checks: cf__frames_move() reserved the worst case. */
struct mover {
    struct reader in;
    uint8_t *dst;
    const struct cf__map *map;
};

static void write_u1(struct mover *m, uint32_t value)
{
    *m->dst++ = (uint8_t)value;
}

static void write_u2(struct mover *m, uint32_t value)
{
    cf__put2(m->dst, value);
    m->dst += 2;
}

static void move_type(struct mover *m)
{
    uint32_t tag = read_u1(&m->in), value;

    if (tag > T_UNINITIALIZED) {
        m->in.bad = true;
        return;
    }
    write_u1(m, tag);
    if (tag < T_OBJECT)
        return;
    value = read_u2(&m->in);
    if (tag == T_UNINITIALIZED) {
        if (value >= m->map->code->len)
            m->in.bad = true;
        value = cf__map_target(m->map, value);
        if (value == CF__NOWHERE)
            m->in.bad = true;
    }
    write_u2(m, value);
}

static void move_types(struct mover *m, uint32_t count)
{
    for (; count > 0 && !m->in.bad; count--)
        move_type(m);
}

/* What follows the delta. */
static void move_frame(struct mover *m, uint32_t type, uint32_t delta)
{
    if (type <= DELTA_MAX || type == SAME_EXTENDED) {
        /* An extended frame stays extended: JVMS allows it any delta. */
        if (type <= DELTA_MAX && delta <= DELTA_MAX) {
            write_u1(m, delta);
            return;
        }
        write_u1(m, SAME_EXTENDED);
        write_u2(m, delta);
    } else if (type <= SAME_LOCALS_1_EXTENDED) {
        if (type < 128 && delta <= DELTA_MAX) {
            write_u1(m, 64 + delta);
        } else {
            write_u1(m, SAME_LOCALS_1_EXTENDED);
            write_u2(m, delta);
        }
        move_type(m);
    } else {
        write_u1(m, type);
        write_u2(m, delta);
        if (type == FULL) {
            for (int half = 0; half < 2; half++) {
                uint32_t count = read_u2(&m->in);

                write_u2(m, count);
                move_types(m, count);
            }
        } else if (type > SAME_EXTENDED) {
            move_types(m, type - SAME_EXTENDED);
        }
    }
}

bool cf__frames_move(const struct cf__map *map, const uint8_t *p, uint32_t len, struct cf__out *out)
{
    /* The shortest frame, 1 byte, can become 3 bytes; no frame grows by more than 2. */
    uint8_t *dst = cf__out_reserve(out, 3 * (size_t)len + 8);
    struct mover m = {{p, p + len, false}, dst, map};
    uint32_t old_pc = UINT32_MAX, new_pc = UINT32_MAX; /* "-1": the first frame adds no 1 */
    uint32_t count = read_u2(&m.in);

    if (dst == NULL)
        return false;
    write_u2(&m, count);
    for (; count > 0 && !m.in.bad; count--) {
        uint32_t delta, target, type = read_frame(&m.in, &delta);

        old_pc += delta + 1;
        if (m.in.bad || old_pc >= map->code->len)
            return false;
        target = cf__map_target(map, old_pc);
        if (target == CF__NOWHERE)
            return false;
        move_frame(&m, type, target - new_pc - 1);
        new_pc = target;
    }
    if (m.in.bad || m.in.p != m.in.end)
        return false;
    out->len += (size_t)(m.dst - dst);
    return true;
}

/* ---- asking ---- */

/* The walk that follows one local through the frames. */
struct follow {
    struct reader in;
    const struct bbf_cf_code *code;
    uint32_t slot, entry; /* the local, and its index in the list of locals */
    uint32_t entries;     /* current length of that list */
    char kind;
};

/* Read one type; *keeps: it is the parameter's. */
static uint32_t follow_type(struct follow *f, bool *keeps)
{
    uint32_t tag = read_u1(&f->in), index = tag >= T_OBJECT ? read_u2(&f->in) : 0;
    struct bbf_cf_str name;

    if (tag > T_UNINITIALIZED)
        f->in.bad = true;
    *keeps = false;
    if (f->kind == 'I')
        *keeps = tag == T_INTEGER;
    else if (f->kind == 'A')
        *keeps = tag == T_OBJECT || tag == T_NULL || tag == T_UNINITIALIZED_THIS;
    else if (tag == T_OBJECT && cf__pool_class(f->code->owner, index, &name))
        *keeps = name.len > 0 && name.s[0] == '[';
    return tag;
}

static bool follow_full(struct follow *f)
{
    uint32_t at = 0;
    bool found = false, keeps;

    f->entries = read_u2(&f->in);
    for (uint32_t i = 0; i < f->entries && !f->in.bad; i++) {
        uint32_t tag = follow_type(f, &keeps);

        if (at == f->slot && keeps) {
            found = true;
            f->entry = i;
        }
        at += tag == T_LONG || tag == T_DOUBLE ? 2 : 1;
    }
    for (uint32_t stack = read_u2(&f->in); stack > 0 && !f->in.bad; stack--)
        (void)follow_type(f, &keeps);
    return found;
}

/* Read one frame. False: the local no longer has the parameter's type, or the table is
 * malformed. */
static bool follow_frame(struct follow *f)
{
    uint32_t delta, type = read_frame(&f->in, &delta);
    bool keeps;

    if (f->in.bad)
        return false;
    if (type == FULL)
        return follow_full(f) && !f->in.bad;
    if (type >= CHOP_FIRST && type < SAME_EXTENDED) {
        uint32_t chopped = SAME_EXTENDED - type;

        if (chopped > f->entries)
            return false;
        f->entries -= chopped;
        return f->entry < f->entries;
    }
    if ((type >= 64 && type < 128) || type == SAME_LOCALS_1_EXTENDED) {
        (void)follow_type(f, &keeps);
    } else if (type > SAME_EXTENDED) {
        for (uint32_t i = type - SAME_EXTENDED; i > 0; i--)
            (void)follow_type(f, &keeps);
        f->entries += type - SAME_EXTENDED;
    }
    return !f->in.bad;
}

bool cf__frames_keep(const struct bbf_cf_code *code, uint32_t slot, char kind)
{
    const uint8_t *p = code->attributes;
    struct cf__param param;
    struct bbf_cf_str name;

    if (code->owner->major < CF__MAJOR_FRAMES)
        return true;
    if (!cf__param_find(code->descriptor, code->is_static, slot, &param))
        return false;
    for (uint32_t i = 0; i < code->n_attributes; i++) {
        uint32_t len = cf__u4(p + 2);
        struct follow f = {
            {p + 6, p + 6 + len, false}, code, slot, param.entry, param.entries, kind};

        if (cf__pool_utf8(code->owner, cf__u2(p), &name) && cf__str_is(name, "StackMapTable"))
            for (uint32_t frames = read_u2(&f.in); frames > 0; frames--)
                if (!follow_frame(&f))
                    return false;
        p += 6 + len;
    }
    return true;
}

/* ---- depths ---- */

/* Slots of `count` types; *dangling: one has an index past the constant pool. */
static uint32_t types_slots(struct reader *in, const struct bbf_cf_code *code, uint32_t count,
                            bool *dangling)
{
    uint32_t slots = 0;

    for (; count > 0 && !in->bad; count--) {
        uint32_t tag = read_u1(in), value = tag >= T_OBJECT ? read_u2(in) : 0;

        if (tag > T_UNINITIALIZED)
            in->bad = true;
        if (tag == T_OBJECT && value >= code->owner->pool_count)
            *dangling = true;
        slots += tag == T_LONG || tag == T_DOUBLE ? 2 : 1;
    }
    return slots;
}

/* Read the rest of the frame, after the delta: the slots on the stack. */
static uint32_t frame_slots(struct reader *in, const struct bbf_cf_code *code, uint32_t type,
                            bool *dangling)
{
    if (type == FULL) {
        (void)types_slots(in, code, read_u2(in), dangling);
        return types_slots(in, code, read_u2(in), dangling);
    }
    if (type > SAME_EXTENDED)
        (void)types_slots(in, code, type - SAME_EXTENDED, dangling);
    else if ((type >= 64 && type < 128) || type == SAME_LOCALS_1_EXTENDED)
        return types_slots(in, code, 1, dangling);
    return 0;
}

bool cf__frames_depths(const struct bbf_cf_code *code, uint16_t *depth, uint32_t *deepest,
                       bool *dangling)
{
    const uint8_t *p = code->attributes;
    struct bbf_cf_str name;

    for (uint32_t i = 0; i < code->n_attributes; i++, p += 6 + cf__u4(p + 2)) {
        struct reader in = {p + 6, p + 6 + cf__u4(p + 2), false};
        uint32_t pc = UINT32_MAX; /* "-1": the first frame adds no 1 */

        if (!cf__pool_utf8(code->owner, cf__u2(p), &name) || !cf__str_is(name, "StackMapTable"))
            continue;
        for (uint32_t count = read_u2(&in); count > 0; count--) {
            uint32_t delta, type = read_frame(&in, &delta), slots;

            pc += delta + 1;
            slots = in.bad ? 0 : frame_slots(&in, code, type, dangling);
            if (in.bad || pc >= code->len)
                break;
            depth[pc] = (uint16_t)(slots < UINT16_MAX ? slots + 1 : UINT16_MAX);
            if (slots > *deepest)
                *deepest = slots;
        }
        return true;
    }
    return false;
}

/* ---- CLDC ---- */

/* One absolute offset at p, in place. */
static bool cldc_offset(const struct cf__map *map, uint8_t *p)
{
    uint32_t to = cf__map_near(map, cf__u2(p));

    if (to == CF__NOWHERE)
        return false;
    cf__put2(p, to);
    return true;
}

static bool cldc_types(const struct cf__map *map, uint8_t **pp, const uint8_t *end)
{
    uint8_t *p = *pp;
    uint32_t count;

    if (end - p < 2)
        return false;
    count = cf__u2(p);
    for (p += 2; count > 0; count--) {
        uint8_t tag;

        if (end - p < 1 || *p > T_UNINITIALIZED)
            return false;
        tag = *p++;
        if (tag < T_OBJECT)
            continue;
        if (end - p < 2 || (tag == T_UNINITIALIZED && !cldc_offset(map, p)))
            return false;
        p += 2;
    }
    *pp = p;
    return true;
}

bool cf__cldc_move(const struct cf__map *map, uint8_t *p, uint32_t len)
{
    const uint8_t *end = p + len;
    uint32_t count;

    if (len < 2)
        return false;
    count = cf__u2(p);
    for (p += 2; count > 0; count--) {
        if (end - p < 2 || !cldc_offset(map, p))
            return false;
        p += 2;
        if (!cldc_types(map, &p, end) || !cldc_types(map, &p, end))
            return false;
    }
    return p == end;
}
