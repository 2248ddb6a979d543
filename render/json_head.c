/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a bbflow-snapshot/1 document that are no tables.
 */
#include "render/json_reader.h"

#include "core/err.h"
#include "render/json_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int bbf__json_read_schema(struct bbf_json_reader *r, struct json_object *value)
{
    const char *text = json_object_get_string(value);

    if (!json_object_is_type(value, json_type_string) ||
        strncmp(text, "bbflow-snapshot/", strlen("bbflow-snapshot/")) != 0)
        return bbf__json_fail(r, r->row_at, "schema: not \"" BBF_JSON_SCHEMA "\"");
    if (strcmp(text, BBF_JSON_SCHEMA) == 0)
        return 0;
    bbf__json_fail(r, r->row_at, "schema: \"%.60s\"; this bbflow reads \"" BBF_JSON_SCHEMA "\"",
                   text);
    return BBF_EVERSION;
}

/* RFC 3339, any number of fractional digits, any offset. */
static bool parse_time(const char *text, int64_t *ms)
{
    struct tm tm = {0};
    int used = 0, hours, minutes;
    int64_t fraction = 0, offset = 0;

    if (strlen(text) < 20 ||
        sscanf(text, "%4d-%2d-%2d%*1[Tt]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6 ||
        used != 19)
        return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 ||
        tm.tm_hour > 23 || tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60 ||
        tm.tm_year < 0)
        return false;
    const char *p = text + used;
    if (*p == '.') {
        int64_t weight = 100;
        for (p++; *p >= '0' && *p <= '9'; p++, weight /= 10)
            fraction += weight * (*p - '0');
    }
    if (*p == '+' || *p == '-') {
        used = 0;
        if (sscanf(p + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || used != 5)
            return false;
        offset = (*p == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
        p += 6;
    } else if (*p == 'Z' || *p == 'z') {
        p++;
    } else {
        return false;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ms = ((int64_t)timegm(&tm) - offset) * 1000 + fraction;
    return *p == '\0';
}

int bbf__json_read_time(struct bbf_json_reader *r, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_string) ||
        !parse_time(json_object_get_string(value), &r->snapshot->captured_at_ms))
        return bbf__json_fail(r, r->row_at, "captured_at: no time as RFC 3339 has it");
    return 0;
}

int bbf__json_take_time(struct bbf_json_reader *r, const struct bbf_json_place *place,
                        const char *member, struct json_object *value, int64_t *ms)
{
    if (!json_object_is_type(value, json_type_string) ||
        !parse_time(json_object_get_string(value), ms))
        return bbf__json_fail_member(r, place, member, "no time as RFC 3339 has it");
    return 0;
}

int bbf__json_read_jvm(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"jvm", SIZE_MAX};
    struct bbf_snapshot *s = r->snapshot;
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "jvm: no object");
    member = bbf__json_member_of(r, &place, value, "pid", &err);
    if (err == 0 && !json_object_is_type(member, json_type_int))
        err = bbf__json_fail_member(r, &place, "pid", "no integer");
    if (err == 0)
        s->jvm.pid = json_object_get_int64(member);
    member = bbf__json_member_of(r, &place, value, "main", &err);
    if (err == 0)
        err = bbf__json_take_string(r, &place, "main", member, &s->jvm.main);
    member = bbf__json_member_of(r, &place, value, "version", &err);
    if (err == 0)
        err = bbf__json_take_string(r, &place, "version", member, &s->jvm.version);
    member = bbf__json_member_of(r, &place, value, "netty", &err);
    if (err == 0)
        err = bbf__json_take_strings(r, &place, "netty", member, &s->jvm.netty, &s->jvm.n_netty);
    member = bbf__json_member_of(r, &place, value, "map_mode", &err);
    if (err == 0)
        err = bbf__json_take_strings(r, &place, "map_mode", member, &s->jvm.map_mode,
                                     &s->jvm.n_map_mode);
    return err;
}

int bbf__json_read_settings(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"settings", SIZE_MAX};
    struct bbf_snapshot *s = r->snapshot;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "settings: no object");
    s->settings = calloc((size_t)json_object_object_length(value) + 1, sizeof *s->settings);
    if (s->settings == NULL)
        return BBF_ENOMEM;
    json_object_object_foreach(value, name, setting)
    {
        struct bbf_snap_pair *pair = &s->settings[s->n_settings++];
        if (err == 0)
            err = bbf__json_take_string(r, &place, name, setting, &pair->value);
        if (err == 0 && (pair->name = strdup(name)) == NULL)
            err = BBF_ENOMEM;
    }
    return err;
}

