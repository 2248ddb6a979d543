/* SPDX-License-Identifier: Apache-2.0 */
#include "render/strings.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 64 };

static uint64_t hash_of(const char *text, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

const char *bbf_strings_at(const struct bbf_strings *s, size_t number, size_t *len)
{
    size_t begin = number > 0 ? s->ends[number - 1] : 0;

    *len = s->ends[number] - begin;
    return s->bytes.data + begin;
}

/* The slot that has the string, or that it belongs into. */
static uint32_t *slot_of(const struct bbf_strings *s, const char *text, size_t len)
{
    size_t at = hash_of(text, len) & (s->n_slots - 1);

    for (;; at = (at + 1) & (s->n_slots - 1)) {
        size_t n;
        if (s->slots[at] == 0)
            return &s->slots[at];
        const char *other = bbf_strings_at(s, s->slots[at] - 1, &n);
        if (n == len && (len == 0 || memcmp(other, text, len) == 0))
            return &s->slots[at];
    }
}

/* Twice the room, at most half of the slots in use. */
static bool grow(struct bbf_strings *s)
{
    size_t n_slots = s->n_slots != 0 ? 2 * s->n_slots : SLOTS_LEAST;
    size_t *ends = reallocarray(s->ends, n_slots / 2, sizeof *ends);

    if (ends != NULL)
        s->ends = ends;
    uint32_t *slots = ends != NULL ? calloc(n_slots, sizeof *slots) : NULL;
    if (slots == NULL)
        return false;
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    for (size_t i = 0; i < s->n; i++) {
        size_t len;
        const char *text = bbf_strings_at(s, i, &len);
        *slot_of(s, text, len) = (uint32_t)i + 1;
    }
    return true;
}

void bbf_strings_init(struct bbf_strings *s)
{
    *s = (struct bbf_strings){.bytes = BBF_BUF_INIT};
    (void)bbf_strings_add(s, "", 0);
}

void bbf_strings_free(struct bbf_strings *s)
{
    bbf_buf_free(&s->bytes);
    free(s->ends);
    free(s->slots);
    *s = (struct bbf_strings){.bytes = BBF_BUF_INIT};
}

uint32_t bbf_strings_add(struct bbf_strings *s, const char *text, size_t len)
{
    s->failed = s->failed || s->n >= UINT32_MAX - 1 || (s->n + 1 > s->n_slots / 2 && !grow(s));
    if (s->failed)
        return 0;
    uint32_t *slot = slot_of(s, text, len);
    if (*slot != 0)
        return *slot - 1;
    bbf_buf_add(&s->bytes, text, len);
    s->failed = s->bytes.failed;
    if (s->failed)
        return 0;
    s->ends[s->n++] = s->bytes.len;
    *slot = (uint32_t)s->n;
    return *slot - 1;
}
