/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/btrace/v1/objectstream.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/btrace/v1/javatext.h"

/* TC_ constants of java.io.ObjectStreamConstants. */
enum {
    TC_NULL = 0x70,
    TC_REFERENCE = 0x71,
    TC_CLASSDESC = 0x72,
    TC_OBJECT = 0x73,
    TC_STRING = 0x74,
    TC_ARRAY = 0x75,
    TC_BLOCKDATA = 0x77,
    TC_ENDBLOCKDATA = 0x78,
    TC_BLOCKDATALONG = 0x7A,
    TC_LONGSTRING = 0x7C,
    SC_WRITE_METHOD = 1,
    SC_SERIALIZABLE = 2
};
#define BASE_HANDLE UINT32_C(0x7E0000)

/* Chains of causes nest; no stock peer nests deeper than this. */
enum { MAX_DEPTH = 200, MAX_FIELDS = 64, MAX_SUPERS = 16 };

static uint32_t element(struct bbf_ostream *s, unsigned depth);

void bbf_ostream_fail(struct bbf_ostream *s, int err, const char *why)
{
    if (s->err == BBF_OK) {
        s->err = err;
        s->why = why;
    }
}

int bbf_ostream_init(struct bbf_ostream *s, size_t max_bytes, size_t max_nodes)
{
    *s =
        (struct bbf_ostream){.max_bytes = max_bytes, .max_nodes = max_nodes, .texts = BBF_BUF_INIT};
    s->nodes = calloc(64, sizeof *s->nodes);
    s->cap_nodes = 64;
    s->n_nodes = s->mark.nodes = 1;
    /* Never NULL: an empty text points into it. */
    return s->nodes != NULL && bbf_buf_reserve(&s->texts, 64) != NULL ? BBF_OK : BBF_ENOMEM;
}

void bbf_ostream_free(struct bbf_ostream *s)
{
    free(s->nodes);
    free(s->handles);
    bbf_buf_free(&s->texts);
    s->nodes = NULL;
    s->handles = NULL;
}

size_t bbf_ostream_size(const struct bbf_ostream *s)
{
    return s->cap_nodes * sizeof *s->nodes + s->cap_handles * sizeof *s->handles + s->texts.cap;
}

/* If there is no memory for a smaller block, the larger one stays. */
static void *shrunk(void *block, size_t *cap, size_t n, size_t size)
{
    size_t least = n > 64 ? n : 64;
    void *smaller = *cap > least ? reallocarray(block, least, size) : NULL;

    if (smaller == NULL)
        return block;
    *cap = least;
    return smaller;
}

void bbf_ostream_trim(struct bbf_ostream *s)
{
    s->nodes = shrunk(s->nodes, &s->cap_nodes, s->n_nodes, sizeof *s->nodes);
    s->handles = shrunk(s->handles, &s->cap_handles, s->n_handles, sizeof *s->handles);
    s->texts.data = shrunk(s->texts.data, &s->texts.cap, s->texts.len, 1);
}

void bbf_ostream_begin(struct bbf_ostream *s, const uint8_t *in, size_t len)
{
    s->in = in;
    s->len = len;
    s->pos = 0;
    s->err = BBF_OK;
    s->why = NULL;
    s->block = s->mark.block;
    s->n_nodes = s->mark.nodes;
    s->n_handles = s->mark.handles;
    s->texts.len = s->mark.texts;
}

void bbf_ostream_commit(struct bbf_ostream *s)
{
    s->mark.block = s->block;
    s->mark.nodes = s->n_nodes;
    s->mark.handles = s->n_handles;
    s->mark.texts = s->texts.len;
}

/* ---- bytes ---- */

/* Are n more bytes available? If not, sets the error. */
static bool there(struct bbf_ostream *s, size_t n)
{
    if (n <= s->len - s->pos)
        return true;
    s->want = s->pos + n;
    if (n > s->max_bytes || s->pos > s->max_bytes - n)
        bbf_ostream_fail(s, BBF_ELIMIT, "command too large");
    else
        bbf_ostream_fail(s, BBF_EMORE, "stream incomplete");
    return false;
}

/* The next n bytes of the stream itself, or NULL. */
static inline const uint8_t *raw(struct bbf_ostream *s, size_t n)
{
    if (s->err != BBF_OK)
        return NULL;
    if (!there(s, n))
        return NULL;
    const uint8_t *p = s->in + s->pos;
    s->pos += n;
    return p;
}

