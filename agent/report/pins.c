/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/pins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/fields.h"
#include "agent/state.h"
#include "core/clock.h"
#include "core/err.h"
#include "trie/owned.h"
#include "trie/trie.h"

enum {
    MAX_CHUNKS = 16384,
    MAX_HOLDERS = 65536,
    MAX_ROWS = 256,
    MAX_SHAPES = 16, /* classes of buffers, in all class loaders */
    MAX_MS = 200
};

/* Where a class of buffers has its chunk and its sizes. */
struct shape {
    jclass class; /* a global reference of bbf_fields */
    jfieldID chunk, length, taken;
    bool has_all;
};

struct chunk {
    jobject object; /* global reference; NULL: an empty place */
    jint hash;
    enum bbf_pool pool;
    enum bbf_memory memory;
    uint64_t size, free, taken;
    uint32_t main; /* place of the holder with most buffers, + 1 */
};

/* The open buffers of one node in one chunk; later in all pinned chunks. */
struct holder {
    uint32_t chunk; /* its place + 1; 0: an empty place */
    uint32_t node, buffers, smallest, largest, chunks;
    uint64_t bytes, reserved;
};

struct pinning {
    JNIEnv *env;
    struct bbf_fields fields;
    struct shape shapes[MAX_SHAPES];
    size_t n_shapes;
    struct chunk *chunks; /* both tables have a power of two of places, at most half of them used */
    struct holder *holders;
    size_t chunk_places, holder_places, n_chunks, n_holders;
    uint64_t until_ms;
    uint64_t unread, left; /* open buffers: without a chunk that can be read; past a limit */
};

/* ---- what a buffer says ---- */

static struct shape make_shape(struct pinning *p, jobject buffer)
{
    const struct bbf_field chunk = bbf_fields_find(&p->fields, buffer, "chunk"),
                           length = bbf_fields_find(&p->fields, buffer, "length");
    struct bbf_field taken = bbf_fields_find(&p->fields, buffer, "maxLength");

    if (taken.id == NULL)
        taken = bbf_fields_find(&p->fields, buffer, "maxFastCapacity");
    return (struct shape){.class = chunk.class,
                          .chunk = chunk.id,
                          .length = length.id,
                          .taken = taken.id,
                          .has_all = chunk.id != NULL && chunk.type == 'L' && length.id != NULL &&
                                     length.type == 'I' && taken.id != NULL && taken.type == 'I'};
}

/* NULL: bbflow cannot read such buffers. */
static const struct shape *shape_of(struct pinning *p, jobject buffer)
{
    JNIEnv *env = p->env;
    jclass class = (*env)->GetObjectClass(env, buffer);
    size_t i = 0;

    while (i < p->n_shapes && !(*env)->IsSameObject(env, p->shapes[i].class, class))
        i++;
    if (i == p->n_shapes) {
        struct shape made = i < MAX_SHAPES ? make_shape(p, buffer) : (struct shape){0};
        if (made.class == NULL)
            return NULL;
        p->shapes[p->n_shapes++] = made;
    }
    return p->shapes[i].has_all ? &p->shapes[i] : NULL;
}

/* ---- the tables ---- */

static bool read_size(struct pinning *p, jobject object, struct chunk *to)
{
    int64_t size = 0, free_bytes = 0;
    bool is_read = to->pool == BBF_POOL_POOLED
                       ? bbf_fields_number(&p->fields, object, "chunkSize", &size) &&
                             bbf_fields_number(&p->fields, object, "freeBytes", &free_bytes)
                       : bbf_fields_number(&p->fields, object, "capacity", &size);

    if (!is_read || size <= 0 || free_bytes < 0 || free_bytes > size)
        return false;
    to->size = (uint64_t)size;
    to->free = (uint64_t)free_bytes;
    return true;
}

/* NULL: it cannot be read, or there is no room; that is counted. */
static struct chunk *chunk_of(struct pinning *p, jobject object, const struct bbf_owned_life *life)
{
    JNIEnv *env = p->env;
    struct chunk made = {.pool = life->pool, .memory = life->memory};

