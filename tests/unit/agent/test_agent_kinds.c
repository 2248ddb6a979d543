/* link: bbf_agent fake_jvm */
/* agent/classes/kinds.c: what a class is to the shim, by its names, fields and ancestors alone. */
#include "agent/classes/kinds.h"

#include "agent/boot/shim.h"
#include "instrument/netty.h"
#include "tests/unit/agent/agent_world.h"

static struct fake_class *bytebuf, *abstract, *counted, *holder;

static void begin(void)
{
    world_begin();
    struct fake_class *refs = world_class("io/netty/util/ReferenceCounted", NULL);
    holder = world_class("io/netty/buffer/ByteBufHolder", NULL);
    fake_implements(holder, refs);
    bytebuf = world_class("io/netty/buffer/ByteBuf", NULL);
    fake_field(bytebuf, "$bbf", "J");
    abstract = world_class("io/netty/buffer/AbstractByteBuf", bytebuf);
    counted = world_class("io/netty/buffer/AbstractReferenceCountedByteBuf", abstract);
    fake_field(counted, "refCnt", "I");
    (void)fake_method(counted, "handleRelease", "(Z)Z", 2);
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

/* As from the native: its local references end with it. */
static uint64_t classify(struct fake_class *class)
{
    fake_enter_native();
    uint64_t kind = bbf_kind_classify(fake_env(), fake_local_class(class));
    fake_leave_native();
    assert_false(fake_is_pending());
    return kind;
}

static uint32_t bytebuf_depth(uint64_t kind)
{
    return kind >> BBF_L_KIND_BYTEBUF_DEPTH & BBF_L_KIND_NO_DEPTH;
}

static void a_counted_buffer_is_an_owner(void **state)
{
    (void)state;
    struct fake_class *pooled = world_class("io/netty/buffer/PooledByteBuf", counted);
    struct fake_class *heap = world_class("io/netty/buffer/PooledHeapByteBuf", pooled);
    uint64_t kind = classify(heap);
    assert_true((kind & BBF_L_KIND_OWNER) == BBF_L_KIND_OWNER);
    assert_int_equal(kind & (BBF_L_KIND_NEVER | BBF_L_KIND_OWN), 0);
    assert_int_not_equal(kind & BBF_L_KIND_COUNT_INT, 0);
    assert_int_equal(bytebuf_depth(kind), 4);
    assert_int_equal(kind >> BBF_L_KIND_MEM_SHIFT & 3, BBF_MEM_HEAP);
    assert_int_equal(kind & BBF_L_KIND_CLASS, classify(heap) & BBF_L_KIND_CLASS);
}

static void the_count_of_netty_4_2_is_an_object(void **state)
{
    (void)state;
    struct fake_class *new = world_class("org/shaded/netty/buffer/ByteBuf", NULL);
    new = world_class("org/shaded/netty/buffer/AbstractReferenceCountedByteBuf", new);
    fake_field(new, "refCnt", "Lorg/shaded/netty/util/internal/RefCnt;");
    (void)fake_method(new, "handleRelease", "(Z)Z", 2);
    uint64_t kind = classify(world_class("org/shaded/netty/buffer/UnpooledHeapByteBuf", new));
    assert_int_not_equal(kind & BBF_L_KIND_COUNT_REF, 0);
    assert_int_equal(kind & BBF_L_KIND_COUNT_INT, 0);
}

/* Only such a count is known to be odd from the last release on (4.1.37). */
static void a_count_by_an_updater_is_doubled(void **state)
{
    (void)state;
    struct fake_class *counts = world_class("org/new/netty/buffer/ByteBuf", NULL);
    counts = world_class("org/new/netty/buffer/AbstractReferenceCountedByteBuf", counts);
    fake_field(counts, "refCnt", "I");
    (void)fake_method(counts, "handleRelease", "(Z)Z", 2);
    struct fake_class *plain = world_class("org/new/netty/buffer/OldHeapByteBuf", counts);
    assert_int_equal(classify(plain) & BBF_L_KIND_DOUBLED, 0);
    fake_static(counts, "updater", "Lorg/new/netty/util/internal/ReferenceCountUpdater;");
    uint64_t kind = classify(world_class("org/new/netty/buffer/NewHeapByteBuf", counts));
    assert_int_not_equal(kind & BBF_L_KIND_DOUBLED, 0);
    assert_int_not_equal(kind & BBF_L_KIND_COUNT_INT, 0);
}

/* Where no release is seen nothing may be called a leak. Before 4.1.35 releases are, counts are not
 * read. */
static void a_count_without_a_hooked_release_is_foreign(void **state)
{
    (void)state;
    struct fake_class *none = world_class("org/new/netty/buffer/ByteBuf", NULL);
    none = world_class("org/new/netty/buffer/AbstractReferenceCountedByteBuf", none);
    fake_field(none, "refCnt", "I");
    uint64_t kind = classify(world_class("org/new/netty/buffer/UnpooledHeapByteBuf", none));
    assert_int_not_equal(kind & BBF_L_KIND_FOREIGN, 0);
    assert_false((kind & BBF_L_KIND_OWNER) == BBF_L_KIND_OWNER);
    assert_int_equal(kind & BBF_L_KIND_COUNT_INT, 0);
    struct fake_class *old = world_class("org/old/netty/buffer/ByteBuf", NULL);
    old = world_class("org/old/netty/buffer/AbstractReferenceCountedByteBuf", old);
    fake_field(old, "refCnt", "I");
    fake_field(old, "refCntUpdater", "Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;");
    kind = classify(world_class("org/old/netty/buffer/UnpooledHeapByteBuf", old));
    assert_true((kind & BBF_L_KIND_OWNER) == BBF_L_KIND_OWNER);
    assert_int_equal(kind & (BBF_L_KIND_FOREIGN | BBF_L_KIND_COUNT_INT), 0);
}

static void what_is_no_buffer_is_nothing(void **state)
{
    (void)state;
    assert_int_equal(bytebuf_depth(classify(world_class("com/app/Main", NULL))),
                     BBF_L_KIND_NO_DEPTH);
    assert_int_equal(classify(world_class("com/app/ByteBuf", NULL)) & BBF_L_KIND_CLASS, 0);
    assert_int_equal(classify(fake_class("[B", NULL)) & BBF_L_KIND_OWNER, 0);
}

static void an_application_s_buffer_is_its_own_and_a_foreign_count_is_foreign(void **state)
{
    (void)state;
    uint64_t own = classify(world_class("com/app/MyBuf", counted));
    assert_int_not_equal(own & BBF_L_KIND_OWN, 0);
    assert_int_equal(atomic_load(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_OWN)), 1);
    uint64_t foreign = classify(world_class("com/app/MockBuf", bytebuf));
    assert_int_not_equal(foreign & BBF_L_KIND_FOREIGN, 0);
    assert_int_equal(foreign & BBF_L_KIND_OWN, 0);
}

