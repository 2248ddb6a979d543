/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot/snapshot.h - one picture of the tracker, detached from it: what every render reads, what
 * the JSON document (bbflow-snapshot/1, design.md: names and formats) carries to the client and
 * back. The rows add up: each total is the plain sum of its column.
 *
 * Threads: one owner at a time. Units: bytes, seconds, counts of lives.
 */
#ifndef BBF_SNAPSHOT_H
#define BBF_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/terms.h"

enum bbf_verdict { BBF_VERDICT_LEAKED, BBF_VERDICT_AGED };

struct bbf_snap_site {
    uint32_t id;
    char *class_name; /* fully qualified, dotted, inner with '$'; "" for ?raced and the like */
    char *method; /* "process", "<init>", "process_return", "directBuffer", "release", "?raced" */
    char *descriptor; /* "" where there is none */
    enum bbf_site_kind kind;
};

/* Columns of a node row. `passed` = lives that reached this node (own ends plus all below); every
 * other column counts only lives that stand or ended exactly here. */
/* clang-format off */
#define BBF_NODE_COLUMNS(XX)                                                                       \
    XX(passed) XX(released) XX(live) XX(live_bytes) XX(aged) XX(static) XX(leaked)                 \
    XX(leaked_bytes) XX(held) XX(harmless) XX(unknown)
/* clang-format on */

struct bbf_snap_node {
    uint32_t id;
    int64_t parent; /* id of the parent, -1 for a root */
    uint32_t site;  /* index into sites, not the id */
    uint8_t ref;    /* enum bbf_bucket */
    bool loop;      /* a repeated run of steps returns to this node (design.md: trie) */
#define XX(name) uint64_t name##_;
    BBF_NODE_COLUMNS(XX)
#undef XX
};

struct bbf_snap_leak {
    uint32_t node; /* index into nodes, not the id */
    enum bbf_verdict verdict;
    enum bbf_memory memory;
    uint64_t count;
    uint64_t bytes;
    uint64_t references; /* that were left, of all of them, as the hooks counted; 0: not known */
    uint64_t oldest_seconds; /* age of the oldest when it was found, or now for aged */
    uint64_t p50_seconds;    /* the age that half of them did not exceed, about */
    enum bbf_lost lost;
    uint64_t thread;       /* id of the one that opened most of them, 0 = not known */
    uint64_t thread_count; /* how many it opened, at least */
};

/* A thread that a leak row names. */
struct bbf_snap_thread {
    uint64_t id; /* Thread.getId(), its low 32 bits */
    char *name;
};

/* Totals of the JSON document, in its order. lives = released + live + leaked + held + harmless +
 * unknown; aged and static are parts of live; undone are no lives. */
/* clang-format off */
#define BBF_TOTALS(XX)                                                                             \
    XX(lives) XX(released) XX(live) XX(aged) XX(static) XX(leaked) XX(held) XX(harmless)           \
    XX(unknown) XX(undone) XX(live_bytes) XX(leaked_bytes) XX(sampled) XX(raced_steps)             \
    XX(dropped_steps) XX(dropped_lives) XX(untracked_classes) XX(untracked_buffers)                \
    XX(holders_unknown) XX(elements_cut) XX(no_weakref) XX(misuse) XX(out_of_memory)               \
    XX(untouched_classes) XX(untouched_methods) XX(entry_only_methods) XX(internal_errors)
/* clang-format on */

struct bbf_snap_totals {
#define XX(name) uint64_t name##_;
    BBF_TOTALS(XX)
#undef XX
};

/* Lives since the tracker was made, whatever was reset since. At rest released + live + leaked +
 * held + harmless + unknown + undone is what was opened, and `generations`, the sum of the records'
 * generations, equals it modulo 2^32 (design.md: proof). Not in the JSON document: only `status`
 * shows it. */
/* clang-format off */
#define BBF_SINCE_START(XX)                                                                        \
    XX(released) XX(live) XX(leaked) XX(held) XX(harmless) XX(unknown) XX(undone)                  \
    XX(dropped_lives) XX(raced_steps) XX(generations)
/* clang-format on */

struct bbf_snap_since_start {
#define XX(name) uint64_t name##_;
    BBF_SINCE_START(XX)
#undef XX
};

struct bbf_snap_limit {
    char *name;                /* option's name: maxNodes, … */
    uint64_t used, limit, hit; /* hit: how often it was reached */
};

struct bbf_snap_pair {
    char *name;
    char *value;
};

#define BBF_NOT_TOLD UINT64_MAX /* a number that this Netty does not have */

/*
 * Columns of a pool row. Ours since the start, whatever was reset: lives and bytes that are open or
 * were collected unreleased; `rounded`: each of them to Netty's size class. Netty's, all arenas
 * added up: allocations not given back (with those in thread caches), bytes of them (without),
 * bytes of chunks that are not free, bytes of all chunks, caches that threads have. `cached`: how
 * many of netty_lives are released buffers in those caches; not told: they cannot be told from
 * buffers that are not followed, and netty_lives is not compared.
 */
