/* SPDX-License-Identifier: Apache-2.0 */
#include "core/option_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/err.h"

enum { SHOWN = 60 };

int bbf_option_complain(struct bbf_option_error *error, size_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->at.column = column;
    vsnprintf(error->at.text, sizeof error->at.text, format, args);
    va_end(args);
    return BBF_EINVAL;
}

int bbf_option_shown(size_t len)
{
    return (int)(len < SHOWN ? len : SHOWN);
}
