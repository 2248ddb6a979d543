/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a bbflow-snapshot/1 document says of a site's method: `parameter`, `calls` and `throws`,
 * which an older one does not have.
 */
#include "render/json_reader.h"

#include "core/err.h"
#include "core/facts.h"
#include "render/json_names.h"

#include <inttypes.h>
#include <stdlib.h>

static int read_parameter(struct bbf_json_reader *r, const struct bbf_json_place *place,
                          struct json_object *value, uint8_t *parameter)
{
    int err = 0;
    unsigned bit = 0;

    if (!json_object_is_type(value, json_type_array))
        return bbf__json_fail_member(r, place, "parameter", "no array");
    *parameter = BBF_FACT_SEEN;
    for (size_t i = 0; i < json_object_array_length(value) && err == 0; i++) {
        err = BBF_JSON_TAKE_WORD(r, place, "parameter", json_object_array_get_idx(value, i),
                                 bbf_json_facts, &bit);
        *parameter |= (uint8_t)(1u << bit);
    }
    return err;
}

/* Ids, until bbf__json_resolve_calls(). */
static int read_calls(struct bbf_json_reader *r, const struct bbf_json_place *place,
                      struct json_object *value, struct bbf_snap_site *site)
{
    int err = 0;

    if (!json_object_is_type(value, json_type_array))
        return bbf__json_fail_member(r, place, "calls", "no array");
    size_t n = json_object_array_length(value);
    site->calls = calloc(n + 1, sizeof *site->calls);
    if (site->calls == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n && err == 0; i++) {
        err = bbf__json_take_id(r, place, "calls", json_object_array_get_idx(value, i),
                                &site->calls[i]);
        site->n_calls++;
    }
    return err;
}

static int read_throw(struct bbf_json_reader *r, const struct bbf_json_place *place,
                      struct json_object *value, struct bbf_snap_throw *one)
{
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail_member(r, place, "throws", "no object in it");
    if (json_object_object_get_ex(value, "line", &member))
        err = bbf__json_take_id(r, place, "throws.line", member, &one->line);
    member = bbf__json_member_of(r, place, value, "class", &err);
    if (err == 0)
        err = bbf__json_take_string(r, place, "throws.class", member, &one->class_name);
    member = bbf__json_member_of(r, place, value, "method", &err);
    if (err == 0)
        err = bbf__json_take_string(r, place, "throws.method", member, &one->method);
    return err;
}

static int read_throws(struct bbf_json_reader *r, const struct bbf_json_place *place,
                       struct json_object *value, struct bbf_snap_site *site)
{
    int err = 0;

    if (!json_object_is_type(value, json_type_array))
        return bbf__json_fail_member(r, place, "throws", "no array");
    size_t n = json_object_array_length(value);
    site->throws = calloc(n + 1, sizeof *site->throws);
    if (site->throws == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n && err == 0; i++)
        err = read_throw(r, place, json_object_array_get_idx(value, i),
                         &site->throws[site->n_throws++]);
    return err;
}

int bbf__json_read_facts(struct bbf_json_reader *r, const struct bbf_json_place *place,
                         struct json_object *row, struct bbf_snap_site *site)
{
    struct json_object *member;
    int err = 0;

    if (json_object_object_get_ex(row, "parameter", &member))
        err = read_parameter(r, place, member, &site->parameter);
    if (err == 0 && json_object_object_get_ex(row, "calls", &member))
        err = read_calls(r, place, member, site);
    if (err == 0 && json_object_object_get_ex(row, "throws", &member))
        err = read_throws(r, place, member, site);
    if (err == 0 && json_object_object_get_ex(row, "more_throws", &member))
        err = bbf__json_take_id(r, place, "more_throws", member, &site->more_throws);
    return err;
}

int bbf__json_resolve_calls(struct bbf_json_reader *r, const struct bbf_id_index *sites)
{
    const struct bbf_snapshot *s = r->snapshot;

    for (size_t i = 0; i < s->n_sites; i++)
        for (uint32_t k = 0; k < s->sites[i].n_calls; k++) {
            uint32_t *call = &s->sites[i].calls[k];
            if (!bbf_id_index_find(sites, *call, call))
                return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                      "sites[%zu].calls: no site has the id %" PRIu32, i, *call);
            if (k > 0 && *call <= call[-1])
                return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                      "sites[%zu].calls: not in the order of the sites", i);
        }
    return 0;
}
