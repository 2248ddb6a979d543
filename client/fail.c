/* SPDX-License-Identifier: Apache-2.0 */
#include "client/fail.h"

#include <stdarg.h>

#include "client/print.h"
#include "client/screen.h"
#include "core/err.h"

int bbf_fail(int exit_code, const char *format, ...)
{
    va_list args;

    if (exit_code == BBF_EXIT_OK && bbf_screen_err()->quiet)
        return exit_code;
    va_start(args, format);
    bbf_vnote("bbflow: ", format, args);
    va_end(args);
    return exit_code;
}

int bbf_exit_of(int err)
{
    switch (err) {
    case BBF_OK:
        return BBF_EXIT_OK;
    case BBF_EREFUSED:
        return BBF_EXIT_REFUSED;
    case BBF_EPERMISSION:
        return BBF_EXIT_PERMISSION;
    case BBF_ENOTFOUND:
        return BBF_EXIT_TARGET;
    default:
        return BBF_EXIT_FAILED;
    }
}
