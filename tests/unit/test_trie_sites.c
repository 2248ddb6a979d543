/* link: bbf_trie bbf_core */
/* trie/site.c: sites and buffer classes get one number each, for good. */
#include "tests/unit/trie_sample.h"

#include <string.h>

static uint32_t intern(struct bbf_tracker *t, const char *class_name, const char *method,
                       const char *descriptor, enum bbf_site_kind kind)
{
    struct bbf_site like = {.class_name = (char *)(uintptr_t)class_name,
                            .method = (char *)(uintptr_t)method,
                            .descriptor = (char *)(uintptr_t)descriptor,
                            .kind = kind};
    return bbf_site_intern(t, &like);
}

static void a_site_has_one_number_however_its_class_is_written(void **state)
{
    struct bbf_tracker *t = sample_default();
    char name[] = "com/app/Main$Inner";
    (void)state;
    uint32_t id = intern(t, name, "run", "()V", BBF_SITE_ENTER);
    assert_true(id > BBF_L_SITE_BEFORE_RESET);
    assert_int_equal(intern(t, "com.app.Main$Inner", "run", "()V", BBF_SITE_ENTER), id);
    assert_int_equal(intern(t, "com/app.Main$Inner", "run", "()V", BBF_SITE_ENTER), id);
    memset(name, 'x', sizeof name - 1); /* the names are copies */
    const struct bbf_site *site = bbf_site_get(t, id);
    assert_string_equal(site->class_name, "com.app.Main$Inner");
    assert_string_equal(site->method, "run");
    assert_string_equal(site->descriptor, "()V");
    assert_int_equal(site->kind, BBF_SITE_ENTER);
    assert_int_equal(site->id, id);
    sample_free(t);
}

static void sites_differ_by_class_method_descriptor_and_kind(void **state)
{
    struct bbf_tracker *t = sample_default();
    (void)state;
    uint32_t id[] = {
        intern(t, "a/B", "m", "()V", BBF_SITE_ENTER),
        intern(t, "a/C", "m", "()V", BBF_SITE_ENTER),
        intern(t, "a/B", "n", "()V", BBF_SITE_ENTER),
        intern(t, "a/B", "m", "(I)V", BBF_SITE_ENTER),
        intern(t, "a/B", "m", "()V", BBF_SITE_RETURN),
        intern(t, "a/Bm", "", "()V", BBF_SITE_ENTER),
        intern(t, "a/b", "m", "()V", BBF_SITE_ENTER),
        intern(t, "a_B", "m", "()V", BBF_SITE_ENTER),
    };
    for (size_t i = 0; i < sizeof id / sizeof *id; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(id[i], id[k]);
    /* A descriptor's slashes are its own. */
    assert_int_not_equal(intern(t, "a/B", "m", "(La/B;)V", BBF_SITE_ENTER),
                         intern(t, "a/B", "m", "(La.B;)V", BBF_SITE_ENTER));
    sample_free(t);
}

static void the_reserved_sites_have_their_numbers(void **state)
{
    struct bbf_tracker *t = sample_default();
    (void)state;
    assert_string_equal(bbf_site_get(t, BBF_L_SITE_RACED)->method, "?raced");
    assert_string_equal(bbf_site_get(t, BBF_L_SITE_BEFORE_RESET)->method, "?before-reset");
    assert_int_equal(bbf_node_at(t, BBF_L_NODE_RACED)->site, BBF_L_SITE_RACED);
    assert_null(bbf_site_get(t, 0));
    assert_null(bbf_site_get(t, BBF_L_SITE_BEFORE_RESET + 1));
    assert_null(bbf_site_get(t, BBF_L_MAX_SITES));
    assert_null(bbf_site_get(t, UINT32_MAX));
    sample_free(t);
}

static void at_the_limit_known_sites_are_still_found(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_sites = 100;
    struct bbf_tracker *t = sample_tracker(limits);
    char name[16];
    uint32_t last = 0;
    unsigned n = 0;
    (void)state;
    for (;; n++) {
        snprintf(name, sizeof name, "m%u", n);
        uint32_t id = intern(t, "a/B", name, "", BBF_SITE_ENTER);
        if (id == 0)
            break;
        last = id;
    }
    assert_int_equal(n, 100);
    assert_int_equal(last, 100 + BBF_L_SITE_BEFORE_RESET);
    assert_int_equal(t->hit_sites, 1);
    assert_int_equal(intern(t, "a/B", "m0", "", BBF_SITE_ENTER), BBF_L_SITE_BEFORE_RESET + 1);
    assert_int_equal(t->hit_sites, 1);
    /* What begins and ends a life is no step, or lives would be missed as a whole. */
    assert_int_equal(intern(t, "a/Alloc", "heapBuffer", "", BBF_SITE_ROOT), last + 1);
    assert_int_equal(intern(t, "a/ByteBuf", "slice", "", BBF_SITE_DERIVE), last + 2);
    assert_int_not_equal(bbf_class_intern(t, "a/NewByteBuf"), 0);
    assert_int_equal(t->hit_sites, 1);
    limits.max_sites = 65535;
    bbf_tracker_limit(t, &limits);
    assert_int_equal(t->max_sites, BBF_MAX_STEP_SITES);
    assert_int_equal(intern(t, "a/B", name, "", BBF_SITE_ENTER), last + 4);
    sample_free(t);
}

static void every_number_fits_the_word_that_carries_it(void **state)
{
    struct bbf_tracker *t = sample_default();
    char name[16];
    uint32_t last = 0, id;
    (void)state;
    for (unsigned i = 0; i < 70000; i++) {
        snprintf(name, sizeof name, "m%u", i);
        if ((id = intern(t, "a/B", name, "", BBF_SITE_ENTER)) != 0)
            last = id;
    }
    assert_int_equal(last, BBF_MAX_STEP_SITES + BBF_L_SITE_BEFORE_RESET);
    assert_int_equal(t->hit_sites, 70000 - BBF_MAX_STEP_SITES);
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "r%u", i);
        if ((id = intern(t, "a/B", name, "", BBF_SITE_ROOT)) != 0)
            last = id;
    }
    assert_int_equal(last, BBF_L_META_SITE);
    sample_free(t);
}

