/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/v1_decode.c - v1 stream -> struct bbf_command (docs/btrace-wire.md 4.3): reads the
 * command out of the Java object stream and writes the same command as a v2 frame, which the v2
 * decoder turns into a value: its limits, its text repair and its one block hold for both.
 */
#include "wire/btrace/v1/v1.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/btrace/v1/javatext.h"
#include "wire/btrace/v1/objectstream.h"
#include "wire/btrace/tags.h"
#include "wire/btrace/v1/v1_plain.h"

struct bbf_v1_reader {
    struct bbf_ostream stream;
    struct bbf_wire_limits limits;
    struct bbf_buf frame; /* the current v2 frame */
    struct bbf_buf text;  /* scratch */
    bool long_way;        /* always */
    size_t name_len;      /* GRID_DATA: the name's part of what was written as the name */
};

struct bbf_v1_reader *bbf_v1_reader_new(const struct bbf_wire_limits *limits)
{
    struct bbf_v1_reader *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    r->limits = *limits;
    if (bbf_ostream_init(&r->stream, limits->frame, limits->objects) != BBF_OK) {
        bbf_ostream_free(&r->stream);
        free(r);
        return NULL;
    }
    return r;
}

void bbf_v1_reader_free(struct bbf_v1_reader *r)
{
    if (r == NULL)
        return;
    bbf_ostream_free(&r->stream);
    bbf_buf_free(&r->frame);
    bbf_buf_free(&r->text);
    free(r);
}

size_t bbf_v1_reader_bytes(const struct bbf_v1_reader *r)
{
    return r == NULL ? 0 : bbf_ostream_size(&r->stream) + r->frame.cap + r->text.cap;
}

void bbf_v1_reader_trim(struct bbf_v1_reader *r)
{
    bbf_ostream_trim(&r->stream);
    bbf_buf_free(&r->frame);
    bbf_buf_free(&r->text);
}

void bbf_v1_reader_the_long_way(struct bbf_v1_reader *r)
{
    r->long_way = true;
}

/* ---- the v2 frame ---- */

static inline void store(char *to, uint64_t value, size_t bytes)
{
    for (size_t i = bytes; i-- > 0; value >>= 8)
        to[i] = (char)value;
}

static inline void put(struct bbf_v1_reader *r, uint64_t value, size_t bytes)
{
    char *to = bbf_buf_reserve(&r->frame, bytes);
    if (to == NULL)
        return;
    store(to, value, bytes);
    r->frame.len += bytes;
}

static void put_text(struct bbf_v1_reader *r, const char *text, size_t len)
{
    put(r, len, 4);
    bbf_buf_add(&r->frame, len > 0 ? text : "", len);
}

static void put_null(struct bbf_v1_reader *r)
{
    put(r, UINT32_MAX, 4);
}

/* A UTF of the stream as a string of the frame. */
static void move_utf(struct bbf_v1_reader *r)
{
    size_t at = r->frame.len;

    put(r, 0, 4);
    bbf_ostream_utf(&r->stream, &r->frame);
    if (!r->frame.failed)
        store(r->frame.data + at, r->frame.len - at - 4, 4);
}

/* A count that is negative reads as 0, as in v2. */
static uint32_t move_count(struct bbf_v1_reader *r)
{
    uint32_t n = bbf_ostream_u4(&r->stream);

    if (n > INT32_MAX)
        n = 0;
    if (n > r->limits.entries)
        bbf_ostream_fail(&r->stream, BBF_ELIMIT, "too many entries");
    put(r, n, 4);
    return n;
}

/* ---- objects ---- */

static const struct bbf_onode *primitive(const struct bbf_v1_reader *r,
                                         const struct bbf_onode *object, const char *field)
{
    const struct bbf_onode *n = bbf_onode_field(&r->stream, object, field);
    return n->kind == BBF_ONODE_PRIMITIVE ? n : NULL;
}

static int32_t int_field(const struct bbf_v1_reader *r, const struct bbf_onode *object,
                         const char *field)
{
    const struct bbf_onode *n = primitive(r, object, field);
    return n != NULL ? (int32_t)(uint32_t)n->bits : 0;
}

static void add_bigint(const struct bbf_v1_reader *r, const struct bbf_onode *big,
                       struct bbf_buf *out)
{
    const struct bbf_onode *m = bbf_onode_field(&r->stream, big, "magnitude");
    const uint8_t *bytes = (const uint8_t *)r->stream.texts.data + m->text;

