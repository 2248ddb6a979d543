/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/value.h"

#include <string.h>

static void read_of_type(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                         const struct bbf_jfr_type *type, bool is_pooled, int depth,
                         struct bbf_jfr_value *to);

static int64_t widen(enum bbf_jfr_kind kind, bool is_unsigned, uint64_t bits)
{
    switch (kind) {
    case BBF_JFR_KIND_BYTE:
        return is_unsigned ? (int64_t)(uint8_t)bits : (int64_t)(int8_t)bits;
    case BBF_JFR_KIND_SHORT:
        return is_unsigned ? (int64_t)(uint16_t)bits : (int64_t)(int16_t)bits;
    case BBF_JFR_KIND_INT:
        return is_unsigned ? (int64_t)(uint32_t)bits : (int64_t)(int32_t)bits;
    case BBF_JFR_KIND_CHAR:
        return (int64_t)(uint16_t)bits;
    default:
        return (int64_t)bits;
    }
}

/* ---- constants ---- */

static bool is_unwrapped(const struct bbf_jfr_type *type)
{
    return type->kind != BBF_JFR_KIND_STRUCT || (type->is_simple && type->n_fields == 1);
}

/* A text is remembered with its constant: it needs no second look. */
static void remember_text(const struct bbf_jfr_chunk *chunk, const struct bbf_jfr_value *value,
                          const struct bbf_jfr_value **slot)
{
    struct bbf_jfr_value *copy =
        slot != NULL ? bbf_jfr_take_decoded(&chunk->constants, 1, sizeof(*copy)) : NULL;

    if (copy == NULL)
        return;
    *copy = *value;
    *slot = copy;
}

/* The value of `key` in the chunk's pool; the key of a constant that only names another is lost. */
static void read_constant(const struct bbf_jfr_chunk *chunk, const struct bbf_jfr_type *type,
                          uint64_t key, int depth, struct bbf_jfr_value *to)
{
    const struct bbf_jfr_value **slot;
    uint64_t at =
        depth < BBF_JFR_DEPTH_MAX ? bbf_jfr_constant_at(&chunk->constants, type, key, &slot) : 0;

    to->what = BBF_JFR_IS_NULL;
    to->key = key;
    if (at == 0)
        return;
    struct bbf_jfr_cursor c = bbf_jfr_cursor(chunk->bytes + at, chunk->len - at);
    if (!is_unwrapped(type)) { /* it is whole: bbf_jfr_constants_add() has skipped it */
        to->what = BBF_JFR_IS_STRUCT;
        to->at = c;
        to->decoded = slot;
        return;
    }
    if (slot != NULL && *slot != NULL) {
        const struct bbf_jfr_field *field = to->field;
        *to = **slot;
        to->field = field;
        return;
    }
    read_of_type(chunk, &c, type, false, depth + 1, to);
    if (c.bad)
        to->what = BBF_JFR_IS_NULL;
    else if (to->what == BBF_JFR_IS_TEXT)
        remember_text(chunk, to, slot);
}

static void read_text(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c, int depth,
                      struct bbf_jfr_value *to)
{
    to->text = bbf_jfr_get_text(c);
    to->what = BBF_JFR_IS_TEXT;
    if (to->text.encoding == BBF_JFR_STRING_NULL)
        to->what = BBF_JFR_IS_NULL;
    if (to->text.encoding != BBF_JFR_STRING_POOLED)
        return;
    uint64_t outer = to->key; /* of what the text belongs to */
    to->what = BBF_JFR_IS_NULL;
    if (chunk->string_type != NULL)
        read_constant(chunk, chunk->string_type, to->text.key, depth + 1, to);
    to->key = outer;
}

/* ---- values ---- */

