/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a bbflow-snapshot/1 document back. The outermost object and the three tables are walked
 * here, each row and each other member is parsed by json-c: a table of a million rows is never in
 * memory as a million json-c objects (about 2 KB each), and an error can say where it is.
 *
 * A document is a file that anyone may have written: nothing in it is trusted. An accepted document
 * adds up like the result of bbf_snapshot_finish().
 */
#include "render/render.h"

#include "core/err.h"
#include "render/json_names.h"
#include "render/json_reader.h"
#include "render/json_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_site(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"sites", s->n_sites};
    struct json_object *member;
    unsigned kind = 0;
    int err = 0;

    struct bbf_snap_site *sites =
        bbf__json_grow(s->sites, s->n_sites, &r->sites_cap, sizeof *sites);
    if (sites == NULL)
        return BBF_ENOMEM;
    s->sites = sites;
    struct bbf_snap_site *site = &sites[s->n_sites++];
    member = bbf__json_member_of(r, &place, row, "id", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "id", member, &site->id);
    member = bbf__json_member_of(r, &place, row, "class", &err);
    if (err == 0)
        err = bbf__json_take_string(r, &place, "class", member, &site->class_name);
    member = bbf__json_member_of(r, &place, row, "method", &err);
    if (err == 0)
        err = bbf__json_take_string(r, &place, "method", member, &site->method);
    member = bbf__json_member_of(r, &place, row, "descriptor", &err);
    if (err == 0)
        err = bbf__json_take_string(r, &place, "descriptor", member, &site->descriptor);
    member = bbf__json_member_of(r, &place, row, "kind", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "kind", member, bbf_json_site_kinds, &kind);
    site->kind = (enum bbf_site_kind)kind;
    if (err == 0 && json_object_object_get_ex(row, "line", &member))
        err = bbf__json_take_id(r, &place, "line", member, &site->line);
    if (err == 0 && json_object_object_get_ex(row, "enclosing", &member))
        err = bbf__json_take_string(r, &place, "enclosing", member, &site->enclosing);
    return err == 0 ? bbf__json_read_facts(r, &place, row, site) : err;
}

static int read_parent(struct bbf_json_reader *r, const struct bbf_json_place *place,
                       struct json_object *value, int64_t *parent)
{
    if (!json_object_is_type(value, json_type_int))
        return bbf__json_fail_member(r, place, "parent", "no integer");
    *parent = json_object_get_int64(value);
    if (*parent < -1 || *parent > (int64_t)UINT32_MAX)
        return bbf__json_fail_member(r, place, "parent", "neither -1 nor the id of a node");
    return 0;
}

/* node->site is the id until resolve() makes it the index: sites may come after nodes. */
static int read_node(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"nodes", s->n_nodes};
    struct json_object *member;
    unsigned ref = 0;
    int err = 0;

    struct bbf_snap_node *nodes =
        bbf__json_grow(s->nodes, s->n_nodes, &r->nodes_cap, sizeof *nodes);
    if (nodes == NULL)
        return BBF_ENOMEM;
    s->nodes = nodes;
    struct bbf_snap_node *node = &nodes[s->n_nodes++];
    member = bbf__json_member_of(r, &place, row, "id", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "id", member, &node->id);
    member = bbf__json_member_of(r, &place, row, "parent", &err);
    if (err == 0)
        err = read_parent(r, &place, member, &node->parent);
    member = bbf__json_member_of(r, &place, row, "site", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "site", member, &node->site);
    member = bbf__json_member_of(r, &place, row, "ref", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "ref", member, bbf_json_refs, &ref);
    node->ref = (uint8_t)ref;
    if (err == 0 && json_object_object_get_ex(row, "loop", &member)) {
        if (!json_object_is_type(member, json_type_boolean))
            return bbf__json_fail_member(r, &place, "loop", "no boolean");
        node->loop = json_object_get_boolean(member);
    }
