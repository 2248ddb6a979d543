/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/print.h"
#include "jfr/print_value.h"

struct text {
    struct bbf_buf *out;
    const struct bbf_jfr_print *how;
    const struct bbf_jfr_chunk *chunk;
    struct bbf_jfr_recording *recording;
    int indent, depth;
    unsigned values_left;   /* of the event */
    int64_t array_elements; /* of the event: of its old object, if that is an array */
    struct bbf_buf name;    /* a text being escaped */
};

static void put_value(struct text *t, const struct bbf_jfr_value *value, const char *end);

static void put_indent(struct text *t)
{
    for (int i = 0; i < t->indent; i++)
        bbf_buf_str(t->out, "  ");
}

/* Text of the recording; `dots`: a class's name as it is in source. */
static void put_text(struct text *t, const struct bbf_jfr_value *value, bool dots)
{
    t->name.len = 0;
    if (value->what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&t->name, &value->text);
    else
        bbf_buf_str(&t->name, "null");
    for (size_t i = 0; dots && i < t->name.len; i++) {
        if (t->name.data[i] == '/')
            t->name.data[i] = '.';
    }
    bbf_safe_add(t->out, bbf_buf_cstr(&t->name), t->name.len, BBF_SAFE_VALUE, '\0');
}

static int64_t integer_of(const struct text *t, const struct bbf_jfr_value *of, const char *name)
{
    struct bbf_jfr_value value = bbf_jfr_member(t->chunk, of, name);

    return value.what == BBF_JFR_IS_INTEGER || value.what == BBF_JFR_IS_BOOLEAN ? value.integer : 0;
}

/* ---- the JVM's own types ---- */

static void put_thread(struct text *t, const struct bbf_jfr_value *thread, const char *end)
{
    int64_t java_id = integer_of(t, thread, "javaThreadId");
    bool is_java = java_id > 0;
    struct bbf_jfr_value name = bbf_jfr_member(t->chunk, thread, is_java ? "javaName" : "osName");

    bbf_buf_char(t->out, '"');
    put_text(t, &name, false);
    bbf_buf_printf(t->out, "\" (%s = %" PRId64 "%s)%s\n", is_java ? "javaThreadId" : "osThreadId",
                   is_java ? java_id : integer_of(t, thread, "osThreadId"),
                   is_java && integer_of(t, thread, "virtual") != 0 ? ", virtual" : "", end);
}

/* One type of a descriptor at *at, which moves behind it, without its package. */
static void put_descriptor_type(struct text *t, const char **at)
{
    static const char codes[] = "IJZDFSCB";
    static const char *const names[] = {"int",   "long",  "boolean", "double",
                                        "float", "short", "char",    "byte"};
    int dimensions = 0;

    for (; **at == '['; (*at)++)
        dimensions++;
    const char *code = **at != '\0' ? strchr(codes, **at) : NULL;
    if (**at == 'L') {
        size_t len = strcspn(*at, ";");
        const char *start = *at + 1, *end = *at + len;
        for (const char *p = start; p < end; p++)
            start = *p == '/' || *p == '.' ? p + 1 : start;
        bbf_safe_printf(t->out, BBF_SAFE_VALUE, "%.*s", (int)(end - start), start);
        *at = *end != '\0' ? end + 1 : end;
    } else {
        bbf_buf_str(t->out, code != NULL ? names[code - codes] : "<unknown-descriptor-type>");
        *at += **at != '\0';
    }
    while (dimensions-- > 0)
        bbf_buf_str(t->out, "[]");
}

static void put_parameters(struct text *t, const struct bbf_jfr_value *descriptor)
{
    bool is_first = true;

    t->name.len = 0;
    if (descriptor->what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&t->name, &descriptor->text);
    char *copy = strdup(bbf_buf_cstr(&t->name));
    const char *at = copy != NULL && copy[0] == '(' ? copy + 1 : "";
    while (*at != '\0' && *at != ')') {
        bbf_buf_str(t->out, is_first ? "" : ", ");
        put_descriptor_type(t, &at);
        is_first = false;
    }
    free(copy);
}

static void put_method(struct text *t, const struct bbf_jfr_value *method)
{
    struct bbf_jfr_value type = bbf_jfr_member(t->chunk, method, "type");
    struct bbf_jfr_value class_name = bbf_jfr_member(t->chunk, &type, "name");
    struct bbf_jfr_value name = bbf_jfr_member(t->chunk, method, "name");
    struct bbf_jfr_value descriptor = bbf_jfr_member(t->chunk, method, "descriptor");

    put_text(t, &class_name, true);
    bbf_buf_char(t->out, '.');
    put_text(t, &name, false);
    bbf_buf_char(t->out, '(');
    put_parameters(t, &descriptor);
    bbf_buf_char(t->out, ')');
}

