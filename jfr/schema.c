/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/encode.h"

#define ANNOTATION "java.lang.annotation.Annotation"
#define POOLED     BBF_JFR_IS_POOLED
#define ARRAY      BBF_JFR_IS_ARRAY

/*
 * The readers hard-code these names. JMC resolves StackFrame by position, reads Symbol and
 * FrameType as text only where they are simple, and casts: lineNumber, bytecodeIndex and modifiers
 * are int, thread ids long.
 */
static const struct bbf_jfr_type_decl common[] = {
    [BBF_JFR_BOOLEAN] = {.name = "boolean"},
    [BBF_JFR_CHAR] = {.name = "char"},
    [BBF_JFR_FLOAT] = {.name = "float"},
    [BBF_JFR_DOUBLE] = {.name = "double"},
    [BBF_JFR_BYTE] = {.name = "byte"},
    [BBF_JFR_SHORT] = {.name = "short"},
    [BBF_JFR_INT] = {.name = "int"},
    [BBF_JFR_LONG] = {.name = "long"},
    [BBF_JFR_STRING] = {.name = "java.lang.String"},
    [BBF_JFR_SYMBOL] = {.name = "jdk.types.Symbol",
                        .is_simple = true,
                        .fields = {{"string", "java.lang.String", 0, {{0}}}}},
    [BBF_JFR_FRAME_TYPE] = {.name = "jdk.types.FrameType",
                            .is_simple = true,
                            .fields = {{"description", "java.lang.String", 0, {{0}}}}},
    [BBF_JFR_MODULE] = {.name = "jdk.types.Module",
                        .fields = {{"name", "jdk.types.Symbol", POOLED, {{0}}},
                                   {"version", "jdk.types.Symbol", POOLED, {{0}}},
                                   {"location", "jdk.types.Symbol", POOLED, {{0}}},
                                   {"classLoader", "jdk.types.ClassLoader", POOLED, {{0}}}}},
    [BBF_JFR_PACKAGE] = {.name = "jdk.types.Package",
                         .fields = {{"name", "jdk.types.Symbol", POOLED, {{0}}},
                                    {"module", "jdk.types.Module", POOLED, {{0}}},
                                    {"exported", "boolean", 0, {{0}}}}},
    [BBF_JFR_CLASS_LOADER] = {.name = "jdk.types.ClassLoader",
                              .fields = {{"type", "java.lang.Class", POOLED, {{0}}},
                                         {"name", "jdk.types.Symbol", POOLED, {{0}}}}},
    [BBF_JFR_CLASS] = {.name = "java.lang.Class",
                       .fields = {{"classLoader", "jdk.types.ClassLoader", POOLED, {{0}}},
                                  {"name", "jdk.types.Symbol", POOLED, {{0}}},
                                  {"package", "jdk.types.Package", POOLED, {{0}}},
                                  {"modifiers", "int", 0, {{0}}},
                                  {"hidden", "boolean", 0, {{0}}}}},
    [BBF_JFR_THREAD_GROUP] = {.name = "jdk.types.ThreadGroup",
                              .fields = {{"parent", "jdk.types.ThreadGroup", POOLED, {{0}}},
                                         {"name", "java.lang.String", 0, {{0}}}}},
    [BBF_JFR_THREAD] = {.name = "java.lang.Thread",
                        .fields = {{"osName", "java.lang.String", 0, {{0}}},
                                   {"osThreadId", "long", 0, {{0}}},
                                   {"javaName", "java.lang.String", 0, {{0}}},
                                   {"javaThreadId", "long", 0, {{0}}},
                                   {"group", "jdk.types.ThreadGroup", POOLED, {{0}}},
                                   {"virtual", "boolean", 0, {{0}}}}},
    [BBF_JFR_METHOD] = {.name = "jdk.types.Method",
                        .fields = {{"type", "java.lang.Class", POOLED, {{0}}},
                                   {"name", "jdk.types.Symbol", POOLED, {{0}}},
                                   {"descriptor", "jdk.types.Symbol", POOLED, {{0}}},
                                   {"modifiers", "int", 0, {{0}}},
                                   {"hidden", "boolean", 0, {{0}}}}},
    [BBF_JFR_STACK_FRAME] = {.name = "jdk.types.StackFrame",
                             .fields = {{"method", "jdk.types.Method", POOLED, {{0}}},
                                        {"lineNumber", "int", 0, {{0}}},
                                        {"bytecodeIndex", "int", 0, {{0}}},
                                        {"type", "jdk.types.FrameType", POOLED, {{0}}}}},
    [BBF_JFR_STACK_TRACE] = {.name = "jdk.types.StackTrace",
                             .fields = {{"truncated", "boolean", 0, {{0}}},
                                        {"frames", "jdk.types.StackFrame", ARRAY, {{0}}}}},
/* Annotation types: with one value, with an array of values, markers. */
#define VALUE(name_)                                                                               \
    {                                                                                              \
        .name = "jdk.jfr." name_, .super = ANNOTATION, .notes = {{"ContentType", NULL}},           \
        .fields = {{"value", "java.lang.String", 0, {{0}}}},                                       \
    }
#define MARKER(name_)                                                                              \
    {                                                                                              \
        .name = "jdk.jfr." name_, .super = ANNOTATION, .notes = {{"ContentType", NULL}},           \
    }
    {.name = "jdk.jfr.ContentType", .super = ANNOTATION},
    {.name = "jdk.jfr.Relational", .super = ANNOTATION},
    {.name = "jdk.jfr.Experimental", .super = ANNOTATION},
    {.name = "jdk.jfr.Label",
     .super = ANNOTATION,
     .fields = {{"value", "java.lang.String", 0, {{0}}}}},
    {.name = "jdk.jfr.Description",
     .super = ANNOTATION,
     .fields = {{"value", "java.lang.String", 0, {{0}}}}},
    {.name = "jdk.jfr.Category",
     .super = ANNOTATION,
     .fields = {{"value", "java.lang.String", ARRAY, {{0}}}}},
    VALUE("Timestamp"),
    VALUE("Timespan"),
    VALUE("DataAmount"),
    MARKER("MemoryAddress"),
    MARKER("Unsigned"),
    MARKER("Percentage"),
    MARKER("Frequency"),
#undef VALUE
#undef MARKER
};

