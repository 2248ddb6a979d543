/* link: bbf_wire bbf_core */
/*
 * Any bytes as a v2 frame. What decodes must encode, and what that gives must decode to the same
 * frame again: so nothing is lost, and nothing that we cannot say is accepted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/btrace/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small, so that a fuzzer finds the bounds. */
static const struct bbf_wire_limits small = {.frame = 1 << 16, .string = 1 << 12, .entries = 200};
/* Repaired text is up to three times as long. */
static const struct bbf_wire_limits wide = {.frame = 1 << 20, .string = 1 << 16, .entries = 200};

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_command first, second;
    struct bbf_buf once = BBF_BUF_INIT, twice = BBF_BUF_INIT;
    const char *why = NULL;
    size_t used, again, skipped;

    int err = bbf_command_decode(&first, data, size, &used, &small, &why);
    require((err == BBF_OK) == (why == NULL));
    if (err != BBF_OK) {
        require(first.block == NULL);
        require(err != BBF_EMORE || used > size);
        return 0;
    }
    require(used <= size);
    require(bbf_command_skip(data, size, &skipped, &small, NULL) == BBF_OK && skipped == used);
    size_t over = first.deflated ? 0 : SIZE_MAX;
    require(bbf_command_encode(&once, &first, over) == BBF_OK);
    require(bbf_command_decode(&second, (const uint8_t *)once.data, once.len, &again, &wide,
                               NULL) == BBF_OK);
    require(again == once.len && second.type == first.type);
    require(bbf_command_encode(&twice, &second, over) == BBF_OK);
    require(twice.len == once.len && memcmp(twice.data, once.data, once.len) == 0);
    bbf_command_free(&first);
    bbf_command_free(&second);
    bbf_buf_free(&once);
    bbf_buf_free(&twice);
    return 0;
}
