#include "tests/fuzz/class_change.h"

#include "classfile/code.h"
#include "classfile/reader.h"

#include <stdio.h>
#include <string.h>

/* ---- changes that mean to keep the class valid ---- */

static bool keep_nop(struct cm_work *x)
{
    uint32_t at = cm_draw(x, x->code->n),
             more = cm_draw(x, 8) == 0 ? cm_draw(x, 300) : 1 + cm_draw(x, 3);

    cm_insert(x, at, more, cm_draw(x, 4) != 0);
    return true;
}

/* iload_1 -> iload 1 -> wide iload 1, iconst -> bipush -> sipush, ldc -> ldc_w, goto -> goto_w */
static bool keep_longer(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_any(x);
    uint8_t op = i->bytes[0], first = i->bytes[1];

    if (op >= 26 && op <= 45) { /* xload_n */
        cm_insn_set(i, (uint8_t[]){(uint8_t)(21 + (op - 26) / 4), (op - 26u) & 3u}, 2);
    } else if (op >= 59 && op <= 78) { /* xstore_n */
        cm_insn_set(i, (uint8_t[]){(uint8_t)(54 + (op - 59) / 4), (uint8_t)((op - 59) & 3)}, 2);
    } else if ((op >= 21 && op <= 25) || (op >= 54 && op <= 58) || op == OP_RET) {
        cm_insn_set(i, (uint8_t[]){CF__WIDE, op, 0, first}, 4);
    } else if (op == CF__IINC) {
        uint8_t by = i->bytes[2];

        cm_insn_set(i, (uint8_t[]){CF__WIDE, op, 0, first, by & 0x80 ? 0xFF : 0, by}, 6);
    } else if (op >= 2 && op <= 8) { /* iconst */
        cm_insn_set(i, (uint8_t[]){OP_BIPUSH, (uint8_t)(op - 3)}, 2);
    } else if (op == OP_BIPUSH) {
        cm_insn_set(i, (uint8_t[]){OP_SIPUSH, first & 0x80 ? 0xFF : 0, first}, 3);
    } else if (op == OP_LDC) {
        cm_insn_set(i, (uint8_t[]){OP_LDC_W, 0, first}, 3);
    } else if (op == OP_GOTO || op == 168) {
        i->bytes[0] = (uint8_t)(op + OP_GOTO_W - OP_GOTO);
    } else {
        return false;
    }
    return true;
}

/* tableswitch <-> lookupswitch */
static bool keep_switch(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, CF__TABLESWITCH, OP_LOOKUPSWITCH);
    struct cm_switch *s;
    uint32_t span, k = 0;

    if (i == NULL)
        return false;
    s = i->table;
    if (i->bytes[0] == CF__TABLESWITCH) {
        i->bytes[0] = OP_LOOKUPSWITCH;
        return true;
    }
    span = s->n == 0 ? 1 : (uint32_t)s->keys[s->n - 1] - (uint32_t)s->keys[0] + 1;
    if (span > 2000)
        return false;
    i->table = cm_alloc(sizeof *s);
    *i->table = (struct cm_switch){.other = s->other, .n = span};
    i->table->keys = cm_alloc(span * sizeof *s->keys);
    i->table->targets = cm_alloc(span * sizeof *s->targets);
    for (uint32_t at = 0; at < span; at++) {
        int32_t key = (int32_t)((s->n > 0 ? (uint32_t)s->keys[0] : 7) + at);

        i->table->keys[at] = key;
        i->table->targets[at] = k < s->n && s->keys[k] == key ? s->targets[k++] : s->other;
    }
    i->bytes[0] = CF__TABLESWITCH;
    return true;
}