static inline uint64_t raw_number(struct bbf_ostream *s, size_t n)
{
    const uint8_t *p = raw(s, n);
    uint64_t value = 0;

    for (size_t i = 0; p != NULL && i < n; i++)
        value = value << 8 | p[i];
    return value;
}

/* Continue to block data that is not empty. */
static void next_block(struct bbf_ostream *s)
{
    while (s->err == BBF_OK && s->block == 0) {
        uint8_t tag = (uint8_t)raw_number(s, 1);
        if (s->err != BBF_OK)
            return;
        if (tag == TC_BLOCKDATA)
            s->block = raw_number(s, 1);
        else if (tag == TC_BLOCKDATALONG)
            s->block = raw_number(s, 4);
        else
            bbf_ostream_fail(s, BBF_EFORMAT, "an object where a number or text belongs");
        if (s->block > INT32_MAX)
            bbf_ostream_fail(s, BBF_EFORMAT, "block of negative length");
    }
}

uint64_t bbf_ostream_pieces(struct bbf_ostream *s, size_t n)
{
    uint64_t value = 0;

    while (n-- > 0) {
        next_block(s);
        const uint8_t *p = raw(s, 1);
        if (p == NULL)
            return 0;
        s->block--;
        value = value << 8 | *p;
    }
    return value;
}

void bbf_ostream_bytes(struct bbf_ostream *s, struct bbf_buf *out, size_t n)
{
    if (s->err != BBF_OK || !there(s, n)) /* blocks only add to it */
        return;
    while (n > 0 && s->err == BBF_OK) {
        next_block(s);
        size_t part = s->block < n ? s->block : n;
        const uint8_t *p = raw(s, part);
        if (p == NULL)
            return;
        bbf_buf_add(out, p, part);
        s->block -= part;
        n -= part;
    }
    if (out->failed)
        bbf_ostream_fail(s, BBF_ENOMEM, "out of memory");
}

static void add_utf8(struct bbf_ostream *s, struct bbf_buf *out, const uint8_t *text, size_t len)
{
    if (!bbf_java_to_utf8(out, text, len))
        bbf_ostream_fail(s, BBF_EFORMAT, "malformed modified UTF-8");
    else if (out->failed)
        bbf_ostream_fail(s, BBF_ENOMEM, "out of memory");
}

void bbf_ostream_utf(struct bbf_ostream *s, struct bbf_buf *out)
{
    size_t len = (size_t)bbf_ostream_number(s, 2);

    if (s->err == BBF_OK && len > 0 && s->block >= len && s->len - s->pos >= len) {
        add_utf8(s, out, s->in + s->pos, len);
        s->pos += len;
        s->block -= len;
        return;
    }
    struct bbf_buf bytes = BBF_BUF_INIT;
    bbf_ostream_bytes(s, &bytes, len);
    if (s->err == BBF_OK && len > 0)
        add_utf8(s, out, (const uint8_t *)bytes.data, len);
    bbf_buf_free(&bytes);
}

/* ---- nodes and handles ---- */

static uint32_t new_node(struct bbf_ostream *s, enum bbf_onode_kind kind)
{
    if (s->err != BBF_OK)
        return 0;
    if (s->n_nodes >= s->max_nodes) {
        bbf_ostream_fail(s, BBF_ELIMIT, "too many objects without a reset");
        return 0;
    }
    if (s->n_nodes == s->cap_nodes) {
        struct bbf_onode *grown = reallocarray(s->nodes, s->cap_nodes * 2, sizeof *grown);
        if (grown == NULL) {
            bbf_ostream_fail(s, BBF_ENOMEM, "out of memory");
            return 0;
        }
        s->nodes = grown;
        s->cap_nodes *= 2;
    }
    s->nodes[s->n_nodes] = (struct bbf_onode){.kind = (uint8_t)kind};
    return (uint32_t)s->n_nodes++;
}

static void give_handle(struct bbf_ostream *s, uint32_t node)
{
    if (s->err != BBF_OK)
        return;
    if (s->n_handles == s->cap_handles) {
        size_t cap = s->cap_handles == 0 ? 64 : s->cap_handles * 2;
        uint32_t *grown = reallocarray(s->handles, cap, sizeof *grown);
        if (grown == NULL) {
            bbf_ostream_fail(s, BBF_ENOMEM, "out of memory");
            return;
        }
        s->handles = grown;
        s->cap_handles = cap;
    }
    s->handles[s->n_handles++] = node;
}

