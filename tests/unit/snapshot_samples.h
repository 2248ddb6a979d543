/*
 * tests/unit/snapshot_samples.h - snapshots made by hand, for the tests of trie/snapshot and
 * render/. Each sample shows one thing; tests/golden/render/ has what each format makes of it.
 *
 * A sample is owned by the caller (bbf_snapshot_free). Without memory the program ends.
 */
#ifndef BBF_TESTS_UNIT_SNAPSHOT_SAMPLES_H
#define BBF_TESTS_UNIT_SNAPSHOT_SAMPLES_H

#include "snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTEBUF "Lio/netty/buffer/ByteBuf;"

static inline void *sample_memory(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static inline char *sample_text(const char *text)
{
    return sample_memory(strdup(text));
}

/* Room for one more: doubles whenever the count is a power of two. */
static inline void *sample_grow(void *table, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return table;
    return sample_memory(reallocarray(table, count == 0 ? 1 : count * 2, size));
}

static inline void sample_string(char ***strings, size_t *count, const char *text)
{
    *strings = sample_grow(*strings, *count, sizeof **strings);
    (*strings)[(*count)++] = sample_text(text);
}

static inline void sample_setting(struct bbf_snapshot *s, const char *name, const char *value)
{
    s->settings = sample_grow(s->settings, s->n_settings, sizeof *s->settings);
    s->settings[s->n_settings++] = (struct bbf_snap_pair){sample_text(name), sample_text(value)};
}

static inline void sample_limit(struct bbf_snapshot *s, const char *name, uint64_t used,
                                uint64_t limit, uint64_t hit)
{
    s->limits = sample_grow(s->limits, s->n_limits, sizeof *s->limits);
    s->limits[s->n_limits++] = (struct bbf_snap_limit){sample_text(name), used, limit, hit};
}

static inline struct bbf_snapshot *sample_new(void)
{
    struct bbf_snapshot *s = sample_memory(bbf_snapshot_new());
    s->captured_at_ms = INT64_C(1795291477123); /* 2026-11-21T20:04:37.123Z */
    s->jvm.pid = 4711;
    s->jvm.main = sample_text("com.app.Main");
    s->jvm.version = sample_text("17.0.15+6-Debian-1deb12u1");
    sample_string(&s->jvm.netty, &s->jvm.n_netty, "4.1.140.Final io.netty");
    sample_setting(s, "include", "com.app");
    sample_limit(s, "maxNodes", 12, 1000000, 0);
    return s;
}

/* Ids are not indexes, so that a mix-up shows: 7, 10, 13, … for sites, 101, 102, … for nodes. */
static inline uint32_t sample_site(struct bbf_snapshot *s, const char *class_name,
                                   const char *method, const char *descriptor,
                                   enum bbf_site_kind kind)
{
    s->sites = sample_grow(s->sites, s->n_sites, sizeof *s->sites);
    s->sites[s->n_sites] = (struct bbf_snap_site){.id = (uint32_t)(7 + 3 * s->n_sites),
                                                  .class_name = sample_text(class_name),
                                                  .method = sample_text(method),
                                                  .descriptor = sample_text(descriptor),
                                                  .kind = kind};
    return (uint32_t)s->n_sites++;
}

/* Add a site and a node at once: most sites are in one place only. `parent` is an index, -1 a
 * root. */
static inline int64_t sample_node(struct bbf_snapshot *s, int64_t parent, uint32_t site,
                                  enum bbf_bucket ref)
{
    s->nodes = sample_grow(s->nodes, s->n_nodes, sizeof *s->nodes);
    s->nodes[s->n_nodes] =
        (struct bbf_snap_node){.id = (uint32_t)(101 + s->n_nodes),
                               .parent = parent < 0 ? -1 : (int64_t)s->nodes[parent].id,
                               .site = site,
                               .ref = (uint8_t)ref};
    return (int64_t)s->n_nodes++;
}

static inline int64_t sample_step(struct bbf_snapshot *s, int64_t parent, const char *class_name,
                                  const char *method)
{
    uint32_t site = sample_site(s, class_name, method, "(" BYTEBUF ")V",
                                parent < 0 ? BBF_SITE_ROOT : BBF_SITE_ENTER);
    return sample_node(s, parent, site, BBF_REF_1_2);
}

static inline void sample_release(struct bbf_snapshot *s, int64_t parent, const char *class_name,
                                  uint64_t count)
{
    uint32_t site = sample_site(s, class_name, "release", "", BBF_SITE_RELEASE);
    int64_t node = sample_node(s, parent, site, BBF_REF_0);
    s->nodes[node].released_ = count;
}

static inline void sample_leak(struct bbf_snapshot *s, int64_t node, enum bbf_verdict verdict,
                               enum bbf_memory memory, uint64_t count, uint64_t bytes,
                               uint64_t seconds)
{
    s->leaks = sample_grow(s->leaks, s->n_leaks, sizeof *s->leaks);
    s->leaks[s->n_leaks++] = (struct bbf_snap_leak){.node = (uint32_t)node,
                                                    .verdict = verdict,
                                                    .memory = memory,
                                                    .count = count,
                                                    .bytes = bytes,
                                                    .oldest_seconds = seconds};
    if (verdict == BBF_VERDICT_AGED) {
        s->nodes[node].aged_ += count;
        s->nodes[node].live_ += count;
        s->nodes[node].live_bytes_ += bytes;
    } else {
        s->nodes[node].leaked_ += count;
        s->nodes[node].leaked_bytes_ += bytes;
    }
}

/* Who opened the last leak row's lives, and the rest that a row says. */
static inline void sample_opened(struct bbf_snapshot *s, uint64_t thread, uint64_t count,
                                 uint64_t p50, enum bbf_lost lost)
{
    struct bbf_snap_leak *leak = &s->leaks[s->n_leaks - 1];
    leak->thread = thread;
    leak->thread_count = count;
    leak->p50_seconds = p50;
    leak->lost = lost;
}

/* The seed's example: two roots, a clean path, a direct and a heap leak. */
static inline struct bbf_snapshot *sample_basic(void)
{
    static const char app[] = "com.app.DirectBufferLeakApp";
    struct bbf_snapshot *s = sample_new();
    int64_t direct = sample_step(s, -1, "io.netty.buffer.UnpooledByteBufAllocator", "directBuffer");
    int64_t clean = sample_step(s, direct, app, "processAndRelease");
    clean = sample_step(s, clean, app, "cleanupProperly");
    sample_release(s, clean, "io.netty.buffer.UnpooledDirectByteBuf", 1);
    int64_t lost = sample_step(s, direct, app, "processDirectBuffer");
    lost = sample_step(s, lost, app, "forgetToReleaseDirect");
    sample_leak(s, lost, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 256, 12);
    int64_t heap = sample_step(s, -1, "io.netty.buffer.UnpooledByteBufAllocator", "heapBuffer");
    lost = sample_step(s, heap, app, "processHeapBuffer");
    lost = sample_step(s, lost, app, "forgetToReleaseHeap");
    sample_leak(s, lost, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1024, 7);
    return s;
}

/* Leaks at a root and at an inner node, of two kinds of memory: upstream shows none of them. */
static inline struct bbf_snapshot *sample_interior(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    int64_t step = sample_step(s, root, "com.app.Holder", "keep");
    int64_t next = sample_step(s, step, "com.app.W", "step");
    sample_release(s, next, "io.netty.buffer.PooledUnsafeDirectByteBuf", 1000);
    sample_leak(s, step, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 41, 41 * 256, 90);
    sample_leak(s, step, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 2, 100, 3);
    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 3, UINT64_C(3) << 20, 4);
    s->nodes[next].live_ = 2;
    s->nodes[next].live_bytes_ = 512;
    return s;
}

