/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/merge_parts.h"

#include "core/err.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

/* One snapshot's rows: the index of each in the result. */
struct map {
    struct bbf_merge *m;
    const struct bbf_snapshot *from;
    uint32_t *sites, *nodes;
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return bbf_merge_hash(hash, text, strlen(text) + 1);
}

static char *copy(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

uint64_t bbf_merge_hash_site(const struct bbf_snap_site *site)
{
    uint64_t hash = hash_text((uint64_t)site->kind, site->class_name);

    hash = hash_text(hash, site->method);
    hash = hash_text(hash, site->descriptor);
    return hash_text(hash, site->enclosing != NULL ? site->enclosing : "");
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool bbf_merge_is_same_site(const struct bbf_snap_site *a, const struct bbf_snap_site *b)
{
    return a->kind == b->kind && strcmp(a->method, b->method) == 0 &&
           strcmp(a->class_name, b->class_name) == 0 && strcmp(a->descriptor, b->descriptor) == 0 &&
           is_same_text(a->enclosing, b->enclosing);
}

static int copy_throws(struct bbf_snap_site *to, const struct bbf_snap_site *from)
{
    if (to->n_throws > 0 || from->n_throws == 0)
        return BBF_OK;
    to->throws = calloc(from->n_throws, sizeof *to->throws);
    if (to->throws == NULL)
        return BBF_ENOMEM;
    to->n_throws = from->n_throws;
    to->more_throws = from->more_throws;
    for (uint32_t i = 0; i < from->n_throws; i++) {
        to->throws[i] = (struct bbf_snap_throw){
            from->throws[i].line, copy(from->throws[i].class_name), copy(from->throws[i].method)};
        if (to->throws[i].class_name == NULL || to->throws[i].method == NULL)
            return BBF_ENOMEM;
    }
    return BBF_OK;
}

static int new_site(struct bbf_merge *m, const struct bbf_snap_site *from, uint64_t hash,
                    uint32_t *at)
{
    struct bbf_snapshot *to = m->to;
    void *rows = to->sites;

    if (bbf_merge_room(&rows, &m->room_sites, to->n_sites, 1, sizeof *to->sites) != BBF_OK)
        return BBF_ENOMEM;
    to->sites = rows;
    *at = (uint32_t)to->n_sites++;
    struct bbf_snap_site *site = &to->sites[*at];
    *site = (struct bbf_snap_site){.id = *at,
                                   .class_name = copy(from->class_name),
                                   .method = copy(from->method),
                                   .descriptor = copy(from->descriptor),
                                   .kind = from->kind,
                                   .line = from->line,
                                   .enclosing = copy(from->enclosing),
                                   .order = from->order,
                                   .parameter = from->parameter};
    if (site->class_name == NULL || site->method == NULL || site->descriptor == NULL ||
        (from->enclosing != NULL && site->enclosing == NULL))
        return BBF_ENOMEM;
    int err = copy_throws(site, from);
    return err == BBF_OK ? bbf_merge_table_put(&m->sites, hash, *at) : err;
}

/* What two builds know differently of a method is not known of both; a line is the first one's. */
static int known_site(struct bbf_merge *m, struct bbf_snap_site *site,
                      const struct bbf_snap_site *from)
{
    if (site->line == 0)
        site->line = from->line;
    else if (from->line != 0 && from->line != site->line)
        m->other_lines++;
    if (site->parameter != from->parameter)
        site->parameter = 0;
    return copy_throws(site, from);
}

static int merge_site(struct bbf_merge *m, const struct bbf_snap_site *from, uint32_t *at)
{
    uint64_t hash = bbf_merge_hash_site(from);
    size_t probe = 0;

    while ((*at = bbf_merge_table_next(&m->sites, hash, &probe)) != NO_ROW)
        if (bbf_merge_is_same_site(&m->to->sites[*at], from))
            return known_site(m, &m->to->sites[*at], from);
    return new_site(m, from, hash, at);
}

static int compare_indexes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The union of the called methods, ascending. */
static int merge_calls(const struct map *map, size_t i)
{
    const struct bbf_snap_site *from = &map->from->sites[i];
    struct bbf_snap_site *site = &map->m->to->sites[map->sites[i]];
    uint32_t kept = 0;

    if (from->n_calls == 0)
        return BBF_OK;
    uint32_t *calls =
        reallocarray(site->calls, (size_t)site->n_calls + from->n_calls, sizeof *calls);
    if (calls == NULL)
        return BBF_ENOMEM;
    site->calls = calls;
    for (uint32_t k = 0; k < from->n_calls; k++)
        calls[site->n_calls + k] = map->sites[from->calls[k]];
    uint32_t n = site->n_calls + from->n_calls;
    qsort(calls, n, sizeof *calls, compare_indexes);
    for (uint32_t k = 0; k < n; k++)
        if (kept == 0 || calls[kept - 1] != calls[k])
            calls[kept++] = calls[k];
    site->n_calls = kept;
    return BBF_OK;
}

static int merge_sites(const struct map *map)
{
    int err = BBF_OK;

    for (size_t i = 0; i < map->from->n_sites && err == BBF_OK; i++)
        err = merge_site(map->m, &map->from->sites[i], &map->sites[i]);
    for (size_t i = 0; i < map->from->n_sites && err == BBF_OK; i++)
        err = merge_calls(map, i);
    return err;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void add_node(struct bbf_snap_node *to, const struct bbf_snap_node *from)
{
    to->loop = to->loop || from->loop;
#define XX(name) to->name##_ += from->name##_;
    BBF_NODE_COLUMNS(XX)
#undef XX
}

static int new_node(struct bbf_merge *m, const struct bbf_snap_node *like, uint32_t parent,
                    uint32_t site, uint64_t hash, uint32_t *at)
{
    struct bbf_snapshot *to = m->to;
    size_t room = m->room_nodes;
    void *rows = to->nodes, *parents = m->parents;

    int err = bbf_merge_room(&rows, &room, to->n_nodes, 1, sizeof *to->nodes);
    to->nodes = rows;
    if (err == BBF_OK)
        err = bbf_merge_room(&parents, &m->room_nodes, to->n_nodes, 1, sizeof *m->parents);
    m->parents = parents;
    if (err != BBF_OK)
        return err;
    *at = (uint32_t)to->n_nodes++;
    to->nodes[*at] =
        (struct bbf_snap_node){.id = *at,
                               .parent = parent == BBF_NO_PARENT ? -1 : (int64_t)parent,
                               .site = site,
                               .ref = like->ref};
    m->parents[*at] = parent;
    return bbf_merge_table_put(&m->nodes, hash, *at);
}

static int merge_node(const struct map *map, const struct bbf_snap_node *from, uint32_t parent,
                      uint32_t *at)
{
    struct bbf_merge *m = map->m;
    const uint32_t key[3] = {parent, map->sites[from->site], from->ref};
    uint64_t hash = bbf_merge_hash(0, key, sizeof key);
    size_t probe = 0;

    while ((*at = bbf_merge_table_next(&m->nodes, hash, &probe)) != NO_ROW) {
        const struct bbf_snap_node *node = &m->to->nodes[*at];
        if (m->parents[*at] == parent && node->site == key[1] && node->ref == from->ref)
            break;
    }
    if (*at == NO_ROW) {
        if (m->to->n_nodes + 1 >= UINT32_MAX)
            return BBF_ENOMEM;
        int err = new_node(m, from, parent, key[1], hash, at);
        if (err != BBF_OK)
            return err;
    }
    add_node(&m->to->nodes[*at], from);
    return BBF_OK;
}

static int merge_nodes(const struct map *map, const uint32_t *parents)
{
    int err = BBF_OK;

    for (size_t i = 0; i < map->from->n_nodes && err == BBF_OK; i++)
        err = merge_node(map, &map->from->nodes[i],
                         parents[i] == BBF_NO_PARENT ? BBF_NO_PARENT : map->nodes[parents[i]],
                         &map->nodes[i]);
    return err;
}

/* ---- Rows of nodes: bbf_snapshot_finish() joins those of one node ---------------------------- */

/* Ids of threads mean nothing in another JVM: threads of one name become one. */
static int merge_thread(const struct map *map, uint64_t id, uint64_t *merged)
{
    struct bbf_merge *m = map->m;
    const char *name = id != 0 ? bbf_snapshot_thread(map->from, id) : NULL;
    size_t probe = 0;

    *merged = 0;
    if (name == NULL) {
        m->ended_threads += id != 0;
        return BBF_OK;
    }
    uint64_t hash = hash_text(0, name);
    for (uint32_t row; (row = bbf_merge_table_next(&m->threads, hash, &probe)) != NO_ROW;)
        if (strcmp(m->to->threads[row].name, name) == 0) {
            *merged = m->to->threads[row].id;
            return BBF_OK;
        }
    *merged = m->to->n_threads + 1; /* ascending, so a row's number is its id - 1 */
    int err = bbf_snapshot_add_thread(m->to, *merged, name);
    return err == BBF_OK ? bbf_merge_table_put(&m->threads, hash, (uint32_t)*merged - 1) : err;
}

static int merge_leaks(const struct map *map)
{
    struct bbf_snapshot *to = map->m->to;
    void *rows = to->leaks;
    int err = bbf_merge_room(&rows, &map->m->room_leaks, to->n_leaks, map->from->n_leaks,
                             sizeof *to->leaks);

    to->leaks = rows;
    for (size_t i = 0; i < map->from->n_leaks && err == BBF_OK; i++) {
        struct bbf_snap_leak *leak = &to->leaks[to->n_leaks];
        *leak = map->from->leaks[i];
        leak->node = map->nodes[leak->node];
        err = merge_thread(map, leak->thread, &leak->thread);
        leak->thread_count = leak->thread != 0 ? leak->thread_count : 0;
        to->n_leaks++;
    }
    return err;
}

static int merge_pins(const struct map *map)
{
    struct bbf_snapshot *to = map->m->to;
    void *rows = to->pins;
    int err =
        bbf_merge_room(&rows, &map->m->room_pins, to->n_pins, map->from->n_pins, sizeof *to->pins);

    to->pins = rows;
    for (size_t i = 0; i < map->from->n_pins && err == BBF_OK; i++) {
        to->pins[to->n_pins] = map->from->pins[i];
        to->pins[to->n_pins].node = map->nodes[map->from->pins[i].node];
        to->n_pins++;
    }
    return err;
}

static int merge_growth(const struct map *map)
{
    struct bbf_snapshot *to = map->m->to;
    void *rows = to->growth;
    int err = bbf_merge_room(&rows, &map->m->room_growth, to->n_growth, map->from->n_growth,
                             sizeof *to->growth);

    to->growth = rows;
    for (size_t i = 0; i < map->from->n_growth && err == BBF_OK; i++) {
        const struct bbf_snap_growth *from = &map->from->growth[i];
        struct bbf_snap_growth *row = &to->growth[to->n_growth];
        *row = *from;
        row->node = map->nodes[from->node];
        row->at = calloc((size_t)from->n + 1, sizeof *row->at);
        if (row->at == NULL)
            return BBF_ENOMEM;
        if (from->n > 0)
            memcpy(row->at, from->at, from->n * sizeof *row->at);
        to->n_growth++;
    }
    return err;
}

static int merge_contexts(const struct map *map)
{
    struct bbf_snapshot *to = map->m->to;
    void *rows = to->contexts;
    int err = bbf_merge_room(&rows, &map->m->room_contexts, to->n_contexts, map->from->n_contexts,
                             sizeof *to->contexts);

    to->contexts = rows;
    for (size_t i = 0; i < map->from->n_contexts && err == BBF_OK; i++) {
        struct bbf_snap_context *row = &to->contexts[to->n_contexts++];
        err = bbf_snap_context_copy(row, &map->from->contexts[i]);
        row->node = map->nodes[row->node];
    }
    return err;
}

/* Of one snapshot: bbf_merge_finish_head() leaves them out if there are several. */
static int merge_usage(const struct map *map)
{
    struct bbf_snapshot *to = map->m->to;
    void *rows = to->usage;
    int err = bbf_merge_room(&rows, &map->m->room_usage, to->n_usage, map->from->n_usage,
                             sizeof *to->usage);

    to->usage = rows;
    for (size_t i = 0; i < map->from->n_usage && err == BBF_OK; i++) {
        to->usage[to->n_usage] = map->from->usage[i];
        to->usage[to->n_usage].node = map->nodes[map->from->usage[i].node];
        to->n_usage++;
    }
    return err;
}

static int merge_caller(const struct map *map, const struct bbf_snap_caller *from)
{
    struct bbf_snapshot *to = map->m->to;
    const uint32_t root = map->sites[from->root], caller = map->sites[from->caller];
    const uint32_t key[3] = {root, caller, from->kind};
    uint64_t hash = bbf_merge_hash(0, key, sizeof key);
    size_t probe = 0;
    void *rows = to->callers;

    for (uint32_t i; (i = bbf_merge_table_next(&map->m->callers, hash, &probe)) != NO_ROW;) {
        struct bbf_snap_caller *row = &to->callers[i];
        if (row->root == root && row->caller == caller && row->kind == from->kind) {
            row->sampled += from->sampled;
            row->leaked += from->leaked;
            return BBF_OK;
        }
    }
    if (bbf_merge_room(&rows, &map->m->room_callers, to->n_callers, 1, sizeof *to->callers) !=
        BBF_OK)
        return BBF_ENOMEM;
    to->callers = rows;
    to->callers[to->n_callers++] =
        (struct bbf_snap_caller){root, caller, from->kind, from->sampled, from->leaked};
    return bbf_merge_table_put(&map->m->callers, hash, (uint32_t)to->n_callers - 1);
}

/* ---- Uses after release ---------------------------------------------------------------------- */

static bool is_same_list(char *const *a, size_t n_a, char *const *b, size_t n_b)
{
    bool same = n_a == n_b;

    for (size_t i = 0; i < n_a && same; i++)
        same = strcmp(a[i], b[i]) == 0;
    return same;
}

static uint64_t hash_misuse(const struct bbf_snap_misuse *row)
{
    uint64_t hash = (uint64_t)row->use;

    for (size_t i = 0; i < row->n_path; i++)
        hash = hash_text(hash, row->path[i]);
    hash = hash_text(hash, "");
    for (size_t i = 0; i < row->n_used_by; i++)
        hash = hash_text(hash, row->used_by[i]);
    return hash;
}

static int copy_list(char ***to, size_t *n, char *const *from, size_t count)
{
    int err = BBF_OK;

    for (size_t i = 0; i < count && err == BBF_OK; i++)
        err = bbf_snapshot_add_text(to, n, from[i]);
    return err;
}

static int new_misuse(const struct map *map, const struct bbf_snap_misuse *from, uint64_t hash)
{
    struct bbf_merge *m = map->m;
    struct bbf_snapshot *to = m->to;
    void *rows = to->misuses;

    if (bbf_merge_room(&rows, &m->room_misuses, to->n_misuses, 1, sizeof *to->misuses) != BBF_OK)
        return BBF_ENOMEM;
    to->misuses = rows;
    struct bbf_snap_misuse *row = &to->misuses[to->n_misuses++];
    *row = (struct bbf_snap_misuse){.use = from->use, .count = from->count};
    int err = copy_list(&row->path, &row->n_path, from->path, from->n_path);
    if (err == BBF_OK)
        err = copy_list(&row->used_by, &row->n_used_by, from->used_by, from->n_used_by);
    if (err == BBF_OK)
        err = merge_thread(map, from->released_thread, &row->released_thread);
    if (err == BBF_OK)
        err = merge_thread(map, from->used_thread, &row->used_thread);
    return err == BBF_OK ? bbf_merge_table_put(&m->misuses, hash, (uint32_t)to->n_misuses - 1)
                         : err;
}

static int merge_misuse(const struct map *map, const struct bbf_snap_misuse *from)
{
    uint64_t hash = hash_misuse(from);
    size_t probe = 0;

    for (uint32_t at; (at = bbf_merge_table_next(&map->m->misuses, hash, &probe)) != NO_ROW;) {
        struct bbf_snap_misuse *row = &map->m->to->misuses[at];
        if (row->use == from->use &&
            is_same_list(row->path, row->n_path, from->path, from->n_path) &&
            is_same_list(row->used_by, row->n_used_by, from->used_by, from->n_used_by)) {
            row->count += from->count;
            return BBF_OK;
        }
    }
    return new_misuse(map, from, hash);
}

/* ---- All rows -------------------------------------------------------------------------------- */

static int merge_others(const struct map *map)
{
    int err = merge_leaks(map);

    if (err == BBF_OK)
        err = merge_pins(map);
    if (err == BBF_OK)
        err = merge_growth(map);
    if (err == BBF_OK)
        err = merge_contexts(map);
    if (err == BBF_OK)
        err = merge_usage(map);
    for (size_t i = 0; i < map->from->n_callers && err == BBF_OK; i++)
        err = merge_caller(map, &map->from->callers[i]);
    for (size_t i = 0; i < map->from->n_misuses && err == BBF_OK; i++)
        err = merge_misuse(map, &map->from->misuses[i]);
    return err;
}

int bbf_merge_rows(struct bbf_merge *m, const struct bbf_snapshot *from, const uint32_t *parents)
{
    struct map map = {.m = m,
                      .from = from,
                      .sites = calloc(from->n_sites + 1, sizeof *map.sites),
                      .nodes = calloc(from->n_nodes + 1, sizeof *map.nodes)};
    int err = map.sites != NULL && map.nodes != NULL ? BBF_OK : BBF_ENOMEM;

    if (err == BBF_OK)
        err = merge_sites(&map);
    if (err == BBF_OK)
        err = merge_nodes(&map, parents);
    if (err == BBF_OK)
        err = merge_others(&map);
    free(map.sites);
    free(map.nodes);
    return err;
}
