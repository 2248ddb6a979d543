/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/reconcile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/jvm/fields.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "core/clock.h"
#include "instrument/netty.h"
#include "agent/state.h"
#include "core/err.h"

enum {
    MAX_CHUNKS = 16384,
    MAX_BUFFERS = 2048,
    MAX_ALLOCATORS = 64,
    MAX_ARENAS = 1024, /* of one allocator and memory */
    MAX_MS = 200
};

/* Netty's numbers of one pool and memory. */
struct told {
    bool begun, lives, bytes, used, reserved; /* is the number below known? */
    int64_t n_lives, n_bytes, n_used, n_reserved, n_caches;
};

/* An allocator, or the AdaptivePoolingAllocator in one, which knows its memory only by the field
 * or the buffer it was found in. Global references while a report is made. */
struct allocator {
    jobject object;
    bool adaptive;
    enum bbf_memory memory;
};

struct reading {
    JNIEnv *env;
    struct bbf_fields fields;
    struct allocator allocators[MAX_ALLOCATORS];
    size_t n_allocators;
    struct told told[BBF_POOLS][2];
    struct bbf_snap_reconciled *to;
    uint64_t chunks, until_ms, moved;
    unsigned limits; /* of Nettys that count their direct memory */
    bool cut;        /* at a bound: Netty's numbers are not whole */
};

/* Allocators that earlier reports found, by weak references. Agent thread. */
static struct {
    jweak object;
    bool adaptive;
    enum bbf_memory memory;
} seen[MAX_ALLOCATORS];
static size_t n_seen;

static bool is_late(struct reading *r)
{
    r->cut = r->cut || (uint64_t)bbf_monotonic_ms() > r->until_ms;
    return r->cut;
}

static bool push(JNIEnv *env)
{
    if ((*env)->PushLocalFrame(env, 64) == 0)
        return true;
    (*env)->ExceptionClear(env);
    return false;
}

static void pop(JNIEnv *env)
{
    (void)(*env)->PopLocalFrame(env, NULL);
}

/* ---- which allocators ---- */

static void add_allocator(struct reading *r, jobject o, bool adaptive, enum bbf_memory memory)
{
    JNIEnv *env = r->env;
    if (o == NULL)
        return;
    for (size_t i = 0; i < r->n_allocators; i++)
        if ((*env)->IsSameObject(env, r->allocators[i].object, o))
            return;
    if (r->n_allocators == MAX_ALLOCATORS) {
        r->cut = true;
        return;
    }
    jobject global = (*env)->NewGlobalRef(env, o);
    (*env)->ExceptionClear(env);
    if (global != NULL)
        r->allocators[r->n_allocators++] = (struct allocator){global, adaptive, memory};
}

static void take_number(struct reading *r, jobject atomic, uint64_t *to)
{
    int64_t value;
    if (!bbf_fields_number(&r->fields, atomic, "value", &value) || value < 0)
        return;
    *to = *to == BBF_NOT_TOLD ? (uint64_t)value : *to + (uint64_t)value;
}

/* PlatformDependent: each Netty counts for itself. */
static void read_counter(struct reading *r, jclass class)
{
    struct bbf_snap_reconciled *to = r->to;
    jobject counter = bbf_fields_static(&r->fields, class, "DIRECT_MEMORY_COUNTER");
    int64_t limit;

    take_number(r, counter, &to->used_direct_);
    if (counter == NULL ||
        !bbf_fields_static_number(&r->fields, class, "DIRECT_MEMORY_LIMIT", &limit))
        return;
    to->direct_limit_ = r->limits++ == 0 && limit > 0 ? (uint64_t)limit : BBF_NOT_TOLD;
}

static void read_bits(struct reading *r, jclass class)
{
    struct bbf_snap_reconciled *to = r->to;
    int64_t limit;
    take_number(r, bbf_fields_static(&r->fields, class, "RESERVED_MEMORY"), &to->nio_reserved_);
    take_number(r, bbf_fields_static(&r->fields, class, "TOTAL_CAPACITY"), &to->nio_capacity_);
    take_number(r, bbf_fields_static(&r->fields, class, "COUNT"), &to->nio_buffers_);
    /* Before the first allocation it may not be the one in force. */
    if (to->nio_reserved_ != BBF_NOT_TOLD && to->nio_reserved_ > 0 &&
        bbf_fields_static_number(&r->fields, class, "MAX_MEMORY", &limit) && limit > 0)
        to->nio_limit_ = (uint64_t)limit;
}

