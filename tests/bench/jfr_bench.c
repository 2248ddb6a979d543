/*
 * tests/bench/jfr_bench.c - events a second that the live recording encodes (ADR 42). The baseline
 * is memcpy of as many bytes: it tells a slow machine from a slow writer.
 *
 *     cmake --build build/release --target jfr_bench && build/release/jfr_bench [SECONDS]
 *
 * Each figure is the best of three rounds of SECONDS (0.3) of the thread's CPU time. `malloc` is
 * what a lost buffer costs, `leak` a place with 16 steps, of 1,000 places; a flush comes after each
 * 4 MiB, and what is flushed is thrown away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "render/record.h"

enum { ROUNDS = 3, PLACES = 1000, STEPS = 16, BATCH = 10000, FLUSH = 4 << 20 };

static double seconds = 0.3;
static uint64_t written;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int append(void *ctx, const char *data, size_t len)
{
    (void)ctx;
    (void)data;
    written += len;
    return 0;
}

static int patch(void *ctx, uint64_t at, const char *data, size_t len)
{
    (void)ctx;
    (void)at;
    (void)data;
    (void)len;
    return 0;
}

static struct bbf_jfr_frame frames[STEPS];
static char methods[PLACES][16];
static uint64_t ticks = 1, lives;

static struct bbf_record_path path_of(unsigned place)
{
    for (int i = 0; i < STEPS; i++)
        frames[i] = bbf_record_frame("com.app.handlers.OrderHandler",
                                     methods[(place + (unsigned)i) % PLACES], "");
    return (struct bbf_record_path){frames, STEPS, false};
}

static void put_lost(struct bbf_jfr_writer *w, unsigned i)
{
    const struct bbf_record_lost lost = {
        path_of(i % PLACES), {7, "nioEventLoopGroup-2-1"}, ticks++, 1, 256};

    bbf_record_allocations(w, &lost, &lives);
}

static void put_leak(struct bbf_jfr_writer *w, unsigned i)
{
    const struct bbf_record_leak leak = {.path = path_of(i % PLACES),
                                         .thread = {7, "nioEventLoopGroup-2-1"},
                                         .place = i % PLACES,
                                         .count = i,
                                         .bytes = UINT64_C(256) * i,
                                         .weight = 1};

    bbf_record_leak(w, ticks++, &leak);
}

static void run(const char *name, void (*put)(struct bbf_jfr_writer *w, unsigned i))
{
    double best = 0, best_copy = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const struct bbf_jfr_config config = {
            .schema = bbf_record_schema, .output = {append, patch, NULL}, .chunk_bytes = FLUSH};
        struct bbf_jfr_writer w;
        uint64_t events = 0;
        if (bbf_jfr_writer_init(&w, &config) != 0)
            exit(1);
        written = 0;
        double begin = now(), took = 0;
        for (; took < seconds; took = now() - begin)
            for (unsigned i = 0; i < BATCH; i++, events++)
                put(&w, i);
        (void)bbf_jfr_finish(&w, ticks);
        best = (double)events / took > best ? (double)events / took : best;
        bbf_jfr_writer_free(&w);
        /* As many bytes, event by event. */
        size_t each = (size_t)(written / events) + 1;
        char *from = calloc(1, FLUSH), *to = calloc(1, FLUSH);
        if (from == NULL || to == NULL)
            exit(1);
        begin = now();
        for (uint64_t i = 0, at = 0; i < events; i++, at = (at + each) % (FLUSH - each)) {
            memcpy(to + at, from + at, each);
            __asm__ volatile("" : : "r"(to) : "memory");
        }
        took = now() - begin;
        best_copy = (double)events / took > best_copy ? (double)events / took : best_copy;
        free(from);
        free(to);
    }
    printf("%-7s %10.0f events/s  memcpy %12.0f/s  ratio %.4f\n", name, best, best_copy,
           best / best_copy);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seconds = atof(argv[1]);
    for (unsigned i = 0; i < PLACES; i++)
        snprintf(methods[i], sizeof methods[i], "step%u", i);
    run("malloc", put_lost);
    run("leak", put_leak);
    return 0;
}