/* Classes that share a simple name, methods that share a name, and both at once. */
static inline struct bbf_snapshot *sample_packages(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "heapBuffer");
    static const char *const classes[] = {"com.app.in.Handler", "com.app.out.Handler",
                                          "org.lib.out.Handler", "Handler", "com.app.in.Handler$1"};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        int64_t node = sample_step(s, root, classes[i], "process");
        sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, i + 1, 64, 1);
    }
    static const char *const overloads[] = {"(" BYTEBUF ")V", "(" BYTEBUF "I[[J)V",
                                            "(Lcom/a/T;" BYTEBUF ")V", "(Lcom/b/T;" BYTEBUF ")V"};
    for (size_t i = 0; i < sizeof overloads / sizeof overloads[0]; i++) {
        uint32_t site = sample_site(s, "com.app.Codec", "encode", overloads[i], BBF_SITE_ENTER);
        int64_t node = sample_node(s, root, site, BBF_REF_1_2);
        sample_release(s, node, "io.netty.buffer.PooledUnsafeHeapByteBuf", 1);
    }
    return s;
}

enum { SAMPLE_DEPTH = 10000 };

/* A path of 10,000 steps, a leak at its end and one in the middle, a second branch far down. */
static inline struct bbf_snapshot *sample_deep(void)
{
    struct bbf_snapshot *s = sample_new();
    char method[32];
    int64_t node = -1;

    for (int depth = 0; depth < SAMPLE_DEPTH; depth++) {
        snprintf(method, sizeof method, "step%d", depth);
        node = sample_step(s, node, "com.app.Deep", method);
        if (depth == SAMPLE_DEPTH / 2)
            sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 10, 1);
    }
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 5, 50, 1);
    sample_release(s, SAMPLE_DEPTH - 3, "io.netty.buffer.UnpooledHeapByteBuf", 1);
    return s;
}