/* Another operation with the same operands: ii -> i, jj -> j, ji -> j, comparisons, conversions. */
static bool keep_operation(struct cm_work *x)
{
    static const uint8_t families[][12] = {
        {96, 100, 104, 108, 112, 120, 122, 124, 126, 128, 130}, /* int */
        {97, 101, 105, 109, 113, 127, 129, 131},                /* long */
        {121, 123, 125},                                        /* shifts of long */
        {98, 102, 106, 110, 114},                               /* float */
        {99, 103, 107, 111, 115},                               /* double */
        {116, 145, 146, 147},                                   /* ineg, i2b, i2c, i2s */
        {149, 150},
        {151, 152},                     /* fcmp, dcmp */
        {153, 154, 155, 156, 157, 158}, /* if */
        {159, 160, 161, 162, 163, 164}, /* if_icmp */
        {165, 166},
        {198, 199},            /* ifnull */
        {2, 3, 4, 5, 6, 7, 8}, /* iconst */
        {9, 10},
        {11, 12, 13},
        {14, 15},
    };
    struct cm_insn *i = cm_insn_any(x);

    for (unsigned f = 0; f < sizeof families / sizeof families[0]; f++) {
        size_t n = strnlen((const char *)families[f], sizeof families[f]);

        if (memchr(families[f], i->bytes[0], n) != NULL) {
            i->bytes[0] = families[f][cm_draw(x, (uint32_t)n)];
            return true;
        }
    }
    if (i->bytes[0] == OP_BIPUSH || i->bytes[0] == OP_SIPUSH || i->bytes[0] == CF__IINC) {
        i->bytes[i->len - 1] = (uint8_t)cm_draw(x, 256);
        return true;
    }
    return false;
}

/* A constant pushed and popped. */
static bool keep_push_pop(struct cm_work *x)
{
    uint32_t at = cm_draw(x, x->code->n);
    uint8_t op = (uint8_t)(1 + cm_draw(x, 15));
    bool two = op == 9 || op == 10 || op == 14 || op == 15;
    struct cm_insn *i = cm_insert(x, at, 2, cm_draw(x, 4) != 0);

    i[0].bytes[0] = op;
    i[1].bytes[0] = two ? OP_POP2 : CF__POP;
    cm_stack_needs(x, 2);
    return true;
}

static uint32_t frame_for(const struct cm_work *x, uint32_t id)
{
    for (uint32_t f = 1; x->frames != NULL && f < x->frames->n; f++)
        if (x->frames->frames[f].at.id == id && x->frames->frames[f].at.plus == 0)
            return f;
    return 0;
}

/* A jump to where a frame is and the code goes anyway. */
static bool keep_goto_next(struct cm_work *x)
{
    uint32_t at = cm_draw(x, x->code->n), id = x->code->insns[at].id;
    struct cm_insn *i;

    if (frame_for(x, id) == 0 && cf__u2(x->c->head + 6) >= CF__MAJOR_FRAMES)
        return false;
    i = cm_insert(x, at, 1, false);
    i->bytes[0] = cm_draw(x, 2) == 0 ? OP_GOTO : OP_GOTO_W;
    i->target.id = id;
    return true;
}

/* After an instruction that never continues: unreachable code with a frame, which leaves or
 * loops. */
static bool keep_dead_code(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, OP_GOTO, CF__RETURN), *dead;
    struct cm_frame *f;
    uint32_t at, n = 1, place;
    const uint8_t *text;
    uint32_t len;

    if (i == NULL || i->bytes[0] == 168)
        return false;
    at = (uint32_t)(i - x->code->insns) + 1;
    place = at < x->code->n ? frame_for(x, x->code->insns[at].id) : 0;
    if (place == 0 && at < x->code->n && x->frames != NULL)
        return false;
    dead = cm_insert(x, at, 2, false);
    dead[0].bytes[0] = OP_ACONST_NULL;
    dead[1].bytes[0] = CF__ATHROW;
    if (cm_text(x->c, x->method->descriptor, &text, &len) && len > 2 && cm_draw(x, 2) == 0 &&
        (text[len - 1] == ';' || text[len - 2] == '['))
        dead[1].bytes[0] = CF__ARETURN;
    else if (cm_draw(x, 3) == 0) {
        dead[0].bytes[0] = CF__NOP;
        dead[1].bytes[0] = OP_GOTO;
        dead[1].target.id = dead[0].id;
    }
    cm_stack_needs(x, 1);
    if (x->frames == NULL)
        return true;
    f = cm_open(x->frames->frames, &x->frames->n, place == 0 ? x->frames->n : place, n, sizeof *f);
    x->frames->frames = f;
    f += place == 0 ? x->frames->n - 1 : place;
    f->at.id = x->code->insns[at].id;
    f->form = CM_FULL;
    f[1].form = place == 0 ? f[1].form : CM_FULL;
    return true;
}

