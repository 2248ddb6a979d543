/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/v1_plain.c - one run from the blocks into the command's own block, which a run
 * ahead over the lengths has measured: a text is never longer as UTF-8 than in the stream.
 */
#include "wire/btrace/v1/v1_plain.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "wire/btrace/v1/javatext.h"
#include "wire/btrace/utf8.h"

enum { TC_BLOCKDATA = 0x77, TC_BLOCKDATALONG = 0x7A };

struct blocks {
    const uint8_t *at, *end; /* the rest of the current block */
    const uint8_t *last;     /* the end of the available bytes */
    bool bad;                /* sticky: not for the fast path */
};

struct plain {
    struct blocks in;
    char *to, *room_end; /* the room that is left */
    const struct bbf_wire_limits *limits;
};

/* n is a constant in each call, so this is one load. */
static inline uint64_t load(const uint8_t *from, size_t n)
{
    uint64_t value = 0;

    if (n == 8) {
        memcpy(&value, from, 8);
        return be64toh(value);
    }
    if (n == 4) {
        uint32_t four;
        memcpy(&four, from, 4);
        return be32toh(four);
    }
    for (size_t i = 0; i < n; i++)
        value = value << 8 | from[i];
    return value;
}

/* The next block, whole; false if there is none. */
static inline bool open_block(struct blocks *b)
{
    size_t left = (size_t)(b->last - b->end), header = 0;

    if (left >= 2 && b->end[0] == TC_BLOCKDATA)
        header = 2;
    else if (left >= 5 && b->end[0] == TC_BLOCKDATALONG)
        header = 5;
    size_t len = header > 0 ? (size_t)load(b->end + 1, header - 1) : 0;
    if (header == 0 || len > left - header)
        return false;
    b->at = b->end + header;
    b->end = b->at + len;
    return true;
}

/* Seldom: kept out of line. */
static __attribute__((noinline)) bool next_block(struct blocks *b)
{
    return open_block(b);
}

static inline uint64_t number(struct blocks *b, size_t n)
{
    if ((size_t)(b->end - b->at) < n &&
        (b->at != b->end || !next_block(b) || (size_t)(b->end - b->at) < n)) {
        b->bad = true; /* or a number in two blocks */
        return 0;
    }
    b->at += n;
    return load(b->at - n, n);
}

/* n bytes; `to` NULL: passed over. */
static void copy(struct blocks *b, char *to, size_t n)
{
    while (n > 0 && !b->bad) {
        size_t part = (size_t)(b->end - b->at);
        if (part == 0) {
            b->bad = !next_block(b);
            continue;
        }
        part = part < n ? part : n;
        if (to != NULL) {
            memcpy(to, b->at, part);
            to += part;
        }
        b->at += part;
        n -= part;
    }
}

/* Does no other block follow in the available bytes? */
static inline bool is_last(const struct blocks *b)
{
    return b->end == b->last || (*b->end != TC_BLOCKDATA && *b->end != TC_BLOCKDATALONG);
}

/* Skip n texts, each in one block. Returns an upper bound of their size with a NUL each: their
 * lengths in the last block take more than the NULs. */
static size_t skip(struct blocks *b, size_t n)
{
    size_t sum = 0, left = (size_t)(b->end - b->at);

    if (is_last(b) && n <= left / 2)
        return left;
    for (; n > 0 && !b->bad; n--) {
        size_t len = (size_t)number(b, 2);
        if (len > (size_t)(b->end - b->at)) {
            b->bad = true;
            break;
        }
        b->at += len;
        sum += len + 1;
    }
    return sum;
}

/* Room for the command's pieces: n structures, which the caller fills, then bytes. */
static void *room(struct plain *p, struct bbf_command *c, size_t n, size_t size, size_t bytes)
{
    if (n > p->limits->entries || bytes > p->limits->frame / 2)
        p->in.bad = true;
    if (p->in.bad)
        return NULL;
    c->block = malloc(n * size + bytes);
    if (c->block == NULL) {
        p->in.bad = true;
        return NULL;
    }
    p->to = (char *)c->block + n * size;
    p->room_end = p->to + bytes;
    return c->block;
}

/* Copy. False: not all of it is ASCII. A short text, and most are short, is copied at once. */
static inline bool copy_ascii(char *to, const uint8_t *from, size_t len)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t eight, all = 0;

    if (len == 0)
        return true;
    if (len < sizeof eight)
        return (bbf_utf8_copy_short(to, from, len) & high) == 0;
    if (len > 128) {
        memcpy(to, from, len);
        return bbf_utf8_is_ascii(from, len);
    }
    for (size_t pos = 0; pos < len - sizeof eight; pos += sizeof eight) {
        memcpy(&eight, from + pos, sizeof eight);
        memcpy(to + pos, &eight, sizeof eight);
        all |= eight;
    }
    memcpy(&eight, from + len - sizeof eight, sizeof eight);
    memcpy(to + len - sizeof eight, &eight, sizeof eight);
    return ((all | eight) & high) == 0;
}

static void keep(struct plain *p, struct bbf_wire_str *out, size_t len)
{
    *out = (struct bbf_wire_str){p->to, len};
    p->to[len] = '\0';
    p->to += len + 1;
}

static void take(struct plain *p, struct bbf_wire_str *out, size_t len)
{
    copy(&p->in, p->to, len);
    if (!p->in.bad)
        keep(p, out, len);
}

