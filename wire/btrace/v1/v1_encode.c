/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/v1_encode.c - struct bbf_command -> v1 stream (docs/btrace-wire.md 4.3, 4.4).
 * Blocks are cut as java.io.ObjectOutputStream cuts them, at 1,024 bytes and before each object,
 * but for long texts in pieces; a class is described once a command and referred to afterwards.
 */
#include "wire/btrace/v1/v1.h"

#include <string.h>

#include "core/err.h"
#include "wire/btrace/v1/javatext.h"
#include "wire/btrace/utf8.h"

enum { BLOCK = 1024, SHORT_BLOCK = 255, SHORT_HEADER = 2, LONG_HEADER = 5, UTF_MAX = 65535 };

/* Texts of at least this size are referred to, not copied. For shorter ones two more pieces cost
 * the kernel as much as the copy, or more: 3.9 us against 3.6 for 4 KiB, the same for 16 KiB, 17 us
 * against 21 for 100 KiB (encoded, sent and received on a Unix socket). */
enum { REFERRED = 16 << 10 };

enum { FIRST_HANDLE = 0x7E0000 };

/* The classes that one command may need more than once. */
enum known {
    BOOLEAN,
    INTEGER,
    LONG,
    FLOAT,
    DOUBLE,
    BIG_INTEGER,
    BIG_DECIMAL,
    BYTES,
    NUMBER,
    KNOWN
};

static const struct {
    const char *name;
    uint64_t uid;
    char type; /* of the one field `value` */
} classes[KNOWN] = {
    [BOOLEAN] = {"java.lang.Boolean", UINT64_C(0xcd207280d59cfaee), 'Z'},
    [INTEGER] = {"java.lang.Integer", UINT64_C(0x12e2a0a4f7818738), 'I'},
    [LONG] = {"java.lang.Long", UINT64_C(0x3b8be490cc8f23df), 'J'},
    [FLOAT] = {"java.lang.Float", UINT64_C(0xdaedc9a2db3cf0ec), 'F'},
    [DOUBLE] = {"java.lang.Double", UINT64_C(0x80b3c24a296bfb04), 'D'},
    [BIG_INTEGER] = {"java.math.BigInteger", UINT64_C(0x8cfc9f1fa93bfb1d), 0},
    [BIG_DECIMAL] = {"java.math.BigDecimal", UINT64_C(0x54c71557f981284f), 0},
    [BYTES] = {"[B", UINT64_C(0xacf317f8060854e0), 0},
    [NUMBER] = {"java.lang.Number", UINT64_C(0x86ac951d0b94e08b), 0},
};

struct writer {
    struct bbf_buf *out;
    struct bbf_pieces *pieces; /* `out` is the copied part of them; NULL: everything is copied */
    size_t block;              /* offset of the current block's header, if it has one: */
    size_t header, left;       /* its bytes, 0 = no block; how many more it can take as it is */
    uint32_t handles;          /* given out since the reset, as the reader counts them: each class,
                                  object, string and array, in the order of the stream */
    uint32_t known[KNOWN];     /* handle of the class's descriptor, 0: not written yet */
    int err;
};

static void fail(struct writer *w, int err)
{
    if (w->err == BBF_OK)
        w->err = err;
}

static inline void store_number(char *to, uint64_t value, size_t bytes)
{
    for (size_t i = bytes; i-- > 0; value >>= 8)
        to[i] = (char)value;
}

static inline void add_number(struct bbf_buf *out, uint64_t value, size_t bytes)
{
    char *to = bbf_buf_reserve(out, bytes);
    if (to == NULL)
        return;
    store_number(to, value, bytes);
    out->len += bytes;
}

/* ---- block data ---- Written in place after a header of two bytes, which is replaced by one of
 * five bytes if there are more than 255. */

