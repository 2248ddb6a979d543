#include "tests/fuzz/class_model.h"

#include "classfile/code.h"
#include "classfile/reader.h"

#include <stdlib.h>
#include <string.h>

jmp_buf cm_full;

static _Alignas(16) uint8_t arena[32 << 20];
static size_t used;

void *cm_alloc(size_t size)
{
    size_t at = used;

    if (size > sizeof arena - used - 16)
        longjmp(cm_full, 1);
    used = (used + size + 15) & ~(size_t)15;
    return memset(arena + at, 0, size);
}

static void *copy_of(const void *from, size_t size)
{
    void *to = cm_alloc(size + 1);

    return size > 0 ? memcpy(to, from, size) : to;
}

void *cm_open(void *array, uint32_t *n, uint32_t at, uint32_t more, size_t size)
{
    uint8_t *old = array, *new = cm_alloc((*n + more + 1) * size);

    if (at > 0)
        memcpy(new, old, at * size);
    if (*n > at)
        memcpy(new + (at + more) * size, old + at * size, (*n - at) * size);
    *n += more;
    return new;
}

void cm_remove(void *array, uint32_t *n, uint32_t at, size_t size)
{
    uint8_t *p = array;

    memmove(p + at * size, p + (at + 1) * size, (*n - at - 1) * size);
    (*n)--;
}

bool cm_text(const struct cm_class *c, uint32_t index, const uint8_t **text, uint32_t *len)
{
    if (index == 0 || index >= c->n_pool || c->pool[index].bytes == NULL ||
        c->pool[index].bytes[0] != CF__UTF8 || c->pool[index].len < 3)
        return false;
    *text = c->pool[index].bytes + 3;
    *len = c->pool[index].len - 3;
    return true;
}

static bool named(const struct cm_class *c, uint32_t index, const char *name)
{
    const uint8_t *text;
    uint32_t len;

    return cm_text(c, index, &text, &len) && len == strlen(name) && memcmp(text, name, len) == 0;
}

uint16_t cm_constant_add(struct cm_class *c, const uint8_t *bytes, uint32_t len)
{
    uint32_t halves = bytes[0] == CF__LONG || bytes[0] == CF__DOUBLE ? 2 : 1, at = c->n_pool;

    if (c->n_pool + halves > UINT16_MAX)
        return 0;
    c->pool = cm_open(c->pool, &c->n_pool, at, halves, sizeof *c->pool);
    c->pool[at].bytes = copy_of(bytes, len);
    c->pool[at].len = len;
    return (uint16_t)at;
}

uint16_t cm_utf8_add(struct cm_class *c, const char *text, size_t len)
{
    uint8_t *bytes = cm_alloc(len + 3);

    bytes[0] = CF__UTF8;
    cf__put2(bytes + 1, (uint32_t)len);
    memcpy(bytes + 3, text, len);
    return cm_constant_add(c, bytes, (uint32_t)len + 3);
}

/* ---- code ---- */

/* The instruction around each pc, while a Code is read. */
struct places {
    uint32_t len;
    uint32_t *id;
};

static struct cm_ref ref_of(const struct places *places, int64_t pc)
{
    struct cm_ref ref = {0, (int32_t)(pc - places->len)};
    int64_t start = pc;

    if (pc < 0 || pc >= places->len)
        return ref;
    while (start > 0 && places->id[start] == 0)
        start--;
    return (struct cm_ref){places->id[start], (int32_t)(pc - start)};
}

static struct cm_switch *switch_read(const struct places *places, const uint8_t *code, uint32_t pc)
{
    struct cm_switch *s = cm_alloc(sizeof *s);
    uint32_t base = (pc + 4) & ~3u, at = base + 8;
    bool table = code[pc] == CF__TABLESWITCH;

    s->other = ref_of(places, (int64_t)pc + cf__s4(code + base));
    s->n = cf__u4(code + at - 4);
    if (table) {
        s->n = cf__u4(code + base + 8) - cf__u4(code + base + 4) + 1;
        at += 4;
    }
    s->keys = cm_alloc(s->n * sizeof *s->keys);
    s->targets = cm_alloc(s->n * sizeof *s->targets);
    for (uint32_t i = 0; i < s->n; i++) {
        s->keys[i] = table ? (int32_t)(cf__u4(code + base + 4) + i) : cf__s4(code + at);
        at += table ? 0 : 4;
        s->targets[i] = ref_of(places, (int64_t)pc + cf__s4(code + at));
        at += 4;
    }
    return s;
}

