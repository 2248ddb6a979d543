/* link: bbf_core */
/* agent/grace.c: what was replaced is freed once no reader can hold it, and not before. */
#include "agent/grace.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static size_t discarded, discarded_bytes;

static void discard(void *memory, size_t bytes)
{
    discarded++;
    discarded_bytes += bytes;
    free(memory);
}

static void without_readers_it_goes_at_once(void **state)
{
    struct bbf_grace grace = BBF_GRACE_INIT;
    size_t bytes;

    (void)state;
    discarded = discarded_bytes = 0;
    assert_true(bbf_grace_retire(&grace, malloc(8), 8, discard));
    assert_int_equal(discarded, 1);
    assert_int_equal(discarded_bytes, 8);
    assert_int_equal(bbf_grace_look(&grace, &bytes), 0);
    assert_int_equal(bytes, 0);
}

/* Who came before holds it; who comes later does not, though there is always one. */
static void readers_of_before_hold_it_and_later_ones_do_not(void **state)
{
    struct bbf_grace grace = BBF_GRACE_INIT;
    size_t bytes;

    (void)state;
    discarded = 0;
    unsigned first = bbf_grace_enter(&grace), nested = bbf_grace_enter(&grace);
    assert_true(bbf_grace_retire(&grace, malloc(8), 8, discard));
    assert_int_equal(bbf_grace_look(&grace, &bytes), 1);
    assert_int_equal(bytes, 8);
    unsigned later = bbf_grace_enter(&grace);
    assert_int_not_equal(later, first);
    bbf_grace_leave(&grace, nested);
    assert_int_equal(bbf_grace_look(&grace, NULL), 1);
    assert_int_equal(discarded, 0);
    bbf_grace_leave(&grace, first);
    assert_int_equal(bbf_grace_look(&grace, NULL), 0);
    assert_int_equal(discarded, 1);
    bbf_grace_leave(&grace, later);
}

static void there_is_a_limit(void **state)
{
    struct bbf_grace grace = BBF_GRACE_INIT;
    char *extra = malloc(1);

    (void)state;
    discarded = 0;
    unsigned side = bbf_grace_enter(&grace);
    for (int i = 0; i < BBF_GRACE_MOST; i++)
        assert_true(bbf_grace_retire(&grace, malloc(1), 1, discard));
    assert_false(bbf_grace_retire(&grace, extra, 1, discard));
    free(extra);
    bbf_grace_leave(&grace, side);
    assert_int_equal(bbf_grace_look(&grace, NULL), 0);
    assert_int_equal(discarded, BBF_GRACE_MOST);
}

/* ---- threads ---- */

enum { READERS = 3, REPLACED = 20000, BAD = 0x0bad };

struct value {
    uint64_t a, b;
};
static struct bbf_grace shared = BBF_GRACE_INIT;
static _Atomic(struct value *) current;
static atomic_bool stop;
static atomic_size_t torn, reads;

static void spoil(void *memory, size_t bytes)
{
    struct value *value = memory;
    (void)bytes;
    value->a = BAD; /* a thread that still reads it is found, even without a sanitizer */
    value->b = ~(uint64_t)BAD;
    discarded++;
    free(value);
}

static void *read_all_the_time(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        unsigned side = bbf_grace_enter(&shared);
        const struct value *value = atomic_load(&current);
        for (int i = 0; i < 20; i++)
            if (value->a != value->b)
                atomic_fetch_add(&torn, 1);
        bbf_grace_leave(&shared, side);
        atomic_fetch_add(&reads, 1);
    }
    return NULL;
}

static struct value *value_of(uint64_t n)
{
    struct value *value = malloc(sizeof *value);
    assert_non_null(value);
    *value = (struct value){n, n};
    return value;
}

static void no_reader_sees_what_was_freed(void **state)
{
    pthread_t threads[READERS];

    (void)state;
    discarded = 0;
    atomic_store(&current, value_of(0));
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all_the_time, NULL), 0);
    while (atomic_load(&reads) < READERS) /* they are under way */
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    for (uint64_t n = 1; n <= REPLACED; n++) {
        struct value *old = atomic_exchange(&current, value_of(n));
        while (!bbf_grace_retire(&shared, old, sizeof *old, spoil))
            nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    }
    /* All of it is freed while the readers keep reading. */
    for (int i = 0; i < 10000 && bbf_grace_look(&shared, NULL) > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(discarded, REPLACED);
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(torn, 0);
    free(atomic_load(&current));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_readers_it_goes_at_once),
        cmocka_unit_test(readers_of_before_hold_it_and_later_ones_do_not),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(no_reader_sees_what_was_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