    if ((*bbf_agent.code)->GetObjectHashCode(bbf_agent.code, object, &made.hash) != 0) {
        p->unread++;
        return NULL;
    }
    size_t at = (uint32_t)made.hash * UINT32_C(2654435761) & (p->chunk_places - 1);
    for (; p->chunks[at].object != NULL; at = (at + 1) & (p->chunk_places - 1))
        if (p->chunks[at].hash == made.hash &&
            (*env)->IsSameObject(env, p->chunks[at].object, object))
            return &p->chunks[at];
    if (!read_size(p, object, &made)) {
        p->unread++;
        return NULL;
    }
    if (p->n_chunks < p->chunk_places / 2)
        made.object = (*env)->NewGlobalRef(env, object);
    (*env)->ExceptionClear(env);
    if (made.object == NULL) {
        p->left++;
        return NULL;
    }
    p->n_chunks++;
    p->chunks[at] = made;
    return &p->chunks[at];
}

static bool is_pinned(const struct chunk *c)
{
    uint64_t used = c->pool == BBF_POOL_POOLED ? c->size - c->free : c->taken;

    return used < c->size / 100 * BBF_PINNED_PERCENT;
}

static void add_holder(struct pinning *p, const struct chunk *c, uint32_t node, uint32_t bytes)
{
    uint32_t chunk = (uint32_t)(c - p->chunks) + 1;
    size_t mask = p->holder_places - 1;
    size_t at = (chunk * UINT32_C(2654435761) ^ node * UINT32_C(2246822519)) & mask;

    while (p->holders[at].chunk != 0 &&
           (p->holders[at].chunk != chunk || p->holders[at].node != node))
        at = (at + 1) & mask;
    struct holder *h = &p->holders[at];
    if (h->chunk == 0) {
        if (p->n_holders == p->holder_places / 2) {
            p->left++;
            return;
        }
        p->n_holders++;
        *h = (struct holder){.chunk = chunk, .node = node, .smallest = bytes};
    }
    h->buffers++;
    h->bytes += bytes;
    h->smallest = bytes < h->smallest ? bytes : h->smallest;
    h->largest = bytes > h->largest ? bytes : h->largest;
}

/* ---- all open lives ---- */

static void read_life(struct pinning *p, uint32_t r, const struct bbf_owned_life *life)
{
    JNIEnv *env = p->env;
    jobject buffer = (*env)->NewLocalRef(env, (jweak)(uintptr_t)life->weak);
    if (buffer == NULL)
        return; /* collected, or no memory for the reference */
    const struct shape *shape = shape_of(p, buffer);
    if (shape == NULL) {
        p->unread++;
        return;
    }
    jobject object = (*env)->GetObjectField(env, buffer, shape->chunk);
    jint length = (*env)->GetIntField(env, buffer, shape->length);
    jint taken = (*env)->GetIntField(env, buffer, shape->taken);
    /* Released, and perhaps in use again, since its record was read: then it says nothing here. */
    if (object == NULL || length < 0 || taken < 0 || !bbf_owned_is_open(bbf_agent.tracker, r, life))
        return;
    struct chunk *c = chunk_of(p, object, life);
    if (c == NULL)
        return;
    c->taken += (uint32_t)taken;
    if (is_pinned(
            c)) /* of an adaptive chunk not known before the end; this keeps the table small */
        add_holder(p, c, life->node, (uint32_t)length);
}

static void read_lives(struct pinning *p)
{
    JNIEnv *env = p->env;
    struct bbf_owned_life life;
    bool is_late = false;
    uint32_t r = bbf_owned_next(bbf_agent.tracker, 0, &life);

    for (uint64_t n = 1; r != 0; r = bbf_owned_next(bbf_agent.tracker, r + 1, &life), n++) {
        if (life.pool == BBF_POOL_UNPOOLED)
            continue;
        is_late = is_late || (n % 64 == 0 && (uint64_t)bbf_monotonic_ms() > p->until_ms);
        if (is_late || (*env)->PushLocalFrame(env, 8) != 0) {
            (*env)->ExceptionClear(env);
            p->left++;
            continue;
        }
        read_life(p, r, &life);
        (void)(*env)->PopLocalFrame(env, NULL);
    }
}

/* ---- rows ---- */

static struct bbf_snap_pool *pool_row(const struct bbf_snap_reconciled *to, const struct chunk *c)
{
    for (size_t i = 0; i < to->n_pools; i++)
        if (to->pools[i].pool == c->pool && to->pools[i].memory == c->memory)
            return &to->pools[i];
    return NULL; /* its first buffer came after the pools were read */
}