    /* Making the digits takes quadratic time, so the bytes are limited to those of a string. */
    if (m->kind != BBF_ONODE_ARRAY || m->type != 'B' || m->len > r->limits.string)
        bbf_buf_char(out, '?');
    else
        bbf_java_bigint(out, int_field(r, big, "signum"), bytes, m->len);
}

/* A class's name without packages: "HistogramData". */
static void add_simple_name(const struct bbf_v1_reader *r, const struct bbf_onode *object,
                            struct bbf_buf *out)
{
    const struct bbf_onode *c = &r->stream.nodes[object->other];
    const char *name = r->stream.texts.data + c->text;
    size_t from = c->len;

    while (from > 0 && name[from - 1] != '.')
        from--;
    bbf_buf_add(out, name + from, c->len - from);
}

/* An object that no table of v2 has: the class, and the numbers of its arrays. */
static void add_object(const struct bbf_v1_reader *r, const struct bbf_onode *object,
                       struct bbf_buf *out)
{
    const struct bbf_ostream *s = &r->stream;

    add_simple_name(r, object, out);
    for (uint32_t v = object->child; v != 0; v = s->nodes[v].next) {
        const struct bbf_onode *array = bbf_onode_at(s, v);
        if (array->kind != BBF_ONODE_ARRAY || (array->type != 'I' && array->type != 'J'))
            continue;
        const char *comma = "";
        bbf_buf_char(out, '[');
        for (uint32_t i = array->child; i != 0; i = s->nodes[i].next, comma = ", ")
            bbf_buf_printf(out, "%s%" PRId64, comma,
                           array->type == 'I' ? (int32_t)(uint32_t)s->nodes[i].bits
                                              : (int64_t)s->nodes[i].bits);
        bbf_buf_char(out, ']');
    }
}

static uint8_t tag_of(enum bbf_tag_use use, enum bbf_value_kind kind)
{
    uint8_t tag = 0;

    while (tag < BBF_WIRE_TAGS && bbf_wire_tags[use][tag] != kind)
        tag++;
    return tag;
}

/* `text` as a value: where the table has no string, an error. */
static void put_as_text(struct bbf_v1_reader *r, enum bbf_tag_use use, enum bbf_value_kind kind,
                        const char *text, size_t len)
{
    uint8_t tag = tag_of(use, kind);

    if (tag == BBF_WIRE_TAGS)
        tag = tag_of(use, BBF_VALUE_STRING);
    if (tag == BBF_WIRE_TAGS) {
        bbf_ostream_fail(&r->stream, BBF_EFORMAT, "an object that is no number");
        return;
    }
    put(r, tag, 1);
    put_text(r, text, len);
}

static bool put_boxed(struct bbf_v1_reader *r, enum bbf_tag_use use, const struct bbf_onode *value)
{
    enum bbf_value_kind kind;
    uint64_t bits;

    if (value == NULL)
        return false;
    bits = value->bits;
    switch (value->type) {
    case 'I':
        kind = BBF_VALUE_INT;
        break;
    case 'J':
        kind = BBF_VALUE_LONG;
        break;
    case 'S': /* as v2 writes them */
        kind = BBF_VALUE_LONG;
        bits = (uint64_t)(int64_t)(int16_t)bits;
        break;
    case 'B':
        kind = BBF_VALUE_LONG;
        bits = (uint64_t)(int64_t)(int8_t)bits;
        break;
    case 'F':
        kind = BBF_VALUE_FLOAT;
        break;
    case 'D':
        kind = BBF_VALUE_DOUBLE;
        break;
    case 'Z':
        kind = BBF_VALUE_BOOLEAN;
        break;
    default:
        return false;
    }
    uint8_t tag = tag_of(use, kind);
    if (tag == BBF_WIRE_TAGS)
        return false;
    put(r, tag, 1);
    put(r, bits,
        kind == BBF_VALUE_BOOLEAN                          ? 1
        : kind == BBF_VALUE_INT || kind == BBF_VALUE_FLOAT ? 4
                                                           : 8);
    return true;
}