#define XX(name)                                                                                   \
    member = bbf__json_member_of(r, &place, row, #name, &err);                                     \
    if (err == 0)                                                                                  \
        err = bbf__json_take_count(r, &place, #name, member, &node->name##_);
    BBF_NODE_COLUMNS(XX)
#undef XX
    return err;
}

/* In the order of their ids, as bbf_snapshot_check() has it. */
static int read_thread(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"threads", s->n_threads};
    struct json_object *member;
    int err = 0;

    struct bbf_snap_thread *threads =
        bbf__json_grow(s->threads, s->n_threads, &r->threads_cap, sizeof *threads);
    if (threads == NULL)
        return BBF_ENOMEM;
    s->threads = threads;
    struct bbf_snap_thread *thread = &threads[s->n_threads++];
    member = bbf__json_member_of(r, &place, row, "id", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "id", member, &thread->id);
    member = bbf__json_member_of(r, &place, row, "name", &err);
    if (err == 0)
        err = bbf__json_take_string(r, &place, "name", member, &thread->name);
    if (err == 0 && s->n_threads > 1 && thread->id <= thread[-1].id)
        err = bbf__json_fail_member(r, &place, "id", "not above the one before it");
    return err;
}

static int read_misuse(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"misuse", s->n_misuses};
    struct json_object *member;
    unsigned use = 0;
    int err = 0;

    struct bbf_snap_misuse *rows =
        bbf__json_grow(s->misuses, s->n_misuses, &r->misuses_cap, sizeof *rows);
    if (rows == NULL)
        return BBF_ENOMEM;
    s->misuses = rows;
    struct bbf_snap_misuse *to = &rows[s->n_misuses++];
    member = bbf__json_member_of(r, &place, row, "use", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "use", member, bbf_json_uses, &use);
    to->use = (enum bbf_use)use;
    const struct {
        const char *name;
        uint64_t *to;
    } counts[] = {{"count", &to->count},
                  {"released_thread", &to->released_thread},
                  {"used_thread", &to->used_thread}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        member = bbf__json_member_of(r, &place, row, counts[i].name, &err);
        if (err == 0)
            err = bbf__json_take_count(r, &place, counts[i].name, member, counts[i].to);
    }
    member = bbf__json_member_of(r, &place, row, "path", &err);
    if (err == 0)
        err = bbf__json_take_strings(r, &place, "path", member, &to->path, &to->n_path);
    member = bbf__json_member_of(r, &place, row, "used_by", &err);
    if (err == 0)
        err = bbf__json_take_strings(r, &place, "used_by", member, &to->used_by, &to->n_used_by);
    return err;
}

/* pin->node is an id until the whole document is read; `path` is not read. */
static int read_pin(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"pins", s->n_pins};
    struct json_object *member;
    unsigned pool = 0, memory = 0;
    int err = 0;

    struct bbf_snap_pin *pins = bbf__json_grow(s->pins, s->n_pins, &r->pins_cap, sizeof *pins);
    if (pins == NULL)
        return BBF_ENOMEM;
    s->pins = pins;
    struct bbf_snap_pin *pin = &pins[s->n_pins++];
    member = bbf__json_member_of(r, &place, row, "node", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "node", member, &pin->node);
    member = bbf__json_member_of(r, &place, row, "pool", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "pool", member, bbf_json_pools, &pool);
    member = bbf__json_member_of(r, &place, row, "memory", &err);
    if (err == 0)
        err = bbf__json_take_word(r, &place, "memory", member, bbf_json_memories, BBF_MEM_HEAP + 1,
                                  &memory);
    const struct {
        const char *name;
        uint64_t *to;
    } counts[] = {{"buffers", &pin->buffers},   {"bytes", &pin->bytes},
                  {"smallest", &pin->smallest}, {"largest", &pin->largest},
                  {"chunks", &pin->chunks},     {"reserved", &pin->reserved}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && err == 0; i++) {
        member = bbf__json_member_of(r, &place, row, counts[i].name, &err);
        if (err == 0)
            err = bbf__json_take_count(r, &place, counts[i].name, member, counts[i].to);
    }
    pin->pool = (enum bbf_pool)pool;
    pin->memory = (enum bbf_memory)memory;
    return err;
}

/* `root` and `caller` are ids until the whole document is read. */
static int read_caller(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"allocated_for", s->n_callers};
    struct json_object *member;
    unsigned kind = 0;
    int err = 0;

    struct bbf_snap_caller *callers =
        bbf__json_grow(s->callers, s->n_callers, &r->callers_cap, sizeof *callers);
    if (callers == NULL)
        return BBF_ENOMEM;
    s->callers = callers;
    struct bbf_snap_caller *to = &callers[s->n_callers++];
    member = bbf__json_member_of(r, &place, row, "root", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "root", member, &to->root);
    member = bbf__json_member_of(r, &place, row, "caller", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "caller", member, &to->caller);
    member = bbf__json_member_of(r, &place, row, "kind", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "kind", member, bbf_json_callers, &kind);
    member = bbf__json_member_of(r, &place, row, "sampled", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "sampled", member, &to->sampled);
    member = bbf__json_member_of(r, &place, row, "leaked", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "leaked", member, &to->leaked);
    if (err == 0 && to->leaked > to->sampled)
        err = bbf__json_fail(r, BBF_JSON_NOWHERE,
                             "allocated_for[%zu].leaked: more than were sampled", place.row);
    to->kind = (enum bbf_caller)kind;
    return err;
}