static void end_block(struct writer *w)
{
    if (w->header == 0)
        return;
    if (!w->out->failed) {
        char *at = w->out->data + w->block;
        bool is_long = w->header == LONG_HEADER;
        at[0] = is_long ? 0x7A : 0x77;
        if (is_long)
            store_number(at + 1, BLOCK - w->left, LONG_HEADER - 1);
        else
            at[1] = (char)(SHORT_BLOCK - w->left);
    }
    w->header = w->left = 0;
}

/* n bytes do not fit: a longer header, or a new block. */
static void more_block(struct writer *w, size_t n)
{
    if (w->header == SHORT_HEADER) {
        char *end = bbf_buf_reserve(w->out, LONG_HEADER - SHORT_HEADER);
        if (end != NULL) {
            char *from = w->out->data + w->block + SHORT_HEADER;
            memmove(w->out->data + w->block + LONG_HEADER, from, (size_t)(end - from));
            w->out->len += LONG_HEADER - SHORT_HEADER;
        }
        w->header = LONG_HEADER;
        w->left += BLOCK - SHORT_BLOCK;
        return;
    }
    end_block(w);
    w->header = n > SHORT_BLOCK ? LONG_HEADER : SHORT_HEADER;
    w->left = n > SHORT_BLOCK ? BLOCK : SHORT_BLOCK;
    w->block = w->out->len;
    add_number(w->out, 0, w->header);
}

/* Should a text be referred to? Only the command's own bytes stay unchanged until it is sent. */
static inline bool is_referred(const struct writer *w, size_t n, bool own)
{
    return n >= REFERRED && own && w->pieces != NULL;
}

/* Append whole blocks at a time, after a full one. */
static size_t put_blocks(struct writer *w, const char *bytes, size_t n)
{
    size_t blocks = n / BLOCK;

    end_block(w);
    char *to = bbf_buf_reserve(w->out, blocks * (LONG_HEADER + BLOCK));
    if (to == NULL)
        return blocks * BLOCK;
    for (size_t i = 0; i < blocks; i++, to += LONG_HEADER + BLOCK) {
        memcpy(to, "\x7A\0\0\4\0", LONG_HEADER);
        /* Not memcpy, which gcc makes `rep movsq` of where the length is known: slower. */
        memmove(to + LONG_HEADER, bytes + i * BLOCK, BLOCK);
    }
    w->out->len += blocks * (LONG_HEADER + BLOCK);
    return blocks * BLOCK;
}

/* Put a text of any length into one block of its own, which every reader accepts. This makes two
 * pieces; blocks of 1,024 would make two each and cost the kernel more than copying them. */
static void refer(struct writer *w, const char *bytes, size_t n)
{
    end_block(w);
    bbf_buf_char(w->out, 0x7A);
    add_number(w->out, n, LONG_HEADER - 1);
    bbf_pieces_refer(w->pieces, bytes, n);
}

static void put_raw(struct writer *w, const char *bytes, size_t n, bool own)
{
    if (is_referred(w, n, own)) {
        refer(w, bytes, n);
        return;
    }
    while (n > 0) {
        if (w->left == 0 && n > BLOCK && w->header != SHORT_HEADER) {
            size_t done = put_blocks(w, bytes, n);
            bytes += done;
            n -= done;
            continue;
        }
        if (w->left == 0 || (w->left < n && w->header == SHORT_HEADER))
            more_block(w, n);
        size_t part = w->left < n ? w->left : n;
        bbf_buf_add(w->out, bytes, part);
        w->left -= part;
        bytes += part;
        n -= part;
    }
}

static inline void put(struct writer *w, uint64_t value, size_t bytes)
{
    char b[8];

    if (w->left >= bytes) {
        add_number(w->out, value, bytes);
        w->left -= bytes;
        return;
    }
    store_number(b, value, bytes);
    put_raw(w, b, bytes, false);
}

