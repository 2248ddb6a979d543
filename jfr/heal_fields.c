/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/heal_fields.h"

enum { DEPTH_MAX = 31, NUMBER_MAX = 24 }; /* one level less than jfr/types.c follows */

/* ---- what is known ---- */

/* A simple type has one field, which it is read as, and no super type. The reader's own classes
 * are never simple. */
static bool may_be_simple(const struct bbf_jfr_heal_type *type)
{
    static const char *const never[] = {
        "java.lang.Thread",     "java.lang.Class",       "jdk.types.StackFrame", "jdk.types.Method",
        "jdk.types.StackTrace", "jdk.types.ClassLoader", "jdk.types.ThreadGroup"};

    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (strcmp(type->name, never[i]) == 0)
            return false;
    }
    return type->n_fields == 1 && bbf_jfr_attribute(type->element, "superType") == NULL;
}

void bbf_jfr_heal_simple(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type)
{
    const char *simple = bbf_jfr_attribute(type->element, "simpleType");

    type->is_simple = simple != NULL && may_be_simple(type);
    if (simple == NULL || (type->is_simple && strcmp(simple, "true") == 0))
        return;
    bbf_jfr_heal_lost(h, type->element, false, "a type of the metadata cannot be simple");
    bbf_jfr_heal_set(h, type->element, "simpleType", type->is_simple ? "true" : NULL);
}

/* Can the bytes of such a field be found? */
static bool is_known(const struct bbf_jfr_healing *h, const struct bbf_jfr_element *field)
{
    const struct bbf_jfr_heal_type *type = bbf_jfr_heal_type(h, bbf_jfr_attribute(field, "class"));

    if (bbf_jfr_attribute(field, "constantPool") != NULL)
        return true; /* a key */
    return type != NULL && !type->is_simple &&
           (type->kind != BBF_JFR_KIND_STRUCT || type->n_fields > 0);
}

static bool is_inline_long(const struct bbf_jfr_healing *h, const struct bbf_jfr_element *field)
{
    const struct bbf_jfr_heal_type *type = bbf_jfr_heal_type(h, bbf_jfr_attribute(field, "class"));

    return type != NULL && type->kind == BBF_JFR_KIND_LONG &&
           bbf_jfr_attribute(field, "constantPool") == NULL &&
           bbf_jfr_attribute(field, "dimension") == NULL;
}

static bool has_known_fields(const struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *type)
{
    bool is_first = true;

    if (type->kind != BBF_JFR_KIND_STRUCT)
        return true;
    for (const struct bbf_jfr_element *e = type->element->first; e != NULL; e = e->next) {
        if (!bbf_jfr_is_element(e, "field"))
            continue;
        if (!is_known(h, e) || (is_first && type->is_event && !is_inline_long(h, e)))
            return false;
        is_first = false;
    }
    return !type->is_event || !is_first;
}

/* A type whose values contain themselves has no end. */
static int height_of(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type, int depth)
{
    int height = 0;

    if (depth > DEPTH_MAX || type->height != 0 || type->kind != BBF_JFR_KIND_STRUCT)
        return depth > DEPTH_MAX ? DEPTH_MAX + 1 : type->height;
    for (const struct bbf_jfr_element *e = type->element->first; e != NULL; e = e->next) {
        struct bbf_jfr_heal_type *of = bbf_jfr_heal_type(h, bbf_jfr_attribute(e, "class"));
        const char *dimension = bbf_jfr_attribute(e, "dimension");
        if (of == NULL || !bbf_jfr_is_element(e, "field") ||
            bbf_jfr_attribute(e, "constantPool") != NULL ||
            (dimension != NULL && strcmp(dimension, "0") != 0))
            continue;
        int below = height_of(h, of, depth + 1) + 1;
        height = below > height ? below : height;
        if (height > DEPTH_MAX)
            break;
    }
    type->height = height;
    return height;
}

/* Until nothing changes, because a type may be part of another. */
void bbf_jfr_heal_unknown(struct bbf_jfr_healing *h)
{
    bool again = true;

    while (again) {
        again = false;
        for (size_t i = 0; i < h->n; i++)
            h->types[i].height = 0;
        for (size_t i = 0; i < h->n; i++) {
            struct bbf_jfr_heal_type *type = &h->types[i];
            if (type->is_gone)
                continue;
            if (has_known_fields(h, type) && height_of(h, type, 0) <= DEPTH_MAX)
                continue;
            bbf_jfr_heal_lose(h, type,
                              type->is_event
                                  ? "an event type lost its fields, so its events are lost"
                                  : "a type of the metadata lost its fields");
            again = true;
        }
    }
}

