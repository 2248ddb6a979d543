/* link: bbf_jfr bbf_core */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jfr/join.h"
#include "jfr/mend.h"
#include "jfr/print.h"
#include "jfr/scrub.h"
#include "jfr_sample.h"

static const struct bbf_jfr_print all = {.stack_depth = 64};

/* All places are tried without a sanitizer, which makes this twenty times slower. */
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 3 };
#else
enum { STRIDE = 1 };
#endif

static const unsigned char *bytes_of(const struct bbf_buf *file)
{
    return (const unsigned char *)file->data;
}

static int put(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(ctx, data, len);
    return BBF_OK;
}

/* Prints it, and asserts that nothing is wrong with it; the number of events. */
static size_t events_of_whole(const struct bbf_buf *file, struct bbf_buf *text)
{
    struct bbf_jfr_recording r;
    size_t n = 0;

    text->len = 0;
    bbf_jfr_recording_init(&r, bytes_of(file), file->len, true);
    assert_int_equal(bbf_jfr_print_json(text, &r, &all), BBF_OK);
    assert_null(r.trouble.what);
    bbf_jfr_recording_close(&r);
    for (const char *at = bbf_buf_cstr(text); (at = strstr(at, "\"values\"")) != NULL; at++)
        n++;
    return n;
}

struct repaired {
    struct bbf_buf file, text;
    struct bbf_jfr_mend mend;
    size_t events;
    int err;
};

static struct repaired repair(const unsigned char *bytes, size_t len)
{
    struct repaired to = {0};

    to.mend = (struct bbf_jfr_mend){.put = put, .ctx = &to.file};
    to.err = bbf_jfr_repair(bytes, len, &to.mend);
    to.mend.ctx = NULL;
    if (to.err == BBF_OK)
        to.events = events_of_whole(&to.file, &to.text);
    return to;
}

static void release(struct repaired *r)
{
    bbf_buf_free(&r->file);
    bbf_buf_free(&r->text);
}

enum { CHUNKS = 3, EVENTS = 6 };

static void a_whole_recording_is_copied(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, CHUNKS, EVENTS);
    struct repaired r = repair(bytes_of(&file), file.len);
    assert_int_equal(r.err, BBF_OK);
    assert_int_equal(r.mend.chunks_mended, 0);
    assert_int_equal(r.file.len, file.len);
    assert_memory_equal(r.file.data, file.data, file.len);
    release(&r);
    bbf_buf_free(&file);
}

/* The bytes of a chunk's header that say where what is. */
static void a_damaged_header_costs_no_event(void **state)
{
    static const size_t places[] = {0, 1, 5, 8, 14, 15, 22, 23, 30, 31, 64, 67};
    static const unsigned char values[] = {0, 1, 3, 0xFF};
    struct bbf_buf file = BBF_BUF_INIT, text = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, CHUNKS, EVENTS);
    size_t n = events_of_whole(&file, &text);
    assert_int_equal(n, CHUNKS * EVENTS);
    size_t second = (size_t)bbf_jfr_u8(bytes_of(&file) + 8);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (size_t v = 0; v < sizeof(values); v++) {
            char *at = file.data + second + places[i], old = *at;
            *at = (char)values[v];
            struct repaired r = repair(bytes_of(&file), file.len);
            *at = old;
            assert_int_equal(r.err, BBF_OK);
            assert_int_equal(r.mend.losses, 0);
            assert_string_equal(bbf_buf_cstr(&r.text), bbf_buf_cstr(&text));
            release(&r);
        }
    }
    bbf_buf_free(&text);
    bbf_buf_free(&file);
}