/* It opens the first block. */
static inline void put_type(struct writer *w, enum bbf_command_type type, bool reset)
{
    char *to = bbf_buf_reserve(w->out, 1 + SHORT_HEADER + 1);

    if (to == NULL)
        return;
    to[0] = 0x79;
    to[reset + SHORT_HEADER] = (char)type;
    w->block = w->out->len + reset;
    w->header = SHORT_HEADER;
    w->left = SHORT_BLOCK - 1;
    w->out->len += reset + SHORT_HEADER + 1u;
}

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* A bit 7 is left for a byte of 0 or above 0x7F, and above such a one. */
static inline uint64_t odd_bytes(uint64_t word)
{
    return ((word - ones) | word) & ones << 7;
}

/* Are its bytes the same in Java's form? */
static bool is_plain(const char *text, size_t len)
{
    uint64_t odd = 0, word;
    size_t i = 0;

    for (; i + sizeof word <= len; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        odd |= odd_bytes(word);
    }
    for (; i < len; i++)
        odd |= (uint64_t)(((unsigned char)text[i] - 1) | text[i]) & 0x80;
    return odd == 0;
}

/* Append in Java's form; there is room. */
static void add_java(struct bbf_buf *out, const char *text, size_t len)
{
    if (len > 0 && len < 8 && odd_bytes(bbf_utf8_copy_short(out->data + out->len, text, len)) == 0)
        out->len += len;
    else if (is_plain(text, len))
        bbf_buf_add(out, text, len);
    else
        bbf_utf8_to_java(out, text, len);
}

/* A text in Java's form: the text itself, unless that needs a copy. */
struct java_text {
    const char *text;
    size_t len;
    struct bbf_buf made; /* to be freed */
};

static struct java_text java_form(struct writer *w, const char *text, size_t len)
{
    struct java_text java = {text, len, BBF_BUF_INIT};

    if (is_plain(text, len))
        return java;
    bbf_utf8_to_java(&java.made, text, len);
    if (java.made.failed)
        fail(w, BBF_ENOMEM);
    java.text = java.made.data;
    java.len = java.made.len;
    return java;
}

static void put_utf(struct writer *w, const struct bbf_wire_str *text)
{
    size_t len = text->s != NULL ? text->len : 0;

    /* Behind its length, where a character of three bytes for each has room. */
    if (w->left >= 2 + 3 * len && bbf_buf_reserve(w->out, 2 + 3 * len) != NULL) {
        size_t at = w->out->len;
        w->out->len += 2;
        add_java(w->out, text->s, len);
        store_number(w->out->data + at, w->out->len - at - 2, 2);
        w->left -= w->out->len - at;
        return;
    }
    struct java_text java = java_form(w, text->s, len);

    if (java.len > UTF_MAX)
        fail(w, BBF_EINVAL);
    put(w, java.len, 2);
    put_raw(w, java.text, java.len, java.made.data == NULL);
    bbf_buf_free(&java.made);
}

static void put_bytes(struct writer *w, const void *bytes, size_t len)
{
    if (len > BBF_WIRE_STRING_MAX)
        fail(w, BBF_EINVAL);
    put(w, len, 4);
    put_raw(w, bytes, len, true);
}

/* ---- objects ---- */

/* Of our own: plain and short. */
static inline void text_of(struct writer *w, const char *text)
{
    size_t len = strlen(text);

    add_number(w->out, len, 2);
    bbf_buf_add(w->out, text, len);
}

/* A descriptor without annotation; its super descriptor follows. */
static inline void descriptor(struct writer *w, const char *name, uint64_t uid, uint8_t flags,
                              uint16_t fields)
{
    bbf_buf_char(w->out, 0x72);
    w->handles++;
    text_of(w, name);
    add_number(w->out, uid, 8);
    add_number(w->out, flags, 1);
    add_number(w->out, fields, 2);
}

static inline void field(struct writer *w, char type, const char *name, const char *class_name)
{
    bbf_buf_char(w->out, type);
    text_of(w, name);
    if (class_name != NULL) {
        bbf_buf_char(w->out, 0x74);
        w->handles++;
        text_of(w, class_name);
    }
}

