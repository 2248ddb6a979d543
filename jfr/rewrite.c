/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/writer.h"

enum { METADATA = 0, CHECKPOINT = 1, DEPTH_MAX = 32 };

static const char no_size[BBF_JFR_SIZE_BYTES];

/* The event that began at `start` is complete. */
static void set_size(struct bbf_buf *out, size_t start)
{
    if (!out->failed)
        bbf_jfr_set_size(out->data + start, (uint32_t)(out->len - start));
}

static void copy_bytes(struct bbf_buf *out, const unsigned char *from, const unsigned char *to)
{
    bbf_buf_add(out, from, (size_t)(to - from));
}

/* ---- metadata ---- */

/* The strings of a metadata event, where an id is one of them under a new number. */
struct strings {
    const unsigned char **at; /* encoded; n + 1 of them */
    size_t n;
    uint64_t *shifted; /* index of the shifted id's string; 0: not asked for yet */
    size_t n_added;
    struct bbf_buf added; /* encoded */
    bool no_memory;
};

static bool read_strings(struct strings *s, struct bbf_jfr_cursor *c)
{
    s->n = bbf_jfr_get_count(c);
    s->at = calloc(s->n + 1, sizeof(*s->at));
    s->shifted = calloc(s->n + 1, sizeof(*s->shifted));
    s->no_memory = s->at == NULL || s->shifted == NULL;
    for (size_t i = 0; i < s->n && !s->no_memory && !c->bad; i++) {
        s->at[i] = c->at;
        (void)bbf_jfr_get_text(c);
    }
    if (!s->no_memory)
        s->at[s->n] = c->at;
    return !s->no_memory && !c->bad;
}

static bool is_string(const struct strings *s, uint64_t index, const char *text)
{
    struct bbf_buf utf8 = BBF_BUF_INIT;

    if (index >= s->n)
        return false;
    struct bbf_jfr_cursor c =
        bbf_jfr_cursor(s->at[index], (size_t)(s->at[index + 1] - s->at[index]));
    struct bbf_jfr_text value = bbf_jfr_get_text(&c);
    bbf_jfr_add_text(&utf8, &value);
    bool same = strcmp(bbf_buf_cstr(&utf8), text) == 0;
    bbf_buf_free(&utf8);
    return same;
}

/* The index of a string that is `index`'s number plus `shift`. */
static uint64_t shifted_index(struct strings *s, uint64_t index, uint64_t shift)
{
    struct bbf_buf utf8 = BBF_BUF_INIT;
    char number[24], *end;

    if (index >= s->n || s->shifted[index] != 0)
        return index < s->n ? s->shifted[index] : index;
    struct bbf_jfr_cursor c =
        bbf_jfr_cursor(s->at[index], (size_t)(s->at[index + 1] - s->at[index]));
    struct bbf_jfr_text value = bbf_jfr_get_text(&c);
    bbf_jfr_add_text(&utf8, &value);
    uint64_t id = strtoull(bbf_buf_cstr(&utf8), &end, 10);
    bool is_number = *end == '\0' && end != utf8.data;
    bbf_buf_free(&utf8);
    if (!is_number)
        return index;
    int len = snprintf(number, sizeof(number), "%" PRIu64, id + shift);
    bbf_jfr_put_text(&s->added, number, (size_t)len);
    s->shifted[index] = s->n + s->n_added++;
    return s->shifted[index];
}

/* Indexes of the attributes whose values are ids. */
struct id_names {
    uint64_t id, class;
};

static bool copy_element(struct bbf_buf *out, struct bbf_jfr_cursor *c, struct strings *s,
                         const struct id_names *names, uint64_t shift, int depth)
{
    bbf_jfr_put_long(out, bbf_jfr_get_long(c));
    size_t attributes = bbf_jfr_get_count(c);
    bbf_jfr_put_long(out, attributes);
    for (size_t i = 0; i < attributes && !c->bad; i++) {
        uint64_t name = bbf_jfr_get_long(c), value = bbf_jfr_get_long(c);
        bool is_id = name == names->id || name == names->class;
        bbf_jfr_put_long(out, name);
        bbf_jfr_put_long(out, is_id ? shifted_index(s, value, shift) : value);
    }
    size_t children = bbf_jfr_get_count(c);
    bbf_jfr_put_long(out, children);
    if (depth == DEPTH_MAX)
        bbf_jfr_spoil(c);
    for (size_t i = 0; i < children && !c->bad; i++) {
        if (!copy_element(out, c, s, names, shift, depth + 1))
            return false;
    }
    return !c->bad;
}

