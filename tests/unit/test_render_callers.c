/* link: bbf_render bbf_snapshot bbf_core */
/* For whom a bare root allocates: its words, its field for llm, and its rows through the JSON. */
#include "render/callers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/err.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

static void add(struct bbf_snapshot *s, uint32_t node, enum bbf_caller kind, uint64_t sampled,
                uint64_t leaked)
{
    s->callers = sample_grow(s->callers, s->n_callers, sizeof *s->callers);
    s->callers[s->n_callers++] = (struct bbf_snap_caller){.root = s->nodes[0].site,
                                                          .caller = s->nodes[node].site,
                                                          .kind = kind,
                                                          .sampled = sampled,
                                                          .leaked = leaked};
}

static void assert_words(struct bbf_snapshot *s, uint32_t node, const char *text, const char *field)
{
    struct bbf_view view;
    struct bbf_buf out = BBF_BUF_INIT;
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_view_init(&view, s), 0);
    assert_int_equal(bbf_view_add_names(&view, '|'), 0);
    bbf_callers_text(&out, &view, node);
    assert_string_equal(bbf_buf_cstr(&out), text);
    out.len = 0;
    bbf_callers_field(&out, &view, node);
    assert_string_equal(bbf_buf_cstr(&out), field);
    bbf_buf_free(&out);
    bbf_view_free(&view);
}

/* The name of a node's step, as every format has it. */
static const char *name(struct bbf_snapshot *s, uint32_t node)
{
    static char text[4][100];
    static int next;
    struct bbf_view view;
    struct bbf_buf out = BBF_BUF_INIT;
    char *to = text[next++ % 4];
    assert_int_equal(bbf_view_init(&view, s), 0);
    assert_int_equal(bbf_view_add_names(&view, '|'), 0);
    bbf_view_name(&out, &view, node);
    snprintf(to, 100, "%s", bbf_buf_cstr(&out));
    bbf_buf_free(&out);
    bbf_view_free(&view);
    return to;
}

static void samples_that_leaked_come_first(void **state)
{
    struct bbf_snapshot *s = sample_interior();
    char text[600], field[600];
    (void)state;
    add(s, 1, BBF_CALLER_FOLLOWED, 400, 0);
    add(s, 0, BBF_CALLER_NONE, 9, 1);
    add(s, 0, BBF_CALLER_OTHERS, 9, 1);
    add(s, 2, BBF_CALLER_NEAREST, 9, 2);
    add(s, 1, BBF_CALLER_FOLLOWED, 20, 12);
    snprintf(text, sizeof text,
             "   allocated for %s (12 of 16 sampled); no followed method on the stack, nearest %s "
             "(2 of 16); %s (1 of 16); others (1)\n",
             name(s, 1), name(s, 2), "no followed method on the stack");
    snprintf(field, sizeof field,
             "|allocated_for=%s 12/16, no followed method on the stack, nearest %s 2/16, %s 1/16"
             "|allocated_for_sample=leaked",
             name(s, 1), name(s, 2), "no followed method on the stack");
    assert_words(s, 0, text, field);
    assert_words(s, 1, "", ""); /* a step: its path says who had it */
    bbf_snapshot_free(s);
}

static void without_a_leak_it_says_so(void **state)
{
    struct bbf_snapshot *s = sample_interior();
    char text[300], field[300];
    (void)state;
    assert_words(s, 0, "", "");
    add(s, 1, BBF_CALLER_FOLLOWED, 3, 0);
    snprintf(text, sizeof text,
             "   this root allocates for %s (3 of 3 sampled, none of which leaked yet)\n",
             name(s, 1));
    snprintf(field, sizeof field, "|allocated_for=%s 3/3|allocated_for_sample=all", name(s, 1));
    assert_words(s, 0, text, field);
    bbf_snapshot_free(s);
}

static void rows_survive_the_json(void **state)
{
    struct bbf_snapshot *s = sample_interior(), *read = NULL;
    struct bbf_buf text = BBF_BUF_INIT;
    const struct bbf_render_options options = {0};
    char why[200] = "";
    (void)state;
    add(s, 1, BBF_CALLER_NEAREST, 20, 12);
    assert_int_equal(bbf_snapshot_finish(s), 0);
    assert_int_equal(bbf_render(&text, s, BBF_FORMAT_JSON, &options), 0);
    assert_int_equal(bbf_snapshot_from_json(&read, text.data, text.len, why, sizeof why), 0);
    assert_int_equal(read->n_callers, 1);
    assert_int_equal(read->callers[0].root, read->nodes[0].site);
    assert_int_equal(read->callers[0].caller, read->nodes[1].site);
    assert_int_equal(read->callers[0].kind, BBF_CALLER_NEAREST);
    assert_int_equal(read->callers[0].sampled, 20);
    assert_int_equal(read->callers[0].leaked, 12);
    bbf_snapshot_free(read);
    /* More that leaked than were sampled. */
    char *at = memmem(text.data, text.len, "\"leaked\":12}", 12);
    assert_non_null(at);
    memcpy(at, "\"leaked\":99}", 12);
    assert_int_equal(bbf_snapshot_from_json(&read, text.data, text.len, why, sizeof why),
                     BBF_EFORMAT);
    assert_non_null(strstr(why, "allocated_for[0].leaked"));
    bbf_buf_free(&text);
    bbf_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_that_leaked_come_first),
        cmocka_unit_test(without_a_leak_it_says_so),
        cmocka_unit_test(rows_survive_the_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
