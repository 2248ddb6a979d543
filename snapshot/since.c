/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/since.h"

#include "core/err.h"
#include "snapshot/merge_parts.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

/* Clocks are read one after the other when a document is written. */
enum { SAME_START_MS = 2000 };

struct since {
    struct bbf_snapshot *now;
    const struct bbf_snapshot *before;
    uint32_t *parents_now, *parents_before;
    uint32_t *sites, *nodes; /* of `before`: the index in `now`, NO_ROW */
    uint64_t *count, *bytes; /* by leak row of `now`: what it had before */
    uint64_t *references;
    struct bbf_merge_table by_site, by_node;
};

/* ---- The same count? ------------------------------------------------------------------------- */

/* Was the agent started again, or the counts reset, after `before` was captured? */
static bool began_again(const struct bbf_snapshot *now, const struct bbf_snapshot *before)
{
    const int64_t start = bbf_merge_started_ms(now), other = bbf_merge_started_ms(before);
    const int64_t counted_ms = now->usage_of.seconds < INT64_MAX / 1000
                                   ? (int64_t)now->usage_of.seconds * 1000
                                   : INT64_MAX;

    if (now->jvm.pid != before->jvm.pid || strcmp(now->jvm.main, before->jvm.main) != 0)
        return true;
    if (start != 0 && other != 0 &&
        (start - other > SAME_START_MS || other - start > SAME_START_MS))
        return true;
    if (counted_ms > 0 && now->captured_at_ms - counted_ms > before->captured_at_ms + SAME_START_MS)
        return true;
    return now->captured_at_ms < before->captured_at_ms ||
           now->totals.leaked_ < before->totals.leaked_ ||
           now->totals.leaked_bytes_ < before->totals.leaked_bytes_;
}

/* ---- Rows of both ---------------------------------------------------------------------------- */

static int put_sites(struct since *s)
{
    int err = BBF_OK;

    for (size_t i = 0; i < s->now->n_sites && err == BBF_OK; i++)
        err = bbf_merge_table_put(&s->by_site, bbf_merge_hash_site(&s->now->sites[i]), (uint32_t)i);
    return err;
}

static uint32_t find_site(const struct since *s, const struct bbf_snap_site *site)
{
    const uint64_t hash = bbf_merge_hash_site(site);
    size_t probe = 0;

    for (uint32_t at; (at = bbf_merge_table_next(&s->by_site, hash, &probe)) != NO_ROW;)
        if (bbf_merge_is_same_site(&s->now->sites[at], site))
            return at;
    return NO_ROW;
}

static uint64_t hash_node(uint32_t parent, uint32_t site, uint8_t ref)
{
    const uint32_t key[3] = {parent, site, ref};

    return bbf_merge_hash(0, key, sizeof key);
}

/* Two rows of `now` may have one path only if its sites are listed twice: those count as the first
 * of them, as in bbf_merge_add(). */
static int put_nodes(struct since *s)
{
    int err = BBF_OK;

    for (size_t i = 0; i < s->now->n_nodes && err == BBF_OK; i++) {
        const struct bbf_snap_node *node = &s->now->nodes[i];
        err = bbf_merge_table_put(&s->by_node, hash_node(s->parents_now[i], node->site, node->ref),
                                  (uint32_t)i);
    }
    return err;
}

static uint32_t find_node(const struct since *s, uint32_t parent, uint32_t site, uint8_t ref)
{
    const uint64_t hash = hash_node(parent, site, ref);
    size_t probe = 0;

    for (uint32_t at; (at = bbf_merge_table_next(&s->by_node, hash, &probe)) != NO_ROW;) {
        const struct bbf_snap_node *node = &s->now->nodes[at];
        if (s->parents_now[at] == parent && node->site == site && node->ref == ref)
            return at;
    }
    return NO_ROW;
}

static void map_rows(struct since *s)
{
    for (size_t i = 0; i < s->before->n_sites; i++)
        s->sites[i] = find_site(s, &s->before->sites[i]);
    for (size_t i = 0; i < s->before->n_nodes; i++) {
        const struct bbf_snap_node *node = &s->before->nodes[i];
        const uint32_t parent = s->parents_before[i], site = s->sites[node->site];
        const uint32_t above = parent == BBF_NO_PARENT ? BBF_NO_PARENT : s->nodes[parent];
        s->nodes[i] = site == NO_ROW || (parent != BBF_NO_PARENT && above == NO_ROW)
                          ? NO_ROW
                          : find_node(s, above, site, node->ref);
    }
}

/* ---- The losses ------------------------------------------------------------------------------ */

/* The leak row of `now` at a node, by its key. A linear search of the leaks of one node would need
 * an index; rows are few beside nodes, so they are found through `first`. */
