/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/report/misuse.h"
#include "agent/cost/meter.h"
#include "agent/stream.h"
#include "agent/state.h"
#include "agent/jvm/threads.h"
#include "core/err.h"
#include "core/safe.h"
#include "render/text.h"

enum {
    LINES = 50,   /* a second */
    FIRST = 1000, /* places that a new client gets a line for; more are counted */
    STEPS = 64,
    PATH_BYTES = 640, /* a line has 1,024: the numbers take 170 at most */
    OPENER_BYTES = 190,
    AGED_SECONDS = 10,
    AGED_SHARE = 20 /* a look at the open buffers takes at most so small a share of a core */
};

/* What was reported of the aged buffers of one place. */
struct told {
    uint32_t node;
    uint8_t memory, lost;
    uint64_t count, bytes;
};

static uint32_t turn;       /* the tomb whose turn it was last */
static time_t second;       /* of the last look */
static uint64_t aged_at_ns; /* when the next look for aged buffers is due */
static struct told *told;   /* ascending; charged to `memory` */
static size_t n_told;

/* ---- one line ---- */

static void add_site(struct bbf_buf *out, uint32_t id)
{
    const struct bbf_site *site = bbf_site_get(bbf_agent.tracker, id);

    if (site == NULL) {
        bbf_buf_char(out, '?');
        return;
    }
    const char *simple = strrchr(site->class_name, '.');
    simple = simple != NULL ? simple + 1 : site->class_name;
    bbf_safe_printf(out, BBF_SAFE_VALUE, "%s%s%s", simple,
                    *simple != '\0' && site->method[0] != '\0' ? "." : "", site->method);
}

/* The last `most` bytes of `text` at most, from the start of a character on. */
static const char *end_of(const char *text, size_t len, size_t most)
{
    const char *at = text + (len > most ? len - most : 0);

    while (((unsigned char)*at & 0xC0) == 0x80)
        at++;
    return at;
}

/* Root to losing step; of a long path its end, which is where the fix belongs. */
static void add_path(struct bbf_buf *out, uint32_t node)
{
    static const char arrow[] = " → ";
    struct bbf_buf steps[STEPS];
    size_t n = 0, bytes = 0;

    while (node != BBF_L_NODE_NONE && n < STEPS) {
        const struct bbf_node *at = bbf_node_at(bbf_agent.tracker, node);
        struct bbf_buf step = BBF_BUF_INIT;
        add_site(&step, at->site);
        if (n > 0 && bytes + step.len + strlen(arrow) > PATH_BYTES) {
            bbf_buf_free(&step);
            break;
        }
        bytes += step.len + strlen(arrow);
        steps[n++] = step;
        node = at->parent;
    }
    if (node != BBF_L_NODE_NONE)
        bbf_buf_printf(out, "…%s", arrow);
    while (n-- > 0) {
        const char *text = bbf_buf_cstr(&steps[n]), *end = end_of(text, steps[n].len, PATH_BYTES);
        bbf_buf_printf(out, "%s%s%s", end > text ? "…" : "", end, n > 0 ? arrow : "\n");
        out->failed = out->failed || steps[n].failed;
        bbf_buf_free(&steps[n]);
    }
}

/* The thread that opened most; the beginning where a name of escapes is very long. */
static void add_opener(struct bbf_buf *out, const struct bbf_snapshot *names,
                       const struct bbf_snap_leak *leak)
{
    size_t begin = out->len;

    bbf_text_opener(out, names, leak, '\0');
    if (out->failed || out->len - begin <= OPENER_BYTES)
        return;
    out->len = begin + OPENER_BYTES;
    while (((unsigned char)out->data[out->len] & 0xC0) == 0x80)
        out->len--;
    bbf_buf_str(out, "…");
}

/* What a line says. Counts are of lives that were followed: `weight` makes buffers of them. */
struct line {
    struct bbf_snap_leak leak; /* count and bytes: so far; node: an id of the tracker's */
    uint64_t added, added_bytes;
    uint64_t weight;
};

struct lines {
    struct line *at;
    size_t n, room;
};