static void end_descriptor(struct writer *w)
{
    bbf_buf_char(w->out, 0x78);
}

static void no_super(struct writer *w)
{
    bbf_buf_char(w->out, 0x70);
}

/* True: wrote a reference to the descriptor. False: the caller writes the descriptor now; its
 * handle is the next one. */
static bool is_known(struct writer *w, enum known class)
{
    if (w->known[class] == 0) {
        w->known[class] = FIRST_HANDLE + w->handles;
        return false;
    }
    bbf_buf_char(w->out, 0x71);
    add_number(w->out, w->known[class], 4);
    return true;
}

static void number_super(struct writer *w)
{
    if (is_known(w, NUMBER))
        return;
    descriptor(w, classes[NUMBER].name, classes[NUMBER].uid, 2, 0);
    end_descriptor(w);
    no_super(w);
}

static void boxed(struct writer *w, enum known class, uint64_t bits, size_t bytes)
{
    bbf_buf_char(w->out, 0x73);
    if (!is_known(w, class)) {
        descriptor(w, classes[class].name, classes[class].uid, 2, 1);
        field(w, classes[class].type, "value", NULL);
        end_descriptor(w);
        if (class == BOOLEAN)
            no_super(w);
        else
            number_super(w);
    }
    w->handles++;
    add_number(w->out, bits, bytes);
}

static void put_string_object(struct writer *w, const char *text, size_t len)
{
    struct java_text java = java_form(w, text, len);

    w->handles++;
    bbf_buf_char(w->out, java.len > UTF_MAX ? 0x7C : 0x74);
    add_number(w->out, java.len, java.len > UTF_MAX ? 8 : 2);
    if (is_referred(w, java.len, java.made.data == NULL))
        bbf_pieces_refer(w->pieces, java.text, java.len);
    else
        bbf_buf_add(w->out, java.text, java.len);
    bbf_buf_free(&java.made);
}

static void bigint_class(struct writer *w)
{
    if (is_known(w, BIG_INTEGER))
        return;
    descriptor(w, classes[BIG_INTEGER].name, classes[BIG_INTEGER].uid, 3, 6);
    field(w, 'I', "bitCount", NULL);
    field(w, 'I', "bitLength", NULL);
    field(w, 'I', "firstNonzeroByteNum", NULL);
    field(w, 'I', "lowestSetBit", NULL);
    field(w, 'I', "signum", NULL);
    field(w, '[', "magnitude", "[B");
    end_descriptor(w);
    number_super(w);
}

/* Sign and digits; the derived fields are written as java.math.BigInteger.writeObject() does. */
static void bigint(struct writer *w, const char *text, size_t len)
{
    bool negative = len > 0 && text[0] == '-';
    struct bbf_buf magnitude = BBF_BUF_INIT;

    text += negative;
    len -= negative;
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9')
            fail(w, BBF_EINVAL);
    if (len == 0)
        fail(w, BBF_EINVAL);
    if (w->err != BBF_OK)
        return;
    bbf_java_magnitude(&magnitude, text, len);
    if (magnitude.failed)
        fail(w, BBF_ENOMEM);
    bbf_buf_char(w->out, 0x73);
    bigint_class(w);
    w->handles++;
    add_number(w->out, UINT32_MAX, 4);
    add_number(w->out, UINT32_MAX, 4);
    add_number(w->out, (uint32_t)-2, 4);
    add_number(w->out, (uint32_t)-2, 4);
    add_number(w->out, magnitude.len == 0 ? 0 : negative ? UINT32_MAX : 1, 4);
    bbf_buf_char(w->out, 0x75);
    if (!is_known(w, BYTES)) {
        descriptor(w, classes[BYTES].name, classes[BYTES].uid, 2, 0);
        end_descriptor(w);
        no_super(w);
    }
    w->handles++;
    add_number(w->out, magnitude.len, 4);
    bbf_buf_add(w->out, magnitude.len > 0 ? magnitude.data : "", magnitude.len);
    bbf_buf_char(w->out, 0x78);
    bbf_buf_free(&magnitude);
}

