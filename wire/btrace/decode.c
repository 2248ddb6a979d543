/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/decode.c - bytes -> struct bbf_command (docs/btrace-wire.md 3).
 *
 * One reader runs twice over the same bytes: first without a block, to check everything and add up
 * the sizes; then with one block of that size, of which it allots the parts in the same order. So
 * an incomplete or hostile frame costs no allocation, and freeing is one free().
 */
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "core/err.h"
#include "wire/btrace/command.h"
#include "wire/btrace/tags.h"
#include "wire/btrace/utf8.h"

struct reader {
    const uint8_t *in;
    size_t len, pos;
    size_t
        end; /* the smaller of len and limits->frame; pos after a failure: then nothing is read */
    const struct bbf_wire_limits *limits;
    char *block;  /* NULL in the first run */
    size_t taken; /* bytes of the block that are allotted */
    size_t cells; /* of the current grid */
    bool repair;  /* some text is not UTF-8: known after the first run */
    size_t want;  /* BBF_EMORE: the length that the current read needs */
    const char *why;
    int err; /* sticky */
};

static void fail(struct reader *r, int err, const char *why)
{
    if (r->err == BBF_OK) {
        r->err = err;
        r->why = why;
        r->end = r->pos;
    }
}

/* Set why there are no n more bytes: the frame is too large, or not complete yet. */
static const uint8_t *no_bytes(struct reader *r, size_t n)
{
    if (r->err != BBF_OK)
        return NULL;
    if (n > r->limits->frame - r->pos) {
        fail(r, BBF_ELIMIT, "frame too large");
    } else {
        r->want = r->pos + n;
        fail(r, BBF_EMORE, "frame incomplete");
    }
    return NULL;
}

/* The next n bytes, or NULL. */
static inline const uint8_t *bytes(struct reader *r, size_t n)
{
    if (n > r->end - r->pos)
        return no_bytes(r, n);
    const uint8_t *p = r->in + r->pos;
    r->pos += n;
    return p;
}

static uint8_t get_byte(struct reader *r)
{
    const uint8_t *p = bytes(r, 1);
    return p == NULL ? 0 : p[0];
}

static bool get_bool(struct reader *r)
{
    return get_byte(r) != 0; /* 02 is also true */
}

static uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t get_u32(struct reader *r)
{
    const uint8_t *p = bytes(r, 4);
    return p == NULL ? 0 : load_u32(p);
}

static int32_t get_int(struct reader *r)
{
    return (int32_t)get_u32(r);
}

static uint64_t get_u64(struct reader *r)
{
    const uint8_t *p = bytes(r, 8);
    return p == NULL ? 0 : (uint64_t)load_u32(p) << 32 | load_u32(p + 4);
}

/* Room in the block; NULL in the first run, which only counts. */
static void *take(struct reader *r, size_t size, size_t align)
{
    size_t at = (r->taken + align - 1) & ~(align - 1);
    r->taken = at + size;
    return r->block == NULL ? NULL : r->block + at;
}

/* Read the number of entries that follow. */
static size_t get_count(struct reader *r, bool negative_is_empty)
{
    int32_t n = get_int(r);

    if (n < 0) {
        if (!negative_is_empty)
            fail(r, BBF_EFORMAT, "negative count");
        return 0;
    }
    if ((size_t)n > r->limits->entries) {
        fail(r, BBF_ELIMIT, "too many entries");
        return 0;
    }
    return (size_t)n;
}

static void put_text(struct reader *r, struct bbf_wire_str *out, const uint8_t *text, size_t len)
{
    /* In the second run all text is known to be valid, except in a frame with invalid text. */
    size_t good = r->block == NULL || r->repair ? bbf_utf8_valid(text, len) : len;
    char *s = take(r, good + 3 * (len - good) + 1, 1);

    r->repair |= good < len;
    if (s == NULL)
        return;
    if (good > 0)
        memcpy(s, text, good);
    out->s = s;
    out->len = good + bbf_utf8_repair(s + good, text + good, len - good);
    s[out->len] = '\0';
}

static void get_string(struct reader *r, struct bbf_wire_str *out)
{
    int32_t n = get_int(r);

    *out = (struct bbf_wire_str){NULL, 0};
    if (r->err != BBF_OK || n == -1)
        return;
    if (n < 0) {
        fail(r, BBF_EFORMAT, "negative string length");
        return;
    }
    if ((size_t)n > r->limits->string) {
        fail(r, BBF_ELIMIT, "string too long");
        return;
    }
    const uint8_t *text = bytes(r, (size_t)n);
    if (text != NULL)
        put_text(r, out, text, (size_t)n);
}

