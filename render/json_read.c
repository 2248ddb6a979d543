/*
 * Reading a bbflow-snapshot/1 document back. The outermost object and the three tables are walked
 * here, each row and each other member is parsed by json-c: a table of a million rows is never in
 * memory as a million json-c objects (about 2 KB each), and an error can say where it is.
 *
 * A document is a file that anyone may have written: nothing in it is trusted. What is accepted
 * adds up, as bbf_snapshot_finish() would have it.
 */
#include "render/render.h"

#include "core/err.h"
#include "render/json_names.h"
#include "render/json_row.h"

#include <json-c/json.h>

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct reader {
    const char *text;
    size_t len;
    size_t pos;    /* next byte to look at */
    size_t row_at; /* where the value being taken apart begins: what errors name */
    struct json_tokener *tokener;
    struct bbf_snapshot *snapshot;
    size_t sites_cap, nodes_cap, leaks_cap;
    unsigned seen; /* bit per entry of members[] */
    char *why;
    size_t why_size;
};

/* For what is wrong between rows: their numbers say where. */
#define NOWHERE SIZE_MAX

__attribute__((format(printf, 3, 4))) static int fail_at(struct reader *r, size_t at,
                                                         const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->why_size > 0 && at != NOWHERE)
        snprintf(r->why, r->why_size, "at byte %zu: %s", at, text);
    else if (r->why_size > 0)
        snprintf(r->why, r->why_size, "%s", text);
    return BBF_EFORMAT;
}

/* What a member of a row is called in an error: "nodes[17].parent". */
struct place {
    const char *table;
    size_t row;
};

static int fail_member(struct reader *r, const struct place *place, const char *member,
                       const char *problem)
{
    return place->row == SIZE_MAX
               ? fail_at(r, r->row_at, "%s.%s: %s", place->table, member, problem)
               : fail_at(r, r->row_at, "%s[%zu].%s: %s", place->table, place->row, member, problem);
}

static void skip_space(struct reader *r)
{
    while (r->pos < r->len && strchr(" \t\r\n", r->text[r->pos]) != NULL && r->text[r->pos] != 0)
        r->pos++;
}

/* The next byte that is no space, '\0' at the end (a NUL in the document is as wrong). */
static char peek(struct reader *r)
{
    skip_space(r);
    return r->pos < r->len ? r->text[r->pos] : '\0';
}

static int expect(struct reader *r, char c, const char *where)
{
    if (peek(r) == c) {
        r->pos++;
        return 0;
    }
    if (r->pos >= r->len)
        return fail_at(r, r->pos, "the document ends %s, where '%c' has to stand: truncated?",
                       where, c);
    return fail_at(r, r->pos, "'%c' has to stand here, %s", c, where);
}

/* Parse one value of any kind. *value is the caller's (json_object_put), NULL for null. */
static int read_value(struct reader *r, struct json_object **value, const char *where)
{
    skip_space(r);
    r->row_at = r->pos;
    size_t left = r->len - r->pos;
    json_tokener_reset(r->tokener);
    *value =
        json_tokener_parse_ex(r->tokener, r->text + r->pos, left > INT_MAX ? INT_MAX : (int)left);
    enum json_tokener_error error = json_tokener_get_error(r->tokener);
    size_t used = json_tokener_get_parse_end(r->tokener);
    if (error == json_tokener_success) {
        r->pos += used;
        return 0;
    }
    if (error == json_tokener_continue)
        return fail_at(r, r->len, "the document ends within %s: truncated?", where);
    return fail_at(r, r->pos + used, "%s: %s", where, json_tokener_error_desc(error));
}

static int take_string(struct reader *r, const struct place *place, const char *member,
                       struct json_object *value, char **to)
{
    if (!json_object_is_type(value, json_type_string))
        return fail_member(r, place, member, "no string");
    const char *text = json_object_get_string(value);
    if (strlen(text) != (size_t)json_object_get_string_len(value))
        return fail_member(r, place, member, "a NUL character within a string");
    char *copy = strdup(text);
    if (copy == NULL)
        return BBF_ENOMEM;
    free(*to); /* a member that is there twice: the last one counts */
    *to = copy;
    return 0;
}

