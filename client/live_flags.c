/* SPDX-License-Identifier: Apache-2.0 */
#include "client/live_flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/fail.h"
static int parse_interval(const char *value, unsigned *interval_ms)
{
    enum { SECONDS_MAX = 3600 };
    char *end;
    double seconds = strtod(value, &end);

    if (*end != '\0' || !(seconds >= 0.1) || seconds > SECONDS_MAX)
        return bbf_fail(BBF_EXIT_USAGE, "--interval takes seconds, 0.1 to %d, not '%s'",
                        SECONDS_MAX, value);
    *interval_ms = (unsigned)(seconds * 1000);
    return BBF_EXIT_OK;
}

static int parse_sort(const char *value, enum bbf_top_order *order)
{
    *order = bbf_top_order_of(value);
    if (*order != BBF_TOP_N_ORDERS)
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_USAGE,
                    "--sort takes worst, lost, new, rate, bytes, speed, oldest or place, not '%s'",
                    value);
}

static int parse_port(const char *value, unsigned *port)
{
    enum { PORTS = 65535 };
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || n > PORTS)
        return bbf_fail(BBF_EXIT_USAGE,
                        "--port takes a port, 1 to %d, or 0 for any free one, not '%s'", PORTS,
                        value);
    *port = (unsigned)n;
    return BBF_EXIT_OK;
}

int bbf_live_flag(struct bbf_live_flags *flags, const char *name, const char *value)
{
    if (strcmp(name, "interval") == 0)
        return parse_interval(value, &flags->interval_ms);
    if (strcmp(name, "sort") == 0)
        return parse_sort(value, &flags->order);
    if (strcmp(name, "port") == 0)
        return parse_port(value, &flags->port);
    if (strcmp(name, "open") == 0)
        flags->opens = true;
    else
        flags->once = true;
    return BBF_EXIT_OK;
}