/* ---- what is set right ---- */

static const char *number_text(struct bbf_jfr_healing *h, const char *before, uint64_t number)
{
    size_t room = strlen(before) + NUMBER_MAX;
    char *text = bbf_jfr_take(&h->arena, room, 1);

    if (text != NULL)
        (void)snprintf(text, room, "%s%" PRIu64, before, number);
    return text;
}

/* The id of the type without fields, which is made when it is first needed. */
static const char *lost_id(struct bbf_jfr_healing *h)
{
    uint64_t id = UINT64_C(0x2BBF0000);

    if (h->lost_id != NULL)
        return h->lost_id;
    h->lost_id = number_text(h, "", id);
    for (size_t i = 0; i < h->n_by_id && h->lost_id != NULL; i++) {
        if (h->by_id[i]->id == id)
            h->lost_id = number_text(h, "", ++id);
    }
    struct bbf_jfr_element *type = bbf_jfr_heal_add(h, h->metadata, "class");
    if (h->arena.failed)
        return "";
    bbf_jfr_heal_set(h, type, "name", BBF_JFR_LOST_TYPE);
    bbf_jfr_heal_set(h, type, "id", h->lost_id);
    h->types[h->n] = (struct bbf_jfr_heal_type){
        .element = type, .id = id, .name = BBF_JFR_LOST_TYPE, .kind = BBF_JFR_KIND_STRUCT};
    h->n++;
    bbf_jfr_heal_index(h);
    return h->lost_id;
}

static bool is_name_used(const struct bbf_jfr_element *type, const struct bbf_jfr_element *by,
                         const char *name)
{
    for (const struct bbf_jfr_element *e = type->first; e != NULL && e != by; e = e->next) {
        const char *other = bbf_jfr_is_element(e, "field") ? bbf_jfr_attribute(e, "name") : NULL;
        if (other != NULL && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* The reader asks for a field by its name, and takes an event's "duration" for the second one. */
static void heal_field_name(struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *type,
                            struct bbf_jfr_element *field, size_t index)
{
    const char *name = bbf_jfr_attribute(field, "name");
    bool is_duration = name != NULL && type->is_event && strcmp(name, "duration") == 0;

    if (name != NULL && name[0] != '\0' && strchr(name, '.') == NULL &&
        !is_name_used(type->element, field, name) &&
        (!is_duration || (index == 1 && is_inline_long(h, field))))
        return;
    bbf_jfr_heal_lost(h, field, false, "a field's name is damaged");
    name = type->is_event && index == 0 ? "startTime" : number_text(h, "field", index);
    while (!h->arena.failed && is_name_used(type->element, NULL, name))
        name = number_text(h, "field", ++index);
    if (!h->arena.failed)
        bbf_jfr_heal_set(h, field, "name", name);
}

static void heal_field(struct bbf_jfr_healing *h, const struct bbf_jfr_heal_type *type,
                       struct bbf_jfr_element *field, size_t index)
{
    const char *dimension = bbf_jfr_attribute(field, "dimension");
    const char *pooled = bbf_jfr_attribute(field, "constantPool");
    uint64_t n;

    heal_field_name(h, type, field, index);
    if (dimension != NULL && (!bbf_jfr_read_id(dimension, &n) || n > INT16_MAX)) {
        bbf_jfr_heal_lost(h, field, false, "a field's dimension is damaged");
        bbf_jfr_heal_set(h, field, "dimension", "1");
    }
    if (pooled != NULL && strcmp(pooled, "true") != 0) {
        bbf_jfr_heal_lost(h, field, false, "a field's attribute is damaged");
        bbf_jfr_heal_set(h, field, "constantPool", "true");
    }
    if (bbf_jfr_heal_type(h, bbf_jfr_attribute(field, "class")) == NULL) {
        bbf_jfr_heal_lost(h, field, false, "a field's type is lost: its values are null");
        bbf_jfr_heal_set(h, field, "class", lost_id(h));
    }
}

void bbf_jfr_heal_fields(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type)
{
    size_t index = 0;

    for (struct bbf_jfr_element **at = &type->element->first; *at != NULL && !h->arena.failed;) {
        bool is_field = bbf_jfr_is_element(*at, "field");
        if (is_field && type->kind != BBF_JFR_KIND_STRUCT) {
            bbf_jfr_heal_lost(h, *at, true, "a primitive type of the metadata has a field");
            *at = (*at)->next;
            continue;
        }
        if (is_field)
            heal_field(h, type, *at, index++);
        at = &(*at)->next;
    }
}
