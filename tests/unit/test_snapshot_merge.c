/* link: bbf_render bbf_snapshot bbf_core */
/*
 * One snapshot of many: for random trees every column of every path is the sum of the inputs', so
 * are leak rows, totals, pins, callers and uses after release; a note names what cannot be added.
 */
#include "core/buf.h"
#include "core/err.h"
#include "render/render.h"
#include "snapshot/merge.h"
#include "tests/unit/snapshot_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char pooled[] = "io.netty.buffer.PooledByteBufAllocator";

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % n;
}

/* Few names, so that trees of several snapshots share most of them. */
static int64_t random_step(struct bbf_snapshot *s, int64_t parent)
{
    static const char *const classes[] = {"a.A", "a.B", "b.A"};
    static const char *const methods[] = {"read", "write", "lambda$read$0"};
    uint32_t site = sample_site(s, parent < 0 ? pooled : classes[below(3)],
                                parent < 0 ? "directBuffer" : methods[below(3)], "",
                                parent < 0 ? BBF_SITE_ROOT : (enum bbf_site_kind)(1 + below(2)));
    s->sites[site].line = 10;
    return sample_node(s, parent, site, (enum bbf_bucket)below(4));
}

static struct bbf_snapshot *random_snapshot(int64_t pid)
{
    struct bbf_snapshot *s = sample_new();
    const uint32_t n = 1 + below(60);

    s->jvm.pid = pid;
    for (uint32_t i = 0; i < n; i++) {
        int64_t node = random_step(s, i == 0 || below(9) == 0 ? -1 : (int64_t)below(i));
        s->nodes[node].released_ = below(1000);
        s->nodes[node].held_ = below(4);
        s->nodes[node].harmless_ = below(4);
        s->nodes[node].unknown_ = below(4);
        if (below(3) == 0)
            sample_leak(s, node, (enum bbf_verdict)below(2), (enum bbf_memory)below(3),
                        1 + below(50), below(5000), below(90));
    }
#define XX(name) s->totals.name##_ = below(100);
    BBF_TOTALS(XX)
#undef XX
    s->totals.sampled_ = 0;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    return s;
}

/* ---- Columns by path, made another way than the merge does ----------------------------------- */

struct row {
    char path[8192];
    struct bbf_snap_node sum;
};

static struct row *rows;
static size_t n_rows;

static struct row *row_of(const char *path)
{
    for (size_t i = 0; i < n_rows; i++)
        if (strcmp(rows[i].path, path) == 0)
            return &rows[i];
    rows = sample_memory(reallocarray(rows, n_rows + 1, sizeof *rows));
    memset(&rows[n_rows], 0, sizeof *rows);
    snprintf(rows[n_rows].path, sizeof rows->path, "%s", path);
    return &rows[n_rows++];
}

static void path_of(const struct bbf_snapshot *s, size_t node, char *path, size_t size)
{
    const struct bbf_snap_node *n = &s->nodes[node];
    const struct bbf_snap_site *site = &s->sites[n->site];
    size_t len = 0;

    path[0] = '\0';
    for (size_t i = 0; n->parent >= 0 && i < s->n_nodes; i++)
        if (s->nodes[i].id == (uint32_t)n->parent)
            path_of(s, i, path, size);
    len = strlen(path);
    snprintf(path + len, size - len, "/%s.%s:%d:%d", site->class_name, site->method,
             (int)site->kind, n->ref);
}

/* sign 1: add the snapshot's columns; -1: subtract them. */
static void count(const struct bbf_snapshot *s, uint64_t sign)
{
    char path[8192];

    for (size_t i = 0; i < s->n_nodes; i++) {
        path_of(s, i, path, sizeof path);
        struct row *row = row_of(path);
#define XX(name) row->sum.name##_ += sign * s->nodes[i].name##_;
        BBF_NODE_COLUMNS(XX)
#undef XX
    }
    for (size_t i = 0; i < s->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        path_of(s, leak->node, path, sizeof path);
        snprintf(path + strlen(path), 64, " leak %d %d %d", (int)leak->verdict, (int)leak->memory,
                 (int)leak->lost);
        struct row *row = row_of(path);
        row->sum.leaked_ += sign * leak->count;
        row->sum.leaked_bytes_ += sign * leak->bytes;
    }
}