/* A child that already has a parent is appended as a reference. */
static void append(struct bbf_ostream *s, uint32_t parent, uint32_t child, bool shared)
{
    if (shared || child == 0) {
        uint32_t reference = new_node(s, BBF_ONODE_REFERENCE);
        if (reference == 0)
            return;
        s->nodes[reference].other = child;
        child = reference;
    }
    if (s->err != BBF_OK)
        return;
    struct bbf_onode *p = &s->nodes[parent];
    if (p->child == 0)
        p->child = child;
    else
        s->nodes[p->last].next = child;
    p->last = child;
}

/* A stream without resets keeps the texts of all its commands. */
static bool room_for_text(struct bbf_ostream *s, size_t len)
{
    if (len > s->max_bytes || s->texts.len > s->max_bytes - len)
        bbf_ostream_fail(s, BBF_ELIMIT, "too much text without a reset");
    return s->err == BBF_OK;
}

static void set_text(struct bbf_ostream *s, uint32_t node, const uint8_t *text, size_t len)
{
    size_t at = s->texts.len;

    if (s->err != BBF_OK || text == NULL)
        return;
    if (!room_for_text(s, len))
        return;
    add_utf8(s, &s->texts, text, len);
    s->nodes[node].text = at;
    s->nodes[node].len = s->texts.len - at;
}

/* ---- elements ---- */

static void raw_utf(struct bbf_ostream *s, uint32_t node, size_t length_bytes)
{
    uint64_t len = raw_number(s, length_bytes);

    if (len > INT32_MAX)
        bbf_ostream_fail(s, BBF_ELIMIT, "string too long");
    const uint8_t *text = raw(s, (size_t)len);
    set_text(s, node, text, (size_t)len);
}

static uint32_t reference(struct bbf_ostream *s)
{
    uint64_t handle = raw_number(s, 4) - BASE_HANDLE;

    if (s->err != BBF_OK)
        return 0;
    if (handle >= s->n_handles) {
        bbf_ostream_fail(s, BBF_EFORMAT, "reference to no object");
        return 0;
    }
    return s->handles[handle];
}

/* Skip the elements up to TC_ENDBLOCKDATA; the caller does not need them. */
static void skip_annotation(struct bbf_ostream *s, unsigned depth)
{
    while (s->err == BBF_OK) {
        const uint8_t *p = raw(s, 1);
        if (p == NULL || *p == TC_ENDBLOCKDATA)
            return;
        if (*p == TC_BLOCKDATA) {
            (void)raw(s, (size_t)raw_number(s, 1));
        } else if (*p == TC_BLOCKDATALONG) {
            (void)raw(s, (size_t)raw_number(s, 4));
        } else {
            s->pos--;
            (void)element(s, depth + 1);
        }
    }
}

static bool text_is(const struct bbf_ostream *s, const struct bbf_onode *n, const char *text)
{
    return n->len == strlen(text) && memcmp(s->texts.data + n->text, text, n->len) == 0;
}

static void class_fields(struct bbf_ostream *s, uint32_t node, unsigned depth)
{
    uint32_t count = (uint32_t)raw_number(s, 2);

    if (count > MAX_FIELDS)
        bbf_ostream_fail(s, BBF_ELIMIT, "too many fields");
    for (uint32_t i = 0; i < count && s->err == BBF_OK; i++) {
        uint32_t field = new_node(s, BBF_ONODE_FIELD);
        char type = (char)raw_number(s, 1);
        raw_utf(s, field, 2);
        if (s->err != BBF_OK)
            return;
        if (strchr("BCDFIJSZL[", type) == NULL || type == '\0')
            bbf_ostream_fail(s, BBF_EFORMAT, "unknown type of field");
        s->nodes[field].type = type;
        if (type == 'L' || type == '[')
            (void)element(s, depth + 1); /* its type as a string, with a handle */
        append(s, node, field, false);
    }
}

static size_t width_of(char type)
{
    return type == 'B' || type == 'Z'   ? 1
           : type == 'C' || type == 'S' ? 2
           : type == 'I' || type == 'F' ? 4
                                        : 8;
}

/* One primitive field `value`; a super class, if any, has none, and there is no more above. */
static char boxed_type(const struct bbf_ostream *s, const struct bbf_onode *class)
{
    const struct bbf_onode *field = &s->nodes[class->child], *super = &s->nodes[class->other];

    if (class->child == 0 || field->next != 0 || !text_is(s, field, "value") ||
        field->type == 'L' || field->type == '[' || !class->plain || class->annotated)
        return 0;
    if (class->other != 0 &&
        (super->child != 0 || super->other != 0 || !super->plain || super->annotated))
        return 0;
    return field->type;
}