/* The cursor stays where a struct begins. */
static void read_struct(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                        const struct bbf_jfr_type *type, int depth, struct bbf_jfr_value *to)
{
    if (is_unwrapped(type)) {
        const struct bbf_jfr_field *field = &type->fields[0];
        read_of_type(chunk, c, field->type, field->is_pooled, depth + 1, to);
        return;
    }
    to->what = BBF_JFR_IS_STRUCT;
    to->is_inline = true;
    to->at = *c;
}

static void read_of_type(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                         const struct bbf_jfr_type *type, bool is_pooled, int depth,
                         struct bbf_jfr_value *to)
{
    to->type = type;
    if (is_pooled) {
        read_constant(chunk, type, bbf_jfr_get_long(c), depth, to);
        return;
    }
    switch (type->kind) {
    case BBF_JFR_KIND_BOOLEAN:
        to->what = BBF_JFR_IS_BOOLEAN;
        to->integer = bbf_jfr_get_byte(c) != 0;
        break;
    case BBF_JFR_KIND_BYTE:
        to->what = BBF_JFR_IS_INTEGER;
        to->integer = widen(type->kind, to->field->is_unsigned, bbf_jfr_get_byte(c));
        break;
    case BBF_JFR_KIND_CHAR:
    case BBF_JFR_KIND_SHORT:
    case BBF_JFR_KIND_INT:
    case BBF_JFR_KIND_LONG:
        to->what = type->kind == BBF_JFR_KIND_CHAR ? BBF_JFR_IS_CHARACTER : BBF_JFR_IS_INTEGER;
        to->integer = widen(type->kind, to->field->is_unsigned, bbf_jfr_get_long(c));
        break;
    case BBF_JFR_KIND_FLOAT:
        to->what = BBF_JFR_IS_REAL;
        to->real = (double)bbf_jfr_get_float(c);
        break;
    case BBF_JFR_KIND_DOUBLE:
        to->what = BBF_JFR_IS_REAL;
        to->real = bbf_jfr_get_double(c);
        break;
    case BBF_JFR_KIND_STRING:
        read_text(chunk, c, depth, to);
        break;
    case BBF_JFR_KIND_STRUCT:
        read_struct(chunk, c, type, depth, to);
        break;
    }
}

/* An array's value; the cursor stays in front of it. */
static void read_list(struct bbf_jfr_cursor *c, const struct bbf_jfr_field *field,
                      struct bbf_jfr_value *to)
{
    struct bbf_jfr_cursor start = *c;

    to->what = BBF_JFR_IS_LIST;
    to->type = field->type;
    to->n = bbf_jfr_get_count(&start);
    to->at = start;
    if (start.bad)
        bbf_jfr_spoil(c);
}

bool bbf_jfr_read_value(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                        const struct bbf_jfr_field *field, struct bbf_jfr_value *to)
{
    *to = (struct bbf_jfr_value){.field = field};
    if (field->is_array) {
        read_list(c, field, to);
        return bbf_jfr_skip_field(c, field);
    }
    read_of_type(chunk, c, field->type, field->is_pooled, 0, to);
    return !c->bad && (!to->is_inline || bbf_jfr_skip(c, to->type));
}

bool bbf_jfr_read_element(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_value *list,
                          struct bbf_jfr_value *to)
{
    *to = (struct bbf_jfr_value){.field = list->field};
    if (list->n == 0)
        return false;
    list->n--;
    read_of_type(chunk, &list->at, list->field->type, list->field->is_pooled, 0, to);
    return !list->at.bad && (!to->is_inline || bbf_jfr_skip(&list->at, to->type));
}

/* ---- parts ---- */

/* The fields of a constant, remembered if all can be read and there is room. */
static const struct bbf_jfr_value *decode(const struct bbf_jfr_chunk *chunk,
                                          const struct bbf_jfr_value *of)
{
    size_t n = of->type->n_fields;
    struct bbf_jfr_value *values =
        n > 0 ? bbf_jfr_take_decoded(&chunk->constants, n, sizeof(*values)) : NULL;
    struct bbf_jfr_cursor c = of->at;

    for (size_t i = 0; values != NULL && i < n; i++) {
        if (!bbf_jfr_read_value(chunk, &c, &of->type->fields[i], &values[i]))
            return NULL;
    }
    if (values != NULL)
        *of->decoded = values;
    return values;
}