static void put_strings(struct bbf_buf *out, const struct strings *s)
{
    bbf_jfr_put_long(out, s->n + s->n_added);
    copy_bytes(out, s->at[0], s->at[s->n]);
    bbf_buf_add(out, s->added.data, s->added.len);
}

static int copy_metadata(struct bbf_jfr_rewrite *r, struct bbf_jfr_cursor c, uint64_t id)
{
    struct bbf_buf *out = &r->out, tree = BBF_BUF_INIT;
    struct strings s = {0};
    size_t start = out->len;

    (void)bbf_jfr_get_long(&c); /* size */
    (void)bbf_jfr_get_long(&c); /* type */
    uint64_t ticks = bbf_jfr_get_long(&c), duration = bbf_jfr_get_long(&c);
    (void)bbf_jfr_get_long(&c); /* id */
    bool ok = read_strings(&s, &c);
    struct id_names names = {UINT64_MAX, UINT64_MAX};
    for (size_t i = 0; ok && i < s.n; i++) {
        if (is_string(&s, i, "id"))
            names.id = i;
        else if (is_string(&s, i, "class"))
            names.class = i;
    }
    ok = ok && copy_element(&tree, &c, &s, &names, r->id_shift, 0);
    if (ok) {
        bbf_buf_add(out, no_size, sizeof(no_size));
        bbf_jfr_put_long(out, METADATA);
        bbf_jfr_put_long(out, ticks);
        bbf_jfr_put_long(out, duration);
        bbf_jfr_put_long(out, id);
        put_strings(out, &s);
        bbf_buf_add(out, tree.data, tree.len);
        set_size(out, start);
    }
    free(s.at);
    free(s.shifted);
    bool no_memory = s.no_memory || s.added.failed || tree.failed || out->failed;
    bbf_buf_free(&s.added);
    bbf_buf_free(&tree);
    return no_memory ? BBF_ENOMEM : ok ? BBF_OK : BBF_EFORMAT;
}

int bbf_jfr_rewrite_begin(struct bbf_jfr_rewrite *r, const struct bbf_jfr_chunk *from,
                          struct bbf_jfr_cursor metadata, uint64_t id)
{
    static const char header[BBF_JFR_HEADER_BYTES];

    r->from = from;
    r->out.len = 0;
    r->checkpoint = 0;
    r->events = 0;
    r->metadata = BBF_JFR_HEADER_BYTES;
    r->last_ticks = 0;
    bbf_buf_add(&r->out, header, sizeof(header));
    return copy_metadata(r, metadata, id);
}

/* ---- time ---- */

static uint64_t new_span(const struct bbf_jfr_rewrite *r, uint64_t ticks)
{
    double from = (double)r->from->header.ticks_per_second;
    double to = r->clock != NULL ? (double)r->clock->ticks_per_second : from;

    if (r->clock == NULL || from == to || from <= 0)
        return ticks;
    return (uint64_t)bbf_jfr_whole((double)(int64_t)ticks * (to / from));
}

static uint64_t new_time(const struct bbf_jfr_rewrite *r, uint64_t ticks)
{
    const struct bbf_jfr_header *from = &r->from->header;

    if (r->clock == NULL || ticks == (uint64_t)INT64_MIN)
        return ticks;
    /* Both origins on the wall clock; their distance in ticks of the new clock. */
    int64_t apart_ns = (int64_t)(from->start_ns - r->clock->start_ns);
    double per_ns = (double)r->clock->ticks_per_second / 1e9;
    return r->clock->start_ticks + (uint64_t)bbf_jfr_whole((double)apart_ns * per_ns) +
           new_span(r, ticks - from->start_ticks);
}

