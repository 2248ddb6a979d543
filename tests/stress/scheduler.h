/*
 * tests/stress/scheduler.h - threads that are contexts of one: at every atomic access a seeded
 * random number decides whether another runs, so that the same seed gives the same run. Included
 * before everything else (-include) by tests/stress/stress_lives.c and trie/ as they are built for
 * schedule_lives; the macros of <stdatomic.h> become the compiler's own, with a point before each.
 *
 * It shows interleavings, many in a second and each again at will; not the orders of a weak memory,
 * which TSan and tests/model show.
 */
#ifndef BBF_TESTS_STRESS_SCHEDULER_H
#define BBF_TESTS_STRESS_SCHEDULER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ck_epoch.h>

enum { SCHEDULE_SEATS = 8 };

/* Run `threads` threads of run(arg) and agent(arg) to their ends, one at a time. Main thread. */
void schedule_run(uint64_t seed, int threads, void *(*run)(void *), void *(*agent)(void *),
                  void *arg);
/* Another thread may run here. Does nothing outside of schedule_run(). */
void schedule_point(void);
/* Another thread does run, if there is one. */
void schedule_pass(void);

static inline void schedule_wait(ck_epoch_t *epoch, ck_epoch_record_t *record, void *arg)
{
    (void)epoch;
    (void)record;
    (void)arg;
    schedule_pass();
}

/* Who waits for others must let them run. */
#define ck_epoch_synchronize(record)                                                               \
    ck_epoch_synchronize_wait((record)->global, schedule_wait, NULL)
#define sched_yield() schedule_pass()

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit

/* As in gcc's <stdatomic.h>; one thread at a time needs no more than the value. */
#define atomic_load_explicit(p, order)                                                             \
    __extension__({                                                                                \
        __auto_type load_from = (p);                                                               \
        __typeof__((void)0, *load_from) loaded;                                                    \
        schedule_point();                                                                          \
        __atomic_load(load_from, &loaded, __ATOMIC_SEQ_CST);                                       \
        loaded;                                                                                    \
    })
#define atomic_store_explicit(p, value, order)                                                     \
    __extension__({                                                                                \
        __auto_type store_to = (p);                                                                \
        __typeof__((void)0, *store_to) stored = (value);                                           \
        schedule_point();                                                                          \
        __atomic_store(store_to, &stored, __ATOMIC_SEQ_CST);                                       \
    })
#define atomic_exchange_explicit(p, value, order)                                                  \
    __extension__({                                                                                \
        __auto_type exchange_at = (p);                                                             \
        __typeof__((void)0, *exchange_at) given = (value), taken;                                  \
        schedule_point();                                                                          \
        __atomic_exchange(exchange_at, &given, &taken, __ATOMIC_SEQ_CST);                          \
        taken;                                                                                     \
    })
#define atomic_compare_exchange_strong_explicit(p, expected, value, order, other)                  \
    __extension__({                                                                                \
        __auto_type cas_at = (p);                                                                  \
        __typeof__((void)0, *cas_at) wanted = (value);                                             \
        schedule_point();                                                                          \
        __atomic_compare_exchange(cas_at, (expected), &wanted, 0, __ATOMIC_SEQ_CST,                \
                                  __ATOMIC_SEQ_CST);                                               \
    })
#define atomic_fetch_add_explicit(p, n, order)                                                     \
    (schedule_point(), __atomic_fetch_add((p), (n), __ATOMIC_SEQ_CST))
#define atomic_fetch_sub_explicit(p, n, order)                                                     \
    (schedule_point(), __atomic_fetch_sub((p), (n), __ATOMIC_SEQ_CST))
#define atomic_fetch_or_explicit(p, n, order)                                                      \
    (schedule_point(), __atomic_fetch_or((p), (n), __ATOMIC_SEQ_CST))
#define atomic_fetch_and_explicit(p, n, order)                                                     \
    (schedule_point(), __atomic_fetch_and((p), (n), __ATOMIC_SEQ_CST))
#define atomic_load(p)            atomic_load_explicit(p, 0)
#define atomic_store(p, value)    atomic_store_explicit(p, value, 0)
#define atomic_exchange(p, value) atomic_exchange_explicit(p, value, 0)
#define atomic_compare_exchange_strong(p, expected, value)                                         \
    atomic_compare_exchange_strong_explicit(p, expected, value, 0, 0)
#define atomic_compare_exchange_weak(p, expected, value)                                           \
    atomic_compare_exchange_strong_explicit(p, expected, value, 0, 0)
#define atomic_compare_exchange_weak_explicit(p, expected, value, order, other)                    \
    atomic_compare_exchange_strong_explicit(p, expected, value, 0, 0)
#define atomic_fetch_add(p, n) atomic_fetch_add_explicit(p, n, 0)
#define atomic_fetch_sub(p, n) atomic_fetch_sub_explicit(p, n, 0)
#define atomic_fetch_or(p, n)  atomic_fetch_or_explicit(p, n, 0)
#define atomic_fetch_and(p, n) atomic_fetch_and_explicit(p, n, 0)

#endif