static void a_release_that_only_answers_is_never_a_leak(void **state)
{
    static const unsigned char answers[] = {0x03, 0xac}, works[] = {0x03, 0xac, 0x2a};
    (void)state;
    struct fake_class *vertx = world_class("io/vertx/core/buffer/impl/VertxHeapByteBuf", abstract);
    fake_code(fake_method(vertx, "release", "()Z", 1), answers, sizeof answers);
    assert_int_not_equal(classify(vertx) & BBF_L_KIND_NEVER, 0);
    struct fake_class *other = world_class("com/app/Counting", abstract);
    fake_code(fake_method(other, "release", "()Z", 1), works, sizeof works);
    fake_code(fake_method(other, "release", "(I)Z", 1), answers, sizeof answers);
    assert_int_equal(classify(other) & BBF_L_KIND_NEVER, 0);
    struct fake_class *native = world_class("com/app/Native", abstract);
    fake_method(native, "release", "()Z", 0x101);
    assert_int_equal(classify(native) & BBF_L_KIND_NEVER, 0);
    assert_int_not_equal(
        classify(world_class("io/netty/buffer/EmptyByteBuf", bytebuf)) & BBF_L_KIND_NEVER, 0);
}

static void a_holder_is_known_by_its_field_or_by_its_interface(void **state)
{
    (void)state;
    struct fake_class *known = world_class("io/netty/buffer/DefaultByteBufHolder", NULL);
    fake_field(known, "data", "Lio/netty/buffer/ByteBuf;");
    fake_implements(known, holder);
    uint64_t kind = classify(world_class("com/app/Message", known));
    assert_int_not_equal(kind & BBF_L_KIND_HOLDER, 0);
    assert_int_equal(kind >> BBF_L_KIND_FIELD_DEPTH & BBF_L_KIND_NO_DEPTH, 1);
    struct fake_class *message = world_class("com/app/Interface", NULL);
    fake_implements(message, holder);
    struct fake_class *unknown = world_class("com/app/Frame", NULL);
    fake_implements(unknown, message);
    kind = classify(unknown);
    assert_int_not_equal(kind & BBF_L_KIND_UNKNOWN_HOLDER, 0);
}

