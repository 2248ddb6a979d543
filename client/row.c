/* SPDX-License-Identifier: Apache-2.0 */
#include "client/row.h"

#include <string.h>
#include <wchar.h>

#include "core/safe.h"

/* Colours of a terminal: SGR, ECMA-48 8.3.117. */
static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[1;31m", "\033[33m"};

/* ---- Characters ------------------------------------------------------------------------------ */

static size_t columns_of(uint32_t code)
{
    if (code < 0x7F)
        return 1;
    if (code == 0xFE0F)
        return 1; /* the sign before it becomes an emoji of two columns */
    int n = wcwidth((wchar_t)code);
    return n >= 0 ? (size_t)n : 2; /* unknown here: the terminal may treat it as wide */
}

size_t bbf_columns(const char *text, size_t len)
{
    size_t columns = 0;

    for (const char *p = text, *end = text + len; p < end;) {
        uint32_t code;
        p += bbf_utf8_next(p, end, &code);
        columns += columns_of(code);
    }
    return columns;
}

size_t bbf_fitting(const char *text, size_t len, size_t most)
{
    const char *p = text, *end = text + len;

    for (size_t columns = 0; p < end;) {
        uint32_t code;
        size_t n = bbf_utf8_next(p, end, &code);
        columns += columns_of(code);
        if (columns > most)
            break;
        p += n;
    }
    return (size_t)(p - text);
}

/* Our own signs, and their ASCII forms. */
static const struct {
    const char *sign, *ascii;
} signs[] = {
    {"│", "|"},
    {"├── ", "|-- "},
    {"└── ", "`-- "},
    {"🚨 LEAK", "CRITICAL LEAK"},
    {"⚠️ LEAK", "MODERATE LEAK"},
    {"⏳ AGED", "AGED"},
    {"→", "->"},
    {"…", "..."},
};

void bbf_row_safe(struct bbf_buf *out, const char *text, size_t len, bool ascii)
{
    const char *end = text + len, *plain = text;

    for (const char *p = text; ascii && p < end; p++) {
        if ((unsigned char)*p < 0x80)
            continue;
        for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
            size_t n = strlen(signs[i].sign);
            if ((size_t)(end - p) < n || memcmp(p, signs[i].sign, n) != 0)
                continue;
            bbf_safe_add(out, plain, (size_t)(p - plain), BBF_SAFE_ASCII, '\0');
            bbf_buf_str(out, signs[i].ascii);
            plain = p + n;
            p = plain - 1;
            break;
        }
    }
    bbf_safe_add(out, plain, (size_t)(end - plain), ascii ? BBF_SAFE_ASCII : BBF_SAFE_VALUE, '\0');
}

/* ---- Rows ------------------------------------------------------------------------------------ */

void bbf_row_style(struct bbf_screen_row *row, enum bbf_style style)
{
    if (row->look->colour && style != BBF_PLAIN)
        bbf_buf_str(row->out, codes[style]);
}

void bbf_row_style_end(struct bbf_screen_row *row, enum bbf_style style)
{
    if (row->look->colour && style != BBF_PLAIN)
        bbf_buf_str(row->out, "\033[0m");
}

static void next_row(struct bbf_screen_row *row, enum bbf_style style)
{
    row->pending = 0;
    bbf_row_style_end(row, style);
    bbf_buf_char(row->out, '\n');
    bbf_buf_add(row->out, row->hang, row->hang_len);
    row->column = row->start = row->hang_columns;
    bbf_row_style(row, style);
}

/* Append a safe word and the spaces after it; it moves to the next row if it does not fit. Spaces
 * at a row's end are left out, so that no row begins with them. */
static void put_word(struct bbf_screen_row *row, const char *word, size_t len, enum bbf_style style)
{
    size_t width = row->look->width, ink = len;

    while (ink > 0 && word[ink - 1] == ' ')
        ink--;
    size_t columns = bbf_columns(word, ink), spaces = len - ink;
    if (ink > 0 && row->column + row->pending + columns > width && row->column > row->start &&
        row->hang_columns + columns <= width)
        next_row(row, style);
    for (; ink > 0 && row->pending > 0 && row->column < width; row->pending--, row->column++)
        bbf_buf_char(row->out, ' ');
    while (ink > 0 && row->column + columns > width) { /* longer than a row */
        size_t n = row->column < width ? bbf_fitting(word, ink, width - row->column) : 0;
        if (n == 0 && row->column <= row->hang_columns)
            break;
        bbf_buf_add(row->out, word, n);
        next_row(row, style);
        columns -= bbf_columns(word, n); /* counting the rest again would take quadratic time */
        word += n;
        ink -= n;
    }
    bbf_buf_add(row->out, word, ink);
    row->column += columns;
    row->pending = ink > 0 ? spaces : row->pending + spaces;
}

void bbf_row_add_safe(struct bbf_screen_row *row, const char *text, size_t len,
                      enum bbf_style style, bool whole)
{
    const char *end = text + len;
    size_t width = row->look->width;
    size_t room = width > row->hang_columns ? width - row->hang_columns : 0;
    size_t rest = whole && width != 0 ? bbf_columns(text, len) : 0; /* counted once */

    if (len == 0)
        return;
    bbf_row_style(row, style);
    if (width == 0)
        bbf_buf_add(row->out, text, len);
    for (const char *p = text; width != 0 && text < end; text = p) {
        while (p < end && *p != ' ')
            p++;
        if (whole && p > text && rest <= room)
            p = end;
        while (p < end && *p == ' ')
            p++;
        put_word(row, text, (size_t)(p - text), style);
        rest -= whole ? bbf_columns(text, (size_t)(p - text)) : 0;
    }
    bbf_row_style_end(row, style);
}

void bbf_row_add(struct bbf_screen_row *row, const char *text, size_t len, enum bbf_style style,
                 bool whole)
{
    const char *end = text + len;
    size_t at = row->column + row->pending, from = 0; /* the column of spare's byte `from` */

    row->spare->len = 0;
    while (text < end) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        bbf_row_safe(row->spare, text, (size_t)((tab != NULL ? tab : end) - text),
                     row->look->ascii);
        if (tab == NULL)
            break;
        if (row->spare->len > from)
            at += bbf_columns(row->spare->data + from, row->spare->len - from);
        if (row->look->width == 0)
            bbf_buf_char(row->spare, '\t');
        else
            do
                bbf_buf_char(row->spare, ' ');
            while (++at % 8 != 0);
        from = row->spare->len;
        text = tab + 1;
    }
    bbf_row_add_safe(row, row->spare->data, row->spare->len, style, whole);
}
