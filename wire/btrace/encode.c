/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/encode.c - struct bbf_command -> bytes (docs/btrace-wire.md 3). Writes directly into
 * the caller's buffer, and removes the frame again if it cannot be expressed.
 */
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "core/err.h"
#include "wire/btrace/command.h"
#include "wire/btrace/tags.h"

struct writer {
    struct bbf_buf *out;
    int err; /* sticky */
};

static void fail(struct writer *w, int err)
{
    if (w->err == BBF_OK)
        w->err = err;
}

/* Room for n bytes at the end of the buffer, counted; NULL after any failure. */
static uint8_t *room(struct writer *w, size_t n)
{
    if (w->err != BBF_OK)
        return NULL;
    uint8_t *p = (uint8_t *)bbf_buf_reserve(w->out, n);
    if (p == NULL)
        fail(w, BBF_ENOMEM);
    else
        w->out->len += n;
    return p;
}

static void store_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static void store_u64(uint8_t *p, uint64_t v)
{
    store_u32(p, (uint32_t)(v >> 32));
    store_u32(p + 4, (uint32_t)v);
}

static void put_byte(struct writer *w, uint8_t v)
{
    uint8_t *p = room(w, 1);
    if (p != NULL)
        p[0] = v;
}

static void put_u32(struct writer *w, uint32_t v)
{
    uint8_t *p = room(w, 4);
    if (p != NULL)
        store_u32(p, v);
}

static void put_int(struct writer *w, int32_t v)
{
    put_u32(w, (uint32_t)v);
}

static void put_u64(struct writer *w, uint64_t v)
{
    uint8_t *p = room(w, 8);
    if (p != NULL)
        store_u64(p, v);
}

static void put_count(struct writer *w, size_t n)
{
    if (n > INT32_MAX)
        fail(w, BBF_EINVAL);
    else
        put_u32(w, (uint32_t)n);
}

/* Length and bytes; NULL is null. */
static void put_bytes(struct writer *w, const void *data, size_t len)
{
    if (data == NULL) {
        put_int(w, -1);
        return;
    }
    if (len > BBF_WIRE_STRING_MAX) {
        fail(w, BBF_EINVAL);
        return;
    }
    uint8_t *p = room(w, 4 + len);
    if (p == NULL)
        return;
    store_u32(p, (uint32_t)len);
    memcpy(p + 4, data, len);
}

static void put_string(struct writer *w, const struct bbf_wire_str *text)
{
    put_bytes(w, text->s, text->len);
}

static void put_value(struct writer *w, enum bbf_tag_use use, const struct bbf_value *value)
{
    uint8_t tag = 0;

    while (tag < BBF_WIRE_TAGS && bbf_wire_tags[use][tag] != value->kind)
        tag++;
    if (tag == BBF_WIRE_TAGS) {
        fail(w, BBF_EINVAL);
        return;
    }
    put_byte(w, tag);
    switch (value->kind) {
    case BBF_VALUE_NULL:
        break;
    case BBF_VALUE_INT:
        put_int(w, value->u.i);
        break;
    case BBF_VALUE_LONG:
        put_u64(w, (uint64_t)value->u.l);
        break;
    case BBF_VALUE_FLOAT:
        put_u32(w, value->u.float_bits);
        break;
    case BBF_VALUE_DOUBLE:
        put_u64(w, value->u.double_bits);
        break;
    case BBF_VALUE_BOOLEAN:
        put_byte(w, value->u.b ? 1 : 0);
        break;
    case BBF_VALUE_BIGINT:
    case BBF_VALUE_BIGDEC:
        if (value->text.s == NULL) /* null has its own tag; the peer fails on this one */
            fail(w, BBF_EINVAL);
        put_string(w, &value->text);
        break;
    case BBF_VALUE_STRING:
        put_string(w, &value->text);
        break;
    }
}

/* Maps of strings and script arguments have no tag, so only a string or null can be written. */
static void put_string_value(struct writer *w, const struct bbf_value *value)
{
    if (value->kind == BBF_VALUE_NULL)
        put_int(w, -1);
    else if (value->kind == BBF_VALUE_STRING)
        put_string(w, &value->text);
    else
        fail(w, BBF_EINVAL);
}

static void put_strings(struct writer *w, const struct bbf_command *c)
{
    put_count(w, c->n_entries);
    for (size_t i = 0; i < c->n_entries && w->err == BBF_OK; i++) {
        put_string(w, &c->entries[i].key);
        put_string_value(w, &c->entries[i].value);
    }
}

