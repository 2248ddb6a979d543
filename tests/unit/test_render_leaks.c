/* link: bbf_render bbf_snapshot bbf_core */
/* `bbflow leaks`: one entry a bug, only what the counts and the facts prove. */
#include "core/err.h"
#include "core/facts.h"
#include "render/render.h"
#include "render/text.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The text of the snapshot, which is freed. The caller frees the text. */
static char *text_of(struct bbf_snapshot *s, size_t max_lines)
{
    const struct bbf_render_options options = {.max_lines = max_lines};
    struct bbf_buf out = BBF_BUF_INIT;
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_int_equal(bbf_render(&out, s, BBF_FORMAT_LEAKS, &options), BBF_OK);
    char *text = sample_text(bbf_buf_cstr(&out));
    bbf_buf_free(&out);
    bbf_snapshot_free(s);
    return text;
}

static void check_text(struct bbf_snapshot *s, size_t max_lines, const char *expected)
{
    char *text = text_of(s, max_lines);
    assert_string_equal(text, expected);
    free(text);
}

static void check_has(struct bbf_snapshot *s, size_t max_lines, const char *part)
{
    char *text = text_of(s, max_lines);
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
    free(text);
}

static char *places_of(struct bbf_snapshot *s)
{
    const struct bbf_render_options options = {.places = true};
    struct bbf_buf out = BBF_BUF_INIT;
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    assert_int_equal(bbf_render(&out, s, BBF_FORMAT_LEAKS, &options), BBF_OK);
    char *text = sample_text(bbf_buf_cstr(&out));
    bbf_buf_free(&out);
    bbf_snapshot_free(s);
    return text;
}

/* The owner of what total() borrows; the call between them may throw. */
static void lend(struct bbf_snapshot *s, int64_t owner, int64_t borrower, const char *throws)
{
    struct bbf_snap_site *site = &s->sites[s->nodes[owner].site];
    site->calls = sample_memory(calloc(1, sizeof *site->calls));
    site->calls[0] = s->nodes[borrower].site;
    site->n_calls = 1;
    site->parameter = BBF_FACT_SEEN | BBF_FACT_RELEASES;
    s->sites[s->nodes[borrower].site].parameter = BBF_FACT_SEEN;
    site->throws = sample_memory(calloc(1, sizeof *site->throws));
    site->throws[0] =
        (struct bbf_snap_throw){17, sample_text("com.shop.CartParser"), sample_text(throws)};
    site->n_throws = 1;
}

/* A parser that throws, and a cache that keeps. `throws`: the call of the router that may. */
static struct bbf_snapshot *shop(const char *throws)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    int64_t read = sample_step(s, root, "com.shop.Router", "channelRead");
    int64_t cart = sample_step(s, read, "com.shop.Router", "cart");
    int64_t total = sample_step(s, cart, "com.shop.CartParser", "total");
    sample_release(s, total, "io.netty.buffer.PooledUnsafeDirectByteBuf", 92699);
    sample_leak(s, total, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 4889, 3879731, 90);
    lend(s, cart, total, throws);
    int64_t heap = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "heapBuffer");
    int64_t page = sample_step(s, heap, "com.shop.Shop", "page");
    int64_t cache = sample_step(s, page, "com.shop.EtagCache", "remember");
    s->sites[s->nodes[cache].site].parameter = BBF_FACT_SEEN | BBF_FACT_RETAINS;
    sample_leak(s, cache, BBF_VERDICT_AGED, BBF_MEM_HEAP, 4000, 4000 * 256, 606);
    int64_t clean = sample_step(s, -1, "io.netty.buffer.UnpooledByteBufAllocator", "heapBuffer");
    sample_release(s, clean, "io.netty.buffer.UnpooledHeapByteBuf", 628596);
    s->reconciled.read = true;
    s->reconciled.pools = sample_memory(calloc(1, sizeof *s->reconciled.pools));
    s->reconciled.n_pools = 1;
    s->reconciled.pools[0] = (struct bbf_snap_pool){.pool = BBF_POOL_POOLED,
                                                    .memory = BBF_MEM_DIRECT,
                                                    .lives_ = 8889,
                                                    .rounded_ = 5000000,
                                                    .netty_bytes_ = 5000000};
    return s;
}