static bool insns_read(struct cm_code *m, const struct bbf_cf_code *code, struct places *places)
{
    const uint8_t *c = code->code;
    uint32_t pc, len;

    places->len = code->len;
    places->id = cm_alloc((code->len + 1) * sizeof *places->id);
    for (pc = 0; pc < code->len; pc += len, m->n++) {
        if ((len = cf__insn_length(c, code->len, pc)) == 0)
            return false;
        places->id[pc] = m->n + 1;
    }
    m->next_id = m->n + 1;
    m->insns = cm_alloc(m->n * sizeof *m->insns);
    pc = 0;
    for (struct cm_insn *i = m->insns; i < m->insns + m->n; i++, pc += len) {
        uint8_t kind = cf__opcodes[c[pc]];

        len = cf__insn_length(c, code->len, pc);
        i->id = places->id[pc];
        i->len = (uint8_t)(len < 6 ? len : 6);
        memcpy(i->bytes, c + pc, i->len);
        if (kind & CF__BRANCH2)
            i->target = ref_of(places, (int64_t)pc + cf__s2(c + pc + 1));
        else if (kind & CF__BRANCH4)
            i->target = ref_of(places, (int64_t)pc + cf__s4(c + pc + 1));
        else if (kind & CF__SWITCH)
            i->table = switch_read(places, c, pc);
    }
    return true;
}

/* ---- StackMapTable ---- */

struct reader {
    const uint8_t *p, *end;
    const struct places *places;
    bool bad;
};

static uint32_t take(struct reader *r, unsigned bytes)
{
    uint32_t value = 0;

    if (r->end - r->p < (ptrdiff_t)bytes) {
        r->bad = true;
        r->p = r->end;
        return 0;
    }
    for (; bytes > 0; bytes--)
        value = value << 8 | *r->p++;
    return value;
}

static struct cm_type type_read(struct reader *r)
{
    struct cm_type type = {.tag = (uint8_t)take(r, 1)};

    if (type.tag == 7)
        type.index = (uint16_t)take(r, 2);
    else if (type.tag == 8)
        type.at = ref_of(r->places, take(r, 2));
    return type;
}

static struct cm_type *types_read(struct reader *r, uint32_t n)
{
    struct cm_type *types = cm_alloc(n * sizeof *types);

    for (uint32_t i = 0; i < n && !r->bad; i++)
        types[i] = type_read(r);
    return types;
}

/* One field type of a descriptor; *p ends behind it, or is NULL. */
static struct cm_type field_type(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *start = *p;
    struct cm_type type = {.tag = 1};

    switch (**p) {
    case 'F':
        type.tag = 2;
        break;
    case 'D':
        type.tag = 3;
        break;
    case 'J':
        type.tag = 4;
        break;
    case 'L':
    case '[':
        while (*p < end && **p == '[')
            (*p)++;
        while (*p < end && **p != ';' && *start != '[')
            (*p)++;
        if (*start == '[' && *p < end && **p == 'L')
            while (*p < end && **p != ';')
                (*p)++;
        type.tag = 7;
        type.text = start + (*start == 'L');
        type.text_len = (uint16_t)(*p - type.text + (*start == '['));
        break;
    default:
        break;
    }
    *p = *p < end ? *p + 1 : NULL;
    return type;
}

/* The locals at entry. */
static void locals_at_entry(const struct cm_class *c, const struct cm_member *member,
                            struct cm_frame *frame)
{
    const uint8_t *p, *end;
    uint32_t len;

    frame->locals = cm_alloc(256 * sizeof *frame->locals);
    if (!(member->access & CF__ACC_STATIC)) {
        frame->locals[0].tag = named(c, member->name, "<init>") ? 6 : 7;
        frame->locals[0].index = c->self;
        frame->n_locals = 1;
    }
    if (!cm_text(c, member->descriptor, &p, &len) || len == 0 || *p != '(')
        return;
    for (end = p++ + len; p != NULL && p < end && *p != ')' && frame->n_locals < 255;)
        frame->locals[frame->n_locals++] = field_type(&p, end);
}

