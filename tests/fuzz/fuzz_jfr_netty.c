/* link: bbf_client bbf_render bbf_snapshot bbf_jfr bbf_wire bbf_core */
/* Any bytes as a flight recording: what Netty's events are paired to is a snapshot that renders
 * take. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/netty_flight.h"
#include "core/err.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "fuzz_jfr_netty: %s\n", what);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
    return 0;
}