static void an_entry_has_the_number_the_way_the_others_and_where_to_look(void **state)
{
    (void)state;
    check_text(shop("total"), 100,
               "2 places lose buffers             com.app.Main (4711)\n"
               "1 LEAK proven   4,889 of 97,588 (5.0%)  3.7 MiB direct\n"
               "    Router.channelRead -> cart -> CartParser.total      <- last seen here\n"
               "    92,699 others came the same way and were released later\n"
               "    look at: Router.cart, after CartParser.total returns or throws\n"
               "2 STILL OPEN    4,000 of 4,000 (100%)  1000.0 KiB heap, oldest 606 s\n"
               "    Shop.page -> EtagCache.remember: retained, never released\n"
               "    look at: EtagCache.remember\n"
               "Clean: 721,295 released (--all shows them).  Netty agrees: 100% of bytes.\n");
}

/* What a test's failure says: neither the JVM's title, notes and end, nor the rate. */
static void places_alone_have_their_ids(void **state)
{
    (void)state;
    char *text = places_of(shop("total"));
    const char *begins =
        "1 LEAK proven   4,889 of 97,588 (5.0%)  3.7 MiB direct\n"
        "    Router.channelRead -> cart -> CartParser.total      <- last seen here\n"
        "    92,699 others came the same way and were released later\n"
        "    look at: Router.cart, after CartParser.total returns or throws\n"
        "    id ";
    const char *ends = "    look at: EtagCache.remember\n    id ";
    assert_int_equal(strncmp(text, begins, strlen(begins)), 0);
    char *end = strstr(text, ends);
    assert_non_null(end);
    assert_int_equal(strlen(end), strlen(ends) + 16 + 1);
    free(text);
}

static void another_call_that_throws_has_a_line_of_its_own(void **state)
{
    (void)state;
    check_has(shop("vat"), 100,
              "    look at: Router.cart, after CartParser.total returns\n"
              "    Router.cart does not release them if this throws: CartParser.vat (line 17)\n");
}

/* The gap of a window is no method. */
static void a_gap_is_not_where_to_look(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.PooledByteBufAllocator", "directBuffer");
    int64_t read = sample_step(s, root, "com.shop.Router", "channelRead");
    int64_t gap = sample_step(s, read, "", BBF_GAP_STEP);
    sample_leak(s, gap, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, 3, 3000, 90);
    check_has(s, 100, "    look at: Router.channelRead, and what has them after it\n");
}

static void all_shows_the_ids_and_the_clean_roots(void **state)
{
    (void)state;
    char *text = text_of(shop("total"), 0);
    assert_non_null(strstr(text, "\n    id "));
    assert_non_null(strstr(text, "Clean: 721,295 released.  Netty agrees: 100% of bytes.\n"
                                 "    628,596 of UnpooledByteBufAllocator.heapBuffer\n"));
    assert_null(strstr(text, "--all"));
    free(text);
}

static void bytes_that_netty_has_more_are_a_share_below_100_percent(void **state)
{
    (void)state;
    struct bbf_snapshot *s = shop("total");
    s->reconciled.pools[0].netty_bytes_ = 5000001;
    check_has(s, 100, "  Netty has more: 99.99% of bytes in use are followed ('bbflow why').\n");
    s = shop("total");
    s->reconciled.sampled = true;
    check_has(s, 100, "(--all shows them).\n"); /* a sample is not compared */
}

static struct bbf_snapshot *one_of(uint64_t lost, uint64_t released)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    int64_t at = sample_step(s, root, "com.app.A", "read");
    sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, lost, lost, 1);
    if (released != 0)
        sample_release(s, at, "x.Buffer", released);
    return s;
}

