/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/print.h"
#include "jfr/print_value.h"

struct line {
    struct bbf_buf *out;
    const struct bbf_jfr_print *how;
    const struct bbf_jfr_chunk *chunk;
    struct bbf_jfr_recording *recording;
    unsigned values_left; /* of the event */
    struct bbf_buf text;  /* a text being quoted */
};

static void put_value(struct line *l, const struct bbf_jfr_value *value, const char *prefix);

/* l->text, in quotation marks where a script would split it. */
static void put_text(struct line *l)
{
    const char *text = bbf_buf_cstr(&l->text);
    bool is_quoted = l->text.len == 0 || strpbrk(text, " \t\n\r\"=\\") != NULL;

    if (!is_quoted) {
        bbf_safe_add(l->out, text, l->text.len, BBF_SAFE_VALUE, '\0');
        return;
    }
    bbf_buf_char(l->out, '"');
    for (size_t i = 0, start = 0; i <= l->text.len; i++) {
        if (i < l->text.len && text[i] != '"' && text[i] != '\\')
            continue;
        bbf_safe_add(l->out, text + start, i - start, BBF_SAFE_VALUE, '\0');
        if (i < l->text.len)
            bbf_buf_printf(l->out, "\\%c", text[i]);
        start = i + 1;
    }
    bbf_buf_char(l->out, '"');
}

static void put_text_value(struct line *l, const struct bbf_jfr_value *value, bool dots)
{
    l->text.len = 0;
    bbf_jfr_add_text(&l->text, &value->text);
    for (size_t i = 0; dots && i < l->text.len; i++)
        l->text.data[i] = l->text.data[i] == '/' ? '.' : l->text.data[i];
    put_text(l);
}

static void put_number(struct line *l, const struct bbf_jfr_value *value)
{
    struct bbf_jfr_moment m = bbf_jfr_moment_of(l->chunk, value);

    if (m.what == BBF_JFR_TIME)
        bbf_jfr_add_time_iso(l->out, m.epoch_ns, 0);
    else if (m.what == BBF_JFR_SPAN)
        bbf_jfr_add_duration_iso(l->out, m.span);
    else if (m.what == BBF_JFR_FOREVER)
        bbf_buf_str(l->out, "forever");
    else if (m.what != BBF_JFR_NO_MOMENT)
        bbf_buf_str(l->out, "null");
    else if (bbf_jfr_annotation(value->field->annotations, value->field->n_annotations,
                                "jdk.jfr.MemoryAddress") != NULL)
        bbf_buf_printf(l->out, "0x%" PRIX64, (uint64_t)value->integer);
    else
        bbf_jfr_add_integer(l->out, value->integer, value->field->is_unsigned);
}

/* A constant by the name that it has. False: it has none. */
static bool put_named(struct line *l, const struct bbf_jfr_value *value)
{
    static const char *const names[] = {"javaName", "name", "osName", "string"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bbf_jfr_value name = bbf_jfr_member(l->chunk, value, names[i]);
        if (name.what != BBF_JFR_IS_TEXT)
            continue;
        put_text_value(l, &name, strcmp(value->type->name, "java.lang.Class") == 0);
        return true;
    }
    return false;
}

static void put_frame(struct line *l, const struct bbf_jfr_value *frame)
{
    struct bbf_jfr_value method = bbf_jfr_member(l->chunk, frame, "method");
    struct bbf_jfr_value type = bbf_jfr_member(l->chunk, &method, "type");
    struct bbf_jfr_value line = bbf_jfr_member(l->chunk, frame, "lineNumber");
    struct bbf_jfr_value class_name = bbf_jfr_member(l->chunk, &type, "name");
    struct bbf_jfr_value name = bbf_jfr_member(l->chunk, &method, "name");

    l->text.len = 0;
    if (class_name.what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&l->text, &class_name.text);
    for (size_t i = 0; i < l->text.len; i++)
        l->text.data[i] = l->text.data[i] == '/' ? '.' : l->text.data[i];
    bbf_buf_char(&l->text, '.');
    if (name.what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&l->text, &name.text);
    if (line.what == BBF_JFR_IS_INTEGER && line.integer >= 0)
        bbf_buf_printf(&l->text, ":%" PRId64, line.integer);
    put_text(l);
}

