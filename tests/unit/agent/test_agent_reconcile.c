/* link: bbf_agent fake_jvm */
/*
 * agent/report/reconcile.c: Netty's own numbers, read from private fields that may be missing, null
 * or of another type. A wrong number is worse than none.
 */
#include "agent/report/reconcile.h"

#include "tests/unit/agent/agent_world.h"

static struct bbf_snapshot *snapshot;
static struct fake_class *pooled, *arena, *list, *chunk;
static struct fake_object *allocator, *direct_arena, *first_list;

/* Fields of PoolChunk, PoolArena and PooledByteBufAllocator; what is in `without` they lack. */
static const char *without;

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

static void refer(struct fake_object *o, const char *name, struct fake_object *to)
{
    if (without == NULL || strcmp(without, name) != 0)
        fake_refer(o, name, to);
}

static const char *const lists[] = {"qInit", "q000", "q025", "q050", "q075", "q100"};
static const char *const counters[] = {
    "allocationsSmall", "deallocationsSmall", "allocationsNormal", "deallocationsNormal",
    "allocationsHuge",  "deallocationsHuge",  "activeBytesHuge"};

static void make_classes(void)
{
    struct fake_class *atomic = fake_class("java/util/concurrent/atomic/AtomicInteger", NULL);
    fake_field(atomic, "value", "I");
    pooled = world_class("io/netty/buffer/PooledByteBufAllocator", NULL);
    fake_static(pooled, "DEFAULT", "Lio/netty/buffer/PooledByteBufAllocator;");
    add_field(pooled, "directArenas", "[Lio/netty/buffer/PoolArena;");
    add_field(pooled, "heapArenas", "[Lio/netty/buffer/PoolArena;");
    arena = world_class("io/netty/buffer/PoolArena", NULL);
    add_field(arena, "parent", "Lio/netty/buffer/PooledByteBufAllocator;");
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        add_field(arena, counters[i], "J");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        add_field(arena, lists[i], "Lio/netty/buffer/PoolChunkList;");
    add_field(arena, "numThreadCaches", "Ljava/util/concurrent/atomic/AtomicInteger;");
    list = world_class("io/netty/buffer/PoolChunkList", NULL);
    add_field(list, "head", "Lio/netty/buffer/PoolChunk;");
    chunk = world_class("io/netty/buffer/PoolChunk", NULL);
    add_field(chunk, "chunkSize", "I");
    add_field(chunk, "freeBytes", "I");
    add_field(chunk, "pinnedBytes", "J");
    add_field(chunk, "next", "Lio/netty/buffer/PoolChunk;");
    add_field(chunk, "arena", "Lio/netty/buffer/PoolArena;");
}

static struct fake_object *make_chunk(int64_t free_bytes, int64_t pinned, struct fake_object *next)
{
    struct fake_object *o = fake_object(chunk);
    set_number(o, "chunkSize", 4096);
    set_number(o, "freeBytes", free_bytes);
    set_number(o, "pinnedBytes", pinned);
    refer(o, "next", next);
    return o;
}

/* One direct arena: 7 buffers allocated, 4 given back; chunks of 4,096 with 1,000 and 500 in use.
 */
static void begin(void)
{
    world_begin();
    world_rules("include=com.app");
    make_classes();
    struct fake_object *caches =
        fake_object(fake_find_class("java/util/concurrent/atomic/AtomicInteger"));
    fake_number(caches, "value", 2);
    direct_arena = fake_object(arena);
    refer(direct_arena, "numThreadCaches", caches);
    set_number(direct_arena, "allocationsSmall", 5);
    set_number(direct_arena, "allocationsNormal", 2);
    set_number(direct_arena, "deallocationsSmall", 4);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct fake_object *l = fake_object(list);
        refer(direct_arena, lists[i], l);
        if (i == 0)
            first_list = l;
    }
    refer(first_list, "head", make_chunk(3096, 900, make_chunk(3596, 100, NULL)));
    struct fake_object *arenas = fake_array("[Lio/netty/buffer/PoolArena;", 2);
    fake_element(arenas, 0, direct_arena); /* the other is null */
    allocator = fake_object(pooled);
    refer(allocator, "directArenas", arenas);
    refer(allocator, "heapArenas", fake_array("[Lio/netty/buffer/PoolArena;", 0));
    refer(direct_arena, "parent", allocator);
    fake_static_refer(pooled, "DEFAULT", allocator);
    snapshot = bbf_snapshot_new();
    assert_non_null(snapshot);
}

