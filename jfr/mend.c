/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/mend.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/heal.h"
#include "jfr/rewrite.h"

enum {
    METADATA = 0,
    CHECKPOINT = 1,
    MAJOR_MAX = 2,
    MINOR_MAX = 1,
    PROBE_EVENTS = 8, /* this many events in a row are no accident */
    SYNC_EVENTS = 3,  /* the same inside a chunk, where types are known */
    SIZE_MAX_BYTES = 1 << 28
};

/* ---- finding chunks ---- */

/* Size and type of a possible event; 0: these bytes are no event. */
static uint64_t event_at(const unsigned char *bytes, size_t len, uint64_t at, uint64_t *type)
{
    if (at >= len)
        return 0;
    struct bbf_jfr_cursor c = bbf_jfr_cursor(bytes + at, len - at);
    uint64_t size = bbf_jfr_get_long(&c);
    *type = bbf_jfr_get_long(&c);
    return c.bad || size < (uint64_t)(c.at - (bytes + at)) || size > len - at ? 0 : size;
}

/* How many of `most` events follow each other from `at` on; all of them if the end is reached. */
static unsigned events_in_row(const unsigned char *bytes, size_t len, uint64_t at, unsigned most)
{
    uint64_t type, size;

    for (unsigned n = 0; n < most; n++) {
        if (at == len)
            return most;
        size = event_at(bytes, len, at, &type);
        if (size == 0)
            return n;
        at += size;
    }
    return most;
}

static bool is_metadata_at(const unsigned char *bytes, size_t len, uint64_t at)
{
    uint64_t type;

    return at >= BBF_JFR_HEADER_BYTES && at < len && event_at(bytes, len, at, &type) > 0 &&
           type == METADATA;
}

/*
 * Does a chunk begin here? A magic number alone does not say so: the JVM stores copies of the
 * header inside checkpoints. `magic`: it must be there.
 */
static bool is_chunk_at(const unsigned char *bytes, size_t len, uint64_t at, bool magic,
                        struct bbf_jfr_header *header)
{
    unsigned char copy[BBF_JFR_HEADER_BYTES];

    if (len - at < sizeof(copy))
        return false;
    memcpy(copy, bytes + at, sizeof(copy));
    if (!magic)
        memcpy(copy, "FLR\0", 4);
    if (!bbf_jfr_header_read(copy, sizeof(copy), header))
        return false;
    if (header->major < 1 || header->major > MAJOR_MAX || header->minor > MINOR_MAX) {
        if (!magic || !is_metadata_at(bytes + at, len - at, header->metadata))
            return false;
    }
    return is_metadata_at(bytes + at, len - at, header->metadata) ||
           (magic && events_in_row(bytes + at, len - at, BBF_JFR_HEADER_BYTES, PROBE_EVENTS) ==
                         PROBE_EVENTS);
}

static uint64_t next_magic(const unsigned char *bytes, size_t len, uint64_t from)
{
    const unsigned char *found = from < len ? memmem(bytes + from, len - from, "FLR\0", 4) : NULL;

    return found != NULL ? (uint64_t)(found - bytes) : len;
}

/* Do the sizes of the events lead exactly to `end`? */
static bool walk_ends_at(const unsigned char *bytes, uint64_t at, uint64_t end)
{
    uint64_t type, size = 1;

    while (at < end && size > 0) {
        size = event_at(bytes, end, at, &type);
        at += size;
    }
    return at == end;
}

/* Is a metadata event there of which something can be read? */
static bool read_metadata_at(const unsigned char *chunk, size_t len, uint64_t at,
                             struct bbf_jfr_cursor *metadata)
{
    static const struct bbf_jfr_heal silent;
    struct bbf_buf healed = BBF_BUF_INIT;
    struct bbf_jfr_metadata read;

    if (!is_metadata_at(chunk, len, at))
        return false;
    struct bbf_jfr_cursor found = bbf_jfr_cursor(chunk + at, len - at), whole = found;
    int err = bbf_jfr_heal(&healed, found, &silent);
    if (healed.len > 0)
        whole = bbf_jfr_cursor((const unsigned char *)healed.data, healed.len);
    if (err == BBF_OK)
        err = bbf_jfr_metadata_read(&read, whole);
    bbf_buf_free(&healed);
    if (err != BBF_OK)
        return false;
    bbf_jfr_metadata_free(&read);
    *metadata = found;
    return true;
}

/* The JVM stores the chunk's header in checkpoints: a copy has the same start, and the metadata are
 * not where it says, counted from the copy. */