static int read_limit(struct bbf_json_reader *r, struct bbf_snap_limit *limit,
                      struct json_object *value)
{
    const struct bbf_json_place place = {limit->name, SIZE_MAX};
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "limits.%s: no object", limit->name);
    const struct {
        const char *name;
        uint64_t *to;
    } members[] = {{"used", &limit->used}, {"limit", &limit->limit}, {"hit", &limit->hit}};
    for (size_t i = 0; i < 3 && err == 0; i++) {
        struct json_object *member = bbf__json_member_of(r, &place, value, members[i].name, &err);
        if (err == 0)
            err = bbf__json_take_count(r, &place, members[i].name, member, members[i].to);
    }
    return err;
}

int bbf__json_read_limits(struct bbf_json_reader *r, struct json_object *value)
{
    struct bbf_snapshot *s = r->snapshot;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "limits: no object");
    s->limits = calloc((size_t)json_object_object_length(value) + 1, sizeof *s->limits);
    if (s->limits == NULL)
        return BBF_ENOMEM;
    json_object_object_foreach(value, name, limit)
    {
        struct bbf_snap_limit *to = &s->limits[s->n_limits++];
        if (err == 0 && (to->name = strdup(name)) == NULL)
            err = BBF_ENOMEM;
        if (err == 0)
            err = read_limit(r, to, limit);
    }
    return err;
}

int bbf__json_read_notes(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"document", SIZE_MAX};
    return bbf__json_take_strings(r, &place, "notes", value, &r->snapshot->notes,
                                  &r->snapshot->n_notes);
}