/* clang-format off */
#define BBF_POOL_COLUMNS(XX)                                                                       \
    XX(lives) XX(bytes) XX(rounded)                                                                \
    XX(netty_lives) XX(netty_bytes) XX(netty_used) XX(reserved) XX(thread_caches) XX(cached)
/* clang-format on */

struct bbf_snap_pool {
    enum bbf_pool pool;
    enum bbf_memory memory; /* direct or heap */
#define XX(name) uint64_t name##_;
    BBF_POOL_COLUMNS(XX)
#undef XX
};

/* Of the process: PlatformDependent.DIRECT_MEMORY_COUNTER, the java.nio.Bits. Bytes, a count. */
/* clang-format off */
#define BBF_PROCESS_COUNTS(XX)                                                                     \
    XX(used_direct) XX(nio_reserved) XX(nio_capacity) XX(nio_buffers)
/* clang-format on */

/* Our numbers beside Netty's own (agent/report/reconcile.h). */
struct bbf_snap_reconciled {
    bool read;    /* false: nothing below was read */
    bool sampled; /* buffers were passed over: ours are not all, and nothing is compared */
    struct bbf_snap_pool *pools;
    size_t n_pools;
#define XX(name) uint64_t name##_;
    BBF_PROCESS_COUNTS(XX)
#undef XX
    char **causes; /* sentences: why the two differ, what was not compared */
    size_t n_causes;
};

/* How a buffer was used after its release. */
enum bbf_use { BBF_USE_RELEASE, BBF_USE_RETAIN, BBF_USE_ACCESS };

/* Uses after release of one kind, of lives that ended at one place, by one place in the code. */
struct bbf_snap_misuse {
    enum bbf_use use;
    uint64_t count;
    char **path; /* full names, root to release; none: where the life ended is not known */
    size_t n_path;
    uint64_t released_thread; /* the first one's, as leak rows have them; 0 = not known */
    uint64_t used_thread;
    char **used_by; /* the methods that were in it, innermost first */
    size_t n_used_by;
};

/*
 * What bbflow itself took in a stretch of time (agent/cost/account.h says how each is measured).
 * Nanoseconds: `elapsed`; processor time of the whole `process`; of the `agent` thread, and what of
 * that went into `scan`s after collections and into `report`s; of the `server` thread; `rewrite`:
 * elapsed while class files were changed, in whatever thread loaded them. Counts: classes
 * `rewritten`; `lives` that were followed and the `steps` of their paths (lower bounds where paths
 * have loops), and the `passed_lives` that sampling left out, as those that it drew stand for them.
 * Estimates: `native_calls` of the hooks into the agent and what they took, and what the `hooks`
 * themselves took. `overhead` is the sum: agent, server, rewriting in other threads, estimates.
 */
/* clang-format off */
#define BBF_COST_COLUMNS(XX)                                                                       \
    XX(elapsed_ns) XX(process_ns) XX(agent_ns) XX(scan_ns) XX(report_ns) XX(server_ns)             \
    XX(rewritten) XX(rewrite_ns) XX(lives) XX(passed_lives) XX(steps)                              \
    XX(estimated_native_calls) XX(estimated_native_ns) XX(estimated_hook_ns)                       \
    XX(estimated_overhead_ns)

/* Picoseconds that a life and a step were found to cost on this machine, and those of lives that
 * are passed over; the longest rewriting of a class; native memory in bytes, by what it is for;
 * budget= in millionths (0 = off), one life in how many is followed, how often the budget raised and
 * lowered that, how often there was no place for the rate. */
#define BBF_COST_VALUES(XX)                                                                        \
    XX(life_ps) XX(step_ps) XX(passed_life_ps) XX(passed_step_ps) XX(rewrite_longest_ns)           \
    XX(memory_nodes) XX(memory_lives) XX(memory_leaks) XX(memory_other)                            \
    XX(budget_ppm) XX(sample) XX(raised) XX(lowered) XX(refused)
/* clang-format on */

struct bbf_snap_cost_row {
#define XX(name) uint64_t name##_;
    BBF_COST_COLUMNS(XX)
#undef XX
};

struct bbf_snap_cost {
    bool measured; /* false: nothing below was */
    /* Since bbflow came; of the last whole interval (budgetSeconds=), all 0 before its end; of the
     * last whole interval since the last change of settings in which the process was busy, and
     * since that change (a set, or an attach after a stop): all 0 where there was none. */
    struct bbf_snap_cost_row since_start, interval, busy, since_change;
    uint64_t busy_ago_ns; /* how long ago that interval ended */
#define XX(name) uint64_t name##_;
    BBF_COST_VALUES(XX)
#undef XX
    int64_t sample_since_ms; /* when the budget chose the rate, since 1970; 0: the user did */
    uint64_t sample_ppm;     /* the overhead that it chose it for */
};