/* "LEAK heap: 3 new buffers (192 bytes), 8 so far (512 bytes), by worker-1: A → b → c"; without
 * `added`: "LEAK heap: 8 buffers so far (512 bytes), …". */
static void add_line(struct bbf_buf *out, const struct line *line, const struct bbf_snapshot *names)
{
    const struct bbf_snap_leak *leak = &line->leak;
    const char *about = line->weight > 1 ? "about " : "";
    uint64_t count = leak->count * line->weight, added = line->added * line->weight;

    bbf_buf_printf(out, "%s %s: ", leak->verdict == BBF_VERDICT_AGED ? "AGED" : "LEAK",
                   bbf_memory_name(leak->memory));
    if (added > 0)
        bbf_buf_printf(out, "%s%" PRIu64 " new %s (%s%" PRIu64 " bytes), %s%" PRIu64 " so far",
                       about, added, added == 1 ? "buffer" : "buffers", about,
                       line->added_bytes * line->weight, about, count);
    else
        bbf_buf_printf(out, "%s%" PRIu64 " %s so far", about, count,
                       count == 1 ? "buffer" : "buffers");
    bbf_buf_printf(out, " (%s%" PRIu64 " bytes)", about, leak->bytes * line->weight);
    if (leak->thread != 0) {
        struct bbf_snap_leak buffers = *leak;
        buffers.count = count;
        buffers.thread_count *= line->weight;
        bbf_buf_str(out, ", by ");
        add_opener(out, names, &buffers);
    }
    bbf_buf_str(out, ": ");
    add_path(out, leak->node);
}

/* All of them to `out`, or, where that is NULL, to the live stream. */
static int say(JNIEnv *env, struct lines *lines, struct bbf_buf *out)
{
    struct bbf_snapshot *names = bbf_snapshot_new();
    int err = names != NULL ? BBF_OK : BBF_ENOMEM;

    if (err == BBF_OK && lines->n > 0) {
        names->leaks = calloc(lines->n, sizeof *names->leaks);
        err = names->leaks != NULL ? BBF_OK : BBF_ENOMEM;
    }
    for (size_t i = 0; i < lines->n && err == BBF_OK; i++)
        names->leaks[names->n_leaks++] = lines->at[i].leak;
    if (err == BBF_OK && lines->n > 0)
        err = bbf_threads_fill(env, names);
    for (size_t i = 0; i < lines->n && err == BBF_OK; i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        add_line(out != NULL ? out : &text, &lines->at[i], names);
        if (out == NULL && !text.failed)
            bbf_stream_publish(text.data, text.len);
        bbf_buf_free(&text);
    }
    bbf_snapshot_free(names);
    return err;
}

static struct line *next_line(struct lines *lines)
{
    if (lines->n == lines->room) {
        size_t room = lines->room == 0 ? LINES : 2 * lines->room;
        struct line *more = reallocarray(lines->at, room, sizeof *more);
        if (more == NULL)
            return NULL;
        lines->at = more;
        lines->room = room;
    }
    return &lines->at[lines->n++];
}

/* ---- what leaked ---- */

static bool is_leak(const struct bbf_tomb *tomb)
{
    return tomb->end == BBF_END_LEAKED && tomb->count > 0;
}

static struct line line_of(const struct bbf_tomb *tomb)
{
    struct line line = {.leak = {.node = tomb->node,
                                 .verdict = BBF_VERDICT_LEAKED,
                                 .memory = (enum bbf_memory)tomb->memory,
                                 .count = tomb->count,
                                 .bytes = tomb->bytes},
                        .added = tomb->count - tomb->told,
                        .added_bytes = tomb->bytes - tomb->told_bytes,
                        .weight = bbf_node_weight(bbf_agent.tracker, tomb->node)};
    line.leak.thread = bbf_tomb_opener(tomb, &line.leak.thread_count);
    return line;
}

static void tell(struct bbf_tomb *tomb)
{
    tomb->told = tomb->count;
    tomb->told_bytes = tomb->bytes;
}

