/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/chunk.h"

#include <string.h>

#include "core/err.h"

enum { METADATA = 0, CHECKPOINT = 1 };

#define NS_PER_SECOND 1e9

bool bbf_jfr_header_read(const unsigned char *bytes, size_t len, struct bbf_jfr_header *to)
{
    if (len < BBF_JFR_HEADER_BYTES || memcmp(bytes, "FLR\0", 4) != 0)
        return false;
    *to = (struct bbf_jfr_header){
        .major = bbf_jfr_u2(bytes + 4),
        .minor = bbf_jfr_u2(bytes + 6),
        .size = bbf_jfr_u8(bytes + 8),
        .checkpoint = bbf_jfr_u8(bytes + 16),
        .metadata = bbf_jfr_u8(bytes + 24),
        .start_ns = bbf_jfr_u8(bytes + 32),
        .duration_ns = bbf_jfr_u8(bytes + 40),
        .start_ticks = bbf_jfr_u8(bytes + 48),
        .ticks_per_second = bbf_jfr_u8(bytes + 56),
        .state = bytes[64],
        .is_compressed = (bytes[67] & 1) != 0,
        .is_last = (bytes[67] & 2) != 0,
    };
    return true;
}

void bbf_jfr_header_write(const struct bbf_jfr_header *h, char *to)
{
    static const char magic[] = {'F', 'L', 'R', 0};

    memset(to, 0, BBF_JFR_HEADER_BYTES);
    memcpy(to, magic, sizeof(magic));
    bbf_jfr_set_u2(to + 4, (uint16_t)h->major);
    bbf_jfr_set_u2(to + 6, (uint16_t)h->minor);
    bbf_jfr_set_u8(to + 8, h->size);
    bbf_jfr_set_u8(to + 16, h->checkpoint);
    bbf_jfr_set_u8(to + 24, h->metadata);
    bbf_jfr_set_u8(to + 32, h->start_ns);
    bbf_jfr_set_u8(to + 40, h->duration_ns);
    bbf_jfr_set_u8(to + 48, h->start_ticks);
    bbf_jfr_set_u8(to + 56, h->ticks_per_second);
    to[64] = (char)h->state;
    to[67] = (char)(h->is_compressed | h->is_last << 1);
}

static void report(const struct bbf_jfr_problems *problems, uint64_t offset, const char *what)
{
    if (problems != NULL && problems->report != NULL)
        problems->report(problems->ctx, offset, what);
}

/* ---- events ---- */

bool bbf_jfr_next_event(const struct bbf_jfr_chunk *chunk, uint64_t *offset,
                        struct bbf_jfr_event *event)
{
    if (*offset >= chunk->len)
        return false;
    struct bbf_jfr_cursor c = bbf_jfr_cursor(chunk->bytes + *offset, chunk->len - *offset);
    uint64_t left = bbf_jfr_left(&c), size = bbf_jfr_get_long(&c);

    event->offset = *offset;
    event->size = size;
    event->type_id = bbf_jfr_get_long(&c);
    if (c.bad || size > left || size < (uint64_t)(c.at - (chunk->bytes + *offset)))
        return false;
    c.end = chunk->bytes + *offset + size;
    event->fields = c;
    event->type =
        event->type_id > CHECKPOINT ? bbf_jfr_type_of(&chunk->metadata, event->type_id) : NULL;
    *offset += size;
    return true;
}

/* ---- opening ---- */

/* Every checkpoint that is among the events, later ones last: their values must not replace. */
static int add_walked(struct bbf_jfr_chunk *chunk)
{
    struct bbf_jfr_checkpoint head;
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;

    while (bbf_jfr_next_event(chunk, &at, &event)) {
        if (event.type_id == CHECKPOINT &&
            bbf_jfr_constants_add(&chunk->constants, &chunk->metadata, chunk->bytes, chunk->len,
                                  event.offset, &head) == BBF_ENOMEM)
            return BBF_ENOMEM;
    }
    return BBF_OK;
}

static int read_constants(struct bbf_jfr_chunk *chunk, const struct bbf_jfr_problems *problems)
{
    struct bbf_jfr_checkpoint head;
    uint64_t at = chunk->header.checkpoint;

    if (at == 0)
        return add_walked(chunk);
    for (;;) {
        int err = bbf_jfr_constants_add(&chunk->constants, &chunk->metadata, chunk->bytes,
                                        chunk->len, at, &head);
        if (err == BBF_ENOMEM)
            return err;
        /* The chain goes back only, so that it ends. */
        bool goes_back = head.delta < 0 && (uint64_t) - (head.delta + 1) < at;
        if (err != BBF_OK || (head.delta != 0 && !goes_back)) {
            report(problems, at, "a checkpoint is broken: some names may be missing");
            return add_walked(chunk);
        }
        if (head.delta == 0)
            return BBF_OK;
        at -= (uint64_t)-head.delta;
    }
}

static int read_metadata(struct bbf_jfr_chunk *chunk, const struct bbf_jfr_problems *problems)
{
    uint64_t at = chunk->header.metadata;

    if (at < BBF_JFR_HEADER_BYTES || at >= chunk->len) {
        report(problems, 24, "the header names no metadata");
        return BBF_EFORMAT;
    }
    struct bbf_jfr_cursor c = bbf_jfr_cursor(chunk->bytes + at, chunk->len - at);
    int err = bbf_jfr_metadata_read(&chunk->metadata, c);
    if (err == BBF_EFORMAT)
        report(problems, at, chunk->metadata.why);
    return err;
}

int bbf_jfr_chunk_open(struct bbf_jfr_chunk *chunk, const unsigned char *bytes, size_t len,
                       const struct bbf_jfr_header *header, bool constants,
                       const struct bbf_jfr_problems *problems)
{
    memset(chunk, 0, sizeof(*chunk));
    chunk->bytes = bytes;
    chunk->len = len;
    chunk->header = *header;
    int err = read_metadata(chunk, problems);
    if (err != BBF_OK)
        return err;
    chunk->string_type = bbf_jfr_type_named(&chunk->metadata, "java.lang.String");
    err = bbf_jfr_constants_init(&chunk->constants, &chunk->metadata);
    if (err == BBF_OK && constants)
        err = read_constants(chunk, problems);
    if (err != BBF_OK)
        bbf_jfr_chunk_close(chunk);
    return err;
}

void bbf_jfr_chunk_close(struct bbf_jfr_chunk *chunk)
{
    bbf_jfr_constants_free(&chunk->constants);
    bbf_jfr_metadata_free(&chunk->metadata);
}

/* ---- time ---- */

int64_t bbf_jfr_duration_ns(const struct bbf_jfr_chunk *chunk, int64_t ticks)
{
    double per_ns = (double)chunk->header.ticks_per_second / NS_PER_SECOND;

    return per_ns > 0 ? bbf_jfr_whole((double)ticks / per_ns) : 0;
}

int64_t bbf_jfr_time_ns(const struct bbf_jfr_chunk *chunk, int64_t ticks)
{
    int64_t since = (int64_t)((uint64_t)ticks - chunk->header.start_ticks);

    return (int64_t)(chunk->header.start_ns + (uint64_t)bbf_jfr_duration_ns(chunk, since));
}