static void put_big(struct bbf_v1_reader *r, enum bbf_tag_use use, const struct bbf_onode *object)
{
    bool decimal = bbf_onode_has_class(&r->stream, object, "java.math.BigDecimal");
    struct bbf_buf digits = BBF_BUF_INIT;

    r->text.len = 0;
    if (decimal) {
        add_bigint(r, bbf_onode_field(&r->stream, object, "intVal"), &digits);
        bbf_java_bigdec(&r->text, bbf_buf_cstr(&digits), digits.len, int_field(r, object, "scale"));
    } else {
        add_bigint(r, object, &r->text);
    }
    bbf_buf_free(&digits);
    put_as_text(r, use, decimal ? BBF_VALUE_BIGDEC : BBF_VALUE_BIGINT, bbf_buf_cstr(&r->text),
                r->text.len);
}

/* An object element as a tagged value of the frame. */
static void move_value(struct bbf_v1_reader *r, enum bbf_tag_use use)
{
    struct bbf_ostream *s = &r->stream;
    uint32_t number = bbf_ostream_box(s);

    if (number != 0 && put_boxed(r, use, &s->nodes[s->nodes[number].child]))
        return;
    if (number == 0)
        number = bbf_ostream_object(s);
    if (s->err != BBF_OK)
        return;
    const struct bbf_onode *n = bbf_onode_at(s, number);
    if (n->kind == BBF_ONODE_NULL) {
        put(r, 0, 1);
    } else if (n->kind == BBF_ONODE_STRING) {
        put_as_text(r, use, BBF_VALUE_STRING, s->texts.data + n->text, n->len);
    } else if (bbf_onode_has_class(s, n, "java.math.BigInteger") ||
               bbf_onode_has_class(s, n, "java.math.BigDecimal")) {
        put_big(r, use, n);
    } else if (n->kind != BBF_ONODE_OBJECT) {
        bbf_ostream_fail(s, BBF_EFORMAT, "an array where a value belongs");
    } else if (!put_boxed(r, use, primitive(r, n, "value"))) {
        r->text.len = 0;
        add_object(r, n, &r->text);
        put_as_text(r, use, BBF_VALUE_STRING, bbf_buf_cstr(&r->text), r->text.len);
    }
}

/* ---- Throwable ---- */

static void add_string(const struct bbf_v1_reader *r, const struct bbf_onode *string,
                       struct bbf_buf *out)
{
    if (string->kind == BBF_ONODE_STRING)
        bbf_buf_add(out, r->stream.texts.data + string->text, string->len);
}

static void add_class(const struct bbf_v1_reader *r, const struct bbf_onode *object,
                      struct bbf_buf *out)
{
    const struct bbf_onode *c = &r->stream.nodes[object->other];
    bbf_buf_add(out, r->stream.texts.data + c->text, c->len);
}

/* "class: message", as Throwable.toString(). */
static void add_head(const struct bbf_v1_reader *r, const struct bbf_onode *throwable,
                     struct bbf_buf *out)
{
    const struct bbf_onode *message = bbf_onode_field(&r->stream, throwable, "detailMessage");

    add_class(r, throwable, out);
    if (message->kind == BBF_ONODE_STRING)
        bbf_buf_str(out, ": ");
    add_string(r, message, out);
    bbf_buf_char(out, '\n');
}

/* As StackTraceElement.toString() writes it, without class loader and module. */
static void add_frame(const struct bbf_v1_reader *r, const struct bbf_onode *frame,
                      struct bbf_buf *out)
{
    const struct bbf_ostream *s = &r->stream;
    const struct bbf_onode *file = bbf_onode_field(s, frame, "fileName");
    int32_t line = int_field(r, frame, "lineNumber");

    bbf_buf_str(out, "\tat ");
    add_string(r, bbf_onode_field(s, frame, "declaringClass"), out);
    bbf_buf_char(out, '.');
    add_string(r, bbf_onode_field(s, frame, "methodName"), out);
    bbf_buf_char(out, '(');
    if (line == -2)
        bbf_buf_str(out, "Native Method");
    else if (file->kind != BBF_ONODE_STRING)
        bbf_buf_str(out, "Unknown Source");
    else
        add_string(r, file, out);
    if (line >= 0 && file->kind == BBF_ONODE_STRING)
        bbf_buf_printf(out, ":%" PRId32, line);
    bbf_buf_str(out, ")\n");
}

/* A throwable that was not given a cause names itself as its cause. */
static void add_stack(const struct bbf_v1_reader *r, const struct bbf_onode *throwable,
                      struct bbf_buf *out)
{
    const struct bbf_ostream *s = &r->stream;

