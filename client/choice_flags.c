/* SPDX-License-Identifier: Apache-2.0 */
#include "client/choice_flags.h"

#include <string.h>

#include "client/fail.h"
#include "core/err.h"
#include "core/units.h"

static int parse_older(const char *value, uint64_t *seconds)
{
    uint64_t nanoseconds = 0;

    if (bbf_parse_duration(value, &nanoseconds) != BBF_OK)
        return bbf_fail(BBF_EXIT_USAGE, "--older takes a time, as 90s, 10m or 2h, not '%s'", value);
    *seconds = nanoseconds / 1000000000;
    return BBF_EXIT_OK;
}

static int parse_rate(const char *value, struct bbf_choice *choice)
{
    if (bbf_choice_parse_rate(value, choice))
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_USAGE, "--rate takes '>1%%' or '<50%%', 0 to 100, not '%s'", value);
}

static int parse_memory(const char *value, struct bbf_choice *choice)
{
    if (bbf_choice_parse_memory(value, choice))
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_USAGE,
                    "--memory takes direct, heap, composite or unknown, or some of them as "
                    "direct+heap, not '%s'",
                    value);
}

int bbf_choice_flag(struct bbf_choice *choice, const char *name, const char *value)
{
    if (strcmp(name, "memory") == 0)
        return parse_memory(value, choice);
    if (strcmp(name, "older") == 0)
        return parse_older(value, &choice->older);
    if (strcmp(name, "rate") == 0)
        return parse_rate(value, choice);
    if (strcmp(name, "path") == 0)
        choice->path = value;
    else
        choice->lost = true;
    return BBF_EXIT_OK;
}
