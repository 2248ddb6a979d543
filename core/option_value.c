/* SPDX-License-Identifier: Apache-2.0 */
#include "core/option_value.h"

#include "core/address.h"
#include "core/err.h"
#include "core/track.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Fields ---------------------------------------------------------------------------------- */

void *bbf_option_field(struct bbf_options *options, const struct bbf_option_row *option)
{
    return (char *)options + option->offset;
}

static const void *const_field(const struct bbf_options *options,
                               const struct bbf_option_row *option)
{
    return (const char *)options + option->offset;
}

/* Booleans, enums and counts by their width: one path for the whole table. */
static void store_number(struct bbf_options *options, const struct bbf_option_row *option,
                         uint64_t value)
{
    bool flag = value != 0;
    unsigned word = (unsigned)value;

    if (option->width == sizeof flag)
        memcpy(bbf_option_field(options, option), &flag, sizeof flag);
    else if (option->width == sizeof word)
        memcpy(bbf_option_field(options, option), &word, sizeof word);
    else
        memcpy(bbf_option_field(options, option), &value, sizeof value);
}

static uint64_t load_number(const struct bbf_options *options, const struct bbf_option_row *option)
{
    bool flag;
    unsigned word;
    uint64_t value;

    if (option->width == sizeof flag) {
        memcpy(&flag, const_field(options, option), sizeof flag);
        return flag;
    }
    if (option->width == sizeof word) {
        memcpy(&word, const_field(options, option), sizeof word);
        return word;
    }
    memcpy(&value, const_field(options, option), sizeof value);
    return value;
}

struct bbf_patterns *bbf_option_patterns(const struct bbf_options *options,
                                         const struct bbf_option_row *option)
{
    struct bbf_patterns *list;
    memcpy(&list, const_field(options, option), sizeof list);
    return list;
}

void bbf_option_store_patterns(struct bbf_options *options, const struct bbf_option_row *option,
                               struct bbf_patterns *list)
{
    bbf_patterns_free(bbf_option_patterns(options, option));
    memcpy(bbf_option_field(options, option), &list, sizeof list);
}

bool bbf_option_is_text(const struct bbf_option_row *option)
{
    return option->type == TYPE_TEXT || option->type == TYPE_ADDRESS ||
           option->type == TYPE_TRACKS || option->type == TYPE_CARRIERS;
}

char *bbf_option_text(const struct bbf_options *options, const struct bbf_option_row *option)
{
    char *text;
    memcpy(&text, const_field(options, option), sizeof text);
    return text;
}

void bbf_option_store_text(struct bbf_options *options, const struct bbf_option_row *option,
                           char *text)
{
    free(bbf_option_text(options, option));
    memcpy(bbf_option_field(options, option), &text, sizeof text);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* on, off and their other spellings, in any case, because the Java tracker accepts TRUE. */
static bool read_boolean(const char *value, uint64_t *number)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(value, words[i]) == 0) {
            *number = i % 2;
            return true;
        }
    }
    return false;
}

static int parse_boolean(const struct bbf_option_row *option, const char *value, uint64_t *number,
                         struct bbf_option_error *error, size_t column)
{
    if (read_boolean(value, number))
        return BBF_OK;
    return bbf_option_complain(
        error, column,
        "option '%s': '%.*s' is not a boolean; write on or off (true, false, "
        "yes, no, 1 and 0 are accepted)",
        option->name, bbf_option_shown(strlen(value)), value);
}

static int parse_choice(const struct bbf_option_row *option, const char *value, uint64_t *number,
                        struct bbf_option_error *error, size_t column)
{
    char words[80] = "";

    for (const struct bbf_choice *c = option->choices; c->word != NULL; c++) {
        if (strcmp(value, c->word) == 0) {
            *number = c->value;
            return BBF_OK;
        }
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", used > 0 ? ", " : "", c->word);
    }
    /* A choice of two words also accepts the boolean spellings: gc=on is gc=exit. */
    if (option->width == sizeof(bool) && read_boolean(value, number))
        return BBF_OK;
    return bbf_option_complain(error, column, "option '%s': '%.*s' is not one of %s", option->name,
                               bbf_option_shown(strlen(value)), value, words);
}