/* aload n -> aload n, astore n, aload n: the local is the same, but was stored to */
static bool keep_store_same(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, 21, 45), *new;
    uint8_t op, slot, type;

    if (i == NULL)
        return false;
    op = i->bytes[0];
    slot = (uint8_t)(op < 26 ? i->bytes[1] : (op - 26) % 4);
    type = (uint8_t)(op < 26 ? op - 21 : (op - 26) / 4);
    new = cm_insert(x, (uint32_t)(i - x->code->insns), 2, true);
    cm_insn_set(&new[0], (uint8_t[]){(uint8_t)(21 + type), slot}, 2);
    cm_insn_set(&new[1], (uint8_t[]){(uint8_t)(OP_ISTORE + type), slot}, 2);
    return true;
}

static bool keep_iinc(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, 26, 29); /* iload_n */

    if (i == NULL)
        return false;
    uint8_t slot = (uint8_t)(i->bytes[0] - 26);

    i = cm_insert(x, (uint32_t)(i - x->code->insns), 1, true);
    cm_insn_set(i, (uint8_t[]){CF__IINC, slot, (uint8_t)cm_draw(x, 256)}, 3);
    return true;
}

static bool keep_frame_form(struct cm_work *x)
{
    struct cm_frame *f = cm_frame_any(x);

    if (f == NULL)
        return false;
    f->form = cm_draw(x, 2) == 0 ? CM_FULL : CM_EXTENDED;
    return true;
}

/* A local that a frame drops: valid if no later instruction loads it. */
static bool keep_frame_forgets(struct cm_work *x)
{
    struct cm_frame *f = cm_frame_any(x);

    if (f == NULL || f->n_locals == 0)
        return false;
    if (cm_draw(x, 3) == 0)
        f->n_locals--;
    else
        f->locals[cm_draw(x, f->n_locals)] = (struct cm_type){0};
    return true;
}

static bool keep_handler(struct cm_work *x)
{
    struct cm_code *code = x->code;
    uint32_t at = cm_draw(x, code->n_handlers);
    struct cm_handler *h;
    struct cm_ref ref = cm_ref_any(x);

    if (code->n_handlers == 0)
        return false;
    switch (cm_draw(x, 4)) {
    case 0:
        cm_remove(code->handlers, &code->n_handlers, at, sizeof *h);
        return true;
    case 1: /* twice */
        code->handlers = h = cm_open(code->handlers, &code->n_handlers, at, 1, sizeof *h);
        h[at] = h[at + 1];
        return true;
    case 2: /* in two, if the place is inside */
        code->handlers = h = cm_open(code->handlers, &code->n_handlers, at, 1, sizeof *h);
        h[at] = h[at + 1];
        h[at].end = h[at + 1].start = ref;
        return true;
    default:
        code->handlers[at].type = 0; /* any: what the frame says must be a Throwable then */
        return true;
    }
}

static bool keep_max(struct cm_work *x)
{
    uint32_t more = cm_draw(x, 8) == 0 ? cm_odd_number(x) : cm_draw(x, 5);

    if (cm_draw(x, 2) == 0)
        x->code->max_stack = (uint16_t)(x->code->max_stack + more);
    else
        x->code->max_locals = (uint16_t)(x->code->max_locals + more);
    return true;
}

