/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/heal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/heal_notes.h"
#include "jfr/salvage.h"

enum { DEPTH_MAX = 31, NUMBER_MAX = 24 }; /* one level less than jfr/types.c follows */

#define EVENT     "jdk.jfr.Event"
#define LOST_TYPE "bbflow.Lost" /* of keys whose type is lost; no pool has its values */

void bbf_jfr_heal_lost(struct bbf_jfr_healing *h, const struct bbf_jfr_element *e, bool all,
                       const char *what)
{
    uint64_t end = !all && e->first != NULL && e->first->at > e->at ? e->first->at : e->end;

    h->changed = true;
    if (h->how->lost != NULL && end > e->at)
        h->how->lost(h->how->ctx, e->at, end - e->at, what);
}

static void *take(struct bbf_jfr_healing *h, size_t n, size_t size)
{
    void *to = bbf_jfr_take(&h->arena, n, size);

    h->no_memory |= to == NULL;
    return to;
}

/* ---- elements and attributes ---- */

/* Set, add, or with NULL remove an attribute. */
static void set(struct bbf_jfr_healing *h, struct bbf_jfr_element *e, const char *name,
                const char *value)
{
    size_t n = 0;
    const char **names = take(h, e->n_attributes + 1, sizeof(*names));
    const char **values = take(h, e->n_attributes + 1, sizeof(*values));

    if (h->no_memory)
        return;
    for (size_t i = 0; i < e->n_attributes; i++) {
        if (strcmp(e->names[i], name) != 0) {
            names[n] = e->names[i];
            values[n++] = e->values[i];
        }
    }
    if (value != NULL) {
        names[n] = name;
        values[n++] = value;
    }
    e->names = names;
    e->values = values;
    e->n_attributes = n;
    h->changed = true;
}

static const char *number_text(struct bbf_jfr_healing *h, const char *before, uint64_t number)
{
    size_t room = strlen(before) + NUMBER_MAX;
    char *text = take(h, room, 1);

    if (text != NULL)
        (void)snprintf(text, room, "%s%" PRIu64, before, number);
    return text;
}

/* A new last child; it has no attributes. */
static struct bbf_jfr_element *add_child(struct bbf_jfr_healing *h, struct bbf_jfr_element *e,
                                         const char *name)
{
    struct bbf_jfr_element *child = take(h, 1, sizeof(*child)), **to = &e->first;

    while (*to != NULL)
        to = &(*to)->next;
    if (child != NULL)
        child->name = name;
    *to = child;
    h->changed = true;
    return child;
}

/* Attributes and elements without a name, for which the JDK's parser has no answer but an end. */
static void drop_nameless(struct bbf_jfr_healing *h, struct bbf_jfr_element *e)
{
    if (bbf_jfr_attribute(e, "") != NULL) {
        bbf_jfr_heal_lost(h, e, false, "an attribute of the metadata lost its name");
        set(h, e, "", NULL);
    }
    for (struct bbf_jfr_element **c = &e->first; *c != NULL;) {
        if ((*c)->name[0] == '\0') {
            bbf_jfr_heal_lost(h, *c, true, "an element of the metadata lost its name");
            *c = (*c)->next;
        } else {
            drop_nameless(h, *c);
            c = &(*c)->next;
        }
    }
}

/* ---- types ---- */

static int compare_types(const void *a, const void *b)
{
    const struct bbf_jfr_heal_type *x = *(struct bbf_jfr_heal_type *const *)a;
    const struct bbf_jfr_heal_type *y = *(struct bbf_jfr_heal_type *const *)b;

    if (x->id != y->id)
        return x->id > y->id ? 1 : -1;
    return (x->element->at > y->element->at) - (x->element->at < y->element->at);
}

struct bbf_jfr_heal_type *bbf_jfr_heal_type(const struct bbf_jfr_healing *h, const char *id_text)
{
    size_t low = 0, high = h->n_by_id;
    uint64_t id;

    if (!bbf_jfr_read_id(id_text, &id))
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->by_id[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < h->n_by_id && h->by_id[low]->id == id && !h->by_id[low]->is_gone;
    return found ? h->by_id[low] : NULL;
}

static void lose_type(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type, const char *what)
{
    type->is_gone = true;
    bbf_jfr_heal_lost(h, type->element, true, what);
}

static size_t count_fields(const struct bbf_jfr_element *type)
{
    size_t n = 0;

    for (const struct bbf_jfr_element *e = type->first; e != NULL; e = e->next)
        n += bbf_jfr_is_element(e, "field");
    return n;
}

/* The JDK takes a type's name only if Java has such a class name: 25 of events, 17 of all. */
static bool is_letter(uint32_t c, bool is_first)
{
    /* Blocks without gaps, as far as people name classes in them. */
    static const uint32_t blocks[][2] = {
        {'A', 'Z'},       {'_', '_'},       {'a', 'z'},      {'$', '$'},       {0xC0, 0xD6},
        {0xD8, 0xF6},     {0xF8, 0x24F},    {0x3A3, 0x3CE},  {0x400, 0x481},   {0x5D0, 0x5EA},
        {0x620, 0x64A},   {0x904, 0x939},   {0xE01, 0xE30},  {0x3041, 0x3096}, {0x30A1, 0x30FA},
        {0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3}};

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        if (c >= blocks[i][0] && c <= blocks[i][1])
            return true;
    }
    return !is_first && c >= '0' && c <= '9';
}

