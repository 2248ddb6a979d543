/* link: bbf_core */
/*
 * The table of the kinds of classes that are never unloaded, as java.lang.BBFlowKind reads and
 * writes it, line by line in C: threads look classes up, more than the table has room for, and put
 * them there at the same time. The property: a kind that is found is that of the requested class,
 * and the table has each class once.
 */
#include "core/layout.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
    THREADS = 4,
    CLASSES = 1500,
    GROUPS = 1 << BBF_L_KIND_GROUP_BITS,
    ENTRIES = GROUPS * BBF_L_KIND_WAYS,
    ROUNDS = 300, /* from an empty table: it is full after some thousand */
    LOOKUPS = 6000
};

static struct entry {
    _Atomic uint32_t klass, none;
    _Atomic uint64_t kind;
} table[ENTRIES];
_Static_assert(sizeof(struct entry) == 1 << BBF_L_KIND_ENTRY_SHIFT, "as the shim has it");
_Static_assert(BBF_L_KIND_WAYS << BBF_L_KIND_ENTRY_SHIFT == 1 << BBF_L_KIND_GROUP_SHIFT,
               "likewise");

static _Atomic uint64_t wrong, asked;
static pthread_barrier_t start, done;

/* What the ClassValue would say; never 0, as KIND_PERMANENT is in it. */
static uint64_t kind_of(uint32_t klass)
{
    return (uint64_t)klass * UINT64_C(0x100000001) | BBF_L_KIND_PERMANENT;
}

static struct entry *group(uint32_t klass)
{
    return table + (size_t)(klass * 0x9e3779b9u >> (32 - BBF_L_KIND_GROUP_BITS)) * BBF_L_KIND_WAYS;
}

/* Relaxed: each word changes once, and either order of the two is right (the invariant there). */
static uint64_t found(struct entry *e, uint32_t klass)
{
    uint64_t kind = atomic_load_explicit(&e->kind, memory_order_relaxed);
    return atomic_load_explicit(&e->klass, memory_order_relaxed) == klass ? kind : 0;
}

static void keep(struct entry *e, uint32_t klass)
{
    for (struct entry *end = e + BBF_L_KIND_WAYS; e < end; e++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&e->klass, &none, klass)) {
            atomic_store_explicit(&e->kind, kind_of(klass), memory_order_relaxed);
            return;
        }
        if (none == klass)
            return;
    }
}

static uint64_t of(uint32_t klass)
{
    struct entry *e = group(klass);
    for (int i = 0; i < BBF_L_KIND_WAYS; i++) {
        uint64_t kind = found(e + i, klass);
        if (kind != 0)
            return kind;
    }
    atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    keep(e, klass);
    return kind_of(klass);
}

/* Classes are at least 8 bytes apart. */
static uint32_t klass_of(uint32_t n)
{
    return (n + 1) * 8 * 67;
}

static void *look(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&start);
        for (int i = 0; i < LOOKUPS; i++) {
            random = random * 1664525 + 1013904223;
            uint32_t klass = klass_of((random >> 8) % CLASSES);
            if (of(klass) != kind_of(klass))
                atomic_fetch_add(&wrong, 1);
        }
        pthread_barrier_wait(&done);
    }
    return NULL;
}

static void each_class_stands_there_once(void)
{
    int full = 0;
    for (int i = 0; i < ENTRIES; i++) {
        uint32_t klass = table[i].klass;
        full += klass != 0;
        for (int k = i + 1; klass != 0 && k / BBF_L_KIND_WAYS == i / BBF_L_KIND_WAYS; k++)
            assert_int_not_equal(table[k].klass, klass);
    }
    assert_in_range(full, ENTRIES / 2, ENTRIES);
}

static void each_class_finds_its_own_kind(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS + 1);
    pthread_barrier_init(&done, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, (void *)(i + 1)), 0);
    for (int round = 0; round < ROUNDS; round++) {
        memset(table, 0, sizeof table);
        pthread_barrier_wait(&start);
        pthread_barrier_wait(&done);
        each_class_stands_there_once();
        assert_int_equal(wrong, 0);
        assert_in_range(asked, CLASSES, (uint64_t)THREADS * LOOKUPS);
        asked = 0;
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_class_finds_its_own_kind)};
    return cmocka_run_group_tests_name("stress_kinds", tests, NULL, NULL);
}
