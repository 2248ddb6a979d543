/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/reader.h"

#include <stdlib.h>
#include <string.h>

/* Size with tag, by tag (JVMS 4.4); 0: unknown, or Utf8. */
static const uint8_t constant_sizes[] = {0, 0, 0, 5, 5, 9, 9, 3, 3, 5, 5,
                                         5, 5, 0, 0, 4, 3, 5, 5, 3, 3};

uint32_t cf__constant_size(const uint8_t *in, uint32_t len, uint32_t at, unsigned *indices)
{
    uint32_t size;

    if (at >= len || len - at < 3)
        return 0;
    if (in[at] == CF__UTF8)
        size = 3u + cf__u2(in + at + 1);
    else if (in[at] < sizeof constant_sizes)
        size = constant_sizes[in[at]];
    else
        return 0;
    *indices = in[at] == CF__LONG || in[at] == CF__DOUBLE ? 2 : 1;
    return size <= len - at ? size : 0;
}

enum bbf_cf_class_result cf__header_check(const uint8_t *in, size_t len)
{
    uint16_t major;

    if (len < 10 || len > INT32_MAX)
        return BBF_CF_TRUNCATED;
    if (cf__u4(in) != 0xCAFEBABE)
        return BBF_CF_MAGIC;
    major = cf__u2(in + 6);
    if (major < CF__MAJOR_FIRST || major > CF__MAJOR_LAST)
        return BBF_CF_VERSION;
    return cf__u2(in + 8) > 0 ? BBF_CF_CHANGED : BBF_CF_POOL;
}

/* The cheap filter, on the bare bytes. */
static enum bbf_cf_class_result pool_ask(const uint8_t *in, uint32_t len,
                                         bool (*interesting)(void *, const char *, size_t),
                                         void *ctx)
{
    uint32_t count = cf__u2(in + 8), at = 10, size;
    unsigned indices;

    for (uint32_t i = 1; i < count; i += indices, at += size) {
        if ((size = cf__constant_size(in, len, at, &indices)) == 0)
            return BBF_CF_POOL;
        if (in[at] == CF__UTF8 && interesting(ctx, (const char *)in + at + 3, size - 3))
            return BBF_CF_CHANGED;
    }
    return BBF_CF_NOTHING;
}

static enum bbf_cf_class_result pool_index(struct cf__class *c)
{
    uint32_t at = 10, size;
    unsigned indices;

    for (uint32_t i = 1; i < c->pool_count; i += indices, at += size) {
        if ((size = cf__constant_size(c->in, c->len, at, &indices)) == 0 ||
            i + indices > c->pool_count)
            return BBF_CF_POOL;
        c->pool_at[i] = at;
    }
    c->pool_end = at;
    return BBF_CF_CHANGED;
}

/* access_flags to the end of the interfaces. */
static enum bbf_cf_class_result class_head(struct cf__class *c)
{
    const uint8_t *p = c->in + c->pool_end;
    uint32_t left = c->len - c->pool_end, interfaces;

    if (left < 8)
        return BBF_CF_TRUNCATED;
    c->access = cf__u2(p);
    if (!cf__pool_class(c, cf__u2(p + 2), &c->name))
        return BBF_CF_POOL;
    c->super_name = (struct bbf_cf_str){"", 0};
    if (cf__u2(p + 4) != 0 && !cf__pool_class(c, cf__u2(p + 4), &c->super_name))
        return BBF_CF_POOL;
    interfaces = 2u * cf__u2(p + 6);
    if (left - 8 < interfaces)
        return BBF_CF_TRUNCATED;
    c->fields_at = c->pool_end + 8 + interfaces;
    return BBF_CF_CHANGED;
}

/* Skip the attributes whose count is at *at, and note a method's Code and Signature. */
static enum bbf_cf_class_result attributes_skip(const struct cf__class *c, uint32_t *at,
                                                struct cf__member *method)
{
    uint32_t pos = *at, count;
    struct bbf_cf_str name;

    if (c->len - pos < 2)
        return BBF_CF_TRUNCATED;
    count = cf__u2(c->in + pos);
    pos += 2;
    for (; count > 0; count--) {
        if (c->len - pos < 6 || cf__u4(c->in + pos + 2) > c->len - pos - 6)
            return BBF_CF_TRUNCATED;
        bool named = method != NULL && cf__pool_utf8(c, cf__u2(c->in + pos), &name);
        if (named && cf__str_is(name, "Code")) {
            if (method->code != 0)
                return BBF_CF_STRUCTURE;
            method->code = pos;
        } else if (named && cf__str_is(name, "Signature") && cf__u4(c->in + pos + 2) == 2) {
            method->signature = cf__u2(c->in + pos + 6);
        }
        pos += 6 + cf__u4(c->in + pos + 2);
    }
    *at = pos;
    return BBF_CF_CHANGED;
}

enum bbf_cf_class_result cf__member_read(const struct cf__class *c, uint32_t at, bool with_code,
                                         struct cf__member *member)
{
    const uint8_t *p = c->in + at;
    struct bbf_cf_str text;

    if (c->len - at < 8)
        return BBF_CF_TRUNCATED;
    *member = (struct cf__member){.at = at,
                                  .end = at + 6,
                                  .access = cf__u2(p),
                                  .name = cf__u2(p + 2),
                                  .descriptor = cf__u2(p + 4)};
    if (!cf__pool_utf8(c, member->name, &text) || !cf__pool_utf8(c, member->descriptor, &text))
        return BBF_CF_STRUCTURE;
    return attributes_skip(c, &member->end, with_code ? member : NULL);
}