/* Some of these places have bytes that look like the beginning of a metadata event. */
static void a_wrong_offset_of_the_metadata_costs_no_event(void **state)
{
    enum { OFFSET_AT = 24 };
    struct bbf_buf file = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, 1, EVENTS); /* no other chunk could lend its metadata */
    uint64_t first = bbf_jfr_u8(bytes_of(&file) + 8);
    for (uint64_t wrong = 0; wrong < first + 16; wrong++) {
        bbf_jfr_set_u8(file.data + OFFSET_AT, wrong);
        struct repaired r = repair(bytes_of(&file), file.len);
        assert_int_equal(r.err, BBF_OK);
        assert_int_equal(r.mend.losses, 0);
        assert_int_equal(r.events, EVENTS);
        release(&r);
    }
    bbf_buf_free(&file);
}

/* A checkpoint whose constant is the chunk's header, as the JVM writes it. */
static void add_header_copy(struct bbf_buf *file, uint64_t string_type)
{
    struct bbf_buf event = BBF_BUF_INIT;

    bbf_buf_add(&event, "\1\0\0\0\2\1", 6); /* type, start, duration, delta, flags, pools */
    bbf_jfr_put_long(&event, string_type);
    bbf_buf_add(&event, "\1\7\3\x44", 4); /* one: key 7, in UTF-8 of 68 bytes */
    size_t header = file->len + 1 + event.len;
    bbf_jfr_set_u8(file->data + 8, header + BBF_JFR_HEADER_BYTES);
    bbf_buf_add(&event, file->data, BBF_JFR_HEADER_BYTES);
    bbf_buf_char(file, (char)(event.len + 1));
    bbf_buf_add(file, event.data, event.len);
    assert_memory_equal(file->data + header, "FLR", 4);
    bbf_buf_free(&event);
}

/* The JVM's checkpoints have copies of the header; a chunk that ends behind one is one chunk. */
static void a_copy_of_the_header_is_no_chunk(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    (void)state;

    sample_write(&file, 1, EVENTS);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, false);
    assert_int_equal(bbf_jfr_next_chunk(&r), BBF_OK);
    uint64_t string_type = bbf_jfr_type_named(&r.chunk.metadata, "java.lang.String")->id;
    bbf_jfr_recording_close(&r);
    add_header_copy(&file, string_type);
    bbf_jfr_set_u8(file.data + 8, 0); /* unfinished */
    file.data[64] = 1;
    struct repaired mended = repair(bytes_of(&file), file.len);
    assert_int_equal(mended.err, BBF_OK);
    assert_int_equal(mended.mend.losses, 0);
    assert_int_equal(mended.mend.chunks, 1);
    assert_int_equal(mended.events, EVENTS);
    release(&mended);
    bbf_buf_free(&file);
}

static void a_cut_recording_keeps_all_whole_events(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    size_t least = 0;
    (void)state;

    sample_write(&file, CHUNKS, EVENTS);
    uint64_t first = bbf_jfr_u8(bytes_of(&file) + 8);
    for (size_t len = 0; len < file.len; len += STRIDE) {
        struct repaired r = repair(bytes_of(&file), len);
        if (r.err == BBF_OK) {
            assert_true(r.events >= least); /* never fewer than of a shorter piece */
            assert_true(len <= first || r.events >= EVENTS);
            least = r.events;
        } else {
            assert_int_equal(r.err, BBF_ENOTFOUND);
            assert_true(len < first);
        }
        release(&r);
    }
    assert_int_equal(least, CHUNKS * EVENTS); /* without the last checkpoint's end */
    bbf_buf_free(&file);
}

static void zeroed_bytes_cost_only_the_events_they_touch(void **state)
{
    enum { HOLE = 40 };
    struct bbf_buf file = BBF_BUF_INIT;
    char saved[HOLE];
    (void)state;

    sample_write(&file, CHUNKS, EVENTS);
    for (size_t at = BBF_JFR_HEADER_BYTES; at + HOLE < file.len; at += 7 * STRIDE) {
        memcpy(saved, file.data + at, HOLE);
        memset(file.data + at, 0, HOLE);
        struct repaired r = repair(bytes_of(&file), file.len);
        memcpy(file.data + at, saved, HOLE);
        assert_int_equal(r.err, BBF_OK);
        assert_true(r.events >= (CHUNKS - 1) * EVENTS);
        release(&r);
    }
    bbf_buf_free(&file);
}

