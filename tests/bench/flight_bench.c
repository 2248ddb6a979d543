/*
 * flight_bench FILE: reads every field of every event of a recording in the file's order, each
 * constant with all that it names (DEPTH deep), each stack trace with all frames, each text; as
 * FlightBench.java does with jdk.jfr.consumer, which gives the events in the same order. Both
 * look at each value's kind and at each text's length, and both decode a constant once. Prints
 * events, values, characters: equal numbers are equal work; then nanoseconds of processor time and
 * of the clock, the peak of resident memory and what of it is not the mapped file, and the most
 * that the constants of a chunk took when decoded, with how often there was no room.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/err.h"
#include "jfr/recording.h"
#include "jfr/source.h"
#include "jfr/value.h"

enum { DEPTH = 6 };

struct sums {
    uint64_t events, values, characters, refused;
    size_t decoded;
    const struct bbf_jfr_chunk *chunk;
    struct bbf_buf text;
};

static void add_value(struct sums *sums, const struct bbf_jfr_value *value, int depth);

static void add_text(struct sums *sums, const struct bbf_jfr_text *text)
{
    if (text->is_ascii) {
        sums->characters += text->len;
        return;
    }
    sums->text.len = 0;
    bbf_jfr_add_text(&sums->text, text);
    const char *at = bbf_buf_cstr(&sums->text), *end = at + sums->text.len;
    for (; at < end; at++) /* UTF-16 units: what begins a character, twice if it has 4 bytes */
        sums->characters += (*at & 0xC0) == 0x80 ? 0U : (*at & 0xF8) == 0xF0 ? 2U : 1U;
}

static void add_parts(struct sums *sums, const struct bbf_jfr_value *of, int depth)
{
    const struct bbf_jfr_value *value;
    struct bbf_jfr_parts parts;

    bbf_jfr_parts_begin(&parts, sums->chunk, of);
    while ((value = bbf_jfr_parts_next(&parts)) != NULL)
        add_value(sums, value, depth);
}

static void add_value(struct sums *sums, const struct bbf_jfr_value *value, int depth)
{
    sums->values++;
    if (value->what == BBF_JFR_IS_TEXT)
        add_text(sums, &value->text);
    else if (value->what == BBF_JFR_IS_STRUCT && depth < DEPTH)
        add_parts(sums, value, depth + 1);
    else if (value->what == BBF_JFR_IS_LIST)
        add_parts(sums, value, depth);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t kib(const char *name)
{
    char line[256];
    uint64_t value = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoull(line + strlen(name) + 1, NULL, 10);
    }
    if (file != NULL)
        (void)fclose(file);
    return value;
}

static void read_chunk(const struct bbf_jfr_chunk *chunk, struct sums *sums)
{
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;
    const struct bbf_jfr_decoded *decoded = chunk->constants.decoded;

    sums->chunk = chunk;
    while (bbf_jfr_next_event(chunk, &at, &event)) {
        if (event.type == NULL)
            continue;
        struct bbf_jfr_value value = bbf_jfr_event_value(&event);
        sums->events++;
        add_parts(sums, &value, 0);
    }
    sums->refused += decoded->refused;
    if (decoded->memory.bytes > sums->decoded)
        sums->decoded = decoded->memory.bytes;
}

static int read_all(const struct bbf_jfr_source *source, struct sums *sums)
{
    struct bbf_jfr_recording r;
    int err;

    bbf_jfr_recording_init(&r, source->bytes, source->len, true);
    while ((err = bbf_jfr_next_chunk(&r)) == BBF_OK)
        read_chunk(&r.chunk, sums);
    bbf_jfr_recording_close(&r);
    return err == BBF_ENOTFOUND ? BBF_OK : err;
}

int main(int argc, char **argv)
{
    struct bbf_jfr_source source;
    struct sums sums = {.text = BBF_BUF_INIT};
    char why[256];
    uint64_t wall = now_ns(CLOCK_MONOTONIC);

    if (argc != 2 || bbf_jfr_source_open(&source, argv[1], UINT64_MAX, why, sizeof why) != BBF_OK)
        return 2;
    int err = read_all(&source, &sums);
    uint64_t ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    wall = now_ns(CLOCK_MONOTONIC) - wall;
    (void)printf("events=%" PRIu64 " values=%" PRIu64 " characters=%" PRIu64 " ns=%" PRIu64
                 " wall=%" PRIu64 " bytes=%zu peak_kib=%" PRIu64 " anonymous_kib=%" PRIu64
                 " decoded=%zu refused=%" PRIu64 "\n",
                 sums.events, sums.values, sums.characters, ns, wall, source.len, kib("VmHWM"),
                 kib("RssAnon"), sums.decoded, sums.refused);
    bbf_buf_free(&sums.text);
    bbf_jfr_source_close(&source);
    return err == BBF_OK ? 0 : 1;
}