/* Type annotations of Code with each target_type (JVMS 4.7.20.1), or bytes under a strange name. */
static bool keep_attribute(struct cm_work *x)
{
    static const char *const names[] = {"RuntimeVisibleTypeAnnotations",
                                        "RuntimeInvisibleTypeAnnotations", "org.netbeans.Some",
                                        "StackMap", ""};
    struct cm_attrs *attrs = cm_attrs_any(x);
    const char *name = names[cm_draw(x, 5)];
    struct cm_attr *a;
    uint8_t bytes[64];
    uint32_t n = 2 + cm_draw(x, 60), at;

    if (attrs->n > 100)
        return false;
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)cm_draw(x, 256);
    if (name[0] == 'R') {
        uint8_t type = (uint8_t)(0x40 + cm_draw(x, 12));
        uint8_t one[] = {0, 1, type, 0, 1, 0, (uint8_t)cm_draw(x, 40), 0, 3, 0, 0, 0, 0, 1, 0, 0};

        if (x->code == NULL)
            return false;
        attrs = &x->code->attrs;
        n = sizeof one;
        memcpy(bytes, one, n);
        if (type >= 0x42) { /* offset; of a cast also an index */
            bytes[3] = 0;
            bytes[4] = (uint8_t)cm_draw(x, 40);
            memset(bytes + 5, 0, 8);
            n = type >= 0x47 ? 11 : 10;
            bytes[n - 3] = 1;
        }
    }
    at = cm_draw(x, attrs->n + 1);
    attrs->at = cm_open(attrs->at, &attrs->n, at, 1, sizeof *a);
    a = &attrs->at[at];
    a->name = cm_utf8_add(x->c, name, strlen(name));
    a->n = n;
    a->bytes = cm_alloc(n);
    memcpy(a->bytes, bytes, n);
    return true;
}

static bool keep_attribute_order(struct cm_work *x)
{
    struct cm_attrs *attrs = cm_attrs_any(x);
    uint32_t a = cm_draw(x, attrs->n), b = cm_draw(x, attrs->n);

    if (attrs->n < 2 || a == b)
        return false;
    struct cm_attr held = attrs->at[a];

    attrs->at[a] = attrs->at[b];
    attrs->at[b] = held;
    return true;
}

/* Line and local tables: a row more, a row less, none at all, an odd place. */
static bool keep_debug(struct cm_work *x)
{
    struct cm_attrs *attrs = &x->code->attrs;
    uint32_t at = cm_draw(x, attrs->n);
    struct cm_attr *a = &attrs->at[at];

    if (attrs->n == 0 || (a->kind != CM_LINES && a->kind != CM_LOCALS))
        return false;
    switch (cm_draw(x, 4)) {
    case 0:
        cm_remove(attrs->at, &attrs->n, at, sizeof *a);
        return true;
    case 1:
        a->rows = cm_open(a->rows, &a->n, 0, 1, sizeof *a->rows);
        a->rows[0] = a->rows[a->n - 1];
        a->rows[0].start = cm_ref_any(x);
        a->rows[0].end = (struct cm_ref){0, 0};
        return true;
    default:
        if (a->n == 0)
            return false;
        at = cm_draw(x, a->n);
        if (cm_draw(x, 2) == 0)
            a->rows[at].start = cm_ref_any(x);
        else if (cm_draw(x, 2) == 0)
            a->rows[at].start.plus++;
        else
            cm_remove(a->rows, &a->n, at, sizeof *a->rows);
        return true;
    }
}

static bool keep_value(struct cm_work *x)
{
    struct cm_constant *constant = cm_constant_any(x, CF__INTEGER, CF__DOUBLE);

    if (constant == NULL)
        return false;
    cf__put4(constant->bytes + 1, cm_odd_number(x));
    return true;
}