/* Adaptive chunks with buffers that bbflow does not follow would be wrongly said to be pinned. */
static bool is_counted(const struct pinning *p, const struct bbf_snapshot *s, const struct chunk *c)
{
    return c->object != NULL && is_pinned(c) && pool_row(&s->reconciled, c) != NULL &&
           (c->pool == BBF_POOL_POOLED || (!s->reconciled.sampled && p->left == 0));
}

/* Keep only the holders of pinned chunks, at the front; which of them has most of a chunk. */
static void keep_pinned(struct pinning *p, const struct bbf_snapshot *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->holder_places; i++) {
        struct holder h = p->holders[i];
        if (h.chunk == 0 || !is_counted(p, s, &p->chunks[h.chunk - 1]))
            continue;
        struct chunk *c = &p->chunks[h.chunk - 1];
        const struct holder *best = c->main != 0 ? &p->holders[c->main - 1] : NULL;
        p->holders[kept++] = h; /* never behind i; what was there is copied or not wanted */
        if (best == NULL || h.buffers > best->buffers ||
            (h.buffers == best->buffers && h.node < best->node))
            c->main = (uint32_t)kept;
    }
    p->n_holders = kept;
}

static void count_pools(struct pinning *p, struct bbf_snap_reconciled *to)
{
    for (size_t i = 0; i < p->n_holders; i++) {
        struct holder *h = &p->holders[i];
        const struct chunk *c = &p->chunks[h->chunk - 1];
        struct bbf_snap_pool *row = pool_row(to, c);
        row->pinned_by_ += h->buffers;
        if (c->main != i + 1)
            continue;
        row->pinned_chunks_++;
        row->pinned_bytes_ += c->size;
        row->pinned_free_ +=
            c->pool == BBF_POOL_POOLED ? c->free : c->size - c->taken; /* pinned: taken is less */
        h->chunks = 1;
        h->reserved = c->size;
    }
}