static int take_count(struct reader *r, const struct place *place, const char *member,
                      struct json_object *value, uint64_t *to)
{
    if (!json_object_is_type(value, json_type_int))
        return fail_member(r, place, member, "no integer");
    /* As signed: what does not fit comes back as the nearest that does. */
    int64_t number = json_object_get_int64(value);
    if (number < 0)
        return fail_member(r, place, member, "negative");
    *to = number < INT64_MAX ? (uint64_t)number : json_object_get_uint64(value);
    return 0;
}

static int take_id(struct reader *r, const struct place *place, const char *member,
                   struct json_object *value, uint32_t *to)
{
    uint64_t number;
    int err = take_count(r, place, member, value, &number);

    if (err == 0 && number > UINT32_MAX)
        err = fail_member(r, place, member, "larger than 4294967295");
    if (err == 0)
        *to = (uint32_t)number;
    return err;
}

static int take_word(struct reader *r, const struct place *place, const char *member,
                     struct json_object *value, const char *const *words, size_t count,
                     unsigned *to)
{
    if (!json_object_is_type(value, json_type_string))
        return fail_member(r, place, member, "no string");
    for (size_t i = 0; i < count; i++)
        if (strcmp(json_object_get_string(value), words[i]) == 0) {
            *to = (unsigned)i;
            return 0;
        }
    return fail_member(r, place, member, "a word that bbflow does not know");
}

#define TAKE_WORD(r, place, member, value, words, to)                                              \
    take_word(r, place, member, value, words, sizeof(words) / sizeof((words)[0]), to)

static int take_strings(struct reader *r, const struct place *place, const char *member,
                        struct json_object *value, char ***to, size_t *count)
{
    if (!json_object_is_type(value, json_type_array))
        return fail_member(r, place, member, "no array");
    if (*to != NULL)
        return fail_member(r, place, member, "is there twice");
    size_t n = json_object_array_length(value);
    *to = calloc(n + 1, sizeof **to);
    if (*to == NULL)
        return BBF_ENOMEM;
    int err = 0;
    for (*count = 0; *count < n && err == 0; *count += err == 0)
        err =
            take_string(r, place, member, json_object_array_get_idx(value, *count), &(*to)[*count]);
    return err;
}

/* The member must be there; NULL if it is not, with the reason said. */
static struct json_object *member_of(struct reader *r, const struct place *place,
                                     struct json_object *row, const char *member, int *err)
{
    struct json_object *value = NULL;

    if (*err == 0 && !json_object_object_get_ex(row, member, &value))
        *err = fail_member(r, place, member, "missing");
    return value;
}

/* ---- the head ---- */

static int read_schema(struct reader *r, struct json_object *value)
{
    const char *text = json_object_get_string(value);

    if (!json_object_is_type(value, json_type_string) ||
        strncmp(text, "bbflow-snapshot/", strlen("bbflow-snapshot/")) != 0)
        return fail_at(r, r->row_at, "schema: not \"" BBF_JSON_SCHEMA "\"");
    if (strcmp(text, BBF_JSON_SCHEMA) == 0)
        return 0;
    fail_at(r, r->row_at, "schema: \"%.60s\"; this bbflow reads \"" BBF_JSON_SCHEMA "\"", text);
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

static int read_time(struct reader *r, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_string) ||
        !parse_time(json_object_get_string(value), &r->snapshot->captured_at_ms))
        return fail_at(r, r->row_at, "captured_at: no time as RFC 3339 has it");
    return 0;
}

static int read_jvm(struct reader *r, struct json_object *value)
{
    const struct place place = {"jvm", SIZE_MAX};
    struct bbf_snapshot *s = r->snapshot;
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return fail_at(r, r->row_at, "jvm: no object");
    member = member_of(r, &place, value, "pid", &err);
    if (err == 0 && !json_object_is_type(member, json_type_int))
        err = fail_member(r, &place, "pid", "no integer");
    if (err == 0)
        s->jvm.pid = json_object_get_int64(member);
    member = member_of(r, &place, value, "main", &err);
    if (err == 0)
        err = take_string(r, &place, "main", member, &s->jvm.main);
    member = member_of(r, &place, value, "version", &err);
    if (err == 0)
        err = take_string(r, &place, "version", member, &s->jvm.version);
    member = member_of(r, &place, value, "netty", &err);
    if (err == 0)
        err = take_strings(r, &place, "netty", member, &s->jvm.netty, &s->jvm.n_netty);
    member = member_of(r, &place, value, "map_mode", &err);
    if (err == 0)
        err = take_strings(r, &place, "map_mode", member, &s->jvm.map_mode, &s->jvm.n_map_mode);
    return err;
}

