/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/merge.h"

#include "core/err.h"
#include "snapshot/merge_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAME_START_MS = 2000, TEXT_MAX = 1024 };

/* ---- The same JVM twice ---------------------------------------------------------------------- */

int64_t bbf_merge_started_ms(const struct bbf_snapshot *s)
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
                                        .started_ms = bbf_merge_started_ms(s),
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
    bbf_merge_table_free(&m->callers);
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
