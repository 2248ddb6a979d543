#include "tests/fuzz/class_change.h"

#include "classfile/code.h"
#include "classfile/reader.h"

#include <stdio.h>
#include <string.h>

/* ---- changes that mean to break something ---- */

static bool break_opcode(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_any(x);
    uint8_t op = (uint8_t)cm_draw(x, cm_draw(x, 4) == 0 ? 256 : 202);

    if (i->table != NULL || (cf__opcodes[op] & CF__SWITCH))
        return false;
    i->bytes[0] = op;
    if (cm_draw(x, 2) == 0 && (cf__opcodes[op] & CF__LENGTH) != 0)
        i->len = cf__opcodes[op] & CF__LENGTH;
    return true;
}

static bool break_operand(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_any(x);

    if (i->len < 2)
        return false;
    if (cm_draw(x, 3) == 0)
        i->bytes[1 + cm_draw(x, i->len - 1u)] = (uint8_t)cm_odd_number(x);
    else if (i->len >= 3)
        cf__put2(i->bytes + 1, cm_draw(x, x->c->n_pool));
    else
        i->bytes[1] = (uint8_t)cm_draw(x, x->code->max_locals + 1u);
    return true;
}

static void move_ref(struct cm_work *x, struct cm_ref *ref)
{
    switch (cm_draw(x, 4)) {
    case 0:
        ref->plus += (int32_t)cm_draw(x, 9) - 4;
        break;
    case 1:
        *ref = (struct cm_ref){0, (int32_t)cm_odd_number(x)};
        break;
    default:
        *ref = cm_ref_any(x);
    }
}

static bool break_target(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, 153, OP_LOOKUPSWITCH);

    if (i == NULL || i->bytes[0] == OP_RET)
        return false;
    if (i->table == NULL)
        move_ref(x, &i->target);
    else
        move_ref(x, i->table->n > 0 && cm_draw(x, 4) != 0
                        ? &i->table->targets[cm_draw(x, i->table->n)]
                        : &i->table->other);
    return true;
}

static bool break_switch(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, CF__TABLESWITCH, OP_LOOKUPSWITCH);
    struct cm_switch *s;

    if (i == NULL)
        return false;
    s = i->table;
    switch (cm_draw(x, 3)) {
    case 0:
        s->lie = cm_draw(x, 2) == 0 ? (int32_t)cm_odd_number(x) : (int32_t)cm_draw(x, 5) - 2;
        return true;
    case 1:
        if (s->n > 0)
            s->keys[cm_draw(x, s->n)] = (int32_t)cm_odd_number(x);
        return s->n > 0;
    default:
        s->n -= s->n > 0;
        return true;
    }
}

static bool break_handler(struct cm_work *x)
{
    struct cm_code *code = x->code;
    struct cm_handler *h;

    if (cm_draw(x, 3) == 0 || code->n_handlers == 0) {
        code->handlers = h = cm_open(code->handlers, &code->n_handlers, 0, 1, sizeof *h);
        *h = (struct cm_handler){cm_ref_any(x), cm_ref_any(x), cm_ref_any(x), 0};
        return true;
    }
    h = &code->handlers[cm_draw(x, code->n_handlers)];
    switch (cm_draw(x, 4)) {
    case 0:
        move_ref(x, &h->start);
        return true;
    case 1:
        move_ref(x, &h->end);
        return true;
    case 2:
        move_ref(x, &h->handler);
        return true;
    default:
        h->type = (uint16_t)cm_draw(x, x->c->n_pool);
        return true;
    }
}

static bool break_frame_type(struct cm_work *x)
{
    struct cm_frame *f = cm_frame_any(x);
    struct cm_type *type;

    if (f == NULL || f->n_locals + f->n_stack == 0)
        return false;
    if (f->n_stack > 0 && cm_draw(x, 2) == 0)
        type = &f->stack[cm_draw(x, f->n_stack)];
    else if (f->n_locals > 0)
        type = &f->locals[cm_draw(x, f->n_locals)];
    else
        return false;
    *type = (struct cm_type){.tag = (uint8_t)cm_draw(x, cm_draw(x, 8) == 0 ? 256 : 9)};
    type->index = (uint16_t)cm_draw(x, x->c->n_pool);
    move_ref(x, &type->at);
    return true;
}