/* ---- events ---- */

bool bbf_jfr_is_whole(const struct bbf_jfr_event *event)
{
    struct bbf_jfr_cursor c = event->fields;

    if (event->type == NULL)
        return false;
    for (size_t i = 0; i < event->type->n_fields; i++) {
        if (!bbf_jfr_skip_field(&c, &event->type->fields[i]))
            return false;
    }
    return c.at == c.end;
}

static bool is_ticks(const struct bbf_jfr_field *field)
{
    return !field->is_array && !field->is_pooled && field->type->kind == BBF_JFR_KIND_LONG &&
           (field->time == BBF_JFR_TIMESTAMP_TICKS || field->time == BBF_JFR_TIMESPAN_TICKS);
}

/* jdk.ActiveSetting names an event type by its id; JMC looks it up, and fails without it. */
static bool is_type_id(const struct bbf_jfr_type *type, const struct bbf_jfr_field *field)
{
    return !field->is_array && !field->is_pooled && field->type->kind == BBF_JFR_KIND_LONG &&
           strcmp(field->name, "id") == 0 && strcmp(type->name, "jdk.ActiveSetting") == 0;
}

static void copy_type_id(struct bbf_jfr_rewrite *r, struct bbf_jfr_cursor *c)
{
    uint64_t id = bbf_jfr_get_long(c);
    bool is_declared = bbf_jfr_type_of(&r->from->metadata, id) != NULL;

    bbf_jfr_put_long(&r->out, is_declared ? id + r->id_shift : id);
}

static void copy_field(struct bbf_jfr_rewrite *r, struct bbf_jfr_cursor *c,
                       const struct bbf_jfr_type *type, const struct bbf_jfr_field *field)
{
    const unsigned char *start = c->at;

    if (r->id_shift != 0 && is_type_id(type, field)) {
        copy_type_id(r, c);
        return;
    }
    if (r->clock == NULL || !is_ticks(field)) {
        (void)bbf_jfr_skip_field(c, field);
        copy_bytes(&r->out, start, c->at);
        return;
    }
    uint64_t ticks = bbf_jfr_get_long(c);
    bool is_span = field->time == BBF_JFR_TIMESPAN_TICKS;
    bool is_special = is_span && (ticks == (uint64_t)INT64_MIN || ticks == (uint64_t)INT64_MAX);
    bbf_jfr_put_long(&r->out, is_special ? ticks
                              : is_span  ? new_span(r, ticks)
                                         : new_time(r, ticks));
}

void bbf_jfr_rewrite_event(struct bbf_jfr_rewrite *r, const struct bbf_jfr_event *event)
{
    struct bbf_jfr_cursor c = event->fields;
    size_t start = r->out.len;

    bbf_buf_add(&r->out, no_size, sizeof(no_size));
    bbf_jfr_put_long(&r->out, event->type_id + r->id_shift);
    if (event->type != NULL && event->type->n_fields > 0) {
        int64_t ticks = (int64_t)new_time(r, bbf_jfr_get_long(&c));
        r->last_ticks = ticks > r->last_ticks ? ticks : r->last_ticks;
        c = event->fields;
    }
    for (size_t i = 0; event->type != NULL && i < event->type->n_fields && !c.bad; i++)
        copy_field(r, &c, event->type, &event->type->fields[i]);
    copy_bytes(&r->out, c.at, c.end); /* of a type that is not declared: all of it */
    set_size(&r->out, start);
    r->events++;
}

/* ---- checkpoints ---- */

