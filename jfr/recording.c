/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/recording.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"

enum { MAJOR_MIN = 1, MAJOR_MAX = 2, NAME_MAX_BYTES = 512 };

void bbf_jfr_recording_init(struct bbf_jfr_recording *r, const unsigned char *bytes, size_t len,
                            bool with_constants)
{
    memset(r, 0, sizeof(*r));
    r->bytes = bytes;
    r->len = len;
    r->with_constants = with_constants;
}

static void note(struct bbf_jfr_recording *r, uint64_t offset, const char *what)
{
    if (r->trouble.what == NULL) {
        r->trouble.what = what;
        r->trouble.offset = offset;
    }
    r->trouble.count++;
}

static void note_in_chunk(void *ctx, uint64_t offset, const char *what)
{
    struct bbf_jfr_recording *r = ctx;

    note(r, r->at + offset, what);
}

static int stop(struct bbf_jfr_recording *r, int err, const char *what)
{
    note(r, r->at, what);
    return err;
}

static void close_chunk(struct bbf_jfr_recording *r)
{
    if (r->is_open)
        bbf_jfr_chunk_close(&r->chunk);
    r->is_open = false;
}

/* How many bytes the chunk has: all that are left where its header is not finished. */
static uint64_t chunk_len(struct bbf_jfr_recording *r, const struct bbf_jfr_header *h)
{
    uint64_t left = r->len - r->at;

    if (h->size < BBF_JFR_HEADER_BYTES) {
        note(r, r->at + 8, "a chunk is not finished: its size is missing");
        return left;
    }
    if (h->size > left) {
        note(r, r->at + 8, "the file ends inside a chunk");
        return left;
    }
    if (h->state != 0)
        note(r, r->at + 64, "a chunk is not finished: its writer was cut off or is at work");
    return h->size;
}

int bbf_jfr_next_chunk(struct bbf_jfr_recording *r)
{
    struct bbf_jfr_header header;
    struct bbf_jfr_problems problems = {note_in_chunk, r};

    if (r->is_open)
        r->at += r->chunk.len;
    close_chunk(r);
    if (r->at >= r->len && r->n_chunks > 0)
        return BBF_ENOTFOUND;
    if (!bbf_jfr_header_read(r->bytes + r->at, r->len - r->at, &header))
        return stop(r, BBF_EFORMAT, "no flight recording chunk begins here");
    if (header.major < MAJOR_MIN || header.major > MAJOR_MAX)
        return stop(r, BBF_EVERSION, "the format's version is neither 1 nor 2");
    if (!header.is_compressed)
        note(r, r->at + 67, "the flag for compressed integers is not set; they are read as such");
    uint64_t len = chunk_len(r, &header);
    int err = bbf_jfr_chunk_open(&r->chunk, r->bytes + r->at, (size_t)len, &header,
                                 r->with_constants, &problems);
    if (err != BBF_OK)
        return err;
    r->is_open = true;
    r->n_chunks++;
    return BBF_OK;
}

void bbf_jfr_recording_close(struct bbf_jfr_recording *r)
{
    close_chunk(r);
}

/* ---- filters ---- */

