/* SPDX-License-Identifier: Apache-2.0 */
#include "client/show.h"

#include "client/layout.h"
#include "core/safe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static double double_of(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Append a value on one line, whatever it contains. */
static void add_text(struct bbf_buf *out, const struct bbf_wire_str *text)
{
    if (text->len > 0)
        bbf_safe_add(out, text->s, text->len, BBF_SAFE_VALUE, '\0');
}

/* Append a text of several lines. All but the first are indented by `indent`, so that none looks
 * like a new answer. */
static void add_lines(struct bbf_buf *out, const struct bbf_wire_str *text, size_t indent)
{
    const char *end = text->s + text->len;

    for (const char *line = text->s; text->len > 0;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline + 1 : end;
        bbf_safe_add(out, line, (size_t)(stop - line), BBF_SAFE_LINES, '\0');
        line = stop;
        if (line == end)
            return;
        for (size_t i = 0; i < indent; i++)
            bbf_buf_char(out, ' ');
    }
}

static void end_line(struct bbf_buf *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        bbf_buf_char(out, '\n');
}

/* Append the shortest form that reads back as the same number. */
static void add_shortest(struct bbf_buf *out, double value, bool single)
{
    char text[40];
    int most = single ? 9 : 17;

    for (int digits = single ? 6 : 15; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (single ? (float)back == (float)value : back == value)
            break;
    }
    bbf_buf_str(out, text);
}

static void add_value(struct bbf_buf *out, const struct bbf_value *value)
{
    switch (value->kind) {
    case BBF_VALUE_NULL:
        bbf_buf_str(out, "null");
        break;
    case BBF_VALUE_INT:
        bbf_buf_printf(out, "%" PRId32, value->u.i);
        break;
    case BBF_VALUE_LONG:
        bbf_buf_printf(out, "%" PRId64, value->u.l);
        break;
    case BBF_VALUE_FLOAT:
        add_shortest(out, (double)float_of(value->u.float_bits), true);
        break;
    case BBF_VALUE_DOUBLE:
        add_shortest(out, double_of(value->u.double_bits), false);
        break;
    case BBF_VALUE_BOOLEAN:
        bbf_buf_str(out, value->u.b ? "true" : "false");
        break;
    case BBF_VALUE_STRING:
    case BBF_VALUE_BIGINT:
    case BBF_VALUE_BIGDEC:
        add_text(out, &value->text);
        break;
    }
}

/* ---- Grids ----------------------------------------------------------------------------------- */

static bool is_right(enum bbf_value_kind kind)
{
    return kind == BBF_VALUE_INT || kind == BBF_VALUE_LONG || kind == BBF_VALUE_FLOAT ||
           kind == BBF_VALUE_DOUBLE || kind == BBF_VALUE_BIGINT || kind == BBF_VALUE_BIGDEC;
}

static void add_cell(struct bbf_buf *out, const struct bbf_value *cell)
{
    if (cell->kind == BBF_VALUE_FLOAT)
        bbf_buf_printf(out, "%.6f", (double)float_of(cell->u.float_bits));
    else if (cell->kind == BBF_VALUE_DOUBLE)
        bbf_buf_printf(out, "%.6f", double_of(cell->u.double_bits));
    else if (cell->kind == BBF_VALUE_NULL)
        bbf_buf_char(out, '-');
    else
        add_value(out, cell);
}

/* Columns of the longest line of `text`. */
static size_t width_of(const char *text, size_t len)
{
    const char *end = text + len;
    size_t widest = 0;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        size_t width = bbf_columns(text, (size_t)(stop - text));
        widest = width > widest ? width : widest;
        text = stop + (newline != NULL);
    }
    return widest;
}

/* The maximum width of padding: one huge cell must not make every row as long. */
static size_t padded_width(size_t width)
{
    enum { WIDEST = 200 };
    return width < WIDEST ? width : WIDEST;
}

static void add_spaces(struct bbf_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bbf_buf_char(out, ' ');
}

/* `out` ends with a complete line: have `full` take the contents if they are large. */
static void drain(const struct bbf_show_to *to)
{
    if (to->full != NULL && to->out->len > BBF_BUF_PIECE)
        to->full(to->ctx, to->out);
}

