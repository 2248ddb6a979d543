/* link: bbf_trie bbf_snapshot bbf_core */
/* What methods do with their parameters: kept by class, bounded, and closed over calls for a
 * report. */
#include "tests/unit/trie_sample.h"

#include <string.h>

#include "core/facts.h"

#define D "(Lio/netty/buffer/ByteBuf;)V"

/* A record under construction: methods of one argument, each with one origin. */
struct block {
    uint64_t bytes[400];
    size_t len;
    uint32_t n_facts;
};

static uint64_t key(const char *name)
{
    return bbf_fact_method_key(name, strlen(name), D, strlen(D));
}

static void add(struct block *b, const char *name, unsigned flags,
                const struct bbf_fact_call *calls, uint32_t n)
{
    struct bbf_fact_method m = {.key = key(name),
                                .n_calls = (uint16_t)n,
                                .n_params = 1,
                                .n_origins = 2,
                                .bytes_of_flags = 8};
    uint8_t tail[8] = {0, (uint8_t)flags, 0}; /* argument 0; origin 1 is the result of a call */
    char *to = (char *)b->bytes + b->len;
    memcpy(to, &m, sizeof m);
    memcpy(to + sizeof m, tail, sizeof tail);
    if (n > 0)
        memcpy(to + sizeof m + sizeof tail, calls, n * sizeof *calls);
    b->len += sizeof m + sizeof tail + n * sizeof *calls;
    b->n_facts += 1 + n;
}

static struct bbf_fact_call call(const char *owner, const char *name, unsigned outside)
{
    return (struct bbf_fact_call){.callee = key(name),
                                  .owner = bbf_fact_class_key(owner, strlen(owner)),
                                  .origin = 0,
                                  .argument = 0,
                                  .result = BBF_FACT_NO_ORIGIN,
                                  .outside = (uint8_t)outside};
}

static void put(struct bbf_tracker *t, const char *name, const char *super, const struct block *b)
{
    const struct bbf_fact_block block = {.records = b->bytes, .len = b->len, .n_facts = b->n_facts};

    bbf_facts_put(t, name, strlen(name), super, strlen(super), &block);
}

/* A snapshot with a leak, so that facts are wanted, and the sites of the given methods. */
static struct bbf_snapshot *shown_lost(struct bbf_tracker *t, const char *const (*sites)[2],
                                       size_t n, uint32_t lost)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    s->leaks = calloc(1, sizeof *s->leaks);
    s->n_leaks = 1;
    s->sites = calloc(n + 1, sizeof *s->sites);
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(sites[i][1]);
        bool end = len > 7 && strcmp(sites[i][1] + len - 7, "_return") == 0;
        struct bbf_site like = {.class_name = (char *)(uintptr_t)sites[i][0],
                                .method = (char *)(uintptr_t)sites[i][1],
                                .descriptor = (char *)D,
                                .kind = end ? BBF_SITE_RETURN : BBF_SITE_ENTER};
        s->sites[i].id = bbf_site_intern(t, &like);
    }
    s->n_sites = n;
    s->nodes = calloc(1, sizeof *s->nodes);
    s->nodes[0] = (struct bbf_snap_node){.id = 1, .parent = -1, .site = lost};
    s->n_nodes = 1;
    bbf_facts_fill(t, s);
    return s;
}

static struct bbf_snapshot *shown(struct bbf_tracker *t, const char *const (*sites)[2], size_t n)
{
    return shown_lost(t, sites, n, 0);
}

