/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members `usage_of` and `usage` of a bbflow-snapshot/1 document, which an older one does not
 * have.
 */
#include "render/json_reader.h"

#include "core/err.h"
#include "render/json_names.h"

#include <inttypes.h>

int bbf__json_read_usage_of(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"usage_of", SIZE_MAX};
    struct bbf_snapshot *s = r->snapshot;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "usage_of: no object");
    struct json_object *seconds = bbf__json_member_of(r, &place, value, "seconds", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "seconds", seconds, &s->usage_of.seconds);
    if (err == 0 && s->usage_of.seconds == 0)
        err = bbf__json_fail_member(r, &place, "seconds", "out of range");
    struct json_object *unlisted = bbf__json_member_of(r, &place, value, "unlisted", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "unlisted", unlisted, &s->usage_of.unlisted);
    return err;
}

/* `path` is not read. */
int bbf__json_read_usage(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"usage", s->n_usage};
    unsigned memory = 0;
    int err = 0;

    struct bbf_snap_usage *rows = bbf__json_grow(s->usage, s->n_usage, &r->usage_cap, sizeof *rows);
    if (rows == NULL)
        return BBF_ENOMEM;
    s->usage = rows;
    struct bbf_snap_usage *to = &rows[s->n_usage++];
    struct json_object *member = bbf__json_member_of(r, &place, row, "node", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "node", member, &to->node);
    member = bbf__json_member_of(r, &place, row, "memory", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "memory", member, bbf_json_memories, &memory);
    to->memory = (enum bbf_memory)memory;
#define XX(name)                                                                                   \
    member = bbf__json_member_of(r, &place, row, #name, &err);                                     \
    if (err == 0)                                                                                  \
        err = bbf__json_take_count(r, &place, #name, member, &to->name);
    BBF_USAGE_COLUMNS(XX)
#undef XX
    if (err == 0 && to->unwritten_byte_seconds > to->measured_byte_seconds)
        err = bbf__json_fail_member(r, &place, "unwritten_byte_seconds",
                                    "more than measured_byte_seconds");
    return err;
}

int bbf__json_resolve_usage(struct bbf_json_reader *r, const struct bbf_id_index *nodes)
{
    struct bbf_snapshot *s = r->snapshot;

    if (s->n_usage > 0 && s->usage_of.seconds == 0)
        return bbf__json_fail(r, BBF_JSON_NOWHERE, "usage: usage_of is missing");
    for (size_t i = 0; i < s->n_usage; i++)
        if (!bbf_id_index_find(nodes, s->usage[i].node, &s->usage[i].node))
            return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                  "usage[%zu].node: no node has the id %" PRIu32, i,
                                  s->usage[i].node);
    return 0;
}
