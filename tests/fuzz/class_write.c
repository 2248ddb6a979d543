#include "tests/fuzz/class_model.h"

#include "classfile/code.h"
#include "classfile/reader.h"

#include <stdlib.h>
#include <string.h>

static void attrs_write(struct cm_class *c, const struct cm_code *code,
                        const struct cm_attrs *attrs, struct cf__out *out);

static uint32_t pc_of(const struct cm_code *code, struct cm_ref ref)
{
    return code->pc[ref.id < code->next_id ? ref.id : 0] + (uint32_t)ref.plus;
}

static uint32_t insn_size(const struct cm_insn *i, uint32_t pc)
{
    uint32_t base = (pc + 4) & ~3u;

    if (cf__opcodes[i->bytes[0]] & CF__BRANCH2)
        return 3;
    if (cf__opcodes[i->bytes[0]] & CF__BRANCH4)
        return 5;
    if (i->table == NULL)
        return i->len;
    return base - pc +
           (i->bytes[0] == CF__TABLESWITCH ? 12 + 4 * i->table->n : 8 + 8 * i->table->n);
}

static void switch_write(const struct cm_code *code, const struct cm_insn *i, uint32_t pc,
                         size_t start, struct cf__out *out)
{
    const struct cm_switch *s = i->table;
    bool table = i->bytes[0] == CF__TABLESWITCH;

    cf__out_u1(out, i->bytes[0]);
    while ((out->len - start) & 3)
        cf__out_u1(out, 0);
    cf__out_u4(out, pc_of(code, s->other) - pc);
    if (table) {
        uint32_t low = s->n > 0 ? (uint32_t)s->keys[0] : 0;

        cf__out_u4(out, low);
        cf__out_u4(out, low + s->n - 1 + (uint32_t)s->lie);
    } else {
        cf__out_u4(out, s->n + (uint32_t)s->lie);
    }
    for (uint32_t k = 0; k < s->n; k++) {
        if (!table)
            cf__out_u4(out, (uint32_t)s->keys[k]);
        cf__out_u4(out, pc_of(code, s->targets[k]) - pc);
    }
}

static void insns_write(struct cm_code *code, struct cf__out *out)
{
    uint32_t at = 0;
    size_t start;

    code->pc = cm_alloc((code->next_id + 1) * sizeof *code->pc);
    for (uint32_t k = 0; k < code->n; k++) {
        code->pc[code->insns[k].id] = at;
        at += insn_size(&code->insns[k], at);
    }
    code->pc[0] = at;
    cf__out_u4(out, at + (uint32_t)code->lie);
    start = out->len;
    for (const struct cm_insn *i = code->insns; i < code->insns + code->n; i++) {
        uint32_t pc = code->pc[i->id];
        uint8_t kind = cf__opcodes[i->bytes[0]];

        if (i->table != NULL) {
            switch_write(code, i, pc, start, out);
        } else if (kind & (CF__BRANCH2 | CF__BRANCH4)) {
            cf__out_u1(out, i->bytes[0]);
            if (kind & CF__BRANCH2)
                cf__out_u2(out, pc_of(code, i->target) - pc);
            else
                cf__out_u4(out, pc_of(code, i->target) - pc);
        } else {
            cf__out_put(out, i->bytes, i->len);
        }
    }
}

static bool same_type(const struct cm_type *a, const struct cm_type *b)
{
    return a->tag == b->tag && a->index == b->index && a->text == b->text && a->at.id == b->at.id &&
           a->at.plus == b->at.plus;
}

static bool same_types(const struct cm_type *a, const struct cm_type *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!same_type(&a[i], &b[i]))
            return false;
    return true;
}

/* A Class constant of that name: an old one, else a new one. */
static uint16_t class_named(struct cm_class *c, const uint8_t *name, uint16_t len)
{
    uint8_t constant[3] = {CF__CLASS};
    const uint8_t *text;
    uint32_t text_len;

    for (uint32_t i = 1; i < c->n_pool; i++)
        if (c->pool[i].bytes != NULL && c->pool[i].bytes[0] == CF__CLASS &&
            cm_text(c, cf__u2(c->pool[i].bytes + 1), &text, &text_len) && text_len == len &&
            memcmp(text, name, len) == 0)
            return (uint16_t)i;
    cf__put2(constant + 1, cm_utf8_add(c, (const char *)name, len));
    return cm_constant_add(c, constant, sizeof constant);
}

static void types_write(struct cm_class *c, const struct cm_code *code, const struct cm_type *types,
                        uint32_t n, struct cf__out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        cf__out_u1(out, types[i].tag);
        if (types[i].tag == 7)
            cf__out_u2(out, types[i].text != NULL ? class_named(c, types[i].text, types[i].text_len)
                                                  : types[i].index);
        else if (types[i].tag == 8)
            cf__out_u2(out, pc_of(code, types[i].at));
    }
}

