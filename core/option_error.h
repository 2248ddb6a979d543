/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/option_error.h - what is wrong with the text of an option, and where.
 *
 * Threads: any, no shared state.
 */
#ifndef BBF_CORE_OPTION_ERROR_H
#define BBF_CORE_OPTION_ERROR_H

#include <stddef.h>

#include "core/pattern.h"

struct bbf_option_error {
    struct bbf_parse_error at; /* column within the whole option string */
    char option[64];           /* the option's name as written */
};

/* Fill the error and return BBF_EINVAL; `column` (from 1) is where the wrong text begins. */
int bbf_option_complain(struct bbf_option_error *error, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* How many of the `len` bytes of a text an error shows, for "%.*s". */
int bbf_option_shown(size_t len);

#endif