/* Nothing followed, and every reason that there can be. */
static inline struct bbf_snapshot *sample_empty(void)
{
    struct bbf_snapshot *s = sample_new();
    struct bbf_snap_totals *t = &s->totals;

    sample_string(&s->notes, &s->n_notes,
                  "include=com.ap matched no class; nearest loaded packages: com.app, com.api, "
                  "com.acme");
    sample_string(&s->notes, &s->n_notes, "Netty was never loaded");
    sample_string(&s->jvm.map_mode, &s->jvm.n_map_mode,
                  "io.netty.buffer.ByteBuf: loaded before the agent");
    sample_limit(s, "maxDepth", 100, 100, 17);
    t->undone_ = 1;
    t->sampled_ = 2;
    t->raced_steps_ = 1;
    t->dropped_steps_ = 4;
    t->dropped_lives_ = 5;
    t->untracked_classes_ = 1;
    t->untracked_buffers_ = 7;
    t->holders_unknown_ = 8;
    t->elements_cut_ = 3;
    t->no_weakref_ = 9;
    t->misuse_ = 10;
    t->untouched_classes_ = 11;
    t->untouched_methods_ = 12;
    t->entry_only_methods_ = 13;
    t->internal_errors_ = 14;
    return s;
}

/* Names as a class file may have them, and what a terminal or a format would make of them. */
static inline struct bbf_snapshot *sample_escapes(void)
{
    struct bbf_snapshot *s = sample_new();
    sample_string(&s->notes, &s->n_notes, "quote \" backslash \\ newline \n tab \t bell \a end");
    sample_setting(s, "file", "/tmp/\"x\"-\xC3\xA9.json");
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    int64_t node = sample_step(s, root, "com.app.\xC3\x89t\xC3\xA9", "l\x1B[31mred");
    node = sample_step(s, node, "com.app.Bad\xFF\xC0\xAF\xED\xA0\x80UTF8", "a|b\ny\\\"z");
    node = sample_step(s, node, "com.app.Right\xE2\x80\xAELeft", "\xF0\x9F\x9A\xA8");
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, UINT64_C(1) << 40, 1);
    return s;
}

/* Nodes that a repeated run of steps returns to, buckets of references, roots without a class. */
static inline struct bbf_snapshot *sample_loops(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.CompositeByteBuf", "?first-seen");
    uint32_t add =
        sample_site(s, "com.app.Cumulator", "cumulate", "(" BYTEBUF ")V", BBF_SITE_ENTER);
    int64_t loop = sample_node(s, root, add, BBF_REF_1_2);
    s->nodes[loop].loop = true;
    int64_t three = sample_node(s, loop, add, BBF_REF_3_5);
    int64_t six = sample_node(s, three, add, BBF_REF_6);
    sample_release(s, six, "io.netty.buffer.CompositeByteBuf", 12);
    int64_t raced =
        sample_node(s, -1, sample_site(s, "", "?raced", "", BBF_SITE_ROOT), BBF_REF_1_2);
    s->nodes[raced].released_ = 3;
    int64_t again = sample_node(s, -1, s->nodes[root].site, BBF_REF_3_5);
    s->nodes[again].live_ = 1;
    s->nodes[again].live_bytes_ = 2048;
    s->totals.raced_steps_ = 3;
    return s;
}

