/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/merge.h"

#include "core/err.h"
#include "snapshot/merge_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAME_START_MS = 2000, TEXT_MAX = 1024 };

/* ---- Tables ---------------------------------------------------------------------------------- */

uint32_t bbf_merge_table_next(const struct bbf_merge_table *table, uint64_t hash, size_t *at)
{
    for (; *at < table->size; ++*at) {
        size_t slot = (size_t)(hash + *at) & (table->size - 1);
        if (table->rows[slot] == 0)
            break;
        if (table->hashes[slot] == hash) {
            ++*at;
            return table->rows[slot] - 1;
        }
    }
    return UINT32_MAX;
}

static void put(struct bbf_merge_table *table, uint64_t hash, uint32_t row)
{
    size_t slot = (size_t)hash & (table->size - 1);

    while (table->rows[slot] != 0)
        slot = (slot + 1) & (table->size - 1);
    table->rows[slot] = row;
    table->hashes[slot] = hash;
    table->used++;
}

static int grow(struct bbf_merge_table *table)
{
    struct bbf_merge_table larger = {.size = table->size == 0 ? 64 : table->size * 2};

    larger.rows = calloc(larger.size, sizeof *larger.rows);
    larger.hashes = calloc(larger.size, sizeof *larger.hashes);
    if (larger.rows == NULL || larger.hashes == NULL) {
        bbf_merge_table_free(&larger);
        return BBF_ENOMEM;
    }
    for (size_t i = 0; i < table->size; i++)
        if (table->rows[i] != 0)
            put(&larger, table->hashes[i], table->rows[i]);
    bbf_merge_table_free(table);
    *table = larger;
    return BBF_OK;
}

int bbf_merge_table_put(struct bbf_merge_table *table, uint64_t hash, uint32_t row)
{
    if (2 * (table->used + 1) > table->size && grow(table) != BBF_OK)
        return BBF_ENOMEM;
    put(table, hash, row + 1);
    return BBF_OK;
}

void bbf_merge_table_free(struct bbf_merge_table *table)
{
    free(table->rows);
    free(table->hashes);
    *table = (struct bbf_merge_table){.size = 0};
}

int bbf_merge_room(void **rows, size_t *room, size_t n, size_t more, size_t size)
{
    if (n + more <= *room)
        return BBF_OK;
    size_t wanted = n + more > 2 * *room ? n + more : 2 * *room;
    void *grown = reallocarray(*rows, wanted, size);
    if (grown == NULL)
        return BBF_ENOMEM;
    *rows = grown;
    *room = wanted;
    return BBF_OK;
}

int bbf_merge_add_text(struct bbf_merge_texts *texts, const char *text, const char *name)
{
    uint64_t hash = bbf_merge_hash(0, text, strlen(text));
    size_t at = 0;
    void *items = texts->items;

    for (uint32_t row; (row = bbf_merge_table_next(&texts->by_text, hash, &at)) != UINT32_MAX;)
        if (strcmp(texts->items[row].text, text) == 0) {
            texts->items[row].snapshots++;
            return BBF_OK;
        }
    if (bbf_merge_room(&items, &texts->room, texts->n, 1, sizeof *texts->items) != BBF_OK)
        return BBF_ENOMEM;
    texts->items = items;
    struct bbf_merge_text *one = &texts->items[texts->n];
    *one = (struct bbf_merge_text){strdup(text), strdup(name), 1};
    if (one->text == NULL || one->first == NULL) {
        free(one->text);
        free(one->first);
        return BBF_ENOMEM;
    }
    return bbf_merge_table_put(&texts->by_text, hash, (uint32_t)texts->n++);
}

/* ---- The same JVM twice ---------------------------------------------------------------------- */

static int64_t started_ms(const struct bbf_snapshot *s)
{
    return s->cost.measured
               ? s->captured_at_ms - (int64_t)(s->cost.since_start.elapsed_ns_ / 1000000)
               : 0;
}

static bool is_same_program(const struct bbf_merge_source *source, const struct bbf_snapshot *s)
{
    return source->pid == s->jvm.pid &&
           strcmp(source->main, s->jvm.main != NULL ? s->jvm.main : "") == 0;
}

/* Containers have the same process id in each JVM: only the counts tell two such snapshots of one
 * millisecond apart. */
static bool is_same_snapshot(const struct bbf_merge_source *source, const struct bbf_snapshot *s)
{
    return is_same_program(source, s) && source->captured_at_ms == s->captured_at_ms &&
           memcmp(&source->totals, &s->totals, sizeof s->totals) == 0;
}