static bool break_frame(struct cm_work *x)
{
    struct cm_frame *f = cm_frame_any(x);
    uint32_t at;

    if (f == NULL)
        return false;
    at = (uint32_t)(f - x->frames->frames);
    switch (cm_draw(x, 5)) {
    case 0:
        cm_remove(x->frames->frames, &x->frames->n, at, sizeof *f);
        return true;
    case 1:
        x->frames->frames = f = cm_open(x->frames->frames, &x->frames->n, at, 1, sizeof *f);
        f[at] = f[at + 1];
        if (cm_draw(x, 2) == 0)
            f[at].at = cm_ref_any(x);
        return true;
    case 2:
        f->locals =
            cm_open(f->locals, &f->n_locals, cm_draw(x, f->n_locals + 1), 1, sizeof *f->locals);
        return true;
    case 3:
        f->stack = cm_open(f->stack, &f->n_stack, cm_draw(x, f->n_stack + 1), 1, sizeof *f->stack);
        f->stack[0].tag = (uint8_t)cm_draw(x, 6);
        return true;
    default:
        move_ref(x, &f->at);
        return true;
    }
}

static bool break_max(struct cm_work *x)
{
    if (cm_draw(x, 2) == 0)
        x->code->max_stack =
            (uint16_t)(cm_draw(x, 2) == 0 ? cm_odd_number(x) : x->code->max_stack - 1u);
    else
        x->code->max_locals =
            (uint16_t)(cm_draw(x, 2) == 0 ? cm_odd_number(x) : x->code->max_locals - 1u);
    return true;
}

static bool break_insns(struct cm_work *x)
{
    struct cm_code *code = x->code;
    uint32_t a = cm_draw(x, code->n), b = cm_draw(x, code->n);
    struct cm_insn held = code->insns[a];

    switch (cm_draw(x, 3)) {
    case 0:
        if (code->n < 2)
            return false;
        cm_remove(code->insns, &code->n, a, sizeof held);
        return true;
    case 1: /* once more, elsewhere */
        code->insns = cm_open(code->insns, &code->n, b, 1, sizeof held);
        code->insns[b] = held;
        code->insns[b].id = code->next_id++;
        return true;
    default:
        code->insns[a] = code->insns[b];
        code->insns[b] = held;
        return true;
    }
}

static bool break_lengths(struct cm_work *x)
{
    int32_t lie = cm_draw(x, 2) == 0 ? (int32_t)cm_odd_number(x) : (int32_t)cm_draw(x, 9) - 4;
    struct cm_attrs *attrs = cm_attrs_any(x);

    switch (cm_draw(x, 6)) {
    case 0:
        if (x->code != NULL)
            x->code->lie = lie;
        return x->code != NULL;
    case 1:
        x->c->methods.lie = lie;
        return true;
    case 2:
        x->c->pool_lie = lie;
        return true;
    case 3:
        attrs->lie = lie;
        return true;
    default:
        if (attrs->n > 0)
            attrs->at[cm_draw(x, attrs->n)].lie = lie;
        return attrs->n > 0;
    }
}

static bool break_attribute(struct cm_work *x)
{
    struct cm_attrs *attrs = cm_attrs_any(x);
    uint32_t at = cm_draw(x, attrs->n);
    struct cm_attr *a = &attrs->at[at];

    if (attrs->n == 0)
        return false;
    switch (cm_draw(x, 4)) {
    case 0:
        cm_remove(attrs->at, &attrs->n, at, sizeof *a);
        return true;
    case 1:
        attrs->at = a = cm_open(attrs->at, &attrs->n, at, 1, sizeof *a);
        a[at] = a[at + 1];
        return true;
    case 2:
        a->name = (uint16_t)cm_draw(x, x->c->n_pool);
        return true;
    default:
        if (a->kind != CM_RAW || a->n == 0)
            return false;
        a->bytes[cm_draw(x, a->n)] = (uint8_t)cm_odd_number(x);
        return true;
    }
}