/* refs=on: one loses one of two retains, the other some of its lives' only reference. */
static inline struct bbf_snapshot *sample_balance(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t node = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    static const struct {
        const char *method;
        enum bbf_site_kind kind;
    } steps[] = {{"keep", BBF_SITE_ENTER},
                 {"keep_retain", BBF_SITE_RETAIN},
                 {"push_retain", BBF_SITE_RETAIN},
                 {"pop_release", BBF_SITE_DECREMENT}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint32_t site =
            sample_site(s, "com.app.Keeper", steps[i].method, "(" BYTEBUF ")V", steps[i].kind);
        node = sample_node(s, node, site, i == 2 ? BBF_REF_3_5 : BBF_REF_1_2);
        if (i == 0) {
            sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 2, 128, 3);
            s->leaks[s->n_leaks - 1].references = 3;
        }
    }
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4, 256, 3);
    s->leaks[s->n_leaks - 1].references = 8;
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 16, 3); /* not known */
    return s;
}

/* What compilers named: two lambdas of one line and one of another, a class without a name, a
 * coroutine; plain methods with and without a line. */
static inline struct bbf_snapshot *sample_made(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t node = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    static const struct {
        const char *class_name, *method, *enclosing;
        uint32_t line;
    } steps[] = {{"com.app.Audit", "record", NULL, 20},
                 {"com.app.Audit", "lambda$record$0", NULL, 26},
                 {"com.app.Audit", "lambda$record$1", NULL, 26},
                 {"com.app.Audit", "lambda$record$2_return", NULL, 27},
                 {"com.app.Audit$1", "onNext", "com.app.Audit.record", 31},
                 {"com.app.Audit$store$1", "invokeSuspend", "com.app.Audit.store", 40},
                 {"com.app.Audit", "plain", NULL, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint32_t site =
            sample_site(s, steps[i].class_name, steps[i].method, "(" BYTEBUF ")V", BBF_SITE_ENTER);
        s->sites[site].line = steps[i].line;
        if (steps[i].enclosing != NULL)
            s->sites[site].enclosing = sample_text(steps[i].enclosing);
        node = sample_node(s, node, site, BBF_REF_1_2);
    }
    sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 2, 128, 3);
    return s;
}

static inline char **sample_strings(size_t n, const char *const *texts)
{
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = strdup(texts[i]);
    return copy;
}

/* One that was looked at in full, one of which nothing is known. */
static inline void sample_misuse(struct bbf_snapshot *s)
{
    static const char *const path[] = {"io.netty.buffer.PooledByteBufAllocator.directBuffer",
                                       "com.app.Pipeline.done",
                                       "io.netty.buffer.PooledUnsafeDirectByteBuf.release"},
                             *const by[] = {
                                 "io.netty.buffer.AbstractReferenceCountedByteBuf.release",
                                 "com.app.Pipeline.close|\n", "com.app.Main.main"};
    s->misuses = calloc(4, sizeof *s->misuses);
    s->n_misuses = 4;
    s->misuses[0] = (struct bbf_snap_misuse){.use = BBF_USE_RELEASE,
                                             .count = 9,
                                             .path = sample_strings(3, path),
                                             .n_path = 3,
                                             .released_thread = 31,
                                             .used_thread = 17,
                                             .used_by = sample_strings(3, by),
                                             .n_used_by = 3};
    s->misuses[1] = (struct bbf_snap_misuse){.use = BBF_USE_ACCESS, .count = 1, .used_thread = 99};
    s->misuses[2] = (struct bbf_snap_misuse){.use = BBF_USE_STEP,
                                             .count = 134000000,
                                             .path = sample_strings(3, path),
                                             .n_path = 3,
                                             .released_thread = 31,
                                             .used_thread = 17,
                                             .used_by = sample_strings(1, &by[1]),
                                             .n_used_by = 1};
    s->misuses[3] = (struct bbf_snap_misuse){.use = BBF_USE_STEP,
                                             .count = 1,
                                             .used_thread = 99,
                                             .used_by = sample_strings(1, &by[2]),
                                             .n_used_by = 1};
}

