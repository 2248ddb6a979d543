/* link: bbf_render bbf_trie bbf_core */
/*
 * Any bytes as a snapshot document. A refusal has a reason; an accepted document renders in every
 * format, adds up, and comes back the same from its own JSON.
 */
#include "core/buf.h"
#include "core/err.h"
#include "render/choice.h"
#include "render/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "fuzz_snapshot: %s\n", what);
        abort();
    }
}

static void render(struct bbf_buf *text, const struct bbf_snapshot *s, enum bbf_format format,
                   size_t max_lines)
{
    struct bbf_render_options options = {.max_lines = max_lines};
    check(bbf_render(text, s, format, &options) == 0, "accepted, but does not render");
}

static void render_chosen(struct bbf_buf *text, const struct bbf_snapshot *s)
{
    const struct bbf_choice choice = {
        .memories = 1U << BBF_MEM_DIRECT, .path = "a", .is = BBF_RATE_ABOVE, .percent = 10};
    struct bbf_render_options options = {.max_lines = 10, .choice = &choice};

    check(bbf_render(text, s, BBF_FORMAT_TREE, &options) == 0, "a choice does not render");
    check(bbf_render(text, s, BBF_FORMAT_LLM, &options) == 0, "a choice does not render");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_buf text = BBF_BUF_INIT, again = BBF_BUF_INIT;
    struct bbf_snapshot *s, *back;
    char why[64];

    int err = bbf_snapshot_from_json(&s, (const char *)data, size, why, sizeof why);
    if (err != 0) {
        check(err == BBF_ENOMEM || err == BBF_EFORMAT || err == BBF_EVERSION, "unexpected error");
        check(why[0] != '\0' && memchr(why, '\0', sizeof why) != NULL, "no reason given");
        check(s == NULL, "refused, but there is a snapshot");
        return 0;
    }
    /* A binary format only has to come to an end. */
#define XX(id, name, extension, flags)                                                             \
    render(((flags)&BBF_FORMAT_BINARY) != 0 ? &again : &text, s, BBF_FORMAT_##id, 0);
    BBF_FORMATS(XX)
#undef XX
    again.len = 0;
    render(&text, s, BBF_FORMAT_TREE, 1);
    render_chosen(&text, s);
    /* Nothing in a document may end a line or move a cursor. */
    for (size_t i = 0; i < text.len; i++)
        check((unsigned char)text.data[i] >= 0x20 || text.data[i] == '\n', "a control character");
    text.len = 0;
    render(&text, s, BBF_FORMAT_JSON, 0);
    check(bbf_snapshot_from_json(&back, text.data, text.len, why, sizeof why) == 0, why);
    render(&again, back, BBF_FORMAT_JSON, 0);
    check(text.len == again.len && memcmp(text.data, again.data, text.len) == 0,
          "another document after a round trip");
    bbf_snapshot_free(back);
    bbf_snapshot_free(s);
    bbf_buf_free(&text);
    bbf_buf_free(&again);
    return 0;
}
