/* SPDX-License-Identifier: Apache-2.0 */
#include "render/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/json_names.h"

/* ---- types ---- */

enum { LEAK, FLOW, LIFE, MISUSE, SUMMARY, SETTING, UNTRACKED, MALLOC, FREE };

#define EVENT  .super = "jdk.jfr.Event"
#define POOLED BBF_JFR_IS_POOLED
#define START                                                                                      \
    {                                                                                              \
        "startTime", "long", 0,                                                                    \
        {                                                                                          \
            {"Label", "Start Time"},                                                               \
            {                                                                                      \
                "Timestamp", "TICKS"                                                               \
            }                                                                                      \
        }                                                                                          \
    }
#define DURATION                                                                                   \
    {                                                                                              \
        "duration", "long", 0,                                                                     \
        {                                                                                          \
            {"Label", "Duration"},                                                                 \
            {                                                                                      \
                "Timespan", "TICKS"                                                                \
            }                                                                                      \
        }                                                                                          \
    }
#define THREAD                                                                                     \
    {                                                                                              \
        "eventThread", "java.lang.Thread", POOLED,                                                 \
        {                                                                                          \
            {                                                                                      \
                "Label", "Event Thread"                                                            \
            }                                                                                      \
        }                                                                                          \
    }
#define PATH(label)                                                                                \
    {                                                                                              \
        "stackTrace", "jdk.types.StackTrace", POOLED,                                              \
        {                                                                                          \
            {                                                                                      \
                "Label", label                                                                     \
            }                                                                                      \
        }                                                                                          \
    }
#define PLACE                                                                                      \
    {                                                                                              \
        "place", "long", 0,                                                                        \
        {                                                                                          \
            {"Label", "Place"},                                                                    \
            {                                                                                      \
                "bbflow.PlaceId", NULL                                                             \
            }                                                                                      \
        }                                                                                          \
    }