/* Every verdict on one node, every kind of memory, and lives that no leak row names. */
static inline struct bbf_snapshot *sample_verdicts(void)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    int64_t all = sample_step(s, root, "com.app.Pipeline", "handle");
    (void)bbf_snapshot_add_thread(s, 31, "nioEventLoopGroup-2-1");
    (void)bbf_snapshot_add_thread(s, 17, "a | b\n");
    sample_leak(s, all, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 100, 10);
    sample_opened(s, 31, 1, 9, BBF_LOST_FOR_GOOD);
    sample_leak(s, all, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 150, 10);
    sample_opened(s, 31, 1, 9, BBF_LOST_COUNTER);
    sample_leak(s, all, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 2, 200, 20);
    sample_opened(s, 17, 2, 0, BBF_LOST_NOTHING);
    sample_leak(s, all, BBF_VERDICT_LEAKED, BBF_MEM_COMPOSITE, 3, 300, 30);
    sample_leak(s, all, BBF_VERDICT_AGED, BBF_MEM_DIRECT, 4, 400, 4000);
    sample_opened(s, 99, 3, 3000, BBF_LOST_FOR_GOOD);
    struct bbf_snap_node *node = &s->nodes[all];
    node->leaked_ += 5; /* no row: finish() makes one */
    node->leaked_bytes_ += 500;
    node->aged_ += 6;
    node->live_ += 8;
    node->live_bytes_ += 8000;
    node->static_ = 7;
    node->held_ = 9;
    node->harmless_ = 10;
    node->unknown_ = 11;
    node->released_ = 12;
    s->totals.undone_ = 13;
    s->totals.misuse_ = 14;
    s->totals.steps_after_release_ = 134000003;
    sample_misuse(s);
    return s;
}

/* 300 leaf lines: 295 clean ones, 3 that lose a life, one that aged, an inner leak. */
static inline struct bbf_snapshot *sample_wide(void)
{
    struct bbf_snapshot *s = sample_new();
    uint32_t release = sample_site(s, "io.netty.buffer.PooledUnsafeDirectByteBuf", "release", "",
                                   BBF_SITE_RELEASE);
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    char method[32];

    for (unsigned i = 0; i < 300; i++) {
        snprintf(method, sizeof method, "path%03u", i);
        int64_t node = sample_step(s, root, "com.app.Wide", method);
        if (i % 100 == 99) {
            sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 16, 1);
        } else if (i == 250) {
            sample_leak(s, node, BBF_VERDICT_AGED, BBF_MEM_DIRECT, 1, 16, 700);
        } else {
            if (i == 251)
                sample_leak(s, node, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 1, 16, 1);
            node = sample_node(s, node, release, BBF_REF_0);
            s->nodes[node].released_ = 1000 - i;
        }
    }
    return s;
}

