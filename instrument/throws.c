/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which called methods may throw, and which make a buffer, by their names: for "not released if one
 * of these throws" of a report (ADR 47). What practically never throws would only hide the others:
 * getters, logging, strings and collections of the JDK, counts and indexes of a buffer.
 */
#include "instrument/throws.h"

#include <string.h>

#include "instrument/insert.h"
#include "instrument/netty.h"

enum { NEVER = 0, LIKELY = 1, POSSIBLE = 2, RARE = 3 };

static bool takes_nothing(const struct bbf_cf_called *m)
{
    return m->descriptor.len > 1 && m->descriptor.s[1] == ')';
}

static bool any_head(struct bbf_cf_str name, const char *const *heads, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (head(name, heads[i]))
            return true;
    return false;
}
#define ANY_HEAD(name, heads) any_head(name, heads, sizeof(heads) / sizeof *(heads))

/* Reading past the end of a buffer: what malformed data does to a parser. */
static unsigned rank_of_buffer(const struct bbf_cf_called *m)
{
    static const char *const reads[] = {"read", "get", "skip", "slice", "copy", "toString"};
    static const char *const counts[] = {"readable", "readerIndex", "getClass"};

    if (!ANY_HEAD(m->name, reads) || ANY_HEAD(m->name, counts))
        return NEVER;
    return takes_nothing(m) && !head(m->name, "read") ? NEVER : RARE;
}

static unsigned rank_of_jdk(const struct bbf_cf_called *m)
{
    static const char *const parse[] = {"parse", "decode", "require", "check"};
    static const char *const calls_back[] = {"java/util/function/", "java/util/concurrent/Callable",
                                             "java/lang/Runnable"};
    static const char *const quiet[] = {"java/lang/", "java/util/concurrent/", "java/net/Inet"};

    if (same(m->name, "<init>") || same(m->name, "close"))
        return NEVER;
    if (ANY_HEAD(m->name, parse))
        return LIKELY;
    if (ANY_HEAD(m->owner, calls_back))
        return POSSIBLE;
    if (ANY_HEAD(m->owner, quiet))
        return NEVER;
    if (head(m->owner, "java/util/"))
        return head(m->owner, "java/util/zip/") ? POSSIBLE : NEVER;
    return takes_nothing(m) ? NEVER : POSSIBLE;
}

/* Of Netty's channel package: the pipeline catches what a handler throws. False: it is another. */
static bool rank_of_netty(const struct bbf_cf_called *m, size_t prefix, unsigned *rank)
{
    static const char *const releases[] = {"util/ReferenceCount", "util/concurrent/",
                                           "util/Recycler", "util/internal/logging/"};
    const struct bbf_cf_str rest = {m->owner.s + prefix, m->owner.len - prefix};

    if (head(rest, "channel/") || ANY_HEAD(rest, releases))
        *rank = NEVER;
    else if (head(rest, "buffer/"))
        *rank = bbf_netty_buffer_prefix(m->owner.s, m->owner.len) > 0 && tail(m->owner, "ByteBuf")
                    ? rank_of_buffer(m)
                    : NEVER;
    else
        return false;
    return true;
}

/* Names of methods that only answer. */
static bool only_answers(const struct bbf_cf_called *m)
{
    static const char *const heads[] = {"get", "is", "has", "length", "size", "content", "name"};

    return takes_nothing(m) && ANY_HEAD(m->name, heads);
}

static unsigned may_throw(void *ctx, const struct bbf_cf_called *m)
{
    static const char *const quiet[] = {"access$",  "release", "retain",   "refCnt",
                                        "hashCode", "equals",  "toString", "log",
                                        "debug",    "trace",   "touch"};
    size_t prefix;
    unsigned rank;

    (void)ctx;
    if (only_answers(m) || ANY_HEAD(m->name, quiet))
        return NEVER;
    if (head(m->owner, "java/") || head(m->owner, "javax/"))
        return rank_of_jdk(m);
    if (m->owner.len == 0 || *m->owner.s == '[' || tail(m->owner, "Logger") ||
        memmem(m->owner.s, m->owner.len, "/logging/", 9) != NULL)
        return NEVER;
    prefix = bbf_netty_prefix(m->owner.s, m->owner.len);
    if (prefix > 0 && rank_of_netty(m, prefix, &rank))
        return rank;
    if (same(m->name, "<init>"))
        return takes_nothing(m) ? NEVER : RARE;
    return takes_nothing(m) ? POSSIBLE : LIKELY;
}

/* A getter lends what another object has. */
static bool makes(void *ctx, const struct bbf_cf_called *m)
{
    static const char *const lends[] = {"get", "peek", "content", "internal", "access$", "current"};

    (void)ctx;
    return !ANY_HEAD(m->name, lends);
}

void bbf__plan_throws(struct bbf_cf_config *config)
{
    config->makes = makes;
    config->may_throw = may_throw;
}
