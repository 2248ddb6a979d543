/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/print.h"
#include "jfr/print_value.h"

struct json {
    struct bbf_buf *out;
    const struct bbf_jfr_print *how;
    const struct bbf_jfr_chunk *chunk;
    struct bbf_jfr_recording *recording;
    int indent, depth;
    unsigned values_left; /* of the event */
    bool has_event;
    bool on_one_line;    /* an event is */
    struct bbf_buf text; /* a text being escaped */
};

static void put_value(struct json *j, const struct bbf_jfr_value *value);

/* ---- text ---- */

static void put_unit(struct json *j, uint32_t unit)
{
    static const char from[] = "\b\n\t\f\r\"\\/", to[] = "bntfr\"\\/";
    const char *found = unit > 0 && unit < 0x80 ? strchr(from, (int)unit) : NULL;

    if (found != NULL)
        bbf_buf_add(j->out, (char[]){'\\', to[found - from]}, 2);
    else if (unit >= 0x7F || unit < 32)
        bbf_buf_printf(j->out, "\\u%04" PRIx32, unit);
    else
        bbf_buf_char(j->out, (char)unit);
}

/* How many bytes from `utf8` on are the same in JSON. */
static size_t plain_bytes(const char *utf8, const char *end)
{
    const char *at = utf8;

    while (at < end && (unsigned char)*at >= 32 && (unsigned char)*at < 0x7F && *at != '"' &&
           *at != '\\' && *at != '/')
        at++;
    return (size_t)(at - utf8);
}