static void put_struct(struct line *l, const struct bbf_jfr_value *value, const char *prefix)
{
    struct bbf_jfr_cursor c = value->at;

    if (value->key != 0) {
        if (!put_named(l, value))
            bbf_buf_printf(l->out, "#%" PRIu64, value->key);
        return;
    }
    bbf_buf_char(l->out, '{');
    for (size_t i = 0; i < value->type->n_fields && prefix != NULL; i++) {
        struct bbf_jfr_value field;
        if (!bbf_jfr_read_value(l->chunk, &c, &value->type->fields[i], &field))
            break;
        bbf_safe_printf(l->out, BBF_SAFE_VALUE, "%s%s=", i > 0 ? "," : "",
                        value->type->fields[i].name);
        put_value(l, &field, NULL);
    }
    bbf_buf_char(l->out, '}');
}

static void put_value(struct line *l, const struct bbf_jfr_value *value, const char *prefix)
{
    bool is_there = bbf_jfr_take_value(l->recording, &l->values_left);

    switch (is_there ? value->what : BBF_JFR_IS_NULL) {
    case BBF_JFR_IS_NULL:
        bbf_buf_str(l->out, "null");
        break;
    case BBF_JFR_IS_INTEGER:
        put_number(l, value);
        break;
    case BBF_JFR_IS_REAL:
        bbf_jfr_add_real(l->out, value->real, value->type->kind == BBF_JFR_KIND_FLOAT);
        break;
    case BBF_JFR_IS_BOOLEAN:
        bbf_buf_str(l->out, value->integer != 0 ? "true" : "false");
        break;
    case BBF_JFR_IS_CHARACTER:
        bbf_buf_printf(l->out, "%" PRId64, value->integer);
        break;
    case BBF_JFR_IS_TEXT:
        put_text_value(l, value, false);
        break;
    case BBF_JFR_IS_STRUCT:
        put_struct(l, value, prefix);
        break;
    case BBF_JFR_IS_LIST:
        bbf_buf_printf(l->out, "[%zu]", value->n);
        break;
    }
}

static bool has_own_place(const char *field)
{
    return strcmp(field, "startTime") == 0 || strcmp(field, "eventThread") == 0 ||
           strcmp(field, "stackTrace") == 0;
}

static void put_fields(struct line *l, const struct bbf_jfr_event *event)
{
    struct bbf_jfr_cursor c = event->fields;

    for (size_t i = 0; i < event->type->n_fields; i++) {
        const struct bbf_jfr_field *field = &event->type->fields[i];
        struct bbf_jfr_value value;
        if (!bbf_jfr_read_value(l->chunk, &c, field, &value))
            return;
        if (has_own_place(field->name) ||
            (strcmp(field->name, "duration") == 0 && value.integer == 0))
            continue;
        bbf_safe_printf(l->out, BBF_SAFE_VALUE, " %s=", field->name);
        put_value(l, &value, field->name);
    }
}

static void put_event(void *ctx, const struct bbf_jfr_chunk *chunk,
                      const struct bbf_jfr_event *event)
{
    struct line *l = ctx;
    struct bbf_jfr_value of = bbf_jfr_event_value(event), frame;
    int64_t start, end;

    l->chunk = chunk;
    l->values_left = l->how->values_max > 0 ? l->how->values_max : BBF_JFR_VALUES_MAX;
    bbf_jfr_event_times(event, &start, &end);
    bbf_jfr_add_time_iso(l->out, bbf_jfr_time_ns(chunk, start), 0);
    bbf_safe_printf(l->out, BBF_SAFE_VALUE, " %s", event->type->name);
    struct bbf_jfr_value thread = bbf_jfr_member(chunk, &of, "eventThread");
    struct bbf_jfr_value stack = bbf_jfr_member(chunk, &of, "stackTrace");
    if (thread.what == BBF_JFR_IS_STRUCT) {
        bbf_buf_str(l->out, " thread=");
        put_value(l, &thread, NULL);
    }
    put_fields(l, event);
    struct bbf_jfr_value frames = bbf_jfr_member(chunk, &stack, "frames");
    if (frames.what == BBF_JFR_IS_LIST && bbf_jfr_read_element(chunk, &frames, &frame)) {
        bbf_buf_str(l->out, " at=");
        put_frame(l, &frame);
    }
    bbf_buf_char(l->out, '\n');
}

int bbf_jfr_print_lines(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                        const struct bbf_jfr_print *how)
{
    struct line l = {.out = out, .how = how, .recording = recording};
    int err = bbf_jfr_each_event(recording, how, put_event, &l);

    bool failed = out->failed || l.text.failed;
    bbf_buf_free(&l.text);
    return failed ? BBF_ENOMEM : err;
}
