/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/heal_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

/* ---- values ---- */

static bool is_whole_number(const char *text, int64_t least, int64_t most)
{
    bool is_negative = *text == '-';
    uint64_t number;

    if (!bbf_jfr_read_id(text + is_negative, &number))
        return false;
    int64_t value = is_negative ? -(int64_t)number : (int64_t)number;
    return value >= least && value <= most;
}

static bool is_real_number(const char *text)
{
    char *end;

    if (strcmp(text, "NaN") == 0 || strcmp(text + (*text == '-'), "Infinity") == 0)
        return true;
    if (*text == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    (void)strtod(text, &end);
    return *end == '\0';
}

/* Would Java read the text as a value of that type? */
static bool is_value(enum bbf_jfr_kind kind, const char *text)
{
    switch (kind) {
    case BBF_JFR_KIND_BOOLEAN:
    case BBF_JFR_KIND_STRING:
        return true;
    case BBF_JFR_KIND_CHAR:
        return text[0] != '\0' && text[1] == '\0';
    case BBF_JFR_KIND_BYTE:
        return is_whole_number(text, INT8_MIN, INT8_MAX);
    case BBF_JFR_KIND_SHORT:
        return is_whole_number(text, INT16_MIN, INT16_MAX);
    case BBF_JFR_KIND_INT:
        return is_whole_number(text, INT32_MIN, INT32_MAX);
    case BBF_JFR_KIND_LONG:
        return is_whole_number(text, INT64_MIN, INT64_MAX);
    case BBF_JFR_KIND_FLOAT:
    case BBF_JFR_KIND_DOUBLE:
        return is_real_number(text);
    case BBF_JFR_KIND_STRUCT:
        break;
    }
    return false;
}

static bool is_array(const struct bbf_jfr_element *field)
{
    const char *dimension = bbf_jfr_attribute(field, "dimension");

    return dimension != NULL && strcmp(dimension, "0") != 0;
}

/* The values "NAME-0", "NAME-1" …, as far as they go: an array may be empty. */
static bool has_array(const struct bbf_jfr_element *note, enum bbf_jfr_kind kind, const char *name)
{
    char key[NAME_MAX_BYTES];
    const char *text;

    for (size_t i = 0; i <= note->n_attributes; i++) {
        int len = snprintf(key, sizeof(key), "%s-%zu", name, i);
        if (len < 0 || (size_t)len >= sizeof(key))
            return false;
        text = bbf_jfr_attribute(note, key);
        if (text == NULL)
            break;
        if (!is_value(kind, text))
            return false;
    }
    return kind != BBF_JFR_KIND_STRUCT;
}

static bool has_values(const struct bbf_jfr_healing *h, const struct bbf_jfr_element *note,
                       const struct bbf_jfr_heal_type *type)
{
    for (const struct bbf_jfr_element *e = type->element->first; e != NULL; e = e->next) {
        if (!bbf_jfr_is_element(e, "field"))
            continue;
        const struct bbf_jfr_heal_type *of = bbf_jfr_heal_type(h, bbf_jfr_attribute(e, "class"));
        const char *name = bbf_jfr_attribute(e, "name");
        if (of == NULL || name == NULL)
            return false;
        const char *text = bbf_jfr_attribute(note, name);
        if (is_array(e) ? !has_array(note, of->kind, name)
                        : text == NULL || !is_value(of->kind, text))
            return false;
    }
    return true;
}

/* ---- annotations that readers know ---- */

static const struct bbf_jfr_element *first_field(const struct bbf_jfr_heal_type *type)
{
    return bbf_jfr_child(type->element, "field");
}

/* Readers ask these for the text `value`, and fail without it. */
static bool has_text(const struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *type)
{
    static const char *const names[] = {
        "jdk.jfr.Label",    "jdk.jfr.Description", "jdk.jfr.Name",    "jdk.jfr.Timestamp",
        "jdk.jfr.Timespan", "jdk.jfr.DataAmount",  "jdk.jfr.Category"};
    size_t n = sizeof(names) / sizeof(names[0]), i = 0;

    while (i < n && strcmp(type->name, names[i]) != 0)
        i++;
    if (i == n)
        return true;
    const struct bbf_jfr_element *field = first_field(type);
    const char *name = field != NULL ? bbf_jfr_attribute(field, "name") : NULL;
    const struct bbf_jfr_heal_type *of =
        field != NULL ? bbf_jfr_heal_type(h, bbf_jfr_attribute(field, "class")) : NULL;
    bool is_list = i == n - 1;
    return name != NULL && strcmp(name, "value") == 0 && of != NULL &&
           of->kind == BBF_JFR_KIND_STRING && is_array(field) == is_list;
}

static bool is_integer(const struct bbf_jfr_healing *h, const struct bbf_jfr_element *field)
{
    const struct bbf_jfr_heal_type *type = bbf_jfr_heal_type(h, bbf_jfr_attribute(field, "class"));

    return type != NULL && !is_array(field) && bbf_jfr_attribute(field, "constantPool") == NULL &&
           (type->kind == BBF_JFR_KIND_LONG || type->kind == BBF_JFR_KIND_INT ||
            type->kind == BBF_JFR_KIND_SHORT || type->kind == BBF_JFR_KIND_BYTE ||
            type->kind == BBF_JFR_KIND_CHAR);
}

/* Readers make a time of a field with one of these, and fail where they cannot. */
static bool fits_field(const struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *type,
                       const struct bbf_jfr_element *note, const struct bbf_jfr_element *field)
{
    bool is_time =
        strcmp(type->name, "jdk.jfr.Timestamp") == 0 || strcmp(type->name, "jdk.jfr.Timespan") == 0;

    if (field == NULL)
        return true;
    if (is_time)
        return is_integer(h, field) &&
               bbf_jfr_time_of(type->name, bbf_jfr_attribute(note, "value")) != BBF_JFR_TIME_NONE;
    bool is_one = !is_array(field) && bbf_jfr_attribute(field, "constantPool") == NULL;
    return is_one || strcmp(type->name, "jdk.jfr.Unsigned") != 0;
}

/* ---- the walk ---- */

/* `field`: what they are on, NULL: a type or a setting. */
static void heal_annotations(struct bbf_jfr_healing *h, struct bbf_jfr_element *on,
                             const struct bbf_jfr_element *field)
{
    for (struct bbf_jfr_element **at = &on->first; *at != NULL;) {
        const struct bbf_jfr_element *e = *at;
        const struct bbf_jfr_heal_type *type = bbf_jfr_heal_type(h, bbf_jfr_attribute(e, "class"));
        bool is_note = bbf_jfr_is_element(e, "annotation");
        const char *what = !is_note       ? NULL
                           : type == NULL ? "an annotation lost its type"
                           : !has_text(h, type) || !has_values(h, e, type)
                               ? "an annotation lost its value"
                           : !fits_field(h, type, e, field) ? "an annotation's value is damaged"
                                                            : NULL;
        if (what != NULL) {
            bbf_jfr_heal_lost(h, e, true, what);
            *at = e->next;
        } else {
            at = &(*at)->next;
        }
    }
}

static bool is_good_setting(const struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *of,
                            const struct bbf_jfr_element *e)
{
    return of->is_event && bbf_jfr_attribute(e, "name") != NULL &&
           bbf_jfr_heal_type(h, bbf_jfr_attribute(e, "class")) != NULL;
}

void bbf_jfr_heal_notes(struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *type)
{
    heal_annotations(h, type->element, NULL);
    for (struct bbf_jfr_element **at = &type->element->first; *at != NULL;) {
        struct bbf_jfr_element *e = *at;
        bool is_setting = bbf_jfr_is_element(e, "setting");
        if (is_setting && !is_good_setting(h, type, e)) {
            bbf_jfr_heal_lost(h, e, true, "a setting lost its name or type");
            *at = e->next;
            continue;
        }
        if (is_setting || bbf_jfr_is_element(e, "field"))
            heal_annotations(h, e, is_setting ? NULL : e);
        at = &(*at)->next;
    }
}