/* Netty's numbers beside ours: all that there can be, some that a Netty does not tell. */
static inline struct bbf_snapshot *sample_reconciled(void)
{
    static const struct bbf_snap_pool pools[] = {
        {BBF_POOL_POOLED, BBF_MEM_DIRECT, 46, 46 * 250, 46 * 256, 49, 46 * 256, 20480, 4 << 20, 3,
         3, 0, 0, 0, 0},
        {BBF_POOL_POOLED, BBF_MEM_HEAP, 7, 700, 784, 8, BBF_NOT_TOLD, 16384, 16 << 20, 0, 0, 1,
         16 << 20, (16 << 20) - 16384, 2},
        {BBF_POOL_UNPOOLED, BBF_MEM_DIRECT, 5, 5000, 5000, BBF_NOT_TOLD, 5001, BBF_NOT_TOLD,
         BBF_NOT_TOLD, BBF_NOT_TOLD, BBF_NOT_TOLD, BBF_NOT_TOLD, BBF_NOT_TOLD, BBF_NOT_TOLD,
         BBF_NOT_TOLD},
        {BBF_POOL_ADAPTIVE, BBF_MEM_DIRECT, 2, 512, 512, BBF_NOT_TOLD, BBF_NOT_TOLD, BBF_NOT_TOLD,
         131072, BBF_NOT_TOLD, BBF_NOT_TOLD, 1, 131072, 131072 - 512, 2}};
    struct bbf_snapshot *s = sample_interior();
    struct bbf_snap_reconciled *r = &s->reconciled;
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        r->pools = sample_grow(r->pools, r->n_pools, sizeof *r->pools);
        r->pools[r->n_pools++] = pools[i];
    }
    static const struct bbf_snap_pin pins[] = {
        {2, BBF_POOL_POOLED, BBF_MEM_HEAP, 2, 240, 40, 200, 1, 16 << 20},
        {1, BBF_POOL_ADAPTIVE, BBF_MEM_DIRECT, 1, 256, 256, 256, 1, 131072},
        {2, BBF_POOL_ADAPTIVE, BBF_MEM_DIRECT, 1, 256, 256, 256, 0, 0}};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
        s->pins = sample_grow(s->pins, s->n_pins, sizeof *s->pins);
        s->pins[s->n_pins++] = pins[i];
    }
    /* Of three paths one was never released, and one has buffers that were not read. */
    static const struct bbf_snap_usage usage[] = {
        {1, BBF_MEM_DIRECT, 5, 90 << 20, 4, 4 << 18, 60 << 20, 45 << 20, 1},
        {2, BBF_MEM_HEAP, 2000, 60 << 20, 1999, 1999 << 12, 60 << 20, 6 << 20, 0},
        {2, BBF_MEM_DIRECT, 1, 6 << 10, 0, 0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof usage / sizeof *usage; i++) {
        s->usage = sample_grow(s->usage, s->n_usage, sizeof *s->usage);
        s->usage[s->n_usage++] = usage[i];
    }
    s->usage_of.seconds = 61;
    s->usage_of.unlisted = 10 << 20;
    r->read = true;
    r->used_direct_ = (4 << 20) + 131072 + 5001 + 100;
    r->nio_reserved_ = 4097;
    r->nio_capacity_ = 4096;
    r->nio_buffers_ = 3;
    r->direct_limit_ = (5 << 20) + 1;
    r->nio_limit_ = BBF_NOT_TOLD;
    sample_string(&r->causes, &r->n_causes, "pooled direct: 3 buffers \x1B[31m");
    sample_string(&r->causes, &r->n_causes, "unpooled direct: 1 bytes");
    return s;
}

/* A history of `n` intervals, the newest last: bytes[i % 4] in each, one life for each 100 bytes.
 */
static inline void sample_history(struct bbf_snapshot *s, struct bbf_snap_growth row, uint32_t n,
                                  const uint64_t bytes[4])
{
    row.at = sample_memory(calloc(n, sizeof *row.at));
    row.n = n;
    for (uint32_t i = 0; i < n; i++)
        row.at[i] = (struct bbf_snap_interval){(bytes[i % 4] + 99) / 100, bytes[i % 4]};
    s->growth = sample_grow(s->growth, s->n_growth, sizeof *s->growth);
    s->growth[s->n_growth++] = row;
}

