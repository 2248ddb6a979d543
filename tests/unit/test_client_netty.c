/* link: bbf_client bbf_render bbf_snapshot bbf_jfr bbf_wire bbf_core */
/* client/netty_flight.h: recordings of Netty's events, written event by event, and what is made of
 * them. */
#include "client/netty_flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/err.h"
#include "jfr/writer.h"

#define START                                                                                      \
    {                                                                                              \
        "startTime", "long", 0,                                                                    \
        {                                                                                          \
            {                                                                                      \
                "Timestamp", "TICKS"                                                               \
            }                                                                                      \
        }                                                                                          \
    }
#define LONG(name)                                                                                 \
    {                                                                                              \
        name, "long", 0,                                                                           \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define INT(name)                                                                                  \
    {                                                                                              \
        name, "int", 0,                                                                            \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define POOLED(name, type)                                                                         \
    {                                                                                              \
        name, type, BBF_JFR_IS_POOLED,                                                             \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define BUFFER_FIELDS                                                                              \
    START, POOLED("eventThread", "java.lang.Thread"),                                              \
        POOLED("stackTrace", "jdk.types.StackTrace"), POOLED("allocatorType", "java.lang.Class"),  \
        INT("size"), INT("maxFastCapacity"), INT("maxCapacity"), {"direct", "boolean", 0, {{0}}},  \
        LONG("address")

enum { ALLOCATE, FREE, REALLOCATE, ALLOCATE_CHUNK, FREE_CHUNK, RETURN_CHUNK, DATA_LOSS, TYPES };

static const struct bbf_jfr_type_decl types[TYPES] = {
    {.name = "io.netty.AllocateBuffer", .super = "jdk.jfr.Event", .fields = {BUFFER_FIELDS}},
    {.name = "io.netty.FreeBuffer", .super = "jdk.jfr.Event", .fields = {BUFFER_FIELDS}},
    {.name = "io.netty.ReallocateBuffer",
     .super = "jdk.jfr.Event",
     .fields = {BUFFER_FIELDS, INT("newCapacity")}},
    {.name = "io.netty.AllocateChunk",
     .super = "jdk.jfr.Event",
     .fields = {START, INT("capacity"), {"direct", "boolean", 0, {{0}}}, LONG("address")}},
    {.name = "io.netty.FreeChunk",
     .super = "jdk.jfr.Event",
     .fields = {START, INT("capacity"), {"direct", "boolean", 0, {{0}}}, LONG("address")}},
    {.name = "io.netty.ReturnChunk",
     .super = "jdk.jfr.Event",
     .fields = {START, INT("capacity"), {"direct", "boolean", 0, {{0}}}, LONG("address")}},
    {.name = "jdk.DataLoss", .super = "jdk.jfr.Event", .fields = {START, LONG("amount")}},
};

static int append(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(ctx, data, len);
    return BBF_OK;
}

/* A recording that is being written, one event each millisecond, then what is made of it. */
struct test {
    struct bbf_buf bytes;
    struct bbf_jfr_writer writer;
    uint64_t ticks;
    struct bbf_snapshot *snapshot;
};

#define MS       UINT64_C(1000000)
#define START_NS UINT64_C(1700000000000000000)

static void begin(struct test *t)
{
    *t = (struct test){.ticks = 5 * MS};
    const struct bbf_jfr_config config = {
        .schema = {types, TYPES},
        .output = {append, NULL, &t->bytes},
        .start_ns = START_NS,
        .start_ticks = 1,
    };
    assert_int_equal(bbf_jfr_writer_init(&t->writer, &config), BBF_OK);
}

struct buffer {
    const char *allocator, *caller;
    uint64_t address, thread;
    int size, max_fast, new_capacity;
    bool is_heap, is_late, no_stack;
};

static uint64_t stack_of(struct test *t, const struct buffer *b)
{
    const struct bbf_jfr_frame frames[] = {
        {b->is_late ? "io.netty.buffer.PooledUnsafeDirectByteBuf" : "io.netty.buffer.PoolArena",
         b->is_late ? "init" : "allocate", "()V", 1, 0},
        {"io.netty.buffer.AbstractByteBufAllocator", "directBuffer", "(I)V", 2, 0},
        {"com.app.Handler", b->caller, "()V", 3, 0},
        {"com.app.Main", "main", "()V", 4, 0},
    };

    return b->no_stack ? 0 : bbf_jfr_stack(&t->writer, frames, 4, false);
}

static void event(struct test *t, int type, const struct buffer *b)
{
    struct bbf_buf *out = bbf_jfr_begin(&t->writer, (size_t)type, t->ticks += MS);
    struct bbf_jfr_writer *w = &t->writer;

    bbf_jfr_put_long(out, bbf_jfr_thread(w, "worker", 40 + b->thread, 1 + b->thread, false));
    bbf_jfr_put_long(out, stack_of(t, b));
    bbf_jfr_put_long(out, bbf_jfr_class(w, b->allocator != NULL
                                               ? b->allocator
                                               : "io.netty.buffer.AdaptiveByteBufAllocator"));
    bbf_jfr_put_int(out, b->size > 0 ? b->size : 100);
    bbf_jfr_put_int(out, b->max_fast > 0 ? b->max_fast : 128);
    bbf_jfr_put_int(out, INT32_MAX);
    bbf_jfr_put_byte(out, !b->is_heap);
    bbf_jfr_put_long(out, b->address);
    if (type == REALLOCATE)
        bbf_jfr_put_int(out, b->new_capacity);
    bbf_jfr_end(w);
}

static void chunk(struct test *t, int type, uint64_t address, int capacity)
{
    struct bbf_buf *out = bbf_jfr_begin(&t->writer, (size_t)type, t->ticks += MS);

    bbf_jfr_put_int(out, capacity);
    bbf_jfr_put_byte(out, 1);
    bbf_jfr_put_long(out, address);
    bbf_jfr_end(&t->writer);
}

static void data_loss(struct test *t)
{
    struct bbf_buf *out = bbf_jfr_begin(&t->writer, DATA_LOSS, t->ticks += MS);

    bbf_jfr_put_long(out, 4096);
    bbf_jfr_end(&t->writer);
}

static int finish_with(struct test *t, struct bbf_netty_config config)
{
    struct bbf_jfr_recording recording;

    assert_int_equal(bbf_jfr_finish(&t->writer, t->ticks), BBF_OK);
    bbf_jfr_writer_free(&t->writer);
    bbf_jfr_recording_init(&recording, (const unsigned char *)t->bytes.data, t->bytes.len, true);
    int err = bbf_netty_flight(&recording, &config, &t->snapshot);
    assert_null(recording.trouble.what);
    bbf_jfr_recording_close(&recording);
    return err;
}

static int finish(struct test *t, uint64_t age_ns, uint32_t max_nodes)
{
    return finish_with(t, (struct bbf_netty_config){.age_ns = age_ns, .max_nodes = max_nodes});
}

/* The time of the next event. */
static int64_t next_ns(const struct test *t)
{
    return (int64_t)(START_NS + t->ticks + MS - 1);
}

static void end(struct test *t)
{
    bbf_snapshot_free(t->snapshot);
    bbf_buf_free(&t->bytes);
}

/* The node whose path has com.app.Handler.`caller`: its end, Main.main. */
static const struct bbf_snap_node *path_of(const struct test *t, const char *caller)
{
    const struct bbf_snapshot *s = t->snapshot;

    for (size_t i = 0; i < s->n_nodes; i++) {
        int64_t parent = s->nodes[i].parent;
        if (parent >= 0 && strcmp(s->sites[s->nodes[i].site].class_name, "com.app.Main") == 0 &&
            strcmp(s->sites[s->nodes[parent].site].method, caller) == 0)
            return &s->nodes[i];
    }
    return NULL;
}

static bool has_note(const struct test *t, const char *text)
{
    for (size_t i = 0; i < t->snapshot->n_notes; i++) {
        if (strstr(t->snapshot->notes[i], text) != NULL)
            return true;
    }
    return false;
}

static void frees_end_what_they_name(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "good", .address = 0x1000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "open", .address = 0x2000, .size = 70});
    event(&t, FREE, &(struct buffer){.caller = "good", .address = 0x1000});
    event(&t, FREE, &(struct buffer){.caller = "good", .address = 0x9000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "good", .address = 0x1000});
    event(&t, FREE, &(struct buffer){.caller = "good", .address = 0x1000});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "good")->released_, 2);
    assert_int_equal(path_of(&t, "open")->live_, 1);
    assert_int_equal(path_of(&t, "open")->live_bytes_, 70);
    assert_int_equal(t.snapshot->totals.lives_, 3);
    assert_int_equal(t.snapshot->totals.leaked_, 0);
    assert_int_equal(t.snapshot->n_leaks, 0);
    assert_true(has_note(&t, "1 buffer was freed that opened before the recording"));
    end(&t);
}