static void a_rate_does_not_look_like_none_or_all(void **state)
{
    (void)state;
    check_has(one_of(1, 0), 100, "1 of 1 (100%)");
    check_has(one_of(8, 992), 100, "8 of 1,000 (0.8%)");
    check_has(one_of(1, 1000000), 100, "1 of 1,000,001 (<0.1%)");
    check_has(one_of(1000000, 1), 100, "1,000,000 of 1,000,001 (>99.9%)");
    check_has(one_of(1000000, 1), 100, "    1 other came the same way and was released later\n");
    check_has(one_of(UINT64_C(1) << 63, 7), 100,
              "9,223,372,036,854,775,808 of 9,223,372,036,854,775,815 (>99.9%)  8.0 EiB heap");
}

static void a_loss_that_costs_no_memory_says_so(void **state)
{
    (void)state;
    struct bbf_snapshot *s = one_of(3, 0);
    s->leaks[0].lost = BBF_LOST_NOTHING;
    check_has(s, 100, "3 B heap, freed by the garbage collector\n");
    s = one_of(3, 0);
    s->leaks[0].lost = BBF_LOST_COUNTER;
    check_has(s, 100, "3 B heap, counted by Netty although the JVM frees it\n");
    s = one_of(3, 0);
    s->leaks[0].lost = BBF_LOST_FOR_GOOD;
    check_has(s, 100, "3 B heap\n");
}

static void nothing_lost_is_one_line_and_what_is_open(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    sample_release(s, root, "x.Buffer", 5);
    s->nodes[root].live_ = 2;
    check_text(s, 100,
               "No place loses buffers            com.app.Main (4711)\n"
               "Open: 2, in use or not found yet (--gc finds what is lost by now)\n"
               "Clean: 5 released (--all shows them).\n");
    s = sample_new();
    free(s->jvm.main);
    s->jvm.main = sample_text("");
    check_text(s, 100,
               "No buffer was followed            (4711)\n"
               "Clean: 0 released.\n");
}

static void many_places_are_counted_and_a_long_way_shows_its_ends(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer"), at;
    char name[32];
    for (int i = 0; i < 23; i++) {
        snprintf(name, sizeof name, "com.app.C%d", i);
        at = sample_step(s, root, name, "take");
        sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
        sample_release(s, at, "x.Buffer", 1);
    }
    check_has(s, 100, "\n(3 more: --all shows them)\n");
    s = sample_new();
    at = sample_step(s, -1, "x.Alloc", "heapBuffer");
    for (int i = 0; i < 23; i++) {
        snprintf(name, sizeof name, "com.app.C%d", i);
        at = sample_step(s, at, name, "take");
    }
    sample_leak(s, at, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
    check_has(
        s, 100,
        "    C0.take -> C1.take -> [17 steps] -> C19.take -> C20.take -> C21.take -> C22.take "
        "     <- last seen here\n");
    check_has(sample_deep(), 100, " -> [4994 steps] -> ");
}

static void a_path_that_is_only_its_root_names_no_method(void **state)
{
    (void)state;
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "x.Alloc", "heapBuffer");
    sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, 1, 1, 1);
    check_has(s, 100,
              "    Alloc.heapBuffer      <- allocated here; no followed method had them\n"
              "    none that came this way was released\n"
              "    look at: what allocates there; include= may not have its package\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_has_the_number_the_way_the_others_and_where_to_look),
        cmocka_unit_test(places_alone_have_their_ids),
        cmocka_unit_test(another_call_that_throws_has_a_line_of_its_own),
        cmocka_unit_test(a_gap_is_not_where_to_look),
        cmocka_unit_test(all_shows_the_ids_and_the_clean_roots),
        cmocka_unit_test(bytes_that_netty_has_more_are_a_share_below_100_percent),
        cmocka_unit_test(a_rate_does_not_look_like_none_or_all),
        cmocka_unit_test(a_loss_that_costs_no_memory_says_so),
        cmocka_unit_test(nothing_lost_is_one_line_and_what_is_open),
        cmocka_unit_test(many_places_are_counted_and_a_long_way_shows_its_ends),
        cmocka_unit_test(a_path_that_is_only_its_root_names_no_method),
    };
    return cmocka_run_group_tests_name("render_leaks", tests, NULL, NULL);
}