/* The next LINES places that have something new. */
static void tell_leaks(JNIEnv *env)
{
    struct lines lines = {0};
    uint32_t n = bbf_agent.tracker->n_tombs, first = turn < n ? turn : 0;

    for (uint32_t i = 0; i < n && lines.n < LINES; i++) {
        turn = (first + i) % n + 1;
        struct bbf_tomb *tomb = bbf_tomb_at(bbf_agent.tracker, turn);
        if (!is_leak(tomb) || tomb->count == tomb->told)
            continue;
        struct line *line = next_line(&lines);
        if (line == NULL)
            break;
        *line = line_of(tomb);
        tell(tomb);
    }
    (void)say(env, &lines, NULL);
    free(lines.at);
}

/* ---- what is aged ---- */

static int compare_told(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->lost > y->lost) - (x->lost < y->lost);
}

static void forget_aged(void)
{
    bbf_budget_uncharge(&bbf_agent.tracker->budget, n_told * sizeof *told);
    free(told);
    told = NULL;
    n_told = 0;
}

/* Replaces what was reported before. */
static void keep_aged(struct told *now, size_t n)
{
    forget_aged();
    if (bbf_budget_charge(&bbf_agent.tracker->budget, n * sizeof *now)) {
        qsort(now, n, sizeof *now, compare_told);
        told = now;
        n_told = n;
    } else {
        free(now); /* they are reported again the next time */
    }
}

/* Whom a look at the aged buffers is for. */
enum audience {
    LISTENERS, /* what is new, LINES of it; the rest has its turn the next time */
    NEWCOMER,  /* the totals that those who listen know; what is new comes to all of them later */
    FIRST_ONE  /* the totals, where no client listens yet */
};

static struct line *next_aged_line(struct lines *lines, const struct bbf_snap_leak *leak,
                                   uint32_t node)
{
    struct line *line = next_line(lines);

    if (line == NULL)
        return NULL;
    /* A snapshot's counts are of buffers already; the weight says only that they are estimates. */
    uint64_t weight = bbf_node_weight(bbf_agent.tracker, node);
    *line = (struct line){.leak = *leak, .weight = weight};
    line->leak.node = node;
    line->leak.count /= weight;
    line->leak.bytes /= weight;
    line->leak.thread_count /= weight;
    return line;
}

/* The line of one place. *at: what was reported of it and is still there; updated. */
static int aged_line(const struct bbf_snap_leak *leak, enum audience audience, struct told *at,
                     struct lines *lines, uint64_t *more)
{
    struct bbf_snap_leak whole = *leak;

    if (audience == LISTENERS && (leak->count <= at->count || lines->n >= LINES))
        return BBF_OK;
    if (audience == NEWCOMER) {
        whole.count = at->count;
        whole.bytes = at->bytes;
    }
    if (whole.count == 0)
        return BBF_OK;
    if (lines->n >= FIRST) {
        ++*more;
    } else {
        struct line *line = next_aged_line(lines, &whole, at->node);
        if (line == NULL)
            return BBF_ENOMEM;
        if (audience == LISTENERS) {
            line->added = (leak->count - at->count) / line->weight;
            line->added_bytes = (leak->bytes - at->bytes) / line->weight;
        }
    }
    at->count = whole.count;
    at->bytes = whole.bytes;
    return BBF_OK;
}

/* A line for each place with aged buffers of which the audience has to hear. Adds to *more the
 * places that got none because of FIRST. */
static int aged_lines(const struct bbf_snapshot *s, enum audience audience, struct lines *lines,
                      uint64_t *more)
{
    struct told *now = calloc(s->n_leaks + 1, sizeof *now);
    int err = now != NULL ? BBF_OK : BBF_ENOMEM;
    size_t n = 0;

    for (size_t i = 0; err == BBF_OK && i < s->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        if (leak->verdict != BBF_VERDICT_AGED)
            continue;
        struct told *at = &now[n++];
        *at = (struct told){.node = s->nodes[leak->node].id,
                            .memory = (uint8_t)leak->memory,
                            .lost = (uint8_t)leak->lost};
        const struct told *before =
            n_told > 0 ? bsearch(at, told, n_told, sizeof *told, compare_told) : NULL;
        if (before != NULL) {
            at->count = before->count < leak->count ? before->count : leak->count;
            at->bytes = before->bytes < leak->bytes ? before->bytes : leak->bytes;
        }
        err = aged_line(leak, audience, at, lines, more);
    }
    if (err == BBF_OK)
        keep_aged(now, n);
    else
        free(now);
    return err;
}

