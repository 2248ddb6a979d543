/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/libc/old_libc.h - functions of newer C libraries, for the build that runs with glibc 2.17
 * and with musl (BBF_PORTABLE). Included before each file of that build, because the headers of
 * glibc 2.17 declare none of them. Each behaves as its manual page says.
 *
 * Threads: any.
 */
#ifndef BBF_CORE_OLD_LIBC_H
#define BBF_CORE_OLD_LIBC_H

#include <stddef.h>
#include <sys/types.h>

/* glibc 2.26. */
void *reallocarray(void *old, size_t n, size_t size);
/* glibc 2.25. */
void explicit_bzero(void *bytes, size_t len);
/* glibc 2.25. Where the kernel has no such call (before 3.17), the bytes are /dev/urandom's. */
ssize_t getrandom(void *to, size_t len, unsigned flags);
/* glibc 2.27. Fails with ENOSYS before Linux 3.17. */
int memfd_create(const char *name, unsigned flags);
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
/* musl 1.2.3, and musl's qsort changes the order of equal elements, glibc's does not: with these a
 * report has the same order with both. Needs half as much memory as the elements; without it the
 * order of equal elements may change. */
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
             void *context);
/* glibc exports it under another name than musl. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#endif