/* The root is the method of Netty that the program called, not what is inside. */
static void a_path_begins_at_netty(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "open", .address = 0x2000});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(t.snapshot->n_nodes, 3);
    const struct bbf_snap_site *root = &t.snapshot->sites[t.snapshot->nodes[0].site];
    assert_int_equal(t.snapshot->nodes[0].parent, -1);
    assert_string_equal(root->class_name, "io.netty.buffer.AbstractByteBufAllocator");
    assert_string_equal(root->method, "directBuffer");
    assert_true(has_note(&t, "there is no FreeBuffer event"));
    end(&t);
}

static void an_address_that_opens_again_was_lost(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "lose", .address = 0x1000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "good", .address = 0x1000});
    event(&t, FREE, &(struct buffer){.caller = "good", .address = 0x1000});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "lose")->leaked_, 1);
    assert_int_equal(path_of(&t, "good")->released_, 1);
    assert_int_equal(t.snapshot->n_leaks, 1);
    assert_int_equal(t.snapshot->leaks[0].verdict, BBF_VERDICT_LEAKED);
    assert_int_equal(t.snapshot->leaks[0].bytes, 100);
    assert_true(has_note(&t, "1 buffer is leaked"));
    end(&t);
}

/* Where the JVM lost events a FreeBuffer may be among them. */
static void after_data_loss_nothing_is_leaked_for_sure(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "lose", .address = 0x1000});
    data_loss(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "good", .address = 0x1000});
    event(&t, FREE, &(struct buffer){.caller = "good", .address = 0x1000});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "lose")->leaked_, 0);
    assert_int_equal(path_of(&t, "lose")->unknown_, 1);
    assert_int_equal(t.snapshot->n_leaks, 0);
    assert_true(has_note(&t, "jdk.DataLoss"));
    end(&t);
}