/* A direct leak of two hours, a heap leak that has stopped, and a queue that grows. */
static inline struct bbf_snapshot *sample_growth(void)
{
    struct bbf_snapshot *s = sample_basic();
    const int64_t minute = 60000, now = s->captured_at_ms;
    int64_t queue = sample_step(s, 0, "com.app.Outbound", "queue");
    s->nodes[queue].live_ = 850;
    s->nodes[queue].live_bytes_ = 85 << 20;
    s->history.seconds = 60;
    s->history.intervals = 60;
    s->history.current_seconds = 37;
    sample_history(s,
                   (struct bbf_snap_growth){.node = s->leaks[0].node,
                                            .of = BBF_GROWTH_LOST,
                                            .memory = BBF_MEM_DIRECT,
                                            .lost = BBF_LOST_FOR_GOOD,
                                            .first_ms = now - 121 * minute,
                                            .last_ms = now - 5000},
                   60, (const uint64_t[4]){1 << 20, 2 << 20, 0, 1 << 20});
    sample_history(s,
                   (struct bbf_snap_growth){.node = s->leaks[1].node,
                                            .of = BBF_GROWTH_LOST,
                                            .memory = BBF_MEM_HEAP,
                                            .lost = BBF_LOST_NOTHING,
                                            .first_ms = now - 2 * 1440 * minute,
                                            .last_ms = now - 1439 * minute},
                   0, (const uint64_t[4]){0});
    sample_history(s,
                   (struct bbf_snap_growth){.node = (uint32_t)queue,
                                            .of = BBF_GROWTH_HELD,
                                            .memory = BBF_MEM_DIRECT,
                                            .first_ms = now - 13 * minute,
                                            .last_ms = now - 37000},
                   13, (const uint64_t[4]){0});
    for (uint32_t i = 0; i < 13; i++)
        s->growth[2].at[i] = (struct bbf_snap_interval){120 + 60 * i, (uint64_t)(12 + 6 * i) << 20};
    s->reconciled.read = true;
    s->reconciled.pools = sample_memory(calloc(1, sizeof *s->reconciled.pools));
    s->reconciled.used_direct_ = 412 << 20;
    s->reconciled.direct_limit_ = 1 << 30;
    s->reconciled.nio_reserved_ = 4097;
    s->reconciled.nio_limit_ = 1 << 20; /* not the counter that has Netty's memory */
    s->reconciled.nio_capacity_ = 4096;
    s->reconciled.nio_buffers_ = 3;
    return s;
}

static inline void sample_context_row(struct bbf_snapshot *s, struct bbf_snap_context row)
{
    char **texts[] = {&row.channel, &row.address, &row.hint, &row.thrown, &row.caught_in};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] != NULL)
            *texts[i] = sample_text(*texts[i]);
    s->contexts = sample_grow(s->contexts, s->n_contexts, sizeof *s->contexts);
    s->contexts[s->n_contexts++] = row;
}

/* Two lives lost on one path and four on another, one of them with hostile texts. */
static inline struct bbf_snapshot *sample_contexts(void)
{
    struct bbf_snapshot *s = sample_basic();
    const int64_t now = s->captured_at_ms;
    const uint32_t a = s->leaks[0].node, b = s->leaks[1].node;
#define ROW(...) sample_context_row(s, (struct bbf_snap_context){__VA_ARGS__})
#define T(text)  (char *)(uintptr_t)(text)
    ROW(.node = a, .lost_ms = now - 60000, .open_seconds = 7, .channel = T("0x1a2b3c4d"),
        .address = T("/127.0.0.1:51324"), .hint_is = BBF_HINT_TEXT, .hint = T("cart parsed"),
        .thrown = T("java.lang.IllegalStateException"), .caught_in = T("com.app.Cart.parse"));
    ROW(.node = a, .lost_ms = now - 1000, .channel = T("0x1a2b3c4e"), .address = T("/[::1]:80"),
        .hint_is = BBF_HINT_HANDLER, .hint = T("Cart#0"), .thrown = T("java.io.IOException"));
    ROW(.node = b, .lost_ms = now - 5000, .channel = T("0x77f01c02"), .address = T("local:E:1"),
        .hint_is = BBF_HINT_HANDLER, .hint = T("Cart#1"), .thrown = T("com.app.Lost"),
        .caught_in = T("com.app.Cart.read"));
    ROW(.node = b, .lost_ms = now - 4000, .channel = T("embedded"), .hint_is = BBF_HINT_CLASS,
        .hint = T("com.app.Hint"));
    ROW(.node = b, .lost_ms = now - 3500, .channel = T("?"));
    ROW(.node = b, .lost_ms = now - 3000, .address = NULL, .hint_is = BBF_HINT_TEXT,
        .hint = T("\x1B[31m\n\"|\xE2\x80\xAE, after x"));
#undef T
#undef ROW
    return s;
}