static void flags_are_those_of_all_that_is_called(void **state)
{
    static const char *const sites[][2] = {
        {"a/A", "borrows"}, {"a/A", "passes"}, {"a/A", "deep"},  {"a/A", "deep_return"},
        {"a/A", "loops"},   {"a/B", "keeps"},  {"a/A", "unseen"}};
    struct bbf_tracker *t = sample_default();
    struct block a = {.len = 0}, b = {.len = 0};
    const struct bbf_fact_call passes = call("a.B", "keeps", 0), deep = call("a/A", "passes", 0),
                               loops = call("a/A", "loops", BBF_FACT_KEEPS);
    (void)state;
    add(&a, "borrows", 0, NULL, 0);
    add(&a, "passes", 0, &passes, 1);
    add(&a, "deep", BBF_FACT_RETAINS, &deep, 1);
    add(&a, "loops", 0, &loops, 1);
    add(&b, "keeps", BBF_FACT_KEEPS, NULL, 0);
    put(t, "a/A", "java/lang/Object", &a);
    put(t, "a/B", "java/lang/Object", &b);
    struct bbf_snapshot *s = shown(t, sites, 7);
    assert_int_equal(s->sites[0].parameter, BBF_FACT_SEEN);
    assert_int_equal(s->sites[1].parameter, BBF_FACT_SEEN | BBF_FACT_KEEPS);
    assert_int_equal(s->sites[2].parameter, BBF_FACT_SEEN | BBF_FACT_KEEPS | BBF_FACT_RETAINS);
    assert_int_equal(s->sites[3].parameter, s->sites[2].parameter); /* its end */
    assert_int_equal(s->sites[4].parameter, BBF_FACT_SEEN);
    assert_int_equal(s->sites[6].parameter, 0); /* no record */
    assert_int_equal(s->sites[1].n_calls, 1);
    assert_int_equal(s->sites[1].calls[0], 5);
    assert_int_equal(s->sites[2].n_calls, 1);
    assert_int_equal(s->sites[2].calls[0], 1);
    assert_int_equal(s->sites[0].n_calls, 0);
    bbf_snapshot_free(s);
    sample_free(t);
}

static void what_no_record_describes_does_what_its_name_says(void **state)
{
    static const char *const sites[][2] = {
        {"a/A", "offers"}, {"a/A", "peeks"}, {"a/A", "implemented"}};
    struct bbf_tracker *t = sample_default();
    struct block a = {.len = 0}, b = {.len = 0};
    const struct bbf_fact_call offers = call("x/Queue", "offer", BBF_FACT_KEEPS | BBF_FACT_VIRTUAL),
                               peeks = call("x/Queue", "peek", BBF_FACT_VIRTUAL),
                               implemented =
                                   call("x/Sink", "send", BBF_FACT_KEEPS | BBF_FACT_VIRTUAL);
    (void)state;
    add(&a, "offers", 0, &offers, 1);
    add(&a, "peeks", 0, &peeks, 1);
    add(&a, "implemented", 0, &implemented, 1);
    add(&b, "send", 0, NULL, 0); /* one of the implementations is known: there may be others */
    put(t, "a/A", "java/lang/Object", &a);
    put(t, "a/Sink", "java/lang/Object", &b);
    struct bbf_snapshot *s = shown(t, sites, 3);
    assert_int_equal(s->sites[0].parameter, BBF_FACT_SEEN | BBF_FACT_KEEPS);
    assert_int_equal(s->sites[1].parameter, BBF_FACT_SEEN);
    assert_int_equal(s->sites[2].parameter, BBF_FACT_SEEN | BBF_FACT_KEEPS);
    bbf_snapshot_free(s);
    sample_free(t);
}

static void virtual_calls_may_run_any_method_of_that_name_and_others_one_of_the_class(void **state)
{
    static const char *const sites[][2] = {
        {"a/A", "virtual"}, {"a/A", "special"}, {"a/C", "use"}, {"a/B", "use"}};
    struct bbf_tracker *t = sample_default();
    struct block a = {.len = 0}, b = {.len = 0}, c = {.len = 0}, d = {.len = 0};
    const struct bbf_fact_call any = call("a/D", "use", BBF_FACT_VIRTUAL),
                               one = call("a/D", "use", BBF_FACT_KEEPS);
    (void)state;
    add(&a, "virtual", 0, &any, 1);
    add(&a, "special", 0, &one, 1);
    add(&b, "use", 0, NULL, 0);
    add(&c, "use", BBF_FACT_RELEASES, NULL, 0);
    add(&d, "other", 0, NULL, 0);
    put(t, "a/A", "java/lang/Object", &a);
    put(t, "a/B", "java/lang/Object", &b);
    put(t, "a/C", "a/B", &c);
    put(t, "a/D", "a/B", &d); /* inherits `use` of B */
    struct bbf_snapshot *s = shown(t, sites, 4);
    assert_int_equal(s->sites[0].parameter, BBF_FACT_SEEN | BBF_FACT_RELEASES);
    assert_int_equal(s->sites[0].n_calls, 2);
    assert_int_equal(s->sites[1].parameter, BBF_FACT_SEEN);
    assert_int_equal(s->sites[1].n_calls, 1);
    assert_int_equal(s->sites[1].calls[0], 3);
    bbf_snapshot_free(s);
    sample_free(t);
}