enum { COMMON = sizeof(common) / sizeof(common[0]), STRINGS_MAX = 1024 };

uint32_t bbf_jfr_own_id(size_t index)
{
    return (uint32_t)(BBF_JFR_FIRST_ID + COMMON + index);
}

/* ---- the tree ---- */

/* A metadata event: its strings, each once, and the tree that names them by index. */
struct metadata {
    const struct bbf_jfr_schema *schema;
    struct bbf_buf tree;
    const char *strings[STRINGS_MAX];
    char *owned[STRINGS_MAX]; /* the strings among them that this event allocated */
    size_t n_strings, n_owned;
    const char *missing; /* the first type that is not there */
    int err;
};

static size_t string_index(struct metadata *m, const char *text)
{
    for (size_t i = 0; i < m->n_strings; i++) {
        if (strcmp(m->strings[i], text) == 0)
            return i;
    }
    if (m->n_strings == STRINGS_MAX) {
        m->err = BBF_ELIMIT;
        return 0;
    }
    m->strings[m->n_strings] = text;
    return m->n_strings++;
}

static void put_string(struct metadata *m, const char *text)
{
    bbf_jfr_put_long(&m->tree, string_index(m, text));
}

/* The same for text that only the caller has. */
static void put_copy(struct metadata *m, const char *text, size_t len)
{
    char *copy = strndup(text, len);
    size_t before = m->n_strings;

    if (copy == NULL) {
        m->err = BBF_ENOMEM;
        return;
    }
    put_string(m, copy);
    if (m->n_strings > before)
        m->owned[m->n_owned++] = copy;
    else
        free(copy);
}

static void put_element(struct metadata *m, const char *name, size_t attributes)
{
    put_string(m, name);
    bbf_jfr_put_long(&m->tree, attributes);
}

static void put_attribute(struct metadata *m, const char *name, const char *value)
{
    put_string(m, name);
    put_string(m, value);
}

static const struct bbf_jfr_type_decl *type_at(const struct metadata *m, size_t index)
{
    return index < COMMON ? &common[index] : &m->schema->types[index - COMMON];
}

static bool is_named(const char *full, const char *name)
{
    static const char prefix[] = "jdk.jfr.";

    return strcmp(full, name) == 0 || (strncmp(full, prefix, sizeof(prefix) - 1) == 0 &&
                                       strcmp(full + sizeof(prefix) - 1, name) == 0);
}

/* The attribute whose value is the id of the type `name`. */
static void put_type_id(struct metadata *m, const char *attribute, const char *name)
{
    char number[16];
    size_t i = 0, n = COMMON + m->schema->n_types;

    while (i < n && !is_named(type_at(m, i)->name, name))
        i++;
    if (i == n && m->missing == NULL)
        m->missing = name;
    int len = snprintf(number, sizeof(number), "%zu", BBF_JFR_FIRST_ID + i);
    put_string(m, attribute);
    put_copy(m, number, (size_t)len);
}

static size_t count_notes(const struct bbf_jfr_note *notes)
{
    size_t n = 0;

    while (n < BBF_JFR_NOTES && notes[n].name != NULL)
        n++;
    return n;
}

static size_t count_fields(const struct bbf_jfr_field_decl *fields)
{
    size_t n = 0;

    while (n < BBF_JFR_FIELDS && fields[n].name != NULL)
        n++;
    return n;
}

