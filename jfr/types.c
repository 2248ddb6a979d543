/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/types.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/tree.h"

enum { DEPTH_MAX = 32, DIRECT_MAX = 1 << 14 };

struct reader {
    struct bbf_jfr_metadata *to;
};

void bbf_jfr_metadata_free(struct bbf_jfr_metadata *m)
{
    const char *why = m->why;

    bbf_jfr_arena_free(&m->memory);
    memset(m, 0, sizeof(*m));
    m->why = why;
}

static int fail(struct reader *r, const char *why)
{
    if (r->to->why == NULL)
        r->to->why = why;
    return BBF_EFORMAT;
}

static bool is_true(const struct bbf_jfr_element *e, const char *name)
{
    const char *value = bbf_jfr_attribute(e, name);

    return value != NULL && strcmp(value, "true") == 0;
}

static size_t count_children(const struct bbf_jfr_element *e, const char *name)
{
    size_t n = 0;

    for (const struct bbf_jfr_element *c = e->first; c != NULL; c = c->next)
        n += bbf_jfr_is_element(c, name);
    return n;
}

/* ---- types ---- */

enum bbf_jfr_kind bbf_jfr_kind_of(const char *name)
{
    static const struct {
        const char *name;
        enum bbf_jfr_kind kind;
    } kinds[] = {{"boolean", BBF_JFR_KIND_BOOLEAN},
                 {"byte", BBF_JFR_KIND_BYTE},
                 {"char", BBF_JFR_KIND_CHAR},
                 {"short", BBF_JFR_KIND_SHORT},
                 {"int", BBF_JFR_KIND_INT},
                 {"long", BBF_JFR_KIND_LONG},
                 {"float", BBF_JFR_KIND_FLOAT},
                 {"double", BBF_JFR_KIND_DOUBLE},
                 {"java.lang.String", BBF_JFR_KIND_STRING}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    }
    return BBF_JFR_KIND_STRUCT;
}

static int compare_types(const void *a, const void *b)
{
    const struct bbf_jfr_type *x = *(const struct bbf_jfr_type *const *)a;
    const struct bbf_jfr_type *y = *(const struct bbf_jfr_type *const *)b;

    return (x->id > y->id) - (x->id < y->id);
}

const struct bbf_jfr_type *bbf_jfr_type_of(const struct bbf_jfr_metadata *m, uint64_t id)
{
    size_t low = 0, high = m->n_types;

    if (m->direct != NULL)
        return id - m->first_id < m->n_direct ? m->direct[id - m->first_id] : NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->by_id[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->n_types && m->by_id[low]->id == id ? m->by_id[low] : NULL;
}

const struct bbf_jfr_type *bbf_jfr_type_named(const struct bbf_jfr_metadata *m, const char *name)
{
    for (size_t i = 0; i < m->n_types; i++) {
        if (strcmp(m->types[i].name, name) == 0)
            return &m->types[i];
    }
    return NULL;
}

static const struct bbf_jfr_type *
type_of_attribute(const struct reader *r, const struct bbf_jfr_element *e, const char *name)
{
    uint64_t id;

    return bbf_jfr_read_id(bbf_jfr_attribute(e, name), &id) ? bbf_jfr_type_of(r->to, id) : NULL;
}

/* Every event asks for its type. Of an id that is there twice the first counts, as in a search. */
static void index_types(struct reader *r)
{
    struct bbf_jfr_metadata *to = r->to;
    uint64_t first = to->n_types > 0 ? to->by_id[0]->id : 0;
    uint64_t span = to->n_types > 0 ? to->by_id[to->n_types - 1]->id - first : DIRECT_MAX;

    if (span >= DIRECT_MAX)
        return;
    const struct bbf_jfr_type **direct = bbf_jfr_take(&r->to->memory, span + 1, sizeof(*direct));
    for (size_t i = to->n_types; direct != NULL && i > 0; i--)
        direct[to->by_id[i - 1]->id - first] = to->by_id[i - 1];
    to->first_id = first;
    to->n_direct = span + 1;
    to->direct = direct;
}

/* Ids and names first: fields and annotations name types that come later. */
static int declare_types(struct reader *r, const struct bbf_jfr_element *metadata)
{
    size_t n = count_children(metadata, "class");
    struct bbf_jfr_metadata *to = r->to;

    to->types = bbf_jfr_take(&r->to->memory, n, sizeof(*to->types));
    to->by_id = bbf_jfr_take(&r->to->memory, n, sizeof(*to->by_id));
    if (r->to->memory.failed)
        return BBF_ENOMEM;
    for (const struct bbf_jfr_element *e = metadata->first; e != NULL; e = e->next) {
        if (!bbf_jfr_is_element(e, "class"))
            continue;
        struct bbf_jfr_type *type = &to->types[to->n_types];
        type->name = bbf_jfr_attribute(e, "name");
        type->super = bbf_jfr_attribute(e, "superType");
        type->is_simple = is_true(e, "simpleType");
        type->index = to->n_types;
        if (type->name == NULL || !bbf_jfr_read_id(bbf_jfr_attribute(e, "id"), &type->id))
            return fail(r, "a type of the metadata has no name or no id");
        type->kind = bbf_jfr_kind_of(type->name);
        type->is_event = type->super != NULL && strcmp(type->super, "jdk.jfr.Event") == 0;
        to->by_id[to->n_types++] = type;
    }
    qsort(to->by_id, to->n_types, sizeof(to->by_id[0]), compare_types);
    index_types(r);
    return r->to->memory.failed ? BBF_ENOMEM : BBF_OK;
}

/* The attributes of an annotation but "class" are its values. */
static void read_annotation(struct reader *r, const struct bbf_jfr_element *e,
                            struct bbf_jfr_annotation *to)
{
    to->type = type_of_attribute(r, e, "class");
    to->names = bbf_jfr_take(&r->to->memory, e->n_attributes, sizeof(*to->names));
    to->values = bbf_jfr_take(&r->to->memory, e->n_attributes, sizeof(*to->values));
    for (size_t i = 0; i < e->n_attributes && !r->to->memory.failed; i++) {
        if (strcmp(e->names[i], "class") == 0)
            continue;
        to->names[to->n] = e->names[i];
        to->values[to->n++] = e->values[i];
    }
}

static const struct bbf_jfr_annotation *read_annotations(struct reader *r,
                                                         const struct bbf_jfr_element *e, size_t *n)
{
    struct bbf_jfr_annotation *list =
        bbf_jfr_take(&r->to->memory, count_children(e, "annotation"), sizeof(*list));

    *n = 0;
    for (const struct bbf_jfr_element *c = e->first; c != NULL && !r->to->memory.failed;
         c = c->next) {
        if (bbf_jfr_is_element(c, "annotation"))
            read_annotation(r, c, &list[(*n)++]);
    }
    return list;
}

const struct bbf_jfr_annotation *bbf_jfr_annotation(const struct bbf_jfr_annotation *list, size_t n,
                                                    const char *type_name)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].type != NULL && strcmp(list[i].type->name, type_name) == 0)
            return &list[i];
    }
    return NULL;
}

