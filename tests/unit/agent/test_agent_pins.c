/* link: bbf_agent fake_jvm */
/*
 * agent/report/pins.c: which chunks few small buffers keep. A chunk that is in use must never be
 * said to be pinned, and every chunk and buffer is counted once.
 */
#include "agent/report/pins.h"

#include "tests/unit/agent/agent_world.h"

enum { CHUNK_BYTES = 100000, PATH_A = 7, PATH_B = 9, MOST_LIVES = 64 };

static struct bbf_snapshot *snapshot;
static struct fake_class *pool_chunk, *adaptive_chunk, *pooled_buffer, *adaptive_buffer;
static const char *without;
static jweak weaks[MOST_LIVES];
static uint32_t records[MOST_LIVES];
static size_t n_weaks;

static void add_field(struct fake_class *class, const char *name, const char *descriptor)
{
    if (without == NULL || strcmp(without, name) != 0)
        fake_field(class, name, descriptor);
}

static void set_number(struct fake_object *o, const char *name, int64_t value)
{
    if (without == NULL || strcmp(without, name) != 0)
        fake_number(o, name, value);
}

static struct bbf_snap_pool *row_of(enum bbf_pool pool)
{
    for (size_t i = 0; i < snapshot->reconciled.n_pools; i++)
        if (snapshot->reconciled.pools[i].pool == pool)
            return &snapshot->reconciled.pools[i];
    return NULL;
}

/* What bbf_reconcile_fill() leaves. */
static void make_snapshot(void)
{
    struct bbf_snap_reconciled *r;

    snapshot = bbf_snapshot_new();
    assert_non_null(snapshot);
    r = &snapshot->reconciled;
    r->read = true;
    r->pools = calloc(3, sizeof *r->pools);
    assert_non_null(r->pools);
    for (int i = 0; i < 3; i++)
        r->pools[r->n_pools++] = (struct bbf_snap_pool){.pool = (enum bbf_pool)i,
                                                        .memory = BBF_MEM_DIRECT,
                                                        .lives_ = MOST_LIVES,
                                                        .pinned_chunks_ = BBF_NOT_TOLD};
}

static void begin(void)
{
    world_begin();
    world_rules("include=com.app");
    pool_chunk = world_class("io/netty/buffer/PoolChunk", NULL);
    add_field(pool_chunk, "chunkSize", "I");
    add_field(pool_chunk, "freeBytes", "I");
    adaptive_chunk = world_class("io/netty/buffer/AdaptivePoolingAllocator$Chunk", NULL);
    add_field(adaptive_chunk, "capacity", "I");
    pooled_buffer = world_class("io/netty/buffer/PooledDirectByteBuf", NULL);
    add_field(pooled_buffer, "chunk", "Lio/netty/buffer/PoolChunk;");
    add_field(pooled_buffer, "length", "I");
    add_field(pooled_buffer, "maxLength", "I");
    adaptive_buffer = world_class("io/netty/buffer/AdaptiveByteBuf", NULL);
    add_field(adaptive_buffer, "chunk", "Lio/netty/buffer/AdaptivePoolingAllocator$Chunk;");
    add_field(adaptive_buffer, "length", "I");
    add_field(adaptive_buffer, "maxFastCapacity", "I");
    make_snapshot();
}

static void end(void)
{
    for (size_t i = 0; i < n_weaks; i++) { /* the tracker may be kept */
        atomic_store(&bbf_record_at(bbf_agent.tracker, records[i])->life, 0);
        (*fake_env())->DeleteWeakGlobalRef(fake_env(), weaks[i]);
    }
    n_weaks = 0;
    bbf_snapshot_free(snapshot);
    world_free();
}

static int setup(void **state)
{
    (void)state;
    without = NULL;
    begin();
    return 0;
}

static int teardown(void **state)
{
    end();
    return fake_teardown(state);
}

static struct fake_object *make_chunk(enum bbf_pool pool, int64_t free_bytes)
{
    struct fake_object *o = fake_object(pool == BBF_POOL_POOLED ? pool_chunk : adaptive_chunk);

    set_number(o, pool == BBF_POOL_POOLED ? "chunkSize" : "capacity", CHUNK_BYTES);
    if (pool == BBF_POOL_POOLED)
        set_number(o, "freeBytes", free_bytes);
    return o;
}

