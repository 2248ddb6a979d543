/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/value.h"

#include <string.h>

static bool read_of_type(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
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

static void read_text(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                      struct bbf_jfr_value *to)
{
    to->text = bbf_jfr_resolve_text(chunk, bbf_jfr_get_text(c));
    to->what = to->text.encoding == BBF_JFR_STRING_NULL ? BBF_JFR_IS_NULL : BBF_JFR_IS_TEXT;
}

static void read_struct(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                        const struct bbf_jfr_type *type, int depth, struct bbf_jfr_value *to)
{
    if (type->is_simple && type->n_fields == 1) {
        const struct bbf_jfr_field *field = &type->fields[0];
        (void)read_of_type(chunk, c, field->type, field->is_pooled, depth + 1, to);
        return;
    }
    to->what = BBF_JFR_IS_STRUCT;
    to->at = *c;
    (void)bbf_jfr_skip(c, type);
}

static bool read_of_type(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                         const struct bbf_jfr_type *type, bool is_pooled, int depth,
                         struct bbf_jfr_value *to)
{
    to->type = type;
    if (is_pooled) {
        struct bbf_jfr_cursor value;
        to->key = bbf_jfr_get_long(c);
        to->what = BBF_JFR_IS_NULL;
        if (c->bad || depth == BBF_JFR_DEPTH_MAX || !bbf_jfr_constant(chunk, type, to->key, &value))
            return !c->bad;
        (void)read_of_type(chunk, &value, type, false, depth + 1, to);
        if (value.bad)
            to->what = BBF_JFR_IS_NULL;
        return true;
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
        read_text(chunk, c, to);
        break;
    case BBF_JFR_KIND_STRUCT:
        read_struct(chunk, c, type, depth, to);
        break;
    }
    return !c->bad;
}

bool bbf_jfr_read_value(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_cursor *c,
                        const struct bbf_jfr_field *field, struct bbf_jfr_value *to)
{
    *to = (struct bbf_jfr_value){.field = field};
    if (!field->is_array)
        return read_of_type(chunk, c, field->type, field->is_pooled, 0, to);
    to->what = BBF_JFR_IS_LIST;
    to->type = field->type;
    struct bbf_jfr_cursor start = *c;
    to->n = bbf_jfr_get_count(&start);
    to->at = start;
    return bbf_jfr_skip_field(c, field);
}

bool bbf_jfr_read_element(const struct bbf_jfr_chunk *chunk, struct bbf_jfr_value *list,
                          struct bbf_jfr_value *to)
{
    memset(to, 0, sizeof(*to));
    to->field = list->field;
    if (list->n == 0)
        return false;
    list->n--;
    return read_of_type(chunk, &list->at, list->field->type, list->field->is_pooled, 0, to);
}

struct bbf_jfr_value bbf_jfr_member(const struct bbf_jfr_chunk *chunk,
                                    const struct bbf_jfr_value *of, const char *name)
{
    struct bbf_jfr_value value = {.what = BBF_JFR_IS_NULL};
    struct bbf_jfr_cursor c = of->at;
    int index = of->what == BBF_JFR_IS_STRUCT ? bbf_jfr_field_index(of->type, name) : -1;

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