/* Two snapshots of one JVM, as far as its start shows: the later one has the earlier one's lives.
 */
static int note_same_jvm(struct bbf_merge *m, const struct bbf_merge_source *source,
                         const struct bbf_merge_source *other)
{
    char text[TEXT_MAX];
    int64_t apart = source->started_ms - other->started_ms;

    if (source->started_ms == 0 || other->started_ms == 0 || apart > SAME_START_MS ||
        apart < -SAME_START_MS)
        return BBF_OK;
    snprintf(text, sizeof text,
             "%.300s and %.300s have the same process id (%" PRId64
             "), main class and start: if they are "
             "one JVM at two times, lives are counted twice; merge only the later one",
             other->name, source->name, source->pid);
    return bbf_snapshot_add_text(&m->to->notes, &m->to->n_notes, text);
}

static int add_source(struct bbf_merge *m, const struct bbf_snapshot *s, const char *name)
{
    struct bbf_merge_source *sources =
        reallocarray(m->sources, m->n_sources + 1, sizeof *m->sources);

    if (sources == NULL)
        return BBF_ENOMEM;
    m->sources = sources;
    struct bbf_merge_source *source = &sources[m->n_sources++];
    *source = (struct bbf_merge_source){.name = strdup(name),
                                        .main = strdup(s->jvm.main != NULL ? s->jvm.main : ""),
                                        .pid = s->jvm.pid,
                                        .captured_at_ms = s->captured_at_ms,
                                        .started_ms = started_ms(s),
                                        .totals = s->totals};
    if (source->name == NULL || source->main == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i + 1 < m->n_sources; i++)
        if (is_same_program(&sources[i], s))
            return note_same_jvm(m, source, &sources[i]);
    return BBF_OK;
}

/* ---- The merge ------------------------------------------------------------------------------- */

struct bbf_merge *bbf_merge_new(void)
{
    struct bbf_merge *m = calloc(1, sizeof *m);

    if (m != NULL)
        m->to = bbf_snapshot_new();
    if (m != NULL && m->to == NULL) {
        free(m);
        return NULL;
    }
    return m;
}

static void free_texts(struct bbf_merge_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++) {
        free(texts->items[i].text);
        free(texts->items[i].first);
    }
    free(texts->items);
    bbf_merge_table_free(&texts->by_text);
}

void bbf_merge_free(struct bbf_merge *m)
{
    if (m == NULL)
        return;
    bbf_snapshot_free(m->to);
    for (size_t i = 0; i < m->n_sources; i++) {
        free(m->sources[i].name);
        free(m->sources[i].main);
    }
    free(m->sources);
    for (size_t i = 0; i < m->n_settings; i++) {
        free(m->settings[i].name);
        free(m->settings[i].value);
        free(m->settings[i].first);
        free(m->settings[i].other);
        free(m->settings[i].other_in);
    }
    free(m->settings);
    free(m->parents);
    bbf_merge_table_free(&m->sites);
    bbf_merge_table_free(&m->nodes);
    bbf_merge_table_free(&m->misuses);
    bbf_merge_table_free(&m->threads);
    free_texts(&m->notes);
    free_texts(&m->causes);
    free_texts(&m->netty);
    free_texts(&m->map_mode);
    free_texts(&m->versions);
    free_texts(&m->mains);
    free(m);
}

int bbf_merge_add(struct bbf_merge *m, const struct bbf_snapshot *from, const char *name,
                  const char **of)
{
    for (size_t i = 0; i < m->n_sources; i++)
        if (is_same_snapshot(&m->sources[i], from)) {
            if (of != NULL)
                *of = m->sources[i].name;
            return BBF_EREFUSED;
        }
    int err = bbf_snapshot_check(from);
    uint32_t *parents = calloc(from->n_nodes + 1, sizeof *parents);
    if (err == BBF_OK && parents == NULL)
        err = BBF_ENOMEM;
    if (err == BBF_OK)
        err = bbf_snapshot_parents(from, parents, NULL);
    if (err == BBF_OK)
        err = add_source(m, from, name);
    if (err == BBF_OK)
        err = bbf_merge_head(m, from, name);
    if (err == BBF_OK)
        err = bbf_merge_rows(m, from, parents);
    free(parents);
    return err;
}

int bbf_merge_end(struct bbf_merge *m, struct bbf_snapshot **out)
{
    int err = bbf_merge_finish_head(m);

    if (err == BBF_OK)
        err = bbf_snapshot_finish(m->to);
    if (err != BBF_OK)
        return err;
    *out = m->to;
    m->to = NULL;
    return BBF_OK;
}