static int parse_number(const struct bbf_option_row *option, const char *value, uint64_t *number,
                        struct bbf_option_error *error, size_t column)
{
    char least[32], most[32];
    int rc;

    if (option->type == TYPE_SIZE) {
        rc = bbf_parse_size(value, number);
        bbf_size_text(option->min, least, sizeof least);
        bbf_size_text(option->max, most, sizeof most);
    } else {
        const char *rest = value;
        rc = bbf_parse_digits(&rest, number);
        if (*rest != '\0')
            rc = BBF_EINVAL;
        snprintf(least, sizeof least, "%" PRIu64, option->min);
        snprintf(most, sizeof most, "%" PRIu64, option->max);
    }
    if (rc == BBF_EINVAL)
        return bbf_option_complain(
            error, column, "option '%s': '%.*s' is no %s; it takes %s to %s%s", option->name,
            bbf_option_shown(strlen(value)), value, option->type == TYPE_SIZE ? "size" : "number",
            least, most, option->type == TYPE_SIZE ? ", as 256M or 1G" : "");
    if (rc == BBF_ERANGE || *number < option->min || *number > option->max)
        return bbf_option_complain(
            error, column, "option '%s': %.*s is out of range; it takes %s to %s", option->name,
            bbf_option_shown(strlen(value)), value, least, most);
    return BBF_OK;
}

/* "0.5%" in millionths, at most four digits after the point; off: no budget. */
static int parse_share(const struct bbf_option_row *option, const char *value, uint64_t *number,
                       struct bbf_option_error *error, size_t column)
{
    const char *rest = value;
    uint64_t percent = 0;
    unsigned unit = 10000;

    *number = 0;
    if (strcmp(value, "off") == 0)
        return BBF_OK;
    int rc = bbf_parse_digits(&rest, &percent);
    uint64_t millionths = rc == BBF_OK && percent <= 100 ? percent * unit : UINT64_MAX;
    if (rc == BBF_OK && *rest == '.') {
        const char *digit = ++rest;
        for (; *rest >= '0' && *rest <= '9' && unit > 1; rest++) {
            unit /= 10;
            millionths += percent <= 100 ? (uint64_t)(*rest - '0') * unit : 0;
        }
        rc = rest > digit ? BBF_OK : BBF_EINVAL;
    }
    if (rc == BBF_EINVAL || (rc == BBF_OK && strcmp(rest, "%") != 0))
        return bbf_option_complain(
            error, column,
            "option '%s': '%.*s' is no share; it takes 0.01%% to 100%%, as 1%% or "
            "0.5%%, or off",
            option->name, bbf_option_shown(strlen(value)), value);
    if (rc == BBF_OK && millionths == 0 && option->none)
        millionths = BBF_SHARE_NONE;
    else if (rc != BBF_OK || millionths < option->min || millionths > option->max)
        return bbf_option_complain(
            error, column, "option '%s': %.*s is out of range; it takes 0.01%% to 100%%, or off",
            option->name, bbf_option_shown(strlen(value)), value);
    *number = millionths;
    return BBF_OK;
}

static void show_share(uint64_t millionths, struct bbf_buf *out)
{
    char text[32];

    if (millionths == 0) {
        bbf_buf_str(out, "off");
        return;
    }
    if (millionths == BBF_SHARE_NONE) {
        bbf_buf_str(out, "0%");
        return;
    }
    int len = snprintf(text, sizeof text, "%" PRIu64 ".%04" PRIu64, millionths / 10000,
                       millionths % 10000);
    while (text[len - 1] == '0')
        len--;
    bbf_buf_printf(out, "%.*s%%", text[len - 1] == '.' ? len - 1 : len, text);
}

/* In seconds; 0 or off: no time. */
static int parse_time(const struct bbf_option_row *option, const char *value, uint64_t *number,
                      struct bbf_option_error *error, size_t column)
{
    uint64_t ns = 0;
    int rc = BBF_OK;

    *number = 0;
    if (strcmp(value, "0") == 0 || strcmp(value, "off") == 0)
        return BBF_OK;
    rc = bbf_parse_duration(value, &ns);
    *number = ns / 1000000000;
    if (rc == BBF_EINVAL)
        return bbf_option_complain(
            error, column,
            "option '%s': '%.*s' is no time; it takes 90s, 10m, 2h, 1d, or 0 for off", option->name,
            bbf_option_shown(strlen(value)), value);
    if (rc != BBF_OK || *number < option->min || *number > option->max)
        return bbf_option_complain(
            error, column, "option '%s': %.*s is out of range; it takes 1s to 365d, or 0 for off",
            option->name, bbf_option_shown(strlen(value)), value);
    return BBF_OK;
}

