/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/option_value.h - one row of the option table, and how its value is read, kept in struct
 * bbf_options and shown. For core/option.c, which has the table; all others include core/option.h.
 *
 * Threads: as there, one at a time for each struct bbf_options.
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
    TYPE_CHOICE,
    TYPE_FLAG,
    TYPE_TRACKS
};

/* What a row is about; the help and README show the rows by it, in this order. */
enum bbf_option_group {
    GROUP_AS_ABOVE, /* that of the row above */
    GROUP_FOLLOW,
    GROUP_SHARE,
    GROUP_LIMITS,
    GROUP_OUTPUT,
    GROUP_SERVING,
    GROUP_INSTEAD,
    GROUP_EXPERT, /* not for `.group`: the rows with `.expert` */
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
    bool start;      /* one of those that the help shows before all groups */
    bool expert;     /* one of those that the help shows after all groups, README not at all */
    bool true_false; /* TYPE_BOOLEAN: shown as true or false, as reports always had it */
    bool live;
    unsigned effect;
    size_t offset, width; /* of the field in struct bbf_options */
    uint64_t min, max;
    uint64_t off;        /* TYPE_PORT: the value that "off" means, outside min..max */
    const char *initial; /* read by the option's own parser; "" = none */
    const struct bbf_choice *choices;
    const char *argument;
    const char *help;
};

/* The row's field. */
void *bbf_option_field(struct bbf_options *options, const struct bbf_option_row *option);
/* Borrowed; NULL: none. A store takes the new one over and frees the old. */
struct bbf_patterns *bbf_option_patterns(const struct bbf_options *options,
                                         const struct bbf_option_row *option);
void bbf_option_store_patterns(struct bbf_options *options, const struct bbf_option_row *option,
                               struct bbf_patterns *list);
char *bbf_option_text(const struct bbf_options *options, const struct bbf_option_row *option);
void bbf_option_store_text(struct bbf_options *options, const struct bbf_option_row *option,
                           char *text);

/* Give the option its value; `grow`: a list keeps what it holds. `column` is where the value
 * stands. Nothing changes on an error: BBF_EINVAL (error filled), BBF_ENOMEM. */
int bbf_option_assign(struct bbf_options *options, const struct bbf_option_row *option,
                      const char *value, bool grow, struct bbf_option_error *error, size_t column);
/* The value in force, as it would be written in an option string. */
void bbf_option_show_value(const struct bbf_options *options, const struct bbf_option_row *option,
                           struct bbf_buf *out);

#endif
