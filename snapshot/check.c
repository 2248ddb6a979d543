/* SPDX-License-Identifier: Apache-2.0 */
/* bbf_snapshot_check(): what a reader of a snapshot may rely on. */
#include "snapshot/snapshot.h"

#include "core/err.h"

static bool strings_are_valid(char *const *strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strings[i] == NULL)
            return false;
    return true;
}

static bool head_is_valid(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_settings; i++)
        if (snapshot->settings[i].name == NULL || snapshot->settings[i].value == NULL)
            return false;
    for (size_t i = 0; i < snapshot->n_limits; i++)
        if (snapshot->limits[i].name == NULL)
            return false;
    for (size_t i = 0; i < snapshot->reconciled.n_pools; i++)
        if ((unsigned)snapshot->reconciled.pools[i].pool >= BBF_POOLS ||
            (unsigned)snapshot->reconciled.pools[i].memory > BBF_MEM_HEAP)
            return false;
    if (!strings_are_valid(snapshot->reconciled.causes, snapshot->reconciled.n_causes))
        return false;
    return strings_are_valid(snapshot->jvm.netty, snapshot->jvm.n_netty) &&
           strings_are_valid(snapshot->jvm.map_mode, snapshot->jvm.n_map_mode) &&
           strings_are_valid(snapshot->notes, snapshot->n_notes);
}

static bool threads_are_valid(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_threads; i++)
        if (snapshot->threads[i].name == NULL ||
            (i > 0 && snapshot->threads[i].id <= snapshot->threads[i - 1].id))
            return false;
    return true;
}

static bool growth_is_valid(const struct bbf_snapshot *snapshot)
{
    const uint64_t seconds = snapshot->history.seconds;

    if (snapshot->history.intervals > BBF_HISTORY_MAX || seconds > BBF_HISTORY_SECONDS ||
        (seconds == 0 && snapshot->n_growth > 0) ||
        (seconds != 0 && snapshot->history.current_seconds >= seconds))
        return false;
    for (size_t i = 0; i < snapshot->n_growth; i++) {
        const struct bbf_snap_growth *row = &snapshot->growth[i];
        if (row->node >= snapshot->n_nodes || (unsigned)row->of > BBF_GROWTH_HELD ||
            (unsigned)row->memory > BBF_MEM_UNKNOWN || (unsigned)row->lost > BBF_LOST_NOTHING ||
            row->n > snapshot->history.intervals)
            return false;
    }
    return true;
}

/* A row says something, and a hint has its kind. */
static bool contexts_are_valid(const struct bbf_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_contexts; i++) {
        const struct bbf_snap_context *row = &snapshot->contexts[i];
        if (row->node >= snapshot->n_nodes || (unsigned)row->hint_is > BBF_HINT_CLASS ||
            (row->hint_is == BBF_HINT_NONE) != (row->hint == NULL) ||
            (row->thrown == NULL && row->caught_in != NULL))
            return false;
    }
    return true;
}

int bbf_snapshot_check(const struct bbf_snapshot *snapshot)
{
    if (!head_is_valid(snapshot) || !threads_are_valid(snapshot) || !growth_is_valid(snapshot) ||
        !contexts_are_valid(snapshot))
        return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_sites; i++) {
        const struct bbf_snap_site *site = &snapshot->sites[i];
        if (site->class_name == NULL || site->method == NULL || site->descriptor == NULL ||
            (unsigned)site->kind > BBF_SITE_DECREMENT)
            return BBF_EFORMAT;
        for (uint32_t k = 0; k < site->n_throws; k++)
            if (site->throws[k].class_name == NULL || site->throws[k].method == NULL)
                return BBF_EFORMAT;
        for (uint32_t k = 0; k < site->n_calls; k++)
            if (site->calls[k] >= snapshot->n_sites ||
                (k > 0 && site->calls[k] <= site->calls[k - 1]))
                return BBF_EFORMAT;
    }
    for (size_t i = 0; i < snapshot->n_nodes; i++)
        if (snapshot->nodes[i].site >= snapshot->n_sites || snapshot->nodes[i].ref > BBF_REF_6)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &snapshot->leaks[i];
        if (leak->node >= snapshot->n_nodes || (unsigned)leak->verdict > BBF_VERDICT_AGED ||
            (unsigned)leak->memory > BBF_MEM_UNKNOWN || (unsigned)leak->lost > BBF_LOST_NOTHING)
            return BBF_EFORMAT;
    }
    for (size_t i = 0; i < snapshot->n_pins; i++)
        if (snapshot->pins[i].node >= snapshot->n_nodes ||
            (unsigned)snapshot->pins[i].pool >= BBF_POOLS ||
            (unsigned)snapshot->pins[i].memory > BBF_MEM_HEAP)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_usage; i++)
        if (snapshot->usage[i].node >= snapshot->n_nodes ||
            (unsigned)snapshot->usage[i].memory > BBF_MEM_UNKNOWN)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_callers; i++)
        if (snapshot->callers[i].root >= snapshot->n_sites ||
            snapshot->callers[i].caller >= snapshot->n_sites ||
            (unsigned)snapshot->callers[i].kind >= BBF_CALLERS ||
            snapshot->callers[i].leaked > snapshot->callers[i].sampled)
            return BBF_EFORMAT;
    for (size_t i = 0; i < snapshot->n_misuses; i++) {
        const struct bbf_snap_misuse *row = &snapshot->misuses[i];
        if ((unsigned)row->use > BBF_USE_STEP || !strings_are_valid(row->path, row->n_path) ||
            !strings_are_valid(row->used_by, row->n_used_by))
            return BBF_EFORMAT;
    }
    return 0;
}
