/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pattern.h"

#include "core/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    size_t len;
    char *dotted; /* within bbf_patterns.text, NUL-terminated */
};

struct bbf_patterns {
    size_t count;
    struct pattern *items;
    char *text; /* all patterns, each with its NUL */
};

enum { SHOWN = 60 }; /* of a pattern in a message; the reader knows the whole string */

static int complain(struct bbf_parse_error *err, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int complain(struct bbf_parse_error *err, size_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->column = column;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return BBF_EINVAL;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static int complain_star(struct bbf_parse_error *err, size_t column, const char *text, size_t len,
                         size_t star)
{
    size_t stem = star;
    while (stem > 0 && (text[stem - 1] == '.' || text[stem - 1] == '*'))
        stem--;
    int shown = (int)(len < SHOWN ? len : SHOWN);
    if (stem == 0)
        return complain(err, column,
                        "pattern '%.*s' would match every class; name a package, as 'com.app', or "
                        "leave the option out: then every application class matches",
                        shown, text);
    return complain(
        err, column + star,
        "pattern '%.*s': '*' is allowed only at the end, after a dot; write '%.*s', which "
        "is that package (or class) and everything below it",
        shown, text, (int)(stem < SHOWN ? stem : SHOWN), text);
}

/* If the character cannot be in a class name: what to write instead; otherwise NULL. Only these few
 * characters, because the JVM allows nearly all in names (JVMS 4.2), and Kotlin and Clojure use
 * them. */
static const char *remedy_for(char c)
{
    switch (c) {
    case '/':
    case '\\':
        return "packages are written with dots, as 'com.app'";
    case '[':
    case ']':
        return "an array has no methods; name the class";
    case '(':
    case ')':
    case '#':
        return "a pattern names a package or a class, never a method";
    case ':':
    case '|':
    case ',':
    case ';':
        return "the patterns of a list join with '+'";
    case '?':
    case '^':
    case '{':
    case '}':
    case '!':
    case '~':
        return "a pattern is a package or a class name, not an expression";
    case '<':
    case '>':
        return "name the class without its type parameters";
    case '\'':
    case '"':
        return "leave the quotes out";
    default:
        return (unsigned char)c <= ' ' || c == 0x7f ? "names hold no blanks" : NULL;
    }
}

/* `text` is one trimmed pattern at `column`; *len shrinks by a final ".*". */
static int check_pattern(const char *text, size_t *len, size_t column, struct bbf_parse_error *err)
{
    int shown = (int)(*len < SHOWN ? *len : SHOWN);

    if (*len == 0)
        return complain(err, column,
                        "empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'");
    size_t n = *len;
    if (n > 2 && text[n - 1] == '*' && text[n - 2] == '.')
        n -= 2;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '*')
            return complain_star(err, column, text, *len, i);
        const char *remedy = remedy_for(text[i]);
        if (remedy != NULL)
            return complain(err, column + i, "pattern '%.*s' holds '%c'; %s", shown, text,
                            (unsigned char)text[i] < ' ' ? ' ' : text[i], remedy);
    }
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '.' || (i > 0 && i + 1 < n && text[i + 1] != '.'))
            continue;
        if (i == 0)
            return complain(err, column, "pattern '%.*s' starts with a dot; leave it out", shown,
                            text);
        if (i + 1 == n && n == *len)
            return complain(err, column + i,
                            "pattern '%.*s' ends in a dot; leave it out ('%.*s' is the package "
                            "and everything below it)",
                            shown, text, (int)(i < SHOWN ? i : SHOWN), text);
        return complain(err, column + i,
                        "pattern '%.*s' has an empty name between two dots; write one dot", shown,
                        text);
    }
    *len = n;
    return BBF_OK;
}

static struct bbf_patterns *patterns_new(size_t count, size_t bytes)
{
    struct bbf_patterns *list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
    list->items = calloc(count, sizeof *list->items);
    list->text = malloc(bytes);
    if (list->items == NULL || list->text == NULL) {
        bbf_patterns_free(list);
        return NULL;
    }
    return list;
}

static void patterns_append(struct bbf_patterns *list, const char *text, size_t len)
{
    char *to = list->text;
    if (list->count > 0) {
        const struct pattern *last = &list->items[list->count - 1];
        to = last->dotted + last->len + 1;
    }
    memcpy(to, text, len);
    to[len] = '\0';
    list->items[list->count].dotted = to;
    list->items[list->count].len = len;
    list->count++;
}