static uint32_t find_leak(const struct bbf_snapshot *now, const uint32_t *first,
                          const uint32_t *next, uint32_t node, const struct bbf_snap_leak *like)
{
    for (uint32_t at = first[node]; at != NO_ROW; at = next[at]) {
        const struct bbf_snap_leak *leak = &now->leaks[at];
        if (leak->verdict == like->verdict && leak->memory == like->memory &&
            leak->lost == like->lost)
            return at;
    }
    return NO_ROW;
}

static void chain_leaks(const struct bbf_snapshot *now, uint32_t *first, uint32_t *next)
{
    for (size_t i = 0; i < now->n_nodes; i++)
        first[i] = NO_ROW;
    for (size_t i = now->n_leaks; i-- > 0;) {
        next[i] = first[now->leaks[i].node];
        first[now->leaks[i].node] = (uint32_t)i;
    }
}

/* What each leak row had before, to s->count and s->bytes. False: a row is gone, or has less. */
static bool gather(struct since *s, const uint32_t *first, const uint32_t *next)
{
    for (size_t i = 0; i < s->before->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &s->before->leaks[i];
        if (leak->verdict != BBF_VERDICT_LEAKED)
            continue;
        const uint32_t node = s->nodes[leak->node];
        const uint32_t at = node == NO_ROW ? NO_ROW : find_leak(s->now, first, next, node, leak);
        if (at == NO_ROW)
            return false;
        s->count[at] += leak->count;
        s->bytes[at] += leak->bytes;
        s->references[at] += leak->references;
        if (s->count[at] > s->now->leaks[at].count || s->bytes[at] > s->now->leaks[at].bytes)
            return false;
    }
    return true;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void subtract(struct since *s)
{
    for (size_t i = 0; i < s->now->n_leaks; i++) {
        struct bbf_snap_leak *leak = &s->now->leaks[i];
        struct bbf_snap_node *node = &s->now->nodes[leak->node];
        leak->count -= s->count[i];
        leak->bytes -= s->bytes[i];
        leak->references = less(leak->references, s->references[i]);
        if (leak->thread_count > leak->count)
            leak->thread_count = leak->count;
        node->leaked_ = less(node->leaked_, s->count[i]);
        node->leaked_bytes_ = less(node->leaked_bytes_, s->bytes[i]);
    }
}

static int subtract_losses(struct since *s, bool *restarted)
{
    uint32_t *first = calloc(s->now->n_nodes + 1, sizeof *first);
    uint32_t *next = calloc(s->now->n_leaks + 1, sizeof *next);
    int err = first != NULL && next != NULL ? BBF_OK : BBF_ENOMEM;

    if (err == BBF_OK) {
        chain_leaks(s->now, first, next);
        *restarted = !gather(s, first, next);
        if (!*restarted) {
            subtract(s);
            err = bbf_snapshot_finish(s->now);
        }
    }
    free(first);
    free(next);
    return err;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int run(struct since *s, bool *restarted)
{
    int err = bbf_snapshot_check(s->before);

    if (err == BBF_OK)
        err = bbf_snapshot_parents(s->now, s->parents_now, NULL);
    if (err == BBF_OK)
        err = bbf_snapshot_parents(s->before, s->parents_before, NULL);
    if (err == BBF_OK)
        err = put_sites(s);
    if (err == BBF_OK)
        err = put_nodes(s);
    if (err != BBF_OK)
        return err;
    map_rows(s);
    return subtract_losses(s, restarted);
}

int bbf_snapshot_since(struct bbf_snapshot *now, const struct bbf_snapshot *before, bool *restarted)
{
    struct since s = {.now = now, .before = before};

    *restarted = began_again(now, before);
    if (*restarted)
        return BBF_OK;
    s.parents_now = calloc(now->n_nodes + 1, sizeof *s.parents_now);
    s.parents_before = calloc(before->n_nodes + 1, sizeof *s.parents_before);
    s.sites = calloc(before->n_sites + 1, sizeof *s.sites);
    s.nodes = calloc(before->n_nodes + 1, sizeof *s.nodes);
    s.count = calloc(now->n_leaks + 1, sizeof *s.count);
    s.bytes = calloc(now->n_leaks + 1, sizeof *s.bytes);
    s.references = calloc(now->n_leaks + 1, sizeof *s.references);
    const bool all = s.parents_now != NULL && s.parents_before != NULL && s.sites != NULL &&
                     s.nodes != NULL && s.count != NULL && s.bytes != NULL && s.references != NULL;
    int err = all ? run(&s, restarted) : BBF_ENOMEM;
    free(s.parents_now);
    free(s.parents_before);
    free(s.sites);
    free(s.nodes);
    free(s.count);
    free(s.bytes);
    free(s.references);
    bbf_merge_table_free(&s.by_site);
    bbf_merge_table_free(&s.by_node);
    return err;
}
