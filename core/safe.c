/* SPDX-License-Identifier: Apache-2.0 */
#include "core/safe.h"

#include <inttypes.h>
#include <stdio.h>

size_t bbf_utf8_next(const char *p, const char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*p;
    size_t len;

    if (first < 0x80) {
        *code = first;
        return 1;
    }
    *code = BBF_UTF8_BAD;
    if (first >= 0xF0 && first < 0xF5)
        len = 4;
    else if (first >= 0xE0 && first < 0xF0)
        len = 3;
    else if (first >= 0xC2 && first < 0xE0)
        len = 2;
    else
        return 1;
    if ((size_t)(end - p) < len)
        return 1;
    uint32_t value = first & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        if ((c & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (c & 0x3Fu);
    }
    if (value < least[len] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 1;
    *code = value;
    return len;
}

bool bbf_is_unsafe(uint32_t code)
{
    /* Ascending. U+FE0F, which turns a sign into an emoji, is not among them, because our own lines
     * contain it. */
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1F},       /* C0: ESC, BEL, CR, LF, … */
        {0x7F, 0x9F},       /* DEL, C1 */
        {0xAD, 0xAD},       /* soft hyphen */
        {0x061C, 0x061C},   /* Arabic letter mark */
        {0x115F, 0x1160},   /* Hangul fillers */
        {0x180E, 0x180E},   /* Mongolian vowel separator */
        {0x200B, 0x200F},   /* zero width; left-to-right, right-to-left mark */
        {0x2028, 0x202E},   /* line, paragraph separator; embeddings and overrides */
        {0x2060, 0x206F},   /* word joiner, invisible operators, isolates, deprecated controls */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xFEFF, 0xFEFF},   /* byte order mark */
        {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
        {0xFFF9, 0xFFFB},   /* interlinear annotation */
        {0xE0000, 0xE007F}, /* tags */
    };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code <= ranges[i].last)
            return code >= ranges[i].first;
    return false;
}

static void add_escape(struct bbf_buf *out, uint32_t code)
{
    if (code <= 0xFFFF)
        bbf_buf_printf(out, "\\u%04" PRIx32, code);
    else
        bbf_buf_printf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD7C0 + (code >> 10),
                       0xDC00 + (code & 0x3FF));
}

void bbf_safe_add(struct bbf_buf *out, const char *text, size_t len, unsigned how, char also)
{
    const char *end = text + len;
    const char *plain = text; /* start of the bytes that can be copied as they are */
    bool lines = (how & BBF_SAFE_LINES) != 0, ascii = (how & BBF_SAFE_ASCII) != 0;

    for (const char *p = text; p < end;) {
        uint32_t code;
        if (*p >= ' ' && *p < 0x7F && *p != also) { /* nearly all text */
            p++;
            continue;
        }
        size_t n = bbf_utf8_next(p, end, &code);
        bool bad = code == BBF_UTF8_BAD && n == 1;
        bool kept = lines && (code == '\n' || code == '\t');
        if (bad || (also != '\0' && *p == also) || (ascii && code > 0x7E) ||
            (!kept && bbf_is_unsafe(code))) {
            bbf_buf_add(out, plain, (size_t)(p - plain));
            if (bad && !ascii)
                bbf_buf_str(out, "\xEF\xBF\xBD");
            else
                add_escape(out, code);
            plain = p + n;
        }
        p += n;
    }
    bbf_buf_add(out, plain, (size_t)(end - plain));
}

/* ---- Formats --------------------------------------------------------------------------------- */

void bbf_safe_printf(struct bbf_buf *out, unsigned how, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bbf_safe_vprintf(out, how, format, args);
    va_end(args);
}

/* One conversion: "%", flags, width, precision, length, conversion. */
struct spec {
    char text[32]; /* with each '*' replaced by its number */
    size_t len;
    int precision; /* -1: none */
    unsigned longs;
    bool size; /* z */
};

static void spec_add(struct spec *spec, char c)
{
    if (spec->len + 1 < sizeof spec->text) {
        spec->text[spec->len++] = c;
        spec->text[spec->len] = '\0';
    }
}

/* `args` is passed by pointer, because both this function and the caller read from it. */
struct values {
    va_list args;
};

/* Read up to the conversion character and return its address. */
static const char *read_spec(struct spec *spec, const char *p, struct values *values)
{
    bool point = false;

    *spec = (struct spec){.precision = -1};
    spec_add(spec, *p++);
    for (; *p != '\0' && strchr("-+ #0123456789.*hlz", *p) != NULL; p++) {
        if (*p == '*') {
            char digits[16];
            int number = va_arg(values->args, int);
            snprintf(digits, sizeof digits, "%d", number);
            for (const char *d = digits; *d != '\0'; d++)
                spec_add(spec, *d);
            spec->precision = point ? number : spec->precision;
            continue;
        }
        if (*p >= '0' && *p <= '9' && point)
            spec->precision = 10 * spec->precision + (*p - '0');
        point = point || *p == '.';
        if (*p == '.')
            spec->precision = 0;
        spec->longs += *p == 'l';
        spec->size = spec->size || *p == 'z';
        spec_add(spec, *p);
    }
    spec_add(spec, *p);
    return p;
}

/* Call printf() with an argument of the spec's type. */
static void add_integer(struct bbf_buf *out, const struct spec *spec, struct values *values)
{
    if (spec->longs > 1)
        bbf_buf_printf(out, spec->text, va_arg(values->args, unsigned long long));
    else if (spec->longs == 1)
        bbf_buf_printf(out, spec->text, va_arg(values->args, unsigned long));
    else if (spec->size)
        bbf_buf_printf(out, spec->text, va_arg(values->args, size_t));
    else
        bbf_buf_printf(out, spec->text, va_arg(values->args, unsigned));
}

static void add_value(struct bbf_buf *out, unsigned how, const struct spec *spec, const char *value)
{
    size_t len = spec->precision >= 0 ? strnlen(value, (size_t)spec->precision) : strlen(value);
    bbf_safe_add(out, value, len, how, '\0');
}

void bbf_safe_vprintf(struct bbf_buf *out, unsigned how, const char *format, va_list args)
{
    struct values values;
    struct spec spec;
    char one[2] = "";

    va_copy(values.args, args);
    for (const char *p = format; *p != '\0'; p++) {
        size_t plain = strcspn(p, "%");
        bbf_safe_add(out, p, plain, how | BBF_SAFE_LINES, '\0');
        p += plain;
        if (*p == '\0')
            break;
        p = read_spec(&spec, p, &values);
        switch (*p) {
        case 's':
            add_value(out, how, &spec, va_arg(values.args, const char *));
            break;
        case 'c':
            one[0] = (char)va_arg(values.args, int);
            bbf_safe_add(out, one, 1, how, '\0');
            break;
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            add_integer(out, &spec, &values);
            break;
        case '%':
            bbf_buf_char(out, '%');
            break;
        default: /* its type is not known: no later argument can be read */
            out->failed = true;
            va_end(values.args);
            return;
        }
    }
    va_end(values.args);
}