/* One pool of a checkpoint; false: not whole, and nothing is written. */
static bool copy_pool(struct bbf_jfr_rewrite *r, struct bbf_jfr_cursor *c, struct bbf_buf *to)
{
    uint64_t id = bbf_jfr_get_long(c);
    const struct bbf_jfr_type *type = bbf_jfr_type_of(&r->from->metadata, id);
    size_t n = bbf_jfr_get_count(c);
    const unsigned char *values = c->at;

    if (c->bad || type == NULL || n == 0 ||
        (type->kind == BBF_JFR_KIND_STRUCT && type->n_fields == 0))
        return false;
    for (size_t i = 0; i < n && !c->bad; i++) {
        (void)bbf_jfr_get_long(c);
        (void)bbf_jfr_skip(c, type);
    }
    if (c->bad)
        return false;
    bbf_jfr_put_long(to, id + r->id_shift);
    bbf_jfr_put_long(to, n);
    copy_bytes(to, values, c->at);
    return true;
}

void bbf_jfr_rewrite_checkpoint(struct bbf_jfr_rewrite *r, uint64_t offset)
{
    const struct bbf_jfr_chunk *from = r->from;
    struct bbf_jfr_cursor c = bbf_jfr_cursor(from->bytes + offset, from->len - offset);
    struct bbf_buf pools = BBF_BUF_INIT;
    uint64_t size = bbf_jfr_get_long(&c), at = r->out.len;
    size_t n = 0;

    (void)bbf_jfr_get_long(&c); /* type */
    if (size < from->len - offset)
        c.end = from->bytes + offset + size;
    uint64_t ticks = bbf_jfr_get_long(&c), duration = bbf_jfr_get_long(&c);
    (void)bbf_jfr_get_long(&c); /* delta */
    unsigned kind = bbf_jfr_get_byte(&c);
    size_t count = bbf_jfr_get_count(&c);
    while (n < count && copy_pool(r, &c, &pools))
        n++;
    bbf_buf_add(&r->out, no_size, sizeof(no_size));
    bbf_jfr_put_long(&r->out, CHECKPOINT);
    bbf_jfr_put_long(&r->out, new_time(r, ticks));
    bbf_jfr_put_long(&r->out, new_span(r, duration));
    bbf_jfr_put_long(&r->out, r->checkpoint != 0 ? r->checkpoint - at : 0);
    bbf_jfr_put_byte(&r->out, (int)kind);
    bbf_jfr_put_long(&r->out, n);
    bbf_buf_add(&r->out, pools.data, pools.len);
    r->out.failed |= pools.failed;
    bbf_buf_free(&pools);
    set_size(&r->out, at);
    r->checkpoint = at;
}

/* ---- the header ---- */

int bbf_jfr_rewrite_end(struct bbf_jfr_rewrite *r, uint64_t start_ns, bool is_last)
{
    const struct bbf_jfr_header *from = &r->from->header;
    const struct bbf_jfr_header *clock = r->clock != NULL ? r->clock : from;
    uint64_t start_ticks = new_time(r, from->start_ticks);

    if (r->checkpoint == 0) { /* the JDK needs one in every chunk but the first */
        r->checkpoint = r->out.len;
        static const char empty[] = {7, CHECKPOINT, 0, 0, 0, 1, 0};
        bbf_buf_add(&r->out, empty, sizeof(empty));
    }
    if (r->out.failed)
        return BBF_ENOMEM;
    struct bbf_jfr_header h = {
        .major = from->major >= 1 && from->major <= 2 ? from->major : 2,
        .minor = from->minor,
        .size = r->out.len,
        .checkpoint = r->checkpoint,
        .metadata = r->metadata,
        .start_ns = start_ns,
        .duration_ns = from->duration_ns,
        .start_ticks = start_ticks,
        .ticks_per_second = clock->ticks_per_second != 0 ? clock->ticks_per_second : 1000000000,
        .is_compressed = true,
        .is_last = is_last,
    };
    bbf_jfr_header_write(&h, r->out.data);
    return BBF_OK;
}

uint64_t bbf_jfr_unique_start(struct bbf_jfr_starts *starts, uint64_t ns, bool *ok)
{
    uint64_t at = ns;

    /* Ever further, so that a file of many equal starts takes one try for each. */
    while (bbf_jfr_keys_get(&starts->used, at) != 0)
        at = ns + ++starts->moved;
    *ok = bbf_jfr_keys_add(&starts->used, at, 1);
    return at;
}