static void visit(JNIEnv *env, void *ctx, jclass class, const char *name)
{
    struct reading *r = ctx;
    if (strstr(name, "netty/") == NULL) {
        if (strcmp(name, "java/nio/Bits") == 0)
            read_bits(r, class);
        return;
    }
    size_t prefix = bbf_netty_prefix(name, strlen(name));
    const char *rest = name + prefix;
    if (prefix == 0 || !push(env))
        return;
    if (strcmp(rest, "util/internal/PlatformDependent") == 0)
        read_counter(r, class);
    else if (strcmp(rest, "buffer/ByteBufUtil") == 0)
        add_allocator(r, bbf_fields_static(&r->fields, class, "DEFAULT_ALLOCATOR"), false,
                      BBF_MEM_UNKNOWN);
    else if (strcmp(rest, "buffer/PooledByteBufAllocator") == 0 ||
             strcmp(rest, "buffer/UnpooledByteBufAllocator") == 0)
        add_allocator(r, bbf_fields_static(&r->fields, class, "DEFAULT"), false, BBF_MEM_UNKNOWN);
    pop(env);
}

/* PooledByteBuf.chunk.arena.parent, AdaptiveByteBuf.chunk.allocator, Unpooled*ByteBuf.alloc */
static void add_allocator_of(struct reading *r, uint64_t weak)
{
    JNIEnv *env = r->env;
    struct bbf_fields *f = &r->fields;
    if (!push(env))
        return;
    jobject buffer = (*env)->NewLocalRef(env, (jweak)(uintptr_t)weak);
    jobject chunk = bbf_fields_object(f, buffer, "chunk");
    jobject arena = bbf_fields_object(f, chunk, "arena");
    jobject pool = arena == NULL ? bbf_fields_object(f, chunk, "allocator") : NULL;
    if (arena != NULL) {
        add_allocator(r, bbf_fields_object(f, arena, "parent"), false, BBF_MEM_UNKNOWN);
    } else if (pool != NULL) {
        /* Its chunks come from a $DirectChunkAllocator or a $HeapChunkAllocator. */
        jobject source = bbf_fields_object(f, pool, "chunkAllocator");
        jclass class = source != NULL ? (*env)->GetObjectClass(env, source) : NULL;
        char *name = class != NULL ? bbf_names_of(class) : NULL;
        if (name != NULL)
            add_allocator(r, pool, true,
                          strstr(name, "Heap") != NULL ? BBF_MEM_HEAP : BBF_MEM_DIRECT);
        bbf_jvm_free(name);
    } else {
        add_allocator(r, bbf_fields_object(f, buffer, "alloc"), false, BBF_MEM_UNKNOWN);
    }
    pop(env);
}

/* Spread over all open lives, if they are too many. */
static void find_allocators(struct reading *r, uint64_t open)
{
    uint64_t step = open / MAX_BUFFERS + 1, n = 0;
    struct bbf_owned_life life;
    bbf_names_each_class(r->env, r, visit);
    for (size_t i = 0; i < n_seen; i++) {
        jobject o = (*r->env)->NewLocalRef(r->env, seen[i].object);
        add_allocator(r, o, seen[i].adaptive, seen[i].memory);
        (*r->env)->DeleteLocalRef(r->env, o);
    }
    uint32_t at = bbf_owned_next(bbf_agent.tracker, 0, &life);
    for (; at != 0 && !is_late(r); at = bbf_owned_next(bbf_agent.tracker, at + 1, &life))
        if (n++ % step == 0)
            add_allocator_of(r, life.weak);
}

void bbf_reconcile_forget(JNIEnv *env)
{
    for (size_t i = 0; i < n_seen; i++)
        (*env)->DeleteWeakGlobalRef(env, seen[i].object);
    n_seen = 0;
}

