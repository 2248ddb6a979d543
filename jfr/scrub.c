/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/scrub.h"

#include <regex.h>
#include <stdbool.h>
#include <string.h>

#include "core/err.h"

enum { CHECKPOINT = 1, DEPTH_MAX = 64 };

struct scrubbing {
    struct bbf_jfr_scrub *scrub;
    regex_t pattern;
    const unsigned char *chunk;
    struct bbf_buf copy; /* of the chunk */
    struct bbf_buf utf8;
    bool no_memory;
};

/* ---- one string ---- */

/* `n` characters from the `first` on, each of them a compressed integer, padded to what it had. */
static void cover_units(unsigned char *at, const unsigned char *end, size_t first, size_t n)
{
    for (size_t i = 0; at < end && i < first + n; i++) {
        size_t len = 1;
        while (at + len - 1 < end - 1 && len < BBF_JFR_INTEGER_MAX && at[len - 1] >= 0x80)
            len++;
        for (size_t b = 0; i >= first && b < len; b++)
            at[b] = (unsigned char)((b == 0 ? '*' : 0) | (b + 1 < len ? 0x80 : 0));
        at += len;
    }
}

/* How many UTF-16 units the first `len` bytes of UTF-8 are. */
static size_t units_of(const char *utf8, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)utf8[i];
        n += (c & 0xC0) != 0x80;
        n += c >= 0xF0; /* a pair */
    }
    return n;
}

/* UTF-8 may be changed by the reading (invalid bytes): then all of the string goes. */
static void cover(struct scrubbing *s, const struct bbf_jfr_text *text, size_t from, size_t len)
{
    unsigned char *at = (unsigned char *)s->copy.data + (text->bytes - s->chunk);
    const char *utf8 = s->utf8.data;
    bool is_same = s->utf8.len == text->len;

    if (text->encoding == BBF_JFR_STRING_CHARS)
        cover_units(at, at + text->len, units_of(utf8, from), units_of(utf8 + from, len));
    else if (text->encoding == BBF_JFR_STRING_LATIN1)
        memset(at + units_of(utf8, from), '*', units_of(utf8 + from, len));
    else
        memset(at + (is_same ? from : 0), '*', is_same ? len : text->len);
}

static void scrub_text(struct scrubbing *s, const struct bbf_jfr_text *text)
{
    regmatch_t match;
    size_t at = 0;

    s->utf8.len = 0;
    bbf_jfr_add_text(&s->utf8, text);
    const char *all = bbf_buf_cstr(&s->utf8);
    s->no_memory |= s->utf8.failed;
    while (at < s->utf8.len &&
           regexec(&s->pattern, all + at, 1, &match, at > 0 ? REG_NOTBOL : 0) == 0) {
        size_t len = (size_t)(match.rm_eo - match.rm_so);
        if (len > 0) {
            cover(s, text, at + (size_t)match.rm_so, len);
            s->scrub->matches++;
        }
        at += (size_t)match.rm_eo + (len == 0);
    }
}

/* ---- the walk ---- */

static void walk(struct scrubbing *s, struct bbf_jfr_cursor *c, const struct bbf_jfr_type *type,
                 int depth)
{
    if (type->kind == BBF_JFR_KIND_STRING) {
        struct bbf_jfr_text text = bbf_jfr_get_text(c);
        if (!c->bad && text.len > 0)
            scrub_text(s, &text);
        return;
    }
    if (type->kind != BBF_JFR_KIND_STRUCT) {
        (void)bbf_jfr_skip(c, type);
        return;
    }
    if (depth == DEPTH_MAX)
        bbf_jfr_spoil(c);
    for (size_t i = 0; i < type->n_fields && !c->bad; i++) {
        const struct bbf_jfr_field *field = &type->fields[i];
        size_t n = field->is_array ? bbf_jfr_get_count(c) : 1;
        for (; n > 0 && !c->bad; n--) {
            if (field->is_pooled)
                (void)bbf_jfr_get_long(c);
            else
                walk(s, c, field->type, depth + 1);
        }
    }
}

static void scrub_checkpoint(struct scrubbing *s, const struct bbf_jfr_chunk *chunk,
                             struct bbf_jfr_cursor c)
{
    for (int i = 0; i < 3; i++) /* start, duration, delta */
        (void)bbf_jfr_get_long(&c);
    (void)bbf_jfr_get_byte(&c);
    for (size_t pools = bbf_jfr_get_count(&c); pools > 0 && !c.bad; pools--) {
        const struct bbf_jfr_type *type = bbf_jfr_type_of(&chunk->metadata, bbf_jfr_get_long(&c));
        if (type == NULL)
            return;
        for (size_t n = bbf_jfr_get_count(&c); n > 0 && !c.bad; n--) {
            (void)bbf_jfr_get_long(&c);
            walk(s, &c, type, 0);
        }
    }
}

static int scrub_chunk(struct scrubbing *s, struct bbf_jfr_recording *recording)
{
    const struct bbf_jfr_chunk *chunk = &recording->chunk;
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;

    s->chunk = chunk->bytes;
    s->copy.len = 0;
    bbf_buf_add(&s->copy, chunk->bytes, chunk->len);
    if (s->copy.failed)
        return BBF_ENOMEM;
    while (bbf_jfr_next_event(chunk, &at, &event)) {
        if (event.type_id == CHECKPOINT)
            scrub_checkpoint(s, chunk, event.fields);
        else if (event.type != NULL)
            walk(s, &event.fields, event.type, 0);
    }
    if (at < chunk->len && recording->trouble.what == NULL) {
        recording->trouble.what = "no event begins here; what follows is not scrubbed";
        recording->trouble.offset = recording->at + at;
    }
    return s->no_memory ? BBF_ENOMEM : s->scrub->put(s->scrub->ctx, s->copy.data, s->copy.len);
}

int bbf_jfr_scrub(struct bbf_jfr_recording *recording, struct bbf_jfr_scrub *scrub)
{
    struct scrubbing s = {.scrub = scrub};
    int err = regcomp(&s.pattern, scrub->pattern, REG_EXTENDED), put = BBF_OK;

    if (err != 0) {
        (void)regerror(err, &s.pattern, scrub->why, sizeof(scrub->why));
        return BBF_EINVAL;
    }
    while (put == BBF_OK && (err = bbf_jfr_next_chunk(recording)) == BBF_OK)
        put = scrub_chunk(&s, recording);
    regfree(&s.pattern);
    bbf_buf_free(&s.utf8);
    bbf_buf_free(&s.copy);
    return put != BBF_OK ? put : err == BBF_ENOTFOUND ? BBF_OK : err;
}