/* Is `name` one of the list's names or patterns? */
static bool is_listed(const char *list, const char *name)
{
    char item[NAME_MAX_BYTES];

    while (*list != '\0') {
        size_t len = strcspn(list, ",");
        const char *start = list, *end = list + len;
        while (start < end && *start == ' ')
            start++;
        while (end > start && end[-1] == ' ')
            end--;
        (void)snprintf(item, sizeof(item), "%.*s", (int)(end - start), start);
        if (item[0] != '\0' && fnmatch(item, name, FNM_NOESCAPE) == 0)
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

/* "Java Virtual Machine" is also JVM. */
static bool is_acronym_listed(const char *list, const char *name)
{
    char acronym[32];
    size_t n = 0;
    bool is_start = true;

    for (; *name != '\0'; name++) {
        if (is_start && *name >= 'A' && *name <= 'Z' && n < sizeof(acronym) - 1)
            acronym[n++] = *name;
        is_start = *name == ' ';
    }
    acronym[n] = '\0';
    return n > 1 && is_listed(list, acronym);
}

static bool has_category(const struct bbf_jfr_type *type, const char *list)
{
    const struct bbf_jfr_annotation *a =
        bbf_jfr_annotation(type->annotations, type->n_annotations, "jdk.jfr.Category");

    for (size_t i = 0; a != NULL && i < a->n; i++) {
        if (is_listed(list, a->values[i]) || is_acronym_listed(list, a->values[i]))
            return true;
    }
    return a == NULL && is_listed(list, "Uncategorized");
}

static bool has_name(const struct bbf_jfr_type *type, const char *list)
{
    const char *dot = strrchr(type->name, '.');

    return is_listed(list, type->name) || (dot != NULL && is_listed(list, dot + 1));
}

bool bbf_jfr_filter_type(const struct bbf_jfr_filter *filter, const struct bbf_jfr_type *type)
{
    return (filter->events == NULL || has_name(type, filter->events)) &&
           (filter->categories == NULL || has_category(type, filter->categories));
}

/* ---- in the order of time ---- */

void bbf_jfr_event_times(const struct bbf_jfr_event *event, int64_t *start, int64_t *end)
{
    struct bbf_jfr_cursor c = event->fields;
    const struct bbf_jfr_type *type = event->type;

    *start = *end = 0;
    if (type->n_fields == 0 || strcmp(type->fields[0].name, "startTime") != 0)
        return;
    *start = *end = (int64_t)bbf_jfr_get_long(&c);
    if (type->n_fields > 1 && strcmp(type->fields[1].name, "duration") == 0)
        *end = (int64_t)((uint64_t)*start + bbf_jfr_get_long(&c));
}

static int compare_places(const void *a, const void *b)
{
    const struct bbf_jfr_place_in_time *x = a, *y = b;

    if (x->end_ticks != y->end_ticks)
        return x->end_ticks < y->end_ticks ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool is_in_time(const struct bbf_jfr_recording *r, const struct bbf_jfr_filter *filter,
                       int64_t end_ticks)
{
    if (filter->from_ns == 0 && filter->until_ns == 0)
        return true;
    int64_t at = bbf_jfr_time_ns(&r->chunk, end_ticks);
    return at >= filter->from_ns && (filter->until_ns == 0 || at < filter->until_ns);
}

struct places {
    struct bbf_jfr_place_in_time *list;
    size_t n, room;
};

static bool add_place(struct places *places, struct bbf_jfr_place_in_time place)
{
    if (places->n == places->room) {
        size_t room = places->room > 0 ? 2 * places->room : 1024;
        struct bbf_jfr_place_in_time *list = realloc(places->list, room * sizeof(*list));
        if (list == NULL)
            return false;
        places->list = list;
        places->room = room;
    }
    places->list[places->n++] = place;
    return true;
}

/* By type index: 1 wanted, 0 not. */
static char *wanted_types(const struct bbf_jfr_recording *r, const struct bbf_jfr_filter *filter)
{
    const struct bbf_jfr_metadata *m = &r->chunk.metadata;
    char *wanted = calloc(m->n_types + 1, 1);

    for (size_t i = 0; wanted != NULL && i < m->n_types; i++)
        wanted[i] = bbf_jfr_filter_type(filter, &m->types[i]);
    return wanted;
}

struct bbf_jfr_place_in_time *bbf_jfr_sorted_events(struct bbf_jfr_recording *r,
                                                    const struct bbf_jfr_filter *filter, size_t *n)
{
    struct places places = {0};
    struct bbf_jfr_event event;
    char *wanted = wanted_types(r, filter);
    uint64_t at = BBF_JFR_HEADER_BYTES;
    bool ok = wanted != NULL;

    while (ok && bbf_jfr_next_event(&r->chunk, &at, &event)) {
        struct bbf_jfr_place_in_time place = {0, event.offset};
        int64_t start;
        if (event.type_id <= 1)
            continue;
        if (event.type == NULL) {
            note(r, r->at + event.offset, "an event has a type that its chunk does not declare");
            continue;
        }
        if (!wanted[event.type->index])
            continue;
        bbf_jfr_event_times(&event, &start, &place.end_ticks);
        if (is_in_time(r, filter, place.end_ticks))
            ok = add_place(&places, place);
    }
    if (ok && at < r->chunk.len)
        note(r, r->at + at, "no event begins here; the rest of the chunk is left out");
    free(wanted);
    if (!ok) {
        free(places.list);
        *n = 1;
        return NULL;
    }
    if (places.n > 1)
        qsort(places.list, places.n, sizeof(*places.list), compare_places);
    *n = places.n;
    return places.list;
}