int bbf_patterns_parse(struct bbf_patterns **out, const char *text, size_t len,
                       struct bbf_parse_error *err)
{
    size_t count = 1;
    for (size_t i = 0; i < len; i++)
        count += text[i] == '+';
    *out = NULL;
    struct bbf_patterns *list = patterns_new(count, len + count);
    if (list == NULL)
        return BBF_ENOMEM;

    for (size_t start = 0; start <= len;) {
        const char *plus = memchr(text + start, '+', len - start);
        size_t end = plus != NULL ? (size_t)(plus - text) : len;
        size_t from = start, to = end;
        while (from < to && blank(text[from]))
            from++;
        while (to > from && blank(text[to - 1]))
            to--;
        size_t n = to - from;
        int rc = check_pattern(text + from, &n, from + 1, err);
        if (rc != BBF_OK) {
            bbf_patterns_free(list);
            return rc;
        }
        patterns_append(list, text + from, n);
        start = end + 1;
    }
    *out = list;
    return BBF_OK;
}

static size_t text_bytes(const struct bbf_patterns *list)
{
    size_t sum = 0;
    for (size_t i = 0; list != NULL && i < list->count; i++)
        sum += list->items[i].len + 1;
    return sum;
}

int bbf_patterns_join(struct bbf_patterns **out, const struct bbf_patterns *a,
                      const struct bbf_patterns *b)
{
    *out = NULL;
    if (a == NULL && b == NULL)
        return BBF_OK;
    struct bbf_patterns *list =
        patterns_new(bbf_patterns_count(a) + bbf_patterns_count(b), text_bytes(a) + text_bytes(b));
    if (list == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < bbf_patterns_count(a); i++)
        patterns_append(list, a->items[i].dotted, a->items[i].len);
    for (size_t i = 0; i < bbf_patterns_count(b); i++)
        patterns_append(list, b->items[i].dotted, b->items[i].len);
    *out = list;
    return BBF_OK;
}

void bbf_patterns_free(struct bbf_patterns *patterns)
{
    if (patterns == NULL)
        return;
    free(patterns->items);
    free(patterns->text);
    free(patterns);
}

size_t bbf_patterns_bytes(const struct bbf_patterns *patterns)
{
    if (patterns == NULL)
        return 0;
    size_t bytes = sizeof *patterns + patterns->count * sizeof *patterns->items;
    for (size_t i = 0; i < patterns->count; i++)
        bytes += patterns->items[i].len + 1;
    return bytes;
}

static bool matches(const struct pattern *pattern, const char *name, size_t len)
{
    if (len < pattern->len)
        return false;
    for (size_t i = 0; i < pattern->len; i++) {
        char c = name[i] == '/' ? '.' : name[i];
        if (c != pattern->dotted[i])
            return false;
    }
    /* The boundary: the class itself, a class below the package, an inner class. */
    return len == pattern->len || name[pattern->len] == '/' || name[pattern->len] == '$';
}

size_t bbf_patterns_match(const struct bbf_patterns *patterns, const char *name, size_t len)
{
    size_t longest = 0;
    for (size_t i = 0; i < bbf_patterns_count(patterns); i++) {
        const struct pattern *pattern = &patterns->items[i];
        if (pattern->len > longest && matches(pattern, name, len))
            longest = pattern->len;
    }
    return longest;
}

/* Up to the second dot: the packages of one application share this prefix. */
static size_t stem_len(const struct pattern *pattern)
{
    const char *first = strchr(pattern->dotted, '.');
    const char *second = first != NULL ? strchr(first + 1, '.') : NULL;
    return second != NULL ? (size_t)(second - pattern->dotted) : pattern->len;
}

bool bbf_patterns_near(const struct bbf_patterns *patterns, const char *name, size_t len)
{
    for (size_t i = 0; i < bbf_patterns_count(patterns); i++) {
        struct pattern stem = patterns->items[i];
        stem.len = stem_len(&stem);
        if (matches(&stem, name, len))
            return true;
    }
    return false;
}

size_t bbf_patterns_count(const struct bbf_patterns *patterns)
{
    return patterns == NULL ? 0 : patterns->count;
}

const char *bbf_patterns_get(const struct bbf_patterns *patterns, size_t i)
{
    return patterns->items[i].dotted;
}