    for (unsigned depth = 0; throwable->kind == BBF_ONODE_OBJECT && depth < 100; depth++) {
        bbf_buf_str(out, depth > 0 ? "Caused by: " : "");
        add_head(r, throwable, out);
        const struct bbf_onode *trace = bbf_onode_field(s, throwable, "stackTrace");
        for (uint32_t i = trace->kind == BBF_ONODE_ARRAY ? trace->child : 0; i != 0;
             i = s->nodes[i].next)
            add_frame(r, bbf_onode_at(s, i), out);
        const struct bbf_onode *cause = bbf_onode_field(s, throwable, "cause");
        if (cause == throwable)
            return;
        throwable = cause;
    }
}

static void move_throwable(struct bbf_v1_reader *r)
{
    struct bbf_ostream *s = &r->stream;
    uint32_t number = bbf_ostream_object(s);

    if (s->err != BBF_OK)
        return;
    const struct bbf_onode *n = bbf_onode_at(s, number);
    if (n->kind != BBF_ONODE_OBJECT) {
        if (n->kind != BBF_ONODE_NULL)
            bbf_ostream_fail(s, BBF_EFORMAT, "an error that is no Throwable");
        for (int i = 0; i < 3; i++)
            put_null(r);
        return;
    }
    r->text.len = 0;
    add_class(r, n, &r->text);
    put_text(r, r->text.data, r->text.len);
    const struct bbf_onode *message = bbf_onode_field(s, n, "detailMessage");
    if (message->kind == BBF_ONODE_STRING)
        put_text(r, s->texts.data + message->text, message->len);
    else
        put_null(r);
    r->text.len = 0;
    add_stack(r, n, &r->text);
    put_text(r, r->text.data, r->text.len);
}

/* ---- commands ---- */

static void move_bytes(struct bbf_v1_reader *r)
{
    uint32_t n = bbf_ostream_u4(&r->stream);

    if (n > INT32_MAX || n > r->limits.frame) {
        bbf_ostream_fail(&r->stream, BBF_ELIMIT, "command too large");
        return;
    }
    put(r, n, 4);
    bbf_ostream_bytes(&r->stream, &r->frame, n);
}

static void move_message(struct bbf_v1_reader *r)
{
    uint8_t urgent = bbf_ostream_u1(&r->stream);

    put(r, bbf_ostream_u8(&r->stream), 8);
    put(r, urgent != 0, 1);
    put(r, 0, 1); /* never deflated */
    move_bytes(r);
}

/* name, format: the 2.2.6 layout, without columns. The format travels behind the name. */
static void move_grid(struct bbf_v1_reader *r)
{
    struct bbf_ostream *s = &r->stream;

    r->text.len = 0;
    bbf_ostream_utf(s, &r->text);
    r->name_len = r->text.len;
    bbf_buf_char(&r->text, '\0');
    bbf_ostream_utf(s, &r->text);
    put_text(r, r->text.data, r->text.len);
    put(r, 0, 4);
    for (uint32_t rows = move_count(r); rows > 0 && s->err == BBF_OK; rows--)
        for (uint32_t cells = move_count(r); cells > 0 && s->err == BBF_OK; cells--)
            move_value(r, BBF_TAGS_CELL);
}

static void move_entries(struct bbf_v1_reader *r, enum bbf_command_type type)
{
    for (uint32_t n = move_count(r); n > 0 && r->stream.err == BBF_OK; n--) {
        move_utf(r);
        if (type == BBF_CMD_NUMBER_MAP)
            move_value(r, BBF_TAGS_NUMBER);
        else if (type == BBF_CMD_SET_PARAMS)
            move_value(r, BBF_TAGS_SETTING);
        else
            move_utf(r);
    }
}

static void move_payload(struct bbf_v1_reader *r, enum bbf_command_type type)
{
    struct bbf_ostream *s = &r->stream;
    uint32_t value;

    switch (type) {
    case BBF_CMD_ERROR:
        move_throwable(r);
        break;
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
        move_utf(r);
        break;
    case BBF_CMD_EXIT:
    case BBF_CMD_RETRANSFORMATION_START:
        put(r, bbf_ostream_u4(s), 4);
        break;
    case BBF_CMD_STATUS: /* the sign carries success; flag >= 0 in v2 (docs/btrace-wire.md 3.5) */
        value = bbf_ostream_u4(s);
        put(r, value > INT32_MAX ? (uint64_t)(0u - value) : value, 4);
        put(r, value <= INT32_MAX, 1);
        break;
    case BBF_CMD_INSTRUMENT:
        move_bytes(r);
        move_entries(r, type);
        break;
    case BBF_CMD_MESSAGE:
        move_message(r);
        break;
    case BBF_CMD_NUMBER_MAP:
    case BBF_CMD_STRING_MAP:
        move_utf(r);
        move_entries(r, type);
        break;
    case BBF_CMD_NUMBER:
        move_utf(r);
        move_value(r, BBF_TAGS_NUMBER);
        break;
    case BBF_CMD_GRID_DATA:
        move_grid(r);
        break;
    case BBF_CMD_SET_PARAMS:
        move_entries(r, type);
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        for (uint32_t n = move_count(r); n > 0 && s->err == BBF_OK; n--)
            move_utf(r);
        break;
    default:
        bbf_ostream_fail(s, BBF_EFORMAT, "unknown type of command");
    }
}