static void bigdec(struct writer *w, const char *text, size_t len)
{
    struct bbf_buf unscaled = BBF_BUF_INIT;
    int32_t scale;

    if (!bbf_java_bigdec_parse(&unscaled, &scale, text, len)) {
        fail(w, BBF_EINVAL);
    } else {
        bbf_buf_char(w->out, 0x73);
        if (!is_known(w, BIG_DECIMAL)) {
            descriptor(w, classes[BIG_DECIMAL].name, classes[BIG_DECIMAL].uid, 3, 2);
            field(w, 'I', "scale", NULL);
            field(w, 'L', "intVal", "Ljava/math/BigInteger;");
            end_descriptor(w);
            number_super(w);
        }
        w->handles++;
        add_number(w->out, (uint32_t)scale, 4);
        bigint(w, bbf_buf_cstr(&unscaled), unscaled.len);
        bbf_buf_char(w->out, 0x78);
    }
    bbf_buf_free(&unscaled);
}

static void put_value(struct writer *w, const struct bbf_value *v)
{
    end_block(w);
    switch (v->kind) {
    case BBF_VALUE_NULL:
        bbf_buf_char(w->out, 0x70);
        break;
    case BBF_VALUE_STRING:
        put_string_object(w, v->text.s != NULL ? v->text.s : "", v->text.len);
        break;
    case BBF_VALUE_INT:
        boxed(w, INTEGER, (uint32_t)v->u.i, 4);
        break;
    case BBF_VALUE_LONG:
        boxed(w, LONG, (uint64_t)v->u.l, 8);
        break;
    case BBF_VALUE_FLOAT:
        boxed(w, FLOAT, v->u.float_bits, 4);
        break;
    case BBF_VALUE_DOUBLE:
        boxed(w, DOUBLE, v->u.double_bits, 8);
        break;
    case BBF_VALUE_BOOLEAN:
        boxed(w, BOOLEAN, v->u.b, 1);
        break;
    case BBF_VALUE_BIGINT:
        bigint(w, v->text.s != NULL ? v->text.s : "", v->text.len);
        break;
    case BBF_VALUE_BIGDEC:
        bigdec(w, v->text.s != NULL ? v->text.s : "", v->text.len);
        break;
    }
}

/* The smallest that the stock client prints: "class: text" without frames
 * (docs/btrace-wire.md 4.5). A null Throwable would end it, so there is always one. */
static void put_error(struct writer *w, const struct bbf_command *c)
{
    const struct bbf_wire_str *text = c->text[1].s != NULL ? &c->text[1] : &c->text[2];

    end_block(w);
    bbf_buf_char(w->out, 0x73);
    descriptor(w, "java.lang.RuntimeException", UINT64_C(0x9e5f06470a3483e5), 2, 0);
    end_descriptor(w);
    descriptor(w, "java.lang.Exception", UINT64_C(0xd0fd1f3e1a3b1cc4), 2, 0);
    end_descriptor(w);
    descriptor(w, "java.lang.Throwable", UINT64_C(0xd5c635273977b8cb), 3, 1);
    field(w, 'L', "detailMessage", "Ljava/lang/String;");
    end_descriptor(w);
    no_super(w);
    put_string_object(w, text->s != NULL ? text->s : "", text->s != NULL ? text->len : 0);
    bbf_buf_char(w->out, 0x78);
}

/* ---- commands ---- */

static void put_count(struct writer *w, size_t n)
{
    if (n > INT32_MAX)
        fail(w, BBF_EINVAL);
    put(w, n, 4);
}

