/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/carriers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/track.h"
#include "instrument/libraries.h"
#include "instrument/netty.h"

enum { SLOTS = 2 * BBF_MOST_CARRIERS, FILTER_WORDS = 64, MAX_NAME = 1024 };

struct entry {
    _Atomic uint64_t version; /* of the last change */
    _Atomic int what;         /* enum bbf_carrier */
    uint16_t len;
    char name[];
};

/*
 * Open addressing by a hash of the name. Invariant: a slot goes once from NULL to an entry, whose
 * name never changes; the filter has a bit of each name before its slot is published.
 */
struct bbf_carriers {
    _Atomic uint64_t filter[FILTER_WORDS];
    _Atomic(struct entry *) slots[SLOTS];
    _Atomic uint64_t version;
    _Atomic size_t names, learned, refused, bytes;
    pthread_mutex_t lock; /* of add() */
};

/* ---- known frameworks ---- */

/* Spring 5 and 6, Vert.x 4 and 5, Armeria 1.33, Spark 3.5, gRPC 1.76, Artemis 2.44, Micronaut 4,
 * AsyncHttpClient 3, BookKeeper 4.17, moquette 0.17. */
static const struct known {
    const char *type, *class_name, *field; /* class_name NULL: another type of the row above */
} known[] = {
    {"org/springframework/core/io/buffer/DataBuffer",
     "org/springframework/core/io/buffer/NettyDataBuffer", "byteBuf"},
    {"org/springframework/core/io/buffer/PooledDataBuffer", NULL, NULL},
    {"org/springframework/core/io/buffer/CloseableDataBuffer", NULL, NULL},
    {"org/springframework/core/io/buffer/TouchableDataBuffer", NULL, NULL},
    {"io/vertx/core/buffer/Buffer", "io/vertx/core/buffer/impl/BufferImpl", "buffer"},
    {"io/vertx/core/internal/buffer/BufferInternal", NULL, NULL},
    {"com/linecorp/armeria/common/HttpData", "com/linecorp/armeria/internal/common/ByteBufBytes",
     "buf"},
    {"com/linecorp/armeria/common/HttpData", "com/linecorp/armeria/common/ByteBufHttpData", "buf"},
    {"com/linecorp/armeria/common/HttpObject", NULL, NULL},
    {"com/linecorp/armeria/common/Bytes", NULL, NULL},
    {"org/apache/spark/network/buffer/ManagedBuffer",
     "org/apache/spark/network/buffer/NettyManagedBuffer", "buf"},
    {"io/grpc/internal/ReadableBuffer", "io/grpc/netty/NettyReadableBuffer", "buffer"},
    {"io/grpc/internal/ReadableBuffer", "io/grpc/internal/CompositeReadableBuffer",
     "readableBuffers"},
    {"io/grpc/Detachable", "io/grpc/internal/ReadableBuffers$BufferInputStream", "buffer"},
    {"io/grpc/HasByteBuffer", NULL, NULL},
    {"io/grpc/KnownLength", NULL, NULL},
    {"io/grpc/internal/WritableBuffer", "io/grpc/netty/NettyWritableBuffer", "bytebuf"},
    {"org/apache/activemq/artemis/api/core/ActiveMQBuffer",
     "org/apache/activemq/artemis/core/buffers/impl/ChannelBufferWrapper", "buffer"},
    {"io/micronaut/core/io/buffer/ByteBuffer", "io/micronaut/buffer/netty/NettyByteBuffer",
     "delegate"},
    {"io/micronaut/core/io/buffer/ReferenceCounted", NULL, NULL},
    {"org/asynchttpclient/HttpResponseBodyPart", "org/asynchttpclient/netty/LazyResponseBodyPart",
     "buf"},
    {"org/apache/bookkeeper/client/api/LedgerEntry",
     "org/apache/bookkeeper/client/impl/LedgerEntryImpl", "entryBuf"},
    {"io/moquette/interception/messages/InterceptPublishMessage",
     "io/moquette/interception/messages/InterceptPublishMessage", "msg"},
};
enum { KNOWN = sizeof known / sizeof known[0] };

const char *bbf_carriers_field(const char *given, const char *class_name, unsigned i, size_t *len)
{
    for (size_t k = 0; k < KNOWN; k++)
        if (known[k].class_name != NULL && strcmp(known[k].class_name, class_name) == 0 &&
            i-- == 0) {
            *len = strlen(known[k].field);
            return known[k].field;
        }
    for (unsigned bits = bbf_track_classes(given, class_name, strlen(class_name)); bits != 0;
         bits &= bits - 1)
        if (i-- == 0)
            return bbf_track_method(given, (unsigned)__builtin_ctz(bits), len);
    return NULL;
}

/* ---- the table ---- */

/* FNV-1a. */
static uint64_t hash_of(const char *name, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return (h ^ h >> 29) >> 1;
}

