/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http/accept.h"

#include <string.h>
#include <stdbool.h>
#include <strings.h>

static const struct {
    const char *range, *version, *type;
} media[BBF_HTTP_MEDIA] = {
    [BBF_HTTP_TEXT] = {"text/plain", "0.0.4", "text/plain; version=0.0.4; charset=utf-8"},
    [BBF_HTTP_OPENMETRICS] = {"application/openmetrics-text", "1.0.0",
                              "application/openmetrics-text; version=1.0.0; charset=utf-8"}};

const char *bbf_http_media_type(enum bbf_http_media of)
{
    return media[of].type;
}

struct range {
    const char *at;
    size_t len;
    const char *version;
    size_t version_len; /* 0: any */
    unsigned thousandths;
};

/* The part up to `end`, without blanks around it; moves *at behind it. */
static size_t next_part(const char **at, const char *to, char end, const char **part)
{
    const char *stop = *at < to ? memchr(*at, end, (size_t)(to - *at)) : NULL;
    const char *last = stop != NULL ? stop : to;

    *part = *at;
    *at = stop != NULL ? stop + 1 : to;
    while (*part < last && (**part == ' ' || **part == '\t'))
        (*part)++;
    while (last > *part && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    return (size_t)(last - *part);
}

/* "0.75": 750; what is no number counts as 0. */
static unsigned thousandths(const char *text, size_t len)
{
    unsigned value = 0, unit = 100;

    if (len == 0 || len > 5 || (text[0] != '0' && text[0] != '1') || (len > 1 && text[1] != '.'))
        return 0;
    for (size_t i = 2; i < len; i++, unit /= 10) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        value += (unsigned)(text[i] - '0') * unit;
    }
    return text[0] == '1' ? 1000 : value;
}

static struct range read_range(const char *at, const char *to)
{
    struct range range = {.thousandths = 1000};
    const char *part;

    range.len = next_part(&at, to, ';', &range.at);
    while (at < to) {
        size_t len = next_part(&at, to, ';', &part);
        if (len > 2 && strncasecmp(part, "q=", 2) == 0)
            range.thousandths = thousandths(part + 2, len - 2);
        if (len > 8 && strncasecmp(part, "version=", 8) == 0) {
            range.version = part + 8;
            range.version_len = len - 8;
        }
    }
    return range;
}

static bool equals(const char *a, size_t len, const char *b)
{
    return len == strlen(b) && strncasecmp(a, b, len) == 0;
}

/* How exactly the range means it: 0 not at all, 1 by any type, 2 by the type's first half, 3 by
 * name. */
static unsigned fit(const struct range *range, enum bbf_http_media of)
{
    const char *name = media[of].range, *slash = strchr(name, '/');
    size_t half = (size_t)(slash - name) + 1;

    if (equals(range->at, range->len, name))
        return range->version_len == 0 ||
                       equals(range->version, range->version_len, media[of].version)
                   ? 3
                   : 0;
    if (range->len == half + 1 && range->at[half] == '*' && strncasecmp(range->at, name, half) == 0)
        return 2;
    return equals(range->at, range->len, "*/*") ? 1 : 0;
}

enum bbf_http_media bbf_http_accept(const char *value, size_t len)
{
    unsigned quality[BBF_HTTP_MEDIA] = {0}, best[BBF_HTTP_MEDIA] = {0};
    const char *at = value, *to = at != NULL ? at + len : at, *part;

    while (at < to) {
        size_t n = next_part(&at, to, ',', &part);
        const struct range range = read_range(part, part + n);
        for (int m = 0; m < BBF_HTTP_MEDIA; m++) {
            unsigned exact = fit(&range, (enum bbf_http_media)m);
            if (exact > best[m] ||
                (exact == best[m] && exact > 0 && range.thousandths > quality[m])) {
                best[m] = exact;
                quality[m] = range.thousandths;
            }
        }
    }
    unsigned open = quality[BBF_HTTP_OPENMETRICS], text = quality[BBF_HTTP_TEXT];
    bool by_name = best[BBF_HTTP_OPENMETRICS] == 3; /* a browser's any type gets what it can show */
    return open > text || (open == text && open > 0 && by_name) ? BBF_HTTP_OPENMETRICS
                                                                : BBF_HTTP_TEXT;
}