const char *bbf_jfr_annotation_value(const struct bbf_jfr_annotation *list, size_t n,
                                     const char *type_name)
{
    const struct bbf_jfr_annotation *a = bbf_jfr_annotation(list, n, type_name);

    for (size_t i = 0; a != NULL && i < a->n; i++) {
        if (strcmp(a->names[i], "value") == 0)
            return a->values[i];
    }
    return NULL;
}

enum bbf_jfr_time bbf_jfr_time_of(const char *annotation, const char *unit)
{
    static const struct {
        const char *annotation, *unit;
        enum bbf_jfr_time time;
    } units[] = {{"jdk.jfr.Timestamp", "TICKS", BBF_JFR_TIMESTAMP_TICKS},
                 {"jdk.jfr.Timestamp", "SECONDS_SINCE_EPOCH", BBF_JFR_TIMESTAMP_SECONDS},
                 {"jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH", BBF_JFR_TIMESTAMP_MILLIS},
                 {"jdk.jfr.Timestamp", "NANOSECONDS_SINCE_EPOCH", BBF_JFR_TIMESTAMP_NANOS},
                 {"jdk.jfr.Timespan", "TICKS", BBF_JFR_TIMESPAN_TICKS},
                 {"jdk.jfr.Timespan", "SECONDS", BBF_JFR_TIMESPAN_SECONDS},
                 {"jdk.jfr.Timespan", "MILLISECONDS", BBF_JFR_TIMESPAN_MILLIS},
                 {"jdk.jfr.Timespan", "MICROSECONDS", BBF_JFR_TIMESPAN_MICROS},
                 {"jdk.jfr.Timespan", "NANOSECONDS", BBF_JFR_TIMESPAN_NANOS}};

    for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(annotation, units[i].annotation) == 0 && strcmp(unit, units[i].unit) == 0)
            return units[i].time;
    }
    return BBF_JFR_TIME_NONE;
}

static enum bbf_jfr_time time_of(const struct bbf_jfr_field *field)
{
    static const char *const annotations[] = {"jdk.jfr.Timestamp", "jdk.jfr.Timespan"};
    enum bbf_jfr_time time = BBF_JFR_TIME_NONE;

    for (size_t i = 0; i < 2 && time == BBF_JFR_TIME_NONE; i++)
        time = bbf_jfr_time_of(
            annotations[i],
            bbf_jfr_annotation_value(field->annotations, field->n_annotations, annotations[i]));
    return time;
}

static int read_field(struct reader *r, const struct bbf_jfr_element *e, struct bbf_jfr_field *to)
{
    const char *dimension = bbf_jfr_attribute(e, "dimension");

    to->name = bbf_jfr_attribute(e, "name");
    to->type = type_of_attribute(r, e, "class");
    if (to->name == NULL || to->type == NULL)
        return fail(r, "a field of the metadata has no name, or a type that is not declared");
    to->is_pooled = is_true(e, "constantPool");
    to->is_array = dimension != NULL && strcmp(dimension, "0") != 0;
    to->annotations = read_annotations(r, e, &to->n_annotations);
    if (r->to->memory.failed)
        return BBF_ENOMEM;
    to->time = time_of(to);
    to->is_unsigned =
        bbf_jfr_annotation(to->annotations, to->n_annotations, "jdk.jfr.Unsigned") != NULL;
    return BBF_OK;
}

