/* SPDX-License-Identifier: Apache-2.0 */
#include "client/check_flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/fail.h"
#include "core/err.h"
#include "core/units.h"

static const struct {
    const char *name;
    enum bbf_unit unit;
} rules[BBF_RULES] = {
#define XX(id, name, unit, one, more) {name, BBF_UNIT_##unit},
    BBF_CHECK_RULES(XX)
#undef XX
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "0.5": 500,000. Not strtod(), whose decimal point is the locale's. */
static bool parse_rate(const char *value, uint64_t *millionths)
{
    enum { MOST = 1000 };
    uint64_t whole = 0, part = 0, unit = 1000000;
    const char *p = value;

    for (; is_digit(*p) && whole <= MOST; p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    if (p == value)
        return false;
    if (*p == '.')
        for (p++; is_digit(*p) && unit > 1; p++) {
            unit /= 10;
            part += unit * (uint64_t)(*p - '0');
        }
    *millionths = whole * 1000000 + part;
    return *p == '\0' && *millionths <= MOST * UINT64_C(1000000);
}

static bool parse_count(const char *value, uint64_t *count)
{
    char *end;

    errno = 0;
    *count = strtoull(value, &end, 10);
    return is_digit(*value) && *end == '\0' && errno == 0 && *count != BBF_NO_LIMIT;
}

static int take_limit(struct bbf_check_flags *flags, size_t rule, const char *value)
{
    static const char *const units[] = {
        [BBF_UNIT_LIVES] = "a number of buffers, as 0",
        [BBF_UNIT_BYTES] = "a size, as 512K or 1M",
        [BBF_UNIT_RATE] = "buffers lost per 1,000, 0 to 1000, as 0.5",
    };
    const enum bbf_unit unit = rules[rule].unit;
    uint64_t *limit = &flags->limits[rule];
    bool good = true;

    flags->is_set[rule] = true;
    if (strcmp(value, "off") == 0)
        *limit = BBF_NO_LIMIT;
    else if (unit == BBF_UNIT_BYTES)
        good = bbf_parse_size(value, limit) == BBF_OK;
    else if (unit == BBF_UNIT_RATE)
        good = parse_rate(value, limit);
    else
        good = parse_count(value, limit);
    return good ? BBF_EXIT_OK
                : bbf_fail(BBF_EXIT_USAGE, "--%s takes %s, or off, not '%s'", rules[rule].name,
                           units[unit], value);
}

static int take_tolerance(struct bbf_check_flags *flags, const char *value)
{
    enum { MOST = 1000000 };
    uint64_t percent;

    if (!parse_count(value, &percent) || percent > MOST)
        return bbf_fail(BBF_EXIT_USAGE, "--tolerance takes percent, 0 to %d, as 10, not '%s'", MOST,
                        value);
    flags->has_tolerance = true;
    flags->tolerance = (unsigned)percent;
    return BBF_EXIT_OK;
}

int bbf_check_flag(struct bbf_check_flags *flags, const char *name, const char *value)
{
    for (size_t i = 0; i < BBF_RULES; i++)
        if (strcmp(name, rules[i].name) == 0)
            return take_limit(flags, i, value);
    if (strcmp(name, "tolerance") == 0)
        return take_tolerance(flags, value);
    if (strcmp(name, "sources") == 0)
        flags->sources = value;
    else
        flags->baseline = value;
    return BBF_EXIT_OK;
}
