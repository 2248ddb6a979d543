/* SPDX-License-Identifier: Apache-2.0 */
#include "render/json_reader.h"

#include "core/err.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bbf__json_fail(struct bbf_json_reader *r, size_t at, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->why_size > 0 && at != BBF_JSON_NOWHERE)
        snprintf(r->why, r->why_size, "at byte %zu: %s", at, text);
    else if (r->why_size > 0)
        snprintf(r->why, r->why_size, "%s", text);
    return BBF_EFORMAT;
}

int bbf__json_fail_member(struct bbf_json_reader *r, const struct bbf_json_place *place,
                          const char *member, const char *problem)
{
    return place->row == SIZE_MAX
               ? bbf__json_fail(r, r->row_at, "%s.%s: %s", place->table, member, problem)
               : bbf__json_fail(r, r->row_at, "%s[%zu].%s: %s", place->table, place->row, member,
                                problem);
}

void bbf__json_skip_space(struct bbf_json_reader *r)
{
    while (r->pos < r->len && strchr(" \t\r\n", r->text[r->pos]) != NULL && r->text[r->pos] != 0)
        r->pos++;
}

/* The next byte that is no space, '\0' at the end (a NUL in the document is as wrong). */
char bbf__json_peek(struct bbf_json_reader *r)
{
    bbf__json_skip_space(r);
    return r->pos < r->len ? r->text[r->pos] : '\0';
}

int bbf__json_expect(struct bbf_json_reader *r, char c, const char *where)
{
    if (bbf__json_peek(r) == c) {
        r->pos++;
        return 0;
    }
    if (r->pos >= r->len)
        return bbf__json_fail(r, r->pos, "the document ends %s, where '%c' is expected: truncated?",
                              where, c);
    return bbf__json_fail(r, r->pos, "'%c' is expected here, %s", c, where);
}

/* Parse one value of any kind. *value is the caller's (json_object_put), NULL for null. */
int bbf__json_value(struct bbf_json_reader *r, struct json_object **value, const char *where)
{
    bbf__json_skip_space(r);
    r->row_at = r->pos;
    size_t left = r->len - r->pos;
    json_tokener_reset(r->tokener);
    *value =
        json_tokener_parse_ex(r->tokener, r->text + r->pos, left > INT_MAX ? INT_MAX : (int)left);
    enum json_tokener_error error = json_tokener_get_error(r->tokener);
    size_t used = json_tokener_get_parse_end(r->tokener);
    if (error == json_tokener_success) {
        r->pos += used;
        return 0;
    }
    if (error == json_tokener_continue)
        return bbf__json_fail(r, r->len, "the document ends within %s: truncated?", where);
    return bbf__json_fail(r, r->pos + used, "%s: %s", where, json_tokener_error_desc(error));
}

int bbf__json_take_string(struct bbf_json_reader *r, const struct bbf_json_place *place,
                          const char *member, struct json_object *value, char **to)
{
    if (!json_object_is_type(value, json_type_string))
        return bbf__json_fail_member(r, place, member, "no string");
    const char *text = json_object_get_string(value);
    if (strlen(text) != (size_t)json_object_get_string_len(value))
        return bbf__json_fail_member(r, place, member, "a NUL character within a string");
    char *copy = strdup(text);
    if (copy == NULL)
        return BBF_ENOMEM;
    free(*to); /* a member that is there twice: the last one counts */
    *to = copy;
    return 0;
}

int bbf__json_take_count(struct bbf_json_reader *r, const struct bbf_json_place *place,
                         const char *member, struct json_object *value, uint64_t *to)
{
    if (!json_object_is_type(value, json_type_int))
        return bbf__json_fail_member(r, place, member, "no integer");
    /* Read as signed: json-c returns the nearest value for a number that does not fit. */
    int64_t number = json_object_get_int64(value);
    if (number < 0)
        return bbf__json_fail_member(r, place, member, "negative");
    *to = number < INT64_MAX ? (uint64_t)number : json_object_get_uint64(value);
    return 0;
}

int bbf__json_take_id(struct bbf_json_reader *r, const struct bbf_json_place *place,
                      const char *member, struct json_object *value, uint32_t *to)
{
    uint64_t number = 0;
    int err = bbf__json_take_count(r, place, member, value, &number);

    if (err == 0 && number > UINT32_MAX)
        err = bbf__json_fail_member(r, place, member, "larger than 4294967295");
    if (err == 0)
        *to = (uint32_t)number;
    return err;
}

int bbf__json_take_word(struct bbf_json_reader *r, const struct bbf_json_place *place,
                        const char *member, struct json_object *value, const char *const *words,
                        size_t count, unsigned *to)
{
    if (!json_object_is_type(value, json_type_string))
        return bbf__json_fail_member(r, place, member, "no string");
    for (size_t i = 0; i < count; i++)
        if (strcmp(json_object_get_string(value), words[i]) == 0) {
            *to = (unsigned)i;
            return 0;
        }
    return bbf__json_fail_member(r, place, member, "a word that bbflow does not know");
}

int bbf__json_take_strings(struct bbf_json_reader *r, const struct bbf_json_place *place,
                           const char *member, struct json_object *value, char ***to, size_t *count)
{
    if (!json_object_is_type(value, json_type_array))
        return bbf__json_fail_member(r, place, member, "no array");
    if (*to != NULL)
        return bbf__json_fail_member(r, place, member, "is there twice");
    size_t n = json_object_array_length(value);
    *to = calloc(n + 1, sizeof **to);
    if (*to == NULL)
        return BBF_ENOMEM;
    int err = 0;
    for (*count = 0; *count < n && err == 0; *count += err == 0)
        err = bbf__json_take_string(r, place, member, json_object_array_get_idx(value, *count),
                                    &(*to)[*count]);
    return err;
}

/* A required member; NULL with an error message if it is missing. */
struct json_object *bbf__json_member_of(struct bbf_json_reader *r,
                                        const struct bbf_json_place *place, struct json_object *row,
                                        const char *member, int *err)
{
    struct json_object *value = NULL;

    if (*err == 0 && !json_object_object_get_ex(row, member, &value))
        *err = bbf__json_fail_member(r, place, member, "missing");
    return value;
}

void *bbf__json_grow(void *table, size_t count, size_t *cap, size_t row_size)
{
    if (count == *cap) {
        size_t more = *cap == 0 ? 64 : *cap * 2;
        void *bigger = reallocarray(table, more, row_size);
        if (bigger == NULL)
            return NULL;
        table = bigger;
        *cap = more;
    }
    memset((char *)table + count * row_size, 0, row_size);
    return table;
}