static void what_a_method_returns_is_followed(void **state)
{
    static const char *const sites[][2] = {{"a/A", "drops"}, {"a/A", "keepsResult"}};
    struct bbf_tracker *t = sample_default();
    struct block a = {.len = 0};
    struct bbf_fact_call drops = call("a/A", "returns", 0),
                         keeps[2] = {drops, call("a/A", "keep", 0)};
    (void)state;
    keeps[0].result = 1; /* the result is origin 1, which the second call gets */
    keeps[1].origin = 1;
    add(&a, "drops", 0, &drops, 1);
    add(&a, "keepsResult", 0, keeps, 2);
    add(&a, "returns", BBF_FACT_RETURNS, NULL, 0);
    add(&a, "keep", BBF_FACT_KEEPS, NULL, 0);
    put(t, "a/A", "java/lang/Object", &a);
    struct bbf_snapshot *s = shown(t, sites, 2);
    assert_int_equal(s->sites[0].parameter, BBF_FACT_SEEN);
    assert_int_equal(s->sites[1].parameter, BBF_FACT_SEEN | BBF_FACT_KEEPS);
    bbf_snapshot_free(s);
    sample_free(t);
}

/* `leaves` has a buffer, calls `helper` with it, then X.parse, then releases it. */
static void exceptions_leave_what_no_called_method_takes(void **state)
{
    static const char names[] = "x/Json\0parse\0x/Bad\0throw";
    static const char *const sites[][2] = {{"a/A", "leaves"}, {"a/A", "helper"}};
    for (unsigned taken = 0; taken < 3; taken++) {
        struct bbf_tracker *t = sample_default();
        struct block a = {.len = 0};
        const struct bbf_fact_call helper = call("a/A", "helper", 0);
        const struct bbf_fact_throw parse = {.held = 1,
                                             .passed = taken == 1,
                                             .caught = taken == 2,
                                             .line = 26,
                                             .name = 0},
                                    bad = {.held = 2, .line = 27, .name = 13}; /* never taken */
        add(&a, "leaves", BBF_FACT_RELEASES, &helper, 1);
        ((struct bbf_fact_method *)(void *)a.bytes)->n_throws = 2;
        memcpy((char *)a.bytes + a.len, &parse, sizeof parse);
        memcpy((char *)a.bytes + a.len + sizeof parse, &bad, sizeof bad);
        a.len += 2 * sizeof parse;
        add(&a, "helper", BBF_FACT_RELEASES, NULL, 0);
        const struct bbf_fact_block block = {.records = a.bytes,
                                             .len = a.len,
                                             .names = names,
                                             .names_len = sizeof names,
                                             .n_facts = a.n_facts + 2};
        bbf_facts_put(t, "a/A", 3, "", 0, &block);
        struct bbf_snapshot *s = shown_lost(t, sites, 2, 1);
        assert_int_equal(s->sites[0].n_throws, 0); /* no lost buffer was in it */
        bbf_snapshot_free(s);
        s = shown_lost(t, sites, 2, 0);
        assert_int_equal(s->sites[0].n_throws, taken == 0);
        if (taken == 0) {
            assert_int_equal(s->sites[0].throws[0].line, 26);
            assert_string_equal(s->sites[0].throws[0].class_name, "x.Json");
            assert_string_equal(s->sites[0].throws[0].method, "parse");
        }
        bbf_snapshot_free(s);
        sample_free(t);
    }
    (void)state;
}

static void calls_through_methods_that_are_no_steps_count(void **state)
{
    static const char *const sites[][2] = {{"a/A", "outer"}, {"a/A", "inner"}};
    struct bbf_tracker *t = sample_default();
    struct block a = {.len = 0};
    const struct bbf_fact_call first = call("a/A", "access$000", 0), then = call("a/A", "inner", 0);
    (void)state;
    add(&a, "outer", 0, &first, 1);
    add(&a, "access$000", 0, &then, 1);
    add(&a, "inner", 0, NULL, 0);
    put(t, "a/A", "java/lang/Object", &a);
    struct bbf_snapshot *s = shown(t, sites, 2);
    assert_int_equal(s->sites[0].n_calls, 1);
    assert_int_equal(s->sites[0].calls[0], 1);
    bbf_snapshot_free(s);
    sample_free(t);
}

