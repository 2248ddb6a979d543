/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/constants.h"

#include <stdlib.h>

#include "core/err.h"

enum { DEPTH_MAX = 64, CHECKPOINT = 1, FIRST_ROOM = 16 };

/* ---- skipping ---- */

static bool skip(struct bbf_jfr_cursor *c, const struct bbf_jfr_type *type, int depth);

static bool skip_field(struct bbf_jfr_cursor *c, const struct bbf_jfr_field *field, int depth)
{
    size_t n = field->is_array ? bbf_jfr_get_count(c) : 1;

    while (n-- > 0 && !c->bad) {
        if (field->is_pooled)
            (void)bbf_jfr_get_long(c);
        else
            (void)skip(c, field->type, depth);
    }
    return !c->bad;
}

static bool skip(struct bbf_jfr_cursor *c, const struct bbf_jfr_type *type, int depth)
{
    switch (type->kind) {
    case BBF_JFR_KIND_BOOLEAN:
    case BBF_JFR_KIND_BYTE:
        bbf_jfr_skip_bytes(c, 1);
        break;
    case BBF_JFR_KIND_CHAR:
    case BBF_JFR_KIND_SHORT:
    case BBF_JFR_KIND_INT:
    case BBF_JFR_KIND_LONG:
        (void)bbf_jfr_get_long(c);
        break;
    case BBF_JFR_KIND_FLOAT:
        bbf_jfr_skip_bytes(c, sizeof(float));
        break;
    case BBF_JFR_KIND_DOUBLE:
        bbf_jfr_skip_bytes(c, sizeof(double));
        break;
    case BBF_JFR_KIND_STRING:
        bbf_jfr_skip_text(c);
        break;
    case BBF_JFR_KIND_STRUCT:
        if (depth == DEPTH_MAX)
            bbf_jfr_spoil(c);
        for (size_t i = 0; i < type->n_fields && !c->bad; i++)
            (void)skip_field(c, &type->fields[i], depth + 1);
        break;
    }
    return !c->bad;
}

bool bbf_jfr_skip(struct bbf_jfr_cursor *c, const struct bbf_jfr_type *type)
{
    return skip(c, type, 0);
}

bool bbf_jfr_skip_field(struct bbf_jfr_cursor *c, const struct bbf_jfr_field *field)
{
    return skip_field(c, field, 0);
}

/* ---- keys ---- */

static size_t slot_of(uint64_t key, size_t room)
{
    key ^= key >> 33;
    key *= 0xFF51AFD7ED558CCDu;
    return (key ^ key >> 33) & (room - 1);
}

static void put(struct bbf_jfr_keys *keys, uint64_t key, uint64_t at)
{
    size_t slot = slot_of(key, keys->room);

    while (keys->places[slot].at != 0) {
        if (keys->places[slot].key == key)
            return;
        slot = (slot + 1) & (keys->room - 1);
    }
    keys->places[slot] = (struct bbf_jfr_place){key, at};
    keys->n++;
}

bool bbf_jfr_keys_add(struct bbf_jfr_keys *keys, uint64_t key, uint64_t at)
{
    if (keys->n * 2 >= keys->room) {
        size_t room = keys->room > 0 ? 2 * keys->room : FIRST_ROOM;
        struct bbf_jfr_keys larger = {calloc(room, sizeof(*larger.places)), 0, room};
        if (larger.places == NULL)
            return false;
        for (size_t i = 0; i < keys->room; i++) {
            if (keys->places[i].at != 0)
                put(&larger, keys->places[i].key, keys->places[i].at);
        }
        free(keys->places);
        *keys = larger;
    }
    put(keys, key, at);
    return true;
}

const struct bbf_jfr_place *bbf_jfr_keys_find(const struct bbf_jfr_keys *keys, uint64_t key)
{
    if (keys->room == 0)
        return NULL;
    size_t slot = slot_of(key, keys->room);
    while (keys->places[slot].at != 0 && keys->places[slot].key != key)
        slot = (slot + 1) & (keys->room - 1);
    return keys->places[slot].at != 0 ? &keys->places[slot] : NULL;
}

uint64_t bbf_jfr_keys_get(const struct bbf_jfr_keys *keys, uint64_t key)
{
    const struct bbf_jfr_place *place = bbf_jfr_keys_find(keys, key);

    return place != NULL ? place->at : 0;
}

/* ---- decoded values ---- */

static bool has_room(const struct bbf_jfr_constants *constants, size_t bytes)
{
    if (constants->decoded->memory.bytes + bytes <= BBF_JFR_DECODED_MAX)
        return true;
    constants->decoded->refused++;
    return false;
}