/* `size`: of the array, shown in its first brackets if it is above 0. */
static void put_class_name(struct text *t, const struct bbf_jfr_value *name, int64_t size)
{
    t->name.len = 0;
    if (name->what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&t->name, &name->text);
    const char *text = bbf_buf_cstr(&t->name);
    if (text[0] != '[') {
        put_text(t, name, true);
        return;
    }
    int dimensions = (int)strspn(text, "[");
    char *copy = strdup(text + dimensions), *end = copy != NULL ? strchr(copy, ';') : NULL;
    if (end != NULL && copy[0] == 'L') { /* with its package, unlike a parameter's type */
        *end = '\0';
        for (char *p = copy; *p != '\0'; p++)
            *p = *p == '/' ? '.' : *p;
        bbf_safe_add(t->out, copy + 1, strlen(copy + 1), BBF_SAFE_VALUE, '\0');
    } else if (copy != NULL) {
        const char *at = copy;
        put_descriptor_type(t, &at);
    }
    free(copy);
    if (size > 0 && dimensions-- > 0)
        bbf_buf_printf(t->out, "[%" PRId64 "]", size);
    while (dimensions-- > 0)
        bbf_buf_str(t->out, "[]");
}

static void put_class(struct text *t, const struct bbf_jfr_value *class, const char *end)
{
    struct bbf_jfr_value name = bbf_jfr_member(t->chunk, class, "name");
    struct bbf_jfr_value loader = bbf_jfr_member(t->chunk, class, "classLoader");
    struct bbf_jfr_value loader_name = bbf_jfr_member(t->chunk, &loader, "name");
    struct bbf_jfr_value loader_type = bbf_jfr_member(t->chunk, &loader, "type");

    if (loader.what == BBF_JFR_IS_STRUCT && loader_name.what != BBF_JFR_IS_TEXT)
        loader_name = bbf_jfr_member(t->chunk, &loader_type, "name");
    put_class_name(t, &name, 0);
    bbf_buf_str(t->out, " (classLoader = ");
    put_text(t, &loader_name, true);
    bbf_buf_printf(t->out, ")%s\n", end);
}

static void put_class_loader(struct text *t, const struct bbf_jfr_value *loader, const char *end)
{
    struct bbf_jfr_value type = bbf_jfr_member(t->chunk, loader, "type");
    struct bbf_jfr_value name = bbf_jfr_member(t->chunk, &type, "name");

    put_text(t, &name, true);
    if (type.what == BBF_JFR_IS_STRUCT)
        bbf_buf_printf(t->out, " (id = %" PRIu64 ")", loader->key);
    bbf_buf_printf(t->out, "%s\n", end);
}

/* The JDK leaves hidden methods out of a stack. */
static bool is_shown(const struct text *t, const struct bbf_jfr_value *frame)
{
    struct bbf_jfr_value method = bbf_jfr_member(t->chunk, frame, "method");

    return method.what == BBF_JFR_IS_STRUCT && integer_of(t, &method, "hidden") == 0;
}

static void put_frame(struct text *t, const struct bbf_jfr_value *frame)
{
    struct bbf_jfr_value method = bbf_jfr_member(t->chunk, frame, "method");
    int64_t line = integer_of(t, frame, "lineNumber");

    put_method(t, &method);
    if (line >= 0)
        bbf_buf_printf(t->out, " line: %" PRId64, line);
}

static void put_stack(struct text *t, const struct bbf_jfr_value *stack)
{
    struct bbf_jfr_value frames = bbf_jfr_member(t->chunk, stack, "frames"), frame;
    unsigned shown = 0, seen = 0;

    bbf_buf_str(t->out, "[\n");
    t->indent++;
    while (shown < t->how->stack_depth && bbf_jfr_read_element(t->chunk, &frames, &frame)) {
        seen++;
        if (!is_shown(t, &frame))
            continue;
        put_indent(t);
        put_frame(t, &frame);
        bbf_buf_char(t->out, '\n');
        shown++;
    }
    if (integer_of(t, stack, "truncated") != 0 || seen == t->how->stack_depth) {
        put_indent(t);
        bbf_buf_str(t->out, "...\n");
    }
    t->indent--;
    put_indent(t);
    bbf_buf_str(t->out, "]\n");
}