/* "name NUL format" was decoded as one string, which is NUL-terminated at both ends. */
static void split_format(const struct bbf_v1_reader *r, struct bbf_command *command)
{
    struct bbf_wire_str *name = &command->text[0];

    if (name->s == NULL || name->len <= r->name_len)
        return;
    command->text[1] =
        (struct bbf_wire_str){name->s + r->name_len + 1, name->len - r->name_len - 1};
    name->len = r->name_len;
}

/* RETRANSFORM_CLASS, one object, needs no frame between. */
static void take_class(struct bbf_v1_reader *r, struct bbf_command *out)
{
    struct bbf_ostream *s = &r->stream;
    const struct bbf_onode *n = bbf_onode_at(s, bbf_ostream_object(s));

    memset(out, 0, sizeof *out);
    out->type = BBF_CMD_RETRANSFORM_CLASS;
    if (s->err != BBF_OK || n->kind != BBF_ONODE_STRING)
        return;
    if (n->len > r->limits.string) {
        bbf_ostream_fail(s, BBF_ELIMIT, "string too long");
        return;
    }
    char *name = malloc(n->len + 1);
    if (name == NULL) {
        bbf_ostream_fail(s, BBF_ENOMEM, "out of memory");
        return;
    }
    memcpy(name, s->texts.data + n->text, n->len);
    name[n->len] = '\0';
    out->text[0] = (struct bbf_wire_str){name, n->len};
    out->block = name;
}

/* Decode the command after its type, through a v2 frame. */
static void take_frame(struct bbf_v1_reader *r, struct bbf_command *out, uint8_t type)
{
    struct bbf_ostream *s = &r->stream;
    const char *why = NULL;
    size_t used;

    r->frame.len = 0;
    put(r, BBF_WIRE_VERSION, 1);
    put(r, type, 1);
    move_payload(r, (enum bbf_command_type)type);
    if (r->frame.failed || r->text.failed || s->texts.failed)
        bbf_ostream_fail(s, BBF_ENOMEM, "out of memory");
    if (s->err != BBF_OK)
        return;
    int err = bbf_command_decode(out, (const uint8_t *)r->frame.data, r->frame.len, &used,
                                 &r->limits, &why);
    if (err != BBF_OK)
        bbf_ostream_fail(s, err == BBF_EMORE ? BBF_EFORMAT : err, why);
    else if (type == BBF_CMD_GRID_DATA)
        split_format(r, out);
}

int bbf_v1_decode(struct bbf_v1_reader *r, struct bbf_command *out, const uint8_t *in, size_t len,
                  size_t *used, const char **why)
{
    struct bbf_ostream *s = &r->stream;

    if (s->mark.block == 0 && !r->long_way) {
        /* The stream keeps nothing of a command without objects, so it is not even opened for
         * it. */
        size_t reset = len > 0 && in[0] == BBF_OSTREAM_RESET;
        if (bbf_v1_plain(out, in + reset, len - reset, used, &r->limits)) {
            if (reset > 0)
                bbf_ostream_forget(s);
            *used += reset;
            return BBF_OK;
        }
    }
    bbf_ostream_begin(s, in, len);
    bbf_ostream_resets(s);
    uint8_t type = bbf_ostream_u1(s);
    if (s->err == BBF_OK && type == BBF_CMD_RETRANSFORM_CLASS)
        take_class(r, out);
    else if (s->err == BBF_OK)
        take_frame(r, out, type);
    if (s->err != BBF_OK) {
        memset(out, 0, sizeof *out);
        *used = s->want;
        if (why != NULL)
            *why = s->why;
        return s->err;
    }
    bbf_ostream_commit(s);
    *used = s->pos;
    return BBF_OK;
}