static void remember_allocators(struct reading *r)
{
    JNIEnv *env = r->env;
    bbf_reconcile_forget(env);
    for (size_t i = 0; i < r->n_allocators; i++) {
        jweak weak = (*env)->NewWeakGlobalRef(env, r->allocators[i].object);
        (*env)->ExceptionClear(env);
        if (weak != NULL) {
            seen[n_seen].object = weak;
            seen[n_seen].adaptive = r->allocators[i].adaptive;
            seen[n_seen++].memory = r->allocators[i].memory;
        }
        (*env)->DeleteGlobalRef(env, r->allocators[i].object);
    }
}

/* ---- pooled ---- */

/* PoolChunk: the whole, what is not free, and what buffers have (4.1.75 and later). */
static void read_chunk(struct reading *r, struct told *told, jobject chunk)
{
    int64_t size, free_bytes, pinned;
    if (!bbf_fields_number(&r->fields, chunk, "chunkSize", &size) ||
        !bbf_fields_number(&r->fields, chunk, "freeBytes", &free_bytes)) {
        told->reserved = told->used = told->bytes = false;
        return;
    }
    told->n_reserved += size;
    told->n_used += size - free_bytes;
    if (bbf_fields_counter(&r->fields, chunk, "pinnedBytes", &pinned))
        told->n_bytes += pinned;
    else
        told->bytes = false;
}

static void read_chunks(struct reading *r, struct told *told, jobject list)
{
    JNIEnv *env = r->env;
    jobject chunk = bbf_fields_object(&r->fields, list, "head");
    while (chunk != NULL) {
        if (r->chunks++ == MAX_CHUNKS)
            r->cut = true;
        if ((r->chunks % 64 == 0 && is_late(r)) || r->cut || !push(env))
            break;
        read_chunk(r, told, chunk);
        jobject next = bbf_fields_object(&r->fields, chunk, "next");
        next = (*env)->PopLocalFrame(env, next);
        (*env)->DeleteLocalRef(env, chunk);
        chunk = next;
    }
    (*env)->DeleteLocalRef(env, chunk);
}

/* Allocations not given back. Deallocations are read first: a torn count is too high, not below 0.
 */
static bool read_active(struct reading *r, jobject arena, const char *given_back, const char *given,
                        int64_t *active)
{
    int64_t back, all;
    if (!bbf_fields_counter(&r->fields, arena, given_back, &back) ||
        !bbf_fields_counter(&r->fields, arena, given, &all))
        return false;
    *active += all - back;
    return true;
}

static void read_arena(struct reading *r, struct told *told, jobject arena)
{
    static const char *const lists[] = {"qInit", "q000", "q025", "q050", "q075", "q100"};
    struct bbf_fields *f = &r->fields;
    int64_t huge = 0, caches = 0;
    /* Tiny ones, up to 4.1.51, have a counter of their own. */
    (void)read_active(r, arena, "deallocationsTiny", "allocationsTiny", &told->n_lives);
    if (!read_active(r, arena, "deallocationsSmall", "allocationsSmall", &told->n_lives) ||
        !read_active(r, arena, "deallocationsNormal", "allocationsNormal", &told->n_lives) ||
        !read_active(r, arena, "deallocationsHuge", "allocationsHuge", &told->n_lives))
        told->lives = false;
    jobject threads = bbf_fields_object(f, arena, "numThreadCaches");
    if (bbf_fields_number(f, threads, "value", &caches))
        told->n_caches += caches;
    if (!bbf_fields_counter(f, arena, "activeBytesHuge", &huge))
        told->bytes = told->used = told->reserved = false;
    told->n_bytes += huge;
    told->n_used += huge;
    told->n_reserved += huge;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        jobject list = bbf_fields_object(f, arena, lists[i]);
        if (list == NULL)
            told->bytes = told->used = told->reserved = false;
        read_chunks(r, told, list);
    }
}

