/* SPDX-License-Identifier: Apache-2.0 */
#include "core/units.h"

#include "core/err.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int bbf_parse_digits(const char **text, uint64_t *value)
{
    const char *p = *text;
    bool over = false;

    if (*p < '0' || *p > '9')
        return BBF_EINVAL;
    for (*value = 0; *p >= '0' && *p <= '9'; p++) {
        over |= __builtin_mul_overflow(*value, UINT64_C(10), value);
        over |= __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value);
    }
    *text = p;
    return over ? BBF_ERANGE : BBF_OK;
}

int bbf_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t value = 0;
    int rc = bbf_parse_digits(&text, &value);
    if (rc == BBF_EINVAL)
        return rc;
    unsigned shift = 0;
    switch (toupper((unsigned char)*text)) {
    case 'K':
        shift = 10;
        break;
    case 'M':
        shift = 20;
        break;
    case 'G':
        shift = 30;
        break;
    case 'T':
        shift = 40;
        break;
    default:
        break;
    }
    if (shift != 0)
        text++;
    if (*text != '\0')
        return BBF_EINVAL;
    if (rc != BBF_OK || value > UINT64_MAX >> shift)
        return BBF_ERANGE;
    *bytes = value << shift;
    return BBF_OK;
}

int bbf_parse_duration(const char *text, uint64_t *nanoseconds)
{
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {
        {"ns", 1},
        {"us", UINT64_C(1000)},
        {"ms", UINT64_C(1000000)},
        {"s", UINT64_C(1000000000)},
        {"m", UINT64_C(60) * 1000000000},
        {"h", UINT64_C(3600) * 1000000000},
        {"d", UINT64_C(86400) * 1000000000},
    };
    uint64_t value = 0;
    int rc = bbf_parse_digits(&text, &value);
    if (rc == BBF_EINVAL)
        return rc;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        if (rc != BBF_OK || __builtin_mul_overflow(value, units[i].nanoseconds, nanoseconds))
            return BBF_ERANGE;
        return BBF_OK;
    }
    return BBF_EINVAL; /* a missing unit is also an error: 10 what? */
}

const char *bbf_size_text(uint64_t bytes, char *to, size_t to_size)
{
    static const char units[] = "\0KMGT";
    size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 2 < sizeof units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(to, to_size, "%" PRIu64 "%.1s", bytes, &units[unit]);
    return to;
}
