/* SPDX-License-Identifier: Apache-2.0 */
#include "core/err.h"

const char *bbf_strerror(int err)
{
    switch (err) {
    case BBF_OK:
        return "ok";
#define XX(name, value, text)                                                                      \
    case BBF_E##name:                                                                              \
        return text;
        BBF_ERR_MAP(XX)
#undef XX
    default:
        return "unknown error";
    }
}