static bool frame_read(struct reader *r, const struct cm_frame *prev, uint32_t *pc,
                       struct cm_frame *f)
{
    uint32_t type = take(r, 1), delta = type & 63;

    if (type >= 128) {
        delta = take(r, 2);
        f->form = type == 251 || type == 247 ? CM_EXTENDED : type == 255 ? CM_FULL : CM_SHORT;
    }
    *pc += delta + 1;
    f->at = ref_of(r->places, *pc);
    f->locals = prev->locals;
    f->n_locals = prev->n_locals;
    if ((type >= 64 && type < 128) || type == 247) {
        f->stack = types_read(r, f->n_stack = 1);
    } else if (type >= 128 && type < 247) {
        return false;
    } else if (type >= 248 && type <= 250) {
        if (f->n_locals < 251 - type)
            return false;
        f->n_locals -= 251 - type;
        f->locals = copy_of(f->locals, f->n_locals * sizeof *f->locals);
    } else if (type >= 252 && type <= 254) {
        f->locals = cm_open(f->locals, &f->n_locals, f->n_locals, type - 251, sizeof *f->locals);
        memcpy(f->locals + prev->n_locals, types_read(r, type - 251),
               (type - 251) * sizeof *f->locals);
    } else if (type == 255) {
        f->locals = types_read(r, f->n_locals = take(r, 2));
        f->stack = types_read(r, f->n_stack = take(r, 2));
    }
    if (f->locals == prev->locals) /* a change of one frame is none of the next */
        f->locals = copy_of(f->locals, f->n_locals * sizeof *f->locals);
    return !r->bad;
}

static void frames_read(const struct cm_class *c, const struct cm_member *member,
                        const struct places *places, struct cm_attr *attr)
{
    struct reader r = {attr->bytes, attr->bytes + attr->n, places, false};
    uint32_t n = take(&r, 2), pc = UINT32_MAX;
    struct cm_frame *frames = cm_alloc((n + 1) * sizeof *frames);

    locals_at_entry(c, member, &frames[0]);
    for (uint32_t i = 0; i < n; i++)
        if (!frame_read(&r, &frames[i], &pc, &frames[i + 1]))
            return; /* stays raw */
    if (r.p != r.end || r.bad)
        return;
    attr->kind = CM_FRAMES;
    attr->frames = frames; /* the first says what holds at entry, and is not written */
    attr->n = n + 1;
}

static void rows_read(const struct places *places, struct cm_attr *attr, uint32_t size)
{
    uint32_t n = attr->n >= 2 ? cf__u2(attr->bytes) : 0;
    const uint8_t *p = attr->bytes + 2;

    if (attr->n != 2 + n * size)
        return;
    attr->rows = cm_alloc((n + 1) * sizeof *attr->rows);
    for (uint32_t i = 0; i < n; i++, p += size) {
        struct cm_row *row = &attr->rows[i];

        row->start = ref_of(places, cf__u2(p));
        if (size == 10)
            row->end = ref_of(places, (int64_t)cf__u2(p) + cf__u2(p + 2));
        memcpy(row->rest, p + (size == 10 ? 4 : 2), size == 10 ? 6 : 2);
    }
    attr->kind = size == 10 ? CM_LOCALS : CM_LINES;
    attr->n = n;
}

/* ---- the class ---- */

static uint32_t attrs_read(const struct cm_class *c, const uint8_t *in, uint32_t at,
                           struct cm_attrs *attrs)
{
    (void)c;
    attrs->n = cf__u2(in + at);
    attrs->at = cm_alloc((attrs->n + 1) * sizeof *attrs->at);
    at += 2;
    for (uint32_t i = 0; i < attrs->n; i++) {
        struct cm_attr *attr = &attrs->at[i];

        attr->name = cf__u2(in + at);
        attr->n = cf__u4(in + at + 2);
        attr->bytes = copy_of(in + at + 6, attr->n);
        at += 6 + attr->n;
    }
    return at;
}

