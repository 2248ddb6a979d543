/* link: bbf_render bbf_snapshot bbf_core */
/*
 * Losses since a base: by path and kind, with the flow lines of the Java tracker's metrics.
 */
#include "core/err.h"
#include "render/losses.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BOTH = BBF_LOSS_DIRECT | BBF_LOSS_OTHER, MOST = 1000 };

/* `direct` and `heap` lives lost at one step, `other` ones at its root. */
static struct bbf_snapshot *lost(uint64_t direct, uint64_t heap, uint64_t other)
{
    struct bbf_snapshot *s = sample_new();
    int64_t root = sample_step(s, -1, "io.netty.buffer.A", "directBuffer");
    int64_t keep = sample_step(s, root, "com.a|b.\033[31mEvil", "re\nad");

    if (direct > 0)
        sample_leak(s, keep, BBF_VERDICT_LEAKED, BBF_MEM_DIRECT, direct, 100 * direct, 7);
    if (heap > 0)
        sample_leak(s, keep, BBF_VERDICT_LEAKED, BBF_MEM_HEAP, heap, 10 * heap, 7);
    if (other > 0)
        sample_leak(s, root, BBF_VERDICT_LEAKED, BBF_MEM_COMPOSITE, other, 0, 7);
    sample_leak(s, root, BBF_VERDICT_AGED, BBF_MEM_DIRECT, 5, 50, 700);
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    return s;
}

/* Compare, and have `base` of the next. */
static struct bbf_losses next(struct bbf_snapshot *s, unsigned kinds, const struct bbf_losses *base,
                              size_t most)
{
    struct bbf_losses losses;
    assert_int_equal(bbf_losses_since(&losses, s, kinds, base != NULL ? base->base : NULL,
                                      base != NULL ? base->n : 0, most),
                     BBF_OK);
    bbf_snapshot_free(s);
    return losses;
}

static void assert_flows(const struct bbf_losses *losses, uint64_t direct, const char *direct_flows,
                         uint64_t other, const char *other_flows)
{
    assert_int_equal(losses->added[0], direct);
    assert_int_equal(losses->added[1], other);
    assert_string_equal(bbf_buf_cstr((struct bbf_buf *)&losses->flows[0]), direct_flows);
    assert_string_equal(bbf_buf_cstr((struct bbf_buf *)&losses->flows[1]), other_flows);
}

#define ROOT "io.netty.buffer.A.directBuffer"
#define KEEP "com.a\\u007cb.\\u001b[31mEvil.re\\u000aad"
#define PATH "|path=" ROOT "[ref=1] -> " KEEP "[ref=1]\n"

static void each_loss_comes_once(void **state)
{
    (void)state;
    struct bbf_losses first = next(lost(3, 0, 0), BOTH, NULL, MOST);
    assert_flows(&first, 3, "root=" ROOT "|final_ref=1|leak_count=3|leak_rate=100.00%" PATH, 0, "");
    struct bbf_losses again = next(lost(3, 0, 0), BOTH, &first, MOST);
    assert_flows(&again, 0, "", 0, "");
    struct bbf_losses more = next(lost(5, 2, 4), BOTH, &again, MOST);
    assert_flows(&more, 2, "root=" ROOT "|final_ref=1|leak_count=2|leak_rate=100.00%" PATH, 6,
                 "root=" ROOT "|final_ref=1|leak_count=4|leak_rate=25.00%|path=" ROOT "[ref=1]\n"
                 "root=" ROOT "|final_ref=1|leak_count=2|leak_rate=100.00%" PATH);
    bbf_losses_free(&first);
    bbf_losses_free(&again);
    bbf_losses_free(&more);
}

/* A kind that is not asked for has neither count nor line, and does not come later. */
static void kinds_are_chosen(void **state)
{
    (void)state;
    struct bbf_losses direct = next(lost(3, 2, 0), BBF_LOSS_DIRECT, NULL, MOST);
    assert_int_equal(direct.added[0], 3);
    assert_int_equal(direct.added[1], 0);
    assert_int_equal(direct.flows[1].len, 0);
    struct bbf_losses other = next(lost(4, 3, 0), BBF_LOSS_OTHER, &direct, MOST);
    assert_flows(&other, 0, "", 1, "root=" ROOT "|final_ref=1|leak_count=1|leak_rate=100.00%" PATH);
    bbf_losses_free(&direct);
    bbf_losses_free(&other);
}

/* The totals have all. */
static void lines_are_bounded(void **state)
{
    (void)state;
    struct bbf_losses losses = next(lost(0, 2, 4), BOTH, NULL, 1);
    assert_flows(&losses, 0, "", 6,
                 "root=" ROOT "|final_ref=1|leak_count=4|leak_rate=36.36%|path=" ROOT "[ref=1]\n");
    bbf_losses_free(&losses);
}

/* An estimate may become smaller. */
static void a_smaller_count_is_no_loss(void **state)
{
    (void)state;
    struct bbf_losses first = next(lost(5, 0, 0), BOTH, NULL, MOST);
    struct bbf_losses less = next(lost(4, 0, 0), BOTH, &first, MOST);
    assert_flows(&less, 0, "", 0, "");
    struct bbf_losses more = next(lost(6, 0, 0), BOTH, &less, MOST);
    assert_int_equal(more.added[0], 2);
    bbf_losses_free(&first);
    bbf_losses_free(&less);
    bbf_losses_free(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_loss_comes_once), cmocka_unit_test(kinds_are_chosen),
        cmocka_unit_test(lines_are_bounded), cmocka_unit_test(a_smaller_count_is_no_loss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
