/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/classfile.h"

#include "classfile/bytes.h"
#include "classfile/reader.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

int bbf_cf_shape_of(const uint8_t *in, size_t len, const char *field, struct bbf_cf_shape *shape)
{
    enum bbf_cf_class_result result;
    struct cf__class c;
    uint32_t at;

    *shape = (struct bbf_cf_shape){0};
    result = cf__class_open(&c, in, len, NULL, NULL);
    if (result != BBF_CF_CHANGED)
        return result == BBF_CF_NOMEM ? BBF_ENOMEM : BBF_EFORMAT;
    shape->is_interface = (c.access & CF__ACC_INTERFACE) != 0;
    shape->extends_object = cf__str_is(c.super_name, "java/lang/Object");
    at = c.fields_at + 2;
    for (unsigned i = 0; i < c.n_fields; i++) {
        struct cf__member member;
        struct bbf_cf_str name;

        (void)cf__member_read(&c, at, false, &member); /* checked at open */
        at = member.end;
        if (!(member.access & CF__ACC_STATIC))
            shape->instance_fields++;
        if (cf__pool_utf8(&c, member.name, &name) && cf__str_is(name, field))
            shape->has_field = true;
    }
    cf__class_close(&c);
    return 0;
}

int bbf_cf_outline(const uint8_t *in, size_t len, const struct bbf_cf_outline *outline)
{
    enum bbf_cf_class_result result;
    struct cf__class c;
    struct bbf_cf_str name, descriptor;

    result = cf__class_open(&c, in, len, NULL, NULL);
    if (result != BBF_CF_CHANGED)
        return result == BBF_CF_NOMEM ? BBF_ENOMEM : BBF_EFORMAT;
    uint32_t at = c.fields_at + 2;
    for (unsigned i = 0; i < c.n_fields; i++) {
        struct cf__member member;

        (void)cf__member_read(&c, at, false, &member); /* checked at open */
        at = member.end;
        if (!(member.access & CF__ACC_STATIC) && cf__pool_utf8(&c, member.name, &name) &&
            cf__pool_utf8(&c, member.descriptor, &descriptor))
            outline->field(outline->ctx, name, descriptor);
    }
    if (c.super_name.len > 0)
        outline->super(outline->ctx, c.super_name, false);
    for (at = c.pool_end + 8; at < c.fields_at; at += 2)
        if (cf__pool_class(&c, cf__u2(in + at), &name))
            outline->super(outline->ctx, name, true);
    cf__class_close(&c);
    return 0;
}

bool bbf_cf_pool_has(const uint8_t *pool, size_t len, unsigned count,
                     bool (*interesting)(void *ctx, const char *utf8, size_t len), void *ctx)
{
    uint32_t at = 0, size;
    unsigned indices;

    for (unsigned i = 1; i < count && len <= INT32_MAX; i += indices, at += size) {
        if ((size = cf__constant_size(pool, (uint32_t)len, at, &indices)) == 0)
            return false;
        if (pool[at] == CF__UTF8 && interesting(ctx, (const char *)pool + at + 3, size - 3))
            return true;
    }
    return false;
}

/* Append the constant at p, renamed or not, to *out. */
static int put_renamed(struct cf__out *out, const uint8_t *p, uint32_t size,
                       const struct bbf_cf_rename *renames, size_t n_renames)
{
    struct bbf_cf_str str = {(const char *)p + 3, size - 3};

    for (size_t i = 0; *p == CF__UTF8 && i < n_renames; i++) {
        size_t len = strlen(renames[i].to);

        if (!cf__str_is(str, renames[i].from))
            continue;
        if (len > UINT16_MAX)
            return BBF_EFORMAT;
        cf__out_u1(out, CF__UTF8);
        cf__out_u2(out, (uint32_t)len);
        cf__out_put(out, renames[i].to, len);
        return 0;
    }
    cf__out_put(out, p, size);
    return 0;
}

int bbf_cf_rename_utf8(const uint8_t *in, size_t len, const struct bbf_cf_rename *renames,
                       size_t n_renames, uint8_t **out, size_t *out_len)
{
    struct cf__out bytes = {0};
    uint32_t at = 10, size, count;
    unsigned indices;
    int err = 0;

    *out = NULL;
    *out_len = 0;
    if (cf__header_check(in, len) != BBF_CF_CHANGED)
        return BBF_EFORMAT;
    count = cf__u2(in + 8);
    cf__out_put(&bytes, in, 10);
    for (uint32_t i = 1; i < count && err == 0; i += indices, at += size) {
        size = cf__constant_size(in, (uint32_t)len, at, &indices);
        if (size == 0 || i + indices > count) {
            err = BBF_EFORMAT;
            break;
        }
        err = put_renamed(&bytes, in + at, size, renames, n_renames);
    }
    if (err == 0)
        cf__out_put(&bytes, in + at, len - at);
    if (err == 0 && bytes.failed)
        err = BBF_ENOMEM;
    if (err != 0) {
        cf__out_free(&bytes);
        return err;
    }
    *out = bytes.data;
    *out_len = bytes.len;
    return 0;
}