static void put_values(struct metadata *m, const char *value)
{
    char name[16];

    for (int i = 0; value != NULL; i++) {
        const char *bar = strchr(value, '|');
        int len = snprintf(name, sizeof(name), "value-%d", i);
        put_copy(m, name, (size_t)len);
        put_copy(m, value, bar != NULL ? (size_t)(bar - value) : strlen(value));
        value = bar != NULL ? bar + 1 : NULL;
    }
}

static size_t count_values(const char *value)
{
    size_t n = 1;

    for (; *value != '\0'; value++)
        n += *value == '|';
    return n;
}

static void put_note(struct metadata *m, const struct bbf_jfr_note *note)
{
    bool is_list = strcmp(note->name, "Category") == 0;
    size_t values = note->value == NULL ? 0 : is_list ? count_values(note->value) : 1;

    put_element(m, "annotation", 1 + values);
    put_type_id(m, "class", note->name);
    if (is_list)
        put_values(m, note->value);
    else if (note->value != NULL)
        put_attribute(m, "value", note->value);
    bbf_jfr_put_long(&m->tree, 0); /* children */
}

static void put_field(struct metadata *m, const struct bbf_jfr_field_decl *field)
{
    bool pooled = (field->flags & BBF_JFR_IS_POOLED) != 0;
    bool array = (field->flags & BBF_JFR_IS_ARRAY) != 0;
    size_t notes = count_notes(field->notes);

    put_element(m, "field", (size_t)2 + pooled + array);
    put_attribute(m, "name", field->name);
    put_type_id(m, "class", field->type);
    if (pooled)
        put_attribute(m, "constantPool", "true");
    if (array)
        put_attribute(m, "dimension", "1");
    bbf_jfr_put_long(&m->tree, notes);
    for (size_t i = 0; i < notes; i++)
        put_note(m, &field->notes[i]);
}

static void put_type(struct metadata *m, const struct bbf_jfr_type_decl *type)
{
    size_t notes = count_notes(type->notes), fields = count_fields(type->fields);

    put_element(m, "class", (size_t)2 + (type->super != NULL) + type->is_simple);
    put_attribute(m, "name", type->name);
    if (type->super != NULL)
        put_attribute(m, "superType", type->super);
    if (type->is_simple)
        put_attribute(m, "simpleType", "true");
    put_type_id(m, "id", type->name);
    bbf_jfr_put_long(&m->tree, notes + fields);
    for (size_t i = 0; i < notes; i++)
        put_note(m, &type->notes[i]);
    for (size_t i = 0; i < fields; i++)
        put_field(m, &type->fields[i]);
}

static void put_tree(struct metadata *m)
{
    size_t n = COMMON + m->schema->n_types;

    put_element(m, "root", 0);
    bbf_jfr_put_long(&m->tree, 2);
    put_element(m, "metadata", 0);
    bbf_jfr_put_long(&m->tree, n);
    for (size_t i = 0; i < n; i++)
        put_type(m, type_at(m, i));
    put_element(m, "region", 2);
    put_attribute(m, "locale", "en_US");
    put_attribute(m, "gmtOffset", "0");
    bbf_jfr_put_long(&m->tree, 0);
}

/* ---- the event ---- */

static void put_event(struct bbf_buf *out, const struct metadata *m, uint64_t ticks)
{
    size_t start = out->len;
    static const char size[BBF_JFR_SIZE_BYTES];

    bbf_buf_add(out, size, sizeof(size));
    bbf_jfr_put_long(out, 0); /* type */
    bbf_jfr_put_long(out, ticks);
    bbf_jfr_put_long(out, 0); /* duration */
    bbf_jfr_put_long(out, BBF_JFR_METADATA_ID);
    bbf_jfr_put_long(out, m->n_strings);
    for (size_t i = 0; i < m->n_strings; i++)
        bbf_jfr_put_text(out, m->strings[i], strlen(m->strings[i]));
    bbf_buf_add(out, m->tree.data, m->tree.len);
    if (!out->failed)
        bbf_jfr_set_size(out->data + start, (uint32_t)(out->len - start));
}

int bbf_jfr_put_metadata(struct bbf_buf *out, const struct bbf_jfr_schema *schema, uint64_t ticks,
                         const char **why)
{
    struct metadata *m = calloc(1, sizeof(*m));

    if (m == NULL)
        return BBF_ENOMEM;
    m->schema = schema;
    put_tree(m);
    int err = m->missing != NULL ? BBF_EINVAL : m->tree.failed ? BBF_ENOMEM : m->err;
    if (why != NULL)
        *why = m->missing;
    if (err == BBF_OK)
        put_event(out, m, ticks);
    for (size_t i = 0; i < m->n_owned; i++)
        free(m->owned[i]);
    bbf_buf_free(&m->tree);
    free(m);
    return err != BBF_OK ? err : out->failed ? BBF_ENOMEM : BBF_OK;
}
