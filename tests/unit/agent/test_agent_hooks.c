/* link: bbf_agent fake_jvm */
/* agent/classes/{field_hook,code_hook}.c: class files as the JVM hands them over: of every loader,
 * redefined, broken, while memory is short. A class that is not changed must stay untouched. */
#include "agent/classes/code_hook.h"
#include "agent/classes/field_hook.h"
#include "agent/classes/nettys.h"
#include "agent/classes/rewritten_classes.h"
#include "tests/unit/agent/agent_world.h"
#include "tests/unit/classfile_builder.h"

#include <pthread.h>

enum { RETURN = 0xb1 };

static const uint8_t just_return[] = {RETURN};
static jobject loader;
static uint8_t *bytebuf, *handler;
static size_t bytebuf_len, handler_len;

/* What came out of a hook. */
static unsigned char *out;
static jint out_len;

static void begin(void)
{
    world_begin();
    world_rules("include=com.app");
    loader = fake_local(fake_object(fake_class("com/app/Loader", NULL)));
    out = NULL;
    out_len = 0;
}

static int setup(void **state)
{
    static const struct made_class empty = {.minor = 0};
    static const struct made_class steps = {
        .methods = {{.access = 9,
                     .name = "handle",
                     .descriptor = "(Lio/netty/buffer/ByteBuf;)V",
                     .code = just_return,
                     .code_len = sizeof just_return}}};
    (void)state;
    begin();
    bytebuf = make_class(&empty, &bytebuf_len);
    handler = make_class(&steps, &handler_len);
    return 0;
}

static void free_out(void)
{
    (*bbf_agent.code)->Deallocate(bbf_agent.code, out);
    out = NULL;
}

static int teardown(void **state)
{
    free_out();
    free(bytebuf);
    free(handler);
    return world_teardown(state);
}

static bool field_hook(jclass redefined, const char *name, const uint8_t *bytes, size_t len)
{
    free_out();
    bbf_field_hook(bbf_agent.field, fake_env(), redefined, loader, name, NULL, (jint)len, bytes,
                   &out_len, &out);
    assert_false(fake_is_pending());
    return out != NULL;
}

static bool code_hook(jclass redefined, jobject by, const char *name, const uint8_t *bytes,
                      size_t len)
{
    free_out();
    bbf_code_hook(bbf_agent.code, fake_env(), redefined, by, name, NULL, (jint)len, bytes, &out_len,
                  &out);
    assert_false(fake_is_pending());
    return out != NULL;
}

static bool is_fieldless(void)
{
    return (atomic_load(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_SLOW_HOOKS)) &
            (uint32_t)BBF_L_SLOW_FIELDLESS) != 0;
}

/* ---- the hidden field ---- */