static void get_code(struct reader *r, struct bbf_command *c)
{
    int32_t n = get_int(r);

    c->code = NULL;
    c->code_len = 0;
    if (r->err != BBF_OK || n == -1)
        return;
    if (n < 0) {
        fail(r, BBF_EFORMAT, "negative code length");
        return;
    }
    const uint8_t *code = bytes(r, (size_t)n);
    if (code == NULL)
        return;
    /* One byte more, so that empty code is not null code. */
    c->code = take(r, (size_t)n + 1, 1);
    c->code_len = (size_t)n;
    if (c->code != NULL) {
        memcpy(c->code, code, (size_t)n);
        c->code[n] = 0;
    }
}

static size_t digits(const uint8_t *text, size_t len, size_t *pos)
{
    size_t from = *pos;
    while (*pos < len && text[*pos] >= '0' && text[*pos] <= '9')
        (*pos)++;
    return *pos - from;
}

static bool skip_sign(const uint8_t *text, size_t len, size_t *pos)
{
    if (*pos < len && (text[*pos] == '-' || text[*pos] == '+'))
        (*pos)++;
    return *pos < len;
}

static bool is_bigint(const uint8_t *text, size_t len)
{
    size_t pos = 0;
    return skip_sign(text, len, &pos) && digits(text, len, &pos) > 0 && pos == len;
}

/* java.math.BigDecimal's grammar: [sign] digits [. digits] [e [sign] digits]. */
static bool is_bigdec(const uint8_t *text, size_t len)
{
    size_t pos = 0;

    if (!skip_sign(text, len, &pos))
        return false;
    size_t n = digits(text, len, &pos);
    if (pos < len && text[pos] == '.') {
        pos++;
        n += digits(text, len, &pos);
    }
    if (n == 0)
        return false;
    if (pos < len && (text[pos] == 'e' || text[pos] == 'E')) {
        pos++;
        if (!skip_sign(text, len, &pos))
            return false;
        n = digits(text, len, &pos);
        if (n == 0 || n > 10)
            return false;
    }
    return pos == len;
}

/* The peer parses these while it decodes and fails on anything else, including null. */
static void get_big(struct reader *r, struct bbf_value *value)
{
    size_t at = r->pos;

    get_string(r, &value->text);
    if (r->err != BBF_OK)
        return;
    size_t len = r->pos - at - 4; /* a null string has none, and no digits */
    const uint8_t *text = r->in + at + 4;
    if (!(value->kind == BBF_VALUE_BIGINT ? is_bigint(text, len) : is_bigdec(text, len)))
        fail(r, BBF_EFORMAT, "not a number");
}

static void get_value(struct reader *r, enum bbf_tag_use use, struct bbf_value *out)
{
    uint8_t tag = get_byte(r);

    memset(out, 0, sizeof *out);
    if (r->err != BBF_OK)
        return;
    if (tag >= BBF_WIRE_TAGS) {
        fail(r, BBF_EFORMAT, "unknown value tag");
        return;
    }
    out->kind = bbf_wire_tags[use][tag];
    switch (out->kind) {
    case BBF_VALUE_NULL:
        break;
    case BBF_VALUE_STRING:
        get_string(r, &out->text);
        break;
    case BBF_VALUE_INT:
        out->u.i = get_int(r);
        break;
    case BBF_VALUE_LONG:
        out->u.l = (int64_t)get_u64(r);
        break;
    case BBF_VALUE_FLOAT:
        out->u.float_bits = get_u32(r);
        break;
    case BBF_VALUE_DOUBLE:
        out->u.double_bits = get_u64(r);
        break;
    case BBF_VALUE_BOOLEAN:
        out->u.b = get_bool(r);
        break;
    case BBF_VALUE_BIGINT:
    case BBF_VALUE_BIGDEC:
        get_big(r, out);
        break;
    }
}

/* A string in a place where other commands have a tagged value. */
static void get_string_value(struct reader *r, struct bbf_value *out)
{
    memset(out, 0, sizeof *out);
    get_string(r, &out->text);
    out->kind = out->text.s == NULL ? BBF_VALUE_NULL : BBF_VALUE_STRING;
}

enum entry_form { STRINGS, NUMBERS, SETTINGS };