static uint32_t class_descriptor(struct bbf_ostream *s, unsigned depth)
{
    uint32_t node = new_node(s, BBF_ONODE_CLASS);

    raw_utf(s, node, 2);
    (void)raw_number(s, 8); /* serialVersionUID */
    give_handle(s, node);
    uint8_t flags = (uint8_t)raw_number(s, 1);
    class_fields(s, node, depth);
    skip_annotation(s, depth);
    uint32_t super = element(s, depth + 1);
    if (s->err != BBF_OK)
        return 0;
    if (super != 0 && s->nodes[super].kind != BBF_ONODE_CLASS)
        bbf_ostream_fail(s, BBF_EFORMAT, "super class is no class");
    s->nodes[node].other = super;
    s->nodes[node].annotated = (flags & SC_WRITE_METHOD) != 0;
    s->nodes[node].plain = (flags & SC_SERIALIZABLE) != 0;
    s->nodes[node].boxed = boxed_type(s, &s->nodes[node]);
    return node;
}

static void value_of(struct bbf_ostream *s, uint32_t parent, char type, unsigned depth)
{
    if (type == 'L' || type == '[') {
        const uint8_t *p = s->pos < s->len ? s->in + s->pos : NULL;
        bool shared = p != NULL && (*p == TC_REFERENCE);
        append(s, parent, element(s, depth + 1), shared);
        return;
    }
    uint32_t value = new_node(s, BBF_ONODE_PRIMITIVE);
    uint64_t bits = raw_number(s, width_of(type));
    if (s->err != BBF_OK)
        return;
    s->nodes[value].type = type;
    s->nodes[value].bits = bits;
    append(s, parent, value, false);
}

/* From the topmost class down. */
static uint32_t object(struct bbf_ostream *s, unsigned depth)
{
    uint32_t chain[MAX_SUPERS], n = 0, descriptor = element(s, depth + 1);
    uint32_t node = new_node(s, BBF_ONODE_OBJECT);

    if (s->err == BBF_OK && s->nodes[descriptor].kind != BBF_ONODE_CLASS)
        bbf_ostream_fail(s, BBF_EFORMAT, "an object without a class");
    give_handle(s, node);
    if (s->err != BBF_OK)
        return 0;
    s->nodes[node].other = descriptor;
    for (uint32_t c = descriptor; c != 0; c = s->nodes[c].other) {
        if (n == MAX_SUPERS) {
            bbf_ostream_fail(s, BBF_ELIMIT, "too many super classes");
            return 0;
        }
        if (!s->nodes[c].plain) {
            bbf_ostream_fail(s, BBF_EFORMAT, "an object of a class that is not serializable");
            return 0;
        }
        chain[n++] = c;
    }
    while (n-- > 0 && s->err == BBF_OK) {
        for (uint32_t f = s->nodes[chain[n]].child; f != 0 && s->err == BBF_OK;
             f = s->nodes[f].next)
            value_of(s, node, s->nodes[f].type, depth);
        if (s->err == BBF_OK && s->nodes[chain[n]].annotated)
            skip_annotation(s, depth);
    }
    return node;
}

static uint32_t array(struct bbf_ostream *s, unsigned depth)
{
    uint32_t descriptor = element(s, depth + 1), node = new_node(s, BBF_ONODE_ARRAY);

    if (s->err == BBF_OK &&
        (s->nodes[descriptor].kind != BBF_ONODE_CLASS || s->nodes[descriptor].len < 2))
        bbf_ostream_fail(s, BBF_EFORMAT, "an array without a class");
    give_handle(s, node);
    uint32_t count = (uint32_t)raw_number(s, 4);
    if (s->err != BBF_OK)
        return 0;
    char type = s->texts.data[s->nodes[descriptor].text + 1];
    s->nodes[node].other = descriptor;
    s->nodes[node].type = type;
    if (strchr("BCDFIJSZL[", type) == NULL || count > INT32_MAX)
        bbf_ostream_fail(s, BBF_EFORMAT, "malformed array");
    if (type == 'B') {
        const uint8_t *p = raw(s, count);
        if (p == NULL || !room_for_text(s, count))
            return 0;
        s->nodes[node].text = s->texts.len;
        s->nodes[node].len = count;
        bbf_buf_add(&s->texts, p, count);
        return node;
    }
    for (uint32_t i = 0; i < count && s->err == BBF_OK; i++)
        value_of(s, node, type, depth);
    return node;
}