/* A bit of the filter, from a few characters: nearly all constants end here. */
static unsigned filter_bit(const char *name, size_t len)
{
    unsigned x = (unsigned)len * 31u + (unsigned char)name[len - 1];
    x = x * 31u + (unsigned char)name[len / 2];
    x = x * 31u + (unsigned char)name[len - 1 - len / 4];
    return (x ^ x >> 12) % (64 * FILTER_WORDS);
}

static struct entry *find(const struct bbf_carriers *c, const char *name, size_t len)
{
    if (c == NULL || len < 2 || len > MAX_NAME)
        return NULL;
    unsigned bit = filter_bit(name, len);
    if ((atomic_load_explicit(&c->filter[bit / 64], memory_order_acquire) >> bit % 64 & 1) == 0)
        return NULL;
    for (size_t i = hash_of(name, len), end = i + SLOTS; i < end; i++) {
        /* acquire: the entry's name */
        struct entry *e = atomic_load_explicit(&c->slots[i % SLOTS], memory_order_acquire);
        if (e == NULL || (e->len == len && memcmp(e->name, name, len) == 0))
            return e;
    }
    return NULL;
}

static struct entry *insert(struct bbf_carriers *c, const char *name, size_t len)
{
    size_t bytes = sizeof(struct entry) + len + 1;
    struct entry *e = atomic_load(&c->names) < BBF_MOST_CARRIERS ? calloc(1, bytes) : NULL;
    if (e == NULL) {
        atomic_fetch_add(&c->refused, 1);
        return NULL;
    }
    e->len = (uint16_t)len;
    memcpy(e->name, name, len);
    unsigned bit = filter_bit(name, len);
    atomic_fetch_or(&c->filter[bit / 64], UINT64_C(1) << bit % 64);
    size_t i = hash_of(name, len);
    while (atomic_load_explicit(&c->slots[i % SLOTS], memory_order_relaxed) != NULL)
        i++; /* only half of the slots can be taken */
    atomic_store_explicit(&c->slots[i % SLOTS], e, memory_order_release);
    atomic_fetch_add(&c->names, 1);
    atomic_fetch_add(&c->bytes, bytes);
    return e;
}

bool bbf_carriers_add(struct bbf_carriers *c, const char *name, size_t len, enum bbf_carrier what)
{
    if (len < 2 || len > MAX_NAME || bbf_carriers_find(c, name, len) >= what)
        return false;
    pthread_mutex_lock(&c->lock);
    struct entry *e = find(c, name, len);
    if (e == NULL)
        e = insert(c, name, len);
    bool changed = e != NULL && atomic_load(&e->what) < (int)what;
    if (changed) {
        atomic_store(&e->version, atomic_fetch_add(&c->version, 1) + 1);
        atomic_store(&e->what, (int)what);
    }
    pthread_mutex_unlock(&c->lock);
    return changed;
}

enum bbf_carrier bbf_carriers_find(const struct bbf_carriers *c, const char *name, size_t len)
{
    const struct entry *e = find(c, name, len);
    return e != NULL ? (enum bbf_carrier)atomic_load(&e->what) : BBF_CARRIER_NONE;
}

void bbf_carriers_give(struct bbf_carriers *c, const char *given)
{
    char name[MAX_NAME];
    for (const char *at = given; at != NULL && *at != '\0';) {
        size_t len = strcspn(at, ":");
        for (size_t i = 0; i < len && i < sizeof name; i++)
            name[i] = at[i] == '.' ? '/' : at[i];
        (void)bbf_carriers_add(c, name, len, BBF_CARRIER_CLASS);
        at += strcspn(at, "+");
        at += *at == '+';
    }
}

struct bbf_carriers *bbf_carriers_new(const char *given)
{
    struct bbf_carriers *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    for (size_t i = 0; i < KNOWN; i++) {
        const struct known *k = &known[i];
        (void)bbf_carriers_add(c, k->type, strlen(k->type), BBF_CARRIER_TYPE);
        if (k->class_name != NULL)
            (void)bbf_carriers_add(c, k->class_name, strlen(k->class_name), BBF_CARRIER_CLASS);
    }
    bbf_carriers_give(c, given);
    return c;
}

void bbf_carriers_free(struct bbf_carriers *c)
{
    for (size_t i = 0; c != NULL && i < SLOTS; i++)
        free(atomic_load(&c->slots[i]));
    if (c != NULL)
        pthread_mutex_destroy(&c->lock);
    free(c);
}

size_t bbf_carriers_bytes(const struct bbf_carriers *c)
{
    return sizeof *c + atomic_load(&c->bytes);
}

uint64_t bbf_carriers_version(const struct bbf_carriers *c)
{
    return atomic_load(&c->version);
}

size_t bbf_carriers_learned(const struct bbf_carriers *c)
{
    return atomic_load(&c->learned);
}

size_t bbf_carriers_refused(const struct bbf_carriers *c)
{
    return atomic_load(&c->refused);
}

/* ---- constants ---- */

static bool is_newer(const struct bbf_carriers *c, const char *name, size_t len, uint64_t since)
{
    struct entry *e = find(c, name, len);
    return e != NULL && atomic_load(&e->version) > since;
}

