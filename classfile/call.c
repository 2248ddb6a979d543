/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/call.h"

#include "classfile/code.h"
#include "classfile/reader.h"

#include <string.h>

enum { POOL_MAX = 65535 };

enum {
    ICONST_0 = 3,
    BIPUSH = 16,
    SIPUSH = 17,
    LDC_W = 19,
    ILOAD_0 = 26,
    DUP = 89,
    INVOKESTATIC = 184,
    ARRAYLENGTH = 190
};

struct cf__links_mark cf__links_mark(const struct cf__links *links)
{
    return (struct cf__links_mark){links->count, links->bytes.len};
}

void cf__links_rollback(struct cf__links *links, struct cf__links_mark mark)
{
    links->count = mark.count;
    links->bytes.len = mark.len;
    for (size_t i = 0; i < links->config->n_targets; i++) {
        struct cf__link *link = &links->targets[i];

        if (link->owner >= mark.count)
            link->owner = 0;
        if (link->descriptor >= mark.count)
            link->descriptor = 0;
        if (link->method >= mark.count)
            link->method = 0;
    }
    for (unsigned i = 0; i < CF__LINK_INTS; i++)
        if (links->ints[i].index >= mark.count)
            links->ints[i].index = 0;
}

/* Append a constant of up to two u2 (or one u4 as `a` high, `b` low). */
static bool append(struct cf__links *links, uint8_t tag, uint32_t a, uint32_t b, uint16_t *index)
{
    if (links->count >= POOL_MAX)
        return false;
    cf__out_u1(&links->bytes, tag);
    cf__out_u2(&links->bytes, a);
    if (tag != CF__CLASS)
        cf__out_u2(&links->bytes, b);
    *index = (uint16_t)links->count++;
    return true;
}

bool cf__links_utf8(struct cf__links *links, const char *text, uint16_t *index)
{
    size_t len = strlen(text);

    if (links->count >= POOL_MAX || len > UINT16_MAX)
        return false;
    cf__out_u1(&links->bytes, CF__UTF8);
    cf__out_u2(&links->bytes, (uint32_t)len);
    cf__out_put(&links->bytes, text, len);
    *index = (uint16_t)links->count++;
    return true;
}

bool cf__links_class(struct cf__links *links, const char *name, uint16_t *index)
{
    uint16_t text;

    return cf__links_utf8(links, name, &text) && append(links, CF__CLASS, text, 0, index);
}

bool cf__links_member(struct cf__links *links, uint8_t tag, uint16_t owner, const char *name,
                      const char *descriptor, uint16_t *index)
{
    uint16_t text, type, of;

    return cf__links_utf8(links, name, &text) && cf__links_utf8(links, descriptor, &of) &&
           append(links, CF__NAME_AND_TYPE, text, of, &type) &&
           append(links, tag, owner, type, index);
}

/* Another target has usually added the class and the descriptor already. */
static void link_share(struct cf__links *links, uint16_t target)
{
    const struct bbf_cf_target *targets = links->config->targets;
    struct cf__link *link = &links->targets[target];

    for (size_t i = 0; i < links->config->n_targets; i++) {
        const struct cf__link *other = &links->targets[i];

        if (other->owner != 0 && strcmp(targets[i].class_name, targets[target].class_name) == 0)
            link->owner = other->owner;
        if (other->descriptor != 0 &&
            strcmp(targets[i].descriptor, targets[target].descriptor) == 0)
            link->descriptor = other->descriptor;
    }
}

static bool link_target(struct cf__links *links, uint16_t target, uint16_t *method)
{
    const struct bbf_cf_target *t = &links->config->targets[target];
    struct cf__link *link = &links->targets[target];
    uint16_t name, type;

    if (link->method == 0) {
        link_share(links, target);
        if (link->owner == 0 && !(cf__links_utf8(links, t->class_name, &name) &&
                                  append(links, CF__CLASS, name, 0, &link->owner)))
            return false;
        if (link->descriptor == 0 && !cf__links_utf8(links, t->descriptor, &link->descriptor))
            return false;
        if (!cf__links_utf8(links, t->method, &name) ||
            !append(links, CF__NAME_AND_TYPE, name, link->descriptor, &type) ||
            !append(links, CF__METHODREF, link->owner, type, &link->method))
            return false;
    }
    *method = link->method;
    return true;
}

static bool link_int(struct cf__links *links, uint32_t value, uint16_t *index)
{
    for (unsigned i = 0; i < CF__LINK_INTS; i++) {
        if (links->ints[i].index != 0 && links->ints[i].value == value) {
            *index = links->ints[i].index;
            return true;
        }
    }
    if (!append(links, CF__INTEGER, value >> 16, value & 0xFFFF, index))
        return false;
    links->ints[links->next_int].value = value;
    links->ints[links->next_int].index = *index;
    links->next_int = (links->next_int + 1) % CF__LINK_INTS;
    return true;
}

static uint8_t *put_load(uint8_t *p, uint8_t short_opcode, uint8_t opcode, uint32_t slot)
{
    if (slot < 4) {
        *p++ = (uint8_t)(short_opcode + slot);
        return p;
    }
    if (slot < 256) {
        *p++ = opcode;
        *p++ = (uint8_t)slot;
        return p;
    }
    *p++ = CF__WIDE;
    *p++ = opcode;
    cf__put2(p, slot);
    return p + 2;
}

static uint8_t *put_int(struct cf__links *links, uint8_t *p, uint32_t value)
{
    uint16_t index;

    if (value <= 5) {
        *p++ = (uint8_t)(ICONST_0 + value);
        return p;
    }
    if (value <= INT8_MAX) {
        *p++ = BIPUSH;
        *p++ = (uint8_t)value;
        return p;
    }
    if (value <= INT16_MAX) {
        *p++ = SIPUSH;
        cf__put2(p, value);
        return p + 2;
    }
    if (!link_int(links, value, &index))
        return NULL;
    *p++ = LDC_W;
    cf__put2(p, index);
    return p + 2;
}

bool cf__call_encode(struct cf__links *links, const struct bbf_cf_call *call, uint8_t *dst,
                     uint32_t *len)
{
    uint8_t *p = dst;
    uint16_t method;

    for (unsigned i = 0; i < call->n_args; i++) {
        uint32_t value = call->args[i].value;

        switch (call->args[i].push) {
        case BBF_CF_ALOAD:
            p = put_load(p, CF__ALOAD_0, CF__ALOAD, value);
            break;
        case BBF_CF_ILOAD:
            p = put_load(p, ILOAD_0, CF__ILOAD, value);
            break;
        case BBF_CF_DUP:
            *p++ = DUP;
            break;
        case BBF_CF_ARRAYLENGTH:
            p = put_load(p, CF__ALOAD_0, CF__ALOAD, value);
            *p++ = ARRAYLENGTH;
            break;
        default: /* BBF_CF_INT */
            if ((p = put_int(links, p, value)) == NULL)
                return false;
        }
    }
    if (!link_target(links, call->target, &method))
        return false;
    *p++ = INVOKESTATIC;
    cf__put2(p, method);
    *len = (uint32_t)(p + 2 - dst);
    return true;
}
