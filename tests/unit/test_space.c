/* link: bbf_trie bbf_core */
/* trie/space.c: what is reserved reads as zeros, what is reached can be written and is charged. */
#include "core/err.h"
#include "trie/space.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };

static struct bbf_space reserve(struct bbf_budget *budget, size_t size, uint64_t limit)
{
    struct bbf_space space;
    memset(budget, 0, sizeof *budget);
    atomic_store(&budget->limit, limit);
    assert_int_equal(bbf_space_reserve(&space, size, budget), BBF_OK);
    return space;
}

/* The signal that ends a child which writes one byte at `at`; 0 if it may. */
static int signal_of_write(char *at)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* not the sanitizer's */
        *(volatile char *)at = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_reservation_costs_nothing_and_reads_as_zeros(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, (size_t)1 << 34, 0);
    (void)state;
    assert_int_equal(budget.used, 0);
    assert_int_equal(space.base[0], 0);
    assert_int_equal(space.base[((size_t)1 << 34) - 1], 0);
    assert_int_equal(signal_of_write(space.base + 5), SIGSEGV);
    munmap(space.base, space.size);
}

static void reach_opens_whole_steps_and_charges_them_once(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, 16 * MIB, 16 * MIB);
    (void)state;
    assert_true(bbf_space_reach(&space, 1));
    assert_int_equal(budget.used, MIB);
    assert_true(bbf_space_reach(&space, MIB));
    assert_int_equal(budget.used, MIB);
    space.base[MIB - 1] = 1;
    assert_int_equal(signal_of_write(space.base + MIB), SIGSEGV);
    assert_true(bbf_space_reach(&space, MIB + 1));
    assert_int_equal(budget.used, 2 * MIB);
    assert_int_equal(signal_of_write(space.base + MIB), 0);
    assert_true(bbf_space_reach(&space, 16 * MIB));
    assert_int_equal(budget.used, 16 * MIB);
    assert_false(bbf_space_reach(&space, 16 * MIB + 1)); /* the reservation ends */
    assert_int_equal(space.base[MIB - 1], 1);
    munmap(space.base, space.size);
}

static void the_limit_refuses_and_loses_nothing(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, 16 * MIB, 3 * MIB + 5);
    (void)state;
    assert_false(bbf_space_reach(&space, 5 * MIB));
    assert_int_equal(budget.used, 3 * MIB); /* what fitted */
    assert_int_equal(budget.refused, 1);
    assert_false(bbf_space_open(&space, 8 * MIB, MIB));
    assert_int_equal(budget.used, 3 * MIB);
    assert_int_equal(budget.refused, 2);
    assert_int_equal(signal_of_write(space.base + 8 * MIB), SIGSEGV);
    atomic_store(&budget.limit, 8 * MIB);
    assert_true(bbf_space_reach(&space, 5 * MIB));
    assert_int_equal(budget.used, 5 * MIB);
    assert_true(bbf_space_open(&space, 8 * MIB, MIB));
    space.base[8 * MIB] = 1;
    assert_int_equal(budget.used, 6 * MIB);
    munmap(space.base, space.size);
}

static void what_lies_outside_is_refused(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, 4 * MIB, 100 * MIB);
    (void)state;
    assert_false(bbf_space_open(&space, 4 * MIB, MIB));
    assert_false(bbf_space_open(&space, 3 * MIB, 2 * MIB));
    assert_false(bbf_space_open(&space, SIZE_MAX - MIB, 2 * MIB));
    assert_int_equal(budget.used, 0);
    /* A size that is no whole number of steps ends with a shorter one. */
    struct bbf_space odd = reserve(&budget, MIB + 8192, 100 * MIB);
    assert_true(bbf_space_reach(&odd, MIB + 8192));
    assert_int_equal(budget.used, MIB + 8192);
    odd.base[MIB + 8191] = 1;
    munmap(space.base, space.size);
    munmap(odd.base, odd.size);
}

static void what_the_kernel_refuses_is_not_charged(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, 4 * MIB, 100 * MIB);
    (void)state;
    assert_false(bbf_space_open(&space, 100, MIB)); /* no page begins there */
    assert_int_equal(budget.used, 0);
    assert_int_equal(budget.refused, 1);
    munmap(space.base, space.size);
}