/* Members that a row of an older bbflow's snapshot may lack. */
static int read_leak_details(struct bbf_json_reader *r, const struct bbf_json_place *place,
                             struct json_object *row, struct bbf_snap_leak *leak)
{
    const struct {
        const char *name;
        uint64_t *to;
    } counts[] = {{"p50_seconds", &leak->p50_seconds},
                  {"thread", &leak->thread},
                  {"thread_count", &leak->thread_count},
                  {"references", &leak->references}};
    struct json_object *member;
    unsigned lost = BBF_LOST_UNKNOWN;
    int err = 0;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && err == 0; i++)
        if (json_object_object_get_ex(row, counts[i].name, &member))
            err = bbf__json_take_count(r, place, counts[i].name, member, counts[i].to);
    if (err == 0 && json_object_object_get_ex(row, "lost", &member))
        err = BBF_JSON_TAKE_WORD(r, place, "lost", member, bbf_json_lost, &lost);
    leak->lost = (enum bbf_lost)lost;
    return err;
}

/* leak->node likewise. `path` is not read: it is made from the nodes whenever it is written. */
static int read_leak(struct bbf_json_reader *r, struct json_object *row)
{
    struct bbf_snapshot *s = r->snapshot;
    const struct bbf_json_place place = {"leaks", s->n_leaks};
    struct json_object *member;
    unsigned verdict = 0, memory = 0;
    int err = 0;

    struct bbf_snap_leak *leaks =
        bbf__json_grow(s->leaks, s->n_leaks, &r->leaks_cap, sizeof *leaks);
    if (leaks == NULL)
        return BBF_ENOMEM;
    s->leaks = leaks;
    struct bbf_snap_leak *leak = &leaks[s->n_leaks++];
    member = bbf__json_member_of(r, &place, row, "node", &err);
    if (err == 0)
        err = bbf__json_take_id(r, &place, "node", member, &leak->node);
    member = bbf__json_member_of(r, &place, row, "verdict", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "verdict", member, bbf_json_verdicts, &verdict);
    member = bbf__json_member_of(r, &place, row, "memory", &err);
    if (err == 0)
        err = BBF_JSON_TAKE_WORD(r, &place, "memory", member, bbf_json_memories, &memory);
    member = bbf__json_member_of(r, &place, row, "count", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "count", member, &leak->count);
    member = bbf__json_member_of(r, &place, row, "bytes", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "bytes", member, &leak->bytes);
    member = bbf__json_member_of(r, &place, row, "oldest_seconds", &err);
    if (err == 0)
        err = bbf__json_take_count(r, &place, "oldest_seconds", member, &leak->oldest_seconds);
    if (err == 0)
        err = read_leak_details(r, &place, row, leak);
    leak->verdict = (enum bbf_verdict)verdict;
    leak->memory = (enum bbf_memory)memory;
    return err;
}

/* A row of nodes as bbflow itself writes it; *taken is false where it is another, for json-c. */
static int read_own_node(struct bbf_json_reader *r, bool *taken)
{
    struct bbf_snapshot *s = r->snapshot;

    *taken = false;
    bbf__json_skip_space(r);
    struct bbf_snap_node *nodes =
        bbf__json_grow(s->nodes, s->n_nodes, &r->nodes_cap, sizeof *nodes);
    if (nodes == NULL)
        return BBF_ENOMEM;
    s->nodes = nodes;
    size_t used = bbf_json_node_row(r->text + r->pos, r->len - r->pos, &nodes[s->n_nodes]);
    r->pos += used;
    s->n_nodes += used != 0;
    *taken = used != 0;
    return 0;
}

static int read_row(struct bbf_json_reader *r, const char *name,
                    int (*read)(struct bbf_json_reader *, struct json_object *))
{
    struct json_object *row;
    bool taken = false;
    int err = read == read_node ? read_own_node(r, &taken) : 0;

    if (err != 0 || taken)
        return err;
    err = bbf__json_value(r, &row, name);
    if (err == 0)
        err = json_object_is_type(row, json_type_object)
                  ? read(r, row)
                  : bbf__json_fail(r, r->row_at, "%s: a row that is no object", name);
    json_object_put(row);
    return err;
}