/* Append one cell at column `left` of its line. Its further lines are indented to that column, up
 * to the maximum width. */
static void add_padded(const struct bbf_show_to *to, const char *text, size_t len, size_t left,
                       size_t width, bool right, bool last)
{
    struct bbf_buf *out = to->out;
    const char *end = text + len;

    add_spaces(out, 2);
    for (;;) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((line != NULL ? line : end) - text), own = width_of(text, n);
        if (right && own < width)
            add_spaces(out, width - own);
        bbf_buf_add(out, text, n);
        if (line == NULL || line + 1 == end) {
            if (!right && !last && own < width)
                add_spaces(out, width - own);
            return;
        }
        bbf_buf_char(out, '\n');
        drain(to);
        add_spaces(out, padded_width(left + 2));
        text = line + 1;
    }
}

/* "HistogramData[v, …][n, …]", as the v1 reader gives the histogram of a stock agent: one line for
 * each bucket. False: it is something else. */
static bool histogram(struct bbf_buf *out, const struct bbf_value *cell)
{
    static const char prefix[] = "HistogramData[";
    const char *values, *counts;

    if (cell->kind != BBF_VALUE_STRING || cell->text.s == NULL ||
        strncmp(cell->text.s, prefix, sizeof prefix - 1) != 0)
        return false;
    values = cell->text.s + sizeof prefix - 1;
    counts = strstr(values, "][");
    if (counts == NULL)
        return false;
    counts += 2;
    bbf_buf_str(out, "value: count");
    while (*values != ']' && *counts != ']' && *values != '\0' && *counts != '\0') {
        size_t v = strcspn(values, ",]"), c = strcspn(counts, ",]");
        bbf_safe_printf(out, BBF_SAFE_VALUE, "\n%.*s: %.*s", (int)v, values, (int)c, counts);
        values += v + strspn(values + v, ", ");
        counts += c + strspn(counts + c, ", ");
    }
    return true;
}

static void cell_text(struct bbf_buf *text, const struct bbf_value *cell)
{
    text->len = 0;
    if (!histogram(text, cell))
        add_cell(text, cell);
}

static void column_name(struct bbf_buf *text, const struct bbf_wire_str *name)
{
    text->len = 0;
    add_text(text, name);
}

static void show_grid(const struct bbf_show_to *to, const struct bbf_command *grid)
{
    struct bbf_buf *out = to->out;
    enum { COLUMNS = 256 }; /* those after it are not aligned */
    size_t widths[COLUMNS] = {0};
    struct bbf_buf text = BBF_BUF_INIT;
    size_t n_rows = grid->n_rows;

    for (size_t c = 0; c < grid->n_list && c < COLUMNS; c++) {
        column_name(&text, &grid->list[c]);
        widths[c] = padded_width(width_of(text.data, text.len));
    }
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t c = 0; c < grid->rows[r].n_cells && c < COLUMNS; c++) {
            cell_text(&text, &grid->rows[r].cells[c]);
            size_t width = padded_width(width_of(text.data, text.len));
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    add_text(out, &grid->text[0]);
    end_line(out);
    /* Names are aligned like the first cell of their column. */
    size_t left = 0;
    for (size_t c = 0; c < grid->n_list && n_rows > 0; c++) {
        bool right = c < grid->rows[0].n_cells && is_right(grid->rows[0].cells[c].kind);
        size_t width = c < COLUMNS ? widths[c] : 0;
        column_name(&text, &grid->list[c]);
        add_padded(to, bbf_buf_cstr(&text), text.len, left, width, right, c + 1 == grid->n_list);
        left += 2 + width;
    }
    for (size_t r = 0; r < n_rows; r++) {
        const struct bbf_row *row = &grid->rows[r];
        end_line(out);
        drain(to);
        left = 0;
        for (size_t c = 0; c < row->n_cells; c++) {
            cell_text(&text, &row->cells[c]);
            size_t width = c < COLUMNS ? widths[c] : 0;
            add_padded(to, bbf_buf_cstr(&text), text.len, left, width, is_right(row->cells[c].kind),
                       c + 1 == row->n_cells);
            left += 2 + width;
        }
    }
    end_line(out);
    out->failed = out->failed || text.failed;
    bbf_buf_free(&text);
}