void *bbf_jfr_take_decoded(const struct bbf_jfr_constants *constants, size_t n, size_t size)
{
    return has_room(constants, n * size) ? bbf_jfr_take(&constants->decoded->memory, n, size)
                                         : NULL;
}

uint64_t bbf_jfr_constant_at(const struct bbf_jfr_constants *constants,
                             const struct bbf_jfr_type *type, uint64_t key,
                             const struct bbf_jfr_value ***slot)
{
    struct bbf_jfr_pooled *pooled = &constants->of_type[type->index];
    const struct bbf_jfr_place *place = bbf_jfr_keys_find(&pooled->keys, key);

    if (place == NULL)
        return 0;
    if (slot == NULL)
        return place->at;
    size_t room = pooled->keys.room;
    if (pooled->decoded == NULL && pooled->is_kept &&
        has_room(constants, room * sizeof(*pooled->decoded)))
        pooled->decoded = bbf_jfr_take(&constants->decoded->memory, room, sizeof(*pooled->decoded));
    *slot = pooled->decoded != NULL ? &pooled->decoded[place - pooled->keys.places] : NULL;
    return place->at;
}

static bool has_list(const struct bbf_jfr_type *type)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        if (type->fields[i].is_array)
            return true;
    }
    return false;
}

int bbf_jfr_constants_init(struct bbf_jfr_constants *constants,
                           const struct bbf_jfr_metadata *metadata)
{
    constants->n_types = metadata->n_types;
    constants->decoded = calloc(1, sizeof(*constants->decoded));
    constants->of_type = calloc(metadata->n_types + 1, sizeof(*constants->of_type));
    if (constants->of_type == NULL || constants->decoded == NULL) {
        bbf_jfr_constants_free(constants);
        return BBF_ENOMEM;
    }
    for (size_t i = 0; i < metadata->n_types; i++)
        constants->of_type[i].is_kept = !has_list(&metadata->types[i]);
    return BBF_OK;
}

void bbf_jfr_constants_free(struct bbf_jfr_constants *constants)
{
    for (size_t i = 0; constants->of_type != NULL && i < constants->n_types; i++)
        free(constants->of_type[i].keys.places);
    if (constants->decoded != NULL)
        bbf_jfr_arena_free(&constants->decoded->memory);
    free(constants->of_type);
    free(constants->decoded);
    constants->of_type = NULL;
    constants->decoded = NULL;
}

/* ---- checkpoints ---- */

static int add_pool(struct bbf_jfr_constants *constants, const struct bbf_jfr_type *type,
                    struct bbf_jfr_cursor *c, const unsigned char *chunk)
{
    size_t n = bbf_jfr_get_count(c);
    struct bbf_jfr_pooled *pooled = &constants->of_type[type->index];

    pooled->decoded = NULL; /* places may move */
    while (n-- > 0 && !c->bad) {
        uint64_t key = bbf_jfr_get_long(c);
        uint64_t at = (uint64_t)(c->at - chunk);
        if (bbf_jfr_skip(c, type) && !bbf_jfr_keys_add(&pooled->keys, key, at))
            return BBF_ENOMEM;
    }
    return c->bad ? BBF_EFORMAT : BBF_OK;
}

int bbf_jfr_constants_add(struct bbf_jfr_constants *constants,
                          const struct bbf_jfr_metadata *metadata, const unsigned char *chunk,
                          size_t len, uint64_t at, struct bbf_jfr_checkpoint *head)
{
    if (at >= len)
        return BBF_EFORMAT;
    struct bbf_jfr_cursor c = bbf_jfr_cursor(chunk + at, len - at);
    *head = (struct bbf_jfr_checkpoint){bbf_jfr_get_long(&c), 0};
    if (c.bad || head->size > len - at || bbf_jfr_get_long(&c) != CHECKPOINT)
        return BBF_EFORMAT;
    c.end = chunk + at + head->size > c.at ? chunk + at + head->size : c.at;
    (void)bbf_jfr_get_long(&c); /* start */
    (void)bbf_jfr_get_long(&c); /* duration */
    head->delta = (int64_t)bbf_jfr_get_long(&c);
    (void)bbf_jfr_get_byte(&c); /* kind of checkpoint */
    size_t pools = bbf_jfr_get_count(&c);
    while (pools-- > 0 && !c.bad) {
        const struct bbf_jfr_type *type = bbf_jfr_type_of(metadata, bbf_jfr_get_long(&c));
        int err = type != NULL ? add_pool(constants, type, &c, chunk) : BBF_EFORMAT;
        if (err != BBF_OK)
            return err;
    }
    return c.bad ? BBF_EFORMAT : BBF_OK;
}
