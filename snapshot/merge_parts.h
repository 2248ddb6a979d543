/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot/merge_parts.h - private to snapshot/: the state of a merge, and what identifies a row.
 *
 * Threads: one owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_SNAPSHOT_MERGE_PARTS_H
#define BBF_SNAPSHOT_MERGE_PARTS_H

#include "snapshot/snapshot.h"

/* Row numbers by a hash of their contents; who asks compares the rows. */
struct bbf_merge_table {
    uint32_t *rows; /* index + 1; 0: empty */
    uint64_t *hashes;
    size_t size, used; /* size: a power of 2 */
};

/* The next row with this hash from *at, which the caller sets to 0 at first; UINT32_MAX: no more.
 */
uint32_t bbf_merge_table_next(const struct bbf_merge_table *table, uint64_t hash, size_t *at);
int bbf_merge_table_put(struct bbf_merge_table *table, uint64_t hash, uint32_t row);
void bbf_merge_table_free(struct bbf_merge_table *table);

/* A text and in how many snapshots it is. */
struct bbf_merge_text {
    char *text, *first; /* first: the name of a snapshot that has it */
    uint32_t snapshots;
};
struct bbf_merge_texts {
    struct bbf_merge_text *items;
    size_t n, room;
    struct bbf_merge_table by_text;
};

/* A setting: its value, and whether another snapshot has another one, or has none. */
struct bbf_merge_setting {
    char *name, *value, *first, *other, *other_in;
    uint32_t snapshots;
};

/* A snapshot that was added: to find it a second time. */
struct bbf_merge_source {
    char *name, *main;
    int64_t pid, captured_at_ms, started_ms; /* started_ms 0: not known */
    struct bbf_snap_totals totals;
};

struct bbf_merge {
    struct bbf_snapshot *to;
    struct bbf_merge_source *sources;
    size_t n_sources;
    size_t room_sites, room_nodes, room_leaks, room_pins, room_callers, room_misuses, room_growth,
        room_contexts, room_usage;
    uint32_t *parents; /* by node of `to`: the parent's index, BBF_NO_PARENT */
    struct bbf_merge_table sites, nodes, callers, misuses, threads;
    struct bbf_merge_texts notes, causes, netty, map_mode, versions, mains;
    struct bbf_merge_setting *settings;
    size_t n_settings;
    uint64_t other_lines;    /* sites whose line number is another one in another snapshot */
    uint64_t ended_threads;  /* leak rows whose thread has no name: its id means nothing here */
    uint32_t sampled, exact; /* snapshots */
    uint32_t unread;         /* without Netty's own numbers */
    bool rates_differ, limits_differ, histories_differ, usage_differs, has_costs;
    uint32_t windowed; /* snapshots that have what windows watched */
};

/* A site by its names: the same in every JVM. */
uint64_t bbf_merge_hash_site(const struct bbf_snap_site *site);
bool bbf_merge_is_same_site(const struct bbf_snap_site *a, const struct bbf_snap_site *b);

/* When the agent was loaded, milliseconds since 1970; 0: not known. */
int64_t bbf_merge_started_ms(const struct bbf_snapshot *s);

int bbf_merge_add_text(struct bbf_merge_texts *texts, const char *text, const char *name);

/* Make room for `more` rows in *rows, of which there are n. */
int bbf_merge_room(void **rows, size_t *room, size_t n, size_t more, size_t size);

/* snapshot/merge_rows.c: sites, nodes, and the rows of nodes. `parents`: of `from`'s nodes. */
int bbf_merge_rows(struct bbf_merge *m, const struct bbf_snapshot *from, const uint32_t *parents);

/* snapshot/merge_head.c: all else of a snapshot, and what it leaves to be said at the end. */
int bbf_merge_head(struct bbf_merge *m, const struct bbf_snapshot *from, const char *name);
int bbf_merge_finish_head(struct bbf_merge *m);

static inline uint64_t bbf_merge_hash(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash ^ hash >> 29;
}

#endif
