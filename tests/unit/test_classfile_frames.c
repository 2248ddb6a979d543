/* link: bbf_classfile bbf_core */
/*
 * StackMapTable and the CLDC StackMap: frames keep their types and move to their new offsets (JVMS
 * 4). The code is 300 nops with an areturn at pc 5 and at the end; the exit call before the one at
 * 5 moves all behind it by 7.
 */
#include "tests/unit/classfile_builder.h"

enum { CODE_LEN = 300, SHIFT = 7, ARETURN = 176, NEW = 187 };

static void make_code(uint8_t code[CODE_LEN])
{
    memset(code, 0, CODE_LEN);
    code[5] = ARETURN;
    code[CODE_LEN - 1] = ARETURN;
    code[20] = NEW;
}

static struct result move_frames(const char *attribute, const uint8_t *table, size_t len)
{
    uint8_t code[CODE_LEN];
    struct made_class spec = {.methods = {{.max_stack = 1,
                                           .code = code,
                                           .code_len = CODE_LEN,
                                           .attributes = {{attribute, table, len}}}}};
    struct orders orders = {.plan = {.n_areturn = 1, .areturn = {call_exit(1000)}}};

    make_code(code);
    return rewrite_class(&spec, &orders);
}

static void expect_frames(const uint8_t *in, size_t in_len, const uint8_t *want, size_t want_len)
{
    struct result r = move_frames("StackMapTable", in, in_len);
    const uint8_t *got;
    uint32_t len;

    assert_int_equal(r.status, BBF_CF_CHANGED);
    got = result_attribute(&r, "StackMapTable", &len);
    assert_bytes(got, len, want, want_len);
    result_free(&r);
}

#define EXPECT_FRAMES(in, want) expect_frames(in, sizeof(in), want, sizeof(want))

/* same_frame: 56 + 7 = 63 still fits, 57 + 7 = 64 becomes same_frame_extended. */
static void same_frames_at_the_edge_of_63(void **state)
{
    static const uint8_t fits[] = {0, 2, 0, 56}, fits_want[] = {0, 2, 0, 63};
    static const uint8_t grows[] = {0, 2, 0, 57}, grows_want[] = {0, 2, 0, 251, 0, 64};
    static const uint8_t first[] = {0, 1, 57}, first_want[] = {0, 1, 251, 0, 64};

    (void)state;
    EXPECT_FRAMES(fits, fits_want);
    EXPECT_FRAMES(grows, grows_want);
    EXPECT_FRAMES(first, first_want); /* the first delta is an offset, without the 1 */
}

/* same_locals_1_stack_item: its type follows; Integer, Object, Uninitialized. */
static void same_locals_1_at_the_edge_of_63(void **state)
{
    static const uint8_t fits[] = {0, 2, 0, 64 + 56, 1}, fits_want[] = {0, 2, 0, 127, 1};
    static const uint8_t grows[] = {0, 2, 0, 64 + 57, 7, 0, 2};
    static const uint8_t grows_want[] = {0, 2, 0, 247, 0, 64, 7, 0, 2};
    static const uint8_t fresh[] = {0, 2, 0, 64 + 30, 8, 0, 20};
    static const uint8_t fresh_want[] = {0, 2, 0, 64 + 37, 8, 0, 27};
    static const uint8_t extended[] = {0, 2, 0, 247, 0, 3, 6}; /* pc 4: not moved */
    static const uint8_t far[] = {0, 2, 0, 247, 0, 200, 5};
    static const uint8_t far_want[] = {0, 2, 0, 247, 0, 207, 5};

    (void)state;
    EXPECT_FRAMES(fits, fits_want);
    EXPECT_FRAMES(grows, grows_want);
    EXPECT_FRAMES(fresh, fresh_want);
    EXPECT_FRAMES(extended, extended);
    EXPECT_FRAMES(far, far_want);
}

static void extended_chop_append_and_full_frames(void **state)
{
    static const uint8_t in[] = {0,   8, 0,                    /* 0 */
                                 251, 0, 9,                    /* 10 */
                                 252, 0, 9, 4,                 /* 20: Long */
                                 253, 0, 9, 1, 8, 0, 20,       /* 30: Integer, fresh */
                                 254, 0, 9, 0, 2, 3,           /* 40: Top, Float, Double */
                                 248, 0, 9,                    /* 50 */
                                 250, 0, 9,                    /* 60 */
                                 255, 0, 9, 0, 2, 7, 0,  2, 4, /* 70: two locals */
                                 0,   1, 8, 0, 20};            /* and one on the stack */
    static const uint8_t want[] = {0, 8,  0,   251, 0, 16, 252, 0, 9,   4, 253, 0,   9, 1, 8,
                                   0, 27, 254, 0,   9, 0,  2,   3, 248, 0, 9,   250, 0, 9, 255,
                                   0, 9,  0,   2,   7, 0,  2,   4, 0,   1, 8,   0,   27};

    (void)state;
    EXPECT_FRAMES(in, want);
}