/* Ages count to the recording's end. */
static void what_is_open_for_long_is_aged(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "old", .address = 0x1000});
    t.ticks += 5000 * MS;
    event(&t, ALLOCATE, &(struct buffer){.caller = "young", .address = 0x2000});
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x3000});
    assert_int_equal(finish(&t, 2000 * MS, 0), BBF_OK);
    assert_int_equal(path_of(&t, "old")->aged_, 1);
    assert_int_equal(path_of(&t, "young")->aged_, 0);
    assert_int_equal(path_of(&t, "young")->live_, 1);
    assert_int_equal(t.snapshot->n_leaks, 1);
    assert_int_equal(t.snapshot->leaks[0].verdict, BBF_VERDICT_AGED);
    assert_int_equal(t.snapshot->leaks[0].oldest_seconds, 5);
    end(&t);
}

/* It keeps its path, even if another thread's events are between. */
static void a_buffer_that_grows_stays_the_same_life(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "open", .address = 0x1000, .thread = 1});
    event(&t, REALLOCATE,
          &(struct buffer){.caller = "grow", .address = 0x1000, .thread = 1, .new_capacity = 900});
    event(&t, ALLOCATE, &(struct buffer){.caller = "other", .address = 0x5000, .thread = 2});
    event(&t, ALLOCATE,
          &(struct buffer){.caller = "grow", .address = 0x3000, .thread = 1, .size = 900});
    event(&t, ALLOCATE, &(struct buffer){.caller = "again", .address = 0x1000, .thread = 1});
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x5000, .thread = 2});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "open")->live_, 1);
    assert_int_equal(path_of(&t, "open")->live_bytes_, 900);
    assert_int_equal(path_of(&t, "other")->released_, 1);
    assert_null(path_of(&t, "grow"));
    assert_int_equal(t.snapshot->totals.leaked_, 0);
    assert_int_equal(t.snapshot->totals.lives_, 3);
    end(&t);
}