/* In the largest unit of which it is a multiple. */
static void show_time(uint64_t seconds, struct bbf_buf *out)
{
    static const struct {
        unsigned seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

    for (size_t i = 0; i < sizeof units / sizeof units[0] && seconds != 0; i++)
        if (seconds % units[i].seconds == 0) {
            bbf_buf_printf(out, "%" PRIu64 "%c", seconds / units[i].seconds, units[i].unit);
            return;
        }
    bbf_buf_char(out, '0');
}

static int parse_list(const struct bbf_option_row *option, const char *value,
                      struct bbf_patterns **list, struct bbf_option_error *error, size_t column)
{
    struct bbf_parse_error at;
    char *plus = strdup(value);
    if (plus == NULL)
        return BBF_ENOMEM;
    for (char *c = plus; *c != '\0'; c++) {
        if (*c == ',')
            *c = '+';
    }
    int rc = bbf_patterns_parse(list, plus, strlen(plus), &at);
    free(plus);
    if (rc == BBF_EINVAL)
        bbf_option_complain(error, column + at.column - 1, "option '%s': %.200s", option->name,
                            at.text);
    return rc;
}

static int assign_patterns(struct bbf_options *options, const struct bbf_option_row *option,
                           const char *value, bool grow, struct bbf_option_error *error,
                           size_t column)
{
    struct bbf_patterns *list = NULL, *all = NULL;
    int rc = parse_list(option, value, &list, error, column);

    if (rc == BBF_OK)
        rc = bbf_patterns_join(&all, grow ? bbf_option_patterns(options, option) : NULL, list);
    bbf_patterns_free(list);
    if (rc == BBF_OK)
        bbf_option_store_patterns(options, option, all);
    return rc;
}

static int assign_text(struct bbf_options *options, const struct bbf_option_row *option,
                       const char *value)
{
    char *text = strdup(value);

    if (text == NULL)
        return BBF_ENOMEM;
    bbf_option_store_text(options, option, text);
    return BBF_OK;
}

static int assign_address(struct bbf_options *options, const struct bbf_option_row *option,
                          const char *value, struct bbf_option_error *error, size_t column)
{
    struct bbf_address address;
    const char *why = "";

    if (strcmp(value, "off") == 0) {
        bbf_option_store_text(options, option, NULL);
        return BBF_OK;
    }
    return bbf_address_parse(&address, value, &why) == BBF_OK
               ? assign_text(options, option, value)
               : bbf_option_complain(error, column, "option '%s': '%.*s': %s, or off", option->name,
                                     bbf_option_shown(strlen(value)), value, why);
}

/* The words of carriers= beside a list; the default is stored as NULL. */
static bool is_carriers_word(const char *text)
{
    return strcmp(text, "off") == 0 || strcmp(text, "load") == 0 || strcmp(text, "on") == 0;
}

/* A list of track= or carriers=; of the latter also its words. */
static int assign_tracks(struct bbf_options *options, const struct bbf_option_row *option,
                         const char *value, bool grow, struct bbf_option_error *error,
                         size_t column)
{
    struct bbf_parse_error at;
    bool carriers = option->type == TYPE_CARRIERS;
    bool word = carriers && is_carriers_word(value);
    bool stored = word && strcmp(value, option->initial) != 0;
    const char *before = grow ? bbf_option_text(options, option) : NULL;
    char *list = stored ? strdup(value) : NULL;
    int rc = stored && list == NULL ? BBF_ENOMEM : BBF_OK;
    if (carriers && before != NULL && is_carriers_word(before))
        before = NULL;
    if (!word)
        rc = carriers ? bbf_carriers_parse(&list, before, value, &at)
                      : bbf_track_parse(&list, before, value, &at);
    if (rc == BBF_OK)
        bbf_option_store_text(options, option, list);
    return rc == BBF_EINVAL ? bbf_option_complain(error, column + at.column - 1,
                                                  "option '%s': %.200s", option->name, at.text)
                            : rc;
}

/* The value of a field that store_number() writes. */
static int parse_stored_number(const struct bbf_option_row *option, const char *value,
                               uint64_t *number, struct bbf_option_error *error, size_t column)
{
    switch (option->type) {
    case TYPE_BOOLEAN:
        return parse_boolean(option, value, number, error, column);
    case TYPE_CHOICE:
        return parse_choice(option, value, number, error, column);
    case TYPE_DURATION:
        return parse_time(option, value, number, error, column);
    case TYPE_SHARE:
        return parse_share(option, value, number, error, column);
    case TYPE_PORT:
        if (strcmp(value, "off") != 0)
            return parse_number(option, value, number, error, column);
        *number = option->off;
        return BBF_OK;
    case TYPE_COUNT:
    case TYPE_SIZE:
        return parse_number(option, value, number, error, column);
    case TYPE_FLAG:
        *number = 1;
        return BBF_OK;
    case TYPE_PATTERNS:
    case TYPE_TEXT:
    case TYPE_ADDRESS:
    case TYPE_TRACKS:
    case TYPE_CARRIERS:
        break;
    }
    return BBF_EINVAL; /* these are no numbers */
}

int bbf_option_assign(struct bbf_options *options, const struct bbf_option_row *option,
                      const char *value, bool grow, struct bbf_option_error *error, size_t column)
{
    uint64_t number = 0;

    if (option->type == TYPE_PATTERNS)
        return assign_patterns(options, option, value, grow, error, column);
    if (option->type == TYPE_TEXT)
        return assign_text(options, option, value);
    if (option->type == TYPE_ADDRESS)
        return assign_address(options, option, value, error, column);
    if (option->type == TYPE_TRACKS || option->type == TYPE_CARRIERS)
        return assign_tracks(options, option, value, grow, error, column);
    int rc = parse_stored_number(option, value, &number, error, column);
    if (rc == BBF_OK)
        store_number(options, option, number);
    return rc;
}

/* ---- Shown ----------------------------------------------------------------------------------- */

static const char *choice_word(const struct bbf_option_row *option, uint64_t value)
{
    for (const struct bbf_choice *c = option->choices; c->word != NULL; c++) {
        if (c->value == value)
            return c->word;
    }
    return ""; /* onerror was not given */
}

void bbf_option_show_value(const struct bbf_options *options, const struct bbf_option_row *option,
                           struct bbf_buf *out)
{
    char text[32];

    switch (option->type) {
    case TYPE_PATTERNS: {
        const struct bbf_patterns *list = bbf_option_patterns(options, option);
        for (size_t k = 0; k < bbf_patterns_count(list); k++)
            bbf_buf_printf(out, "%s%s", k > 0 ? "+" : "", bbf_patterns_get(list, k));
        break;
    }
    case TYPE_TRACKS:
    case TYPE_CARRIERS:
    case TYPE_ADDRESS:
    case TYPE_TEXT: {
        const char *value = bbf_option_text(options, option);
        bool has_word = option->type == TYPE_CARRIERS || option->type == TYPE_ADDRESS;
        bbf_buf_str(out, value != NULL ? value : has_word ? option->initial : "");
        break;
    }
    case TYPE_BOOLEAN:
        if (option->true_false)
            bbf_buf_str(out, load_number(options, option) != 0 ? "true" : "false");
        else
            bbf_buf_str(out, load_number(options, option) != 0 ? "on" : "off");
        break;
    case TYPE_CHOICE:
        bbf_buf_str(out, choice_word(option, load_number(options, option)));
        break;
    case TYPE_PORT:
        if (load_number(options, option) == option->off) {
            bbf_buf_str(out, "off");
            break;
        }
        bbf_buf_printf(out, "%" PRIu64, load_number(options, option));
        break;
    case TYPE_COUNT:
        bbf_buf_printf(out, "%" PRIu64, load_number(options, option));
        break;
    case TYPE_SIZE:
        bbf_buf_str(out, bbf_size_text(load_number(options, option), text, sizeof text));
        break;
    case TYPE_DURATION:
        show_time(load_number(options, option), out);
        break;
    case TYPE_SHARE:
        show_share(load_number(options, option), out);
        break;
    case TYPE_FLAG:
        break;
    }
}