/* A frame at an areturn goes to the start of what is inserted before it (T). */
static void frame_at_an_areturn_lies_before_the_exit_call(void **state)
{
    static const uint8_t in[] = {0, 2, 5, 0}, want[] = {0, 2, 5, 7};

    (void)state;
    EXPECT_FRAMES(in, want);
}

/* The largest delta: one frame at the end of a method of 65,500 bytes. */
static void a_delta_of_65000(void **state)
{
    static uint8_t code[65500];
    static const uint8_t in[] = {0, 1, 251, 0xFD, 0xE8}; /* 65000 */
    static const uint8_t want[] = {0, 1, 251, 0xFD, 0xEF};
    struct made_class spec = {.methods = {{.max_stack = 2,
                                           .code = code,
                                           .code_len = sizeof code,
                                           .attributes = {{"StackMapTable", in, sizeof in}}}}};
    struct orders orders = {.plan = {.n_entry = 1}, .entry = {call_enter(0, 1000)}};
    struct result r;
    uint32_t len;
    const uint8_t *got;

    (void)state;
    code[sizeof code - 1] = ARETURN;
    r = rewrite_class(&spec, &orders);
    got = result_attribute(&r, "StackMapTable", &len);
    assert_bytes(got, len, want, sizeof want);
    result_free(&r);
}

static void unknown_or_malformed_frames_leave_the_method(void **state)
{
    static const struct {
        size_t len;
        uint8_t bytes[16];
    } bad[] = {
        {1, {0}},                           /* no count */
        {2, {0, 1}},                        /* no frame */
        {3, {0, 1, 128}},                   /* reserved */
        {6, {0, 1, 246, 0, 0, 1}},          /* early_larval of Valhalla */
        {4, {0, 1, 251, 0}},                /* delta cut off */
        {3, {0, 1, 64}},                    /* type missing */
        {4, {0, 1, 64, 9}},                 /* unknown type */
        {5, {0, 1, 64, 7, 0}},              /* class index cut off */
        {6, {0, 1, 64, 8, 1, 0x2C}},        /* Uninitialized(300): past the end */
        {6, {0, 1, 64, 8, 0, 21}},          /* inside the `new` */
        {5, {0, 1, 251, 1, 0x2C}},          /* frame past the end */
        {3, {0, 1, 21}},                    /* frame inside the `new` */
        {4, {0, 1, 0, 0}},                  /* a byte too many */
        {6, {0, 1, 252, 0, 0, 9}},          /* append of an unknown type */
        {7, {0, 1, 255, 0, 0, 0xFF, 0xFF}}, /* locals missing */
        {9, {0, 1, 255, 0, 0, 0, 0, 0, 2}}, /* stack missing */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct result r = move_frames("StackMapTable", bad[i].bytes, bad[i].len);

        assert_int_equal(r.status, BBF_CF_NOTHING);
        assert_int_equal(r.stats.methods[BBF_CF_METHOD_LEFT_FRAMES], 1);
        result_free(&r);
    }
}

/* Absolute offsets; malformed ones stay as they are, because HotSpot never reads them. */
static void cldc_stackmap_is_moved(void **state)
{
    static const uint8_t in[] = {0, 2,  0, 4, 0, 1, 7, 0,  2, 0, 0,         /* 4: [Object] [] */
                                 0, 30, 0, 2, 1, 8, 0, 20, 0, 1, 8, 0, 20}; /* 30 */
    static const uint8_t want[] = {0,  2, 0, 4, 0, 1, 7,  0, 2, 0, 0, 0,
                                   37, 0, 2, 1, 8, 0, 27, 0, 1, 8, 0, 27};
    static const uint8_t bad[] = {0, 1, 0, 4, 0, 1, 9, 0, 0};
    struct result r = move_frames("StackMap", in, sizeof in);
    const uint8_t *got;
    uint32_t len;

    (void)state;
    got = result_attribute(&r, "StackMap", &len);
    assert_bytes(got, len, want, sizeof want);
    result_free(&r);
    r = move_frames("StackMap", bad, sizeof bad);
    assert_int_equal(r.status, BBF_CF_CHANGED);
    got = result_attribute(&r, "StackMap", &len);
    assert_bytes(got, len, bad, sizeof bad);
    result_free(&r);
}

