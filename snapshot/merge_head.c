/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/merge_parts.h"

#include "core/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_MAX = 1024 };

__attribute__((format(printf, 2, 3))) static int note(struct bbf_merge *m, const char *format, ...)
{
    char text[NOTE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return bbf_snapshot_add_text(&m->to->notes, &m->to->n_notes, text);
}

/* ---- Settings and limits --------------------------------------------------------------------- */

static struct bbf_merge_setting *find_setting(struct bbf_merge *m, const char *name)
{
    for (size_t i = 0; i < m->n_settings; i++)
        if (strcmp(m->settings[i].name, name) == 0)
            return &m->settings[i];
    return NULL;
}

static int add_setting(struct bbf_merge *m, const struct bbf_snap_pair *pair, const char *name)
{
    struct bbf_merge_setting *setting = find_setting(m, pair->name);

    if (setting != NULL) {
        setting->snapshots++;
        if (setting->other == NULL && strcmp(setting->value, pair->value) != 0) {
            setting->other = strdup(pair->value);
            setting->other_in = strdup(name);
            return setting->other != NULL && setting->other_in != NULL ? BBF_OK : BBF_ENOMEM;
        }
        return BBF_OK;
    }
    setting = reallocarray(m->settings, m->n_settings + 1, sizeof *m->settings);
    if (setting == NULL)
        return BBF_ENOMEM;
    m->settings = setting;
    setting = &m->settings[m->n_settings++];
    *setting = (struct bbf_merge_setting){.name = strdup(pair->name),
                                          .value = strdup(pair->value),
                                          .first = strdup(name),
                                          .snapshots = 1};
    return setting->name != NULL && setting->value != NULL && setting->first != NULL ? BBF_OK
                                                                                     : BBF_ENOMEM;
}

/* Is it in some of the snapshots only, as one that an older bbflow does not have? */
static bool is_missing(const struct bbf_merge *m, const struct bbf_merge_setting *one)
{
    return one->other == NULL && one->snapshots < m->n_sources;
}

/* One note of all of these settings: two versions of bbflow can differ in many. */
static int note_missing(struct bbf_merge *m)
{
    char names[NOTE_MAX / 2] = "";
    const struct bbf_merge_setting *first = NULL;
    size_t n = 0, len = 0;

    for (size_t i = 0; i < m->n_settings; i++) {
        const struct bbf_merge_setting *one = &m->settings[i];
        if (!is_missing(m, one))
            continue;
        first = n++ == 0 ? one : first;
        int added = len < sizeof names ? snprintf(names + len, sizeof names - len, "%s%.60s",
                                                  n > 1 ? ", " : "", one->name)
                                       : 0;
        len += added > 0 ? (size_t)added : 0;
    }
    if (n == 0)
        return BBF_OK;
    if (n == 1)
        return note(m, "%.100s=%.300s is set in %" PRIu32 " of %zu snapshots, as %.200s",
                    first->name, first->value, first->snapshots, m->n_sources, first->first);
    return note(m,
                "%zu settings are in some of the %zu snapshots only, as of different versions of "
                "bbflow: %s%s",
                n, m->n_sources, names, len < sizeof names ? "" : "…");
}

/* A setting that is one value everywhere is the result's; the others are only in notes. */
static int finish_settings(struct bbf_merge *m)
{
    struct bbf_snapshot *to = m->to;
    int err = BBF_OK;

    to->settings = calloc(m->n_settings + 1, sizeof *to->settings);
    if (to->settings == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < m->n_settings && err == BBF_OK; i++) {
        struct bbf_merge_setting *one = &m->settings[i];
        if (one->other != NULL) {
            err = note(m, "%.100s= differs: %.200s in %.200s, %.200s in %.200s", one->name,
                       one->value, one->first, one->other, one->other_in);
        } else if (!is_missing(m, one)) {
            to->settings[to->n_settings++] = (struct bbf_snap_pair){one->name, one->value};
            one->name = one->value = NULL;
        }
    }
    return err == BBF_OK ? note_missing(m) : err;
}

/* Use of a limit does not add up over JVMs, so the largest is kept; how often it was reached does.
 */
static int add_limit(struct bbf_merge *m, const struct bbf_snap_limit *limit)
{
    struct bbf_snapshot *to = m->to;

    for (size_t i = 0; i < to->n_limits; i++) {
        struct bbf_snap_limit *row = &to->limits[i];
        if (strcmp(row->name, limit->name) != 0)
            continue;
        m->limits_differ = m->limits_differ || row->limit != limit->limit;
        row->used = limit->used > row->used ? limit->used : row->used;
        row->limit = limit->limit > row->limit ? limit->limit : row->limit;
        row->hit += limit->hit;
        return BBF_OK;
    }
    struct bbf_snap_limit *limits = reallocarray(to->limits, to->n_limits + 1, sizeof *limits);
    if (limits == NULL)
        return BBF_ENOMEM;
    to->limits = limits;
    limits[to->n_limits] = *limit;
    limits[to->n_limits].name = strdup(limit->name);
    return limits[to->n_limits].name != NULL ? (to->n_limits++, BBF_OK) : BBF_ENOMEM;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

/* bbf_snapshot_finish() sums the columns again, from the rows. */
static void add_totals(struct bbf_merge *m, const struct bbf_snapshot *from)
{
    struct bbf_snap_totals *to = &m->to->totals;
    uint64_t sampled = to->sampled_;

    m->rates_differ = m->rates_differ || (m->sampled > 0 && from->totals.sampled_ != 0 &&
                                          from->totals.sampled_ != sampled);
    if (from->totals.sampled_ != 0)
        m->sampled++;
    else
        m->exact++;
    sampled = from->totals.sampled_ > sampled ? from->totals.sampled_ : sampled;
#define XX(name) to->name##_ += from->totals.name##_;
    BBF_TOTALS(XX)
#undef XX
    to->sampled_ = sampled;
#define XX(name) m->to->since_start.name##_ += from->since_start.name##_;
    BBF_SINCE_START(XX)
#undef XX
    m->to->folded_rows += from->folded_rows;
}

/* ---- Netty's own numbers --------------------------------------------------------------------- */

/* A sum of which a part is not known is not known. */
static void add_known(uint64_t *to, uint64_t from)
{
    *to = *to == BBF_NOT_TOLD || from == BBF_NOT_TOLD ? BBF_NOT_TOLD : *to + from;
}

static int add_pool(struct bbf_snap_reconciled *to, const struct bbf_snap_pool *from)
{
    for (size_t i = 0; i < to->n_pools; i++)
        if (to->pools[i].pool == from->pool && to->pools[i].memory == from->memory) {
#define XX(name) add_known(&to->pools[i].name##_, from->name##_);
            BBF_POOL_COLUMNS(XX)
#undef XX
            return BBF_OK;
        }
    struct bbf_snap_pool *pools = reallocarray(to->pools, to->n_pools + 1, sizeof *pools);
    if (pools == NULL)
        return BBF_ENOMEM;
    to->pools = pools;
    pools[to->n_pools++] = *from;
    return BBF_OK;
}

static int add_reconciled(struct bbf_merge *m, const struct bbf_snapshot *from, const char *name)
{
    struct bbf_snap_reconciled *to = &m->to->reconciled;
    const struct bbf_snap_reconciled *r = &from->reconciled;
    int err = BBF_OK;

    if (!r->read) {
        m->unread++;
        return BBF_OK;
    }
    to->read = true;
    to->sampled = to->sampled || r->sampled;
#define XX(name) add_known(&to->name##_, r->name##_);
    BBF_PROCESS_COUNTS(XX)
#undef XX
    for (size_t i = 0; i < r->n_pools && err == BBF_OK; i++)
        err = add_pool(to, &r->pools[i]);
    for (size_t i = 0; i < r->n_causes && err == BBF_OK; i++)
        err = bbf_merge_add_text(&m->causes, r->causes[i], name);
    return err;
}

/* Numbers of some JVMs only would not be those of the lives: then there are none. */
static int finish_reconciled(struct bbf_merge *m)
{
    struct bbf_snap_reconciled *to = &m->to->reconciled;

    if (m->unread == 0 || m->unread == m->n_sources)
        return BBF_OK;
    free(to->pools);
    *to = (struct bbf_snap_reconciled){.read = false};
    return note(m,
                "Netty's own numbers are left out: %" PRIu32
                " of %zu snapshots have none, and a part "
                "of them cannot be compared",
                m->unread, m->n_sources);
}

/* ---- Histories ------------------------------------------------------------------------------- */

/* Rows of a history end with the interval of the capture: those of one interval can be added. */
static void add_history(struct bbf_merge *m, const struct bbf_snapshot *from)
{
    struct bbf_snapshot *to = m->to;

    if (m->n_sources == 1) {
        to->history = from->history;
        to->usage_of = from->usage_of;
        to->captured_at_ms = from->captured_at_ms;
        return;
    }
    m->usage_differs = m->usage_differs || to->usage_of.seconds + from->usage_of.seconds > 0;
    int64_t apart = from->captured_at_ms - to->captured_at_ms;
    apart = apart < 0 ? -apart : apart;
    m->histories_differ = m->histories_differ || to->history.seconds != from->history.seconds ||
                          apart / 1000 >= (int64_t)to->history.seconds;
    if (from->history.intervals > to->history.intervals)
        to->history.intervals = from->history.intervals;
    if (from->captured_at_ms > to->captured_at_ms) {
        to->captured_at_ms = from->captured_at_ms;
        to->history.current_seconds = from->history.current_seconds;
    }
}

static int finish_histories(struct bbf_merge *m)
{
    struct bbf_snapshot *to = m->to;

    if (!m->histories_differ)
        return BBF_OK;
    size_t rows = to->n_growth;
    for (size_t i = 0; i < rows; i++)
        free(to->growth[i].at);
    to->n_growth = 0;
    to->history.seconds = to->history.intervals = to->history.current_seconds = 0;
    return rows == 0 ? BBF_OK
                     : note(m,
                            "%zu histories of losses are left out: the snapshots are of different "
                            "times, so their intervals cannot be added",
                            rows);
}

/* Means over the seconds of one JVM: those of another one are others. */
static int finish_usage(struct bbf_merge *m)
{
    struct bbf_snapshot *to = m->to;

    if (!m->usage_differs)
        return BBF_OK;
    to->n_usage = 0;
    to->usage_of.seconds = to->usage_of.unlisted = 0;
    return note(m, "memory over time (usage=) is left out: each JVM has seconds of its own");
}

/* ---- Lists of texts -------------------------------------------------------------------------- */

static int add_texts(struct bbf_merge_texts *texts, char *const *from, size_t n, const char *name)
{
    int err = BBF_OK;

    for (size_t i = 0; i < n && err == BBF_OK; i++)
        err = bbf_merge_add_text(texts, from[i], name);
    return err;
}

static int finish_list(char ***list, size_t *n, const struct bbf_merge_texts *texts)
{
    int err = BBF_OK;

    for (size_t i = 0; i < texts->n && err == BBF_OK; i++)
        err = bbf_snapshot_add_text(list, n, texts->items[i].text);
    return err;
}

/* A sentence, and of which snapshots it is true unless of all. */
static int add_sentence(struct bbf_merge *m, char ***list, size_t *n,
                        const struct bbf_merge_text *one)
{
    char text[2 * NOTE_MAX];

    if (one->snapshots >= m->n_sources)
        snprintf(text, sizeof text, "%.1500s", one->text);
    else if (one->snapshots == 1)
        snprintf(text, sizeof text, "%.300s: %.1500s", one->first, one->text);
    else
        snprintf(text, sizeof text, "%.300s and %" PRIu32 " more of %zu snapshots: %.1500s",
                 one->first, one->snapshots - 1, m->n_sources, one->text);
    return bbf_snapshot_add_text(list, n, text);
}

static int finish_sentences(struct bbf_merge *m, char ***list, size_t *n,
                            const struct bbf_merge_texts *texts)
{
    int err = BBF_OK;

    for (size_t i = 0; i < texts->n && err == BBF_OK; i++)
        err = add_sentence(m, list, n, &texts->items[i]);
    return err;
}

/* "17.0.15, 21.0.2": all texts; NULL without memory. */
static char *joined(const struct bbf_merge_texts *texts)
{
    size_t room = 1;

    for (size_t i = 0; i < texts->n; i++)
        room += strlen(texts->items[i].text) + 2;
    char *text = calloc(room, 1), *at = text;
    for (size_t i = 0; i < texts->n && text != NULL; i++) {
        at = i > 0 ? stpcpy(at, ", ") : at;
        at = stpcpy(at, texts->items[i].text);
    }
    return text;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int add_jvm(struct bbf_merge *m, const struct bbf_snapshot *from, const char *name)
{
    const char *main = from->jvm.main, *version = from->jvm.version;
    int err = add_texts(&m->netty, from->jvm.netty, from->jvm.n_netty, name);

    if (err == BBF_OK)
        err = add_texts(&m->map_mode, from->jvm.map_mode, from->jvm.n_map_mode, name);
    if (err == BBF_OK && main != NULL && *main != '\0')
        err = bbf_merge_add_text(&m->mains, main, name);
    if (err == BBF_OK && version != NULL && *version != '\0')
        err = bbf_merge_add_text(&m->versions, version, name);
    return err;
}

int bbf_merge_head(struct bbf_merge *m, const struct bbf_snapshot *from, const char *name)
{
    int err = add_jvm(m, from, name);

    for (size_t i = 0; i < from->n_settings && err == BBF_OK; i++)
        err = add_setting(m, &from->settings[i], name);
    for (size_t i = 0; i < from->n_limits && err == BBF_OK; i++)
        err = add_limit(m, &from->limits[i]);
    if (err == BBF_OK)
        err = add_texts(&m->notes, from->notes, from->n_notes, name);
    if (err == BBF_OK)
        err = add_reconciled(m, from, name);
    add_history(m, from);
    add_totals(m, from);
    m->has_costs = m->has_costs || from->cost.measured;
    m->windowed += from->windows.used;
    m->to->jvm.pid = m->n_sources == 1 ? from->jvm.pid : 0;
    return err;
}

/* What a sum does not say by itself. */
static int finish_notes(struct bbf_merge *m)
{
    int err = BBF_OK;

    if (m->n_sources < 2)
        return BBF_OK;
    if (m->mains.n > 1)
        err = note(m, "the snapshots are of %zu programs; counts are of all of them", m->mains.n);
    if (err == BBF_OK && (m->rates_differ || (m->sampled > 0 && m->exact > 0)))
        err = note(m,
                   "%" PRIu32 " of %zu snapshots are samples%s: their counts, and so the sums, are "
                   "estimates",
                   m->sampled, m->n_sources, m->rates_differ ? " at different rates" : "");
    if (err == BBF_OK && m->windowed > 0)
        err = note(m,
                   "%" PRIu32
                   " of %zu snapshots have only what windows of time watched, each another "
                   "share: the sums are of what was watched",
                   m->windowed, m->n_sources);
    if (err == BBF_OK && m->limits_differ)
        err =
            note(m, "limits differ; of each the largest is shown, and the largest use of any JVM");
    if (err == BBF_OK && m->other_lines > 0)
        err = note(m,
                   "%" PRIu64 " methods begin at another line in another snapshot (another build); "
                   "the first one's lines are shown",
                   m->other_lines);
    if (err == BBF_OK && m->ended_threads > 0)
        err = note(m, "threads that had ended are left out of %" PRIu64 " leak rows",
                   m->ended_threads);
    if (err == BBF_OK && m->has_costs)
        err = note(m, "what bbflow cost is not part of a merge; 'bbflow status' has it for a JVM");
    return err;
}

int bbf_merge_finish_head(struct bbf_merge *m)
{
    struct bbf_snapshot *to = m->to;
    int err = finish_list(&to->jvm.netty, &to->jvm.n_netty, &m->netty);

    if (err == BBF_OK)
        err = finish_list(&to->jvm.map_mode, &to->jvm.n_map_mode, &m->map_mode);
    if (err == BBF_OK)
        err = finish_sentences(m, &to->notes, &to->n_notes, &m->notes);
    if (err == BBF_OK)
        err = finish_reconciled(m);
    if (err == BBF_OK && to->reconciled.read)
        err = finish_sentences(m, &to->reconciled.causes, &to->reconciled.n_causes, &m->causes);
    if (err == BBF_OK)
        err = finish_histories(m);
    if (err == BBF_OK)
        err = finish_usage(m);
    if (err == BBF_OK)
        err = finish_settings(m);
    if (err == BBF_OK)
        err = finish_notes(m);
    to->jvm.main = joined(&m->mains);
    to->jvm.version = joined(&m->versions);
    return to->jvm.main != NULL && to->jvm.version != NULL ? err : BBF_ENOMEM;
}