/* The name with '$' for each character that cannot be in it; the same pointer: it is right. ('_'
 * alone is a keyword.) */
static const char *class_name(struct bbf_jfr_healing *h, const char *name)
{
    char *made = take(h, strlen(name) + sizeof(LOST_TYPE), 1), *to = made;
    bool is_first = true, is_right = name[0] != '\0';

    if (made == NULL)
        return name;
    if (!is_right)
        return strcpy(made, LOST_TYPE);
    for (const char *at = name, *end = name + strlen(name); at < end;) {
        uint32_t c;
        size_t n = bbf_utf8_next(at, end, &c);
        bool is_dot = c == '.' && !is_first && at + n < end;
        bool fits = (is_dot || is_letter(c, is_first)) &&
                    !(c == '_' && is_first && n == 1 && (at + n == end || at[n] == '.'));
        if (fits)
            memcpy(to, at, n);
        else
            *to = '$';
        to += fits ? n : 1;
        is_right &= fits;
        is_first = is_dot;
        at += n;
    }
    return is_right ? name : made;
}

static void read_type(struct bbf_jfr_healing *h, struct bbf_jfr_element *e)
{
    struct bbf_jfr_heal_type *type = &h->types[h->n];
    const char *name = bbf_jfr_attribute(e, "name"), *super = bbf_jfr_attribute(e, "superType");

    *type = (struct bbf_jfr_heal_type){.element = e, .n_fields = count_fields(e)};
    h->n++;
    bool has_id = bbf_jfr_read_id(bbf_jfr_attribute(e, "id"), &type->id);
    type->is_event = super != NULL && strcmp(super, EVENT) == 0;
    if (name == NULL || !has_id || (type->is_event && type->id <= BBF_JFR_RESERVED_ID)) {
        lose_type(h, type, "a type of the metadata lost its name or id");
        return;
    }
    const char *right = class_name(h, name);
    if (right != name) {
        bbf_jfr_heal_lost(h, e, false, "a type's name is damaged");
        set(h, e, "name", right);
    }
    type->name = right;
    type->kind = bbf_jfr_kind_of(right);
    if (type->kind != BBF_JFR_KIND_STRUCT)
        type->n_fields = 0;
}

/* Those that are there, each id once: of two the first counts, as for a reader. */
static void index_types(struct bbf_jfr_healing *h)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (!h->types[i].is_gone)
            h->by_id[n++] = &h->types[i];
    }
    if (n > 1)
        qsort(h->by_id, n, sizeof(*h->by_id), compare_types);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && h->by_id[i]->id == h->by_id[kept - 1]->id)
            lose_type(h, h->by_id[i], "two types of the metadata have the same id");
        else
            h->by_id[kept++] = h->by_id[i];
    }
    h->n_by_id = kept;
}

static void read_types(struct bbf_jfr_healing *h)
{
    size_t n = 1; /* one more can be made */

    for (const struct bbf_jfr_element *e = h->metadata->first; e != NULL; e = e->next)
        n += bbf_jfr_is_element(e, "class");
    h->types = take(h, n, sizeof(*h->types));
    h->by_id = take(h, n, sizeof(*h->by_id));
    for (struct bbf_jfr_element *e = h->metadata->first; e != NULL && !h->no_memory; e = e->next) {
        if (bbf_jfr_is_element(e, "class"))
            read_type(h, e);
    }
    if (!h->no_memory)
        index_types(h);
}

/* ---- fields ---- */

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

static void heal_simple(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type)
{
    const char *simple = bbf_jfr_attribute(type->element, "simpleType");

    type->is_simple = simple != NULL && may_be_simple(type);
    if (simple == NULL || (type->is_simple && strcmp(simple, "true") == 0))
        return;
    bbf_jfr_heal_lost(h, type->element, false, "a type of the metadata cannot be simple");
    set(h, type->element, "simpleType", type->is_simple ? "true" : NULL);
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
static void lose_unknown(struct bbf_jfr_healing *h)
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
            lose_type(h, type,
                      type->is_event ? "an event type lost its fields, so its events are lost"
                                     : "a type of the metadata lost its fields");
            again = true;
        }
    }
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
    struct bbf_jfr_element *type = add_child(h, h->metadata, "class");
    if (h->no_memory)
        return "";
    set(h, type, "name", LOST_TYPE);
    set(h, type, "id", h->lost_id);
    h->types[h->n] = (struct bbf_jfr_heal_type){
        .element = type, .id = id, .name = LOST_TYPE, .kind = BBF_JFR_KIND_STRUCT};
    h->n++;
    index_types(h);
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
    while (!h->no_memory && is_name_used(type->element, NULL, name))
        name = number_text(h, "field", ++index);
    if (!h->no_memory)
        set(h, field, "name", name);
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
        set(h, field, "dimension", "1");
    }
    if (pooled != NULL && strcmp(pooled, "true") != 0) {
        bbf_jfr_heal_lost(h, field, false, "a field's attribute is damaged");
        set(h, field, "constantPool", "true");
    }
    if (bbf_jfr_heal_type(h, bbf_jfr_attribute(field, "class")) == NULL) {
        bbf_jfr_heal_lost(h, field, false, "a field's type is lost: its values are null");
        set(h, field, "class", lost_id(h));
    }
}

