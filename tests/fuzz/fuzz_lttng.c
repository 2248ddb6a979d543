/* link: bbf_wire bbf_core */
/*
 * Any bytes as a session daemon's side of LTTng's JUL domain: the first byte has the version, the
 * second how the rest is cut into pieces. However it is cut the answers are the same; each is a
 * code or the list; and no more names are enabled than the limit.
 */
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/lttng/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const loggers[] = {"bbflow.leak", "bbflow.misuse", "bbflow.flow", "bbflow.life",
                                      "bbflow.stats"};
enum { LOGGERS = sizeof loggers / sizeof loggers[0] };

static void require(int condition)
{
    if (!condition)
        abort();
}

static int answer(struct bbf_lttng_state *state, const uint8_t *in, size_t len, size_t *used,
                  struct bbf_buf *out)
{
    const char *why = NULL;
    size_t before = out->len;
    int err = bbf_lttng_answer(state, in, len, used, &why, out);

    require((why != NULL) == (err == BBF_EFORMAT || err == BBF_ELIMIT || err == BBF_EVERSION));
    if (err == BBF_EMORE)
        require(*used > len && out->len == before);
    if (err == BBF_OK || err == BBF_EFORMAT)
        require(*used <= len && *used >= 16);
    return err;
}

/* Feed all of it, `piece` bytes more each time (0: at once). Returns the last error. Bytes that are
 * not fed yet are poisoned and not moved: ASan sees a read behind the others, and none is copied.
 */
static int feed(struct bbf_lttng_state *state, const uint8_t *in, size_t len, size_t piece,
                struct bbf_buf *out)
{
    size_t done = 0, there = piece == 0 ? len : 0, used;
    int err;

    ASAN_POISON_MEMORY_REGION(in + there, len - there);
    for (;;) {
        err = answer(state, in + done, there - done, &used, out);
        if (err == BBF_OK || err == BBF_EFORMAT) {
            done += used;
            continue;
        }
        if (err != BBF_EMORE || there == len)
            break;
        size_t more = len - there < piece ? len - there : piece;
        ASAN_UNPOISON_MEMORY_REGION(in + there, more);
        there += more;
    }
    ASAN_UNPOISON_MEMORY_REGION(in + there, len - there);
    return err;
}

static void compare(const struct bbf_lttng_state *first, const struct bbf_lttng_state *second)
{
    require(first->is_registered == second->is_registered);
    require(first->enabled.n == second->enabled.n && first->enabled.n <= BBF_LTTNG_NAMES_MAX);
    for (size_t i = 0; i < LOGGERS; i++) {
        struct bbf_lttng_levels a = bbf_lttng_enabled_levels(&first->enabled, loggers[i]);
        struct bbf_lttng_levels b = bbf_lttng_enabled_levels(&second->enabled, loggers[i]);
        require(a.least == b.least && a.most == b.most);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_buf whole = BBF_BUF_INIT, cut = BBF_BUF_INIT;

    if (size < 2)
        return 0;
    struct bbf_lttng_state first = {.version = data[0] & 1 ? BBF_LTTNG_0_1 : BBF_LTTNG_2_0,
                                    .loggers = loggers,
                                    .n_loggers = LOGGERS,
                                    .enabled = BBF_LTTNG_ENABLED_INIT};
    struct bbf_lttng_state second = first;
    int err = feed(&first, data + 2, size - 2, 0, &whole);
    require(feed(&second, data + 2, size - 2, data[1] + 1u, &cut) == err);
    require(whole.len == cut.len && (cut.len == 0 || memcmp(whole.data, cut.data, cut.len) == 0));
    compare(&first, &second);
    bbf_lttng_state_clear(&first);
    require(first.enabled.n == 0 && !first.is_registered);
    bbf_lttng_enabled_free(&first.enabled);
    bbf_lttng_enabled_free(&second.enabled);
    bbf_buf_free(&whole);
    bbf_buf_free(&cut);
    return 0;
}