static void dropped_pages_read_as_zeros_and_can_be_written(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, 4 * MIB, 100 * MIB);
    (void)state;
    assert_true(bbf_space_reach(&space, 2 * MIB));
    memset(space.base, 7, 2 * MIB);
    bbf_space_drop(&space, 0, MIB, MIB);
    assert_int_equal(budget.used, MIB);
    assert_int_equal(space.base[0], 0);
    assert_int_equal(space.base[MIB - 1], 0);
    assert_int_equal(space.base[MIB], 7);
    space.base[0] = 1;
    assert_int_equal(space.base[0], 1);
    munmap(space.base, space.size);
}

static void more_than_the_address_space_is_out_of_memory(void **state)
{
    struct bbf_budget budget = {0};
    struct bbf_space space;
    (void)state;
    assert_int_equal(bbf_space_reserve(&space, (size_t)1 << 62, &budget), BBF_ENOMEM);
}

static void *reach_all(void *arg)
{
    struct bbf_space *space = arg;
    for (size_t upto = 1000; upto <= space->size; upto += 1000) {
        if (!bbf_space_reach(space, upto))
            return arg;
        ((_Atomic char *)space->base)[upto - 1] = 1; /* what is reached is writable */
    }
    return NULL;
}

static void threads_that_reach_at_once_charge_each_step_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct bbf_budget budget;
        struct bbf_space space = reserve(&budget, 8 * MIB, 100 * MIB);
        pthread_t thread[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, reach_all, &space), 0);
        for (int i = 0; i < 4; i++) {
            void *failed;
            pthread_join(thread[i], &failed);
            assert_null(failed);
        }
        assert_int_equal(budget.used, 8 * MIB);
        assert_int_equal(budget.refused, 0);
        munmap(space.base, space.size);
    }
}

/* Bytes of huge pages in [base, base + size), by the kernel. */
static size_t huge_bytes(const char *base, size_t size)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    char line[512];
    size_t sum = 0, kib;
    bool inside = false;
    assert_non_null(smaps);
    while (fgets(line, sizeof line, smaps) != NULL) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            inside = from < (uintptr_t)base + size && to > (uintptr_t)base;
        else if (inside && sscanf(line, "AnonHugePages: %zu kB", &kib) == 1)
            sum += kib << 10;
    }
    assert_int_equal(fclose(smaps), 0);
    return sum;
}

static void much_that_is_in_use_gets_huge_pages(void **state)
{
    struct bbf_budget budget;
    struct bbf_space space = reserve(&budget, 64 * MIB, 64 * MIB);
    size_t used = BBF_HUGE_FROM + 4 * MIB;
    (void)state;
    assert_true(bbf_space_reach(&space, used));
    for (size_t i = 0; i < used; i += 64)
        memcpy(space.base + i, &i, sizeof i);
    assert_true(bbf_space_collapse(&space, 0, BBF_HUGE_FROM - 1));
    assert_int_equal(space.collapsed, 0); /* too little */
    bool can = true;
    for (int i = 0; i < 8 && can; i++)
        can = bbf_space_collapse(&space, 0, used);
    if (can) {
        assert_true(space.collapsed > used - 2 * MIB && space.collapsed <= used);
        assert_true(huge_bytes(space.base, space.size) >= 2 * MIB);
    }
    for (size_t i = 0; i < used; i += 64)
        assert_memory_equal(space.base + i, &i, sizeof i);
    assert_int_equal(budget.used, used);
    bbf_space_drop(&space, 0, 3 * MIB, 0); /* a part of one */
    assert_int_equal(space.base[MIB], 0);
    assert_int_equal(*(size_t *)(void *)(space.base + 3 * MIB), 3 * MIB);
    munmap(space.base, space.size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_costs_nothing_and_reads_as_zeros),
        cmocka_unit_test(reach_opens_whole_steps_and_charges_them_once),
        cmocka_unit_test(the_limit_refuses_and_loses_nothing),
        cmocka_unit_test(what_lies_outside_is_refused),
        cmocka_unit_test(what_the_kernel_refuses_is_not_charged),
        cmocka_unit_test(dropped_pages_read_as_zeros_and_can_be_written),
        cmocka_unit_test(more_than_the_address_space_is_out_of_memory),
        cmocka_unit_test(threads_that_reach_at_once_charge_each_step_once),
        cmocka_unit_test(much_that_is_in_use_gets_huge_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
