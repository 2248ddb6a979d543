/* link: bbf_trie bbf_core */
/*
 * The contexts of lost lives (context=on): whose they are, how many are kept, and their texts. The
 * hooks' half is tests/stress/context_twin.h.
 */
#include <string.h>

#include "tests/stress/context_twin.h"
#include "tests/unit/trie_twin.h"
#include "trie/context_text.h"

enum { KEEP = 3, PLACES = 2 };

static struct walk *walk_on(uint64_t memory)
{
    struct bbf_limits limits = sample_limits();
    limits.context_keep = KEEP;
    limits.max_contexts = PLACES;
    limits.memory = memory;
    struct walk *w = walk_new(limits);
    assert_true(bbf_context_switch(w->t, true));
    return w;
}

static uint64_t handle_of(const struct twin_object *o)
{
    return atomic_load(&((struct twin_object *)(uintptr_t)o)->bbf);
}

/* The channel of that id; false: given up. */
static bool note_channel(struct walk *w, uint64_t f, uint32_t id)
{
    struct bbf_context *at = context_at(w->t, f);
    if (at == NULL || !context_lock(w->t, at, f))
        return false;
    context_put(at, TWIN_CHANNEL, BBF_WORD(id, BBF_L_CONTEXT_ID));
    context_unlock(at);
    return true;
}

static struct twin_object *buffer_at(struct walk *w, uint32_t site)
{
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
    twin_step(w->me, o, site);
    return o;
}

static void lose(struct walk *w, uint32_t site, uint32_t id)
{
    struct twin_object *o = buffer_at(w, site);
    if (id != 0)
        assert_true(note_channel(w, handle_of(o), id));
    twin_drop(w->heap, o);
    walk_scan(w);
}

static struct bbf_snapshot *report(struct walk *w)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_non_null(s);
    s->captured_at_ms = 1000000000;
    assert_int_equal(bbf_context_fill(w->t, s), BBF_OK);
    assert_int_equal(bbf_tracker_capture(w->t, s), BBF_OK);
    return s;
}

/* Channels of the rows, in their order. */
static void assert_channels(struct walk *w, const char *wanted)
{
    char text[200] = "";
    struct bbf_snapshot *s = report(w);
    for (size_t i = 0; i < s->n_contexts; i++) {
        strcat(text, s->sites[s->nodes[s->contexts[i].node].site].method);
        strcat(text, s->contexts[i].channel != NULL ? s->contexts[i].channel + 8 : "-");
        strcat(text, " ");
    }
    assert_string_equal(text, wanted);
    bbf_snapshot_free(s);
}

static void the_last_lost_of_each_path_are_kept(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    for (uint32_t i = 1; i <= KEEP + 2; i++) {
        bbf_tracker_set_now(w->t, i * 10);
        lose(w, w->a, i);
    }
    lose(w, w->b, 0xf);
    lose(w, w->a, 0); /* it saw no channel: no row */
    assert_channels(w, "a05 a04 a03 b0f ");
    bbf_tracker_set_now(w->t, 100);
    struct bbf_snapshot *s = report(w);
    assert_int_equal(s->contexts[0].lost_ms, 1000000000 - 50 * 1000);
    assert_string_equal(s->contexts[0].channel, "0x00000005");
    assert_null(s->contexts[0].address);
    assert_null(s->contexts[0].hint);
    assert_null(s->contexts[0].thrown);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void a_path_without_room_is_counted(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    lose(w, w->a, 1);
    lose(w, w->b, 2);
    lose(w, sample_step(w->t, 7), 3);
    lose(w, sample_step(w->t, 8), 4);
    assert_int_equal(w->t->contexts.n, PLACES);
    assert_int_equal(w->t->contexts.hit, 2);
    assert_channels(w, "a01 b02 ");
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK); /* a reset */
    assert_int_equal(w->t->contexts.hit, 0);
    assert_channels(w, "");
    lose(w, w->b, 5);
    assert_channels(w, "b05 ");
    walk_free(w);
}

