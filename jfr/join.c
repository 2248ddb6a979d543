/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/join.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/mend.h"
#include "jfr/rewrite.h"

/* Type ids of a part's chunks; the ids of a JVM and of jfr/schema.h are below it. */
#define ID_SHIFT UINT64_C(10000000)

struct chunk_place {
    size_t part;
    struct bbf_jfr_extent extent;
};

struct places {
    struct chunk_place *list;
    size_t n, room;
};

static int add(struct places *places, struct chunk_place place)
{
    if (places->n == places->room) {
        size_t room = places->room > 0 ? 2 * places->room : 64;
        struct chunk_place *list = realloc(places->list, room * sizeof(*list));
        if (list == NULL)
            return BBF_ENOMEM;
        places->list = list;
        places->room = room;
    }
    places->list[places->n++] = place;
    return BBF_OK;
}

static int find_chunks(const struct bbf_jfr_part *parts, size_t n, struct places *places,
                       struct bbf_jfr_join *join)
{
    for (size_t i = 0; i < n; i++) {
        struct chunk_place place = {.part = i};
        uint64_t at = 0;
        do {
            bool found = bbf_jfr_find_chunk(parts[i].bytes, parts[i].len, at, &place.extent);
            join->bad_part = i;
            join->bad_offset = at;
            if (!found || place.extent.at != at || !place.extent.is_whole)
                return BBF_EFORMAT;
            if (add(places, place) != BBF_OK)
                return BBF_ENOMEM;
            at += place.extent.len;
        } while (at < parts[i].len);
    }
    return BBF_OK;
}

/* By start; of one part in the part's order. */
static int compare_places(const void *a, const void *b)
{
    const struct chunk_place *x = a, *y = b;
    uint64_t s = x->extent.header.start_ns, t = y->extent.header.start_ns;

    if (x->part == y->part)
        return (x->extent.at > y->extent.at) - (x->extent.at < y->extent.at);
    return s != t ? (s > t) - (s < t) : (x->part > y->part) - (x->part < y->part);
}

static int copy_chunk(const struct bbf_jfr_part *part, const struct chunk_place *place,
                      uint64_t start_ns, bool is_last, struct bbf_jfr_join *join)
{
    const char *bytes = (const char *)part->bytes + place->extent.at;
    struct bbf_jfr_header header = place->extent.header;
    char text[BBF_JFR_HEADER_BYTES];

    header.start_ns = start_ns;
    header.is_last = is_last;
    bbf_jfr_header_write(&header, text);
    int err = join->put(join->ctx, text, sizeof(text));
    return err != BBF_OK ? err
                         : join->put(join->ctx, bytes + sizeof(text),
                                     (size_t)place->extent.len - sizeof(text));
}

static void rewrite_all(struct bbf_jfr_rewrite *r, const struct bbf_jfr_chunk *chunk)
{
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;

    while (bbf_jfr_next_event(chunk, &at, &event)) {
        if (event.type_id == 1)
            bbf_jfr_rewrite_checkpoint(r, event.offset);
        else if (event.type_id != 0)
            bbf_jfr_rewrite_event(r, &event);
    }
}

static int rewrite_chunk(const struct bbf_jfr_part *part, const struct chunk_place *place,
                         const struct bbf_jfr_header *clock, uint64_t start_ns, bool is_last,
                         struct bbf_jfr_join *join)
{
    struct bbf_jfr_rewrite r = {.id_shift = place->part * ID_SHIFT, .clock = clock};
    const struct bbf_jfr_header *header = &place->extent.header;
    const unsigned char *bytes = part->bytes + place->extent.at;
    struct bbf_jfr_chunk chunk;

    int err = bbf_jfr_chunk_open(&chunk, bytes, (size_t)place->extent.len, header, false, NULL);
    if (err != BBF_OK)
        return err;
    struct bbf_jfr_cursor metadata =
        bbf_jfr_cursor(bytes + header->metadata, chunk.len - header->metadata);
    r.from = &chunk;
    err = bbf_jfr_rewrite_begin(&r, &chunk, metadata,
                                chunk.metadata.id + ((uint64_t)place->part << 40));
    if (err == BBF_OK) {
        rewrite_all(&r, &chunk);
        err = bbf_jfr_rewrite_end(&r, start_ns, is_last);
    }
    if (err == BBF_OK)
        err = join->put(join->ctx, r.out.data, r.out.len);
    bbf_buf_free(&r.out);
    bbf_jfr_chunk_close(&chunk);
    return err;
}

int bbf_jfr_join(const struct bbf_jfr_part *parts, size_t n, bool same_process,
                 struct bbf_jfr_join *join)
{
    struct places places = {0};
    struct bbf_jfr_starts starts = {0};
    bool ok = true;
    int err = find_chunks(parts, n, &places, join);

    if (err == BBF_OK && places.n > 1)
        qsort(places.list, places.n, sizeof(*places.list), compare_places);
    for (size_t i = 0; i < places.n && err == BBF_OK; i++) {
        const struct chunk_place *place = &places.list[i];
        const struct bbf_jfr_part *part = &parts[place->part];
        uint64_t start_ns = bbf_jfr_unique_start(&starts, place->extent.header.start_ns, &ok);
        bool is_last = i + 1 == places.n;
        err = !ok ? BBF_ENOMEM
              : same_process || place->part == places.list[0].part
                  ? copy_chunk(part, place, start_ns, is_last, join)
                  : rewrite_chunk(part, place, &places.list[0].extent.header, start_ns, is_last,
                                  join);
        join->chunks++;
    }
    free(starts.used.places);
    free(places.list);
    return err;
}