static bool break_constant(struct cm_work *x)
{
    struct cm_class *c = x->c;
    struct cm_constant *a = cm_constant_any(x, 0, 255), *b = cm_constant_any(x, 0, 255);

    if (a == NULL || b == NULL)
        return false;
    switch (cm_draw(x, 5)) {
    case 0:
        a->bytes[0] = (uint8_t)cm_draw(x, 22);
        return true;
    case 1:
        if (a->bytes[0] < CF__CLASS)
            return false;
        cf__put2(a->bytes + 1 + (a->len >= 5 && cm_draw(x, 2) == 0 ? 2 : 0), cm_draw(x, c->n_pool));
        return true;
    case 2:
        if (a->len == b->len) {
            struct cm_constant held = *a;

            *a = *b;
            *b = held;
        }
        return a->len == b->len;
    case 3: /* a letter of a name or a descriptor */
        if (a->bytes[0] != CF__UTF8 || a->len < 4)
            return false;
        a->bytes[3 + cm_draw(x, a->len - 3)] = (uint8_t) "()[;LIJVDZ<>/a\xC0\x80"[cm_draw(x, 16)];
        return true;
    default:
        if (a->bytes[0] != CF__UTF8 || b->bytes[0] != CF__UTF8)
            return false;
        *a = *b;
        return true;
    }
}

static bool break_member(struct cm_work *x)
{
    static const char *const descriptors[] = {
        "()V", "()",  "(J[[D)Ljava/lang/Object;", "(DJLa;)La;",           "(I", "(V)V",
        "([)", "(Lx", "(La;La;La;La;)[[La;",      "()[Ljava/lang/Object;"};
    const char *text = descriptors[cm_draw(x, sizeof descriptors / sizeof descriptors[0])];

    switch (cm_draw(x, 4)) {
    case 0:
        x->method->access ^= (uint16_t)(1u << cm_draw(x, 16));
        return true;
    case 1:
        x->method->name = (uint16_t)cm_draw(x, x->c->n_pool);
        return true;
    case 2:
        x->method->name = cm_utf8_add(x->c, cm_draw(x, 2) == 0 ? "<init>" : "<clinit>", 6);
        return true;
    default:
        x->method->descriptor = cm_utf8_add(x->c, text, strlen(text));
        return true;
    }
}

static bool break_head(struct cm_work *x)
{
    struct cm_class *c = x->c;

    switch (cm_draw(x, 4)) {
    case 0:
        c->access ^= (uint16_t)(1u << cm_draw(x, 16));
        return true;
    case 1:
        c->super = (uint16_t)cm_draw(x, c->n_pool);
        return true;
    case 2:
        c->self = (uint16_t)cm_draw(x, c->n_pool);
        return true;
    default:
        c->head[cm_draw(x, 8)] = (uint8_t)cm_odd_number(x);
        return true;
    }
}

#define KIND(name, code)                                                                           \
    {                                                                                              \
#name, name, code                                                                          \
    }
const struct cm_change cm_breaking[] = {
    KIND(break_opcode, true),   KIND(break_operand, true),    KIND(break_target, true),
    KIND(break_switch, true),   KIND(break_handler, true),    KIND(break_frame_type, true),
    KIND(break_frame, true),    KIND(break_max, true),        KIND(break_insns, true),
    KIND(break_lengths, false), KIND(break_attribute, false), KIND(break_constant, false),
    KIND(break_member, true),   KIND(break_head, false),      {NULL, NULL, false},
};
#undef KIND