static int read_settings(struct reader *r, struct json_object *value)
{
    const struct place place = {"settings", SIZE_MAX};
    struct bbf_snapshot *s = r->snapshot;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return fail_at(r, r->row_at, "settings: no object");
    s->settings = calloc((size_t)json_object_object_length(value) + 1, sizeof *s->settings);
    if (s->settings == NULL)
        return BBF_ENOMEM;
    json_object_object_foreach(value, name, setting)
    {
        struct bbf_snap_pair *pair = &s->settings[s->n_settings++];
        if (err == 0)
            err = take_string(r, &place, name, setting, &pair->value);
        if (err == 0 && (pair->name = strdup(name)) == NULL)
            err = BBF_ENOMEM;
    }
    return err;
}

static int read_limit(struct reader *r, struct bbf_snap_limit *limit, struct json_object *value)
{
    const struct place place = {limit->name, SIZE_MAX};
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return fail_at(r, r->row_at, "limits.%s: no object", limit->name);
    const struct {
        const char *name;
        uint64_t *to;
    } members[] = {{"used", &limit->used}, {"limit", &limit->limit}, {"hit", &limit->hit}};
    for (size_t i = 0; i < 3 && err == 0; i++) {
        struct json_object *member = member_of(r, &place, value, members[i].name, &err);
        if (err == 0)
            err = take_count(r, &place, members[i].name, member, members[i].to);
    }
    return err;
}