/* An open life of a new buffer in the chunk, last seen at the node. Returns its record. */
static uint32_t open_life(enum bbf_pool pool, struct fake_object *in, uint32_t node, uint32_t bytes)
{
    const char *name = pool == BBF_POOL_POOLED ? "io/netty/buffer/PooledDirectByteBuf"
                                               : "io/netty/buffer/Adaptive";
    struct fake_object *o = fake_object(pool == BBF_POOL_POOLED ? pooled_buffer : adaptive_buffer);
    struct bbf_tracker *t = bbf_agent.tracker;
    uint32_t class = bbf_class_intern(t, name), r = bbf_record_bump(t);
    struct bbf_record *record = bbf_record_at(t, r);

    if (in != NULL && (without == NULL || strcmp(without, "chunk") != 0))
        fake_refer(o, "chunk", in);
    set_number(o, "length", bytes);
    set_number(o, pool == BBF_POOL_POOLED ? "maxLength" : "maxFastCapacity", bytes);
    bbf_owned_class(t, class, pool);
    records[n_weaks] = r;
    weaks[n_weaks] = (*fake_env())->NewWeakGlobalRef(fake_env(), fake_local(o));
    atomic_store(&record->refs,
                 BBF_WORD(1, class << BBF_L_CLASS_SHIFT | BBF_MEM_DIRECT << BBF_L_MEM_SHIFT));
    atomic_store(&record->size, BBF_WORD(1, bytes));
    atomic_store(&record->path, BBF_WORD(1, node));
    atomic_store(&record->jweak, (uint64_t)(uintptr_t)weaks[n_weaks++]);
    atomic_store(&record->life, BBF_WORD(1, BBF_L_OPEN));
    return r;
}

static void fill(void)
{
    assert_int_equal(bbf_pins_fill(fake_env(), snapshot), BBF_OK);
}

static bool has_cause(const char *words)
{
    for (size_t i = 0; i < snapshot->reconciled.n_causes; i++)
        if (strstr(snapshot->reconciled.causes[i], words) != NULL)
            return true;
    return false;
}

static void assert_pool(enum bbf_pool pool, uint64_t chunks, uint64_t free_bytes, uint64_t by)
{
    const struct bbf_snap_pool *row = row_of(pool);

    assert_int_equal(row->pinned_chunks_, chunks);
    assert_int_equal(row->pinned_bytes_, chunks * CHUNK_BYTES);
    assert_int_equal(row->pinned_free_, free_bytes);
    assert_int_equal(row->pinned_by_, by);
}

/* Two chunks with 1 % in use; one at the limit and one below it; one that is full. */
static void chunks_are_counted_once_and_buffers_at_their_paths(void **state)
{
    (void)state;
    struct fake_object *shared = make_chunk(BBF_POOL_POOLED, 99000),
                       *alone = make_chunk(BBF_POOL_POOLED, 99000);

    open_life(BBF_POOL_POOLED, shared, PATH_A, 40);
    open_life(BBF_POOL_POOLED, shared, PATH_B, 50);
    open_life(BBF_POOL_POOLED, shared, PATH_A, 200);
    open_life(BBF_POOL_POOLED, alone, PATH_A, 100);
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 75001), PATH_B, 30);
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 75000), PATH_B, 31);
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 0), PATH_B, 32);
    fill();
    assert_pool(BBF_POOL_POOLED, 3, 99000 + 99000 + 75001, 5);
    assert_int_equal(snapshot->n_pins, 2);
    const struct bbf_snap_pin *a = &snapshot->pins[0], *b = &snapshot->pins[1];
    assert_int_equal(a->node, PATH_A);
    assert_int_equal(a->buffers, 3);
    assert_int_equal(a->bytes, 340);
    assert_int_equal(a->smallest, 40);
    assert_int_equal(a->largest, 200);
    assert_int_equal(a->chunks, 2);
    assert_int_equal(a->reserved, 2 * CHUNK_BYTES);
    assert_int_equal(b->node, PATH_B);
    assert_int_equal(b->buffers, 2);
    assert_int_equal(b->bytes, 80);
    assert_int_equal(b->chunks, 1);
    assert_int_equal(snapshot->reconciled.n_causes, 0);
    assert_int_equal(row_of(BBF_POOL_UNPOOLED)->pinned_chunks_, BBF_NOT_TOLD);
    assert_int_equal(fake_globals(), 0);
}

static void a_chunk_is_counted_at_the_path_with_most_of_its_buffers(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct fake_object *chunk = make_chunk(BBF_POOL_POOLED, 99000);
        open_life(BBF_POOL_POOLED, chunk, PATH_B, 40);
        open_life(BBF_POOL_POOLED, chunk, PATH_A, 40);
        open_life(BBF_POOL_POOLED, chunk, i % 2 == 0 ? PATH_A : PATH_B, 40);
        open_life(BBF_POOL_POOLED, chunk, PATH_A, 40);
        open_life(BBF_POOL_POOLED, chunk, (uint32_t)(PATH_B + i), 40);
    }
    fill();
    assert_pool(BBF_POOL_POOLED, 8, 8 * 99000, 40);
    assert_int_equal(snapshot->pins[0].node, PATH_A);
    assert_int_equal(snapshot->pins[0].chunks, 8);
    assert_int_equal(snapshot->pins[1].chunks, 0);
}