static bool is_copy(const unsigned char *bytes, size_t len, uint64_t at,
                    const struct bbf_jfr_header *copy, const struct bbf_jfr_header *header)
{
    struct bbf_jfr_cursor metadata;

    return copy->start_ns == header->start_ns &&
           !read_metadata_at(bytes + at, len - at, copy->metadata, &metadata);
}

/* Where the chunk at `at` ends: where its header says, if something good is there. */
static uint64_t end_of_chunk(const unsigned char *bytes, size_t len, uint64_t at,
                             const struct bbf_jfr_header *header)
{
    struct bbf_jfr_header next;
    bool fits = header->size >= BBF_JFR_HEADER_BYTES && header->size <= len - at;
    uint64_t end = fits ? at + header->size : len;

    if (fits && (end == len || is_chunk_at(bytes, len, end, true, &next) ||
                 walk_ends_at(bytes, at + BBF_JFR_HEADER_BYTES, end)))
        return end;
    for (end = next_magic(bytes, len, at + BBF_JFR_HEADER_BYTES); end < len;
         end = next_magic(bytes, len, end + 1)) {
        if (is_chunk_at(bytes, len, end, true, &next) && !is_copy(bytes, len, end, &next, header))
            return end;
    }
    return len;
}

static bool has_whole_events(const struct bbf_jfr_chunk *chunk)
{
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;

    while (bbf_jfr_next_event(chunk, &at, &event)) {
        if (event.type_id > CHECKPOINT && !bbf_jfr_is_whole(&event))
            return false;
    }
    return at == chunk->len;
}

static void count_problem(void *ctx, uint64_t offset, const char *what)
{
    (void)offset, (void)what;
    *(unsigned *)ctx += 1;
}

/* Would the JDK's parser take the metadata? */
static bool has_right_metadata(const struct bbf_jfr_chunk *chunk)
{
    static const struct bbf_jfr_heal silent;
    struct bbf_buf healed = BBF_BUF_INIT;
    uint64_t at = chunk->header.metadata;

    int err = bbf_jfr_heal(&healed, bbf_jfr_cursor(chunk->bytes + at, chunk->len - at), &silent);
    bool is_right = err == BBF_OK && healed.len == 0;
    bbf_buf_free(&healed);
    return is_right;
}

static bool is_whole(const unsigned char *bytes, const struct bbf_jfr_extent *extent)
{
    struct bbf_jfr_chunk chunk;
    const struct bbf_jfr_header *h = &extent->header;
    unsigned found = 0;
    struct bbf_jfr_problems problems = {count_problem, &found};

    if (memcmp(bytes + extent->at, "FLR\0", 4) != 0 || h->major < 1 || h->major > MAJOR_MAX ||
        h->size != extent->len || h->state != 0 || !h->is_compressed || h->checkpoint == 0 ||
        h->ticks_per_second == 0)
        return false;
    if (bbf_jfr_chunk_open(&chunk, bytes + extent->at, (size_t)extent->len, h, true, &problems) !=
        BBF_OK)
        return false;
    bool whole = found == 0 && has_whole_events(&chunk) && has_right_metadata(&chunk);
    bbf_jfr_chunk_close(&chunk);
    return whole;
}

bool bbf_jfr_find_chunk(const unsigned char *bytes, size_t len, uint64_t from,
                        struct bbf_jfr_extent *extent)
{
    uint64_t at = from;

    /* Right behind a chunk its header may be known without the magic number. */
    bool found = from < len && is_chunk_at(bytes, len, at, false, &extent->header);
    while (!found && (at = next_magic(bytes, len, found ? at + 1 : at)) < len) {
        found = is_chunk_at(bytes, len, at, true, &extent->header);
        at += !found;
    }
    if (!found)
        return false;
    extent->at = at;
    extent->len = end_of_chunk(bytes, len, at, &extent->header) - at;
    extent->is_whole = is_whole(bytes, extent);
    return true;
}

/* ---- one damaged chunk ---- */

struct mending {
    struct bbf_jfr_mend *mend;
    const unsigned char *bytes;
    size_t len;
    uint64_t base, metadata; /* of the chunk and of its metadata, in the recording */
    struct bbf_jfr_chunk chunk;
    struct bbf_jfr_rewrite out;
    uint64_t *checkpoints; /* offsets of those that are there */
    size_t n_checkpoints, room;
    struct bbf_jfr_starts starts;
    struct bbf_buf healed;          /* the chunk's metadata, if some of it was left out */
    struct bbf_jfr_cursor borrowed; /* the first metadata of the recording, once looked for */
    bool has_borrowed, has_looked, no_memory;
};

static void report(struct mending *m, uint64_t offset, uint64_t len, const char *what)
{
    struct bbf_jfr_loss loss = {offset, len, what};

    m->mend->losses += len > 0;
    m->mend->bytes_lost += len;
    if (m->mend->report != NULL)
        m->mend->report(m->mend->ctx, &loss);
}