/* ---- an old object, and what keeps it ---- */

static void put_object(struct text *t, const struct bbf_jfr_value *object, int64_t size)
{
    struct bbf_jfr_value type = bbf_jfr_member(t->chunk, object, "type");
    struct bbf_jfr_value name = bbf_jfr_member(t->chunk, &type, "name");
    struct bbf_jfr_value description = bbf_jfr_member(t->chunk, object, "description");

    if (type.what == BBF_JFR_IS_STRUCT)
        put_class_name(t, &name, size);
    if (type.what == BBF_JFR_IS_STRUCT && description.what == BBF_JFR_IS_TEXT) {
        bbf_buf_char(t->out, ' ');
        put_text(t, &description, false);
    }
    bbf_buf_char(t->out, '\n');
}

/* "[5] : " or "field : "; the size of the array that holds the object, 0: no array. */
static int64_t put_holder(struct text *t, const struct bbf_jfr_value *referrer)
{
    struct bbf_jfr_value array = bbf_jfr_member(t->chunk, referrer, "array");
    struct bbf_jfr_value field = bbf_jfr_member(t->chunk, referrer, "field");
    struct bbf_jfr_value name = bbf_jfr_member(t->chunk, &field, "name");
    bool is_array = array.what == BBF_JFR_IS_STRUCT;

    put_indent(t);
    if (field.what == BBF_JFR_IS_STRUCT)
        put_text(t, &name, false);
    else if (is_array)
        bbf_buf_printf(t->out, "[%" PRId64 "]", integer_of(t, &array, "index"));
    bbf_buf_str(t->out, " : ");
    return is_array ? integer_of(t, &array, "size") : 0;
}

static void put_old_object(struct text *t, const struct bbf_jfr_value *of)
{
    struct bbf_jfr_value object = *of, referrer;

    bbf_buf_str(t->out, " [\n");
    t->indent++;
    put_indent(t);
    put_object(t, &object, t->array_elements);
    while (object.what == BBF_JFR_IS_STRUCT &&
           (referrer = bbf_jfr_member(t->chunk, &object, "referrer")).what == BBF_JFR_IS_STRUCT &&
           bbf_jfr_take_value(t->recording, &t->values_left)) {
        if (integer_of(t, &referrer, "skip") > 0) {
            put_indent(t);
            bbf_buf_str(t->out, "...\n");
        }
        int64_t size = put_holder(t, &referrer);
        object = bbf_jfr_member(t->chunk, &referrer, "object");
        put_object(t, &object, size);
    }
    t->indent--;
    put_indent(t);
    bbf_buf_str(t->out, "]\n");
}

/* ---- values ---- */

static const char *annotation(const struct bbf_jfr_value *value, const char *name)
{
    const struct bbf_jfr_field *f = value->field;
    const struct bbf_jfr_annotation *a = bbf_jfr_annotation(f->annotations, f->n_annotations, name);
    const char *text =
        a != NULL ? bbf_jfr_annotation_value(f->annotations, f->n_annotations, name) : NULL;

    return a == NULL ? NULL : text != NULL ? text : "";
}

static bool put_moment(struct text *t, const struct bbf_jfr_value *value)
{
    struct bbf_jfr_moment m = bbf_jfr_moment_of(t->chunk, value);

    if (m.what == BBF_JFR_NO_MOMENT)
        return false;
    if (m.what == BBF_JFR_TIME)
        bbf_jfr_add_time(t->out, m.epoch_ns, t->chunk->metadata.gmt_offset_ms, t->how->exact);
    else if (m.what == BBF_JFR_FOREVER)
        bbf_buf_str(t->out, "Forever");
    else if (m.what != BBF_JFR_SPAN)
        bbf_buf_str(t->out, "N/A");
    else if (t->how->exact)
        bbf_buf_printf(t->out, "%.9f s", (double)m.span.seconds + (double)m.span.nanos / 1e9);
    else
        bbf_jfr_add_duration(t->out, m.span);
    return true;
}