/* ---- which locals survive in the frames ---- */

/* In m(Object, long, int, int[]) the locals are 0, 1-2, 3, 4. */
struct kept {
    size_t len;
    uint8_t bytes[24];
    bool object, number, array; /* locals 0, 3, 4 may be loaded at an exit */
};

static void query_plan(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_plan *plan)
{
    const struct kept *kept = ctx;

    (void)plan;
    assert_int_equal(!bbf_cf_stores_to(method, 0), kept->object);
    assert_int_equal(!bbf_cf_stores_to(method, 3), kept->number);
    assert_int_equal(!bbf_cf_stores_to(method, 4), kept->array);
}

static void check_kept(const struct kept *kept, uint16_t major, bool expect_all)
{
    uint8_t code[CODE_LEN];
    struct made_class spec = {
        .major = major,
        .methods = {{.access = 9,
                     .name = "m",
                     .descriptor = "(" OBJECT "JI[I)" OBJECT,
                     .max_locals = 5,
                     .code = code,
                     .code_len = CODE_LEN,
                     .attributes = {{"StackMapTable", kept->bytes, kept->len}}}}};
    struct kept expected = *kept;
    struct bbf_cf_config config = {.ctx = &expected, .plan = query_plan};
    struct bbf_cf_stats stats;
    uint8_t *in, *out;
    size_t len;

    if (expect_all)
        expected.object = expected.number = expected.array = true;
    make_code(code);
    in = make_class(&spec, &len);
    assert_int_equal(bbf_cf_rewrite(in, len, &config, &out, &len, &stats), BBF_CF_NOTHING);
    free(in);
}

/* A compiler may drop dead parameters from its frames: then they cannot be loaded at exits. */
static void parameters_must_survive_in_all_frames(void **state)
{
    static const struct kept cases[] = {
        {3, {0, 1, 10}, true, true, true},                       /* same */
        {5, {0, 1, 64, 7, 0}, false, false, false},              /* malformed: nothing is sure */
        {5, {0, 1, 248, 0, 9}, true, false, false},              /* chop 3: all but the Object */
        {5, {0, 1, 249, 0, 9}, true, false, false},              /* chop 2: I and [I */
        {5, {0, 1, 250, 0, 9}, true, true, false},               /* chop 1 */
        {9, {0, 2, 250, 0, 9, 252, 0, 9, 1}, true, true, false}, /* chopped, other appended */
        {6, {0, 1, 252, 0, 9, 1}, true, true, true},             /* appended: all still there */
        /* full frames: Object Long Integer [I; Top Long Integer Object; Null; too short */
        {17, {0, 1, 255, 0, 9, 0, 4, 7, 0, 2, 4, 1, 7, 0, P_ARRAY, 0, 0}, true, true, true},
        {15, {0, 1, 255, 0, 9, 0, 4, 0, 4, 1, 7, 0, 2, 0, 0}, false, true, false},
        {13, {0, 1, 255, 0, 9, 0, 4, 5, 4, 2, 5, 0, 0}, true, false, false},
        {11, {0, 1, 255, 0, 9, 0, 2, 6, 4, 0, 0}, true, false, false},
        /* no Long: Integer is at 1, so local 3 is a Float */
        {14, {0, 1, 255, 0, 9, 0, 4, 7, 0, 2, 1, 2, 2, 0}, false, false, false}, /* cut off */
        {15, {0, 1, 255, 0, 9, 0, 4, 7, 0, 2, 1, 2, 2, 0, 0}, true, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_kept(&cases[i], 52, false);
        check_kept(&cases[i], 49, true); /* no frames: types are inferred */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_frames_at_the_edge_of_63),
        cmocka_unit_test(same_locals_1_at_the_edge_of_63),
        cmocka_unit_test(extended_chop_append_and_full_frames),
        cmocka_unit_test(frame_at_an_areturn_lies_before_the_exit_call),
        cmocka_unit_test(a_delta_of_65000),
        cmocka_unit_test(unknown_or_malformed_frames_leave_the_method),
        cmocka_unit_test(cldc_stackmap_is_moved),
        cmocka_unit_test(parameters_must_survive_in_all_frames),
    };

    return cmocka_run_group_tests_name("classfile_frames", tests, NULL, NULL);
}
