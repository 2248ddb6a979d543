/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members `history` and `growth` of a bbflow-snapshot/1 document, which an older one does not
 * have.
 */
#include "render/json_reader.h"

#include "core/err.h"
#include "render/json_names.h"

#include <inttypes.h>
#include <stdlib.h>

int bbf__json_read_history(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"history", SIZE_MAX};
    struct bbf_snapshot *s = r->snapshot;
    const struct {
        const char *name;
        uint64_t *to;
        uint64_t least, most;
    } numbers[] = {{"seconds", &s->history.seconds, 1, BBF_HISTORY_SECONDS},
                   {"intervals", &s->history.intervals, 1, BBF_HISTORY_MAX},
                   {"current_seconds", &s->history.current_seconds, 0, BBF_HISTORY_SECONDS}};
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "history: no object");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && err == 0; i++) {
        struct json_object *member = bbf__json_member_of(r, &place, value, numbers[i].name, &err);
        if (err == 0)
            err = bbf__json_take_count(r, &place, numbers[i].name, member, numbers[i].to);
        if (err == 0 && (*numbers[i].to < numbers[i].least || *numbers[i].to > numbers[i].most))
            err = bbf__json_fail_member(r, &place, numbers[i].name, "out of range");
    }
    if (err == 0 && s->history.current_seconds >= s->history.seconds)
        err = bbf__json_fail_member(r, &place, "current_seconds", "not below seconds");
    return err;
}

/* Both arrays have one length. */
static int read_intervals(struct bbf_json_reader *r, const struct bbf_json_place *place,
                          struct json_object *row, struct bbf_snap_growth *to)
{
    int err = 0;
    struct json_object *lives = bbf__json_member_of(r, place, row, "lives", &err);
    struct json_object *bytes = bbf__json_member_of(r, place, row, "bytes", &err);

    if (err != 0)
        return err;
    if (!json_object_is_type(lives, json_type_array) ||
        !json_object_is_type(bytes, json_type_array) ||
        json_object_array_length(lives) != json_object_array_length(bytes) ||
        json_object_array_length(lives) > BBF_HISTORY_MAX)
        return bbf__json_fail_member(r, place, "lives", "no array as long as that of bytes");
    size_t n = json_object_array_length(lives);
    to->at = calloc(n + 1, sizeof *to->at);
    if (to->at == NULL)
        return BBF_ENOMEM;
    to->n = (uint32_t)n;
    for (size_t i = 0; i < n && err == 0; i++) {
        err = bbf__json_take_count(r, place, "lives", json_object_array_get_idx(lives, i),
                                   &to->at[i].lives);
        if (err == 0)
            err = bbf__json_take_count(r, place, "bytes", json_object_array_get_idx(bytes, i),
                                       &to->at[i].bytes);
    }
    return err;
}

int bbf__json_read_growth(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"growth", s->n_growth};
    struct json_object *member;
    unsigned of = 0, memory = 0, lost = 0;
    int err = 0;

    struct bbf_snap_growth *rows =
        bbf__json_grow(s->growth, s->n_growth, &r->growth_cap, sizeof *rows);
    if (rows == NULL)
        return BBF_ENOMEM;
    s->growth = rows;
    struct bbf_snap_growth *to = &rows[s->n_growth++];
    member = bbf__json_member_of(r, &place, row, "node", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "node", member, &to->node);
    member = bbf__json_member_of(r, &place, row, "of", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "of", member, bbf_json_growth, &of);
    member = bbf__json_member_of(r, &place, row, "memory", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "memory", member, bbf_json_memories, &memory);
    member = bbf__json_member_of(r, &place, row, "lost", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "lost", member, bbf_json_lost, &lost);
    member = bbf__json_member_of(r, &place, row, "first", &err);
    if (err == 0)
        err = bbf__json_take_time(r, &place, "first", member, &to->first_ms);
    member = bbf__json_member_of(r, &place, row, "last", &err);
    if (err == 0)
        err = bbf__json_take_time(r, &place, "last", member, &to->last_ms);
    to->of = (enum bbf_growth_of)of;
    to->memory = (enum bbf_memory)memory;
    to->lost = (enum bbf_lost)lost;
    return err == 0 ? read_intervals(r, &place, row, to) : err;
}

int bbf__json_resolve_growth(struct bbf_json_reader *r, const struct bbf_id_index *nodes)
{
    struct bbf_snapshot *s = r->snapshot;

    if (s->n_growth > 0 && s->history.seconds == 0)
        return bbf__json_fail(r, BBF_JSON_NOWHERE, "growth: history is missing");
    for (size_t i = 0; i < s->n_growth; i++) {
        struct bbf_snap_growth *row = &s->growth[i];
        if (!bbf_id_index_find(nodes, row->node, &row->node))
            return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                  "growth[%zu].node: no node has the id %" PRIu32, i, row->node);
        if (row->n > s->history.intervals)
            return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                  "growth[%zu].lives: more than history.intervals", i);
    }
    return 0;
}