/* Unused constants; rarely enough to leave no room for the rewriter's. */
static bool keep_pool_pad(struct cm_work *x)
{
    uint32_t n = cm_draw(x, 200) == 0 ? 65535 - cm_draw(x, 60) : x->c->n_pool + 1 + cm_draw(x, 300);

    while (x->c->n_pool < n && x->c->n_pool < UINT16_MAX) {
        uint32_t at = x->c->n_pool, more = n - at > 1000 ? 1000 : n - at;

        if (more > UINT16_MAX - at)
            more = UINT16_MAX - at;
        x->c->pool = cm_open(x->c->pool, &x->c->n_pool, at, more, sizeof *x->c->pool);
        for (uint32_t i = at; i < at + more; i++) {
            x->c->pool[i].bytes = cm_alloc(5);
            x->c->pool[i].bytes[0] = CF__INTEGER;
            x->c->pool[i].len = 5;
        }
    }
    return true;
}

/* The instruction uses a copy of its constant, at the end of the pool. */
static bool keep_constant_copy(struct cm_work *x)
{
    struct cm_insn *i = cm_insn_of(x, OP_LDC_W, 20);
    uint32_t index;
    uint16_t copy;

    if (i == NULL || cm_draw(x, 2) == 0)
        i = cm_insn_of(x, 178, 193);
    if (i == NULL || i->bytes[0] == 190 || i->bytes[0] == 191 || i->bytes[0] == 188)
        return false;
    index = cf__u2(i->bytes + 1);
    if (index >= x->c->n_pool || x->c->pool[index].bytes == NULL)
        return false;
    copy = cm_constant_add(x->c, x->c->pool[index].bytes, x->c->pool[index].len);
    if (copy != 0)
        cf__put2(i->bytes + 1, copy);
    return copy != 0;
}

/* A method once more under another name (its attributes are shared: written twice). */
static bool keep_method_copy(struct cm_work *x)
{
    struct cm_members *methods = &x->c->methods;
    uint32_t at = (uint32_t)(x->method - methods->at);
    char name[24];

    if (methods->n > 300)
        return false;
    snprintf(name, sizeof name, "copy%u", cm_draw(x, 1000000));
    methods->at = cm_open(methods->at, &methods->n, at, 1, sizeof *methods->at);
    methods->at[at] = methods->at[at + 1];
    methods->at[at].name = cm_utf8_add(x->c, name, strlen(name));
    methods->at[at].access &= 0xFFFF & ~0x20u;
    return true;
}

static bool keep_method_drop(struct cm_work *x)
{
    struct cm_members *methods = &x->c->methods;

    cm_remove(methods->at, &methods->n, cm_draw(x, methods->n), sizeof *methods->at);
    return true;
}

static bool keep_flags(struct cm_work *x)
{
    static const uint16_t bits[] = {0x10, 0x20, 0x40, 0x80, 0x800, 0x1000, 0x4000, 0x2000};

    x->method->access ^= bits[cm_draw(x, sizeof bits / sizeof bits[0])];
    return true;
}

static bool keep_version(struct cm_work *x)
{
    static const uint8_t majors[] = {45, 46, 48, 49, 50, 51, 52, 53, 55, 59, 61};

    x->c->head[7] = majors[cm_draw(x, sizeof majors)];
    x->c->head[4] = x->c->head[5] = 0;
    return true;
}

#define KIND(name, code)                                                                           \
    {                                                                                              \
#name, name, code                                                                          \
    }
const struct cm_change cm_keeping[] = {
    KIND(keep_nop, true),
    KIND(keep_longer, true),
    KIND(keep_switch, true),
    KIND(keep_operation, true),
    KIND(keep_push_pop, true),
    KIND(keep_goto_next, true),
    KIND(keep_dead_code, true),
    KIND(keep_store_same, true),
    KIND(keep_iinc, true),
    KIND(keep_frame_form, true),
    KIND(keep_frame_forgets, true),
    KIND(keep_handler, true),
    KIND(keep_max, true),
    KIND(keep_attribute, false),
    KIND(keep_attribute_order, false),
    KIND(keep_debug, true),
    KIND(keep_value, false),
    KIND(keep_pool_pad, false),
    KIND(keep_constant_copy, true),
    KIND(keep_method_copy, true),
    KIND(keep_method_drop, true),
    KIND(keep_flags, true),
    KIND(keep_version, false),
    {NULL, NULL, false},
};
#undef KIND