/* Totals that a later bbflow adds are not there in an older document, and then 0. */
int bbf__json_read_totals(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"totals", SIZE_MAX};
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "totals: no object");
#define XX(name)                                                                                   \
    if (err == 0 && json_object_object_get_ex(value, #name, &member))                              \
        err = bbf__json_take_count(r, &place, #name, member, &r->snapshot->totals.name##_);
    BBF_TOTALS(XX)
#undef XX
    return err;
}

/* A missing number was not known. */
static int read_told(struct bbf_json_reader *r, const struct bbf_json_place *place,
                     struct json_object *row, const char *name, uint64_t *to)
{
    struct json_object *member;
    *to = BBF_NOT_TOLD;
    if (!json_object_object_get_ex(row, name, &member))
        return 0;
    return bbf__json_take_count(r, place, name, member, to);
}

static int read_pool(struct bbf_json_reader *r, size_t i, struct json_object *value)
{
    const struct bbf_json_place place = {"reconciled.pools", i};
    struct bbf_snap_pool *row = &r->snapshot->reconciled.pools[i];
    struct json_object *member;
    unsigned pool = 0, memory = 0;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "reconciled.pools[%zu]: no object", i);
    member = bbf__json_member_of(r, &place, value, "pool", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "pool", member, bbf_json_pools, &pool);
    member = bbf__json_member_of(r, &place, value, "memory", &err);
    if (err == 0)
        err = bbf__json_take_word(r, &place, "memory", member, bbf_json_memories, BBF_MEM_HEAP + 1,
                                  &memory);
    row->pool = (enum bbf_pool)pool;
    row->memory = (enum bbf_memory)memory;
#define XX(name)                                                                                   \
    if (err == 0)                                                                                  \
        err = read_told(r, &place, value, #name, &row->name##_);
    BBF_POOL_COLUMNS(XX)
#undef XX
    if (err == 0 && (row->lives_ == BBF_NOT_TOLD || row->bytes_ == BBF_NOT_TOLD ||
                     row->rounded_ == BBF_NOT_TOLD))
        err = bbf__json_fail(r, r->row_at,
                             "reconciled.pools[%zu]: lives, bytes and rounded have to be there", i);
    return err;
}

/* Documents of a bbflow that did not compare have no such member. */
int bbf__json_read_reconciled(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"reconciled", SIZE_MAX};
    struct bbf_snap_reconciled *to = &r->snapshot->reconciled;
    struct json_object *pools = NULL;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "reconciled: no object");
    struct json_object *compared;
    if (json_object_object_get_ex(value, "compared", &compared)) {
        if (!json_object_is_type(compared, json_type_boolean))
            return bbf__json_fail_member(r, &place, "compared", "no boolean");
        to->sampled = !json_object_get_boolean(compared);
    }
    pools = bbf__json_member_of(r, &place, value, "pools", &err);
    if (err == 0 && !json_object_is_type(pools, json_type_array))
        err = bbf__json_fail_member(r, &place, "pools", "no array");
    size_t n = err == 0 ? json_object_array_length(pools) : 0;
    to->pools = calloc(n + 1, sizeof *to->pools);
    if (err == 0 && to->pools == NULL)
        err = BBF_ENOMEM;
    for (size_t i = 0; i < n && err == 0; i++) {
        to->n_pools = i + 1;
        err = read_pool(r, i, json_object_array_get_idx(pools, i));
    }
#define XX(name)                                                                                   \
    if (err == 0)                                                                                  \
        err = read_told(r, &place, value, #name, &to->name##_);
    BBF_PROCESS_COUNTS(XX)
#undef XX
    struct json_object *causes = bbf__json_member_of(r, &place, value, "causes", &err);
    if (err == 0)
        err = bbf__json_take_strings(r, &place, "causes", causes, &to->causes, &to->n_causes);
    to->read = err == 0;
    return err;
}

static int read_cost_row(struct bbf_json_reader *r, const char *name, struct json_object *value,
                         struct bbf_snap_cost_row *to)
{
    const struct bbf_json_place place = {name, SIZE_MAX};
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "%s: no object", name);
#define XX(name)                                                                                   \
    if (err == 0 && json_object_object_get_ex(value, #name, &member))                              \
        err = bbf__json_take_count(r, &place, #name, member, &to->name##_);
    BBF_COST_COLUMNS(XX)
#undef XX
    return err;
}

/* Documents of a bbflow that did not measure itself have no such member. What a later one measures
 * besides is not there in an older document, and then 0. */
int bbf__json_read_cost(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"cost", SIZE_MAX};
    struct bbf_snap_cost *to = &r->snapshot->cost;
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "cost: no object");
    member = bbf__json_member_of(r, &place, value, "since_start", &err);
    if (err == 0)
        err = read_cost_row(r, "cost.since_start", member, &to->since_start);
    member = bbf__json_member_of(r, &place, value, "interval", &err);
    if (err == 0)
        err = read_cost_row(r, "cost.interval", member, &to->interval);
    if (err == 0 && json_object_object_get_ex(value, "busy", &member))
        err = read_cost_row(r, "cost.busy", member, &to->busy);
    if (err == 0 && json_object_object_get_ex(value, "busy_ago_ns", &member))
        err = bbf__json_take_count(r, &place, "busy_ago_ns", member, &to->busy_ago_ns);
    if (err == 0 && json_object_object_get_ex(value, "since_change", &member))
        err = read_cost_row(r, "cost.since_change", member, &to->since_change);
#define XX(name)                                                                                   \
    if (err == 0 && json_object_object_get_ex(value, #name, &member))                              \
        err = bbf__json_take_count(r, &place, #name, member, &to->name##_);
    BBF_COST_VALUES(XX)
#undef XX
    if (err == 0 && json_object_object_get_ex(value, "sample_ppm", &member))
        err = bbf__json_take_count(r, &place, "sample_ppm", member, &to->sample_ppm);
    if (err == 0 && json_object_object_get_ex(value, "sample_since", &member))
        err = bbf__json_take_time(r, &place, "sample_since", member, &to->sample_since_ms);
    to->measured = err == 0;
    return err;
}

int bbf__json_read_windows(struct bbf_json_reader *r, struct json_object *value)
{
    const struct bbf_json_place place = {"windows", SIZE_MAX};
    struct bbf_snap_windows *to = &r->snapshot->windows;
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return bbf__json_fail(r, r->row_at, "windows: no object");
#define XX(name)                                                                                   \
    member = err == 0 ? bbf__json_member_of(r, &place, value, #name, &err) : NULL;                 \
    if (err == 0)                                                                                  \
        err = bbf__json_take_count(r, &place, #name, member, &to->name##_);
    BBF_WINDOWS_COLUMNS(XX)
#undef XX
    if (err == 0 && (to->share_ppb_ == 0 || to->share_ppb_ > BBF_SHARE_ALL_PPB))
        err = bbf__json_fail(r, r->row_at, "windows.share_ppb: 1 to 1000000000 is expected");
    to->used = err == 0;
    return err;
}