static void read_arenas(struct reading *r, struct told *told, jobjectArray arenas)
{
    JNIEnv *env = r->env;
    jsize n = arenas != NULL ? (*env)->GetArrayLength(env, arenas) : 0;
    for (jsize i = 0; i < n && !is_late(r); i++) {
        if (i == MAX_ARENAS)
            r->cut = true;
        else if (push(env)) {
            jobject arena = (*env)->GetObjectArrayElement(env, arenas, i);
            if (arena != NULL)
                read_arena(r, told, arena);
            pop(env);
        }
    }
}

/* ---- the others ---- */

static void read_unpooled(struct reading *r, struct told *told, jobject metric, const char *counter)
{
    int64_t value;
    if (!bbf_fields_counter(&r->fields, metric, counter, &value))
        return;
    told->bytes = true;
    told->n_bytes += value;
}

/* AdaptivePoolingAllocator.chunkRegistry.totalCapacity; what of it is in use it does not count. */
static void read_adaptive(struct reading *r, struct told *told, jobject pool)
{
    int64_t value;
    jobject registry = bbf_fields_object(&r->fields, pool, "chunkRegistry");
    if (!bbf_fields_counter(&r->fields, registry, "totalCapacity", &value))
        return;
    told->reserved = true;
    told->n_reserved += value;
}

static void read_allocator(struct reading *r, const struct allocator *from)
{
    struct bbf_fields *f = &r->fields;
    if (from->adaptive) {
        read_adaptive(r, &r->told[BBF_POOL_ADAPTIVE][from->memory], from->object);
        return;
    }
    jobjectArray direct = bbf_fields_array(f, from->object, "directArenas");
    jobjectArray heap = bbf_fields_array(f, from->object, "heapArenas");
    if (direct != NULL || heap != NULL) {
        for (int m = BBF_MEM_DIRECT; m <= BBF_MEM_HEAP; m++) {
            struct told *told = &r->told[BBF_POOL_POOLED][m];
            if (!told->begun)
                told->begun = told->lives = told->bytes = told->used = told->reserved = true;
            read_arenas(r, told, m == BBF_MEM_DIRECT ? direct : heap);
        }
        return;
    }
    jobject metric = bbf_fields_object(f, from->object, "metric");
    read_unpooled(r, &r->told[BBF_POOL_UNPOOLED][BBF_MEM_DIRECT], metric, "directCounter");
    read_unpooled(r, &r->told[BBF_POOL_UNPOOLED][BBF_MEM_HEAP], metric, "heapCounter");
}

static void read_allocators(struct reading *r)
{
    /* The pools inside an AdaptiveByteBufAllocator become entries of their own. */
    for (size_t i = 0; i < r->n_allocators; i++) {
        if (r->allocators[i].adaptive || !push(r->env))
            continue;
        jobject o = r->allocators[i].object;
        jobject direct = bbf_fields_object(&r->fields, o, "direct");
        jobject heap = bbf_fields_object(&r->fields, o, "heap");
        if (bbf_fields_object(&r->fields, direct, "chunkRegistry") != NULL) {
            add_allocator(r, direct, true, BBF_MEM_DIRECT);
            add_allocator(r, heap, true, BBF_MEM_HEAP);
        }
        pop(r->env);
    }
    for (size_t i = 0; i < r->n_allocators && !is_late(r); i++)
        if (push(r->env)) {
            read_allocator(r, &r->allocators[i]);
            pop(r->env);
        }
}

/* ---- rows and causes ---- */

static uint64_t number(bool known, int64_t value)
{
    return !known ? BBF_NOT_TOLD : value > 0 ? (uint64_t)value : 0;
}

/*
 * How many of Netty's allocations are released buffers in thread caches. Pinned bytes do not
 * include those: if they equal our bytes exactly, the surplus allocations are in the caches.
 * Otherwise they may also be buffers that we do not follow.
 */
static uint64_t cached(const struct bbf_snap_pool *row)
{
    if (row->netty_lives_ == BBF_NOT_TOLD)
        return BBF_NOT_TOLD;
    if (row->netty_lives_ <= row->lives_ || row->thread_caches_ == 0)
        return 0;
    return row->netty_bytes_ == row->rounded_ ? row->netty_lives_ - row->lives_ : BBF_NOT_TOLD;
}