/* Find the metadata event among the chunk's bytes, also where the header is wrong: its offset may
 * point into bytes that look like one. */
static bool find_metadata(const unsigned char *chunk, size_t len, const struct bbf_jfr_header *h,
                          struct bbf_jfr_cursor *metadata)
{
    uint64_t at = BBF_JFR_HEADER_BYTES, type, size;
    bool found = read_metadata_at(chunk, len, h->metadata, metadata);

    for (; !found && (size = event_at(chunk, len, at, &type)) > 0; at += size)
        found = type == METADATA && read_metadata_at(chunk, len, at, metadata);
    return found;
}

/* Another chunk's: types of one process have the same ids in all of its chunks, nearly always. */
static bool borrow_metadata(struct mending *m, struct bbf_jfr_cursor *metadata)
{
    struct bbf_jfr_header header;
    uint64_t at = m->has_looked ? m->len : next_magic(m->bytes, m->len, 0);

    m->has_looked = true;
    for (; at < m->len && !m->has_borrowed; at = next_magic(m->bytes, m->len, at + 1))
        m->has_borrowed = is_chunk_at(m->bytes, m->len, at, true, &header) &&
                          find_metadata(m->bytes + at, m->len - at, &header, &m->borrowed);
    *metadata = m->borrowed;
    return m->has_borrowed;
}

static void keep_checkpoint(struct mending *m, uint64_t offset)
{
    if (m->n_checkpoints == m->room) {
        size_t room = m->room > 0 ? 2 * m->room : 64;
        uint64_t *list = realloc(m->checkpoints, room * sizeof(*list));
        if (list == NULL) {
            m->no_memory = true;
            return;
        }
        m->checkpoints = list;
        m->room = room;
    }
    m->checkpoints[m->n_checkpoints++] = offset;
}

/* Could reading continue with this event? */
static bool is_good(const struct bbf_jfr_event *event)
{
    if (event->size >= SIZE_MAX_BYTES)
        return false;
    return event->type_id <= CHECKPOINT ? event->size > 6 : bbf_jfr_is_whole(event);
}

static bool is_in_step(const struct bbf_jfr_chunk *chunk, uint64_t at)
{
    struct bbf_jfr_event event;

    for (int n = 0; n < SYNC_EVENTS; n++) {
        if (at == chunk->len)
            return n > 0;
        if (!bbf_jfr_next_event(chunk, &at, &event) || !is_good(&event))
            return false;
    }
    return true;
}

static uint64_t resync(const struct bbf_jfr_chunk *chunk, uint64_t at)
{
    while (at < chunk->len && !is_in_step(chunk, at))
        at++;
    return at;
}

static void keep_event(struct mending *m, const struct bbf_jfr_event *event)
{
    if (event->type_id == CHECKPOINT)
        keep_checkpoint(m, event->offset);
    else if (event->type_id != METADATA)
        bbf_jfr_rewrite_event(&m->out, event);
}

static void keep_events(struct mending *m)
{
    const struct bbf_jfr_chunk *chunk = &m->chunk;
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;

    while (at < chunk->len && !m->no_memory && !m->out.out.failed) {
        uint64_t next = at;
        if (bbf_jfr_next_event(chunk, &next, &event) && is_good(&event)) {
            keep_event(m, &event);
            at = next;
            continue;
        }
        bool is_step = next > at && is_in_step(chunk, next);
        uint64_t good = is_step ? next : resync(chunk, at + 1);
        report(m, m->base + at, good - at,
               good == chunk->len ? "the chunk's end cannot be read"
               : is_step          ? "an event is damaged, or of a type that is not declared"
                                  : "no event begins here");
        at = good;
    }
}

static void keep_checkpoints(struct mending *m)
{
    struct bbf_jfr_checkpoint head;

    for (size_t i = 0; i < m->n_checkpoints; i++) {
        uint64_t at = m->checkpoints[i];
        if (bbf_jfr_constants_add(&m->chunk.constants, &m->chunk.metadata, m->chunk.bytes,
                                  m->chunk.len, at, &head) == BBF_EFORMAT)
            report(m, m->base + at, 1, "a checkpoint is damaged: some names are missing");
        bbf_jfr_rewrite_checkpoint(&m->out, at);
    }
}