/* In Java's form; never longer as UTF-8. */
static inline void text(struct plain *p, struct bbf_wire_str *out)
{
    size_t len = (size_t)number(&p->in, 2);
    const uint8_t *from = p->in.at;

    if (len > p->limits->string || len > (size_t)(p->in.end - from) ||
        len >= (size_t)(p->room_end - p->to))
        p->in.bad = true; /* or in two blocks */
    if (p->in.bad)
        return;
    p->in.at += len;
    if (!copy_ascii(p->to, from, len)) {
        struct bbf_buf utf8 = {.data = p->to, .cap = len + 1}; /* never grows */
        p->in.bad = !bbf_java_to_utf8(&utf8, from, len);
        len = utf8.len;
    }
    keep(p, out, len);
}

static void one_text(struct plain *p, struct bbf_command *c)
{
    struct blocks ahead = p->in;
    size_t bytes = skip(&ahead, 1);

    p->in.bad = ahead.bad;
    if (room(p, c, 0, 0, bytes) != NULL)
        text(p, &c->text[0]);
}

static void message(struct plain *p, struct bbf_command *c)
{
    c->flag = number(&p->in, 1) != 0;
    c->timestamp_ms = (int64_t)number(&p->in, 8);
    size_t len = (size_t)number(&p->in, 4);
    if (room(p, c, 0, 0, len + 1) == NULL)
        return;
    if (len <= (size_t)(p->in.end - p->in.at)) {
        p->in.bad = !copy_ascii(p->to, p->in.at, len);
        p->in.at += len;
        keep(p, &c->text[0], len);
        return;
    }
    take(p, &c->text[0], len);
    if (!p->in.bad && !bbf_utf8_is_ascii((const uint8_t *)c->text[0].s, c->text[0].len))
        p->in.bad = true; /* it may need repair */
}

static void list(struct plain *p, struct bbf_command *c)
{
    size_t n = (size_t)number(&p->in, 4);

    if (n == 0)
        return;
    struct blocks ahead = p->in;
    size_t bytes = n <= p->limits->entries ? skip(&ahead, n) : 0;
    p->in.bad = ahead.bad;
    c->list = room(p, c, n, sizeof *c->list, bytes);
    c->n_list = n;
    for (size_t i = 0; i < n && !p->in.bad; i++)
        text(p, &c->list[i]);
}

/* The number of entries follows the name or code, whose length has `width` bytes. */
static void map(struct plain *p, struct bbf_command *c, size_t width)
{
    struct blocks ahead = p->in;

    size_t first = (size_t)number(&ahead, width);
    copy(&ahead, NULL, first);
    size_t n = (size_t)number(&ahead, 4);
    size_t bytes = first + 1 + (n <= p->limits->entries ? skip(&ahead, 2 * n) : 0);
    p->in.bad = ahead.bad;
    struct bbf_entry *entries = room(p, c, n, sizeof *entries, bytes);
    if (entries == NULL)
        return;
    if (width == 2) {
        text(p, &c->text[0]);
    } else {
        struct bbf_wire_str code = {NULL, 0};
        take(p, &code, (size_t)number(&p->in, 4));
        c->code = (uint8_t *)code.s;
        c->code_len = code.len;
    }
    (void)number(&p->in, 4);
    c->entries = n > 0 ? entries : NULL;
    c->n_entries = n;
    for (size_t i = 0; i < n && !p->in.bad; i++) {
        entries[i].value = (struct bbf_value){.kind = BBF_VALUE_STRING};
        text(p, &entries[i].key);
        text(p, &entries[i].value.text);
    }
}

static bool is_plain(enum bbf_command_type type)
{
    const uint32_t plain = 1u << BBF_CMD_EVENT | 1u << BBF_CMD_RENAME | 1u << BBF_CMD_DISCONNECT |
                           1u << BBF_CMD_RECONNECT | 1u << BBF_CMD_EXIT | 1u << BBF_CMD_STATUS |
                           1u << BBF_CMD_RETRANSFORMATION_START | 1u << BBF_CMD_INSTRUMENT |
                           1u << BBF_CMD_MESSAGE | 1u << BBF_CMD_STRING_MAP |
                           1u << BBF_CMD_LIST_PROBES | 1u << BBF_CMD_LIST_FAILED_EXTENSIONS;

    return (unsigned)type < BBF_CMD_TYPES && (plain >> type & 1) != 0;
}

static void payload(struct plain *p, struct bbf_command *c)
{
    uint32_t value;

    switch (c->type) {
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
        one_text(p, c);
        break;
    case BBF_CMD_EXIT:
    case BBF_CMD_RETRANSFORMATION_START:
        c->number[0] = (int32_t)(uint32_t)number(&p->in, 4);
        break;
    case BBF_CMD_STATUS: /* the sign carries success (docs/btrace-wire.md 3.5) */
        value = (uint32_t)number(&p->in, 4);
        c->flag = value <= INT32_MAX;
        c->number[0] = (int32_t)(c->flag ? value : 0u - value);
        break;
    case BBF_CMD_INSTRUMENT:
        map(p, c, 4);
        break;
    case BBF_CMD_MESSAGE:
        message(p, c);
        break;
    case BBF_CMD_STRING_MAP:
        map(p, c, 2);
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        list(p, c);
        break;
    default:
        p->in.bad = true;
    }
}

bool bbf_v1_plain(struct bbf_command *out, const uint8_t *in, size_t len, size_t *used,
                  const struct bbf_wire_limits *limits)
{
    struct plain p = {.in = {in, in, in + len, false}, .limits = limits};

    /* The type is the first byte of the first block, so other commands leave the fast path
     * early. */
    if (!open_block(&p.in) || p.in.at == p.in.end)
        return false;
    enum bbf_command_type type = *p.in.at++;
    if (!is_plain(type))
        return false;
    memset(out, 0, sizeof *out);
    out->type = type;
    payload(&p, out);
    if (p.in.bad || p.in.at != p.in.end) {
        bbf_command_free(out);
        return false;
    }
    *used = (size_t)(p.in.at - in);
    return true;
}
