/* link: bbf_jfr bbf_core */
/*
 * Any bytes as a flight recording: printing ends, its text has no control character, and the two
 * ways to read a value, by a cursor and by its remembered parts, agree.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/print.h"
#include "jfr/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1 << 20, VALUES = 200, DEPTH = 3 };

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "fuzz_jfr: %s\n", what);
        abort();
    }
}

static int discard(void *ctx, const char *data, size_t len)
{
    (void)ctx, (void)data;
    return len > TEXT_MAX ? -1 : 0;
}

/* The text has no control character but the ends of lines. */
typedef int printer(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                    const struct bbf_jfr_print *how);

static void print(const uint8_t *data, size_t size, printer *to_text)
{
    const struct bbf_jfr_print how = {.stack_depth = 4, .values_max = VALUES};
    struct bbf_buf out = {.flush = discard};
    struct bbf_jfr_recording r;

    bbf_jfr_recording_init(&r, data, size, true);
    (void)to_text(&out, &r, &how);
    for (size_t i = 0; i < out.len; i++)
        check((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n', "a control character");
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&out);
}

static void show(const uint8_t *data, size_t size)
{
    struct bbf_jfr_recording r;
    struct bbf_buf out = BBF_BUF_INIT;

    bbf_jfr_recording_init(&r, data, size, false);
    (void)bbf_jfr_print_summary(&out, &r);
    bbf_jfr_recording_close(&r);
    bbf_jfr_recording_init(&r, data, size, false);
    (void)bbf_jfr_print_metadata(&out, &r, &(struct bbf_jfr_filter){0});
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&out);
}

/* ---- both ways to read ---- */

struct walk {
    const struct bbf_jfr_chunk *chunk;
    int left;
};

static void check_equal(const struct bbf_jfr_value *a, const struct bbf_jfr_value *b)
{
    check(a->what == b->what && a->field == b->field, "another kind of value");
    check(a->what == BBF_JFR_IS_NULL || a->type == b->type, "another type");
    check(a->integer == b->integer && a->key == b->key, "another number or key");
    if (a->what == BBF_JFR_IS_TEXT)
        check(a->text.len == b->text.len && a->text.encoding == b->text.encoding &&
                  a->text.bytes == b->text.bytes && a->text.is_ascii == b->text.is_ascii,
              "another text");
    if (a->what == BBF_JFR_IS_LIST)
        check(a->n == b->n, "another length");
    if (a->what == BBF_JFR_IS_LIST || a->what == BBF_JFR_IS_STRUCT)
        check(a->at.at == b->at.at, "other bytes");
}

/* Depth-first, so that constants are remembered on the way down and used on the way up. */
static void compare(struct walk *w, const struct bbf_jfr_value *of, int depth)
{
    struct bbf_jfr_cursor c = of->at;
    struct bbf_jfr_value list = *of, value;
    const struct bbf_jfr_value *part;
    struct bbf_jfr_parts parts;
    bool ok = true;

    bbf_jfr_parts_begin(&parts, w->chunk, of);
    while (w->left-- > 0 && (part = bbf_jfr_parts_next(&parts)) != NULL) {
        if (of->what == BBF_JFR_IS_LIST)
            ok = ok && bbf_jfr_read_element(w->chunk, &list, &value);
        else
            ok = ok && bbf_jfr_read_value(w->chunk, &c, part->field, &value);
        if (!ok)
            continue;
        check_equal(part, &value);
        if (depth < DEPTH && (part->what == BBF_JFR_IS_STRUCT || part->what == BBF_JFR_IS_LIST))
            compare(w, part, depth + 1);
    }
}

static void read_both_ways(const uint8_t *data, size_t size)
{
    struct bbf_jfr_recording r;
    struct bbf_jfr_event event;

    bbf_jfr_recording_init(&r, data, size, true);
    while (bbf_jfr_next_chunk(&r) == BBF_OK) {
        uint64_t at = BBF_JFR_HEADER_BYTES;
        while (bbf_jfr_next_event(&r.chunk, &at, &event)) {
            struct walk w = {&r.chunk, VALUES};
            struct bbf_jfr_value value = bbf_jfr_event_value(&event);
            if (event.type != NULL)
                compare(&w, &value, 0);
        }
    }
    bbf_jfr_recording_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    print(data, size, bbf_jfr_print_text);
    print(data, size, bbf_jfr_print_json);
    print(data, size, bbf_jfr_print_lines);
    read_both_ways(data, size);
    show(data, size);
    return 0;
}