static void a_buffer_class_has_one_number_and_a_release_site(void **state)
{
    struct bbf_tracker *t = sample_default();
    (void)state;
    uint32_t a = bbf_class_intern(t, "io/netty/buffer/PooledHeapByteBuf");
    assert_int_not_equal(a, 0);
    assert_int_equal(bbf_class_intern(t, "io.netty.buffer.PooledHeapByteBuf"), a);
    uint32_t b = bbf_class_intern(t, "shaded/io/netty/buffer/PooledHeapByteBuf");
    assert_int_not_equal(a, b);
    const struct bbf_site *site = bbf_site_get(t, t->release_site[a]);
    assert_string_equal(site->class_name, "io.netty.buffer.PooledHeapByteBuf");
    assert_string_equal(site->method, "release");
    assert_int_equal(site->kind, BBF_SITE_RELEASE);
    sample_free(t);
}

static void classes_end_at_the_twelve_bits_they_have(void **state)
{
    struct bbf_tracker *t = sample_default();
    char name[16];
    (void)state;
    for (unsigned i = 1; i <= BBF_L_CLASS_MASK; i++) {
        snprintf(name, sizeof name, "a/C%u", i);
        assert_int_equal(bbf_class_intern(t, name), i);
    }
    assert_int_equal(bbf_class_intern(t, "a/OneTooMany"), 0);
    assert_int_equal(bbf_class_intern(t, "a/C4095"), 4095);
    sample_free(t);
}

static void *intern_many(void *arg)
{
    struct bbf_tracker *t = arg;
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t id = sample_step(t, i);
        const struct bbf_site *site = bbf_site_get(t, id); /* complete once it has a number */
        char name[16];
        snprintf(name, sizeof name, "step%u", i);
        if (site == NULL || strcmp(site->method, name) != 0)
            return arg;
    }
    return NULL;
}

static void threads_that_load_the_same_classes_agree(void **state)
{
    struct bbf_tracker *t = sample_default();
    pthread_t thread[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, intern_many, t), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(t->n_sites, BBF_L_SITE_BEFORE_RESET + 1 + 2000);
    sample_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_site_has_one_number_however_its_class_is_written),
        cmocka_unit_test(sites_differ_by_class_method_descriptor_and_kind),
        cmocka_unit_test(the_reserved_sites_have_their_numbers),
        cmocka_unit_test(at_the_limit_known_sites_are_still_found),
        cmocka_unit_test(every_number_fits_the_word_that_carries_it),
        cmocka_unit_test(a_buffer_class_has_one_number_and_a_release_site),
        cmocka_unit_test(classes_end_at_the_twelve_bits_they_have),
        cmocka_unit_test(threads_that_load_the_same_classes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
