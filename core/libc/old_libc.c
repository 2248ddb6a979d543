/* SPDX-License-Identifier: Apache-2.0 */
#include "core/libc/old_libc.h"

#include "core/libc/any_libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((used, retain)) static const char any_libc[] = BBF_ANY_LIBC;

/* ---- memory ---- */

void *reallocarray(void *old, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}

void explicit_bzero(void *bytes, size_t len)
{
    memset(bytes, 0, len);
    __asm__ volatile("" : : "r"(bytes) : "memory"); /* so that the compiler keeps it */
}

/* ---- random bytes ---- */

static ssize_t read_urandom(void *to, size_t len)
{
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (file < 0)
        return -1;
    do
        n = read(file, to, len);
    while (n < 0 && errno == EINTR);
    int cause = errno;
    (void)close(file);
    errno = cause;
    return n;
}

ssize_t getrandom(void *to, size_t len, unsigned flags)
{
    ssize_t n = syscall(SYS_getrandom, to, len, flags);

    return n < 0 && errno == ENOSYS ? read_urandom(to, len) : n;
}

int memfd_create(const char *name, unsigned flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}

/* ---- sorting ---- */

struct order {
    size_t size;
    int (*compare)(const void *, const void *, void *);
    void *context;
};

static void swap(char *a, char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

/* Put the two sorted halves together; `room` has place for the first. */
static void merge(const struct order *o, char *base, size_t left, size_t n, char *room)
{
    const size_t size = o->size;
    const char *a = room, *a_end = room + left * size, *b = base + left * size,
               *end = base + n * size;

    memcpy(room, base, left * size);
    while (a < a_end && b < end) {
        const char **from = o->compare(a, b, o->context) <= 0 ? &a : &b;
        memcpy(base, *from, size);
        *from += size;
        base += size;
    }
    memcpy(base, a, (size_t)(a_end - a));
}

/* Depth: the binary logarithm of n. */
static void merge_sort(const struct order *o, char *base, size_t n, char *room)
{
    const size_t left = n / 2;

    if (n < 2)
        return;
    merge_sort(o, base, left, room);
    merge_sort(o, base + left * o->size, n - left, room);
    if (o->compare(base + (left - 1) * o->size, base + left * o->size, o->context) > 0)
        merge(o, base, left, n, room);
}

static void sift_down(const struct order *o, char *base, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n &&
            o->compare(base + child * o->size, base + (child + 1) * o->size, o->context) < 0)
            child++;
        if (o->compare(base + at * o->size, base + child * o->size, o->context) >= 0)
            return;
        swap(base + at * o->size, base + child * o->size, o->size);
    }
}

/* Needs no memory, and does not keep the order of equal elements. */
static void heap_sort(const struct order *o, char *base, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(o, base, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(base, base + end * o->size, o->size);
        sift_down(o, base, 0, end);
    }
}

void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
             void *context)
{
    const struct order o = {size, compare, context};

    if (n < 2 || size == 0)
        return;
    const int cause = errno;
    char *room = reallocarray(NULL, n / 2, size);
    if (room != NULL)
        merge_sort(&o, base, n, room);
    else
        heap_sort(&o, base, n);
    free(room);
    errno = cause;
}

struct plain {
    int (*compare)(const void *, const void *);
};

static int compare_plain(const void *a, const void *b, void *context)
{
    const struct plain *plain = context;

    return plain->compare(a, b);
}

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    struct plain plain = {compare};

    qsort_r(base, n, size, compare_plain, &plain);
}

/* ---- forks ---- */

/* Not `extern`: a name that one of the two C libraries lacks must not be a symbol that the loader
 * looks for. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    int (*of_glibc)(void (*)(void), void (*)(void), void (*)(void), void *);
    int (*of_musl)(void (*)(void), void (*)(void), void (*)(void));
    void *found = dlsym(RTLD_DEFAULT, "__register_atfork");

    memcpy(&of_glibc, &found, sizeof found);
    if (of_glibc != NULL) /* NULL: not removed by a dlclose; libbbflow.so is never unloaded */
        return of_glibc(prepare, parent, child, NULL);
    found = dlsym(RTLD_DEFAULT, "pthread_atfork");
    memcpy(&of_musl, &found, sizeof found);
    return of_musl != NULL ? of_musl(prepare, parent, child) : ENOSYS;
}