static void end(void)
{
    bbf_snapshot_free(snapshot);
    bbf_reconcile_forget(fake_env());
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

static const struct bbf_snap_pool *fill(void)
{
    assert_int_equal(bbf_reconcile_fill(fake_env(), snapshot), BBF_OK);
    for (size_t i = 0; i < snapshot->reconciled.n_pools; i++)
        if (snapshot->reconciled.pools[i].pool == BBF_POOL_POOLED &&
            snapshot->reconciled.pools[i].memory == BBF_MEM_DIRECT)
            return &snapshot->reconciled.pools[i];
    return NULL;
}

static bool has_cause(const char *words)
{
    for (size_t i = 0; i < snapshot->reconciled.n_causes; i++)
        if (strstr(snapshot->reconciled.causes[i], words) != NULL)
            return true;
    return false;
}

static void the_numbers_of_an_arena_add_up(void **state)
{
    (void)state;
    const struct bbf_snap_pool *row = fill();
    assert_non_null(row);
    assert_int_equal(row->netty_lives_, 3);
    assert_int_equal(row->netty_bytes_, 1000);
    assert_int_equal(row->netty_used_, 1500);
    assert_int_equal(row->reserved_, 8192);
    assert_int_equal(row->thread_caches_, 2);
    assert_int_equal(row->lives_, 0);
    assert_true(snapshot->reconciled.read);
    assert_true(has_cause("pooled direct: "));
}

static void without_netty_nothing_was_read(void **state)
{
    (void)state;
    fake_static_refer(pooled, "DEFAULT", NULL);
    assert_null(fill());
    assert_false(snapshot->reconciled.read);
    assert_int_equal(snapshot->reconciled.n_causes, 0);
    assert_int_equal(snapshot->reconciled.used_direct_, BBF_NOT_TOLD);
}

static struct fake_object *counter_of(int64_t value)
{
    struct fake_class *class = fake_find_class("java/util/concurrent/atomic/AtomicLong");
    if (class == NULL) {
        class = fake_class("java/util/concurrent/atomic/AtomicLong", NULL);
        fake_field(class, "value", "J");
    }
    struct fake_object *o = fake_object(class);
    fake_number(o, "value", value);
    return o;
}

static struct fake_class *counting(const char *name, int64_t used, int64_t limit)
{
    struct fake_class *class = world_class(name, NULL);
    fake_static(class, "DIRECT_MEMORY_COUNTER", "Ljava/util/concurrent/atomic/AtomicLong;");
    fake_static(class, "DIRECT_MEMORY_LIMIT", "J");
    fake_static_refer(class, "DIRECT_MEMORY_COUNTER", counter_of(used));
    fake_static_number(class, "DIRECT_MEMORY_LIMIT", limit);
    return class;
}

static const struct bbf_snap_reconciled *again(void)
{
    bbf_snapshot_free(snapshot);
    snapshot = bbf_snapshot_new();
    (void)fill();
    return &snapshot->reconciled;
}

/* Of one Netty; two have a limit each, and their sum would be none. */
static void the_limit_of_direct_memory_is_that_of_one_netty(void **state)
{
    (void)state;
    struct fake_class *one = counting("io/netty/util/internal/PlatformDependent", 4096, 1 << 20);
    assert_int_equal(again()->used_direct_, 4096);
    assert_int_equal(again()->direct_limit_, 1 << 20);
    fake_static_number(one, "DIRECT_MEMORY_LIMIT", -1);
    assert_int_equal(again()->direct_limit_, BBF_NOT_TOLD);
    fake_static_number(one, "DIRECT_MEMORY_LIMIT", 1 << 20);
    (void)counting("com/app/netty/util/internal/PlatformDependent", 1000, 1 << 20);
    assert_int_equal(again()->used_direct_, 5096);
    assert_int_equal(again()->direct_limit_, BBF_NOT_TOLD);
}

/* -Dio.netty.maxDirectMemory=0: Netty leaves the counting to java.nio; its limit is not used. */
static void without_its_counter_a_netty_has_no_limit(void **state)
{
    (void)state;
    struct fake_class *one = counting("io/netty/util/internal/PlatformDependent", 4096, 1 << 20);
    fake_static_refer(one, "DIRECT_MEMORY_COUNTER", NULL);
    assert_int_equal(again()->used_direct_, BBF_NOT_TOLD);
    assert_int_equal(again()->direct_limit_, BBF_NOT_TOLD);
}

/* Before java.nio allocates, MAX_MEMORY may be what it was before the JVM read its options. */
static void java_nios_limit_counts_once_it_has_memory(void **state)
{
    (void)state;
    struct fake_class *bits = world_class("java/nio/Bits", NULL);
    struct fake_object *reserved = counter_of(0);
    fake_static(bits, "RESERVED_MEMORY", "Ljava/util/concurrent/atomic/AtomicLong;");
    fake_static(bits, "MAX_MEMORY", "J");
    fake_static_refer(bits, "RESERVED_MEMORY", reserved);
    fake_static_number(bits, "MAX_MEMORY", 64 << 20);
    assert_int_equal(again()->nio_limit_, BBF_NOT_TOLD);
    fake_number(reserved, "value", 1);
    assert_int_equal(again()->nio_reserved_, 1);
    assert_int_equal(again()->nio_limit_, 64 << 20);
}

/* A class that is loaded and not initialised has no DEFAULT yet; asking must not initialise it. */
static void a_class_that_is_not_initialised_is_left_alone(void **state)
{
    (void)state;
    fake_status(pooled, JVMTI_CLASS_STATUS_PREPARED);
    assert_null(fill());
    assert_int_equal(fake_calls("GetStaticObjectField"), 0);
}

/* Each field may be missing, or be of another type, as in a Netty to come. */
static void a_missing_field_makes_its_number_unknown_and_no_other(void **state)
{
    static const struct {
        const char *field;
        bool lives, bytes, used, reserved;
    } table[] = {
        {"allocationsSmall", false, true, true, true},
        {"deallocationsNormal", false, true, true, true},
        {"activeBytesHuge", true, false, false, false},
        {"pinnedBytes", true, false, true, true},
        {"chunkSize", true, false, false, false},
        {"freeBytes", true, false, false, false},
        {"qInit", true, false, false, false},
        {"q100", true, false, false, false},
        {"numThreadCaches", true, true, true, true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        teardown(state);
        without = table[i].field;
        begin();
        const struct bbf_snap_pool *row = fill();
        if (row == NULL)
            fail_msg("no row without %s", without);
        if ((row->netty_lives_ == 3) != table[i].lives ||
            (row->netty_lives_ == BBF_NOT_TOLD) == table[i].lives)
            fail_msg("lives without %s", without);
        if ((row->netty_bytes_ == BBF_NOT_TOLD) == table[i].bytes)
            fail_msg("bytes without %s", without);
        if ((row->netty_used_ == BBF_NOT_TOLD) == table[i].used)
            fail_msg("used without %s", without);
        if ((row->reserved_ == BBF_NOT_TOLD) == table[i].reserved)
            fail_msg("reserved without %s", without);
    }
}

static void without_its_arenas_an_allocator_says_nothing(void **state)
{
    teardown(state);
    without = "directArenas";
    begin();
    fake_refer(allocator, "heapArenas", NULL);
    assert_null(fill());
    assert_int_equal(snapshot->reconciled.n_pools, 0);
    assert_true(snapshot->reconciled.read);
}

/* Netty's lists are changed while they are read: a chunk may lead back to itself. */
static void a_list_without_an_end_is_cut_and_said(void **state)
{
    (void)state;
    struct fake_object *loop = make_chunk(0, 0, NULL);
    fake_refer(loop, "next", loop);
    fake_refer(first_list, "head", loop);
    const struct bbf_snap_pool *row = fill();
    assert_true(row == NULL || row->netty_lives_ == BBF_NOT_TOLD);
    assert_true(has_cause("Netty's numbers were not read to the end"));
}

static void a_torn_count_is_not_below_nothing(void **state)
{
    (void)state;
    fake_number(direct_arena, "deallocationsSmall", 100); /* more than were given */
    const struct bbf_snap_pool *row = fill();
    assert_int_equal(row->netty_lives_, 0);
}

/* ---- our own lives ---- */

/* An open life of a buffer of the class, with a weak reference to it. */
static jweak open_life(struct fake_object *buffer, const char *class_name, uint32_t bytes)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    uint32_t class = bbf_class_intern(t, class_name), r = bbf_record_bump(t);
    struct bbf_record *record = bbf_record_at(t, r);
    bbf_owned_class(t, class,
                    strstr(class_name, "Adaptive") != NULL ? BBF_POOL_ADAPTIVE : BBF_POOL_POOLED);
    jweak weak = (*fake_env())->NewWeakGlobalRef(fake_env(), fake_local(buffer));
    atomic_store(&record->refs,
                 BBF_WORD(1, class << BBF_L_CLASS_SHIFT | BBF_MEM_DIRECT << BBF_L_MEM_SHIFT));
    atomic_store(&record->size, BBF_WORD(1, bytes));
    atomic_store(&record->jweak, (uint64_t)(uintptr_t)weak);
    atomic_store(&record->life, BBF_WORD(1, BBF_L_OPEN));
    return weak;
}

static struct fake_object *buffer_of(struct fake_object *in_chunk)
{
    struct fake_class *buffer = world_class("io/netty/buffer/PooledDirectByteBuf", NULL);
    fake_field(buffer, "chunk", "Lio/netty/buffer/PoolChunk;");
    struct fake_object *o = fake_object(buffer);
    fake_refer(o, "chunk", in_chunk);
    return o;
}

static void an_allocator_is_found_by_an_open_buffer_and_remembered(void **state)
{
    (void)state;
    fake_static_refer(pooled, "DEFAULT", NULL);
    struct fake_object *used = make_chunk(0, 0, NULL);
    fake_refer(used, "arena", direct_arena);
    jweak weak = open_life(buffer_of(used), "io/netty/buffer/PooledDirectByteBuf", 900);
    const struct bbf_snap_pool *row = fill();
    assert_non_null(row);
    assert_int_equal(row->lives_, 1);
    assert_int_equal(row->netty_lives_, 3);
    assert_int_equal(fake_weaks(), 2); /* the buffer's, and the allocator's */
    /* The next report finds it without any open buffer. */
    atomic_store(&bbf_record_at(bbf_agent.tracker, BBF_L_FIRST_RECORD)->life, 0);
    (*fake_env())->DeleteWeakGlobalRef(fake_env(), weak);
    bbf_snapshot_free(snapshot);
    snapshot = bbf_snapshot_new();
    row = fill();
    assert_non_null(row);
    assert_int_equal(row->netty_lives_, 3);
    /* Until the application drops it. */
    fake_collect(allocator);
    bbf_snapshot_free(snapshot);
    snapshot = bbf_snapshot_new();
    assert_null(fill());
    assert_int_equal(fake_weaks(), 0);
}

static void a_buffer_that_was_collected_leads_nowhere(void **state)
{
    (void)state;
    fake_static_refer(pooled, "DEFAULT", NULL);
    struct fake_object *buffer = buffer_of(make_chunk(0, 0, NULL));
    jweak weak = open_life(buffer, "io/netty/buffer/PooledDirectByteBuf", 900);
    fake_collect(buffer);
    const struct bbf_snap_pool *row = fill();
    assert_non_null(row); /* ours alone */
    assert_int_equal(row->lives_, 1);
    assert_int_equal(row->netty_lives_, BBF_NOT_TOLD);
    (*fake_env())->DeleteWeakGlobalRef(fake_env(), weak);
}

static void an_adaptive_pool_says_what_it_has_reserved(void **state)
{
    (void)state;
    fake_static_refer(pooled, "DEFAULT", NULL);
    struct fake_class *registry = world_class("io/netty/buffer/AdaptivePoolingAllocator$Reg", NULL);
    fake_field(registry, "totalCapacity", "J");
    struct fake_class *source =
        world_class("io/netty/buffer/AdaptiveByteBufAllocator$DirectChunkAllocator", NULL);
    struct fake_class *pool = world_class("io/netty/buffer/AdaptivePoolingAllocator", NULL);
    fake_field(pool, "chunkRegistry", "Lio/netty/buffer/AdaptivePoolingAllocator$Reg;");
    fake_field(pool, "chunkAllocator", "Lio/netty/buffer/AdaptiveByteBufAllocator$Chunks;");
    struct fake_class *piece = world_class("io/netty/buffer/AdaptivePoolingAllocator$Chunk", NULL);
    fake_field(piece, "allocator", "Lio/netty/buffer/AdaptivePoolingAllocator;");
    struct fake_class *buffer = world_class("io/netty/buffer/AdaptiveByteBuf", NULL);
    fake_field(buffer, "chunk", "Lio/netty/buffer/AdaptivePoolingAllocator$Chunk;");
    struct fake_object *p = fake_object(pool), *r = fake_object(registry), *c = fake_object(piece),
                       *b = fake_object(buffer);
    fake_number(r, "totalCapacity", 65536);
    fake_refer(p, "chunkRegistry", r);
    fake_refer(p, "chunkAllocator", fake_object(source));
    fake_refer(c, "allocator", p);
    fake_refer(b, "chunk", c);
    jweak weak = open_life(b, "io/netty/buffer/AdaptiveByteBuf", 100);
    (void)fill();
    assert_int_equal(snapshot->reconciled.n_pools, 1);
    assert_int_equal(snapshot->reconciled.pools[0].pool, BBF_POOL_ADAPTIVE);
    assert_int_equal(snapshot->reconciled.pools[0].memory, BBF_MEM_DIRECT);
    assert_int_equal(snapshot->reconciled.pools[0].reserved_, 65536);
    (*fake_env())->DeleteWeakGlobalRef(fake_env(), weak);
}

static void the_jvms_own_numbers_are_read(void **state)
{
    (void)state;
    struct fake_class *atomic = fake_class("java/util/concurrent/atomic/AtomicLong", NULL);
    fake_field(atomic, "value", "J");
    struct fake_class *bits = fake_class("java/nio/Bits", NULL);
    fake_static(bits, "RESERVED_MEMORY", "Ljava/util/concurrent/atomic/AtomicLong;");
    fake_static(bits, "TOTAL_CAPACITY", "J"); /* another type than it has */
    struct fake_object *reserved = fake_object(atomic);
    fake_number(reserved, "value", 77);
    fake_static_refer(bits, "RESERVED_MEMORY", reserved);
    (void)fill();
    assert_int_equal(snapshot->reconciled.nio_reserved_, 77);
    assert_int_equal(snapshot->reconciled.nio_capacity_, BBF_NOT_TOLD);
    assert_int_equal(snapshot->reconciled.nio_buffers_, BBF_NOT_TOLD);
}

static void work(void)
{
    (void)bbf_reconcile_fill(fake_env(), snapshot);
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    without = NULL;
    /* A reading ends after 200 ms, so on a machine that pauses it makes fewer calls. */
    unsigned calls = 0;
    for (int i = 0; i < 3 && calls < 100; i++)
        calls = (unsigned)world_each_fault(begin, work, end);
    assert_in_range(calls, 100, 5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_numbers_of_an_arena_add_up),
        TEST(without_netty_nothing_was_read),
        TEST(a_class_that_is_not_initialised_is_left_alone),
        TEST(a_missing_field_makes_its_number_unknown_and_no_other),
        TEST(without_its_arenas_an_allocator_says_nothing),
        TEST(a_list_without_an_end_is_cut_and_said),
        TEST(a_torn_count_is_not_below_nothing),
        TEST(an_allocator_is_found_by_an_open_buffer_and_remembered),
        TEST(a_buffer_that_was_collected_leads_nowhere),
        TEST(an_adaptive_pool_says_what_it_has_reserved),
        TEST(the_jvms_own_numbers_are_read),
        TEST(the_limit_of_direct_memory_is_that_of_one_netty),
        TEST(without_its_counter_a_netty_has_no_limit),
        TEST(java_nios_limit_counts_once_it_has_memory),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