/* ---- The others ------------------------------------------------------------------------------ */

static void show_map(struct bbf_buf *out, const struct bbf_command *map)
{
    add_text(out, &map->text[0]);
    end_line(out);
    for (size_t i = 0; i < map->n_entries; i++) {
        add_text(out, &map->entries[i].key);
        bbf_buf_str(out, " = ");
        add_value(out, &map->entries[i].value);
        bbf_buf_char(out, '\n');
    }
}

/* "2026-11-23T13:17:02.123+01:00 ": ISO 8601, local time with its zone. */
static void add_time(struct bbf_buf *out, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm local;
    char text[32], zone[8];

    if (localtime_r(&seconds, &local) == NULL)
        return;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
    strftime(zone, sizeof zone, "%z", &local);
    bbf_buf_printf(out, "%s.%03d%.3s:%s ", text, (int)(ms % 1000), zone, zone + 3);
}

/* If it has a time, each of its lines begins with it. */
static void show_message(struct bbf_buf *out, const struct bbf_command *message)
{
    const char *at = message->text[0].len > 0 ? message->text[0].s : "";
    const char *end = at + message->text[0].len;

    do {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const char *next = line != NULL ? line + 1 : end;
        if (message->timestamp_ms > 0)
            add_time(out, message->timestamp_ms);
        add_lines(out, &(struct bbf_wire_str){(char *)at, (size_t)(next - at)}, 0);
        at = next;
    } while (at < end);
    if (message->text[0].len == 0)
        bbf_buf_char(out, '\n');
    end_line(out);
}

/* A stack from Java begins with class and message. */
static void show_error(struct bbf_buf *out, const struct bbf_command *error)
{
    const struct bbf_wire_str *class = &error->text[0], *message = &error->text[1],
                              *stack = &error->text[2];
    bool told = message->len > 0 && stack->len > 0 && strstr(stack->s, message->s) != NULL;

    bbf_buf_str(out, "ERROR ");
    if (!told) {
        add_text(out, class);
        if (class->len > 0 && message->len > 0)
            bbf_buf_str(out, ": ");
        add_text(out, message);
        if (class->len > 0 || message->len > 0)
            end_line(out);
    }
    add_lines(out, stack, 0);
    end_line(out);
}

void bbf_show(struct bbf_buf *out, const struct bbf_command *command)
{
    bbf_show_to(&(struct bbf_show_to){.out = out}, command);
}

void bbf_show_to(const struct bbf_show_to *to, const struct bbf_command *command)
{
    struct bbf_buf *out = to->out;

    end_line(out);
    switch (command->type) {
    case BBF_CMD_MESSAGE:
        show_message(out, command);
        break;
    case BBF_CMD_ERROR:
        show_error(out, command);
        break;
    case BBF_CMD_GRID_DATA:
        show_grid(to, command);
        break;
    case BBF_CMD_NUMBER_MAP:
    case BBF_CMD_STRING_MAP:
        show_map(out, command);
        break;
    case BBF_CMD_NUMBER:
        add_text(out, &command->text[0]);
        bbf_buf_str(out, command->text[0].len > 0 ? " = " : "");
        add_value(out, &command->value);
        bbf_buf_char(out, '\n');
        break;
    case BBF_CMD_STATUS:
        if (!command->flag)
            bbf_buf_printf(out, "the agent says: failed (status %" PRId32 ")\n",
                           command->number[0]);
        break;
    case BBF_CMD_RENAME:
        bbf_buf_str(out, "the probe's class was renamed to ");
        add_text(out, &command->text[0]);
        end_line(out);
        break;
    case BBF_CMD_RETRANSFORMATION_START:
        bbf_buf_printf(out, "%" PRId32 " classes are retransformed\n", command->number[0]);
        break;
    case BBF_CMD_RETRANSFORM_CLASS:
        bbf_buf_str(out, "retransformed ");
        add_text(out, &command->text[0]);
        end_line(out);
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        for (size_t i = 0; i < command->n_list; i++) {
            add_text(out, &command->list[i]);
            bbf_buf_char(out, '\n');
        }
        break;
    default:
        break;
    }
}