/* Fields, methods and class attributes, to the last byte. */
static enum bbf_cf_class_result class_body(struct cf__class *c)
{
    enum bbf_cf_class_result result;
    struct cf__member member;
    uint32_t at = c->fields_at;

    for (int methods = 0; methods < 2; methods++) {
        uint16_t count;

        if (c->len - at < 2)
            return BBF_CF_TRUNCATED;
        count = cf__u2(c->in + at);
        if (methods) {
            c->methods_at = at;
            c->n_methods = count;
        } else {
            c->n_fields = count;
        }
        for (at += 2; count > 0; count--, at = member.end)
            if ((result = cf__member_read(c, at, methods, &member)) != BBF_CF_CHANGED)
                return result;
    }
    c->attributes_at = at;
    if ((result = attributes_skip(c, &at, NULL)) != BBF_CF_CHANGED)
        return result;
    return at == c->len ? BBF_CF_CHANGED : BBF_CF_STRUCTURE;
}

enum bbf_cf_class_result cf__class_open(struct cf__class *c, const uint8_t *in, size_t len,
                                        bool (*interesting)(void *, const char *, size_t),
                                        void *ctx)
{
    enum bbf_cf_class_result result = cf__header_check(in, len);

    if (result != BBF_CF_CHANGED)
        return result;
    *c = (struct cf__class){
        .in = in, .len = (uint32_t)len, .major = cf__u2(in + 6), .pool_count = cf__u2(in + 8)};
    if (interesting != NULL && (result = pool_ask(in, c->len, interesting, ctx)) != BBF_CF_CHANGED)
        return result;
    if ((c->pool_at = calloc(c->pool_count, sizeof *c->pool_at)) == NULL)
        return BBF_CF_NOMEM;
    if ((result = pool_index(c)) != BBF_CF_CHANGED || (result = class_head(c)) != BBF_CF_CHANGED ||
        (result = class_body(c)) != BBF_CF_CHANGED)
        cf__class_close(c);
    return result;
}

void cf__class_close(struct cf__class *c)
{
    free(c->pool_at);
    c->pool_at = NULL;
}

bool cf__pool_class(const struct cf__class *c, uint32_t index, struct bbf_cf_str *name)
{
    const uint8_t *p = cf__pool_constant(c, index, CF__CLASS);

    return p != NULL && cf__pool_utf8(c, cf__u2(p + 1), name);
}

bool cf__pool_invoke(const struct cf__class *c, uint32_t index, struct bbf_cf_str *owner,
                     struct bbf_cf_str *name, struct bbf_cf_str *descriptor)
{
    const uint8_t *ref = cf__pool_constant(c, index, CF__METHODREF), *type;

    if (ref == NULL)
        ref = cf__pool_constant(c, index, CF__INTERFACE_METHODREF);
    if (ref != NULL) {
        if (!cf__pool_class(c, cf__u2(ref + 1), owner))
            return false;
    } else if ((ref = cf__pool_constant(c, index, CF__INVOKE_DYNAMIC)) != NULL) {
        *owner = (struct bbf_cf_str){"", 0};
    } else {
        return false;
    }
    type = cf__pool_constant(c, cf__u2(ref + 3), CF__NAME_AND_TYPE);
    return type != NULL && cf__pool_utf8(c, cf__u2(type + 1), name) &&
           cf__pool_utf8(c, cf__u2(type + 3), descriptor);
}

/* Skip the field type at s[*i]. Returns its kind (struct cf__param); 0 if malformed. */
static char type_next(struct bbf_cf_str d, size_t *i)
{
    bool array = false;
    char kind;

    for (; *i < d.len && d.s[*i] == '['; (*i)++)
        array = true;
    if (*i >= d.len)
        return 0;
    switch (d.s[(*i)++]) {
    case 'B':
    case 'C':
    case 'I':
    case 'S':
    case 'Z':
        kind = 'I';
        break;
    case 'F':
        kind = 'F';
        break;
    case 'D':
    case 'J':
        kind = 'J';
        break;
    case 'L': {
        const char *end = memchr(d.s + *i, ';', d.len - *i);

        if (end == NULL)
            return 0;
        *i = (size_t)(end - d.s) + 1;
        kind = 'A';
        break;
    }
    default:
        return 0;
    }
    return array ? '[' : kind;
}

bool cf__param_find(struct bbf_cf_str descriptor, bool is_static, uint32_t slot,
                    struct cf__param *param)
{
    size_t i = 1;

    *param = (struct cf__param){0};
    if (descriptor.len < 3 || descriptor.s[0] != '(')
        return false;
    if (!is_static) {
        param->kind = slot == 0 ? 'A' : 0;
        param->entries = param->slots = 1;
    }
    while (i < descriptor.len && descriptor.s[i] != ')') {
        char kind = type_next(descriptor, &i);

        if (kind == 0 || param->slots >= 255)
            return false;
        if (param->slots == slot) {
            param->kind = kind == 'A' || kind == '[' || kind == 'I' ? kind : 0;
            param->entry = param->entries;
        }
        param->entries++;
        param->slots = (uint16_t)(param->slots + (kind == 'J' ? 2 : 1));
    }
    return i < descriptor.len;
}

bool cf__returns_reference(struct bbf_cf_str descriptor)
{
    const char *close = descriptor.len > 0 ? memchr(descriptor.s, ')', descriptor.len) : NULL;

    if (close == NULL || close + 1 >= descriptor.s + descriptor.len)
        return false;
    return close[1] == 'L' || close[1] == '[';
}
