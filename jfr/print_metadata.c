/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/print.h"

#define ANNOTATION_TYPE "java.lang.annotation.Annotation"
#define SETTING_TYPE    "jdk.jfr.SettingControl"

static bool is(const char *text, const char *other)
{
    return text != NULL && strcmp(text, other) == 0;
}

static const char *simple_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL ? dot + 1 : name;
}

/* ---- the order: types, annotations, settings, events; by package, the JDK's events first ---- */

static int group_of(const struct bbf_jfr_type *type)
{
    if (type->super == NULL)
        return 1;
    if (is(type->super, ANNOTATION_TYPE))
        return 3;
    if (is(type->super, SETTING_TYPE))
        return 4;
    return type->is_event ? 5 : 2;
}

static int compare_packages(const struct bbf_jfr_type *x, const struct bbf_jfr_type *y)
{
    size_t m = (size_t)(simple_name(x->name) - x->name),
           n = (size_t)(simple_name(y->name) - y->name);
    int order = strncmp(x->name, y->name, m < n ? m : n);

    return order != 0 ? order : (m > n) - (m < n);
}

static bool is_jdk_event(const struct bbf_jfr_type *type)
{
    return type->is_event &&
           compare_packages(type, &(struct bbf_jfr_type){.name = "jdk.jfr."}) == 0;
}

static int compare_types(const void *a, const void *b)
{
    const struct bbf_jfr_type *x = *(const struct bbf_jfr_type *const *)a;
    const struct bbf_jfr_type *y = *(const struct bbf_jfr_type *const *)b;

    if (group_of(x) != group_of(y))
        return group_of(x) - group_of(y);
    int order = compare_packages(x, y);
    if (order == 0)
        return strcmp(x->name, y->name);
    if (is_jdk_event(x) != is_jdk_event(y))
        return is_jdk_event(x) ? -1 : 1;
    return order;
}

/* ---- text ---- */

static bool is_text_value(const struct bbf_jfr_annotation *a, const char *name)
{
    size_t len = strcspn(name, "-");

    for (size_t i = 0; a->type != NULL && i < a->type->n_fields; i++) {
        const struct bbf_jfr_field *field = &a->type->fields[i];
        if (strncmp(field->name, name, len) == 0 && field->name[len] == '\0')
            return field->type->kind == BBF_JFR_KIND_STRING;
    }
    return true;
}

static void put_values(struct bbf_buf *out, const struct bbf_jfr_annotation *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const char *quote = is_text_value(a, a->names[i]) ? "\"" : "";
        bbf_safe_printf(out, BBF_SAFE_VALUE, "%s%s%s%s", i > 0 ? ", " : "", quote, a->values[i],
                        quote);
    }
}

static bool is_name_annotation(const struct bbf_jfr_annotation *a)
{
    return a->type == NULL || is(a->type->name, "jdk.jfr.Name");
}

static void put_annotations(struct bbf_buf *out, const char *indent,
                            const struct bbf_jfr_annotation *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct bbf_jfr_annotation *a = &list[i];
        if (is_name_annotation(a))
            continue;
        bbf_safe_printf(out, BBF_SAFE_VALUE, "%s@%s", indent, simple_name(a->type->name));
        if (a->n > 0) {
            bbf_buf_str(out, a->n > 1 ? "({" : "(");
            put_values(out, a);
            bbf_buf_str(out, a->n > 1 ? "})" : ")");
        }
        bbf_buf_char(out, '\n');
    }
}

static void put_type(struct bbf_buf *out, const struct bbf_jfr_type *type)
{
    if (strchr(type->name, '.') != NULL)
        bbf_safe_printf(out, BBF_SAFE_LINES, "@Name(\"%s\")\n", type->name);
    put_annotations(out, "", type->annotations, type->n_annotations);
    bbf_safe_printf(out, BBF_SAFE_VALUE, "class %s", simple_name(type->name));
    if (type->super != NULL)
        bbf_safe_printf(out, BBF_SAFE_VALUE, " extends %s", type->super);
    bbf_buf_str(out, " {\n");
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct bbf_jfr_field *field = &type->fields[i];
        const struct bbf_jfr_type *shown = field->type;
        if (shown->is_simple && shown->n_fields == 1)
            shown = shown->fields[0].type;
        if (i > 0)
            bbf_buf_char(out, '\n');
        put_annotations(out, "  ", field->annotations, field->n_annotations);
        bbf_safe_printf(out, BBF_SAFE_LINES, "  %s%s%s %s;\n",
                        is(field->type->super, SETTING_TYPE) ? "static " : "",
                        simple_name(shown->name), field->is_array ? "[]" : "", field->name);
    }
    bbf_buf_str(out, "}\n\n");
}

static int put_types(struct bbf_buf *out, const struct bbf_jfr_metadata *m,
                     const struct bbf_jfr_filter *filter)
{
    const struct bbf_jfr_type **types = calloc(m->n_types + 1, sizeof(*types));
    bool all = filter->events == NULL && filter->categories == NULL;

    if (types == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < m->n_types; i++)
        types[i] = &m->types[i];
    qsort(types, m->n_types, sizeof(*types), compare_types);
    for (size_t i = 0; i < m->n_types; i++) {
        if (all || (types[i]->is_event && bbf_jfr_filter_type(filter, types[i])))
            put_type(out, types[i]);
    }
    free(types);
    return out->failed ? BBF_ENOMEM : BBF_OK;
}

/* Types of several chunks: the JDK's tool shows the first chunk's. */
int bbf_jfr_print_metadata(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                           const struct bbf_jfr_filter *filter)
{
    int err = bbf_jfr_next_chunk(recording);

    return err == BBF_OK ? put_types(out, &recording->chunk.metadata, filter) : err;
}