static int read_fields(struct reader *r, const struct bbf_jfr_element *e, struct bbf_jfr_type *to)
{
    struct bbf_jfr_field *fields =
        bbf_jfr_take(&r->to->memory, count_children(e, "field"), sizeof(*fields));

    if (r->to->memory.failed)
        return BBF_ENOMEM;
    to->fields = fields;
    for (const struct bbf_jfr_element *c = e->first; c != NULL; c = c->next) {
        if (!bbf_jfr_is_element(c, "field"))
            continue;
        int err = read_field(r, c, &fields[to->n_fields]);
        if (err != BBF_OK)
            return err;
        to->n_fields++;
    }
    return BBF_OK;
}

static void read_settings(struct reader *r, const struct bbf_jfr_element *e,
                          struct bbf_jfr_type *to)
{
    struct bbf_jfr_setting *settings =
        bbf_jfr_take(&r->to->memory, count_children(e, "setting"), sizeof(*settings));

    to->settings = settings;
    for (const struct bbf_jfr_element *c = e->first; c != NULL && !r->to->memory.failed;
         c = c->next) {
        if (!bbf_jfr_is_element(c, "setting"))
            continue;
        const struct bbf_jfr_type *type = type_of_attribute(r, c, "class");
        settings[to->n_settings++] =
            (struct bbf_jfr_setting){bbf_jfr_attribute(c, "name"), type != NULL ? type->name : "",
                                     bbf_jfr_attribute(c, "defaultValue")};
    }
}

static int fill_types(struct reader *r, const struct bbf_jfr_element *metadata)
{
    size_t at = 0;

    for (const struct bbf_jfr_element *e = metadata->first; e != NULL; e = e->next) {
        if (!bbf_jfr_is_element(e, "class"))
            continue;
        struct bbf_jfr_type *type = &r->to->types[at++];
        type->annotations = read_annotations(r, e, &type->n_annotations);
        read_settings(r, e, type);
        int err = r->to->memory.failed ? BBF_ENOMEM : read_fields(r, e, type);
        if (err != BBF_OK)
            return err;
    }
    return BBF_OK;
}

/* A type whose values take no bytes, or contain themselves, would make a walk endless. */
static bool has_end(const struct bbf_jfr_type *type, int depth)
{
    if (type->kind != BBF_JFR_KIND_STRUCT)
        return true;
    if (depth == DEPTH_MAX)
        return false;
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct bbf_jfr_field *field = &type->fields[i];
        if (!field->is_pooled && !field->is_array && !has_end(field->type, depth + 1))
            return false;
    }
    return true;
}

static int check_types(struct reader *r)
{
    for (size_t i = 0; i < r->to->n_types; i++) {
        const struct bbf_jfr_type *type = &r->to->types[i];
        if (!has_end(type, 0))
            return fail(r, "a type of the metadata contains itself");
        for (size_t f = 0; f < type->n_fields; f++) {
            const struct bbf_jfr_type *of = type->fields[f].type;
            bool is_inline = !type->fields[f].is_pooled;
            if (is_inline && of->kind == BBF_JFR_KIND_STRUCT && of->n_fields == 0)
                return fail(r, "a field of the metadata has a type without fields");
        }
    }
    return BBF_OK;
}

static int read_number(const struct bbf_jfr_element *e, const char *name)
{
    const char *value = e != NULL ? bbf_jfr_attribute(e, name) : NULL;
    long number = value != NULL ? strtol(value, NULL, 10) : 0;
    enum { DAY_MS = 24 * 3600 * 1000 };

    return number > DAY_MS || number < -DAY_MS ? 0 : (int)number;
}

static int read_all(struct reader *r, const struct bbf_jfr_tree *tree)
{
    const struct bbf_jfr_element *metadata = bbf_jfr_child(&tree->root, "metadata");
    const struct bbf_jfr_element *region = bbf_jfr_child(&tree->root, "region");

    int err = declare_types(r, metadata);
    if (err == BBF_OK)
        err = fill_types(r, metadata);
    if (err == BBF_OK)
        err = check_types(r);
    r->to->gmt_offset_ms = read_number(region, "gmtOffset") + read_number(region, "dst");
    return r->to->memory.failed ? BBF_ENOMEM : err;
}

int bbf_jfr_metadata_read(struct bbf_jfr_metadata *m, struct bbf_jfr_cursor event)
{
    struct reader r = {.to = m};
    struct bbf_jfr_tree tree;

    memset(m, 0, sizeof(*m));
    int err = bbf_jfr_tree_read(&tree, event, &m->memory);
    m->id = tree.id;
    m->why = tree.why;
    if (err == BBF_OK)
        err = read_all(&r, &tree);
    if (err != BBF_OK)
        bbf_jfr_metadata_free(m);
    return err;
}

int bbf_jfr_field_index(const struct bbf_jfr_type *type, const char *name)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}