static void an_adaptive_chunk_is_judged_by_what_is_open_in_it(void **state)
{
    (void)state;
    struct fake_object *empty = make_chunk(BBF_POOL_ADAPTIVE, 0),
                       *used = make_chunk(BBF_POOL_ADAPTIVE, 0);

    open_life(BBF_POOL_ADAPTIVE, empty, PATH_A, 1000);
    open_life(BBF_POOL_ADAPTIVE, used, PATH_A, 20000);
    open_life(BBF_POOL_ADAPTIVE, used, PATH_A, 5000);
    fill();
    assert_pool(BBF_POOL_ADAPTIVE, 1, CHUNK_BYTES - 1000, 1);
    assert_int_equal(snapshot->n_pins, 1);
}

/* Most of an adaptive chunk's buffers may be among those that were passed over. */
static void a_sample_says_nothing_of_adaptive_chunks(void **state)
{
    (void)state;
    snapshot->reconciled.sampled = true;
    open_life(BBF_POOL_ADAPTIVE, make_chunk(BBF_POOL_ADAPTIVE, 0), PATH_A, 1000);
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 99000), PATH_B, 40);
    fill();
    assert_pool(BBF_POOL_ADAPTIVE, 0, 0, 0);
    assert_pool(BBF_POOL_POOLED, 1, 99000, 1);
    assert_true(has_cause("adaptive ones are not counted"));
}

static void each_missing_field_is_a_cause_and_no_chunk(void **state)
{
    static const char *const fields[] = {"chunk", "length", "maxLength", "chunkSize", "freeBytes"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        teardown(state);
        without = fields[i];
        begin();
        open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 99000), PATH_A, 40);
        fill();
        if (row_of(BBF_POOL_POOLED)->pinned_chunks_ != 0 ||
            !has_cause("1 open buffer was left out"))
            fail_msg("without %s", without);
    }
}

/* Numbers that no chunk has: a field of another meaning in a Netty to come. */
static void absurd_sizes_are_not_believed(void **state)
{
    (void)state;
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, -1), PATH_A, 40);
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, CHUNK_BYTES + 1), PATH_A, 40);
    fill();
    assert_pool(BBF_POOL_POOLED, 0, 0, 0);
    assert_true(has_cause("2 open buffers were left out"));
}

static void what_was_released_or_collected_is_no_holder(void **state)
{
    (void)state;
    open_life(BBF_POOL_POOLED, NULL, PATH_A, 40); /* given back: its chunk is null */
    uint32_t r = open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 99000), PATH_A, 40);
    atomic_store(&bbf_record_at(bbf_agent.tracker, r)->life, BBF_WORD(1, 0));
    fill();
    assert_pool(BBF_POOL_POOLED, 0, 0, 0);
    assert_int_equal(snapshot->n_pins, 0);
    assert_int_equal(snapshot->reconciled.n_causes, 0);
}

static void without_room_nothing_is_counted_and_that_is_said(void **state)
{
    (void)state;
    uint64_t before = atomic_load(&bbf_agent.tracker->budget.used);

    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 99000), PATH_A, 40);
    uint64_t limit = atomic_exchange(&bbf_agent.tracker->budget.limit, before);
    fill();
    assert_true(has_cause("memory= has no room"));
    assert_int_equal(row_of(BBF_POOL_POOLED)->pinned_chunks_, BBF_NOT_TOLD);
    atomic_store(&bbf_agent.tracker->budget.limit, limit);
    uint64_t used = atomic_load(&bbf_agent.tracker->budget.used);
    fill();
    assert_pool(BBF_POOL_POOLED, 1, 99000, 1);
    assert_int_equal(atomic_load(&bbf_agent.tracker->budget.used), used);
}

static void begin_with_lives(void)
{
    begin();
    open_life(BBF_POOL_POOLED, make_chunk(BBF_POOL_POOLED, 99000), PATH_A, 40);
    open_life(BBF_POOL_ADAPTIVE, make_chunk(BBF_POOL_ADAPTIVE, 0), PATH_A, 40);
}

static void work(void)
{
    (void)bbf_pins_fill(fake_env(), snapshot);
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    without = NULL;
    assert_in_range(world_each_fault(begin_with_lives, work, end), 20, 5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chunks_are_counted_once_and_buffers_at_their_paths),
        TEST(a_chunk_is_counted_at_the_path_with_most_of_its_buffers),
        TEST(an_adaptive_chunk_is_judged_by_what_is_open_in_it),
        TEST(a_sample_says_nothing_of_adaptive_chunks),
        TEST(each_missing_field_is_a_cause_and_no_chunk),
        TEST(absurd_sizes_are_not_believed),
        TEST(what_was_released_or_collected_is_no_holder),
        TEST(without_room_nothing_is_counted_and_that_is_said),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
