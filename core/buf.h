/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/buf.h - a growing byte buffer and string builder. Failure is sticky: once an allocation has
 * failed, `failed` is set and every call is a no-op, so a render checks once, at its end. With
 * `flush` set, the contents are passed to it whenever they reach BBF_BUF_PIECE bytes, and `len`
 * starts at 0 again, so a document of any size needs little memory; only for writers that never
 * read the buffer. bbf_buf_flush() passes on the rest.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_CORE_BUF_H
#define BBF_CORE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bbf_buf {
    char *data; /* owned; not NUL-terminated unless bbf_buf_cstr() was called; NULL when empty */
    size_t len; /* bytes used */
    size_t cap; /* bytes allocated */
    bool failed;
    /* Receives `len` bytes of the contents, whole characters. Not 0: failed. May be NULL. */
    int (*flush)(void *ctx, const char *data, size_t len);
    void *ctx;
};

enum { BBF_BUF_PIECE = 1 << 20 };

#define BBF_BUF_INIT                                                                               \
    {                                                                                              \
        NULL, 0, 0, false, NULL, NULL                                                              \
    }

/* Free the memory; the buffer is then empty and can be used again. */
void bbf_buf_free(struct bbf_buf *buf);
/* The slow path of bbf_buf_reserve(), when there is no room yet. */
char *bbf_buf_grow(struct bbf_buf *buf, size_t more);
/* Make room for `more` bytes and return their address, or NULL; `len` does not count them yet. */
static inline char *bbf_buf_reserve(struct bbf_buf *buf, size_t more)
{
    return more < buf->cap - buf->len && !buf->failed ? buf->data + buf->len
                                                      : bbf_buf_grow(buf, more);
}
/* Pass on the rest. False if anything has failed so far. Needs `flush`. */
bool bbf_buf_flush(struct bbf_buf *buf);
static inline void bbf_buf_add(struct bbf_buf *buf, const void *bytes, size_t len)
{
    char *to = len > 0 ? bbf_buf_reserve(buf, len) : NULL;
    if (to == NULL)
        return;
    memcpy(to, bytes, len);
    buf->len += len;
    if (buf->flush != NULL && buf->len >= BBF_BUF_PIECE)
        (void)bbf_buf_flush(buf);
}
static inline void bbf_buf_char(struct bbf_buf *buf, char c)
{
    bbf_buf_add(buf, &c, 1);
}
void bbf_buf_str(struct bbf_buf *buf, const char *text);
void bbf_buf_printf(struct bbf_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bbf_buf_vprintf(struct bbf_buf *buf, const char *format, va_list args);
/* NUL-terminate without counting the NUL. Never NULL: "" when empty or failed. */
const char *bbf_buf_cstr(struct bbf_buf *buf);

#endif