/* UTF-8 as JSON in ASCII, as the JDK has it: surrogate pairs where there are any. */
static void put_escaped(struct json *j, const char *utf8, size_t len)
{
    const char *end = utf8 + len;

    for (;;) {
        uint32_t c;
        size_t n = plain_bytes(utf8, end);
        bbf_buf_add(j->out, utf8, n);
        utf8 += n;
        if (utf8 == end)
            return;
        utf8 += bbf_utf8_next(utf8, end, &c);
        if (c > 0xFFFF) {
            put_unit(j, 0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        put_unit(j, c);
    }
}

static void put_quoted(struct json *j, const struct bbf_jfr_text *text)
{
    bbf_buf_char(j->out, '"');
    j->text.len = 0;
    if (text->is_ascii)
        put_escaped(j, (const char *)text->bytes, text->len);
    else
        bbf_jfr_add_text(&j->text, text);
    if (j->text.len > 0)
        put_escaped(j, j->text.data, j->text.len);
    bbf_buf_char(j->out, '"');
}

static void put_indent(struct json *j)
{
    static const char spaces[] = "                                ";
    size_t left = j->on_one_line ? 0 : 2 * (size_t)j->indent;

    while (left > 0) {
        size_t n = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        bbf_buf_add(j->out, spaces, n);
        left -= n;
    }
}

static void end_line(struct json *j)
{
    if (!j->on_one_line)
        bbf_buf_char(j->out, '\n');
}

static void put_name(struct json *j, const char *name)
{
    put_indent(j);
    bbf_buf_char(j->out, '"');
    put_escaped(j, name, strlen(name));
    bbf_buf_str(j->out, "\": ");
}

static void begin_object(struct json *j)
{
    bbf_buf_char(j->out, '{');
    end_line(j);
    j->indent++;
}

static void end_object(struct json *j)
{
    j->indent--;
    end_line(j);
    put_indent(j);
    bbf_buf_char(j->out, '}');
}

/* ---- values ---- */

static void put_fields(struct json *j, const struct bbf_jfr_value *of)
{
    struct bbf_jfr_parts parts;
    const struct bbf_jfr_value *value;

    begin_object(j);
    bbf_jfr_parts_begin(&parts, j->chunk, of);
    for (bool is_first = true; (value = bbf_jfr_parts_next(&parts)) != NULL; is_first = false) {
        if (!is_first) {
            bbf_buf_add(j->out, ", ", 2);
            end_line(j);
        }
        put_name(j, value->field->name);
        put_value(j, value);
    }
    end_object(j);
}

static void put_list(struct json *j, const struct bbf_jfr_value *list)
{
    bool is_stack = strcmp(list->type->name, "jdk.types.StackFrame") == 0;
    struct bbf_jfr_parts parts;
    const struct bbf_jfr_value *element;

    bbf_buf_char(j->out, '[');
    bbf_jfr_parts_begin(&parts, j->chunk, list);
    for (unsigned i = 0; j->values_left > 0 && !(is_stack && i >= j->how->stack_depth) &&
                         (element = bbf_jfr_parts_next(&parts)) != NULL;
         i++) {
        if (i > 0)
            bbf_buf_add(j->out, ", ", 2);
        put_value(j, element);
    }
    bbf_buf_char(j->out, ']');
}

/* The JDK's own values for "not known" and "for ever", printed as Java prints them. */
static bool put_moment(struct json *j, const struct bbf_jfr_value *value)
{
    struct bbf_jfr_moment m = bbf_jfr_moment_of(j->chunk, value);

    if (m.what == BBF_JFR_NO_MOMENT)
        return false;
    bbf_buf_char(j->out, '"');
    if (m.what == BBF_JFR_TIME)
        bbf_jfr_add_time_iso(j->out, m.epoch_ns, j->chunk->metadata.gmt_offset_ms);
    else if (m.what == BBF_JFR_NO_TIME)
        bbf_buf_str(j->out, "-999999999-01-01T00:00+18:00");
    else if (m.what == BBF_JFR_SPAN)
        bbf_jfr_add_duration_iso(j->out, m.span);
    else if (m.what == BBF_JFR_NO_SPAN)
        bbf_buf_str(j->out, "PT-2562047788015215H-30M-8S");
    else
        bbf_buf_str(j->out, "PT2562047788015215H30M7.999999999S");
    bbf_buf_char(j->out, '"');
    return true;
}

static void put_character(struct json *j, int64_t unit)
{
    bbf_buf_char(j->out, '"');
    put_unit(j, (uint32_t)unit);
    bbf_buf_char(j->out, '"');
}

static void put_value(struct json *j, const struct bbf_jfr_value *value)
{
    bool is_there = bbf_jfr_take_value(j->recording, &j->values_left);

    switch (is_there ? value->what : BBF_JFR_IS_NULL) {
    case BBF_JFR_IS_NULL:
        bbf_buf_str(j->out, "null");
        break;
    case BBF_JFR_IS_INTEGER:
        if (!put_moment(j, value))
            bbf_jfr_add_integer(j->out, value->integer, value->field->is_unsigned);
        break;
    case BBF_JFR_IS_REAL:
        if (isfinite(value->real))
            bbf_jfr_add_real(j->out, value->real, value->type->kind == BBF_JFR_KIND_FLOAT);
        else
            bbf_buf_str(j->out, "null");
        break;
    case BBF_JFR_IS_BOOLEAN:
        bbf_buf_str(j->out, value->integer != 0 ? "true" : "false");
        break;
    case BBF_JFR_IS_CHARACTER:
        put_character(j, value->integer);
        break;
    case BBF_JFR_IS_TEXT:
        put_quoted(j, &value->text);
        break;
    case BBF_JFR_IS_STRUCT:
        /* Constants may name each other in a circle. */
        if (j->depth == BBF_JFR_DEPTH_MAX) {
            bbf_buf_str(j->out, "null");
            break;
        }
        j->depth++;
        put_fields(j, value);
        j->depth--;
        break;
    case BBF_JFR_IS_LIST:
        put_list(j, value);
        break;
    }
}

static void put_event(void *ctx, const struct bbf_jfr_chunk *chunk,
                      const struct bbf_jfr_event *event)
{
    struct json *j = ctx;
    struct bbf_jfr_value value = bbf_jfr_event_value(event);

    j->chunk = chunk;
    j->values_left = j->how->values_max > 0 ? j->how->values_max : BBF_JFR_VALUES_MAX;
    if (j->has_event)
        bbf_buf_str(j->out, j->on_one_line ? "\n" : ", ");
    j->has_event = true;
    begin_object(j);
    put_name(j, "type");
    bbf_buf_char(j->out, '"');
    put_escaped(j, event->type->name, strlen(event->type->name));
    bbf_buf_str(j->out, "\", ");
    end_line(j);
    put_name(j, "values");
    put_value(j, &value);
    end_object(j);
}

int bbf_jfr_print_json(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                       const struct bbf_jfr_print *how)
{
    struct json j = {.out = out, .how = how, .recording = recording};

    begin_object(&j);
    put_name(&j, "recording");
    begin_object(&j);
    put_name(&j, "events");
    bbf_buf_char(out, '[');
    int err = bbf_jfr_each_event(recording, how, put_event, &j);
    bbf_buf_char(out, ']');
    end_object(&j);
    end_object(&j);
    bbf_buf_char(out, '\n');
    bool failed = j.text.failed || out->failed;
    bbf_buf_free(&j.text);
    return failed ? BBF_ENOMEM : err;
}

int bbf_jfr_print_json_lines(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                             const struct bbf_jfr_print *how)
{
    struct json j = {.out = out, .how = how, .recording = recording, .on_one_line = true};
    int err = bbf_jfr_each_event(recording, how, put_event, &j);

    if (j.has_event)
        bbf_buf_char(out, '\n');
    bool failed = j.text.failed || out->failed;
    bbf_buf_free(&j.text);
    return failed ? BBF_ENOMEM : err;
}