static void code_read(const struct cm_class *c, const struct cm_member *member,
                      const struct cf__class *owner, const struct cf__member *place,
                      struct cm_attr *attr)
{
    struct cm_code *m = cm_alloc(sizeof *m);
    struct bbf_cf_code code;
    struct places places;

    cf__code_open(&code, owner, place);
    if (!code.ok || !insns_read(m, &code, &places))
        return;
    m->max_stack = code.max_stack;
    m->max_locals = code.max_locals;
    m->n_handlers = code.n_exceptions;
    m->handlers = cm_alloc(m->n_handlers * sizeof *m->handlers);
    for (uint32_t i = 0; i < m->n_handlers; i++) {
        const uint8_t *p = code.exceptions + 8 * i;

        m->handlers[i] =
            (struct cm_handler){ref_of(&places, cf__u2(p)), ref_of(&places, cf__u2(p + 2)),
                                ref_of(&places, cf__u2(p + 4)), cf__u2(p + 6)};
    }
    attrs_read(c, owner->in, (uint32_t)(code.attributes - owner->in) - 2, &m->attrs);
    for (struct cm_attr *a = m->attrs.at; a < m->attrs.at + m->attrs.n; a++) {
        if (named(c, a->name, "StackMapTable"))
            frames_read(c, member, &places, a);
        else if (named(c, a->name, "LineNumberTable"))
            rows_read(&places, a, 4);
        else if (named(c, a->name, "LocalVariableTable") ||
                 named(c, a->name, "LocalVariableTypeTable"))
            rows_read(&places, a, 10);
    }
    attr->kind = CM_CODE;
    attr->code = m;
}

static uint32_t members_read(struct cm_class *c, const struct cf__class *owner, uint32_t at,
                             struct cm_members *members, bool with_code)
{
    members->n = cf__u2(owner->in + at);
    members->at = cm_alloc((members->n + 1) * sizeof *members->at);
    at += 2;
    for (struct cm_member *m = members->at; m < members->at + members->n; m++) {
        struct cf__member place;

        (void)cf__member_read(owner, at, with_code, &place);
        m->access = place.access;
        m->name = place.name;
        m->descriptor = place.descriptor;
        attrs_read(c, owner->in, at + 6, &m->attrs);
        if (place.code != 0)
            for (uint32_t i = 0; i < m->attrs.n; i++)
                if (named(c, m->attrs.at[i].name, "Code"))
                    code_read(c, m, owner, &place, &m->attrs.at[i]);
        at = place.end;
    }
    return at;
}

bool cm_read(struct cm_class *c, const uint8_t *data, size_t len)
{
    used = 0;
    return cm_read_more(c, data, len);
}

bool cm_read_more(struct cm_class *c, const uint8_t *data, size_t len)
{
    struct cf__class owner;
    uint32_t at;

    if (cf__class_open(&owner, data, len, NULL, NULL) != BBF_CF_CHANGED)
        return false;
    *c = (struct cm_class){.n_pool = owner.pool_count};
    memcpy(c->head, data, sizeof c->head);
    /* cm_alloc may jump away from here: owner's pool is freed before. */
    uint32_t *pool_at = owner.pool_at;
    static uint32_t places[UINT16_MAX + 1];

    memcpy(places, pool_at, owner.pool_count * sizeof *places);
    cf__class_close(&owner);
    owner.pool_at = places;
    c->pool = cm_alloc((c->n_pool + 1) * sizeof *c->pool);
    for (uint32_t i = 1; i < c->n_pool; i++) {
        unsigned indices;

        if (places[i] == 0)
            continue;
        c->pool[i].len = cf__constant_size(data, (uint32_t)len, places[i], &indices);
        c->pool[i].bytes = copy_of(data + places[i], c->pool[i].len);
    }
    at = owner.pool_end;
    c->access = cf__u2(data + at);
    c->self = cf__u2(data + at + 2);
    c->super = cf__u2(data + at + 4);
    c->n_interfaces = cf__u2(data + at + 6);
    c->interfaces = copy_of(data + at + 8, 2 * c->n_interfaces);
    members_read(c, &owner, owner.fields_at, &c->fields, false);
    at = members_read(c, &owner, owner.methods_at, &c->methods, true);
    attrs_read(c, data, at, &c->attrs);
    return true;
}
