/* SPDX-License-Identifier: Apache-2.0 */
/* What a HotSpot that was built for glibc calls and musl does not have (tests/long/release): with
 * it, preloaded, that JVM runs in a root whose only C library is musl. The agent must run there
 * without it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__rawmemchr(const void *s, int c)
{
    const unsigned char *at = s;

    while (*at != (unsigned char)c)
        at++;
    return (void *)at;
}

char *__strdup(const char *s)
{
    return strdup(s);
}

char *__strtok_r(char *s, const char *ends, char **rest)
{
    return strtok_r(s, ends, rest);
}

int __getpagesize(void)
{
    return getpagesize();
}

void *__sched_cpualloc(size_t n)
{
    return calloc((n + 63) / 64, 8);
}

void __sched_cpufree(void *set)
{
    free(set);
}

void *dlvsym(void *library, const char *name, const char *version)
{
    (void)version;
    return dlsym(library, name);
}

int malloc_trim(size_t pad)
{
    (void)pad;
    return 0;
}