static int read_table(struct bbf_json_reader *r, const char *name,
                      int (*read)(struct bbf_json_reader *, struct json_object *))
{
    char where[32];

    snprintf(where, sizeof where, "within %s", name);
    int err = bbf__json_expect(r, '[', where);

    if (err != 0)
        return err;
    if (bbf__json_peek(r) == ']') {
        r->pos++;
        return 0;
    }
    for (;;) {
        err = read_row(r, name, read);
        if (err != 0)
            return err;
        if (bbf__json_peek(r) != ',')
            return bbf__json_expect(r, ']', where);
        r->pos++;
    }
}

/* ---- the document ---- */

static const struct {
    const char *name;
    int (*read)(struct bbf_json_reader *r, struct json_object *value);
    bool table; /* read() takes a row */
    bool optional;
} members[] = {
    {"schema", bbf__json_read_schema, false, false},
    {"captured_at", bbf__json_read_time, false, false},
    {"jvm", bbf__json_read_jvm, false, false},
    {"settings", bbf__json_read_settings, false, false},
    {"limits", bbf__json_read_limits, false, false},
    {"notes", bbf__json_read_notes, false, false},
    {"totals", bbf__json_read_totals, false, false},
    {"reconciled", bbf__json_read_reconciled, false, true},
    {"cost", bbf__json_read_cost, false, true},
    {"windows", bbf__json_read_windows, false, true},
    {"sites", read_site, true, false},
    {"nodes", read_node, true, false},
    {"threads", read_thread, true, true},
    {"misuse", read_misuse, true, true},
    {"pins", read_pin, true, true},
    {"history", bbf__json_read_history, false, true},
    {"growth", bbf__json_read_growth, true, true},
    {"usage_of", bbf__json_read_usage_of, false, true},
    {"usage", bbf__json_read_usage, true, true},
    {"contexts", bbf__json_read_context, true, true},
    {"allocated_for", read_caller, true, true},
    {"leaks", read_leak, true, false},
};

enum { N_MEMBERS = sizeof members / sizeof members[0] };

/* The value of member `name`; an unknown one is parsed and dropped. */
static int read_member(struct bbf_json_reader *r, const char *name)
{
    struct json_object *value;
    size_t i = 0;

    while (i < N_MEMBERS && strcmp(members[i].name, name) != 0)
        i++;
    if (i < N_MEMBERS) {
        if (r->seen & 1u << i)
            return bbf__json_fail(r, r->pos, "%s is there twice", name);
        r->seen |= 1u << i;
        if (members[i].table)
            return read_table(r, members[i].name, members[i].read);
    }
    int err = bbf__json_value(r, &value, i < N_MEMBERS ? members[i].name : "a member");
    if (err == 0 && i < N_MEMBERS)
        err = members[i].read(r, value);
    json_object_put(value);
    return err;
}

static int read_document(struct bbf_json_reader *r)
{
    struct json_object *name;
    int err = bbf__json_expect(r, '{', "at the start of a snapshot");

    if (err == 0 && bbf__json_peek(r) == '}')
        return bbf__json_fail(r, r->pos, "schema is missing: no bbflow snapshot");
    while (err == 0) {
        if (bbf__json_peek(r) != '"')
            return bbf__json_expect(r, '"', "before the name of a member");
        err = bbf__json_value(r, &name, "the name of a member");
        if (err == 0)
            err = bbf__json_expect(r, ':', "after the name of a member");
        if (err == 0)
            err = read_member(r, json_object_get_string(name));
        json_object_put(name);
        if (err == 0 && bbf__json_peek(r) != ',')
            break;
        r->pos += err == 0;
    }
    if (err == 0)
        err = bbf__json_expect(r, '}', "after a member");
    bbf__json_skip_space(r);
    if (err == 0 && r->pos < r->len)
        err = bbf__json_fail(r, r->pos, "more text after the end of the snapshot");
    for (size_t i = 0; i < N_MEMBERS && err == 0; i++)
        if (!members[i].optional && !(r->seen & 1u << i))
            err = bbf__json_fail(r, r->pos, "%s is missing%s", members[i].name,
                                 i == 0 ? ": no bbflow snapshot" : "");
    return err;
}