static void put_entries(struct writer *w, const struct bbf_command *c, enum bbf_tag_use use)
{
    put_count(w, c->n_entries);
    for (size_t i = 0; i < c->n_entries && w->err == BBF_OK; i++) {
        put_string(w, &c->entries[i].key);
        put_value(w, use, &c->entries[i].value);
    }
}

static void put_list(struct writer *w, const struct bbf_command *c)
{
    put_count(w, c->n_list);
    for (size_t i = 0; i < c->n_list && w->err == BBF_OK; i++)
        put_string(w, &c->list[i]);
}

static void put_rows(struct writer *w, const struct bbf_command *c)
{
    put_count(w, c->n_rows);
    for (size_t i = 0; i < c->n_rows && w->err == BBF_OK; i++) {
        put_count(w, c->rows[i].n_cells);
        for (size_t j = 0; j < c->rows[i].n_cells && w->err == BBF_OK; j++)
            put_value(w, BBF_TAGS_CELL, &c->rows[i].cells[j]);
    }
}

/* Raw length, deflated length, zlib stream of level 1 (3.3), written in place. */
static void put_deflated(struct writer *w, const char *text, size_t len)
{
    uLongf zip_len = compressBound(len);
    size_t at = w->out->len;
    uint8_t *p = room(w, 8 + zip_len);

    if (p == NULL)
        return;
    if (compress2(p + 8, &zip_len, (const Bytef *)text, len, 1) != Z_OK) {
        fail(w, BBF_ENOMEM);
        return;
    }
    store_u32(p, (uint32_t)len);
    store_u32(p + 4, (uint32_t)zip_len);
    w->out->len = at + 8 + zip_len;
}

static void put_message(struct writer *w, const struct bbf_command *c, size_t deflate_over)
{
    const char *text = c->text[0].s == NULL ? "" : c->text[0].s;
    size_t len = c->text[0].s == NULL ? 0 : c->text[0].len;
    uint8_t *p = room(w, 10);

    if (p == NULL)
        return;
    store_u64(p, (uint64_t)c->timestamp_ms);
    p[8] = c->flag ? 1 : 0;
    p[9] = len > deflate_over ? 1 : 0;
    if (len > BBF_WIRE_STRING_MAX)
        fail(w, BBF_EINVAL);
    else if (len > deflate_over)
        put_deflated(w, text, len);
    else
        put_bytes(w, text, len);
}

static void put_payload(struct writer *w, const struct bbf_command *c, size_t deflate_over)
{
    switch (c->type) {
    case BBF_CMD_ERROR:
        for (int i = 0; i < 3; i++)
            put_string(w, &c->text[i]);
        break;
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
        put_string(w, &c->text[0]);
        break;
    case BBF_CMD_EXIT:
    case BBF_CMD_RETRANSFORMATION_START:
        put_int(w, c->number[0]);
        break;
    case BBF_CMD_INSTRUMENT:
        put_bytes(w, c->code, c->code_len);
        put_strings(w, c);
        break;
    case BBF_CMD_MESSAGE:
        put_message(w, c, deflate_over);
        break;
    case BBF_CMD_STATUS:
        put_int(w, c->number[0]);
        put_byte(w, c->flag ? 1 : 0);
        break;
    case BBF_CMD_NUMBER_MAP:
        put_string(w, &c->text[0]);
        put_entries(w, c, BBF_TAGS_NUMBER);
        break;
    case BBF_CMD_STRING_MAP:
        put_string(w, &c->text[0]);
        put_strings(w, c);
        break;
    case BBF_CMD_NUMBER:
        put_string(w, &c->text[0]);
        put_value(w, BBF_TAGS_NUMBER, &c->value);
        break;
    case BBF_CMD_GRID_DATA:
        put_string(w, &c->text[0]);
        put_list(w, c);
        put_rows(w, c);
        break;
    case BBF_CMD_RETRANSFORM_CLASS:
        put_string(w, &c->text[0]);
        put_int(w, c->number[0]);
        put_int(w, c->number[1]);
        break;
    case BBF_CMD_SET_PARAMS:
        put_entries(w, c, BBF_TAGS_SETTING);
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        put_list(w, c);
        break;
    case BBF_CMD_TYPES:
        break;
    }
}

int bbf_command_encode(struct bbf_buf *out, const struct bbf_command *command, size_t deflate_over)
{
    struct writer w = {out, BBF_OK};
    size_t start = out->len;

    if ((unsigned)command->type >= BBF_CMD_TYPES)
        return BBF_EINVAL;
    uint8_t *p = room(&w, 2);
    if (p != NULL) {
        p[0] = BBF_WIRE_VERSION;
        p[1] = (uint8_t)command->type;
        put_payload(&w, command, deflate_over);
    }
    if (w.err != BBF_OK)
        out->len = start;
    return w.err;
}
