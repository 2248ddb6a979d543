/* link: bbf_agent fake_jvm */
/* agent/classes/carrier_classes.c: carriers among the loaded classes, their fields, and which
 * followed classes are retransformed because one was learned after them. */
#include "agent/classes/carrier_classes.h"

#include "agent/boot/shim.h"
#include "instrument/carriers.h"
#include "tests/unit/agent/agent_world.h"

#include <time.h>

#define BUF "Lio/netty/buffer/ByteBuf;"

static struct fake_class *frame, *part, *buf_frame, *user;
static const struct bbf_rules *rules;

/* A constant pool of these names. */
static void names(struct fake_class *class, const char *const *utf8, size_t n)
{
    static char pools[16][512]; /* the fake keeps no copy */
    static unsigned used;
    char *pool = pools[used++ % 16];
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = strlen(utf8[i]);
        pool[len++] = 1;
        pool[len++] = 0;
        pool[len++] = (char)k;
        memcpy(pool + len, utf8[i], k);
        len += k;
    }
    fake_constant_pool(class, pool, len);
}
#define NAMES(class, ...)                                                                          \
    names(class, (const char *const[]){__VA_ARGS__},                                               \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void begin_with(const char *options)
{
    struct bbf_options parsed;
    struct bbf_option_error error;
    world_begin();
    bbf_options_init(&parsed);
    assert_int_equal(bbf_options_parse(&parsed, options, &error), BBF_OK);
    bbf_carrier_classes_begin(&parsed);
    bbf_options_free(&parsed);
    rules = world_rules(options);
    struct fake_class *kind = fake_class("java/lang/BBFlowKind", NULL);
    fake_method(kind, "forget", "()V", 1 | 8);
    bbf_agent.kind = fake_global(fake_mirror(kind));
    frame = world_class("org/flow/Frame", NULL);
    part = world_class("org/flow/Part", NULL);
    fake_implements(part, frame);
    buf_frame = world_class("org/flow/BufFrame", NULL);
    fake_implements(buf_frame, part);
    fake_field(buf_frame, "count", "I");
    fake_static(buf_frame, "EMPTY", BUF);
    fake_field(buf_frame, "data", BUF);
    fake_field(buf_frame, "next", "Lorg/flow/BufFrame;");
    fake_field(buf_frame, "thing", "Ljava/lang/Object;");
    fake_field(buf_frame, "parts", "[Lio/netty/buffer/ByteBuf;");
    fake_field(buf_frame, "numbers", "[[I");
    user = world_class("com/app/User", NULL);
    NAMES(user, "Code", "(Lorg/flow/Frame;)V");
}

static int setup(void **state)
{
    (void)state;
    begin_with("include=com.app,carriers=on");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bbf_carriers_free(bbf_agent.carriers);
    bbf_agent.carriers = NULL;
    return world_teardown(state);
}

static enum bbf_carrier found(const char *name)
{
    return bbf_carriers_find(bbf_agent.carriers, name, strlen(name));
}

/* "data,thing," */
static const char *fields_of(struct fake_class *class)
{
    static char all[500];
    char name[BBF_CARRIER_FIELD];
    all[0] = '\0';
    fake_enter_native();
    for (unsigned i = 0; bbf_carrier_classes_field(fake_local_class(class), i, name); i++)
        strcat(strcat(all, name), ",");
    fake_leave_native();
    return all;
}

static void a_field_is_one_by_its_type_or_by_the_option(void **state)
{
    (void)state;
    assert_string_equal(fields_of(buf_frame), "data,");
    assert_string_equal(fields_of(user), "");
    assert_string_equal(fields_of(fake_class("java/util/X", NULL)), "");
    (void)teardown(state);
    begin_with("include=com.app,carriers=org.flow.BufFrame:thing");
    assert_string_equal(fields_of(buf_frame), "data,thing,");
    (void)teardown(state);
    begin_with("include=com.app,carriers=org.flow.BufFrame:parts+org.flow.BufFrame:numbers");
    assert_string_equal(fields_of(buf_frame), "data,parts,");
    (void)teardown(state);
    begin_with("include=com.app");
    assert_string_equal(fields_of(buf_frame), "data,");
    (void)teardown(state);
    begin_with("include=com.app,carriers=off");
    assert_string_equal(fields_of(buf_frame), "");
    assert_null(bbf_agent.carriers);
}

static void loaded_carriers_and_all_their_super_types_are_learned(void **state)
{
    (void)state;
    NAMES(buf_frame, "data", BUF);
    struct fake_class *box = world_class("org/flow/Box", NULL);
    fake_field(box, "frame", "Lorg/flow/Frame;");
    NAMES(box, "Lorg/flow/Frame;");
    struct fake_class *sub = world_class("org/flow/Sub", buf_frame);
    NAMES(sub, "org/flow/BufFrame");
    bbf_carrier_classes_look(fake_env(), rules);
    assert_int_equal(found("org/flow/BufFrame"), BBF_CARRIER_CLASS);
    assert_int_equal(found("org/flow/Part"), BBF_CARRIER_TYPE);
    assert_int_equal(found("org/flow/Frame"), BBF_CARRIER_TYPE);
    assert_int_equal(found("org/flow/Box"), BBF_CARRIER_CLASS); /* a carrier in a carrier */
    assert_int_equal(found("org/flow/Sub"), BBF_CARRIER_CLASS);
    assert_int_equal(found("com/app/User"), BBF_CARRIER_NONE);
    assert_int_equal(found("java/lang/Object"), BBF_CARRIER_NONE);
    assert_int_equal(fake_calls("RetransformClasses"), 0); /* that is about to be done */
    assert_int_equal(fake_calls("CallStaticVoidMethod"), 1);
}

static void learn_late(void)
{
    bbf_carrier_classes_look(fake_env(), rules);
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    NAMES(buf_frame, "data", BUF);
    (void)bbf_carriers_learn_class(bbf_agent.carriers, "org/flow/BufFrame", 17);
}

static void users_that_were_there_before_are_retransformed_once(void **state)
{
    (void)state;
    struct fake_class *other = world_class("com/other/User", NULL); /* not included */
    NAMES(other, "(Lorg/flow/Frame;)V");
    fake_not_retransformable(other);
    NAMES(world_class("com/app/Main", NULL), "(Lorg/flow/Other;)V");
    bbf_carrier_classes_poll(fake_env());
    assert_int_equal(fake_calls("RetransformClasses"), 0);
    learn_late();
    assert_int_equal(bbf_carrier_classes_wait_ms(), 0);
    bbf_carrier_classes_poll(fake_env());
    assert_int_equal(found("org/flow/Frame"), BBF_CARRIER_TYPE);
    assert_int_equal(fake_calls("RetransformClasses"), 1);
    assert_int_equal(fake_calls("CallStaticVoidMethod"), 2);
    nanosleep(&(struct timespec){.tv_nsec = 100 * 1000000L}, NULL); /* 20 times what it took */
    bbf_carrier_classes_poll(fake_env()); /* what was being answered meanwhile is forgotten */
    bbf_carrier_classes_poll(fake_env());
    assert_int_equal(fake_calls("RetransformClasses"), 1);
    assert_int_equal(fake_calls("CallStaticVoidMethod"), 3);
    unsigned wait = bbf_carrier_classes_wait_ms(); /* once more, for classes that load slowly */
    assert_true(wait > 0 && wait <= 2000);
}

/* carriers=load: their shapes are asked about again, and their users left as they are. */
static void by_default_no_class_is_rewritten_again(void **state)
{
    (void)teardown(state);
    begin_with("include=com.app,maxCarrierClasses=0");
    struct bbf_buf note = BBF_BUF_INIT;
    unsigned forgotten = fake_calls("CallStaticVoidMethod");
    learn_late();
    bbf_carrier_classes_poll(fake_env());
    assert_int_equal(fake_calls("RetransformClasses"), 0);
    assert_true(fake_calls("CallStaticVoidMethod") > forgotten);
    bbf_carrier_classes_note(&note);
    assert_int_equal(note.len, 0); /* no limit was met */
    bbf_buf_free(&note);
}

static void beyond_the_limit_classes_are_counted_in_a_note(void **state)
{
    (void)teardown(state);
    begin_with("include=com.app,carriers=on,maxCarrierClasses=0");
    struct bbf_buf note = BBF_BUF_INIT;
    learn_late();
    bbf_carrier_classes_note(&note);
    assert_int_equal(note.len, 0);
    bbf_carrier_classes_poll(fake_env());
    assert_int_equal(fake_calls("RetransformClasses"), 0);
    bbf_carrier_classes_note(&note);
    assert_non_null(strstr(bbf_buf_cstr(&note), "1 loaded class names a carrier"));
    assert_non_null(strstr(bbf_buf_cstr(&note), "maxCarrierClasses=0"));
    bbf_buf_free(&note);
}

static void a_class_that_cannot_be_changed_is_counted(void **state)
{
    (void)state;
    fake_not_retransformable(user);
    learn_late();
    bbf_carrier_classes_poll(fake_env());
    assert_int_equal(atomic_load(&bbf_agent.retransform_failed), 1);
}

static void begin_faults(void)
{
    begin_with("include=com.app,carriers=on");
}

static void work(void)
{
    char name[BBF_CARRIER_FIELD];
    learn_late();
    bbf_carrier_classes_poll(fake_env());
    fake_enter_native();
    (void)bbf_carrier_classes_field(fake_local_class(buf_frame), 0, name);
    fake_leave_native();
}

static void done(void)
{
    assert_false(fake_is_pending());
    bbf_carriers_free(bbf_agent.carriers);
    bbf_agent.carriers = NULL;
    world_free();
}

static void no_fault_leaves_anything_behind(void **state)
{
    (void)teardown(state);
    assert_true(world_each_fault(begin_faults, work, done) > 10);
    begin_with("include=com.app,carriers=on");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_field_is_one_by_its_type_or_by_the_option),
        TEST(loaded_carriers_and_all_their_super_types_are_learned),
        TEST(users_that_were_there_before_are_retransformed_once),
        TEST(by_default_no_class_is_rewritten_again),
        TEST(beyond_the_limit_classes_are_counted_in_a_note),
        TEST(a_class_that_cannot_be_changed_is_counted),
        TEST(no_fault_leaves_anything_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