static void a_class_that_is_loaded_again_replaces_its_records(void **state)
{
    static const char *const sites[][2] = {{"a/A", "m"}};
    struct bbf_tracker *t = sample_default();
    struct block one = {.len = 0}, two = {.len = 0};
    struct bbf_facts_usage usage;
    uint64_t before;
    (void)state;
    add(&one, "m", 0, NULL, 0);
    add(&two, "m", BBF_FACT_KEEPS, NULL, 0);
    add(&two, "n", BBF_FACT_KEEPS, NULL, 0);
    put(t, "a/A", "java/lang/Object", &one);
    before = atomic_load(&t->budget.used);
    put(t, "a/A", "java/lang/Object", &two);
    assert_int_equal(atomic_load(&t->budget.used) - before, two.len - one.len);
    bbf_facts_usage(t, &usage);
    assert_int_equal(usage.used, 2);
    struct bbf_snapshot *s = shown(t, sites, 1);
    assert_int_equal(s->sites[0].parameter, BBF_FACT_SEEN | BBF_FACT_KEEPS);
    bbf_snapshot_free(s);
    sample_free(t);
}

static void records_stay_while_a_report_reads_them(void **state)
{
    struct bbf_tracker *t = sample_default();
    struct block one = {.len = 0};
    const struct bbf_fact_class **held;
    (void)state;
    add(&one, "m", BBF_FACT_GIVES, NULL, 0);
    put(t, "a/A", "java/lang/Object", &one);
    assert_int_equal(bbf__facts_hold(t, &held), 1);
    put(t, "a/A", "java/lang/Object", &one);
    assert_int_equal(bbf_fact_flags(bbf_fact_first(held[0]))[0], BBF_FACT_GIVES); /* ASan */
    assert_non_null(t->facts.replaced);
    bbf__facts_let_go(t, held);
    assert_null(t->facts.replaced);
    sample_free(t);
}

static void at_the_limit_records_are_dropped_and_counted(void **state)
{
    struct bbf_limits limits = sample_limits();
    struct bbf_facts_usage usage;
    struct block two = {.len = 0};
    (void)state;
    limits.max_facts = 3;
    struct bbf_tracker *t = sample_tracker(limits);
    add(&two, "m", 0, NULL, 0);
    add(&two, "n", 0, NULL, 0);
    put(t, "a/A", "", &two);
    put(t, "a/B", "", &two);
    put(t, "a/C", "", &two);
    bbf_facts_usage(t, &usage);
    assert_int_equal(usage.used, 2);
    assert_int_equal(usage.limit, 3);
    assert_int_equal(usage.dropped, 2);
    sample_free(t);
    limits.max_facts = 1000000;
    limits.memory = 4u << 20;
    t = sample_tracker(limits);
    for (int i = 0; i < 60000; i++) {
        char name[20];
        snprintf(name, sizeof name, "a/C%d", i);
        put(t, name, "", &two);
    }
    bbf_facts_usage(t, &usage);
    assert_true(usage.used > 0 && usage.dropped > 0);
    assert_int_equal(usage.used / 2 + usage.dropped, 60000);
    assert_true(atomic_load(&t->budget.used) <= 4u << 20);
    sample_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_those_of_all_that_is_called),
        cmocka_unit_test(what_no_record_describes_does_what_its_name_says),
        cmocka_unit_test(virtual_calls_may_run_any_method_of_that_name_and_others_one_of_the_class),
        cmocka_unit_test(what_a_method_returns_is_followed),
        cmocka_unit_test(exceptions_leave_what_no_called_method_takes),
        cmocka_unit_test(calls_through_methods_that_are_no_steps_count),
        cmocka_unit_test(a_class_that_is_loaded_again_replaces_its_records),
        cmocka_unit_test(records_stay_while_a_report_reads_them),
        cmocka_unit_test(at_the_limit_records_are_dropped_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
