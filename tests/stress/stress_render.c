/* link: bbf_render bbf_trie bbf_core */
/*
 * A million nodes, the limit of maxNodes, through every format and back (design.md: targets:
 * snapshot and tree within a second; the client's parse is printed beside it). Under a sanitizer a
 * tenth of it. Times are printed, not judged, because the machine of a test run is shared.
 */
#include "core/buf.h"
#include "render/render.h"
#include "tests/unit/snapshot_samples.h"

#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { NODES = 100000 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { NODES = 100000 };
#else
enum { NODES = 1000000 };
#endif
#else
enum { NODES = 1000000 };
#endif

enum { SITES = 20000, ROOTS = 40, LEAK_EVERY = 100, RELEASE_EVERY = 10, DEPTH = 100 };

static uint64_t random_state = 42;

/* xorshift64*, https://doi.org/10.18637/jss.v008.i14 with the usual multiplier. */
static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * UINT64_C(2685821657736338717) >> 32) % limit);
}

/* Mostly chains, as real paths are: a node hangs on the one before it, on a random earlier one
 * where that has the greatest depth (the default of maxDepth), and else now and then. */
static struct bbf_snapshot *make_large(void)
{
    struct bbf_snapshot *s = sample_new();
    char class_name[64], method[32];

    for (unsigned i = 0; i < SITES; i++) {
        snprintf(class_name, sizeof class_name, "com.app.part%u.Handler%u", i % 7, i / 9);
        snprintf(method, sizeof method, "process%u", i % 9);
        sample_site(s, class_name, method, "(" BYTEBUF ")V", BBF_SITE_ENTER);
    }
    uint8_t *depths = sample_memory(calloc(NODES, 1));
    for (uint32_t i = 0; i < NODES; i++) {
        int64_t parent = i < ROOTS ? -1 : (int64_t)i - 1;
        while (parent >= 0 && (depths[parent] >= DEPTH || random_below(8) == 0))
            parent = (int64_t)random_below(i);
        depths[i] = parent < 0 ? 1 : (uint8_t)(depths[parent] + 1);
        int64_t node =
            sample_node(s, parent, random_below(SITES), (enum bbf_bucket)random_below(4));
        if (i % RELEASE_EVERY == 0)
            s->nodes[node].released_ = random_below(1000);
        if (i % LEAK_EVERY == 0)
            sample_leak(s, node, BBF_VERDICT_LEAKED, (enum bbf_memory)random_below(3), 1,
                        random_below(65536), 1);
    }
    free(depths);
    return s;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(int ok, const char *what)
{
    if (!ok) {
        printf("stress_render: %s\n", what);
        exit(1);
    }
}

static void time_format(const struct bbf_snapshot *s, const char *name, size_t max_lines)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_render_options options = {.max_lines = max_lines};
    enum bbf_format format;
    double start = now();

    check(bbf_format_of_name(name, &format) == 0, "no such format");
    check(bbf_render(&text, s, format, &options) == 0, name);
    printf("%-8s max_lines=%-4zu %6.3f s %8.1f MB\n", name, max_lines, now() - start,
           (double)text.len / 1e6);
    bbf_buf_free(&text);
}

static void time_round_trip(const struct bbf_snapshot *s)
{
    struct bbf_buf first = BBF_BUF_INIT, second = BBF_BUF_INIT;
    struct bbf_snapshot *back;
    char why[200];

    check(bbf_render(&first, s, BBF_FORMAT_JSON, NULL) == 0, "json");
    double start = now();
    int err = bbf_snapshot_from_json(&back, first.data, first.len, why, sizeof why);
    check(err == 0, why);
    printf("json read               %6.3f s %8.1f MB\n", now() - start, (double)first.len / 1e6);
    check(bbf_render(&second, back, BBF_FORMAT_JSON, NULL) == 0, "json again");
    check(first.len == second.len && memcmp(first.data, second.data, first.len) == 0,
          "what was read is not what was written");
    bbf_snapshot_free(back);
    bbf_buf_free(&first);
    bbf_buf_free(&second);
}

int main(void)
{
    struct bbf_snapshot *s = make_large();
    double start = now();

    check(bbf_snapshot_finish(s) == 0, "finish");
    printf("%d nodes\nfinish                  %6.3f s\n", NODES, now() - start);
    check(s->n_leaks == NODES / LEAK_EVERY && s->totals.leaked_ == s->n_leaks, "leaks");
    /* tests/long/formats has those for tools; html is json once more, and small texts. */
#define XX(id, name, extension, flags)                                                             \
    if (((flags)&BBF_FORMAT_TOOL) != BBF_FORMAT_TOOL && BBF_FORMAT_##id != BBF_FORMAT_HTML)        \
        time_format(s, #name, 0);
    BBF_FORMATS(XX)
#undef XX
    time_format(s, "tree", 100);
    time_round_trip(s);
    bbf_snapshot_free(s);
    return 0;
}
