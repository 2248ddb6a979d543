/* link: bbf_agent fake_jvm */
/* agent/jvm/heap.c: strong slots and weak references as the scan asks for them, also where the JVM
 * has no memory. */
#include "agent/jvm/heap.c"

#include "tests/unit/agent/agent_world.h"

enum { RECORD = 3 * 65536 + 4711 };

static struct bbf_jvm_refs heap;
static struct fake_object *slots, *chunk, *buffer;

static void begin(void)
{
    world_begin();
    memset(chunks, 0, sizeof chunks);
    weak_class = NULL;
    weak_init = NULL;
    struct fake_class *weak = fake_class("java/lang/ref/WeakReference", NULL);
    fake_field(weak, "referent", "Ljava/lang/Object;");
    fake_method(weak, "<init>", "(Ljava/lang/Object;)V", 0);
    slots = fake_array("[[Ljava/lang/Object;", BBF_L_CHUNKS);
    chunk = fake_array("[Ljava/lang/Object;", 65536);
    buffer = fake_object(world_class("io/netty/buffer/PooledHeapByteBuf", NULL));
    fake_element(slots, RECORD >> BBF_L_CHUNK_SHIFT, chunk);
    bbf_agent.slots = fake_global(slots);
}

static int setup(void **state)
{
    (void)state;
    begin();
    bbf_heap_init(&heap, fake_env());
    return 0;
}

static int teardown(void **state)
{
    /* The chunk and java.lang.ref.WeakReference, once each, for good. */
    assert_in_range(fake_globals(), 1, 2);
    fake_keep_globals();
    return world_teardown(state);
}

static void a_slot_becomes_a_weak_reference_and_is_emptied(void **state)
{
    bool empty = false;
    (void)state;
    fake_element(chunk, (size_t)index_of(RECORD), buffer);
    uint64_t weak = heap.weaken(heap.ctx, RECORD, &empty);
    assert_true(weak > BBF_STILL_STRONG); /* no number that means something else */
    assert_false(empty);
    assert_true(heap.clear(heap.ctx, RECORD));
    assert_null(fake_element_of(chunk, (size_t)index_of(RECORD)));
    assert_false(heap.collected(heap.ctx, weak));
    fake_collect(buffer);
    assert_true(heap.collected(heap.ctx, weak));
    heap.forget(heap.ctx, weak);
    assert_int_equal(fake_weaks(), 0);
}

static void an_empty_slot_is_said_and_a_missing_chunk_is_not(void **state)
{
    bool empty = false;
    (void)state;
    assert_int_equal(heap.weaken(heap.ctx, RECORD, &empty), 0);
    assert_true(empty);
    empty = false;
    assert_int_equal(heap.weaken(heap.ctx, 1, &empty), 0); /* its chunk was never made */
    assert_false(empty);
    assert_false(heap.clear(heap.ctx, 1));
    assert_false(heap.soften(heap.ctx, 1));
}

static void without_memory_a_life_has_no_weak_reference_and_keeps_its_slot(void **state)
{
    bool empty = false;
    (void)state;
    fake_element(chunk, (size_t)index_of(RECORD), buffer);
    fake_fail("NewWeakGlobalRef", 1);
    assert_int_equal(heap.weaken(heap.ctx, RECORD, &empty), 0);
    assert_false(empty);
    assert_false(fake_is_pending());
    fake_fail("SetObjectArrayElement", 1);
    assert_false(heap.clear(heap.ctx, RECORD));
    assert_false(fake_is_pending());
    assert_ptr_equal(fake_element_of(chunk, (size_t)index_of(RECORD)), buffer);
    fake_fail("NewObject", 1);
    assert_false(heap.soften(heap.ctx, RECORD));
    assert_ptr_equal(fake_element_of(chunk, (size_t)index_of(RECORD)), buffer);
    assert_true(heap.clear(heap.ctx, RECORD));
}

static void a_softened_slot_holds_a_weak_reference_to_the_object(void **state)
{
    (void)state;
    fake_element(chunk, (size_t)index_of(RECORD), buffer);
    assert_true(heap.soften(heap.ctx, RECORD));
    struct fake_object *soft = fake_element_of(chunk, (size_t)index_of(RECORD));
    assert_non_null(soft);
    assert_ptr_not_equal(soft, buffer);
}

/* The place of a record is the shim's slotOffset(): no two records share one. */
static void every_record_of_a_chunk_has_a_slot_of_its_own(void **state)
{
    static bool used[65536];
    (void)state;
    memset(used, 0, sizeof used);
    for (uint32_t record = 0; record < 65536; record++) {
        jsize i = index_of(record);
        assert_in_range(i, 0, 65535);
        assert_false(used[i]);
        used[i] = true;
    }
    /* Keeps the count of the teardown. */
    bool empty;
    (void)heap.weaken(heap.ctx, RECORD, &empty);
}

static void use_all(void)
{
    bool empty;
    bbf_heap_init(&heap, fake_env());
    fake_element(chunk, (size_t)index_of(RECORD), buffer);
    uint64_t weak = heap.weaken(heap.ctx, RECORD, &empty);
    if (weak != 0)
        heap.forget(heap.ctx, weak);
    (void)heap.soften(heap.ctx, RECORD);
    (void)heap.clear(heap.ctx, RECORD);
}

static void done(void)
{
    fake_keep_globals();
    world_free();
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, use_all, done), 6, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_slot_becomes_a_weak_reference_and_is_emptied, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_empty_slot_is_said_and_a_missing_chunk_is_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            without_memory_a_life_has_no_weak_reference_and_keeps_its_slot, setup, teardown),
        cmocka_unit_test_setup_teardown(a_softened_slot_holds_a_weak_reference_to_the_object, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_record_of_a_chunk_has_a_slot_of_its_own, setup,
                                        teardown),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
