/* SPDX-License-Identifier: Apache-2.0 */
#include "core/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

void bbf_buf_free(struct bbf_buf *buf)
{
    free(buf->data);
    *buf = (struct bbf_buf)BBF_BUF_INIT;
}

char *bbf_buf_grow(struct bbf_buf *buf, size_t more)
{
    if (buf->failed)
        return NULL;
    /* Neither the sum below nor the doubling may wrap; half of the address space is enough. */
    if (more > SIZE_MAX / 2 || buf->len > SIZE_MAX / 2 - more) {
        buf->failed = true;
        return NULL;
    }
    size_t need = buf->len + more;
    if (need > buf->cap || buf->data == NULL) {
        size_t cap = buf->cap < FIRST_CAPACITY ? FIRST_CAPACITY : buf->cap * 2;
        if (cap < need)
            cap = need;
        char *data = realloc(buf->data, cap);
        if (data == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->data = data;
        buf->cap = cap;
    }
    return buf->data + buf->len;
}

bool bbf_buf_flush(struct bbf_buf *buf)
{
    if (!buf->failed && buf->len > 0 && buf->flush(buf->ctx, buf->data, buf->len) != 0)
        buf->failed = true;
    buf->len = 0;
    return !buf->failed;
}

void bbf_buf_str(struct bbf_buf *buf, const char *text)
{
    bbf_buf_add(buf, text, strlen(text));
}

void bbf_buf_printf(struct bbf_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bbf_buf_vprintf(buf, format, args);
    va_end(args);
}

void bbf_buf_vprintf(struct bbf_buf *buf, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len < 0) {
        buf->failed = true;
    } else if ((size_t)len < sizeof small) {
        bbf_buf_add(buf, small, (size_t)len);
    } else {
        char *to = bbf_buf_reserve(buf, (size_t)len + 1);
        if (to != NULL) {
            vsnprintf(to, (size_t)len + 1, format, again);
            buf->len += (size_t)len;
        }
    }
    va_end(again);
}

const char *bbf_buf_cstr(struct bbf_buf *buf)
{
    char *end = bbf_buf_reserve(buf, 1);
    if (end == NULL)
        return "";
    *end = '\0';
    return buf->data;
}