/* No memory was to be had: the buffer is where it was. */
static void a_growth_that_failed_changes_nothing(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "open", .address = 0x1000});
    event(&t, REALLOCATE,
          &(struct buffer){.caller = "grow", .address = 0x1000, .new_capacity = 900});
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x9000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "big", .address = 0x3000, .size = 900});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "open")->live_, 1);
    assert_int_equal(path_of(&t, "open")->live_bytes_, 100);
    assert_int_equal(path_of(&t, "big")->live_, 1);
    end(&t);
}

/* Of 10 + 3 of one class 9 ended: each path's certain part is counted, the rest is unknown. */
static void heap_buffers_are_counted_by_class(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    for (int i = 0; i < 10; i++)
        event(&t, ALLOCATE, &(struct buffer){.caller = "many", .is_heap = true});
    for (int i = 0; i < 3; i++)
        event(&t, ALLOCATE, &(struct buffer){.caller = "few", .is_heap = true});
    for (int i = 0; i < 9; i++)
        event(&t, FREE, &(struct buffer){.caller = "x", .is_heap = true});
    event(&t, ALLOCATE, &(struct buffer){.caller = "alone", .is_heap = true, .max_fast = 512});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "many")->live_, 1);
    assert_int_equal(path_of(&t, "many")->released_, 6);
    assert_int_equal(path_of(&t, "many")->unknown_, 3);
    assert_int_equal(path_of(&t, "few")->unknown_, 3);
    assert_int_equal(path_of(&t, "alone")->live_, 1);
    assert_int_equal(path_of(&t, "alone")->live_bytes_, 100);
    assert_true(has_note(&t, "14 heap buffers have no address"));
    end(&t);
}

/* PooledByteBufAllocator with Unsafe: the address is that of the buffer object's use before. Two
 * paths must not be mixed up by it. */
static void late_addresses_are_not_believed(void **state)
{
    static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";
    struct buffer lose = {.allocator = pooled,
                          .caller = "lose",
                          .is_late = true,
                          .size = 60,
                          .max_fast = 64,
                          .address = 0x7000};
    struct buffer good = {
        .allocator = pooled, .caller = "good", .is_late = true, .address = 0x8000};
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &lose);
    event(&t, ALLOCATE, &good);
    event(&t, ALLOCATE, &good);
    event(&t, FREE, &(struct buffer){.allocator = pooled, .caller = "x", .address = 0x7000});
    event(&t, FREE, &(struct buffer){.allocator = pooled, .caller = "x", .address = 0x1000});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "lose")->live_, 1);
    assert_int_equal(path_of(&t, "good")->released_, 2);
    assert_int_equal(t.snapshot->totals.leaked_, 0);
    assert_true(has_note(&t, "3 direct buffers have no address of their own"));
    end(&t);
}

