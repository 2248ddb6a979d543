/* link: bbf_render bbf_trie bbf_core */
/*
 * Our numbers beside Netty's: healthy reads as healthy, and what cannot be compared is not.
 */
#include "core/buf.h"
#include "render/reconciled.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <stdarg.h>
#include <cmocka.h>

#define NO       BBF_NOT_TOLD
#define UNPINNED NO, NO, NO, NO

static char *cause = "why";

static void assert_says(const struct bbf_snap_pool *rows, size_t n, bool sampled, const char *line,
                        const char *pool)
{
    struct bbf_snap_pool pools[2];
    struct bbf_snap_reconciled r = {.read = true,
                                    .sampled = sampled,
                                    .pools = pools,
                                    .n_pools = n,
                                    .causes = &cause,
                                    .n_causes = 1};
    struct bbf_buf text = BBF_BUF_INIT;
    char expected[400];

    memcpy(pools, rows, n * sizeof *rows);
    bbf_reconciled_line(&text, &r);
    snprintf(expected, sizeof expected, "Reconciled: %s\n  why\n", line);
    assert_string_equal(bbf_buf_cstr(&text), expected);
    bbf_buf_free(&text);
    text = (struct bbf_buf)BBF_BUF_INIT;
    r.used_direct_ = r.nio_capacity_ = NO;
    bbf_reconciled_section(&text, &r);
    snprintf(expected, sizeof expected,
             "\n=== Reconciled with Netty's own numbers ===\n%s\n%s\nwhy\n", line, pool);
    assert_string_equal(bbf_buf_cstr(&text), expected);
    bbf_buf_free(&text);
}

/* Nothing in use: buffers in thread caches are not leaks. */
static void healthy_reads_as_healthy(void **state)
{
    static const struct bbf_snap_pool caches = {
        BBF_POOL_POOLED, BBF_MEM_DIRECT, 0, 0, 0, 24, 0, 8192, 4 << 20, 3, 24, UNPINNED};
    static const struct bbf_snap_pool kept = {
        BBF_POOL_POOLED, BBF_MEM_HEAP, 2, 1000, 1024, 26, 1024, 8192, NO, 3, 24, UNPINNED};
    static const struct bbf_snap_pool off = {
        BBF_POOL_POOLED, BBF_MEM_DIRECT, 0, 0, 0, 0, 0, 0, 0, 3, 0, UNPINNED};
    (void)state;
    assert_says(&caches, 1, false, "Netty has nothing in use",
                "pooled direct: 0 of 0 buffers (24 more in thread caches), 0 B of 0 B; 4.0 MiB "
                "reserved by the pool");
    assert_says(&kept, 1, false,
                "100.00% of 1.0 KiB and 100.00% of 2 buffers that Netty has in "
                "use are explained",
                "pooled heap: 2 of 2 buffers (24 more in thread caches), 1.0 KiB of 1.0 KiB (1000 "
                "B before rounding to size classes)");
    assert_says(&off, 1, false, "Netty has nothing in use",
                "pooled direct: 0 of 0 buffers, 0 B of 0 B; 0 B reserved by the pool");
}

static void what_netty_does_not_tell_is_not_compared(void **state)
{
    /* Before 4.1.75 there are no pinned bytes. */
    static const struct bbf_snap_pool old = {
        BBF_POOL_POOLED, BBF_MEM_DIRECT, 1, 256, 256, 25, NO, 8192, NO, 3, NO, UNPINNED};
    static const struct bbf_snap_pool adaptive = {
        BBF_POOL_ADAPTIVE, BBF_MEM_DIRECT, 2, 512, 512, NO, NO, NO, 131072, NO, NO, UNPINNED};
    static const struct bbf_snap_pool unpooled[] = {
        {BBF_POOL_POOLED, BBF_MEM_DIRECT, 1, 256, 256, 25, NO, 8192, NO, 3, NO, UNPINNED},
        {BBF_POOL_UNPOOLED, BBF_MEM_HEAP, 5, 50, 50, NO, 100, NO, NO, NO, NO, UNPINNED}};
    (void)state;
    assert_says(&old, 1, false, "Netty does not tell what of its memory is in use",
                "pooled direct: 1 buffer (Netty counts 25 with its caches), 256 B");
    assert_says(&adaptive, 1, false, "Netty does not tell what of its memory is in use",
                "adaptive direct: 2 buffers, 512 B; Netty has no number for these; 127.5 KiB "
                "reserved by the pool");
    assert_says(unpooled, 2, false, "50.00% of 100 B that Netty has in use are explained",
                "pooled direct: 1 buffer (Netty counts 25 with its caches), 256 B\n"
                "unpooled heap: 5 buffers, 50 B of 100 B");
}

/* trackDirectOnly, or more chunks than are read: nothing is known of that pool. */
static void a_pool_that_was_left_out_is_no_empty_one(void **state)
{
    static const struct bbf_snap_pool rows[] = {
        {BBF_POOL_POOLED, BBF_MEM_DIRECT, 0, 0, 0, 24, 0, 8192, NO, 3, 24, UNPINNED},
        {BBF_POOL_POOLED, BBF_MEM_HEAP, 0, 0, 0, NO, NO, 8192, NO, NO, NO, UNPINNED}};
    (void)state;
    assert_says(rows, 2, false, "Netty has nothing in use of what is compared",
                "pooled direct: 0 of 0 buffers (24 more in thread caches), 0 B of 0 B\n"
                "pooled heap: 0 buffers, 0 B; Netty has no number for these");
}

static void a_sample_is_not_compared(void **state)
{
    static const struct bbf_snap_pool row = {
        BBF_POOL_POOLED, BBF_MEM_DIRECT, 5, 1280, 1280, 524, 131072, 147456, NO, 3, NO, UNPINNED};
    (void)state;
    assert_says(&row, 1, true, "not compared with Netty's own numbers",
                "pooled direct: 5 buffers (Netty counts 524 with its caches), 1.3 KiB followed, "
                "Netty has 128.0 KiB");
}

/* A real gap is reported: we know nothing of buffers from before the attach. */
static void a_gap_is_a_gap(void **state)
{
    static const struct bbf_snap_pool row = {
        BBF_POOL_POOLED, BBF_MEM_DIRECT, 0, 0, 0, 24, 4096, 8192, NO, 3, NO, UNPINNED};
    (void)state;
    assert_says(&row, 1, false, "0.00% of 4.0 KiB that Netty has in use are explained",
                "pooled direct: 0 buffers (Netty counts 24 with its caches), 0 B of 4.0 KiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_reads_as_healthy),
        cmocka_unit_test(what_netty_does_not_tell_is_not_compared),
        cmocka_unit_test(a_pool_that_was_left_out_is_no_empty_one),
        cmocka_unit_test(a_sample_is_not_compared),
        cmocka_unit_test(a_gap_is_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