static void assert_all_zero(void)
{
    for (size_t i = 0; i < n_rows; i++) {
#define XX(name)                                                                                   \
    if (rows[i].sum.name##_ != 0)                                                                  \
        fail_msg("%s: " #name " differs by %lld", rows[i].path, (long long)rows[i].sum.name##_);
        BBF_NODE_COLUMNS(XX)
#undef XX
    }
    free(rows);
    rows = NULL;
    n_rows = 0;
}

static struct bbf_snapshot *merged(struct bbf_snapshot *const *from, size_t n)
{
    struct bbf_merge *m = bbf_merge_new();
    struct bbf_snapshot *out = NULL;
    char name[32];

    assert_non_null(m);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%zu.json", i);
        assert_int_equal(bbf_merge_add(m, from[i], name, NULL), 0);
    }
    assert_int_equal(bbf_merge_end(m, &out), 0);
    bbf_merge_free(m);
    return out;
}

static void every_column_of_every_path_is_the_sum(void **state)
{
    (void)state;
    for (seed = 1; seed < 60; seed += 2) {
        struct bbf_snapshot *from[5];
        struct bbf_snap_totals sum = {0};
        const uint64_t this_seed = seed;
        const size_t n = 1 + below(5);

        for (size_t i = 0; i < n; i++) {
            from[i] = random_snapshot((int64_t)i);
            count(from[i], 1);
#define XX(name) sum.name##_ += from[i]->totals.name##_;
            BBF_TOTALS(XX)
#undef XX
        }
        struct bbf_snapshot *all = merged(from, n);
        count(all, (uint64_t)-1);
        assert_all_zero();
        assert_memory_equal(&sum, &all->totals, sizeof sum);
        bbf_snapshot_free(all);
        for (size_t i = 0; i < n; i++)
            bbf_snapshot_free(from[i]);
        seed = this_seed;
    }
}

/* It survives being written and read: ids, order and lists are whole. */
static void a_merge_is_a_document(void **state)
{
    (void)state;
    seed = 7;
    struct bbf_snapshot *from[2] = {random_snapshot(1), random_snapshot(2)}, *read = NULL;
    struct bbf_snapshot *all = merged(from, 2);
    struct bbf_buf text = BBF_BUF_INIT, again = BBF_BUF_INIT;
    char why[200] = "";

    assert_int_equal(bbf_render(&text, all, BBF_FORMAT_JSON, NULL), 0);
    assert_int_equal(bbf_snapshot_from_json(&read, text.data, text.len, why, sizeof why), 0);
    assert_int_equal(bbf_render(&again, read, BBF_FORMAT_JSON, NULL), 0);
    assert_string_equal(bbf_buf_cstr(&text), bbf_buf_cstr(&again));
    bbf_buf_free(&text);
    bbf_buf_free(&again);
    bbf_snapshot_free(read);
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

static bool has_note(const struct bbf_snapshot *s, const char *part)
{
    for (size_t i = 0; i < s->n_notes; i++)
        if (strstr(s->notes[i], part) != NULL)
            return true;
    for (size_t i = 0; i < s->n_notes; i++)
        print_message("note: %s\n", s->notes[i]);
    return false;
}

static struct bbf_snapshot *finished(struct bbf_snapshot *s)
{
    assert_int_equal(bbf_snapshot_finish(s), 0);
    return s;
}

static void a_snapshot_is_added_once(void **state)
{
    (void)state;
    struct bbf_merge *m = bbf_merge_new();
    struct bbf_snapshot *one = finished(sample_verdicts()), *out = NULL;
    const char *of = NULL;

    assert_int_equal(bbf_merge_add(m, one, "a.json", NULL), 0);
    assert_int_equal(bbf_merge_add(m, one, "b.json", &of), BBF_EREFUSED);
    assert_string_equal(of, "a.json");
    /* Another container has the same pid, in the same millisecond, but not the same counts. */
    one->totals.misuse_++;
    assert_int_equal(bbf_merge_add(m, one, "c.json", NULL), 0);
    assert_int_equal(bbf_merge_end(m, &out), 0);
    assert_int_equal(out->totals.leaked_, 2 * one->totals.leaked_);
    assert_int_equal(out->jvm.pid, 0);
    bbf_snapshot_free(out);
    bbf_merge_free(m);
    bbf_snapshot_free(one);
}

static void one_jvm_at_two_times_is_noted(void **state)
{
    (void)state;
    struct bbf_snapshot *from[2] = {finished(sample_cost()), finished(sample_cost())};

    from[1]->captured_at_ms += 60000;
    from[1]->cost.since_start.elapsed_ns_ +=
        UINT64_C(58500000000); /* not measured at one instant */
    struct bbf_snapshot *all = merged(from, 2);
    assert_true(has_note(all, "0.json and 1.json have the same process id (4711)"));
    bbf_snapshot_free(all);
    from[1]->cost.since_start.elapsed_ns_ = 1; /* started a minute later: another JVM */
    all = merged(from, 2);
    for (size_t i = 0; i < all->n_notes; i++)
        assert_null(strstr(all->notes[i], "same process id"));
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

/* A newer bbflow has settings that an older one does not: one note, however many. */
static void settings_of_another_version_are_one_note(void **state)
{
    (void)state;
    enum { MANY = 90 };
    struct bbf_snapshot *from[2] = {sample_basic(), sample_basic()};
    char name[16];

    from[1]->jvm.pid = 2;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "new%d", i);
        sample_setting(from[1], name, "1");
    }
    finished(from[0]);
    finished(from[1]);
    struct bbf_snapshot *all = merged(from, 2);
    size_t notes = 0;
    for (size_t i = 0; i < all->n_notes; i++)
        notes += strstr(all->notes[i], "new0") != NULL || strstr(all->notes[i], "new1") != NULL;
    assert_int_equal(notes, 1);
    assert_true(has_note(all, "90 settings are in some of the 2 snapshots only, as of different "
                              "versions of bbflow: new0, new1, new2, "));
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

static void what_differs_is_noted(void **state)
{
    (void)state;
    struct bbf_snapshot *from[3] = {sample_basic(), sample_basic(), sample_basic()};

    for (int i = 0; i < 3; i++)
        from[i]->jvm.pid = i;
    free(from[1]->settings[0].value);
    from[1]->settings[0].value = sample_text("com.other");
    sample_setting(from[2], "refs", "on");
    from[2]->totals.sampled_ = 10;
    from[1]->limits[0].limit = 5;
    from[1]->limits[0].hit = 3;
    from[0]->limits[0].hit = 4;
    sample_string(&from[0]->notes, &from[0]->n_notes, "a limit was reached");
    sample_string(&from[2]->notes, &from[2]->n_notes, "a limit was reached");
    from[1]->windows = (struct bbf_snap_windows){.used = true, .share_ppb_ = 20000000};
    free(from[2]->jvm.main);
    from[2]->jvm.main = sample_text("other.Main");
    for (int i = 0; i < 3; i++)
        finished(from[i]);
    struct bbf_snapshot *all = merged(from, 3);
    assert_true(has_note(all, "include= differs: com.app in 0.json, com.other in 1.json"));
    assert_true(has_note(all, "refs=on is set in 1 of 3 snapshots, as 2.json"));
    assert_true(has_note(all, "1 of 3 snapshots are samples"));
    assert_true(has_note(all, "1 of 3 snapshots have only what windows of time watched"));
    assert_false(all->windows.used); /* one share of all would not be true */
    assert_true(has_note(all, "limits differ"));
    assert_true(has_note(all, "0.json and 1 more of 3 snapshots: a limit was reached"));
    assert_true(has_note(all, "the snapshots are of 2 programs"));
    assert_string_equal(all->jvm.main, "com.app.Main, other.Main");
    assert_int_equal(all->limits[0].hit, 7);
    assert_int_equal(all->limits[0].limit, 1000000);
    assert_int_equal(all->totals.sampled_, 10);
    assert_int_equal(all->n_settings, 0);
    bbf_snapshot_free(all);
    for (int i = 0; i < 3; i++)
        bbf_snapshot_free(from[i]);
}

/* Threads of one name are one, of whatever id; uses after release of one place are one row. */
static void rows_of_one_place_are_one_row(void **state)
{
    (void)state;
    struct bbf_snapshot *from[2] = {finished(sample_verdicts()), finished(sample_verdicts())};

    from[1]->jvm.pid = 2;
    for (size_t i = 0; i < from[1]->n_threads; i++)
        from[1]->threads[i].id += 1000;
    for (size_t i = 0; i < from[1]->n_leaks; i++)
        from[1]->leaks[i].thread += from[1]->leaks[i].thread != 0 ? 1000 : 0;
    struct bbf_snapshot *all = merged(from, 2);
    assert_int_equal(all->n_threads, from[0]->n_threads);
    assert_int_equal(all->n_leaks, from[0]->n_leaks);
    assert_int_equal(all->n_nodes, from[0]->n_nodes);
    assert_int_equal(all->n_misuses, from[0]->n_misuses);
    for (size_t i = 0; i < all->n_misuses; i++)
        assert_int_equal(all->misuses[i].count, 2 * from[0]->misuses[i].count);
    for (size_t i = 0; i < all->n_leaks; i++) {
        const char *name = bbf_snapshot_thread(from[0], from[0]->leaks[i].thread);
        const char *merged_name = bbf_snapshot_thread(all, all->leaks[i].thread);
        assert_int_equal(all->leaks[i].count, 2 * from[0]->leaks[i].count);
        assert_int_equal(name == NULL, merged_name == NULL);
        if (name != NULL)
            assert_string_equal(name, merged_name);
    }
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

/* Pins and callers are sums; histories of one interval also, of different ones they are left out.
 */
static void histories_are_added_only_where_intervals_meet(void **state)
{
    (void)state;
    struct bbf_snapshot *from[2] = {finished(sample_growth()), finished(sample_growth())};
    const size_t rows_before = from[0]->n_growth;
    const struct bbf_snap_growth *row = &from[0]->growth[0];

    assert_true(rows_before > 0);
    from[1]->jvm.pid = 2;
    from[1]->captured_at_ms += 100;
    struct bbf_snapshot *all = merged(from, 2);
    assert_int_equal(all->n_growth, rows_before);
    assert_int_equal(all->growth[0].at[row->n - 1].lives, 2 * row->at[row->n - 1].lives);
    bbf_snapshot_free(all);
    from[1]->captured_at_ms += (int64_t)from[1]->history.seconds * 1000;
    all = merged(from, 2);
    assert_int_equal(all->n_growth, 0);
    assert_true(has_note(all, "histories of losses are left out"));
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

static void pins_callers_and_pools_are_sums(void **state)
{
    (void)state;
    struct bbf_snapshot *from[2] = {sample_reconciled(), sample_reconciled()};

    for (int i = 0; i < 2; i++) {
        from[i]->jvm.pid = i;
        if (from[i]->n_pins == 0) {
            from[i]->pins = sample_grow(NULL, 0, sizeof *from[i]->pins);
            from[i]->pins[from[i]->n_pins++] = (struct bbf_snap_pin){
                0, BBF_POOL_POOLED, BBF_MEM_DIRECT, 2, 20, (uint64_t)(8 - i), 12, 1, 100};
        }
        from[i]->callers = sample_grow(NULL, 0, sizeof *from[i]->callers);
        from[i]->callers[from[i]->n_callers++] =
            (struct bbf_snap_caller){0, 0, BBF_CALLER_FOLLOWED, 5, 3};
        finished(from[i]);
    }
    from[1]->reconciled.used_direct_ = BBF_NOT_TOLD;
    struct bbf_snapshot *all = merged(from, 2);
    assert_int_equal(all->n_callers, 1);
    assert_int_equal(all->callers[0].sampled, 10);
    assert_int_equal(all->callers[0].leaked, 6);
    assert_int_equal(all->n_pins, from[0]->n_pins);
    assert_int_equal(all->pins[0].reserved, 2 * from[0]->pins[0].reserved);
    assert_int_equal(all->reconciled.n_pools, from[0]->reconciled.n_pools);
    assert_int_equal(all->reconciled.pools[0].lives_, 2 * from[0]->reconciled.pools[0].lives_);
    assert_true(all->reconciled.used_direct_ == BBF_NOT_TOLD);
    assert_true(from[0]->n_usage > 0);
    assert_int_equal(all->n_usage, 0);
    assert_true(has_note(all, "memory over time (usage=) is left out"));
    bbf_snapshot_free(all);
    from[1]->reconciled.read = false;
    all = merged(from, 2);
    assert_false(all->reconciled.read);
    assert_true(has_note(all, "1 of 2 snapshots have none"));
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

/* Each keeps its own: the last lost lives of each JVM. */
static void contexts_come_together(void **state)
{
    (void)state;
    struct bbf_snapshot *from[2] = {finished(sample_contexts()), finished(sample_contexts())};

    from[1]->jvm.pid = 2;
    struct bbf_snapshot *all = merged(from, 2);
    assert_true(from[0]->n_contexts > 0);
    assert_int_equal(all->n_contexts, 2 * from[0]->n_contexts);
    assert_string_equal(all->contexts[0].channel, from[0]->contexts[0].channel);
    assert_string_equal(all->contexts[1].channel, from[1]->contexts[0].channel);
    bbf_snapshot_free(all);
    bbf_snapshot_free(from[0]);
    bbf_snapshot_free(from[1]);
}

/* Of one snapshot it is that snapshot: no note is added. */
static void one_snapshot_is_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct bbf_snapshot *one = finished(samples[i].make());
        struct bbf_snapshot *all = merged(&one, 1);
        assert_memory_equal(&all->totals, &one->totals, sizeof one->totals);
        assert_int_equal(all->n_notes, one->n_notes);
        assert_int_equal(all->n_settings, one->n_settings);
        assert_int_equal(all->n_growth, one->n_growth);
        assert_int_equal(all->n_usage, one->n_usage);
        assert_int_equal(all->usage_of.seconds, one->usage_of.seconds);
        assert_int_equal(all->n_contexts, one->n_contexts);
        assert_int_equal(all->jvm.pid, one->jvm.pid);
        bbf_snapshot_free(all);
        bbf_snapshot_free(one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_of_every_path_is_the_sum),
        cmocka_unit_test(a_merge_is_a_document),
        cmocka_unit_test(a_snapshot_is_added_once),
        cmocka_unit_test(one_jvm_at_two_times_is_noted),
        cmocka_unit_test(what_differs_is_noted),
        cmocka_unit_test(settings_of_another_version_are_one_note),
        cmocka_unit_test(rows_of_one_place_are_one_row),
        cmocka_unit_test(contexts_come_together),
        cmocka_unit_test(histories_are_added_only_where_intervals_meet),
        cmocka_unit_test(pins_callers_and_pools_are_sums),
        cmocka_unit_test(one_snapshot_is_itself),
    };
    return cmocka_run_group_tests_name("snapshot_merge", tests, NULL, NULL);
}