static void heal_fields(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type)
{
    size_t index = 0;

    for (struct bbf_jfr_element **at = &type->element->first; *at != NULL && !h->no_memory;) {
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

/* ---- the whole ---- */

static void drop_lost_types(struct bbf_jfr_healing *h)
{
    size_t i = 0; /* in the order of the elements */

    for (struct bbf_jfr_element **at = &h->metadata->first; *at != NULL;) {
        bool is_lost = bbf_jfr_is_element(*at, "class") && h->types[i++].is_gone;
        if (is_lost)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

static bool is_number(const char *text)
{
    uint64_t number;

    return text == NULL || bbf_jfr_read_id(text + (*text == '-'), &number);
}

static void heal_region(struct bbf_jfr_healing *h, struct bbf_jfr_element *root)
{
    static const char *const numbers[] = {"gmtOffset", "dst"};
    struct bbf_jfr_element *region = (struct bbf_jfr_element *)bbf_jfr_child(root, "region");

    if (region == NULL) {
        bbf_jfr_heal_lost(h, root, false, "the metadata lost the time zone");
        region = add_child(h, root, "region");
        if (region != NULL)
            set(h, region, "gmtOffset", "0");
    }
    for (size_t i = 0; i < 2 && region != NULL; i++) {
        if (!is_number(bbf_jfr_attribute(region, numbers[i]))) {
            bbf_jfr_heal_lost(h, region, false, "the metadata lost the time zone");
            set(h, region, numbers[i], NULL);
        }
    }
}

static bool heal_tree(struct bbf_jfr_healing *h, struct bbf_jfr_element *root)
{
    drop_nameless(h, root);
    h->metadata = (struct bbf_jfr_element *)bbf_jfr_child(root, "metadata");
    if (h->metadata == NULL || h->no_memory)
        return false;
    read_types(h);
    for (size_t i = 0; i < h->n && !h->no_memory; i++) {
        if (!h->types[i].is_gone)
            heal_simple(h, &h->types[i]);
    }
    if (h->no_memory)
        return false;
    lose_unknown(h);
    drop_lost_types(h);
    size_t n = h->n;
    for (size_t i = 0; i < n && !h->no_memory; i++) {
        if (!h->types[i].is_gone)
            heal_fields(h, &h->types[i]);
    }
    for (size_t i = 0; i < n && !h->no_memory; i++) {
        if (!h->types[i].is_gone)
            bbf_jfr_heal_notes(h, &h->types[i]);
    }
    heal_region(h, root);
    return !h->no_memory && h->metadata->first != NULL;
}

/* The tree as the JDK's parser would read it: nothing is wrong with it, nearly always. */
static int heal_as_read(struct bbf_jfr_cursor event, bool *is_right)
{
    static const struct bbf_jfr_heal silent;
    struct bbf_jfr_healing h = {.how = &silent};
    struct bbf_jfr_tree tree;

    int err = bbf_jfr_tree_read(&tree, event, &h.arena);
    h.changed = tree.has_null;
    *is_right = err == BBF_OK && heal_tree(&h, &tree.root) && !h.changed;
    bbf_jfr_arena_free(&h.arena);
    return h.no_memory ? BBF_ENOMEM : BBF_OK;
}

int bbf_jfr_heal(struct bbf_buf *out, struct bbf_jfr_cursor event, const struct bbf_jfr_heal *how)
{
    struct bbf_jfr_healing h = {.how = how};
    struct bbf_jfr_salvage salvage = {how->lost, how->ctx};
    struct bbf_jfr_tree tree;
    bool is_right;

    int err = heal_as_read(event, &is_right);
    if (err != BBF_OK || is_right)
        return err;
    err = bbf_jfr_salvage(&tree, event, &h.arena, &salvage);
    if (err == BBF_OK && !heal_tree(&h, &tree.root))
        err = BBF_EFORMAT;
    tree.id = how->id;
    if (err == BBF_OK && !h.no_memory)
        err = bbf_jfr_tree_put(out, &tree);
    bbf_jfr_arena_free(&h.arena);
    return h.no_memory ? BBF_ENOMEM : err;
}