struct bbf_snapshot {
    int64_t captured_at_ms; /* since 1970 */
    struct {
        int64_t pid;
        char *main;    /* main class or jar, "" if unknown */
        char *version; /* java.vm.version */
        char **netty;  /* one per Netty seen: "4.1.140.Final io.netty" or its prefix */
        size_t n_netty;
        char **map_mode; /* ByteBuf classes without the hidden field, and why */
        size_t n_map_mode;
    } jvm;
    struct bbf_snap_pair *settings; /* every option in force */
    size_t n_settings;
    struct bbf_snap_limit *limits;
    size_t n_limits;
    char **notes; /* sentences: what was not seen and why; the first lines of every render */
    size_t n_notes;
    struct bbf_snap_totals totals;
    struct bbf_snap_since_start since_start;
    struct bbf_snap_reconciled reconciled;
    struct bbf_snap_cost cost;
    struct bbf_snap_site *sites;
    size_t n_sites;
    struct bbf_snap_node *nodes; /* a parent always precedes its children */
    size_t n_nodes;
    struct bbf_snap_thread *threads; /* by id */
    size_t n_threads;
    struct bbf_snap_leak *leaks; /* most bytes first, then most lives, then by node */
    size_t n_leaks;
    struct bbf_snap_misuse *misuses; /* in the order in which they were seen first */
    size_t n_misuses;
    uint64_t folded_rows; /* nodes that had no room and are part of their parents' rows */
    struct {              /* what was charged for the rows, given back with them; a tracker's */
        _Atomic uint64_t *used;
        uint64_t bytes;
        _Atomic bool *lent; /* becomes false; NULL: nothing was lent */
    } charged;
};

struct bbf_snapshot *bbf_snapshot_new(void);           /* empty, or NULL without memory */
void bbf_snapshot_free(struct bbf_snapshot *snapshot); /* NULL is allowed; frees all it points to */

/* Append a copy of `text` to one of the snapshot's lists of strings. BBF_ENOMEM. */
int bbf_snapshot_add_text(char ***list, size_t *n, const char *text);

/* The name of a leak row's thread; NULL: not known. */
const char *bbf_snapshot_thread(const struct bbf_snapshot *snapshot, uint64_t id);

/* Give the snapshot a thread's name, unless it has one for that id. BBF_ENOMEM. */
int bbf_snapshot_add_thread(struct bbf_snapshot *snapshot, uint64_t id, const char *name);

/*
 * Recompute what follows from the rows: `passed_` of each node (sum over the subtree of released +
 * live + leaked + held + harmless + unknown), the totals that are column sums, and the order of
 * leaks. Leak rows of one node, verdict, memory and loss become one (its p50 and thread those of
 * the larger part), rows of no lives go; leaked or aged lives of a node that no row names get one,
 * memory unknown: `leaks` then lists every node that lost a life. Called once by whoever filled the
 * rows. Requires parents before children. Errors: BBF_EFORMAT (bbf_snapshot_check() fails, two
 * nodes with one id, a parent that does not precede its child), BBF_ENOMEM; the rows are then as
 * they were.
 */
int bbf_snapshot_finish(struct bbf_snapshot *snapshot);

/*
 * Make one row of all that have the same parent, site and bucket, from the roots down: nodes of
 * several sampling rates. Before bbf_snapshot_finish(), which does it for their leak rows.
 * BBF_ENOMEM, BBF_EFORMAT as bbf_snapshot_parents(): the rows are then as they were.
 */
int bbf_snapshot_merge_rates(struct bbf_snapshot *snapshot);

/* Every index within its table, every enum within its range, no string NULL: 0 or BBF_EFORMAT. */
int bbf_snapshot_check(const struct bbf_snapshot *snapshot);

#define BBF_NO_PARENT UINT32_MAX

/*
 * The index of each node's parent into parents[n_nodes], BBF_NO_PARENT for roots.
 * Errors: BBF_EFORMAT (two nodes with one id, a parent that does not precede its child, more nodes
 * than an index can name; *bad, if not NULL, is the index of that node), BBF_ENOMEM.
 */
int bbf_snapshot_parents(const struct bbf_snapshot *snapshot, uint32_t *parents, size_t *bad);

/*
 * Ids to indexes, for rows (nodes, sites) that refer to each other by id. A plain array where the
 * ids lie close together, as the tracker's do; sorted pairs where a document says otherwise.
 */
struct bbf_id_index {
    uint32_t *direct; /* index + 1 by id - base, 0 = no such id; NULL: use pairs */
    uint64_t *pairs;  /* id << 32 | index, ascending */
    uint32_t base;
    size_t count; /* of direct or of pairs */
};

/*
 * Index `count` ids; the first at `ids`, each next `stride` bytes further.
 * Errors: BBF_EFORMAT (an id twice; *bad is the index of the second), BBF_ENOMEM.
 */
int bbf_id_index_init(struct bbf_id_index *index, const uint32_t *ids, size_t count, size_t stride,
                      size_t *bad);
void bbf_id_index_free(struct bbf_id_index *index);
/* false: no such id. */
bool bbf_id_index_find(const struct bbf_id_index *index, uint64_t id, uint32_t *at);

#endif