static const char *what_is_wrong(const struct bbf_jfr_extent *extent, const unsigned char *bytes)
{
    const struct bbf_jfr_header *h = &extent->header;

    if (memcmp(bytes + extent->at, "FLR\0", 4) != 0)
        return "a chunk's magic number is damaged";
    if (h->major < 1 || h->major > MAJOR_MAX)
        return "a chunk's version is damaged";
    if (h->size != extent->len)
        return "a chunk's size is wrong or missing";
    if (h->state != 0)
        return "a chunk is not finished";
    return "a chunk is damaged";
}

static int rewrite_chunk(struct mending *m, const struct bbf_jfr_extent *extent,
                         struct bbf_jfr_cursor metadata, uint64_t start_ns)
{
    const unsigned char *bytes = m->bytes + extent->at;

    m->chunk = (struct bbf_jfr_chunk){
        .bytes = bytes, .len = (size_t)extent->len, .header = extent->header};
    int err = bbf_jfr_metadata_read(&m->chunk.metadata, metadata);
    if (err == BBF_OK)
        err = bbf_jfr_constants_init(&m->chunk.constants, &m->chunk.metadata);
    m->out.from = &m->chunk;
    if (err == BBF_OK)
        err = bbf_jfr_rewrite_begin(&m->out, &m->chunk, metadata, m->chunk.metadata.id);
    if (err == BBF_OK) {
        keep_events(m);
        keep_checkpoints(m);
        err = m->no_memory ? BBF_ENOMEM : bbf_jfr_rewrite_end(&m->out, start_ns, false);
    }
    bbf_jfr_chunk_close(&m->chunk);
    return err;
}

static void on_lost_metadata(void *ctx, uint64_t at, uint64_t len, const char *what)
{
    struct mending *m = ctx;

    report(m, m->metadata + at, len, what);
}

/* What the JDK's parser would refuse is left out of the metadata. */
static int heal_metadata(struct mending *m, struct bbf_jfr_cursor *metadata)
{
    struct bbf_jfr_heal heal = {on_lost_metadata, m, UINT64_C(0x2BBF) << 32 ^ m->base};

    m->metadata = (uint64_t)(metadata->at - m->bytes);
    m->healed.len = 0;
    int err = bbf_jfr_heal(&m->healed, *metadata, &heal);
    if (m->healed.len > 0)
        *metadata = bbf_jfr_cursor((const unsigned char *)m->healed.data, m->healed.len);
    return err;
}

static int mend_chunk(struct mending *m, const struct bbf_jfr_extent *extent, uint64_t start_ns)
{
    struct bbf_jfr_cursor metadata;

    m->base = extent->at;
    m->n_checkpoints = 0;
    report(m, extent->at, 0, what_is_wrong(extent, m->bytes));
    if (!find_metadata(m->bytes + extent->at, (size_t)extent->len, &extent->header, &metadata)) {
        if (!borrow_metadata(m, &metadata)) {
            report(m, extent->at, extent->len,
                   "no chunk has metadata, without which no event has a meaning");
            return BBF_OK;
        }
        report(m, extent->at, 0, "a chunk's metadata is missing; another chunk's is used");
    }
    int err = heal_metadata(m, &metadata);
    if (err == BBF_OK)
        err = rewrite_chunk(m, extent, metadata, start_ns);
    if (err != BBF_OK)
        return err;
    m->mend->chunks++;
    m->mend->chunks_mended++;
    m->mend->events += m->out.events;
    return m->mend->put(m->mend->ctx, m->out.out.data, m->out.out.len);
}

/* ---- the recording ---- */

int bbf_jfr_repair(const unsigned char *bytes, size_t len, struct bbf_jfr_mend *mend)
{
    struct mending m = {.mend = mend, .bytes = bytes, .len = len};
    struct bbf_jfr_extent extent;
    uint64_t at = 0;
    bool ok = true;
    int err = BBF_OK;

    while (err == BBF_OK && bbf_jfr_find_chunk(bytes, len, at, &extent)) {
        if (extent.at > at)
            report(&m, at, extent.at - at, "these bytes belong to no chunk");
        at = extent.at + extent.len;
        uint64_t start_ns = bbf_jfr_unique_start(&m.starts, extent.header.start_ns, &ok);
        if (!ok || !extent.is_whole || start_ns != extent.header.start_ns) {
            err = ok ? mend_chunk(&m, &extent, start_ns) : BBF_ENOMEM;
            continue;
        }
        mend->chunks++;
        err = mend->put(mend->ctx, (const char *)bytes + extent.at, (size_t)extent.len);
    }
    if (err == BBF_OK && at < len)
        report(&m, at, len - at, "these bytes belong to no chunk");
    bbf_buf_free(&m.out.out);
    bbf_buf_free(&m.healed);
    free(m.checkpoints);
    free(m.starts.used.places);
    return err == BBF_OK && mend->chunks == 0 ? BBF_ENOTFOUND : err;
}