static void a_chunk_that_few_buffers_keep_is_pinned(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    chunk(&t, ALLOCATE_CHUNK, 0x100000, 65536);
    chunk(&t, ALLOCATE_CHUNK, 0x200000, 65536);
    chunk(&t, ALLOCATE_CHUNK, 0x300000, 1000);
    chunk(&t, ALLOCATE_CHUNK, 0x400000, 65536);
    chunk(&t, FREE_CHUNK, 0x400000, 65536);
    event(&t, ALLOCATE, &(struct buffer){.caller = "keep", .address = 0x10FFFF - 100});
    event(&t, ALLOCATE, &(struct buffer){.caller = "full", .address = 0x300000, .size = 900});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_true(has_note(&t, "3 direct chunks: 129.0 KiB reserved, 1000 B in use"));
    assert_true(has_note(&t, "1 without such a buffer (0 of them given back for reuse), 1 pinned"));
    assert_true(has_note(&t, "pinned: 1 buffer of 100 B keeps the chunk 0x100000 of 64.0 KiB: "
                             "AbstractByteBufAllocator.directBuffer → Handler.keep → Main.main"));
    end(&t);
}

/* Nodes are bounded; the lives are all there, at a caller. */
static void paths_are_bounded(void **state)
{
    struct test t;
    char caller[16];
    (void)state;

    begin(&t);
    for (int i = 0; i < 50; i++) {
        (void)snprintf(caller, sizeof caller, "m%d", i);
        event(&t, ALLOCATE,
              &(struct buffer){.caller = caller, .address = 0x1000 + 256 * (uint64_t)i});
    }
    assert_int_equal(finish(&t, 0, 10), BBF_OK);
    assert_int_equal(t.snapshot->n_nodes, 10);
    assert_int_equal(t.snapshot->totals.live_, 50);
    assert_true(has_note(&t, "--max-nodes"));
    end(&t);
}

/* Many lives at once, freed in another order. */
static void the_table_of_lives_holds(void **state)
{
    enum { LIVES = 5000 };
    struct test t;
    (void)state;

    begin(&t);
    for (uint64_t i = 0; i < LIVES; i++)
        event(&t, ALLOCATE, &(struct buffer){.caller = "a", .address = (i + 1) * 4096});
    for (uint64_t i = 0; i < LIVES; i++) {
        if (i * 7 % LIVES % 5 != 0)
            event(&t, FREE, &(struct buffer){.caller = "x", .address = (i * 7 % LIVES + 1) * 4096});
    }
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(path_of(&t, "a")->live_, LIVES / 5);
    assert_int_equal(path_of(&t, "a")->released_, LIVES - LIVES / 5);
    end(&t);
}

static void without_a_stack_it_still_counts(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "a", .address = 0x1000, .no_stack = true});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_int_equal(t.snapshot->totals.live_, 1);
    assert_string_equal(t.snapshot->sites[0].method, "?no-stack");
    assert_true(has_note(&t, "1 event has no stack"));
    end(&t);
}

/* Opened before: not reported, and its end is no other's. Still open at --until: live. */
static void a_window_has_the_buffers_that_opened_in_it(void **state)
{
    struct bbf_netty_config config = {0};
    struct test t;
    (void)state;

    begin(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "before", .address = 0x1000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "before", .address = 0x2000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "before", .address = 0x3000});
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x3000});
    config.from_ns = next_ns(&t);
    event(&t, ALLOCATE, &(struct buffer){.caller = "a", .address = 0x4000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "a", .address = 0x5000});
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x1000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "a", .address = 0x2000}); /* was lost before */
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x4000});
    config.until_ns = next_ns(&t);
    event(&t, FREE, &(struct buffer){.caller = "x", .address = 0x5000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "after", .address = 0x6000});
    assert_int_equal(finish_with(&t, config), BBF_OK);
    assert_null(path_of(&t, "before"));
    assert_null(path_of(&t, "after"));
    assert_int_equal(path_of(&t, "a")->live_, 2);
    assert_int_equal(path_of(&t, "a")->released_, 1);
    assert_int_equal(t.snapshot->totals.leaked_, 0);
    assert_int_equal(t.snapshot->captured_at_ms, config.until_ns / (int64_t)MS);
    assert_true(has_note(&t, "6 events are left out by --from or --until"));
    assert_true(has_note(&t, "2 direct buffers (200 B) had no FreeBuffer event before --until"));
    end(&t);
}

