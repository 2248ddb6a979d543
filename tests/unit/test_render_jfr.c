/* link: bbf_render bbf_trie bbf_jfr bbf_core */
/*
 * The format jfr, read back with jfr/: equal snapshots give equal bytes, and the events have what
 * the snapshot has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/err.h"
#include "jfr/recording.h"
#include "jfr/rewrite.h"
#include "jfr/value.h"
#include "render/record.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

/* What a recording has of one event type. */
struct seen {
    uint64_t events, count, bytes, frames;
};

static void add(struct seen *seen, const struct bbf_jfr_chunk *chunk,
                const struct bbf_jfr_event *event, const char *count, const char *bytes)
{
    const struct bbf_jfr_value whole = bbf_jfr_event_value(event);
    const struct bbf_jfr_value stack = bbf_jfr_member(chunk, &whole, "stackTrace");

    seen->events++;
    seen->count += (uint64_t)bbf_jfr_member(chunk, &whole, count).integer;
    seen->bytes += (uint64_t)bbf_jfr_member(chunk, &whole, bytes).integer;
    if (stack.what == BBF_JFR_IS_STRUCT)
        seen->frames += bbf_jfr_member(chunk, &stack, "frames").n;
}

static struct seen see(const struct bbf_buf *bytes, const char *type, const char *count,
                       const char *size)
{
    struct bbf_jfr_recording r;
    struct seen seen = {0};
    int err;

    bbf_jfr_recording_init(&r, (const unsigned char *)bytes->data, bytes->len, true);
    while ((err = bbf_jfr_next_chunk(&r)) == BBF_OK) {
        struct bbf_jfr_event event;
        for (uint64_t at = BBF_JFR_HEADER_BYTES; bbf_jfr_next_event(&r.chunk, &at, &event);) {
            assert_true(event.type == NULL || bbf_jfr_is_whole(&event));
            if (event.type != NULL && strcmp(event.type->name, type) == 0)
                add(&seen, &r.chunk, &event, count, size);
        }
    }
    assert_int_equal(err, BBF_ENOTFOUND);
    assert_null(r.trouble.what);
    bbf_jfr_recording_close(&r);
    return seen;
}

static struct bbf_buf render(const struct bbf_snapshot *snapshot)
{
    struct bbf_buf out = BBF_BUF_INIT;

    assert_int_equal(bbf_render(&out, snapshot, BBF_FORMAT_JFR, NULL), BBF_OK);
    return out;
}

static void a_recording_has_what_the_snapshot_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct bbf_snapshot *s = samples[i].make();
        uint64_t count = 0, bytes = 0;
        assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
        for (size_t row = 0; row < s->n_leaks; row++) {
            count += s->leaks[row].count < INT32_MAX ? s->leaks[row].count : INT32_MAX;
            bytes += s->leaks[row].bytes;
        }
        struct bbf_buf out = render(s), again = render(s);
        assert_int_equal(out.len, again.len);
        assert_memory_equal(out.data, again.data, out.len);
        const struct seen leaks = see(&out, "bbflow.Leak", "count", "bytes");
        assert_int_equal(leaks.events, s->n_leaks);
        assert_int_equal(leaks.count, count);
        assert_true(leaks.bytes == bytes);
        assert_true(leaks.frames >= leaks.events);
        assert_int_equal(see(&out, "bbflow.Misuse", "count", "").events, s->n_misuses);
        assert_int_equal(see(&out, "bbflow.Setting", "", "").events, s->n_settings);
        assert_int_equal(see(&out, "bbflow.Summary", "", "").events, 1);
        assert_true(see(&out, "bbflow.Summary", "leaked", "").count ==
                    (s->totals.leaked_ < INT32_MAX ? s->totals.leaked_ : INT32_MAX));
        bbf_buf_free(&out);
        bbf_buf_free(&again);
        bbf_snapshot_free(s);
    }
}

/* A chunk at a time, as the agent's file= does. */
static int keep(void *ctx, const char *data, size_t len)
{
    struct bbf_buf *whole = ctx;

    bbf_buf_add(whole, data, len);
    return 0;
}

static void it_goes_out_in_pieces(void **state)
{
    struct bbf_snapshot *s = samples[0].make();
    struct bbf_buf whole = BBF_BUF_INIT, out = {.flush = keep, .ctx = &whole};

    (void)state;
    assert_int_equal(bbf_snapshot_finish(s), BBF_OK);
    struct bbf_buf expected = render(s);
    assert_int_equal(bbf_render(&out, s, BBF_FORMAT_JFR, NULL), BBF_OK);
    assert_true(bbf_buf_flush(&out));
    assert_int_equal(whole.len, expected.len);
    assert_memory_equal(whole.data, expected.data, whole.len);
    bbf_buf_free(&whole);
    bbf_buf_free(&out);
    bbf_buf_free(&expected);
    bbf_snapshot_free(s);
}

/* ---- profiler.Malloc ---- */

static int append(void *ctx, const char *data, size_t len)
{
    return keep(ctx, data, len);
}

static void many_lost_buffers_share_their_allocations(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_jfr_frame frame = bbf_record_frame("", "?raced", "");
    const struct bbf_jfr_config config = {.schema = bbf_record_schema,
                                          .output = {append, NULL, &out}};
    const struct bbf_record_lost few = {{&frame, 1, false}, {0, NULL}, 5, 3, 100};
    const struct bbf_record_lost many = {{&frame, 1, false}, {7, NULL}, 5, 25000, 640001};
    struct bbf_jfr_writer w;
    uint64_t lives = 0;

    (void)state;
    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    bbf_record_allocations(&w, &few, &lives);
    bbf_record_allocations(&w, &many, &lives);
    assert_int_equal(bbf_jfr_finish(&w, 10), BBF_OK);
    const struct seen seen = see(&out, "profiler.Malloc", "", "size");
    assert_int_equal(seen.events, 3 + BBF_RECORD_ALLOCATIONS);
    assert_int_equal(seen.bytes, 640101);
    assert_int_equal(lives, seen.events);
    bbf_jfr_writer_free(&w);
    bbf_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_has_what_the_snapshot_has),
        cmocka_unit_test(it_goes_out_in_pieces),
        cmocka_unit_test(many_lost_buffers_share_their_allocations),
    };
    return cmocka_run_group_tests_name("render_jfr", tests, NULL, NULL);
}
