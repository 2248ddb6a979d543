/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cost/model.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "core/clock.h"
#include "trie/words.h"

/*
 * IN_PLACE: in Netty's own code a step took 3.2 to 3.7 ns where a loop of steps took 1.5
 * (design.md: targets; before and after: registers, code size, cache lines of nodes and records
 * that other threads also use).
 */
enum { ROUNDS = 32, TIMES = 256, RING = 8, SITE = 7, NOW = 1, N = 100, IN_PLACE = 2, GATES = 16 };
enum { GATE_IN_PLACE = 10 }; /* measured beside no agent, on five workloads (ADR 73) */

#define LOAD(word)         atomic_load_explicit(&(word), memory_order_relaxed)
#define STORE(word, value) atomic_store_explicit(&(word), (value), memory_order_relaxed)
#define HIGH               (UINT64_MAX << 32)

static _Alignas(64) struct bbf_record record;
static _Alignas(64) struct bbf_node ring[RING]; /* each leads to the next */
static _Alignas(64) _Atomic uint64_t field;     /* the buffer's */
static _Atomic uint64_t draws;
static _Atomic int8_t gate = -1; /* shut: the sign of its word, as BBFlowHandle.idle() reads it */

static void reset(void)
{
    for (uint32_t i = 0; i < RING; i++)
        STORE(ring[i].child[0], BBF_WORD(SITE, (i + 1) % RING));
    STORE(field, BBF_WORD(1, 0));
    STORE(record.path, BBF_WORD(1, 1));
    STORE(record.life, BBF_WORD(1, BBF_L_CLOSED | BBF_L_STICKY));
    STORE(record.refs, BBF_WORD(1, 1));
    STORE(record.run, BBF_WORD(1, 0));
}

/* As BBFlowShim.step() in the ring, looking for the site at child `i` (1: it is not there). */
static inline void step_along(unsigned i)
{
    for (unsigned n = 0; n < TIMES; n++) {
        uint64_t f = LOAD(field), path = LOAD(record.path);
        uint64_t child = LOAD(ring[BBF_LOW(path) % RING].child[i]) ^ (uint64_t)SITE << 32;
        if (((path ^ f) | child) >> 32 == 0)
            STORE(record.path, (f & HIGH) | child);
    }
}

static void steps(void)
{
    step_along(0);
}

/* As its root() and release() of an object that was met before. */
static void lives(void)
{
    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t f = LOAD(field);
        if (LOAD(record.life) != ((f & HIGH) | BBF_L_CLOSED | BBF_L_STICKY))
            return;
        uint64_t g = (f & HIGH) + (UINT64_C(1) << 32);
        STORE(record.path, g | 1);
        STORE(record.refs, g | (LOAD(record.refs) & 0xfff000) | 1);
        STORE(record.size, g | 256);
        STORE(record.parent, 0);
        STORE(record.next, NOW);
        STORE(record.batch, 1);
        atomic_store_explicit(&record.life, g | BBF_L_OPEN | BBF_L_STICKY, memory_order_release);
        STORE(field, g);
        f = LOAD(field);
        if (LOAD(record.life) != ((f & HIGH) | BBF_L_OPEN | BBF_L_STICKY))
            return;
        uint64_t path = LOAD(record.path), run = LOAD(record.run), refs = LOAD(record.refs);
        uint64_t key = path << 32 | (refs >> BBF_L_CLASS_SHIFT & BBF_L_CLASS_MASK) << 16;
        if ((run ^ key) >> 16 == 0 && LOAD(record.next) != NOW)
            return;
        STORE(record.path, f & HIGH);
        STORE(record.batch, 1);
        atomic_store_explicit(&record.life, (f & HIGH) | BBF_L_CLOSED | BBF_L_STICKY,
                              memory_order_release);
        STORE(record.run, run + 1);
    }
}

static void passed_steps(void)
{
    step_along(1);
}

/* SplitMix64 as the shim draws, behind the call that leads there. */
static bool __attribute__((noinline)) is_drawn(void)
{
    uint64_t z = LOAD(draws) + UINT64_C(0x9e3779b97f4a7c15);
    STORE(draws, z);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (z >> 32) * N >> 32 == 0;
}

static void passed_lives(void)
{
    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t f = LOAD(field), life = LOAD(record.life);
        if (is_drawn())
            STORE(record.size, life);
        atomic_store_explicit(&record.life,
                              (f & HIGH) | BBF_L_CLOSED | BBF_L_STICKY | BBF_L_SKIPPED,
                              memory_order_release);
        if (LOAD(record.life) == ((f & HIGH) | BBF_L_OPEN | BBF_L_STICKY)) /* at its release */
            return;
    }
}

static inline void one_gate(unsigned i)
{
    if (__builtin_expect(LOAD(gate) >= 0, 0))
        STORE(record.size, i);
}

/* Enough of them for the clock to be exact, and eight in a row, so that the loop itself is the
 * smaller part. */
static void gates(void)
{
    for (unsigned i = 0; i < GATES * TIMES; i += 8) {
        one_gate(i);
        one_gate(i + 1);
        one_gate(i + 2);
        one_gate(i + 3);
        one_gate(i + 4);
        one_gate(i + 5);
        one_gate(i + 6);
        one_gate(i + 7);
    }
}

static void nothing(void)
{
}

static uint64_t least_ns(void (*work)(void))
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < ROUNDS; i++) {
        reset();
        uint64_t begin = bbf_clock_ns(CLOCK_MONOTONIC);
        work();
        uint64_t ns = bbf_clock_ns(CLOCK_MONOTONIC) - begin;
        least = ns < least ? ns : least;
    }
    return least;
}

/* Of `times` hooks; one in the application takes `factor` times as long. */
static uint64_t ps_each(void (*work)(void), uint64_t clock_ns, unsigned times, unsigned factor)
{
    uint64_t ns = least_ns(work);
    return (ns > clock_ns ? ns - clock_ns : 0) * 1000 * factor / times;
}

uint64_t bbf_cost_model_gate_ps(uint64_t clock_ns)
{
    return ps_each(gates, clock_ns, GATES * TIMES, GATE_IN_PLACE);
}

void bbf_cost_model_measure(struct bbf_cost_model *to)
{
    uint64_t clock_ns = least_ns(nothing);
    *to =
        (struct bbf_cost_model){.life_ps = ps_each(lives, clock_ns, TIMES, IN_PLACE),
                                .step_ps = ps_each(steps, clock_ns, TIMES, IN_PLACE),
                                .passed_life_ps = ps_each(passed_lives, clock_ns, TIMES, IN_PLACE),
                                .passed_step_ps = ps_each(passed_steps, clock_ns, TIMES, IN_PLACE),
                                .gate_ps = bbf_cost_model_gate_ps(clock_ns),
                                .clock_ns = clock_ns};
}