bool bbf_carriers_mentioned(const struct bbf_carriers *c, const char *s, size_t len, uint64_t since)
{
    if (c == NULL || len < 3)
        return false;
    if (strchr("(<[", s[0]) == NULL && (s[0] != 'L' || s[len - 1] != ';'))
        return is_newer(c, s, len, since);
    for (size_t i = 0; i < len; i++) {
        size_t begin = i + 1;
        if (s[i] != 'L' && s[i] != 'T')
            continue;
        for (i = begin; i < len && s[i] != ';' && s[i] != '<';)
            i++;
        if (s[begin - 1] == 'L' && is_newer(c, s + begin, i - begin, since))
            return true;
    }
    return false;
}

/* ---- learning ---- */

static bool is_buffer_or_holder(const char *name, size_t len)
{
    enum bbf_type type = bbf_netty_type(name, len);
    return type == BBF_TYPE_BYTEBUF || type == BBF_TYPE_BUFFER || type == BBF_TYPE_HOLDER;
}

bool bbf_carriers_leads(const struct bbf_carriers *c, struct bbf_cf_str class_name,
                        struct bbf_cf_str d)
{
    if (d.len < 3 || d.s[0] != 'L')
        return false;
    const char *type = d.s + 1;
    size_t len = d.len - 2;
    if (len == class_name.len && memcmp(type, class_name.s, len) == 0)
        return false;
    return is_buffer_or_holder(type, len) || bbf_carriers_find(c, type, len) != BBF_CARRIER_NONE;
}

bool bbf_carriers_inherits(const struct bbf_carriers *c, const char *super, size_t len)
{
    return is_buffer_or_holder(super, len) || bbf_carriers_find(c, super, len) == BBF_CARRIER_CLASS;
}

bool bbf_carriers_may(const struct bbf_carriers *c, const char *s, size_t len, uint64_t since)
{
    if (c == NULL || len < 8 || s[0] == '(')
        return false;
    bool field = s[0] == 'L' && s[len - 1] == ';';
    const char *name = field ? s + 1 : s;
    size_t n = field ? len - 2 : len;
    if (is_newer(c, name, n, since))
        return true;
    if (since != 0 || memmem(name, n, "netty/", 6) == NULL)
        return false;
    /* Each class that uses a buffer has the bare name of ByteBuf, and none extends just that. */
    enum bbf_type type = bbf_netty_type(name, n);
    return type == BBF_TYPE_HOLDER || type == BBF_TYPE_BUFFER ||
           (type == BBF_TYPE_BYTEBUF && field);
}

/* What one look at a class file found. */
struct look {
    struct bbf_carriers *carriers;
    struct bbf_cf_str name;
    bool has_field, extends; /* extends: a holder or another carrier */
    bool types;              /* second look: learn the super class and the interfaces */
    bool new;
};

static void look_at_field(void *ctx, struct bbf_cf_str name, struct bbf_cf_str descriptor)
{
    struct look *look = ctx;
    (void)name;
    look->has_field = look->has_field || bbf_carriers_leads(look->carriers, look->name, descriptor);
}

static bool learn(struct bbf_carriers *c, const char *name, size_t len, enum bbf_carrier what)
{
    bool new = bbf_carriers_add(c, name, len, what);
    if (new)
        atomic_fetch_add(&c->learned, 1);
    return new;
}

bool bbf_carriers_learn_type(struct bbf_carriers *c, const char *name, size_t len)
{
    return !bbf_libraries_has(name, len) && learn(c, name, len, BBF_CARRIER_TYPE);
}

bool bbf_carriers_learn_class(struct bbf_carriers *c, const char *name, size_t len)
{
    return learn(c, name, len, BBF_CARRIER_CLASS);
}

static void look_at_super(void *ctx, struct bbf_cf_str name, bool interface)
{
    struct look *look = ctx;
    if (look->types)
        look->new = bbf_carriers_learn_type(look->carriers, name.s, name.len) || look->new;
    else if (!interface)
        look->extends = bbf_carriers_inherits(look->carriers, name.s, name.len);
}

bool bbf_carriers_learn(struct bbf_carriers *c, const char *name, const uint8_t *bytes, size_t len)
{
    struct look look = {.carriers = c, .name = {name, strlen(name)}};
    bool nettys = bbf_netty_prefix(name, look.name.len) > 0;
    if (!nettys && bbf_libraries_has(name, look.name.len))
        return false;
    const struct bbf_cf_outline outline = {&look, look_at_super, look_at_field};
    if (bbf_cf_outline(bytes, len, &outline) != 0 || !(look.extends || (look.has_field && !nettys)))
        return false;
    if (is_buffer_or_holder(name, look.name.len))
        return false; /* known by its name */
    look.new = bbf_carriers_learn_class(c, name, look.name.len);
    look.types = true;
    if (!nettys)
        (void)bbf_cf_outline(bytes, len, &outline);
    return look.new;
}
