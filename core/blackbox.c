/* SPDX-License-Identifier: Apache-2.0 */
#include "core/blackbox.h"

#include <stdio.h>
#include <string.h>

#include "core/err.h"

static const char family[] = "bbflow-blackbox/";
static const char magic[] = "bbflow-blackbox/1\n";
static const char slot_magic[] = "bbfslot";

enum {
    MAGIC_BYTES = 24,
    NUMBERS = 6,
    NUMBERS_AT = MAGIC_BYTES, /* NUMBERS of the head */
    VERSION_AT = NUMBERS_AT + 8 * NUMBERS,
    MAIN_AT = VERSION_AT + BBF_BOX_VERSION,
    HEAD_HASH_AT = BBF_BOX_HEAD_BYTES - 8,
    BEAT_AT = BBF_BOX_HEAD_BYTES,
    BEAT_HASH_AT = BBF_BOX_BEAT_BYTES - 8,
    DATA_HASH_AT = 32,
    SLOT_HASH_AT = BBF_BOX_SLOT_HEAD - 8
};
_Static_assert(MAIN_AT + BBF_BOX_MAIN <= HEAD_HASH_AT, "the head's parts overlap");
_Static_assert(BEAT_AT + BBF_BOX_BEAT_BYTES <= BBF_BOX_SLOTS_AT, "the beat is in slot 0");

/* ---- numbers ---- */

static void put(char *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)(value >> (8 * i));
}

static uint64_t get(const char *from)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | (unsigned char)from[i];
    return value;
}

/* Finds what was torn; it is no protection against forgery. Eight bytes a round: a document has
 * megabytes. */
