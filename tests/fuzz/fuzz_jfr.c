/* link: bbf_client bbf_render bbf_snapshot bbf_jfr bbf_wire bbf_core */
/*
 * Any bytes as a flight recording: printing, repair, scrub and join end, and what the repair makes
 * can be read without trouble, has no fewer chunks than it says, and is whole for a second repair.
 * What Netty's events are paired to is a snapshot that renders take.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/netty_flight.h"
#include "core/err.h"
#include "jfr/join.h"
#include "jfr/mend.h"
#include "jfr/print.h"
#include "jfr/scrub.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1 << 20, VALUES = 1000 };

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "fuzz_jfr: %s\n", what);
        abort();
    }
}

static int put(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(ctx, data, len);
    return BBF_OK;
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

static void pair(const uint8_t *data, size_t size)
{
    const struct bbf_netty_config config = {.age_ns = 1000000, .max_nodes = 50};
    struct bbf_snapshot *snapshot = NULL;
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_jfr_recording r;

    bbf_jfr_recording_init(&r, data, size, true);
    int err = bbf_netty_flight(&r, &config, &snapshot);
    bbf_jfr_recording_close(&r);
    check(err == BBF_OK || err == BBF_ENOTFOUND, "events are not paired");
    check((snapshot != NULL) == (err == BBF_OK), "a snapshot, or an error");
    if (snapshot != NULL)
        check(bbf_render(&out, snapshot, BBF_FORMAT_TREE, NULL) == BBF_OK, "not rendered");
    bbf_snapshot_free(snapshot);
    bbf_buf_free(&out);
}

static void scrub(const struct bbf_buf *file)
{
    struct bbf_jfr_scrub how = {.pattern = "[a-m]+"};
    struct bbf_jfr_recording r;

    bbf_jfr_recording_init(&r, (const uint8_t *)file->data, file->len, false);
    check(bbf_jfr_scrub((unsigned char *)file->data, &r, &how) == BBF_OK,
          "a repaired file, not scrubbed");
    bbf_jfr_recording_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_buf file = BBF_BUF_INIT, again = BBF_BUF_INIT, joined = BBF_BUF_INIT;
    struct bbf_jfr_mend mend = {.put = put, .ctx = &file};

    print(data, size, bbf_jfr_print_text);
    print(data, size, bbf_jfr_print_json);
    print(data, size, bbf_jfr_print_lines);
    pair(data, size);
    show(data, size);
    int err = bbf_jfr_repair(data, size, &mend);
    check(err == BBF_OK || err == BBF_ENOTFOUND || err == BBF_EFORMAT, "unexpected error");
    if (err == BBF_OK) {
        struct bbf_jfr_mend second = {.put = put, .ctx = &again};
        check(bbf_jfr_repair((const uint8_t *)file.data, file.len, &second) == BBF_OK, "not again");
        check(second.losses == 0, "something lost of a repaired file");
        check(second.chunks == mend.chunks, "another number of chunks");
        check(second.chunks_mended == 0, "a repaired chunk is not whole");
        const struct bbf_jfr_part parts[] = {{(const uint8_t *)file.data, file.len},
                                             {(const uint8_t *)again.data, again.len}};
        struct bbf_jfr_join join = {.put = put, .ctx = &joined};
        check(bbf_jfr_join(parts, 2, false, &join) == BBF_OK, "repaired files cannot be joined");
        scrub(&file);
    }
    bbf_buf_free(&file);
    bbf_buf_free(&again);
    bbf_buf_free(&joined);
    return 0;
}