static void a_bytebuf_gets_the_field_once(void **state)
{
    struct bbf_cf_shape shape;
    (void)state;
    assert_true(field_hook(NULL, "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_int_equal(bbf_cf_shape_of(out, (size_t)out_len, "$bbf", &shape), BBF_OK);
    assert_true(shape.has_field);
    assert_true(bbf_nettys_have_field());
    assert_false(is_fieldless());
    uint8_t *with = malloc((size_t)out_len);
    size_t len = (size_t)out_len;
    memcpy(with, out, len);
    assert_false(field_hook(NULL, "io/netty/buffer/ByteBuf", with, len));
    assert_false(is_fieldless());
    free(with);
}

static void a_relocated_bytebuf_gets_it_and_its_namesakes_do_not(void **state)
{
    (void)state;
    assert_true(field_hook(NULL, "org/shaded/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_false(field_hook(NULL, "com/app/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_false(field_hook(NULL, "io/netty/buffer/ByteBufUtil", bytebuf, bytebuf_len));
    assert_false(field_hook(NULL, NULL, bytebuf, bytebuf_len)); /* a class without a name */
}

static void a_class_that_is_not_nettys_stays_and_is_remembered_with_the_reason(void **state)
{
    static const struct made_class other = {.fields = {"own"}};
    size_t len;
    (void)state;
    uint8_t *bytes = make_class(&other, &len);
    assert_false(field_hook(NULL, "io/netty/buffer/ByteBuf", bytes, len));
    assert_true(is_fieldless());
    assert_int_equal(bbf_agent.n_seen, 1);
    assert_string_equal(bbf_agent.seen[0].prefix, "io.netty");
    assert_string_equal(bbf_agent.seen[0].why, "it is not Netty's ByteBuf");
    free(bytes);
}

/* Every part of a class file, and bytes that are no class file. */
static void broken_bytes_are_left_alone(void **state)
{
    static const uint8_t zeros[40];
    (void)state;
    for (size_t len = 0; len < bytebuf_len; len++) {
        uint8_t *part = malloc(len + (len == 0)); /* its end is the heap's: ASan sees a byte more */
        memcpy(part, bytebuf, len);
        assert_false(field_hook(NULL, "io/netty/buffer/ByteBuf", part, len));
        free(part);
    }
    for (size_t len = 0; len < handler_len; len++) {
        uint8_t *part = malloc(len + (len == 0));
        memcpy(part, handler, len);
        assert_false(code_hook(NULL, loader, "com/app/Main", part, len));
        free(part);
    }
    assert_false(field_hook(NULL, "io/netty/buffer/ByteBuf", zeros, sizeof zeros));
    assert_false(code_hook(NULL, loader, "com/app/Main", zeros, sizeof zeros));
    assert_true(is_fieldless());
}

static void a_redefined_class_keeps_the_fields_that_it_has(void **state)
{
    (void)state;
    struct fake_class *with = world_class("io/netty/buffer/ByteBuf", NULL);
    fake_field(with, "$bbf", "J");
    assert_true(
        field_hook(fake_local_class(with), "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    struct fake_class *bare = world_class("io/netty/buffer/ByteBuf", NULL);
    assert_false(
        field_hook(fake_local_class(bare), "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_false(is_fieldless());
    /* Loaded, not linked: JVMTI does not tell its fields, so how it was loaded counts. */
    struct fake_class *loaded = world_class("io/netty/buffer/ByteBuf", NULL);
    fake_status(loaded, 0);
    assert_false(
        field_hook(fake_local_class(loaded), "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_true(field_hook(NULL, "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_true(
        field_hook(fake_local_class(loaded), "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
}

static void without_memory_for_the_field_the_reason_is_said(void **state)
{
    (void)state;
    fake_fail("Allocate", 1);
    assert_false(field_hook(NULL, "io/netty/buffer/ByteBuf", bytebuf, bytebuf_len));
    assert_true(is_fieldless());
    assert_string_equal(bbf_agent.seen[0].why, "the field could not be added");
}

/* ---- the calls ---- */

static void an_included_class_gets_its_calls(void **state)
{
    (void)state;
    assert_true(code_hook(NULL, loader, "com/app/Main", handler, handler_len));
    assert_non_null(memmem(out, (size_t)out_len, "java/lang/BBFlowShim", 20));
    assert_int_equal(atomic_load(&bbf_agent.followed_classes), 1);
    assert_int_equal(atomic_load(&bbf_agent.classes[BBF_CF_CHANGED]), 1);
    assert_true(bbf_rewritten_classes_has("com/app/Main", 1));
    assert_false(code_hook(NULL, loader, "com/other/Main", handler, handler_len));
    assert_false(code_hook(NULL, loader, "com/app/Empty", bytebuf, bytebuf_len));
}

static void a_retransformed_class_was_not_changed_as_it_loaded(void **state)
{
    (void)state;
    jclass class = fake_local_class(world_class("com/app/Again", NULL));
    assert_true(code_hook(class, loader, "com/app/Again", handler, handler_len));
    assert_true(bbf_rewritten_classes_has("com/app/Again", 0));
    assert_false(bbf_rewritten_classes_has("com/app/Again", 1));
}

static void the_boot_loaders_classes_and_our_own_are_left_alone(void **state)
{
    (void)state;
    world_rules("include=java.lang+com.app");
    assert_false(code_hook(NULL, NULL, "java/lang/BBFlowShim", handler, handler_len));
    assert_false(code_hook(NULL, NULL, "java/lang/String", handler, handler_len));
    assert_false(code_hook(NULL, NULL, "com/app/Main", handler, handler_len));
    assert_false(code_hook(NULL, loader, NULL, handler, handler_len));
    assert_true(bbf_code_hook_takes(NULL, "java/nio/Bits"));
}

static void without_rules_nothing_is_changed(void **state)
{
    (void)state;
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL));
    assert_false(code_hook(NULL, loader, "com/app/Main", handler, handler_len));
    assert_int_equal(fake_calls("Allocate"), 0);
}

static void without_memory_a_class_stays_as_it_is(void **state)
{
    (void)state;
    fake_fail("Allocate", 1);
    assert_false(code_hook(NULL, loader, "com/app/Main", handler, handler_len));
    assert_int_equal(atomic_load(&bbf_agent.classes[BBF_CF_CHANGED]), 0);
    assert_int_equal(atomic_load(&bbf_agent.followed_classes), 0);
}

static void the_first_included_class_wakes_the_hooks(void **state)
{
    (void)state;
    bbf_nettys_set_idle();
    (void)code_hook(NULL, loader, "com/other/Main", bytebuf, bytebuf_len);
    assert_true(bbf_nettys_are_idle());
    (void)code_hook(NULL, loader, "com/app/Empty", bytebuf, bytebuf_len);
    assert_false(bbf_nettys_are_idle());
}

/* ---- threads ---- */

static _Atomic unsigned changed;

static void *load_classes(void *arg)
{
    jobject by = fake_local(arg);
    for (int i = 0; i < 200; i++) {
        unsigned char *bytes = NULL;
        jint len = 0;
        bbf_code_hook(bbf_agent.code, fake_env(), NULL, by, "com/app/Main", NULL, (jint)handler_len,
                      handler, &len, &bytes);
        if (bytes != NULL)
            atomic_fetch_add(&changed, 1);
        (*bbf_agent.code)->Deallocate(bbf_agent.code, bytes);
        bytes = NULL;
        bbf_field_hook(bbf_agent.field, fake_env(), NULL, by, "io/netty/buffer/ByteBuf", NULL,
                       (jint)bytebuf_len, bytebuf, &len, &bytes);
        (*bbf_agent.code)->Deallocate(bbf_agent.code, bytes);
    }
    return NULL;
}

static void classes_load_in_many_threads_while_the_rules_change(void **state)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_classes, fake_target(loader)), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(bbf_rules_room());
        world_rules(i % 2 == 0 ? "include=com.app.x" : "include=com.app");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&bbf_agent.followed_classes), atomic_load(&changed));
    assert_int_equal(bbf_agent.n_seen, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bytebuf_gets_the_field_once),
        TEST(a_relocated_bytebuf_gets_it_and_its_namesakes_do_not),
        TEST(a_class_that_is_not_nettys_stays_and_is_remembered_with_the_reason),
        TEST(broken_bytes_are_left_alone),
        TEST(a_redefined_class_keeps_the_fields_that_it_has),
        TEST(without_memory_for_the_field_the_reason_is_said),
        TEST(an_included_class_gets_its_calls),
        TEST(a_retransformed_class_was_not_changed_as_it_loaded),
        TEST(the_boot_loaders_classes_and_our_own_are_left_alone),
        TEST(without_rules_nothing_is_changed),
        TEST(without_memory_a_class_stays_as_it_is),
        TEST(the_first_included_class_wakes_the_hooks),
        TEST(classes_load_in_many_threads_while_the_rules_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