static void frame_write(struct cm_class *c, const struct cm_code *code, const struct cm_frame *prev,
                        const struct cm_frame *f, uint32_t delta, struct cf__out *out)
{
    uint32_t common = f->n_locals < prev->n_locals ? f->n_locals : prev->n_locals;
    int64_t grown = (int64_t)f->n_locals - prev->n_locals;
    bool prefix = same_types(f->locals, prev->locals, common), small = delta < 64;

    if (f->form == CM_FULL || !prefix || grown < -3 || grown > 3 || f->n_stack > 1 ||
        (grown != 0 && f->n_stack != 0)) {
        cf__out_u1(out, 255);
        cf__out_u2(out, delta);
        cf__out_u2(out, f->n_locals);
        types_write(c, code, f->locals, f->n_locals, out);
        cf__out_u2(out, f->n_stack);
        types_write(c, code, f->stack, f->n_stack, out);
        return;
    }
    if (grown != 0) {
        cf__out_u1(out, (uint32_t)(251 + grown));
        cf__out_u2(out, delta);
        if (grown > 0)
            types_write(c, code, f->locals + prev->n_locals, (uint32_t)grown, out);
        return;
    }
    if (small && f->form != CM_EXTENDED) {
        cf__out_u1(out, delta + 64 * f->n_stack);
    } else {
        cf__out_u1(out, f->n_stack == 0 ? 251 : 247);
        cf__out_u2(out, delta);
    }
    types_write(c, code, f->stack, f->n_stack, out);
}

static void code_write(struct cm_class *c, struct cm_code *code, struct cf__out *out)
{
    cf__out_u2(out, code->max_stack);
    cf__out_u2(out, code->max_locals);
    insns_write(code, out);
    cf__out_u2(out, code->n_handlers);
    for (const struct cm_handler *h = code->handlers; h < code->handlers + code->n_handlers; h++) {
        cf__out_u2(out, pc_of(code, h->start));
        cf__out_u2(out, pc_of(code, h->end));
        cf__out_u2(out, pc_of(code, h->handler));
        cf__out_u2(out, h->type);
    }
    attrs_write(c, code, &code->attrs, out);
}

static void attr_write(struct cm_class *c, const struct cm_code *code, const struct cm_attr *attr,
                       struct cf__out *out)
{
    uint32_t pc = UINT32_MAX;

    if (attr->kind == CM_CODE) {
        code_write(c, attr->code, out);
    } else if (attr->kind == CM_RAW) {
        cf__out_put(out, attr->bytes, attr->n);
    } else if (attr->kind == CM_FRAMES) {
        cf__out_u2(out, attr->n - 1);
        for (uint32_t i = 1; i < attr->n; i++) {
            uint32_t at = pc_of(code, attr->frames[i].at);

            frame_write(c, code, &attr->frames[i - 1], &attr->frames[i], at - pc - 1, out);
            pc = at;
        }
    } else {
        cf__out_u2(out, attr->n);
        for (const struct cm_row *row = attr->rows; row < attr->rows + attr->n; row++) {
            cf__out_u2(out, pc_of(code, row->start));
            if (attr->kind == CM_LOCALS)
                cf__out_u2(out, pc_of(code, row->end) - pc_of(code, row->start));
            cf__out_put(out, row->rest, attr->kind == CM_LOCALS ? 6 : 2);
        }
    }
}

static void attrs_write(struct cm_class *c, const struct cm_code *code,
                        const struct cm_attrs *attrs, struct cf__out *out)
{
    cf__out_u2(out, attrs->n + (uint32_t)attrs->lie);
    for (const struct cm_attr *attr = attrs->at; attr < attrs->at + attrs->n; attr++) {
        size_t at;

        cf__out_u2(out, attr->name);
        cf__out_u4(out, 0);
        at = out->len;
        attr_write(c, code, attr, out);
        if (!out->failed)
            cf__put4(out->data + at - 4, (uint32_t)(out->len - at) + (uint32_t)attr->lie);
    }
}

static void members_write(struct cm_class *c, const struct cm_members *members, struct cf__out *out)
{
    cf__out_u2(out, members->n + (uint32_t)members->lie);
    for (const struct cm_member *m = members->at; m < members->at + members->n; m++) {
        cf__out_u2(out, m->access);
        cf__out_u2(out, m->name);
        cf__out_u2(out, m->descriptor);
        attrs_write(c, NULL, &m->attrs, out);
    }
}

size_t cm_write(struct cm_class *c, uint8_t *to, size_t max)
{
    /* Static: a jump to cm_full leaves them, and the next call begins anew. The body comes first,
     * since writing frames may add constants. */
    static struct cf__out body, head;

    body.len = head.len = 0;
    cf__out_u2(&body, c->access);
    cf__out_u2(&body, c->self);
    cf__out_u2(&body, c->super);
    cf__out_u2(&body, c->n_interfaces);
    cf__out_put(&body, c->interfaces, 2 * c->n_interfaces);
    members_write(c, &c->fields, &body);
    members_write(c, &c->methods, &body);
    attrs_write(c, NULL, &c->attrs, &body);
    cf__out_put(&head, c->head, sizeof c->head);
    cf__out_u2(&head, c->n_pool + (uint32_t)c->pool_lie);
    for (uint32_t i = 1; i < c->n_pool; i++)
        if (c->pool[i].bytes != NULL)
            cf__out_put(&head, c->pool[i].bytes, c->pool[i].len);
    if (body.failed || head.failed)
        abort();
    if (head.len + body.len > max)
        return 0;
    memcpy(to, head.data, head.len);
    memcpy(to + head.len, body.data, body.len);
    return head.len + body.len;
}