/* A number whose annotation says how to show it. */
static bool put_annotated(struct text *t, const struct bbf_jfr_value *value, double number)
{
    const char *amount = annotation(value, "jdk.jfr.DataAmount");
    bool is_frequency = annotation(value, "jdk.jfr.Frequency") != NULL;
    int64_t whole = value->what == BBF_JFR_IS_REAL ? bbf_jfr_whole(number) : value->integer;

    if (annotation(value, "jdk.jfr.Percentage") != NULL) {
        bbf_jfr_add_fixed(t->out, 100 * number, t->how->exact ? 9 : 2);
        bbf_buf_char(t->out, '%');
    } else if (amount != NULL && (strcmp(amount, "BYTES") == 0 || strcmp(amount, "BITS") == 0)) {
        bbf_jfr_add_amount(t->out, whole, strcmp(amount, "BITS") == 0, is_frequency, t->how->exact);
    } else if (annotation(value, "jdk.jfr.MemoryAddress") != NULL) {
        bbf_buf_printf(t->out, "0x%08" PRIX64, (uint64_t)whole);
    } else if (is_frequency) {
        if (value->what == BBF_JFR_IS_REAL)
            bbf_jfr_add_real(t->out, number, value->type->kind == BBF_JFR_KIND_FLOAT);
        else
            bbf_jfr_add_integer(t->out, whole, value->field->is_unsigned);
        bbf_buf_str(t->out, " Hz");
    } else {
        return false;
    }
    return true;
}

/* The JVM's values for "not known". */
static bool is_unknown(const struct bbf_jfr_value *value)
{
    if (value->what == BBF_JFR_IS_REAL)
        return isnan(value->real) || (isinf(value->real) && value->real < 0);
    bool is_signed_int = value->type->kind == BBF_JFR_KIND_INT && !value->field->is_unsigned;
    return is_signed_int ? value->integer == INT32_MIN : value->integer == INT64_MIN;
}

static void put_number(struct text *t, const struct bbf_jfr_value *value)
{
    bool is_real = value->what == BBF_JFR_IS_REAL;
    double number = is_real ? value->real : (double)value->integer;

    if (put_moment(t, value))
        return;
    if (is_unknown(value))
        bbf_buf_str(t->out, "N/A");
    else if (put_annotated(t, value, number))
        return;
    else if (is_real)
        bbf_jfr_add_real(t->out, number, value->type->kind == BBF_JFR_KIND_FLOAT);
    else
        bbf_jfr_add_integer(t->out, value->integer, value->field->is_unsigned);
}

static void put_list(struct text *t, const struct bbf_jfr_value *list)
{
    const struct bbf_jfr_value *element;
    struct bbf_jfr_parts parts;

    bbf_buf_str(t->out, "[\n");
    t->indent++;
    bbf_jfr_parts_begin(&parts, t->chunk, list);
    while (t->values_left > 0 && (element = bbf_jfr_parts_next(&parts)) != NULL) {
        put_indent(t);
        put_value(t, element, parts.left > 0 ? ", " : "");
    }
    t->indent--;
    put_indent(t);
    bbf_buf_str(t->out, "]\n");
}

static void put_fields(struct text *t, const struct bbf_jfr_value *of, const char *end)
{
    const struct bbf_jfr_value *value;
    struct bbf_jfr_parts parts;

    bbf_buf_str(t->out, "{\n");
    t->indent++;
    bbf_jfr_parts_begin(&parts, t->chunk, of);
    while ((value = bbf_jfr_parts_next(&parts)) != NULL) {
        put_indent(t);
        bbf_safe_printf(t->out, BBF_SAFE_VALUE, "%s", value->field->name);
        bbf_buf_str(t->out, " = ");
        put_value(t, value, "");
    }
    t->indent--;
    put_indent(t);
    bbf_buf_printf(t->out, "}%s\n", end);
}

static void put_struct(struct text *t, const struct bbf_jfr_value *value, const char *end)
{
    const char *type = value->type->name;

    if (strcmp(type, "java.lang.Thread") == 0) {
        put_thread(t, value, end);
    } else if (strcmp(type, "java.lang.Class") == 0) {
        put_class(t, value, end);
    } else if (strcmp(type, "jdk.types.ClassLoader") == 0) {
        put_class_loader(t, value, end);
    } else if (strcmp(type, "jdk.types.StackFrame") == 0) {
        put_frame(t, value);
        bbf_buf_printf(t->out, "%s\n", end);
    } else if (strcmp(type, "jdk.types.Method") == 0) {
        put_method(t, value);
        bbf_buf_char(t->out, '\n');
    } else if (strcmp(type, "jdk.types.OldObject") == 0) {
        put_old_object(t, value);
    } else if (t->depth == BBF_JFR_DEPTH_MAX) { /* constants may name each other in a circle */
        bbf_buf_printf(t->out, "...%s\n", end);
    } else {
        t->depth++;
        put_fields(t, value, end);
        t->depth--;
    }
}

