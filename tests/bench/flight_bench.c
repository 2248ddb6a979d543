/* tests/bench/flight FILE: reads every field of every event of a recording, each constant with all
 * that it names (DEPTH deep) and each text, as FlightBench.java does with jdk.jfr.consumer. Prints
 * events, values, characters: equal numbers are equal work; then nanoseconds of the
 * thread's processor time, and the peak of
 * resident memory, of it what is not the mapped file. */
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
    uint64_t events, values, characters;
    const struct bbf_jfr_chunk *chunk;
    struct bbf_buf text;
};

static void add_value(struct sums *sums, const struct bbf_jfr_value *value, int depth);

static void add_text(struct sums *sums, const struct bbf_jfr_text *text)
{
    sums->text.len = 0;
    bbf_jfr_add_text(&sums->text, text);
    const char *at = bbf_buf_cstr(&sums->text), *end = at + sums->text.len;
    for (uint64_t word; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
        sums->characters += sizeof word;
    }
    for (; at < end; at++) /* UTF-16 units: what begins a character, twice if it has 4 bytes */
        sums->characters += (*at & 0xC0) == 0x80 ? 0U : (*at & 0xF8) == 0xF0 ? 2U : 1U;
}

static void add_fields(struct sums *sums, const struct bbf_jfr_value *of, int depth)
{
    struct bbf_jfr_cursor c = of->at;

    for (size_t i = 0; i < of->type->n_fields; i++) {
        struct bbf_jfr_value value;
        if (!bbf_jfr_read_value(sums->chunk, &c, &of->type->fields[i], &value))
            return;
        add_value(sums, &value, depth);
    }
}

static void add_value(struct sums *sums, const struct bbf_jfr_value *value, int depth)
{
    struct bbf_jfr_value list = *value, element;

    sums->values++;
    if (value->what == BBF_JFR_IS_TEXT)
        add_text(sums, &value->text);
    else if (value->what == BBF_JFR_IS_STRUCT && depth < DEPTH)
        add_fields(sums, value, depth + 1);
    while (value->what == BBF_JFR_IS_LIST && bbf_jfr_read_element(sums->chunk, &list, &element))
        add_value(sums, &element, depth);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
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

static int read_all(const struct bbf_jfr_source *source, struct sums *sums)
{
    static const struct bbf_jfr_filter all;
    struct bbf_jfr_recording r;
    int err;

    bbf_jfr_recording_init(&r, source->bytes, source->len, true);
    while ((err = bbf_jfr_next_chunk(&r)) == BBF_OK) {
        size_t n;
        struct bbf_jfr_place_in_time *places = bbf_jfr_sorted_events(&r, &all, &n);
        sums->chunk = &r.chunk;
        for (size_t i = 0; places != NULL && i < n; i++) {
            struct bbf_jfr_event event;
            uint64_t at = places[i].offset;
            if (!bbf_jfr_next_event(&r.chunk, &at, &event))
                continue;
            struct bbf_jfr_value value = bbf_jfr_event_value(&event);
            sums->events++;
            add_fields(sums, &value, 0);
        }
        free(places);
    }
    bbf_jfr_recording_close(&r);
    return err == BBF_ENOTFOUND ? BBF_OK : err;
}

int main(int argc, char **argv)
{
    struct bbf_jfr_source source;
    struct sums sums = {.text = BBF_BUF_INIT};
    char why[256];

    if (argc != 2 || bbf_jfr_source_open(&source, argv[1], UINT64_MAX, why, sizeof why) != BBF_OK)
        return 2;
    uint64_t begin = now_ns();
    int err = read_all(&source, &sums);
    uint64_t end = now_ns();
    (void)printf("events=%" PRIu64 " values=%" PRIu64 " characters=%" PRIu64 " ns=%" PRIu64
                 " bytes=%zu peak_kib=%" PRIu64 " anonymous_kib=%" PRIu64 "\n",
                 sums.events, sums.values, sums.characters, end - begin, source.len, kib("VmHWM"),
                 kib("RssAnon"));
    bbf_buf_free(&sums.text);
    bbf_jfr_source_close(&source);
    return err == BBF_OK ? 0 : 1;
}
