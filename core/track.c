/* SPDX-License-Identifier: Apache-2.0 */
#include "core/track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"

/* One entry of a parsed list. */
struct entry {
    const char *class_name, *method;
    size_t class_len, method_len;
};

/* Read the entry at *cursor and move *cursor past it; false at the end. */
static bool next(const char **cursor, struct entry *e)
{
    if (*cursor == NULL || **cursor == '\0')
        return false;
    e->class_name = *cursor;
    e->class_len = strcspn(e->class_name, ":");
    e->method = e->class_name + e->class_len + 1;
    e->method_len = strcspn(e->method, "+");
    *cursor = e->method + e->method_len;
    if (**cursor == '+')
        ++*cursor;
    return true;
}

static bool same_name(const struct entry *e, const char *internal)
{
    for (size_t i = 0; i < e->class_len; i++)
        if (e->class_name[i] != (internal[i] == '/' ? '.' : internal[i]))
            return false;
    return true;
}

/* ---- parse ---- */

/* Complaints about the part behind the colon. */
struct words {
    const char *none, *malformed;
};
static const struct words method_words = {
    "names no closing method; write Class:method, as com.app.Connection:close",
    "names no closing method; write the name alone, as close"};
static const struct words field_words = {
    "names no field; write Class:field, as com.app.Frame:payload",
    "names no field; write the name alone, as payload"};

static int complain(struct bbf_parse_error *err, size_t column, const char *text, size_t len,
                    const char *what)
{
    err->column = column;
    snprintf(err->text, sizeof err->text, "'%.*s' %s", (int)(len < 60 ? len : 60), text, what);
    return BBF_EINVAL;
}

/* Parse one entry without blanks around it, at `column` of the option's value. */
static int check(const char *at, size_t len, size_t column, const struct words *words,
                 struct bbf_parse_error *err)
{
    struct bbf_patterns *pattern = NULL;
    const char *colon = memchr(at, ':', len);
    if (colon == NULL || colon + 1 == at + len)
        return complain(err, column, at, len, words->none);
    int rc = bbf_patterns_parse(&pattern, at, (size_t)(colon - at), err);
    if (rc == BBF_EINVAL)
        err->column += column - 1;
    bbf_patterns_free(pattern);
    if (rc != BBF_OK)
        return rc;
    if (colon[-1] == '*' || memchr(at, '+', (size_t)(colon - at)) != NULL)
        return complain(err, column, at, len, "is no class; name each, joined with '+'");
    size_t bad = strcspn(colon + 1, ".;[/<>:() \t+,");
    if (colon + 1 + bad < at + len)
        return complain(err, column + (size_t)(colon + 1 - at) + bad, at, len, words->malformed);
    return BBF_OK;
}

static int parse(char **out, const char *before, const char *text, const struct words *words,
                 struct bbf_parse_error *err)
{
    size_t used = before != NULL ? strlen(before) : 0, n = 0;
    char *list = malloc(used + strlen(text) + 2);
    const char *cursor = before;
    struct entry e;
    *out = NULL;
    if (list == NULL)
        return BBF_ENOMEM;
    memcpy(list, before != NULL ? before : "", used);
    while (next(&cursor, &e))
        n++;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+,"), blanks = strspn(at, " \t");
        const char *end = at + len;
        if (blanks > len)
            blanks = len;
        while (end > at + blanks && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        size_t bare = (size_t)(end - at) - blanks, column = (size_t)(at - text) + blanks + 1;
        int rc = check(at + blanks, bare, column, words, err);
        if (rc == BBF_OK && ++n > BBF_MAX_TRACKS)
            rc = complain(err, column, at + blanks, bare, "is one too many; there may be 16");
        if (rc != BBF_OK) {
            free(list);
            return rc;
        }
        if (used > 0)
            list[used++] = '+';
        memcpy(list + used, at + blanks, bare);
        used += bare;
        at += len;
        if (*at == '\0')
            break;
    }
    list[used] = '\0';
    *out = list;
    return BBF_OK;
}

int bbf_track_parse(char **out, const char *before, const char *text, struct bbf_parse_error *err)
{
    return parse(out, before, text, &method_words, err);
}

int bbf_carriers_parse(char **out, const char *before, const char *text,
                       struct bbf_parse_error *err)
{
    return parse(out, before, text, &field_words, err);
}

/* ---- look-ups ---- */

unsigned bbf_track_classes(const char *list, const char *name, size_t len)
{
    unsigned found = 0, bit = 1;
    struct entry e;
    for (; next(&list, &e); bit <<= 1)
        if (e.class_len == len && same_name(&e, name))
            found |= bit;
    return found;
}

unsigned bbf_track_methods(const char *list, const char *name, size_t len)
{
    unsigned found = 0, bit = 1;
    struct entry e;
    for (; next(&list, &e); bit <<= 1)
        if (e.method_len == len && memcmp(e.method, name, len) == 0)
            found |= bit;
    return found;
}

bool bbf_track_mentioned(const char *list, const char *utf8, size_t len)
{
    struct entry e;
    while (next(&list, &e))
        for (size_t i = 0; i + e.class_len <= len; i++)
            if (utf8[i] == e.class_name[0] && same_name(&e, utf8 + i))
                return true;
    return false;
}

const char *bbf_track_method(const char *list, unsigned i, size_t *len)
{
    struct entry e;
    while (next(&list, &e))
        if (i-- == 0) {
            *len = e.method_len;
            return e.method;
        }
    return NULL;
}