static void put_value(struct text *t, const struct bbf_jfr_value *value, const char *end)
{
    bool is_there = bbf_jfr_take_value(t->recording, &t->values_left);

    switch (is_there ? value->what : BBF_JFR_IS_NULL) {
    case BBF_JFR_IS_STRUCT:
        put_struct(t, value, end);
        return;
    case BBF_JFR_IS_LIST:
        put_list(t, value);
        return;
    case BBF_JFR_IS_NULL:
        bbf_buf_printf(t->out, "N/A%s\n", end);
        return;
    case BBF_JFR_IS_TEXT:
        bbf_buf_char(t->out, '"');
        put_text(t, value, false);
        bbf_buf_char(t->out, '"');
        break;
    case BBF_JFR_IS_BOOLEAN:
        bbf_buf_str(t->out, value->integer != 0 ? "true" : "false");
        break;
    case BBF_JFR_IS_CHARACTER: {
        char unit[BBF_JFR_INTEGER_MAX];
        struct bbf_buf encoded = BBF_BUF_INIT;
        bbf_jfr_put_char(&encoded, (uint16_t)value->integer);
        memcpy(unit, encoded.data, encoded.len);
        struct bbf_jfr_value one = *value;
        one.what = BBF_JFR_IS_TEXT;
        one.text = (struct bbf_jfr_text){.encoding = BBF_JFR_STRING_CHARS,
                                         .bytes = (const unsigned char *)unit,
                                         .len = encoded.len};
        put_text(t, &one, false);
        bbf_buf_free(&encoded);
        break;
    }
    case BBF_JFR_IS_INTEGER:
    case BBF_JFR_IS_REAL:
        put_number(t, value);
        break;
    }
    bbf_buf_char(t->out, '\n');
}

/* ---- events ---- */

/* Thread and stack come last; a duration of 0 is an event without one. */
static bool is_in_place(const struct bbf_jfr_value *value)
{
    const char *name = value->field->name;

    return strcmp(name, "eventThread") != 0 && strcmp(name, "stackTrace") != 0 &&
           !(strcmp(name, "duration") == 0 && value->integer == 0);
}

static void put_last(struct text *t, const struct bbf_jfr_value *event)
{
    struct bbf_jfr_value thread = bbf_jfr_member(t->chunk, event, "eventThread");
    struct bbf_jfr_value stack = bbf_jfr_member(t->chunk, event, "stackTrace");

    if (thread.what == BBF_JFR_IS_STRUCT) {
        bbf_buf_str(t->out, "  eventThread = ");
        put_thread(t, &thread, "");
    }
    if (stack.what == BBF_JFR_IS_STRUCT) {
        bbf_buf_str(t->out, "  stackTrace = ");
        put_stack(t, &stack);
    }
}

static void put_event(void *ctx, const struct bbf_jfr_chunk *chunk,
                      const struct bbf_jfr_event *event)
{
    struct text *t = ctx;
    struct bbf_jfr_value of = bbf_jfr_event_value(event), value;
    struct bbf_jfr_cursor c = event->fields;

    t->chunk = chunk;
    t->values_left = t->how->values_max > 0 ? t->how->values_max : BBF_JFR_VALUES_MAX;
    t->array_elements = integer_of(t, &of, "arrayElements");
    t->indent = 1;
    bbf_safe_printf(t->out, BBF_SAFE_VALUE, "%s", event->type->name);
    bbf_buf_str(t->out, " {\n");
    for (size_t i = 0; i < event->type->n_fields; i++) {
        if (!bbf_jfr_read_value(chunk, &c, &event->type->fields[i], &value))
            break;
        if (!is_in_place(&value))
            continue;
        put_indent(t);
        bbf_safe_printf(t->out, BBF_SAFE_VALUE, "%s", value.field->name);
        bbf_buf_str(t->out, " = ");
        put_value(t, &value, "");
    }
    put_last(t, &of);
    bbf_buf_str(t->out, "}\n\n");
}

int bbf_jfr_print_text(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                       const struct bbf_jfr_print *how)
{
    struct text t = {.out = out, .how = how, .recording = recording};

    int err = bbf_jfr_each_event(recording, how, put_event, &t);
    bool failed = out->failed || t.name.failed;
    bbf_buf_free(&t.name);
    return failed ? BBF_ENOMEM : err;
}
