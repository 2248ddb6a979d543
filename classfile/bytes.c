/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/bytes.h"

#include <stdlib.h>
#include <string.h>

uint8_t *cf__out_reserve(struct cf__out *out, size_t more)
{
    if (out->failed)
        return NULL;
    if (more > out->cap - out->len) {
        size_t cap = out->cap * 2 > out->len + more ? out->cap * 2 : out->len + more + 512;
        uint8_t *data = realloc(out->data, cap);

        if (data == NULL) {
            out->failed = true;
            return NULL;
        }
        out->data = data;
        out->cap = cap;
    }
    return out->data + out->len;
}

void cf__out_put(struct cf__out *out, const void *data, size_t len)
{
    uint8_t *p = cf__out_reserve(out, len);

    if (p == NULL || len == 0)
        return;
    memcpy(p, data, len);
    out->len += len;
}

void cf__out_u1(struct cf__out *out, uint32_t value)
{
    uint8_t byte = (uint8_t)value;

    cf__out_put(out, &byte, 1);
}

void cf__out_u2(struct cf__out *out, uint32_t value)
{
    uint8_t bytes[2];

    cf__put2(bytes, value);
    cf__out_put(out, bytes, sizeof bytes);
}

void cf__out_u4(struct cf__out *out, uint32_t value)
{
    uint8_t bytes[4];

    cf__put4(bytes, value);
    cf__out_put(out, bytes, sizeof bytes);
}

void cf__out_free(struct cf__out *out)
{
    free(out->data);
    *out = (struct cf__out){0};
}