/* Look at all open buffers, which takes its time: the next look is the later for it. */
static int look_for_aged(enum audience audience, struct lines *lines, uint64_t *more)
{
    uint64_t begin = bbf_meter_clock();
    struct bbf_snapshot *s = bbf_snapshot_new();
    struct timespec now;
    int err = s != NULL ? bbf_tracker_capture(bbf_agent.tracker, s) : BBF_ENOMEM;

    if (err == BBF_OK)
        err = aged_lines(s, audience, lines, more);
    bbf_snapshot_free(s);
    clock_gettime(CLOCK_MONOTONIC, &now);
    aged_at_ns = (uint64_t)(now.tv_sec + AGED_SECONDS) * 1000000000u +
                 AGED_SHARE * (bbf_meter_clock() - begin);
    return err;
}

static void tell_aged(JNIEnv *env)
{
    struct lines lines = {0};
    struct timespec now;
    uint64_t more = 0; /* stays 0: a look has fewer lines than FIRST */

    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < aged_at_ns ||
        atomic_load(&bbf_agent.tracker->max_age) == 0)
        return;
    if (look_for_aged(LISTENERS, &lines, &more) == BBF_OK)
        (void)say(env, &lines, NULL);
    free(lines.at);
}

/* ---- the stream ---- */

void bbf_watch_poll(JNIEnv *env)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec == second)
        return;
    second = now.tv_sec;
    if (!bbf_stream_is_watched())
        return;
    tell_leaks(env);
    tell_aged(env);
}

/* The totals that were reported of each place, so that the increments that follow fit them. */
static int add_totals(struct lines *lines, uint64_t *more)
{
    for (uint32_t i = 1; i <= bbf_agent.tracker->n_tombs; i++) {
        const struct bbf_tomb *tomb = bbf_tomb_at(bbf_agent.tracker, i);
        if (!is_leak(tomb) || tomb->told == 0)
            continue;
        if (lines->n >= FIRST) {
            ++*more;
            continue;
        }
        struct line *line = next_line(lines);
        if (line == NULL)
            return BBF_ENOMEM;
        *line = line_of(tomb);
        line->added = 0;
        line->leak.count = tomb->told;
        line->leak.bytes = tomb->told_bytes;
    }
    return BBF_OK;
}

int bbf_watch_begin(JNIEnv *env, struct bbf_buf *text, uint64_t *place)
{
    struct lines lines = {0}, aged = {0};
    uint64_t more = 0;
    /* A client that listens began here: it has received all that was reported. */
    bool listened = bbf_stream_is_watched();

    if (listened) {
        aged_at_ns = 0;
        tell_leaks(env);
        tell_aged(env);
    } else {
        for (uint32_t i = 1; i <= bbf_agent.tracker->n_tombs; i++)
            tell(bbf_tomb_at(bbf_agent.tracker, i));
    }
    int err = add_totals(&lines, &more);
    if (err == BBF_OK && atomic_load(&bbf_agent.tracker->max_age) != 0)
        err = look_for_aged(listened ? NEWCOMER : FIRST_ONE, &aged, &more);
    if (err == BBF_OK)
        err = say(env, &lines, text);
    if (err == BBF_OK)
        err = say(env, &aged, text);
    if (more > 0)
        bbf_buf_printf(text, "… and %" PRIu64 " more places: see bbflow tree\n", more);
    bbf_misuse_lines(text);
    free(lines.at);
    free(aged.at);
    *place = bbf_stream_published();
    return err == BBF_OK && text->failed ? BBF_ENOMEM : err;
}

void bbf_watch_reset(void)
{
    turn = 0;
    forget_aged();
    bbf_stream_unpublish();
}