/* The chunk's pool and memory, and the node, as one number: what is one row. */
static int compare_rows(const void *a, const void *b, void *chunks_of)
{
    const struct holder *x = a, *y = b;
    const struct chunk *chunks = chunks_of, *c = &chunks[x->chunk - 1], *d = &chunks[y->chunk - 1];

    if (c->pool != d->pool)
        return c->pool < d->pool ? -1 : 1;
    if (c->memory != d->memory)
        return c->memory < d->memory ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_reserved(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;

    if (x->reserved != y->reserved)
        return x->reserved > y->reserved ? -1 : 1;
    if (x->buffers != y->buffers)
        return x->buffers > y->buffers ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void add_up(struct holder *to, const struct holder *from)
{
    to->buffers += from->buffers;
    to->chunks += from->chunks;
    to->bytes += from->bytes;
    to->reserved += from->reserved;
    to->smallest = from->smallest < to->smallest ? from->smallest : to->smallest;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
}

/* All holders of a path become one, the largest first. */
static void roll_up(struct pinning *p)
{
    size_t kept = 0;

    if (p->n_holders == 0)
        return;
    qsort_r(p->holders, p->n_holders, sizeof *p->holders, compare_rows, p->chunks);
    for (size_t i = 1; i < p->n_holders; i++)
        if (compare_rows(&p->holders[kept], &p->holders[i], p->chunks) == 0)
            add_up(&p->holders[kept], &p->holders[i]);
        else
            p->holders[++kept] = p->holders[i];
    p->n_holders = kept + 1;
    qsort(p->holders, p->n_holders, sizeof *p->holders, compare_reserved);
}

static int add_rows(const struct pinning *p, struct bbf_snapshot *s)
{
    size_t n = p->n_holders < MAX_ROWS ? p->n_holders : MAX_ROWS;

    s->pins = calloc(n + 1, sizeof *s->pins);
    if (s->pins == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct holder *h = &p->holders[i];
        const struct chunk *c = &p->chunks[h->chunk - 1];
        s->pins[s->n_pins++] = (struct bbf_snap_pin){.node = h->node,
                                                     .pool = c->pool,
                                                     .memory = c->memory,
                                                     .buffers = h->buffers,
                                                     .bytes = h->bytes,
                                                     .smallest = h->smallest,
                                                     .largest = h->largest,
                                                     .chunks = h->chunks,
                                                     .reserved = h->reserved};
    }
    return BBF_OK;
}

/* ---- causes ---- */

static int add_cause(struct bbf_snap_reconciled *to, uint64_t buffers, const char *why)
{
    char text[200];

    if (buffers == 0)
        return BBF_OK;
    snprintf(text, sizeof text, "pinned chunks: %" PRIu64 " open %s %s", buffers,
             buffers == 1 ? "buffer was" : "buffers were", why);
    return bbf_snapshot_add_text(&to->causes, &to->n_causes, text);
}

static bool has_adaptive(const struct pinning *p)
{
    for (size_t i = 0; i < p->chunk_places; i++)
        if (p->chunks[i].object != NULL && p->chunks[i].pool == BBF_POOL_ADAPTIVE)
            return true;
    return false;
}

static int add_causes(const struct pinning *p, struct bbf_snap_reconciled *to)
{
    int err = add_cause(
        to, p->left, "not looked at: more than 200 ms, 16,384 chunks, or 65,536 paths in chunks");

    if (err == BBF_OK)
        err = add_cause(to, p->unread, "left out: this Netty has no chunk there that bbflow knows");
    if (err == BBF_OK && (to->sampled || p->left != 0) && has_adaptive(p))
        err = bbf_snapshot_add_text(&to->causes, &to->n_causes,
                                    "pinned chunks: adaptive ones are not counted, because bbflow "
                                    "does not see every buffer in them");
    return err;
}

/* ---- all ---- */

static size_t places_for(uint64_t wanted, size_t most)
{
    size_t places = 16;

    while (places / 2 < wanted && places / 2 < most)
        places *= 2;
    return places;
}

static void make_columns(struct bbf_snap_reconciled *to)
{
    for (size_t i = 0; i < to->n_pools; i++)
        if (to->pools[i].pool != BBF_POOL_UNPOOLED) {
            struct bbf_snap_pool *row = &to->pools[i];
            row->pinned_chunks_ = row->pinned_bytes_ = row->pinned_free_ = row->pinned_by_ = 0;
        }
}

static int fill(struct pinning *p, struct bbf_snapshot *s)
{
    bbf_fields_init(&p->fields, p->env);
    read_lives(p);
    bbf_fields_free(&p->fields);
    make_columns(&s->reconciled);
    keep_pinned(p, s);
    count_pools(p, &s->reconciled);
    roll_up(p);
    int err = add_rows(p, s);
    if (err == BBF_OK)
        err = add_causes(p, &s->reconciled);
    for (size_t i = 0; i < p->chunk_places; i++)
        if (p->chunks[i].object != NULL)
            (*p->env)->DeleteGlobalRef(p->env, p->chunks[i].object);
    return err;
}

int bbf_pins_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    struct bbf_snap_reconciled *to = &s->reconciled;
    uint64_t open = 0;
    int err = BBF_ENOMEM;

    for (size_t i = 0; i < to->n_pools; i++)
        open += to->pools[i].pool != BBF_POOL_UNPOOLED ? to->pools[i].lives_ : 0;
    if (!to->read)
        return BBF_OK;
    const size_t chunks = places_for(open, MAX_CHUNKS), holders = places_for(open, MAX_HOLDERS);
    const size_t bytes = chunks * sizeof(struct chunk) + holders * sizeof(struct holder);
    if (!bbf_tracker_charge(bbf_agent.tracker, bytes))
        return bbf_snapshot_add_text(&to->causes, &to->n_causes,
                                     "pinned chunks: memory= has no room to count them");
    struct pinning *p = calloc(1, sizeof *p);
    if (p != NULL) {
        *p = (struct pinning){.env = env,
                              .chunks = calloc(chunks, sizeof *p->chunks),
                              .holders = calloc(holders, sizeof *p->holders),
                              .chunk_places = chunks,
                              .holder_places = holders,
                              .until_ms = (uint64_t)bbf_monotonic_ms() + MAX_MS};
        if (p->chunks != NULL && p->holders != NULL)
            err = fill(p, s);
        free(p->chunks);
        free(p->holders);
        free(p);
    }
    bbf_tracker_uncharge(bbf_agent.tracker, bytes);
    return err;
}