static int read_limits(struct reader *r, struct json_object *value)
{
    struct bbf_snapshot *s = r->snapshot;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return fail_at(r, r->row_at, "limits: no object");
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

static int read_notes(struct reader *r, struct json_object *value)
{
    const struct place place = {"document", SIZE_MAX};
    return take_strings(r, &place, "notes", value, &r->snapshot->notes, &r->snapshot->n_notes);
}

/* Totals that a later bbflow adds are not there in an older document, and then 0. */
static int read_totals(struct reader *r, struct json_object *value)
{
    const struct place place = {"totals", SIZE_MAX};
    struct json_object *member;
    int err = 0;

    if (!json_object_is_type(value, json_type_object))
        return fail_at(r, r->row_at, "totals: no object");
#define XX(name)                                                                                   \
    if (err == 0 && json_object_object_get_ex(value, #name, &member))                              \
        err = take_count(r, &place, #name, member, &r->snapshot->totals.name##_);
    BBF_TOTALS(XX)
#undef XX
    return err;
}

/* ---- the tables ---- */

/* Room for one row more; the new row is all zero. */
static void *grow(void *table, size_t count, size_t *cap, size_t row_size)
{
    if (count == *cap) {
        size_t more = *cap == 0 ? 64 : *cap * 2;
        void *bigger = reallocarray(table, more, row_size);
        if (bigger == NULL)
            return NULL;
        table = bigger;
        *cap = more;
    }
    memset((char *)table + count * row_size, 0, row_size);
    return table;
}

static int read_site(struct reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct place place = {"sites", s->n_sites};
    struct json_object *member;
    unsigned kind = 0;
    int err = 0;

    struct bbf_snap_site *sites = grow(s->sites, s->n_sites, &r->sites_cap, sizeof *sites);
    if (sites == NULL)
        return BBF_ENOMEM;
    s->sites = sites;
    struct bbf_snap_site *site = &sites[s->n_sites++];
    member = member_of(r, &place, row, "id", &err);
    if (err == 0)
        err = take_id(r, &place, "id", member, &site->id);
    member = member_of(r, &place, row, "class", &err);
    if (err == 0)
        err = take_string(r, &place, "class", member, &site->class_name);
    member = member_of(r, &place, row, "method", &err);
    if (err == 0)
        err = take_string(r, &place, "method", member, &site->method);
    member = member_of(r, &place, row, "descriptor", &err);
    if (err == 0)
        err = take_string(r, &place, "descriptor", member, &site->descriptor);
    member = member_of(r, &place, row, "kind", &err);
    if (err == 0)
        err = TAKE_WORD(r, &place, "kind", member, bbf_json_site_kinds, &kind);
    site->kind = (enum bbf_site_kind)kind;
    return err;
}

static int read_parent(struct reader *r, const struct place *place, struct json_object *value,
                       int64_t *parent)
{
    if (!json_object_is_type(value, json_type_int))
        return fail_member(r, place, "parent", "no integer");
    *parent = json_object_get_int64(value);
    if (*parent < -1 || *parent > (int64_t)UINT32_MAX)
        return fail_member(r, place, "parent", "neither -1 nor the id of a node");
    return 0;
}

/* node->site is the id until resolve() makes it the index: sites may come after nodes. */
static int read_node(struct reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct place place = {"nodes", s->n_nodes};
    struct json_object *member;
    unsigned ref = 0;
    int err = 0;

    struct bbf_snap_node *nodes = grow(s->nodes, s->n_nodes, &r->nodes_cap, sizeof *nodes);
    if (nodes == NULL)
        return BBF_ENOMEM;
    s->nodes = nodes;
    struct bbf_snap_node *node = &nodes[s->n_nodes++];
    member = member_of(r, &place, row, "id", &err);
    if (err == 0)
        err = take_id(r, &place, "id", member, &node->id);
    member = member_of(r, &place, row, "parent", &err);
    if (err == 0)
        err = read_parent(r, &place, member, &node->parent);
    member = member_of(r, &place, row, "site", &err);
    if (err == 0)
        err = take_id(r, &place, "site", member, &node->site);
    member = member_of(r, &place, row, "ref", &err);
    if (err == 0)
        err = TAKE_WORD(r, &place, "ref", member, bbf_json_refs, &ref);
    node->ref = (uint8_t)ref;
    if (err == 0 && json_object_object_get_ex(row, "loop", &member)) {
        if (!json_object_is_type(member, json_type_boolean))
            return fail_member(r, &place, "loop", "no boolean");
        node->loop = json_object_get_boolean(member);
    }
#define XX(name)                                                                                   \
    member = member_of(r, &place, row, #name, &err);                                               \
    if (err == 0)                                                                                  \
        err = take_count(r, &place, #name, member, &node->name##_);
    BBF_NODE_COLUMNS(XX)
#undef XX
    return err;
}

/* leak->node likewise. `path` is not read: it is made from the nodes whenever it is written. */
static int read_leak(struct reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct place place = {"leaks", s->n_leaks};
    struct json_object *member;
    unsigned verdict = 0, memory = 0;
    int err = 0;

    struct bbf_snap_leak *leaks = grow(s->leaks, s->n_leaks, &r->leaks_cap, sizeof *leaks);
    if (leaks == NULL)
        return BBF_ENOMEM;
    s->leaks = leaks;
    struct bbf_snap_leak *leak = &leaks[s->n_leaks++];
    member = member_of(r, &place, row, "node", &err);
    if (err == 0)
        err = take_id(r, &place, "node", member, &leak->node);
    member = member_of(r, &place, row, "verdict", &err);
    if (err == 0)
        err = TAKE_WORD(r, &place, "verdict", member, bbf_json_verdicts, &verdict);
    member = member_of(r, &place, row, "memory", &err);
    if (err == 0)
        err = TAKE_WORD(r, &place, "memory", member, bbf_json_memories, &memory);
    member = member_of(r, &place, row, "count", &err);
    if (err == 0)
        err = take_count(r, &place, "count", member, &leak->count);
    member = member_of(r, &place, row, "bytes", &err);
    if (err == 0)
        err = take_count(r, &place, "bytes", member, &leak->bytes);
    member = member_of(r, &place, row, "oldest_seconds", &err);
    if (err == 0)
        err = take_count(r, &place, "oldest_seconds", member, &leak->oldest_seconds);
    leak->verdict = (enum bbf_verdict)verdict;
    leak->memory = (enum bbf_memory)memory;
    return err;
}

/* A row of nodes as bbflow itself writes it; *taken is false where it is another, for json-c. */
static int read_own_node(struct reader *r, bool *taken)
{
    struct bbf_snapshot *s = r->snapshot;

    *taken = false;
    skip_space(r);
    struct bbf_snap_node *nodes = grow(s->nodes, s->n_nodes, &r->nodes_cap, sizeof *nodes);
    if (nodes == NULL)
        return BBF_ENOMEM;
    s->nodes = nodes;
    size_t used = bbf_json_node_row(r->text + r->pos, r->len - r->pos, &nodes[s->n_nodes]);
    r->pos += used;
    s->n_nodes += used != 0;
    *taken = used != 0;
    return 0;
}

static int read_row(struct reader *r, const char *name,
                    int (*read)(struct reader *, struct json_object *))
{
    struct json_object *row;
    bool taken = false;
    int err = read == read_node ? read_own_node(r, &taken) : 0;

    if (err != 0 || taken)
        return err;
    err = read_value(r, &row, name);
    if (err == 0)
        err = json_object_is_type(row, json_type_object)
                  ? read(r, row)
                  : fail_at(r, r->row_at, "%s: a row that is no object", name);
    json_object_put(row);
    return err;
}

static int read_table(struct reader *r, const char *name,
                      int (*read)(struct reader *, struct json_object *))
{
    int err = expect(r, '[', name);

    if (err != 0)
        return err;
    if (peek(r) == ']') {
        r->pos++;
        return 0;
    }
    for (;;) {
        err = read_row(r, name, read);
        if (err != 0)
            return err;
        if (peek(r) != ',')
            return expect(r, ']', name);
        r->pos++;
    }
}

/* ---- the document ---- */

static const struct {
    const char *name;
    int (*read)(struct reader *r, struct json_object *value);
    bool table; /* read() takes a row */
} members[] = {
    {"schema", read_schema, false}, {"captured_at", read_time, false},
    {"jvm", read_jvm, false},       {"settings", read_settings, false},
    {"limits", read_limits, false}, {"notes", read_notes, false},
    {"totals", read_totals, false}, {"sites", read_site, true},
    {"nodes", read_node, true},     {"leaks", read_leak, true},
};

enum { N_MEMBERS = sizeof members / sizeof members[0] };

/* The value behind `name`; one that is not known is parsed and let go. */
static int read_member(struct reader *r, const char *name)
{
    struct json_object *value;
    size_t i = 0;

    while (i < N_MEMBERS && strcmp(members[i].name, name) != 0)
        i++;
    if (i < N_MEMBERS) {
        if (r->seen & 1u << i)
            return fail_at(r, r->pos, "%s is there twice", name);
        r->seen |= 1u << i;
        if (members[i].table)
            return read_table(r, members[i].name, members[i].read);
    }
    int err = read_value(r, &value, i < N_MEMBERS ? members[i].name : "a member");
    if (err == 0 && i < N_MEMBERS)
        err = members[i].read(r, value);
    json_object_put(value);
    return err;
}

static int read_document(struct reader *r)
{
    struct json_object *name;
    int err = expect(r, '{', "at the start of a snapshot");

    if (err == 0 && peek(r) == '}')
        return fail_at(r, r->pos, "schema is missing: no bbflow snapshot");
    while (err == 0) {
        if (peek(r) != '"')
            return expect(r, '"', "before the name of a member");
        err = read_value(r, &name, "the name of a member");
        if (err == 0)
            err = expect(r, ':', "after the name of a member");
        if (err == 0)
            err = read_member(r, json_object_get_string(name));
        json_object_put(name);
        if (err == 0 && peek(r) != ',')
            break;
        r->pos += err == 0;
    }
    if (err == 0)
        err = expect(r, '}', "after a member");
    skip_space(r);
    if (err == 0 && r->pos < r->len)
        err = fail_at(r, r->pos, "more text after the end of the snapshot");
    for (size_t i = 0; i < N_MEMBERS && err == 0; i++)
        if (!(r->seen & 1u << i))
            err = fail_at(r, r->pos, "%s is missing%s", members[i].name,
                          i == 0 ? ": no bbflow snapshot" : "");
    return err;
}

static int resolve_sites(struct reader *r)
{
    struct bbf_snapshot *s = r->snapshot;
    struct bbf_id_index sites;
    size_t bad = 0;

    int err = bbf_id_index_init(&sites, s->n_sites > 0 ? &s->sites[0].id : NULL, s->n_sites,
                                sizeof s->sites[0], &bad);
    if (err == BBF_EFORMAT)
        return fail_at(r, NOWHERE, "sites[%zu].id: a site before it has the same", bad);
    for (size_t i = 0; i < s->n_nodes && err == 0; i++)
        if (!bbf_id_index_find(&sites, s->nodes[i].site, &s->nodes[i].site))
            err = fail_at(r, NOWHERE, "nodes[%zu].site: no site has the id %" PRIu32, i,
                          s->nodes[i].site);
    bbf_id_index_free(&sites);
    return err;
}

static int resolve_leaks(struct reader *r)
{
    struct bbf_snapshot *s = r->snapshot;
    struct bbf_id_index nodes;
    size_t bad = 0;

    int err = bbf_id_index_init(&nodes, s->n_nodes > 0 ? &s->nodes[0].id : NULL, s->n_nodes,
                                sizeof s->nodes[0], &bad);
    if (err == BBF_EFORMAT)
        return fail_at(r, NOWHERE, "nodes[%zu].id: a node before it has the same", bad);
    for (size_t i = 0; i < s->n_leaks && err == 0; i++)
        if (!bbf_id_index_find(&nodes, s->leaks[i].node, &s->leaks[i].node))
            err = fail_at(r, NOWHERE, "leaks[%zu].node: no node has the id %" PRIu32, i,
                          s->leaks[i].node);
    bbf_id_index_free(&nodes);
    return err;
}

/* Compare what the document says with what its rows add up to. */
static int compare_sums(struct reader *r, const struct bbf_snap_totals *said,
                        const uint64_t *passed, size_t leaks)
{
    struct bbf_snapshot *s = r->snapshot;

    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].passed_ != passed[i])
            return fail_at(r, NOWHERE,
                           "nodes[%zu].passed: %" PRIu64 ", but its rows add up to %" PRIu64, i,
                           passed[i], s->nodes[i].passed_);
#define XX(name)                                                                                   \
    if (said->name##_ != s->totals.name##_)                                                        \
        return fail_at(r, NOWHERE,                                                                 \
                       "totals." #name ": %" PRIu64 ", but the nodes add up to %" PRIu64,          \
                       said->name##_, s->totals.name##_);
    BBF_TOTALS(XX)
#undef XX
    if (leaks != s->n_leaks)
        return fail_at(r, NOWHERE,
                       "leaks: does not list each leaked or aged life of the nodes once");
    return 0;
}

static int check_sums(struct reader *r)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_snap_totals said = s->totals;
    size_t leaks = s->n_leaks, bad = 0;

    uint32_t *parents = calloc(s->n_nodes + 1, sizeof *parents);
    uint64_t *passed = calloc(s->n_nodes + 1, sizeof *passed);
    int err = parents == NULL || passed == NULL ? BBF_ENOMEM : 0;
    if (err == 0) {
        err = bbf_snapshot_parents(s, parents, &bad);
        if (err == BBF_EFORMAT)
            fail_at(r, NOWHERE, "nodes[%zu].parent: no node before it has the id %" PRId64, bad,
                    bad < s->n_nodes ? s->nodes[bad].parent : -1);
    }
    for (size_t i = 0; i < s->n_nodes && err == 0; i++)
        passed[i] = s->nodes[i].passed_;
    if (err == 0)
        err = bbf_snapshot_finish(s);
    if (err == 0)
        err = compare_sums(r, &said, passed, leaks);
    free(passed);
    free(parents);
    return err;
}

int bbf_snapshot_from_json(struct bbf_snapshot **out, const char *text, size_t len, char *why,
                           size_t why_size)
{
    struct reader r = {.text = text, .len = len, .why = why, .why_size = why_size};
    int err = BBF_ENOMEM;

    *out = NULL;
    if (why_size > 0)
        why[0] = '\0';
    r.snapshot = bbf_snapshot_new();
    r.tokener = json_tokener_new();
    if (r.snapshot != NULL && r.tokener != NULL) {
        json_tokener_set_flags(r.tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS |
                                              JSON_TOKENER_VALIDATE_UTF8);
        err = read_document(&r);
    }
    if (err == 0)
        err = resolve_sites(&r);
    if (err == 0)
        err = resolve_leaks(&r);
    if (err == 0)
        err = check_sums(&r);
    if (r.tokener != NULL)
        json_tokener_free(r.tokener);
    if (err == BBF_ENOMEM && why_size > 0)
        snprintf(why, why_size, "%s", bbf_strerror(err));
    if (err != 0)
        bbf_snapshot_free(r.snapshot);
    else
        *out = r.snapshot;
    return err;
}
