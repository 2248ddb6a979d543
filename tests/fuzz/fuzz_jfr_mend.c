/* link: bbf_jfr bbf_core */
/*
 * Any bytes as a flight recording: repair, scrub and join end, and what the repair makes has no
 * fewer chunks than it says, and is whole for a second repair.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/err.h"
#include "jfr/join.h"
#include "jfr/mend.h"
#include "jfr/scrub.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "fuzz_jfr_mend: %s\n", what);
        abort();
    }
}

static int put(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(ctx, data, len);
    return BBF_OK;
}

static void scrub(const struct bbf_buf *file)
{
    struct bbf_buf copy = BBF_BUF_INIT;
    struct bbf_jfr_scrub how = {.pattern = "[a-m]+", .put = put, .ctx = &copy};
    struct bbf_jfr_recording r;

    bbf_jfr_recording_init(&r, (const uint8_t *)file->data, file->len, false);
    check(bbf_jfr_scrub(&r, &how) == BBF_OK, "a repaired file, not scrubbed");
    check(copy.len == file->len, "a scrubbed file has another size");
    bbf_jfr_recording_close(&r);
    bbf_buf_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_buf file = BBF_BUF_INIT, again = BBF_BUF_INIT, joined = BBF_BUF_INIT;
    struct bbf_jfr_mend mend = {.put = put, .ctx = &file};
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