static int resolve_callers(struct bbf_json_reader *r, const struct bbf_id_index *sites)
{
    struct bbf_snapshot *s = r->snapshot;

    for (size_t i = 0; i < s->n_callers; i++)
        if (!bbf_id_index_find(sites, s->callers[i].root, &s->callers[i].root) ||
            !bbf_id_index_find(sites, s->callers[i].caller, &s->callers[i].caller))
            return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                  "allocated_for[%zu]: no site has the id of root or caller", i);
    return 0;
}

static int resolve_sites(struct bbf_json_reader *r)
{
    struct bbf_snapshot *s = r->snapshot;
    struct bbf_id_index sites;
    size_t bad = 0;

    int err = bbf_id_index_init(&sites, s->n_sites > 0 ? &s->sites[0].id : NULL, s->n_sites,
                                sizeof s->sites[0], &bad);
    if (err == BBF_EFORMAT)
        return bbf__json_fail(r, BBF_JSON_NOWHERE, "sites[%zu].id: a site before it has the same",
                              bad);
    for (size_t i = 0; i < s->n_nodes && err == 0; i++)
        if (!bbf_id_index_find(&sites, s->nodes[i].site, &s->nodes[i].site))
            err =
                bbf__json_fail(r, BBF_JSON_NOWHERE, "nodes[%zu].site: no site has the id %" PRIu32,
                               i, s->nodes[i].site);
    if (err == 0)
        err = bbf__json_resolve_calls(r, &sites);
    if (err == 0)
        err = resolve_callers(r, &sites);
    bbf_id_index_free(&sites);
    return err;
}

static int resolve_leaks(struct bbf_json_reader *r)
{
    struct bbf_snapshot *s = r->snapshot;
    struct bbf_id_index nodes;
    size_t bad = 0;

    int err = bbf_id_index_init(&nodes, s->n_nodes > 0 ? &s->nodes[0].id : NULL, s->n_nodes,
                                sizeof s->nodes[0], &bad);
    if (err == BBF_EFORMAT)
        return bbf__json_fail(r, BBF_JSON_NOWHERE, "nodes[%zu].id: a node before it has the same",
                              bad);
    for (size_t i = 0; i < s->n_leaks && err == 0; i++)
        if (!bbf_id_index_find(&nodes, s->leaks[i].node, &s->leaks[i].node))
            err =
                bbf__json_fail(r, BBF_JSON_NOWHERE, "leaks[%zu].node: no node has the id %" PRIu32,
                               i, s->leaks[i].node);
    for (size_t i = 0; i < s->n_pins && err == 0; i++)
        if (!bbf_id_index_find(&nodes, s->pins[i].node, &s->pins[i].node))
            err = bbf__json_fail(r, BBF_JSON_NOWHERE, "pins[%zu].node: no node has the id %" PRIu32,
                                 i, s->pins[i].node);
    if (err == 0)
        err = bbf__json_resolve_growth(r, &nodes);
    if (err == 0)
        err = bbf__json_resolve_usage(r, &nodes);
    if (err == 0)
        err = bbf__json_resolve_contexts(r, &nodes);
    bbf_id_index_free(&nodes);
    return err;
}

/* Compare what the document says with what its rows add up to. */
static int compare_sums(struct bbf_json_reader *r, const struct bbf_snap_totals *said,
                        const uint64_t *passed, size_t leaks)
{
    struct bbf_snapshot *s = r->snapshot;

    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].passed_ != passed[i])
            return bbf__json_fail(r, BBF_JSON_NOWHERE,
                                  "nodes[%zu].passed: %" PRIu64 ", but its rows add up to %" PRIu64,
                                  i, passed[i], s->nodes[i].passed_);
#define XX(name)                                                                                   \
    if (said->name##_ != s->totals.name##_)                                                        \
        return bbf__json_fail(r, BBF_JSON_NOWHERE,                                                 \
                              "totals." #name ": %" PRIu64 ", but the nodes add up to %" PRIu64,   \
                              said->name##_, s->totals.name##_);
    BBF_TOTALS(XX)
#undef XX
    if (leaks != s->n_leaks)
        return bbf__json_fail(r, BBF_JSON_NOWHERE,
                              "leaks: does not list each leaked or aged life of the nodes once");
    return 0;
}

static int check_sums(struct bbf_json_reader *r)
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
            bbf__json_fail(r, BBF_JSON_NOWHERE,
                           "nodes[%zu].parent: no node before it has the id %" PRId64, bad,
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
    struct bbf_json_reader r = {.text = text, .len = len, .why = why, .why_size = why_size};
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