static void put_entries(struct writer *w, const struct bbf_command *c, bool texts)
{
    put_count(w, c->n_entries);
    for (size_t i = 0; i < c->n_entries && w->err == BBF_OK; i++) {
        put_utf(w, &c->entries[i].key);
        if (texts)
            put_utf(w, &c->entries[i].value.text);
        else
            put_value(w, &c->entries[i].value);
    }
}

static void put_grid(struct writer *w, const struct bbf_command *c)
{
    put_utf(w, &c->text[0]);
    put_utf(w, &c->text[1]);
    put_count(w, c->n_rows);
    for (size_t i = 0; i < c->n_rows && w->err == BBF_OK; i++) {
        put_count(w, c->rows[i].n_cells);
        for (size_t k = 0; k < c->rows[i].n_cells && w->err == BBF_OK; k++)
            put_value(w, &c->rows[i].cells[k]);
    }
}

static void put_class(struct writer *w, const struct bbf_wire_str *name)
{
    end_block(w);
    if (name->s == NULL)
        bbf_buf_char(w->out, 0x70);
    else
        put_string_object(w, name->s, name->len);
}

static void put_message(struct writer *w, const struct bbf_command *c)
{
    put(w, c->flag, 1);
    put(w, (uint64_t)c->timestamp_ms, 8);
    put_bytes(w, c->text[0].s, c->text[0].s != NULL ? c->text[0].len : 0);
}

static void put_payload(struct writer *w, const struct bbf_command *c)
{
    switch (c->type) {
    case BBF_CMD_ERROR:
        put_error(w, c);
        break;
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
        put_utf(w, &c->text[0]);
        break;
    case BBF_CMD_EXIT:
    case BBF_CMD_RETRANSFORMATION_START:
        put(w, (uint32_t)c->number[0], 4);
        break;
    case BBF_CMD_STATUS:
        put(w, c->flag ? (uint32_t)c->number[0] : 0u - (uint32_t)c->number[0], 4);
        break;
    case BBF_CMD_INSTRUMENT:
        put_bytes(w, c->code, c->code_len);
        put_entries(w, c, true);
        break;
    case BBF_CMD_MESSAGE:
        put_message(w, c);
        break;
    case BBF_CMD_NUMBER_MAP:
    case BBF_CMD_STRING_MAP:
        put_utf(w, &c->text[0]);
        put_entries(w, c, c->type == BBF_CMD_STRING_MAP);
        break;
    case BBF_CMD_NUMBER:
        put_utf(w, &c->text[0]);
        put_value(w, &c->value);
        break;
    case BBF_CMD_GRID_DATA:
        put_grid(w, c);
        break;
    case BBF_CMD_RETRANSFORM_CLASS:
        put_class(w, &c->text[0]);
        break;
    case BBF_CMD_SET_PARAMS:
        put_entries(w, c, false);
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        put_count(w, c->n_list);
        for (size_t i = 0; i < c->n_list; i++)
            put_utf(w, &c->list[i]);
        break;
    case BBF_CMD_TYPES:
        fail(w, BBF_EINVAL);
    }
}

static int write_command(struct writer *w, const struct bbf_command *command, bool reset)
{
    put_type(w, command->type, reset);
    put_payload(w, command);
    end_block(w);
    if (w->out->failed)
        fail(w, BBF_ENOMEM);
    return w->err;
}

int bbf_v1_encode(struct bbf_buf *out, const struct bbf_command *command, bool reset)
{
    struct writer w = {.out = out};
    size_t before = out->len;
    int err = write_command(&w, command, reset);

    if (err != BBF_OK)
        out->len = before;
    return err;
}

int bbf_v1_encode_pieces(struct bbf_pieces *out, const struct bbf_command *command, bool reset)
{
    struct writer w = {.out = &out->copied, .pieces = out};

    bbf_pieces_clear(out);
    int err = write_command(&w, command, reset);
    if (err == BBF_OK && !bbf_pieces_end(out))
        err = BBF_ENOMEM;
    if (err != BBF_OK)
        bbf_pieces_clear(out);
    return err;
}