static void every_flipped_byte_leaves_a_recording_that_can_be_read(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, 2, 4);
    for (size_t at = 0; at < file.len; at += STRIDE) {
        file.data[at] = (char)~file.data[at];
        struct repaired r = repair(bytes_of(&file), file.len);
        file.data[at] = (char)~file.data[at];
        assert_int_equal(r.err, BBF_OK);
        release(&r);
    }
    bbf_buf_free(&file);
}

static void bytes_around_chunks_are_left_out_and_counted(void **state)
{
    static const char junk[] = "these bytes belong to nothing, not to FLR";
    struct bbf_buf file = BBF_BUF_INIT, all_bytes = BBF_BUF_INIT;
    (void)state;

    sample_write(&file, 1, 4);
    bbf_buf_add(&all_bytes, junk, sizeof(junk));
    bbf_buf_add(&all_bytes, file.data, file.len);
    bbf_buf_add(&all_bytes, junk, sizeof(junk));
    struct repaired r = repair(bytes_of(&all_bytes), all_bytes.len);
    assert_int_equal(r.err, BBF_OK);
    assert_int_equal(r.mend.losses, 2);
    assert_int_equal(r.mend.bytes_lost, 2 * sizeof(junk));
    assert_int_equal(r.file.len, file.len);
    release(&r);
    bbf_buf_free(&all_bytes);
    bbf_buf_free(&file);
}

/* ---- join ---- */

static void joined_recordings_have_all_events_of_both(void **state)
{
    struct bbf_buf a = BBF_BUF_INIT, b = BBF_BUF_INIT, joined = BBF_BUF_INIT, text = BBF_BUF_INIT;
    (void)state;

    sample_write(&a, 2, 5);
    sample_write(&b, 1, 7);
    const struct bbf_jfr_part parts[] = {{bytes_of(&a), a.len}, {bytes_of(&b), b.len}};
    struct bbf_jfr_join join = {.put = put, .ctx = &joined};
    assert_int_equal(bbf_jfr_join(parts, 2, false, &join), BBF_OK);
    assert_int_equal(join.chunks, 3);
    assert_int_equal(events_of_whole(&joined, &text), 17);
    /* The second recording's types have ids of their own, and its times stay what they are. */
    struct bbf_jfr_recording r;
    uint64_t ids[3] = {0};
    bbf_jfr_recording_init(&r, bytes_of(&joined), joined.len, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bbf_jfr_next_chunk(&r), BBF_OK);
        ids[i] = bbf_jfr_type_named(&r.chunk.metadata, "test.All")->id;
    }
    bbf_jfr_recording_close(&r);
    assert_true(ids[0] != ids[1] || ids[0] != ids[2]);
    assert_non_null(strstr(bbf_buf_cstr(&text), "2023-11-14T22:13:20.001001Z"));
    bbf_buf_free(&text);
    bbf_buf_free(&joined);
    bbf_buf_free(&a);
    bbf_buf_free(&b);
}

static void another_clock_becomes_the_first_one(void **state)
{
    struct bbf_buf a = BBF_BUF_INIT, b = BBF_BUF_INIT, joined = BBF_BUF_INIT, text = BBF_BUF_INIT;
    (void)state;

    sample_write(&a, 1, 1);
    sample_write(&b, 1, 1);
    /* The same ticks at a tenth of the rate, and an hour later. */
    bbf_jfr_set_u8(b.data + 32, UINT64_C(1700003600000000000));
    bbf_jfr_set_u8(b.data + 56, 100000000);
    const struct bbf_jfr_part parts[] = {{bytes_of(&a), a.len}, {bytes_of(&b), b.len}};
    struct bbf_jfr_join join = {.put = put, .ctx = &joined};
    assert_int_equal(bbf_jfr_join(parts, 2, false, &join), BBF_OK);
    for (size_t at = 0; at < joined.len; at += (size_t)bbf_jfr_u8(bytes_of(&joined) + at + 8))
        assert_int_equal(bbf_jfr_u8(bytes_of(&joined) + at + 56), 1000000000);
    assert_int_equal(events_of_whole(&joined, &text), 2);
    assert_non_null(strstr(bbf_buf_cstr(&text), "\"duration\": \"PT0.0025S\""));
    assert_non_null(strstr(bbf_buf_cstr(&text), "\"duration\": \"PT0.025S\""));
    assert_non_null(strstr(bbf_buf_cstr(&text), "2023-11-14T23:13:20Z"));
    bbf_buf_free(&text);
    bbf_buf_free(&joined);
    bbf_buf_free(&a);
    bbf_buf_free(&b);
}