static uint64_t hash(const char *data, size_t len)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ len;
    for (; len >= 8; data += 8, len -= 8) {
        h = (h ^ get(data)) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    for (; len > 0; data++, len--) {
        h = (h ^ (unsigned char)*data) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return h;
}

static void put_text(char *to, size_t size, const char *text)
{
    size_t len = strnlen(text, size - 1);
    memcpy(to, text, len);
    memset(to + len, 0, size - len);
}

static void get_text(char *to, size_t size, const char *from)
{
    memcpy(to, from, size);
    to[size - 1] = '\0';
}

/* ---- write ---- */

void bbf_box_put_head(char out[BBF_BOX_HEAD_BYTES], const struct bbf_box_head *head)
{
    const uint64_t numbers[NUMBERS] = {(uint64_t)head->pid,      (uint64_t)head->started_ms,
                                       (uint64_t)head->begun_ms, head->slot_bytes,
                                       head->interval_ms,        head->inode};
    memset(out, 0, BBF_BOX_HEAD_BYTES);
    memcpy(out, magic, sizeof magic);
    for (size_t i = 0; i < NUMBERS; i++)
        put(out + NUMBERS_AT + 8 * i, numbers[i]);
    put_text(out + VERSION_AT, BBF_BOX_VERSION, head->version);
    put_text(out + MAIN_AT, BBF_BOX_MAIN, head->main);
    put(out + HEAD_HASH_AT, hash(out, HEAD_HASH_AT));
}

void bbf_box_put_beat(char out[BBF_BOX_BEAT_BYTES], const struct bbf_box_beat *beat)
{
    memset(out, 0, BBF_BOX_BEAT_BYTES);
    put(out, beat->number);
    put(out + 8, (uint64_t)beat->alive_ms);
    put(out + 16, beat->state);
    put(out + 24, beat->memory_used);
    put(out + 32, beat->memory_limit);
    put(out + BEAT_HASH_AT, hash(out, BEAT_HASH_AT));
}

void bbf_box_put_slot(char out[BBF_BOX_SLOT_HEAD], const struct bbf_box_slot *slot,
                      const char *document)
{
    memset(out, 0, BBF_BOX_SLOT_HEAD);
    memcpy(out, slot_magic, sizeof slot_magic);
    put(out + 8, slot->number);
    put(out + 16, (uint64_t)slot->captured_ms);
    put(out + 24, slot->len);
    put(out + DATA_HASH_AT, hash(document, slot->len));
    put(out + SLOT_HASH_AT, hash(out, SLOT_HASH_AT));
}

uint64_t bbf_box_slot_at(uint64_t slot_bytes, unsigned i)
{
    return BBF_BOX_SLOTS_AT + i * slot_bytes;
}

/* ---- read ---- */

static bool is_whole(const char *part, size_t hash_at)
{
    return get(part + hash_at) == hash(part, hash_at);
}

static bool read_head(struct bbf_box_head *head, const char *data)
{
    uint64_t numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = get(data + NUMBERS_AT + 8 * i);
    *head = (struct bbf_box_head){.pid = (int64_t)numbers[0],
                                  .started_ms = (int64_t)numbers[1],
                                  .begun_ms = (int64_t)numbers[2],
                                  .slot_bytes = numbers[3],
                                  .interval_ms = numbers[4],
                                  .inode = numbers[5]};
    get_text(head->version, BBF_BOX_VERSION, data + VERSION_AT);
    get_text(head->main, BBF_BOX_MAIN, data + MAIN_AT);
    return is_whole(data, HEAD_HASH_AT) && head->slot_bytes > BBF_BOX_SLOT_HEAD &&
           head->slot_bytes <= BBF_BOX_SLOT_MAX;
}

static void read_beat(struct bbf_box *box, const char *data)
{
    uint64_t state = get(data + 16);
    box->has_beat = is_whole(data, BEAT_HASH_AT) && state <= BBF_BOX_STOPPED;
    if (box->has_beat)
        box->beat = (struct bbf_box_beat){.number = get(data),
                                          .alive_ms = (int64_t)get(data + 8),
                                          .state = (enum bbf_box_state)state,
                                          .memory_used = get(data + 24),
                                          .memory_limit = get(data + 32)};
}

/* The document of a slot at `at` that has `room` bytes; NULL: nothing whole is there. */
static const char *read_slot(struct bbf_box_slot *slot, const char *at, uint64_t room)
{
    if (room < BBF_BOX_SLOT_HEAD || memcmp(at, slot_magic, sizeof slot_magic) != 0 ||
        !is_whole(at, SLOT_HASH_AT))
        return NULL;
    *slot = (struct bbf_box_slot){get(at + 8), (int64_t)get(at + 16), get(at + 24)};
    if (slot->len > room - BBF_BOX_SLOT_HEAD ||
        get(at + DATA_HASH_AT) != hash(at + BBF_BOX_SLOT_HEAD, slot->len))
        return NULL;
    return at + BBF_BOX_SLOT_HEAD;
}

static bool is_empty(const char *at, uint64_t room)
{
    for (uint64_t i = 0; i < room && i < BBF_BOX_SLOT_HEAD; i++)
        if (at[i] != 0)
            return false;
    return true;
}

static void read_slots(struct bbf_box *box, const char *data, size_t len)
{
    for (unsigned i = 0; i < BBF_BOX_SLOTS; i++) {
        struct bbf_box_slot slot;
        uint64_t at = bbf_box_slot_at(box->head.slot_bytes, i);
        uint64_t room = at < len ? len - at : 0;
        if (room > box->head.slot_bytes)
            room = box->head.slot_bytes;
        const char *document = room > 0 ? read_slot(&slot, data + at, room) : NULL;
        if (document == NULL) {
            box->damaged += room > 0 && !is_empty(data + at, room);
        } else if (box->document == NULL || slot.number > box->slot.number) {
            box->document = document;
            box->slot = slot;
        }
    }
}

bool bbf_box_is(const char *data, size_t len)
{
    return len >= sizeof family - 1 && memcmp(data, family, sizeof family - 1) == 0;
}

int bbf_box_read(struct bbf_box *box, const char *data, size_t len, char *why, size_t why_size)
{
    memset(box, 0, sizeof *box);
    if (!bbf_box_is(data, len)) {
        snprintf(why, why_size, "it does not begin with %s", family);
        return BBF_EFORMAT;
    }
    if (len < sizeof magic || memcmp(data, magic, sizeof magic) != 0) {
        snprintf(why, why_size, "its version is not %.*s", (int)(sizeof magic - 2), magic);
        return BBF_EVERSION;
    }
    if (len < BEAT_AT + BBF_BOX_BEAT_BYTES) {
        snprintf(why, why_size, "it is cut off after %zu bytes", len);
        return BBF_EFORMAT;
    }
    if (!read_head(&box->head, data)) {
        snprintf(why, why_size, "its head is damaged");
        return BBF_EFORMAT;
    }
    read_beat(box, data + BEAT_AT);
    read_slots(box, data, len);
    return BBF_OK;
}