static uint32_t element(struct bbf_ostream *s, unsigned depth)
{
    uint32_t node;

    if (depth > MAX_DEPTH)
        bbf_ostream_fail(s, BBF_ELIMIT, "objects nested too deeply");
    uint8_t tag = (uint8_t)raw_number(s, 1);
    if (s->err != BBF_OK)
        return 0;
    switch (tag) {
    case TC_NULL:
        return 0;
    case TC_REFERENCE:
        return reference(s);
    case TC_CLASSDESC:
        return class_descriptor(s, depth);
    case TC_OBJECT:
        return object(s, depth);
    case TC_ARRAY:
        return array(s, depth);
    case TC_STRING:
    case TC_LONGSTRING:
        node = new_node(s, BBF_ONODE_STRING);
        give_handle(s, node);
        raw_utf(s, node, tag == TC_STRING ? 2 : 8);
        return node;
    default:
        bbf_ostream_fail(s, BBF_EFORMAT, "unknown element");
        return 0;
    }
}

uint32_t bbf_ostream_object(struct bbf_ostream *s)
{
    /* Empty blocks may precede it; a block with bytes left must not. */
    while (s->err == BBF_OK && s->block == 0 && s->pos < s->len && s->in[s->pos] == TC_BLOCKDATA &&
           there(s, 2) && s->in[s->pos + 1] == 0)
        s->pos += 2;
    if (s->block > 0)
        bbf_ostream_fail(s, BBF_EFORMAT, "a number or text where an object belongs");
    return element(s, 0);
}

uint32_t bbf_ostream_box(struct bbf_ostream *s)
{
    const uint8_t *p = s->in + s->pos;
    size_t head = 6;

    if (s->err != BBF_OK || s->block > 0 || s->len - s->pos < head || p[0] != TC_OBJECT ||
        p[1] != TC_REFERENCE)
        return 0;
    uint32_t handle =
        ((uint32_t)p[2] << 24 | (uint32_t)p[3] << 16 | (uint32_t)p[4] << 8 | p[5]) - BASE_HANDLE;
    uint32_t class = handle < s->n_handles ? s->handles[handle] : 0;
    char type = s->nodes[class].boxed;
    size_t width = width_of(type);
    if (type == 0 || s->len - s->pos - head < width)
        return 0;
    uint32_t object = new_node(s, BBF_ONODE_OBJECT), value = new_node(s, BBF_ONODE_PRIMITIVE);
    give_handle(s, object);
    if (s->err != BBF_OK)
        return 0;
    s->pos += head;
    s->nodes[object].other = class;
    s->nodes[object].child = s->nodes[object].last = value;
    s->nodes[value].type = type;
    s->nodes[value].bits = raw_number(s, width);
    return object;
}

void bbf_ostream_resets(struct bbf_ostream *s)
{
    while (s->err == BBF_OK && s->block == 0 && s->pos < s->len) {
        if (s->in[s->pos] == BBF_OSTREAM_RESET) {
            s->pos++;
            bbf_ostream_forget(s); /* permanently, even if the command after it is not complete */
        } else if (s->in[s->pos] == TC_BLOCKDATA && s->pos + 1 < s->len && s->in[s->pos + 1] == 0) {
            s->pos += 2;
        } else {
            return;
        }
    }
}

/* ---- queries ---- */

bool bbf_onode_has_class(const struct bbf_ostream *s, const struct bbf_onode *object,
                         const char *name)
{
    if (object->kind != BBF_ONODE_OBJECT)
        return false;
    for (uint32_t c = object->other; c != 0; c = s->nodes[c].other)
        if (text_is(s, &s->nodes[c], name))
            return true;
    return false;
}

/* Walks the classes as object() did, so that the n-th value belongs to the n-th field. */
const struct bbf_onode *bbf_onode_field(const struct bbf_ostream *s, const struct bbf_onode *object,
                                        const char *name)
{
    uint32_t chain[MAX_SUPERS], n = 0, value = object->child;

    if (object->kind != BBF_ONODE_OBJECT)
        return &s->nodes[0];
    for (uint32_t c = object->other; c != 0 && n < MAX_SUPERS; c = s->nodes[c].other)
        chain[n++] = c;
    while (n-- > 0)
        for (uint32_t f = s->nodes[chain[n]].child; f != 0 && value != 0; f = s->nodes[f].next) {
            if (text_is(s, &s->nodes[f], name))
                return bbf_onode_at(s, value);
            value = s->nodes[value].next;
        }
    return &s->nodes[0];
}