/* The free may be the older one's. */
static void a_window_knows_less_of_heap_buffers(void **state)
{
    struct bbf_netty_config config = {0};
    struct buffer heap = {.caller = "before", .is_heap = true};
    struct test t;
    (void)state;

    begin(&t);
    for (int i = 0; i < 2; i++)
        event(&t, ALLOCATE, &heap);
    event(&t, FREE, &heap); /* one is open when the time begins */
    config.from_ns = next_ns(&t);
    heap.caller = "a";
    for (int i = 0; i < 5; i++)
        event(&t, ALLOCATE, &heap);
    for (int i = 0; i < 3; i++)
        event(&t, FREE, &heap);
    assert_int_equal(finish_with(&t, config), BBF_OK);
    assert_int_equal(path_of(&t, "a")->live_, 2);     /* 3 frees at most were its own */
    assert_int_equal(path_of(&t, "a")->released_, 2); /* and 2 at least */
    assert_int_equal(path_of(&t, "a")->unknown_, 1);
    end(&t);
}

/* A chunk that was given back was empty then: what seems open in it from before is not. */
static void a_chunk_that_was_given_back_is_not_pinned(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    chunk(&t, ALLOCATE_CHUNK, 0x100000, 65536);
    chunk(&t, ALLOCATE_CHUNK, 0x200000, 65536);
    event(&t, ALLOCATE, &(struct buffer){.caller = "a", .address = 0x101000});
    event(&t, ALLOCATE, &(struct buffer){.caller = "b", .address = 0x201000});
    chunk(&t, RETURN_CHUNK, 0x100000, 65536);
    chunk(&t, RETURN_CHUNK, 0x200000, 65536);
    event(&t, ALLOCATE, &(struct buffer){.caller = "b", .address = 0x202000});
    assert_int_equal(finish(&t, 0, 0), BBF_OK);
    assert_true(has_note(&t, "2 direct chunks: 128.0 KiB reserved, 100 B in use"));
    assert_true(has_note(&t, "1 without such a buffer (1 of them given back for reuse), 1 pinned"));
    assert_true(has_note(&t, "pinned: 1 buffer of 100 B keeps the chunk 0x200000 of"));
    end(&t);
}

static void a_recording_without_netty_is_refused(void **state)
{
    struct test t;
    (void)state;

    begin(&t);
    chunk(&t, ALLOCATE_CHUNK, 0x100000, 65536);
    assert_int_equal(finish(&t, 0, 0), BBF_ENOTFOUND);
    assert_null(t.snapshot);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frees_end_what_they_name),
        cmocka_unit_test(a_path_begins_at_netty),
        cmocka_unit_test(an_address_that_opens_again_was_lost),
        cmocka_unit_test(after_data_loss_nothing_is_leaked_for_sure),
        cmocka_unit_test(what_is_open_for_long_is_aged),
        cmocka_unit_test(a_buffer_that_grows_stays_the_same_life),
        cmocka_unit_test(a_growth_that_failed_changes_nothing),
        cmocka_unit_test(heap_buffers_are_counted_by_class),
        cmocka_unit_test(late_addresses_are_not_believed),
        cmocka_unit_test(a_chunk_that_few_buffers_keep_is_pinned),
        cmocka_unit_test(paths_are_bounded),
        cmocka_unit_test(the_table_of_lives_holds),
        cmocka_unit_test(without_a_stack_it_still_counts),
        cmocka_unit_test(a_window_has_the_buffers_that_opened_in_it),
        cmocka_unit_test(a_window_knows_less_of_heap_buffers),
        cmocka_unit_test(a_chunk_that_was_given_back_is_not_pinned),
        cmocka_unit_test(a_recording_without_netty_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