/* One object for many lives: each begins with an empty context. */
static void a_recycled_buffer_takes_nothing_along(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    struct twin_object *o = buffer_at(w, w->a);
    uint64_t first = handle_of(o), words[BBF_CONTEXT_WORDS];
    assert_true(note_channel(w, first, 1));
    twin_release(w->me, o, true);
    twin_root(w->me, o, 10, w->root | BBF_MEM_DIRECT << BBF_L_META_MEM_SHIFT);
    twin_step(w->me, o, w->a);
    assert_int_equal(BBF_LOW(handle_of(o)), BBF_LOW(first)); /* the same record */
    assert_false(bbf_context_read(w->t, handle_of(o), words));
    struct bbf_context *at = context_at(w->t, handle_of(o));
    assert_true(context_lock(w->t, at, handle_of(o)));
    assert_false(note_channel(w, first, 2)); /* late, and the guard is taken */
    context_unlock(at);
    assert_false(note_channel(w, first, 2)); /* late */
    assert_true(bbf_context_read(w->t, handle_of(o), words));
    assert_int_equal(words[TWIN_CHANNEL], 0);
    assert_false(bbf_context_read(w->t, first, words));
    struct bbf_context_counts counts;
    bbf_context_counts(w->t, &counts);
    assert_int_equal(counts.dropped, 2);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

/* A retained slice that no handler saw: the channel is that of the buffer it was derived from. */
static void a_derived_life_has_its_parent_s_channel(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    struct twin_object *owner = buffer_at(w, w->a), *slice = walk_object(w);
    assert_true(note_channel(w, handle_of(owner), 9));
    twin_derive(w->me, slice, owner, w->derive);
    twin_step(w->me, slice, w->b);
    twin_drop(w->heap, slice);
    twin_drop(w->heap, owner);
    walk_scan(w);
    assert_channels(w, "b09 ");
    walk_free(w);
}

static void what_has_no_memory_is_dropped_and_counted(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    struct twin_object *o = buffer_at(w, w->a);
    struct bbf_context_counts counts;
    atomic_store(&w->t->budget.limit, atomic_load(&w->t->budget.used));
    assert_false(note_channel(w, handle_of(o), 1));
    assert_int_equal(bbf_context_name(w->t, "com.app.A"), 0);
    bbf_context_counts(w->t, &counts);
    assert_int_equal(counts.dropped, 1);
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_channels(w, "");
    walk_free(w);
}

static void off_notes_nothing_and_keeps_what_was_noted(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    lose(w, w->a, 1);
    assert_true(bbf_context_switch(w->t, false));
    struct twin_object *o = buffer_at(w, w->a);
    assert_false(note_channel(w, handle_of(o), 2));
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_channels(w, "a01 ");
    assert_true(bbf_context_switch(w->t, true));
    lose(w, w->a, 3);
    assert_channels(w, "a01 a03 ");
    walk_free(w);
}

static void names_have_numbers(void **state)
{
    (void)state;
    struct walk *w = walk_on(256u << 20);
    char name[40];
    assert_int_equal(bbf_context_name(w->t, "com.app.A"), 1);
    assert_int_equal(bbf_context_name(w->t, "com.app.B"), 2);
    assert_int_equal(bbf_context_name(w->t, "com.app.A"), 1);
    for (int i = 3; i < BBF_CONTEXT_NAMES; i++) {
        snprintf(name, sizeof name, "com.app.X%d", i);
        assert_int_equal(bbf_context_name(w->t, name), i);
    }
    assert_int_equal(bbf_context_name(w->t, "com.app.Last"), 0);
    assert_int_equal(bbf_context_name(w->t, "com.app.B"), 2);
    walk_free(w);
}

/* ---- texts ---- */

struct words {
    uint64_t word[BBF_CONTEXT_WORDS];
};

static struct words words_of(uint32_t kinds, uint32_t id, uint32_t port, const char *address,
                             size_t address_len, const char *hint, size_t hint_len)
{
    struct words w = {{0}};
    w.word[TWIN_CHANNEL] = BBF_WORD(id, kinds);
    w.word[TWIN_SIZES] = BBF_WORD(port, (uint32_t)(address_len << 16 | hint_len));
    memcpy(&w.word[BBF_L_CONTEXT_ADDRESS / 8], address, address_len);
    memcpy(&w.word[BBF_L_CONTEXT_HINT / 8], hint, hint_len);
    return w;
}

static void assert_text(const char *text, const char *wanted)
{
    if (wanted == NULL)
        assert_null(text);
    else
        assert_string_equal(text, wanted);
}

static void assert_texts(struct words w, const struct bbf_context_names *names, const char *channel,
                         const char *address, const char *hint)
{
    struct bbf_snap_context row = {0};
    assert_int_equal(bbf_context_text(w.word, names, &row), BBF_OK);
    assert_text(row.channel, channel);
    assert_text(row.address, address);
    assert_text(row.hint, hint);
    assert_int_equal(row.hint_is == BBF_HINT_NONE, hint == NULL);
    bbf_snap_context_free(&row);
}

#define BYTES(text) text, sizeof(text) - 1

static void words_become_texts(void **state)
{
    (void)state;
    const struct bbf_context_names none = {NULL, NULL, NULL}, hint = {"com.app.Hint", NULL, NULL};
    const uint32_t id = BBF_L_CONTEXT_ID;
    assert_texts(words_of(0, 0, 0, BYTES(""), BYTES("")), &none, NULL, NULL, NULL);
    assert_texts(
        words_of(id | BBF_L_CONTEXT_IPV4, 0x1a2b3c4d, 51324, BYTES("\x7f\0\0\1"), BYTES("")), &none,
        "0x1a2b3c4d", "/127.0.0.1:51324", NULL);
    assert_texts(words_of(id | BBF_L_CONTEXT_IPV6, 7, 80, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"),
                          BYTES("")),
                 &none, "0x00000007", "/[::1]:80", NULL);
    assert_texts(words_of(id | BBF_L_CONTEXT_LATIN1, 0, 0, BYTES("local:E1\xe9"), BYTES("")), &none,
                 "0x00000000", "local:E1\xc3\xa9", NULL);
    assert_texts(words_of(id | BBF_L_CONTEXT_LATIN1, 0, 443, BYTES("shop.example"), BYTES("")),
                 &none, "0x00000000", "shop.example:443", NULL);
    assert_texts(
        words_of(BBF_L_CONTEXT_EMBEDDED | BBF_L_CONTEXT_TEXT, 0, 0, BYTES(""), BYTES("a\0b")),
        &none, "embedded", NULL,
        "a\xef\xbf\xbd"
        "b");
    assert_texts(words_of(BBF_L_CONTEXT_NO_ID | BBF_L_CONTEXT_TEXT, 0, 0, BYTES(""), BYTES("")),
                 &none, "?", NULL, "");
    assert_texts(words_of(BBF_L_CONTEXT_TEXT | BBF_L_CONTEXT_CUT, 0, 0, BYTES(""), BYTES("ab")),
                 &none, NULL, NULL, "ab\xe2\x80\xa6");
    /* UTF-16, this machine's order: a, euro, a pair, half of one */
    const uint16_t wide[] = {'a', 0x20ac, 0xd83d, 0xdea8, 0xd83d};
    assert_texts(words_of(BBF_L_CONTEXT_HANDLER | BBF_L_CONTEXT_WIDE, 0, 0, BYTES(""),
                          (const char *)wide, sizeof wide),
                 &none, NULL, NULL, "a\xe2\x82\xac\xf0\x9f\x9a\xa8\xef\xbf\xbd");
    assert_texts(words_of(BBF_L_CONTEXT_CLASS, 0, 0, BYTES(""), BYTES("\1\0\0\0\0\0\0\0")), &hint,
                 NULL, NULL, "com.app.Hint");
    assert_texts(words_of(BBF_L_CONTEXT_CLASS, 0, 0, BYTES(""), BYTES("")), &none, NULL, NULL, "?");
    /* a length that no hook writes, an address that is too short */
    struct words w =
        words_of(BBF_L_CONTEXT_TEXT | BBF_L_CONTEXT_IPV4 | id, 1, 2, BYTES("\1"), BYTES(""));
    w.word[TWIN_SIZES] |= 0xffff;
    struct bbf_snap_context row = {0};
    assert_int_equal(bbf_context_text(w.word, &none, &row), BBF_OK);
    assert_int_equal(strlen(row.hint), 3 * BBF_L_CONTEXT_HINT_BYTES); /* zeros */
    assert_null(row.address);
    bbf_snap_context_free(&row);
}

static void an_exception_has_its_class_and_who_caught_it(void **state)
{
    (void)state;
    struct bbf_site site = {.class_name = (char *)"com.app.Codec", .method = (char *)"decode"};
    const struct bbf_context_names caught = {NULL, "java.io.IOException", &site},
                                   pipeline = {NULL, NULL, NULL};
    struct words w = words_of(BBF_L_CONTEXT_CAUGHT, 0, 0, BYTES(""), BYTES(""));
    struct bbf_snap_context row = {0};
    assert_int_equal(bbf_context_text(w.word, &caught, &row), BBF_OK);
    assert_string_equal(row.thrown, "java.io.IOException");
    assert_string_equal(row.caught_in, "com.app.Codec.decode");
    bbf_snap_context_free(&row);
    assert_int_equal(bbf_context_text(w.word, &pipeline, &row), BBF_OK);
    assert_string_equal(row.thrown, "?");
    assert_null(row.caught_in);
    bbf_snap_context_free(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_lost_of_each_path_are_kept),
        cmocka_unit_test(a_path_without_room_is_counted),
        cmocka_unit_test(a_recycled_buffer_takes_nothing_along),
        cmocka_unit_test(a_derived_life_has_its_parent_s_channel),
        cmocka_unit_test(what_has_no_memory_is_dropped_and_counted),
        cmocka_unit_test(off_notes_nothing_and_keeps_what_was_noted),
        cmocka_unit_test(names_have_numbers),
        cmocka_unit_test(words_become_texts),
        cmocka_unit_test(an_exception_has_its_class_and_who_caught_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