static void add_rows(const struct reading *r, const struct bbf_owned_table *ours, bool direct_only)
{
    for (int p = 0; p < BBF_POOLS; p++)
        for (int m = BBF_MEM_DIRECT; m <= BBF_MEM_HEAP; m++) {
            const struct told *told = &r->told[p][m];
            const struct bbf_owned *own = &ours->at[p][m];
            if (own->lives == 0 && told->n_lives <= 0 && told->n_bytes <= 0 &&
                told->n_reserved <= 0)
                continue;
            /* Cut, or not followed: nothing to compare with. */
            bool whole = !r->cut && !(direct_only && m == BBF_MEM_HEAP);
            struct bbf_snap_pool *row = &r->to->pools[r->to->n_pools++];
            *row = (struct bbf_snap_pool){
                .pool = (enum bbf_pool)p,
                .memory = (enum bbf_memory)m,
                .lives_ = own->lives,
                .bytes_ = own->bytes,
                .rounded_ = own->rounded,
                .netty_lives_ = number(told->lives && whole, told->n_lives),
                .netty_bytes_ = number(told->bytes && whole, told->n_bytes),
                .netty_used_ = number(told->used && !r->cut, told->n_used),
                .reserved_ = number(told->reserved && !r->cut, told->n_reserved),
                .thread_caches_ = number(told->lives, told->n_caches),
                .pinned_chunks_ = BBF_NOT_TOLD, /* agent/report/pins.h */
                .pinned_bytes_ = BBF_NOT_TOLD,
                .pinned_free_ = BBF_NOT_TOLD,
                .pinned_by_ = BBF_NOT_TOLD,
            };
            row->cached_ = r->to->sampled ? BBF_NOT_TOLD : cached(row);
        }
}