static void get_entries(struct reader *r, struct bbf_command *c, enum entry_form form)
{
    size_t n = get_count(r, c->type != BBF_CMD_INSTRUMENT);
    struct bbf_entry *entries = NULL, scratch;

    if (n > 0)
        entries = take(r, n * sizeof *entries, _Alignof(struct bbf_entry));
    for (size_t i = 0; i < n && r->err == BBF_OK; i++) {
        struct bbf_entry *entry = entries == NULL ? &scratch : &entries[i];
        get_string(r, &entry->key);
        if (form == STRINGS)
            get_string_value(r, &entry->value);
        else
            get_value(r, form == NUMBERS ? BBF_TAGS_NUMBER : BBF_TAGS_SETTING, &entry->value);
    }
    c->entries = entries;
    c->n_entries = n;
}

static void get_list(struct reader *r, struct bbf_command *c)
{
    size_t n = get_count(r, true);
    struct bbf_wire_str *list = NULL, scratch;

    if (n > 0)
        list = take(r, n * sizeof *list, _Alignof(struct bbf_wire_str));
    for (size_t i = 0; i < n && r->err == BBF_OK; i++)
        get_string(r, list == NULL ? &scratch : &list[i]);
    c->list = list;
    c->n_list = n;
}

static void get_row(struct reader *r, struct bbf_row *row)
{
    size_t n = get_count(r, false);
    struct bbf_value *cells = NULL, scratch;

    r->cells += n;
    if (r->cells > r->limits->entries)
        fail(r, BBF_ELIMIT, "too many grid cells");
    if (n > 0 && r->err == BBF_OK)
        cells = take(r, n * sizeof *cells, _Alignof(struct bbf_value));
    for (size_t i = 0; i < n && r->err == BBF_OK; i++)
        get_value(r, BBF_TAGS_CELL, cells == NULL ? &scratch : &cells[i]);
    row->cells = cells;
    row->n_cells = n;
}

static void get_rows(struct reader *r, struct bbf_command *c)
{
    size_t n = get_count(r, true);
    struct bbf_row *rows = NULL, scratch;

    r->cells = 0;
    if (n > 0)
        rows = take(r, n * sizeof *rows, _Alignof(struct bbf_row));
    for (size_t i = 0; i < n && r->err == BBF_OK; i++)
        get_row(r, rows == NULL ? &scratch : &rows[i]);
    c->rows = rows;
    c->n_rows = n;
}

/*
 * zlib -> exactly raw_len bytes. Like the peer: more output than declared is cut, bytes after the
 * zlib end are ignored, less output or a bad check value is an error.
 */
static bool inflate_exactly(char *to, size_t raw_len, const uint8_t *from, size_t from_len)
{
    z_stream z = {.next_in = from, .avail_in = (uInt)from_len};
    uint8_t beyond;

    if (inflateInit(&z) != Z_OK)
        return false;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)raw_len;
    int status = inflate(&z, Z_NO_FLUSH);
    bool full = z.avail_out == 0;
    if (status == Z_OK && full) {
        /* The check value may follow the last byte; or there is one byte too many. */
        z.next_out = &beyond;
        z.avail_out = 1;
        status = inflate(&z, Z_NO_FLUSH);
        if (status == Z_OK && z.avail_out == 0)
            status = Z_STREAM_END;
    }
    inflateEnd(&z);
    return full && status == Z_STREAM_END;
}

/* The inflated text goes to the block first; it needs more room only if it must be repaired. */
static void get_inflated(struct reader *r, struct bbf_command *c, size_t raw_len,
                         const uint8_t *zip, size_t zip_len)
{
    char *s = take(r, raw_len + 1, 1);

    if (s == NULL)
        return;
    if (raw_len > 0 && !inflate_exactly(s, raw_len, zip, zip_len)) {
        fail(r, BBF_EFORMAT, "bad deflated text");
        return;
    }
    size_t good = bbf_utf8_valid((const uint8_t *)s, raw_len);
    c->text[0] = (struct bbf_wire_str){s, raw_len};
    if (good < raw_len) {
        char *repaired = malloc(3 * raw_len + 1);
        if (repaired == NULL) {
            fail(r, BBF_ENOMEM, "out of memory");
            return;
        }
        c->text[0].len = bbf_utf8_repair(repaired, (const uint8_t *)s, raw_len);
        c->text[0].s = repaired;
        free(r->block); /* a MESSAGE has nothing else in it */
        r->block = repaired;
    }
    c->text[0].s[c->text[0].len] = '\0';
}