static const struct bbf_jfr_value *decoded_of(const struct bbf_jfr_chunk *chunk,
                                              const struct bbf_jfr_value *of)
{
    if (of->decoded == NULL)
        return NULL;
    return *of->decoded != NULL ? *of->decoded : decode(chunk, of);
}

void bbf_jfr_parts_begin(struct bbf_jfr_parts *p, const struct bbf_jfr_chunk *chunk,
                         const struct bbf_jfr_value *of)
{
    p->chunk = chunk;
    p->next = NULL;
    p->left = 0;
    p->c.bad = false;
    if (of->what == BBF_JFR_IS_STRUCT) {
        p->left = of->type->n_fields;
        p->next = decoded_of(chunk, of);
        p->field = of->type->fields;
    } else if (of->what == BBF_JFR_IS_LIST) {
        p->left = of->n;
        p->field = of->field;
    }
    if (p->left == 0 || p->next != NULL)
        return;
    p->c = of->at;
    p->is_list = of->what == BBF_JFR_IS_LIST;
    p->is_behind = false;
}

/* Moves behind the value that was given last, which its reader may not have walked into. */
static void catch_up(struct bbf_jfr_parts *p)
{
    if (p->value.what == BBF_JFR_IS_LIST)
        (void)bbf_jfr_skip_field(&p->c, p->value.field);
    else
        (void)bbf_jfr_skip(&p->c, p->value.type);
    p->is_behind = false;
}

const struct bbf_jfr_value *bbf_jfr_parts_read(struct bbf_jfr_parts *p)
{
    struct bbf_jfr_value *to = &p->value;

    if (p->is_behind)
        catch_up(p);
    *to = (struct bbf_jfr_value){.field = p->field};
    if (p->is_list) {
        read_of_type(p->chunk, &p->c, p->field->type, p->field->is_pooled, 0, to);
    } else {
        p->field++;
        if (to->field->is_array)
            read_list(&p->c, to->field, to);
        else
            read_of_type(p->chunk, &p->c, to->field->type, to->field->is_pooled, 0, to);
    }
    if (p->c.bad) {
        to->what = BBF_JFR_IS_NULL;
        if (p->is_list)
            p->left = 0;
        return p->is_list ? NULL : to;
    }
    p->is_behind = to->what == BBF_JFR_IS_LIST || to->is_inline;
    return to;
}

struct bbf_jfr_value bbf_jfr_member(const struct bbf_jfr_chunk *chunk,
                                    const struct bbf_jfr_value *of, const char *name)
{
    struct bbf_jfr_value value = {.what = BBF_JFR_IS_NULL};
    int index = of->what == BBF_JFR_IS_STRUCT ? bbf_jfr_field_index(of->type, name) : -1;
    const struct bbf_jfr_value *decoded = index >= 0 ? decoded_of(chunk, of) : NULL;

    if (decoded != NULL)
        return decoded[index];
    if (index < 0)
        return value;
    struct bbf_jfr_cursor c = of->at;
    for (int i = 0; i <= index; i++) {
        const struct bbf_jfr_field *field = &of->type->fields[i];
        bool ok = i < index ? bbf_jfr_skip_field(&c, field)
                            : bbf_jfr_read_value(chunk, &c, field, &value);
        if (!ok)
            return (struct bbf_jfr_value){.what = BBF_JFR_IS_NULL};
    }
    return value;
}

struct bbf_jfr_value bbf_jfr_event_value(const struct bbf_jfr_event *event)
{
    return (struct bbf_jfr_value){
        .what = BBF_JFR_IS_STRUCT, .type = event->type, .at = event->fields};
}