/* What bbflow itself took, each number another; the budget has buffers passed over. */
static inline struct bbf_snapshot *sample_cost(void)
{
    struct bbf_snapshot *s = sample_interior();
    uint64_t n = 0;
    s->cost.measured = true;
    s->totals.sampled_ = 8;
#define XX(name)                                                                                   \
    s->cost.since_start.name##_ = 7654321 * ++n;                                                   \
    s->cost.interval.name##_ = 7654321 * n + 1;                                                    \
    s->cost.busy.name##_ = 7654321 * n + 2;                                                        \
    s->cost.since_change.name##_ = 7654321 * n + 3;
    BBF_COST_COLUMNS(XX)
#undef XX
    s->cost.since_start.process_ns_ = UINT64_C(12345678901);
    s->cost.interval.process_ns_ = 1300000; /* idle, so no share of it is shown */
    s->cost.interval.estimated_overhead_ns_ = 420000;
    s->cost.busy.elapsed_ns_ = 1000000000;
    s->cost.busy.process_ns_ = 987654321;
    s->cost.busy.estimated_overhead_ns_ = 9876543;
    s->cost.busy_ago_ns = UINT64_C(12000000000);
    s->cost.since_change.elapsed_ns_ = UINT64_C(600000000000);
    s->cost.since_change.process_ns_ = UINT64_C(30000000001);
    s->cost.since_change.estimated_overhead_ns_ = 600000000;
#define XX(name) s->cost.name##_ = 1011 * ++n;
    BBF_COST_VALUES(XX)
#undef XX
    s->cost.budget_ppm_ = 10000;
    s->cost.sample_ = 8;
    s->cost.raised_ = 4;
    s->cost.lowered_ = 1;
    s->cost.share_ppm_ = s->cost.pairs_ = 0; /* as of a bbflow that held the budget by sampling */
    s->cost.part_ppm_ = s->cost.part_low_ppm_ = s->cost.part_high_ppm_ = 0;
    s->cost.sample_since_ms = INT64_C(1795291384001); /* 20:03:04.001Z */
    s->cost.sample_ppm = 17049;
    return s;
}

/* Leaks found by windows of time, whose cost was measured. */
static inline struct bbf_snapshot *sample_windows(void)
{
    struct bbf_snapshot *s = sample_verdicts();
    s->cost = (struct bbf_snap_cost){.measured = true,
                                     .since_start = {.elapsed_ns_ = UINT64_C(60000000000),
                                                     .process_ns_ = UINT64_C(50000000000),
                                                     .gate_ns_ = 12000000,
                                                     .running_ns_ = 100000000,
                                                     .window_ns_ = UINT64_C(1500000000),
                                                     .rewrite_ns_ = 345678901,
                                                     .estimated_hook_ns_ = 405000000,
                                                     .estimated_shut_gate_ns_ = 210000000,
                                                     .estimated_overhead_ns_ = 715000000},
                                     .budget_ppm_ = 10000,
                                     .sample_ = 1,
                                     .share_ppm_ = 29000,
                                     .pairs_ = 77,
                                     .part_ppm_ = 270000,
                                     .part_low_ppm_ = 251000,
                                     .part_high_ppm_ = 290000};
    s->windows = (struct bbf_snap_windows){.used = true,
                                           .elapsed_ns_ = UINT64_C(60000000000),
                                           .open_ns_ = UINT64_C(1600000000),
                                           .windows_ = 78,
                                           .frozen_ = 12,
                                           .share_ppb_ = 25000000,
                                           .spread_ppm_ = 40000};
    return s;
}

static const struct {
    const char *name;
    struct bbf_snapshot *(*make)(void);
    bool golden; /* has files for each format; the others are looked at line by line */
} samples[] = {
    {"basic", sample_basic, true},           {"interior", sample_interior, true},
    {"packages", sample_packages, true},     {"deep", sample_deep, false},
    {"empty", sample_empty, true},           {"escapes", sample_escapes, true},
    {"loops", sample_loops, true},           {"verdicts", sample_verdicts, true},
    {"balance", sample_balance, true},       {"wide", sample_wide, false},
    {"reconciled", sample_reconciled, true}, {"growth", sample_growth, true},
    {"contexts", sample_contexts, true},     {"cost", sample_cost, true},
    {"windows", sample_windows, true},       {"made", sample_made, true},
};

enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

#endif