static void get_message(struct reader *r, struct bbf_command *c)
{
    c->timestamp_ms = (int64_t)get_u64(r);
    c->flag = get_bool(r);
    c->deflated = get_bool(r);
    int32_t raw_len = get_int(r);
    if (!c->deflated) {
        size_t n = raw_len < 0 ? 0 : (size_t)raw_len; /* the peer reads -1 as "" */
        const uint8_t *text = bytes(r, n);
        if (text != NULL)
            put_text(r, &c->text[0], text, n);
        return;
    }
    int32_t zip_len = get_int(r);
    if (r->err != BBF_OK)
        return;
    if (raw_len < 0 || zip_len < 0) {
        fail(r, BBF_EFORMAT, "negative message length");
        return;
    }
    if ((size_t)raw_len > r->limits->frame) {
        fail(r, BBF_ELIMIT, "inflated message too large");
        return;
    }
    const uint8_t *zip = bytes(r, (size_t)zip_len);
    if (zip != NULL)
        get_inflated(r, c, (size_t)raw_len, zip, (size_t)zip_len);
}

static void get_payload(struct reader *r, struct bbf_command *c)
{
    switch (c->type) {
    case BBF_CMD_ERROR:
        for (int i = 0; i < 3; i++)
            get_string(r, &c->text[i]);
        break;
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
        get_string(r, &c->text[0]);
        break;
    case BBF_CMD_EXIT:
    case BBF_CMD_RETRANSFORMATION_START:
        c->number[0] = get_int(r);
        break;
    case BBF_CMD_INSTRUMENT:
        get_code(r, c);
        get_entries(r, c, STRINGS);
        break;
    case BBF_CMD_MESSAGE:
        get_message(r, c);
        break;
    case BBF_CMD_STATUS:
        c->number[0] = get_int(r);
        c->flag = get_bool(r);
        break;
    case BBF_CMD_NUMBER_MAP:
        get_string(r, &c->text[0]);
        get_entries(r, c, NUMBERS);
        break;
    case BBF_CMD_STRING_MAP:
        get_string(r, &c->text[0]);
        get_entries(r, c, STRINGS);
        break;
    case BBF_CMD_NUMBER:
        get_string(r, &c->text[0]);
        get_value(r, BBF_TAGS_NUMBER, &c->value);
        break;
    case BBF_CMD_GRID_DATA:
        get_string(r, &c->text[0]);
        get_list(r, c);
        get_rows(r, c);
        break;
    case BBF_CMD_RETRANSFORM_CLASS:
        get_string(r, &c->text[0]);
        c->number[0] = get_int(r);
        c->number[1] = get_int(r);
        break;
    case BBF_CMD_SET_PARAMS:
        get_entries(r, c, SETTINGS);
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        get_list(r, c);
        break;
    case BBF_CMD_TYPES:
        break;
    }
}

static void get_frame(struct reader *r, struct bbf_command *c)
{
    r->pos = 0;
    r->end = r->len < r->limits->frame ? r->len : r->limits->frame;
    r->taken = 0;
    uint8_t version = get_byte(r);
    if (r->err == BBF_OK && version != BBF_WIRE_VERSION)
        fail(r, BBF_EVERSION, "frame version is not 3");
    uint8_t type = get_byte(r);
    if (r->err == BBF_OK && type >= BBF_CMD_TYPES)
        fail(r, BBF_EFORMAT, "unknown command type");
    if (r->err != BBF_OK)
        return;
    c->type = (enum bbf_command_type)type;
    get_payload(r, c);
}

static int finish(const struct reader *r, size_t *used, const char **why)
{
    if (why != NULL)
        *why = r->err == BBF_OK ? NULL : r->why;
    *used = r->err == BBF_OK ? r->pos : r->err == BBF_EMORE ? r->want : 0;
    return r->err;
}

int bbf_command_skip(const uint8_t *in, size_t len, size_t *used,
                     const struct bbf_wire_limits *limits, const char **why)
{
    struct reader r = {.in = in, .len = len, .limits = limits};
    struct bbf_command scratch = {0};

    get_frame(&r, &scratch);
    return finish(&r, used, why);
}

int bbf_command_decode(struct bbf_command *out, const uint8_t *in, size_t len, size_t *used,
                       const struct bbf_wire_limits *limits, const char **why)
{
    struct reader r = {.in = in, .len = len, .limits = limits};

    memset(out, 0, sizeof *out);
    get_frame(&r, out);
    /* Numbers alone are complete after the first run. */
    if (r.err == BBF_OK && r.taken > 0) {
        r.block = malloc(r.taken);
        if (r.block == NULL)
            fail(&r, BBF_ENOMEM, "out of memory");
        else
            get_frame(&r, out);
    }
    if (r.err == BBF_OK) {
        out->block = r.block;
    } else {
        free(r.block);
        memset(out, 0, sizeof *out);
    }
    return finish(&r, used, why);
}
