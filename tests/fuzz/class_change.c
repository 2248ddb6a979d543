#include "tests/fuzz/class_change.h"

#include "classfile/code.h"
#include "classfile/reader.h"

#include <string.h>

uint32_t cm_draw(struct cm_work *x, uint32_t below)
{
    uint64_t z = x->random += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return below == 0 ? 0 : (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

uint32_t cm_odd_number(struct cm_work *x)
{
    static const uint32_t numbers[] = {0,     1,     2,     3,     4,          5,
                                       63,    64,    127,   128,   255,        256,
                                       32767, 32768, 65534, 65535, 0x7FFFFFFF, 0x80000000,
                                       65536, 16,    8,     10,    0xFFFF0000, 0xFFFFFFFF};

    if (cm_draw(x, 3) == 0)
        return cm_draw(x, UINT32_MAX);
    return numbers[cm_draw(x, sizeof numbers / sizeof numbers[0])];
}

struct cm_insn *cm_insn_any(struct cm_work *x)
{
    return x->code->n > 0 ? &x->code->insns[cm_draw(x, x->code->n)] : NULL;
}

struct cm_insn *cm_insn_of(struct cm_work *x, unsigned first, unsigned last)
{
    uint32_t from = cm_draw(x, x->code->n);

    for (uint32_t k = 0; k < x->code->n; k++) {
        struct cm_insn *i = &x->code->insns[(from + k) % x->code->n];

        if (i->bytes[0] >= first && i->bytes[0] <= last)
            return i;
    }
    return NULL;
}

struct cm_ref cm_ref_any(struct cm_work *x)
{
    return (struct cm_ref){x->code->n > 0 ? x->code->insns[cm_draw(x, x->code->n)].id : 0, 0};
}

void cm_insn_set(struct cm_insn *i, const uint8_t *bytes, uint8_t len)
{
    memcpy(i->bytes, bytes, len);
    i->len = len;
}

struct cm_insn *cm_insert(struct cm_work *x, uint32_t at, uint32_t more, bool taken)
{
    struct cm_code *code = x->code;

    code->insns = cm_open(code->insns, &code->n, at, more, sizeof *code->insns);
    for (uint32_t i = at; i < at + more; i++) {
        code->insns[i].id = code->next_id++;
        code->insns[i].len = 1;
    }
    if (taken && at + more < code->n && code->insns[at + more].bytes[0] != OP_NEW) {
        uint32_t id = code->insns[at].id;

        code->insns[at].id = code->insns[at + more].id;
        code->insns[at + more].id = id;
    }
    return code->insns + at;
}

void cm_stack_needs(struct cm_work *x, uint32_t more)
{
    uint32_t stack = x->code->max_stack + more;

    x->code->max_stack = (uint16_t)(stack > UINT16_MAX ? UINT16_MAX : stack);
}

struct cm_frame *cm_frame_any(struct cm_work *x)
{
    if (x->frames == NULL || x->frames->n < 2)
        return NULL;
    return &x->frames->frames[1 + cm_draw(x, x->frames->n - 1)];
}

struct cm_attrs *cm_attrs_any(struct cm_work *x)
{
    struct cm_class *c = x->c;

    switch (cm_draw(x, 6)) {
    case 0:
        return &c->attrs;
    case 1:
        return c->fields.n > 0 ? &c->fields.at[cm_draw(x, c->fields.n)].attrs : &c->attrs;
    case 2:
        return c->methods.n > 0 ? &c->methods.at[cm_draw(x, c->methods.n)].attrs : &c->attrs;
    default:
        return x->code != NULL ? &x->code->attrs : &c->attrs;
    }
}

struct cm_constant *cm_constant_any(struct cm_work *x, unsigned first, unsigned last)
{
    uint32_t from = cm_draw(x, x->c->n_pool);

    for (uint32_t k = 0; k < x->c->n_pool; k++) {
        struct cm_constant *constant = &x->c->pool[(from + k) % x->c->n_pool];

        if (constant->bytes != NULL && constant->bytes[0] >= first && constant->bytes[0] <= last)
            return constant;
    }
    return NULL;
}