/* A hostile class file may have any depth and any name. */
static void deep_and_long_classes_end(void **state)
{
    char name[700];
    struct fake_class *at = bytebuf, *interface = holder;
    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "com/app/Deep%d", i);
        at = world_class(name, at);
        snprintf(name, sizeof name, "com/app/Interface%d", i);
        struct fake_class *next = world_class(name, NULL);
        fake_implements(next, interface);
        interface = next;
    }
    (void)classify(at); /* deeper than is looked */
    struct fake_class *late = world_class("com/app/Late", NULL);
    fake_implements(late, interface);
    assert_int_equal(classify(late) & BBF_L_KIND_UNKNOWN_HOLDER, 0);
    memset(name, 'x', 599);
    name[599] = '\0';
    memcpy(name, "io/netty/buffer/", 16);
    name[590] = '\0';
    assert_int_equal(bytebuf_depth(classify(world_class(name, bytebuf))), 1);
}

static void a_class_that_cannot_be_asked_is_counted_as_a_fault(void **state)
{
    (void)state;
    uint64_t before = atomic_load(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_ERRORS));
    fake_fail("GetClassSignature", 1);
    (void)classify(world_class("io/netty/buffer/PooledHeapByteBuf", counted));
    assert_true(atomic_load(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_ERRORS)) > before);
}

static void a_first_sight_has_a_root_of_its_class(void **state)
{
    (void)state;
    struct fake_class *heap = world_class("io/netty/buffer/UnpooledHeapByteBuf", counted);
    uint32_t number = classify(heap) & BBF_L_KIND_CLASS;
    uint32_t site = bbf_kind_first_site(number);
    assert_int_not_equal(site, 0);
    assert_string_equal(bbf_site_get(bbf_agent.tracker, site)->method,
                        "?first-seen UnpooledHeapByteBuf");
    assert_string_equal(bbf_site_get(bbf_agent.tracker, bbf_kind_first_site(UINT32_MAX))->method,
                        "?first-seen ?");
}

static void field_numbers_have_names_and_others_none(void **state)
{
    const struct bbf_netty_field *fields;
    (void)state;
    size_t n = bbf_netty_fields(&fields);
    assert_null(bbf_kind_field_name((uint32_t)n));
    assert_null(bbf_kind_field_name(UINT32_MAX));
    for (uint32_t i = 0; i < n; i++)
        assert_ptr_equal(bbf_kind_field_name(i), fields[i].field);
    fake_static(counted, "updater", "J");
    jclass class = fake_local_class(counted);
    assert_true(bbf_kind_has_field(class, "refCnt", "I"));
    assert_false(bbf_kind_has_field(class, "refCnt", "L"));
    assert_false(bbf_kind_has_field(class, "updater", "J"));
    assert_false(bbf_kind_has_field(class, "$bbf", "J")); /* its super class's */
}

static void ask(void)
{
    static const unsigned char answers[] = {0x04, 0xac};
    struct fake_class *vertx = world_class("com/app/MyBuf", counted);
    fake_code(fake_method(vertx, "release", "()Z", 1), answers, sizeof answers);
    fake_implements(vertx, holder);
    (void)classify(vertx);
    struct fake_class *known = world_class("io/netty/buffer/DefaultByteBufHolder", NULL);
    fake_field(known, "data", "Lio/netty/buffer/ByteBuf;");
    (void)classify(known);
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, ask, world_free), 20, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_counted_buffer_is_an_owner, setup, world_teardown),
        cmocka_unit_test_setup_teardown(the_count_of_netty_4_2_is_an_object, setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_count_by_an_updater_is_doubled, setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_count_without_a_hooked_release_is_foreign, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_buffer_is_nothing, setup, world_teardown),
        cmocka_unit_test_setup_teardown(
            an_application_s_buffer_is_its_own_and_a_foreign_count_is_foreign, setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(a_release_that_only_answers_is_never_a_leak, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_holder_is_known_by_its_field_or_by_its_interface, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(deep_and_long_classes_end, setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_class_that_cannot_be_asked_is_counted_as_a_fault, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_first_sight_has_a_root_of_its_class, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(field_numbers_have_names_and_others_none, setup,
                                        world_teardown),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