#define TEXT(name, text)                                                                           \
    {                                                                                              \
        name, "java.lang.String", 0,                                                               \
        {                                                                                          \
            {                                                                                      \
                "Label", text                                                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define COUNT(name, text)                                                                          \
    {                                                                                              \
        name, "int", 0,                                                                            \
        {                                                                                          \
            {                                                                                      \
                "Label", text                                                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define BYTES(name, text)                                                                          \
    {                                                                                              \
        name, "long", 0,                                                                           \
        {                                                                                          \
            {"Label", text},                                                                       \
            {                                                                                      \
                "DataAmount", "BYTES"                                                              \
            }                                                                                      \
        }                                                                                          \
    }
#define TIME(name, text)                                                                           \
    {                                                                                              \
        name, "long", 0,                                                                           \
        {                                                                                          \
            {"Label", text},                                                                       \
            {                                                                                      \
                "Timespan", "NANOSECONDS"                                                          \
            }                                                                                      \
        }                                                                                          \
    }
#define ADDRESS                                                                                    \
    {                                                                                              \
        "address", "long", 0,                                                                      \
        {                                                                                          \
            {"Label", "Number of the Life"}, {"MemoryAddress", NULL},                              \
            {                                                                                      \
                "bbflow.LifeId", NULL                                                              \
            }                                                                                      \
        }                                                                                          \
    }
#define NOTES(label, text)                                                                         \
    .notes = {{"Label", label}, {"Category", "bbflow"}, {"Description", text}}

static const struct bbf_jfr_type_decl types[] = {
    [LEAK] = {.name = "bbflow.Leak",
              EVENT,
              NOTES("Leak", "Buffers that were collected without a release, or are open for too "
                            "long; the stack trace is their path, last method first"),
              .fields = {START, THREAD, PATH("Path"), PLACE, TEXT("verdict", "Verdict"),
                         TEXT("memory", "Memory"), TEXT("lost", "Lost by"),
                         COUNT("count", "Buffers"), BYTES("bytes", "Size"),
                         COUNT("totalCount", "Buffers so Far"), BYTES("totalBytes", "Size so Far"),
                         COUNT("references", "References Left"), TIME("oldest", "Oldest"),
                         TIME("median", "Median Time Open"),
                         COUNT("opened", "Opened by the Thread"),
                         COUNT("weight", "Buffers per Followed Buffer")}},
    [FLOW] = {.name = "bbflow.Flow",
              EVENT,
              NOTES("Flow", "A path on which buffers are or ended, with how they did"),
              .fields = {START, PATH("Path"), PLACE, COUNT("passed", "Passed"),
                         COUNT("released", "Released"), COUNT("live", "Live"),
                         BYTES("liveBytes", "Live Size"), COUNT("aged", "Aged"),
                         COUNT("leaked", "Leaked"), BYTES("leakedBytes", "Leaked Size"),
                         COUNT("held", "Held"), COUNT("harmless", "Harmless"),
                         COUNT("unknown", "Unknown")}},
    [LIFE] = {.name = "bbflow.Life",
              EVENT,
              NOTES("Life", "Buffers of one path that were opened about the same time and ended "
                            "alike; released ones only if they were open for lifeThreshold="),
              .fields = {START, DURATION, THREAD, PATH("Path"), PLACE, TEXT("end", "End"),
                         TEXT("memory", "Memory"), TEXT("lost", "Lost by"),
                         COUNT("count", "Buffers"), BYTES("bytes", "Size"),
                         COUNT("oneIn", "Recorded One in")}},
    [MISUSE] = {.name = "bbflow.Misuse",
                EVENT,
                NOTES("Use after Release", "A buffer was used after its release; the stack trace "
                                           "is the use"),
                .fields = {START, THREAD, PATH("Used by"), TEXT("use", "Use"),
                           COUNT("count", "Times"), TEXT("path", "Path to the Release")}},
    [SUMMARY] = {.name = "bbflow.Summary",
                 EVENT,
                 NOTES("Summary", "Totals since the start or the last reset"),
                 .fields = {START,
                            COUNT("lives", "Buffers"),
                            COUNT("released", "Released"),
                            COUNT("live", "Live"),
                            BYTES("liveBytes", "Live Size"),
                            COUNT("aged", "Aged"),
                            COUNT("leaked", "Leaked"),
                            BYTES("leakedBytes", "Leaked Size"),
                            COUNT("held", "Held"),
                            COUNT("harmless", "Harmless"),
                            COUNT("unknown", "Unknown"),
                            COUNT("untracked", "Untracked Buffers"),
                            COUNT("sample", "One Buffer Followed in"),
                            {"overhead",
                             "float",
                             0,
                             {{"Label", "Estimated Share of CPU Time"}, {"Percentage", NULL}}},
                            BYTES("memory", "Memory of bbflow"),
                            COUNT("dropped", "Events without Room"),
                            COUNT("livesTooShort", "Collected Buffers below lifeThreshold"),
                            COUNT("livesNotSampled", "Buffers That lifeSample Left out")}},
    [SETTING] = {.name = "bbflow.Setting",
                 EVENT,
                 NOTES("Setting", "An option of bbflow and its value from then on"),
                 .fields = {START, TEXT("name", "Name"), TEXT("value", "Value")}},
    [UNTRACKED] = {.name = "bbflow.Untracked",
                   EVENT,
                   NOTES("Not Followed", "What bbflow does not see, and why"),
                   .fields = {START, TEXT("what", "What")}},
    /* As jfr-converter reads them, which goes by position and skips nothing at an event's end: no
     * duration, and no field more. */
    [MALLOC] = {.name = "profiler.Malloc",
                EVENT,
                NOTES("Lost Buffer Opened", "For leak profilers: a buffer that was lost, at the "
                                            "time it was opened, with its path"),
                .fields = {START, THREAD, PATH("Path"), ADDRESS, BYTES("size", "Size")}},
    [FREE] = {.name = "profiler.Free",
              EVENT,
              NOTES("Buffer Released",
                    "For leak profilers; bbflow writes a Malloc for lost buffers "
                    "only, so there is none of these"),
              .fields = {START, THREAD, PATH("Path"), ADDRESS}},
    {.name = "bbflow.PlaceId",
     .super = "java.lang.annotation.Annotation",
     .notes = {{"Label", "Place"}, {"Relational", NULL}}},
    {.name = "bbflow.LifeId",
     .super = "java.lang.annotation.Annotation",
     .notes = {{"Label", "Life"}, {"Relational", NULL}}},
};

const struct bbf_jfr_schema bbf_record_schema = {types, sizeof types / sizeof *types};

/* ---- fields ---- */

static int32_t count_of(uint64_t count)
{
    return count < INT32_MAX ? (int32_t)count : INT32_MAX;
}

static void put_count(struct bbf_buf *out, uint64_t count)
{
    bbf_jfr_put_int(out, count_of(count));
}

/* No number here is near 2^63; one that is would be read as negative. */
static void put_long(struct bbf_buf *out, uint64_t value)
{
    bbf_jfr_put_long(out, value < INT64_MAX ? value : INT64_MAX);
}

static uint64_t thread_key(struct bbf_jfr_writer *w, const struct bbf_record_thread *thread)
{
    char number[32];
    const char *name = thread->name;

    if (thread->id == 0)
        return 0;
    if (name == NULL) {
        snprintf(number, sizeof number, "thread %llu", (unsigned long long)thread->id);
        name = number;
    }
    return bbf_jfr_thread(w, name, 0, thread->id, false);
}

static void put_thread(struct bbf_jfr_writer *w, struct bbf_buf *out,
                       const struct bbf_record_thread *thread)
{
    bbf_jfr_put_long(out, thread_key(w, thread));
}

static void put_path(struct bbf_jfr_writer *w, struct bbf_buf *out,
                     const struct bbf_record_path *path)
{
    bbf_jfr_put_long(out, bbf_jfr_stack(w, path->frames, path->n, path->is_cut));
}

static bool is_own(const char *class_name)
{
    return class_name == NULL || class_name[0] == '\0';
}

struct bbf_jfr_frame bbf_record_frame(const char *class_name, const char *method,
                                      const char *descriptor)
{
    return (struct bbf_jfr_frame){.class_name = is_own(class_name) ? "bbflow" : class_name,
                                  .method = method != NULL ? method : "?",
                                  .descriptor = descriptor != NULL ? descriptor : "",
                                  .line = -1,
                                  .bytecode_index = -1};
}

/* ---- events ---- */

void bbf_record_leak(struct bbf_jfr_writer *w, uint64_t ticks, const struct bbf_record_leak *leak)
{
    struct bbf_buf *out = bbf_jfr_begin(w, LEAK, ticks);

    put_thread(w, out, &leak->thread);
    put_path(w, out, &leak->path);
    put_long(out, leak->place);
    bbf_jfr_text(w, bbf_json_verdicts[leak->verdict]);
    bbf_jfr_text(w, bbf_json_memories[leak->memory]);
    bbf_jfr_text(w, bbf_json_lost[leak->lost]);
    put_count(out, leak->count);
    put_long(out, leak->bytes);
    put_count(out, leak->total_count);
    put_long(out, leak->total_bytes);
    put_count(out, leak->references);
    put_long(out, leak->oldest_ns);
    put_long(out, leak->median_ns);
    put_count(out, leak->opened);
    put_count(out, leak->weight);
    bbf_jfr_end(w);
}

void bbf_record_flow(struct bbf_jfr_writer *w, uint64_t ticks, const struct bbf_record_flow *flow)
{
    const struct bbf_snap_node *node = flow->node;
    struct bbf_buf *out = bbf_jfr_begin(w, FLOW, ticks);

    put_path(w, out, &flow->path);
    put_long(out, flow->place);
    put_count(out, node->passed_);
    put_count(out, node->released_);
    put_count(out, node->live_);
    put_long(out, node->live_bytes_);
    put_count(out, node->aged_);
    put_count(out, node->leaked_);
    put_long(out, node->leaked_bytes_);
    put_count(out, node->held_);
    put_count(out, node->harmless_);
    put_count(out, node->unknown_);
    bbf_jfr_end(w);
}

void bbf_record_life(struct bbf_jfr_writer *w, const struct bbf_record_life *life)
{
    struct bbf_buf *out = bbf_jfr_begin(w, LIFE, life->opened_ticks);

    put_long(out, life->open_ns);
    put_thread(w, out, &life->thread);
    put_path(w, out, &life->path);
    put_long(out, life->place);
    bbf_jfr_text(w, life->end);
    bbf_jfr_text(w, bbf_json_memories[life->memory]);
    bbf_jfr_text(w, bbf_json_lost[life->lost]);
    put_count(out, life->count);
    put_long(out, life->bytes);
    put_count(out, life->one_in);
    bbf_jfr_end(w);
}

/* Part i of n of a whole, so that all parts add up to it. */
static uint64_t share(uint64_t whole, uint64_t i, uint64_t n)
{
    return whole / n + (i < whole % n);
}

void bbf_record_allocations(struct bbf_jfr_writer *w, const struct bbf_record_lost *lost,
                            uint64_t *number)
{
    uint64_t n = lost->count < BBF_RECORD_ALLOCATIONS ? lost->count : BBF_RECORD_ALLOCATIONS;
    uint64_t chunk = 0, thread = 0, stack = 0;

    for (uint64_t i = 0; i < n; i++) {
        struct bbf_buf *out = bbf_jfr_begin(w, MALLOC, lost->opened_ticks);
        if (i == 0 || w->chunks != chunk) { /* keys are of a chunk */
            chunk = w->chunks;
            thread = thread_key(w, &lost->thread);
            stack = bbf_jfr_stack(w, lost->path.frames, lost->path.n, lost->path.is_cut);
        }
        bbf_jfr_put_long(out, thread);
        bbf_jfr_put_long(out, stack);
        put_long(out, ++*number);
        uint64_t size = share(lost->bytes, i, n);
        put_long(out, size > 0 ? size : 1); /* 0 is a Free for the leak profiler */
        bbf_jfr_end(w);
    }
}

/* "com.app.Handler.read" in two. */
static struct bbf_jfr_frame frame_of_name(char *name)
{
    char *dot = strrchr(name, '.');

    if (dot == NULL)
        return bbf_record_frame("", name, "");
    *dot = '\0';
    return bbf_record_frame(name, dot + 1, "");
}

/* The use, for a person who has no stack: where the buffer had been. */
static void put_release_path(struct bbf_jfr_writer *w, const struct bbf_snap_misuse *row)
{
    struct bbf_buf path = BBF_BUF_INIT;

    for (size_t i = 0; i < row->n_path; i++)
        bbf_buf_printf(&path, "%s%s", i > 0 ? " -> " : "", row->path[i]);
    bbf_jfr_text(w, path.failed ? NULL : bbf_buf_cstr(&path));
    bbf_buf_free(&path);
}

bool bbf_record_misuse(struct bbf_jfr_writer *w, uint64_t ticks, const struct bbf_snap_misuse *row,
                       struct bbf_record_thread thread)
{
    struct bbf_record_path used_by = {.n = row->n_used_by};
    struct bbf_jfr_frame *frames = calloc(row->n_used_by + 1, sizeof *frames);
    char **names = calloc(row->n_used_by + 1, sizeof *names);
    bool made = frames != NULL && names != NULL;

    for (size_t i = 0; made && i < row->n_used_by; i++) {
        made = (names[i] = strdup(row->used_by[i])) != NULL;
        if (made)
            frames[i] = frame_of_name(names[i]);
    }
    used_by.frames = frames;
    if (made) {
        struct bbf_buf *out = bbf_jfr_begin(w, MISUSE, ticks);
        put_thread(w, out, &thread);
        put_path(w, out, &used_by);
        bbf_jfr_text(w, bbf_json_uses[row->use]);
        put_count(out, row->count);
        put_release_path(w, row);
        bbf_jfr_end(w);
    }
    for (size_t i = 0; names != NULL && i < row->n_used_by; i++)
        free(names[i]);
    free(names);
    free(frames);
    return made;
}

/* bbflow's estimated share of the process's processor time. */
static float overhead(const struct bbf_snap_cost_row *row)
{
    return row->process_ns_ > 0
               ? (float)((double)row->estimated_overhead_ns_ / (double)row->process_ns_)
               : 0;
}

void bbf_record_summary(struct bbf_jfr_writer *w, uint64_t ticks,
                        const struct bbf_snapshot *snapshot,
                        const struct bbf_record_left_out *left_out)
{
    const struct bbf_snap_totals *t = &snapshot->totals;
    const struct bbf_snap_cost *cost = &snapshot->cost;
    struct bbf_buf *out = bbf_jfr_begin(w, SUMMARY, ticks);

    put_count(out, t->lives_);
    put_count(out, t->released_);
    put_count(out, t->live_);
    put_long(out, t->live_bytes_);
    put_count(out, t->aged_);
    put_count(out, t->leaked_);
    put_long(out, t->leaked_bytes_);
    put_count(out, t->held_);
    put_count(out, t->harmless_);
    put_count(out, t->unknown_);
    put_count(out, t->untracked_buffers_);
    put_count(out, bbf_record_sample(snapshot));
    bbf_jfr_put_float(out, overhead(&cost->since_start));
    put_long(out,
             cost->memory_nodes_ + cost->memory_lives_ + cost->memory_leaks_ + cost->memory_other_);
    put_count(out, left_out->dropped);
    put_count(out, left_out->short_);
    put_count(out, left_out->unsampled);
    bbf_jfr_end(w);
}

void bbf_record_setting(struct bbf_jfr_writer *w, uint64_t ticks, const char *name,
                        const char *value)
{
    (void)bbf_jfr_begin(w, SETTING, ticks);
    bbf_jfr_text(w, name);
    bbf_jfr_text(w, value);
    bbf_jfr_end(w);
}

void bbf_record_untracked(struct bbf_jfr_writer *w, uint64_t ticks, const char *what)
{
    (void)bbf_jfr_begin(w, UNTRACKED, ticks);
    bbf_jfr_text(w, what);
    bbf_jfr_end(w);
}
