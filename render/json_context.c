/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The member `contexts` of a bbflow-snapshot/1 document, which is there with context=on only.
 */
#include "render/json_reader.h"

#include "core/err.h"
#include "render/json_names.h"

#include <inttypes.h>

static int read_texts(struct bbf_json_reader *r, const struct bbf_json_place *place,
                      struct json_object *row, struct bbf_snap_context *to)
{
    const struct {
        const char *name;
        char **to;
    } texts[] = {{"channel", &to->channel},
                 {"address", &to->address},
                 {"hint", &to->hint},
                 {"exception", &to->thrown},
                 {"caught_in", &to->caught_in}};
    struct json_object *member;
    unsigned hint = BBF_HINT_NONE;
    int err = 0;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && err == 0; i++)
        if (json_object_object_get_ex(row, texts[i].name, &member))
            err = bbf__json_take_string(r, place, texts[i].name, member, texts[i].to);
    if (err == 0 && json_object_object_get_ex(row, "hint_is", &member))
        err = BBF_JSON_TAKE_WORD(r, place, "hint_is", member, bbf_json_hints, &hint);
    to->hint_is = (enum bbf_hint)hint;
    if (err == 0 && (hint == BBF_HINT_NONE) != (to->hint == NULL))
        err = bbf__json_fail_member(r, place, "hint", "without hint_is, or hint_is without it");
    if (err == 0 && to->thrown == NULL && to->caught_in != NULL)
        err = bbf__json_fail_member(r, place, "caught_in", "without exception");
    return err;
}

int bbf__json_read_context(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"contexts", s->n_contexts};
    struct json_object *member;
    int err = 0;

    struct bbf_snap_context *rows =
        bbf__json_grow(s->contexts, s->n_contexts, &r->contexts_cap, sizeof *rows);
    if (rows == NULL)
        return BBF_ENOMEM;
    s->contexts = rows;
    struct bbf_snap_context *to = &rows[s->n_contexts++];
    member = bbf__json_member_of(r, &place, row, "node", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "node", member, &to->node);
    member = bbf__json_member_of(r, &place, row, "lost_at", &err);
    if (err == 0)
        err = bbf__json_take_time(r, &place, "lost_at", member, &to->lost_ms);
    member = bbf__json_member_of(r, &place, row, "open_seconds", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "open_seconds", member, &to->open_seconds);
    return err == 0 ? read_texts(r, &place, row, to) : err;
}

int bbf__json_resolve_contexts(struct bbf_json_reader *r, const struct bbf_id_index *nodes)
{
    struct bbf_snapshot *s = r->snapshot;

    for (size_t i = 0; i < s->n_contexts; i++)
        if (!bbf_id_index_find(nodes, s->contexts[i].node, &s->contexts[i].node))
            return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                  "contexts[%zu].node: no node has the id %" PRIu32, i,
                                  s->contexts[i].node);
    return 0;
}
