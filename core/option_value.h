/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/option_value.h - one row of the option table, and how its value is read, kept in struct
 * bbf_options and shown. For core/option.c, which has the table; all others include core/option.h.
 *
 * Threads: as in core/option.h, one at a time for each struct bbf_options.
 */
#ifndef BBF_CORE_OPTION_VALUE_H
#define BBF_CORE_OPTION_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/option_error.h"
#include "core/pattern.h"

struct bbf_options; /* a row knows its field's offset */

enum bbf_option_type {
    TYPE_PATTERNS,
    TYPE_BOOLEAN,
    TYPE_COUNT,
    TYPE_SIZE,
    TYPE_DURATION, /* seconds */
    TYPE_SHARE,    /* millionths */
    TYPE_PORT,
    TYPE_TEXT,
    TYPE_ADDRESS, /* of a listener (core/address.h), or off: NULL */
    TYPE_CHOICE,
    TYPE_FLAG,
    TYPE_TRACKS,
    TYPE_CARRIERS /* off, load, on, or a list */
};

/* The subject of a row; the help and README group the rows by it, in this order. */
enum bbf_option_group {
    GROUP_AS_ABOVE, /* the group of the row above */
    GROUP_FOLLOW,
    GROUP_SHARE,
    GROUP_LIMITS,
    GROUP_OUTPUT,
    GROUP_SERVING,
    GROUP_INSTEAD,
    GROUP_EXPERT, /* the rows with `.expert`; not a value of `.group` */
    GROUPS
};

struct bbf_choice {
    const char *word;
    unsigned value;
};

struct bbf_option_row {
    const char *name;
    enum bbf_option_type type;
    enum bbf_option_group group;
    bool start;      /* the help shows it before all groups */
    bool expert;     /* the help shows it after all groups, README does not */
    bool true_false; /* TYPE_BOOLEAN: shown as true or false, for readers of earlier reports */
    bool live;
    unsigned effect;
    size_t offset, width; /* of the field in struct bbf_options */
    uint64_t min, max;
    uint64_t off;        /* TYPE_PORT: the value that "off" means, outside min..max */
    bool none;           /* TYPE_SHARE: it takes 0% also, as BBF_SHARE_NONE */
    const char *initial; /* parsed like any value of the option; "" = none */
    const struct bbf_choice *choices;
    const char *argument;
    const char *help;
};

/* The row's field. */
void *bbf_option_field(struct bbf_options *options, const struct bbf_option_row *option);
/* The getters return borrowed values, NULL: none. A store takes ownership of the new value and
 * frees the old. */
struct bbf_patterns *bbf_option_patterns(const struct bbf_options *options,
                                         const struct bbf_option_row *option);
void bbf_option_store_patterns(struct bbf_options *options, const struct bbf_option_row *option,
                               struct bbf_patterns *list);
/* Is its value a text of the options' own, also a list in one? */
bool bbf_option_is_text(const struct bbf_option_row *option);
char *bbf_option_text(const struct bbf_options *options, const struct bbf_option_row *option);
void bbf_option_store_text(struct bbf_options *options, const struct bbf_option_row *option,
                           char *text);

/* Parse and set the option's value; `grow`: append to a list. `column` is the value's place, for
 * the error. Nothing changes on an error: BBF_EINVAL (error filled), BBF_ENOMEM. */
int bbf_option_assign(struct bbf_options *options, const struct bbf_option_row *option,
                      const char *value, bool grow, struct bbf_option_error *error, size_t column);
/* Append the current value, as it would be written in an option string. */
void bbf_option_show_value(const struct bbf_options *options, const struct bbf_option_row *option,
                           struct bbf_buf *out);

#endif
