/* link: bbf_core */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the build for glibc 2.17 and musl brings itself, under other names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool no_getrandom, no_memory;

static long system_call(long number, ...);
static void *reallocate(void *old, size_t bytes);

#include "core/err.h"
#define reallocarray   old_reallocarray
#define explicit_bzero old_explicit_bzero
#define getrandom      old_getrandom
#define qsort          old_qsort
#define qsort_r        old_qsort_r
#define pthread_atfork old_pthread_atfork
#define memfd_create   old_memfd_create
#define syscall        system_call
#define realloc        reallocate
#include "core/libc/old_libc.c"
#undef syscall
#undef realloc

static long system_call(long number, ...)
{
    va_list rest;

    va_start(rest, number);
    void *first = va_arg(rest, void *);
    const size_t second = va_arg(rest, size_t);
    const unsigned third = number == SYS_getrandom ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    if (number != SYS_getrandom)
        return syscall(number, first, (unsigned)second);
    if (!no_getrandom)
        return syscall(number, first, second, third);
    errno = ENOSYS;
    return -1;
}

static void *reallocate(void *old, size_t bytes)
{
    return no_memory ? NULL : realloc(old, bytes);
}

static void test_reallocarray(void **state)
{
    (void)state;
    errno = 0;
    assert_null(old_reallocarray(NULL, SIZE_MAX / 2, 3));
    assert_int_equal(errno, ENOMEM);
    char *bytes = old_reallocarray(NULL, 3, 5);
    assert_non_null(bytes);
    memcpy(bytes, "fourteen bytes", 15);
    bytes = old_reallocarray(bytes, 1000, 5);
    assert_string_equal(bytes, "fourteen bytes");
    old_explicit_bzero(bytes, 8);
    assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0 bytes", 15);
    free(bytes);
}

static void test_random(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) { /* a kernel that has the call, and one before 3.17 */
        uint64_t numbers[2][4] = {{0}};
        no_getrandom = old;
        for (int i = 0; i < 2; i++)
            assert_int_equal(old_getrandom(numbers[i], sizeof numbers[i], 0), sizeof numbers[i]);
        no_getrandom = false;
        for (int i = 0; i < 4; i++)
            assert_true(numbers[0][i] != 0 && numbers[0][i] != numbers[1][i]);
    }
}

static void test_memory_file(void **state)
{
    char text[] = "????";
    int file = old_memfd_create("bbflow-test", MFD_CLOEXEC);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(fcntl(file, F_GETFD), FD_CLOEXEC);
    assert_int_equal(pwrite(file, "four", 4, 1), 4);
    assert_int_equal(pread(file, text, 4, 1), 4);
    assert_string_equal(text, "four");
    close(file);
}

struct row {
    unsigned key, was;
    char rest[3];
};

static int compare_keys(const void *a, const void *b, void *context)
{
    const struct row *x = a, *y = b;

    ++*(size_t *)context;
    return (x->key > y->key) - (x->key < y->key);
}

enum { ROWS = 1000 };

static struct row *make_rows(size_t n, unsigned keys)
{
    static struct row rows[ROWS];

    for (size_t i = 0; i < n; i++)
        rows[i] = (struct row){(unsigned)rand() % keys, (unsigned)i, {1, 2, 3}};
    return rows;
}

static void sort_and_look(size_t n, unsigned keys, bool is_stable)
{
    struct row *rows = make_rows(n, keys);
    size_t compared = 0;
    uint64_t were = 0;

    old_qsort_r(rows, n, sizeof *rows, compare_keys, &compared);
    for (size_t i = 0; i < n; i++) {
        were += rows[i].was;
        assert_memory_equal(rows[i].rest, "\1\2\3", 3);
        assert_true(i == 0 || rows[i - 1].key <= rows[i].key);
        if (is_stable)
            assert_true(i == 0 || rows[i - 1].key < rows[i].key || rows[i - 1].was < rows[i].was);
    }
    assert_true(were == (uint64_t)n * (n - (n > 0)) / 2);
    assert_true(compared <= n * 24); /* not the square */
}

static void test_sort(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++)
        for (unsigned keys = 1; keys < 50; keys += 7)
            sort_and_look(n, keys, true);
    sort_and_look(ROWS, 10, true);
    no_memory = true;
    for (size_t n = 0; n < 40; n++)
        sort_and_look(n, 20, false);
    sort_and_look(ROWS, 10, false);
    no_memory = false;
}

static int compare_ints(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void test_plain_sort(void **state)
{
    int numbers[] = {5, -3, 9, 0, 5};
    const int sorted[] = {-3, 0, 5, 5, 9};

    (void)state;
    old_qsort(numbers, 5, sizeof *numbers, compare_ints);
    assert_memory_equal(numbers, sorted, sizeof sorted);
}

static int forked; /* in the child */

static void in_child(void)
{
    forked = 42;
}

static void test_forks(void **state)
{
    int status = 0;

    (void)state;
    assert_int_equal(old_pthread_atfork(NULL, NULL, in_child), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(forked);
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    assert_int_equal(forked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reallocarray), cmocka_unit_test(test_random),
        cmocka_unit_test(test_memory_file),  cmocka_unit_test(test_sort),
        cmocka_unit_test(test_plain_sort),   cmocka_unit_test(test_forks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