static void a_damaged_part_is_named_and_nothing_is_written(void **state)
{
    struct bbf_buf a = BBF_BUF_INIT, joined = BBF_BUF_INIT;
    (void)state;

    sample_write(&a, 2, 3);
    const struct bbf_jfr_part parts[] = {{bytes_of(&a), a.len}, {bytes_of(&a), a.len - 9}};
    struct bbf_jfr_join join = {.put = put, .ctx = &joined};
    assert_int_equal(bbf_jfr_join(parts, 2, false, &join), BBF_EFORMAT);
    assert_int_equal(join.bad_part, 1);
    assert_true(join.bad_offset > 0);
    assert_int_equal(joined.len, 0);
    bbf_buf_free(&a);
}

/* ---- scrub ---- */

static void what_matches_is_unreadable_and_sizes_stay(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT, text = BBF_BUF_INIT, copy = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    struct bbf_jfr_scrub scrub = {
        .pattern = "work|\xF0\x9F\x98\x80|long enough", .put = sample_append, .ctx = &copy};
    (void)state;

    sample_write(&file, 2, 10);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, false);
    assert_int_equal(bbf_jfr_scrub(&r, &scrub), BBF_OK);
    bbf_jfr_recording_close(&r);
    assert_true(scrub.matches > 4);
    assert_int_equal(copy.len, file.len);
    assert_int_equal(events_of_whole(&copy, &text), 20);
    const char *json = bbf_buf_cstr(&text);
    assert_null(strstr(json, "worker"));
    assert_null(strstr(json, "long enough"));
    assert_null(strstr(json, "\\ud83d"));
    assert_non_null(strstr(json, "\"****er-1\""));
    assert_non_null(strstr(json, "a text that is *********** for the pool"));
    assert_non_null(strstr(json, "\\u017e **"));
    bbf_buf_free(&text);
    bbf_buf_free(&copy);
    bbf_buf_free(&file);
}

static void a_bad_pattern_is_refused_with_a_reason(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    struct bbf_jfr_scrub scrub = {.pattern = "(open"};
    (void)state;

    sample_write(&file, 1, 1);
    bbf_jfr_recording_init(&r, bytes_of(&file), file.len, false);
    assert_int_equal(bbf_jfr_scrub(&r, &scrub), BBF_EINVAL);
    assert_true(scrub.why[0] != '\0');
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_recording_is_copied),
        cmocka_unit_test(a_damaged_header_costs_no_event),
        cmocka_unit_test(a_wrong_offset_of_the_metadata_costs_no_event),
        cmocka_unit_test(a_copy_of_the_header_is_no_chunk),
        cmocka_unit_test(a_cut_recording_keeps_all_whole_events),
        cmocka_unit_test(zeroed_bytes_cost_only_the_events_they_touch),
        cmocka_unit_test(every_flipped_byte_leaves_a_recording_that_can_be_read),
        cmocka_unit_test(bytes_around_chunks_are_left_out_and_counted),
        cmocka_unit_test(joined_recordings_have_all_events_of_both),
        cmocka_unit_test(another_clock_becomes_the_first_one),
        cmocka_unit_test(a_damaged_part_is_named_and_nothing_is_written),
        cmocka_unit_test(what_matches_is_unreadable_and_sizes_stay),
        cmocka_unit_test(a_bad_pattern_is_refused_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