static int add_cause(struct bbf_snap_reconciled *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int add_cause(struct bbf_snap_reconciled *to, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return bbf_snapshot_add_text(&to->causes, &to->n_causes, text);
}

/* Why Netty has more buffers than we, or fewer. */
static int explain_lives(struct bbf_snap_reconciled *to, const struct bbf_snap_pool *row,
                         const char *name)
{
    if (row->netty_lives_ == BBF_NOT_TOLD || row->netty_lives_ == row->lives_)
        return BBF_OK;
    if (row->netty_lives_ < row->lives_)
        return add_cause(to,
                         "%s: %" PRIu64 " buffers that Netty's arenas do not have: of an allocator "
                         "that was not found (known are the default and those of open buffers), or "
                         "released while this was read",
                         name, row->lives_ - row->netty_lives_);
    uint64_t more = row->netty_lives_ - row->lives_;
    char caches[48];
    snprintf(caches, sizeof caches, "%" PRIu64 " thread cache%s", row->thread_caches_,
             row->thread_caches_ == 1 ? "" : "s");
    if (row->cached_ != BBF_NOT_TOLD && row->cached_ > 0)
        return add_cause(to,
                         "%s: %" PRIu64 " released buffer%s in %s for the next use; Netty counts "
                         "such as allocations",
                         name, more, more == 1 ? " waits" : "s wait", caches);
    if (row->cached_ == BBF_NOT_TOLD && row->netty_bytes_ == BBF_NOT_TOLD)
        return add_cause(to,
                         "%s: %" PRIu64
                         " buffers more in Netty's count, which also has the released "
                         "ones in %s; this Netty does not say how many, so buffers are not "
                         "compared",
                         name, more, caches);
    if (row->cached_ == BBF_NOT_TOLD)
        return add_cause(to,
                         "%s: %" PRIu64 " buffers more in Netty's count: released ones in %s, or "
                         "such that bbflow does not follow",
                         name, more, caches);
    return add_cause(to,
                     "%s: %" PRIu64 " buffers that bbflow does not follow: allocated before it "
                     "came, past a limit, or while this was read",
                     name, more);
}

static int explain_bytes(struct bbf_snap_reconciled *to, const struct bbf_snap_pool *row,
                         const char *name)
{
    if (row->netty_bytes_ == BBF_NOT_TOLD || row->netty_bytes_ == row->rounded_)
        return BBF_OK;
    bool more = row->netty_bytes_ > row->rounded_;
    uint64_t bytes = more ? row->netty_bytes_ - row->rounded_ : row->rounded_ - row->netty_bytes_;
    return add_cause(to, "%s: %" PRIu64 " bytes %s", name, bytes,
                     more ? "in Netty's count only: of buffers that bbflow does not follow, "
                            "whose allocation it did not see (?first-seen), or whose capacity "
                            "shrank in place"
                          : "not in Netty's count: of an allocator that was not found, or released "
                            "while this was read");
}

/* Our numbers, before and after Netty's were read. */
static uint64_t moved(const struct bbf_owned_table *a, const struct bbf_owned_table *b)
{
    uint64_t lives = 0;
    for (int p = 0; p < BBF_POOLS; p++)
        for (int m = BBF_MEM_DIRECT; m <= BBF_MEM_HEAP; m++) {
            const struct bbf_owned *x = &a->at[p][m], *y = &b->at[p][m];
            lives += x->lives > y->lives ? x->lives - y->lives : y->lives - x->lives;
            lives += x->lives == y->lives && x->bytes != y->bytes;
        }
    return lives;
}

static int add_causes(const struct reading *r, bool direct_only)
{
    static const char *const pools[] = {"pooled", "unpooled", "adaptive"};
    struct bbf_snap_reconciled *to = r->to;
    int err = BBF_OK;
    if (r->cut)
        err = add_cause(to,
                        "Netty's numbers were not read to the end: more than %d chunks, %d "
                        "allocators or %d ms",
                        MAX_CHUNKS, MAX_ALLOCATORS, MAX_MS);
    if (err == BBF_OK && direct_only)
        err = add_cause(to, "heap buffers are not followed (trackDirectOnly): not compared");
    if (err == BBF_OK && r->moved > 0)
        err = add_cause(to,
                        "the application was running: our own numbers changed by %" PRIu64
                        " or more buffers while Netty's were read",
                        r->moved);
    if (to->sampled && err == BBF_OK)
        return add_cause(
            to, "sample=, budget= or duty= passed buffers over, which Netty counts: nothing "
                "is compared");
    for (size_t i = 0; i < to->n_pools && err == BBF_OK; i++) {
        const struct bbf_snap_pool *row = &to->pools[i];
        char name[32];
        snprintf(name, sizeof name, "%s %s", pools[row->pool],
                 row->memory == BBF_MEM_DIRECT ? "direct" : "heap");
        err = explain_lives(to, row, name);
        if (err == BBF_OK)
            err = explain_bytes(to, row, name);
    }
    return err;
}

int bbf_reconcile_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    struct bbf_snap_reconciled *to = &s->reconciled;
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    bool direct_only = rules->options.direct_only;
    struct bbf_owned_table ours, before;
    struct reading *r = calloc(1, sizeof *r);
    to->pools = calloc((size_t)BBF_POOLS * 2, sizeof *to->pools);
    if (r == NULL || to->pools == NULL) {
        free(r);
        return BBF_ENOMEM;
    }
    *r = (struct reading){.env = env, .to = to, .until_ms = (uint64_t)bbf_monotonic_ms() + MAX_MS};
    to->sampled = bbf_tracker_sampled(bbf_agent.tracker);
#define XX(name) to->name##_ = BBF_NOT_TOLD;
    BBF_PROCESS_COUNTS(XX)
#undef XX
    bbf_fields_init(&r->fields, env);
    bbf_owned_sum(bbf_agent.tracker, &before);
    uint64_t open = 0;
    for (int p = 0; p < BBF_POOLS; p++)
        open += before.at[p][0].lives + before.at[p][1].lives;
    find_allocators(r, open);
    read_allocators(r);
    bbf_owned_sum(bbf_agent.tracker, &ours); /* as near to Netty's as can be */
    r->moved = moved(&before, &ours);
    remember_allocators(r);
    bbf_fields_free(&r->fields);
    add_rows(r, &ours, direct_only);
    to->read = to->n_pools > 0 || r->n_allocators > 0;
    int err = to->read ? add_causes(r, direct_only) : BBF_OK;
    free(r);
    return err;
}
