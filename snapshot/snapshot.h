/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot/snapshot.h - a copy of the tracker's state, detached from it. Every render reads it, and
 * the JSON document (bbflow-snapshot/1, design.md: names and formats) transports it. The rows add
 * up: each total is the plain sum of its column.
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

/* A call that may throw out of a method that has a buffer, where nothing in it releases it then. */
struct bbf_snap_throw {
    uint32_t line;    /* 0: not known */
    char *class_name; /* dotted */
    char *method;     /* BBF_FACT_THROW: the method throws it itself, an exception of that class */
};

struct bbf_snap_site {
    uint32_t id;
    char *class_name; /* fully qualified, dotted, inner with '$'; "" for ?raced and similar */
    char *method; /* "process", "<init>", "process_return", "directBuffer", "release", "?raced" */
    char *descriptor; /* "" where there is none */
    enum bbf_site_kind kind;
    uint32_t line;   /* of the method's first instruction; 0: not known */
    char *enclosing; /* "com.app.Owner.method": what a local or anonymous class was written in (no
                        method: an initialiser); NULL: not known, or neither */
    uint32_t order;  /* where its name is in the order of names, from 1; 0: by the name itself */
    /* What the method does with a buffer that it gets as a parameter, and in the methods that it
     * hands it to: enum bbf_fact, with BBF_FACT_SEEN; 0: not known, or it gets none. */
    uint8_t parameter;
    uint32_t *calls; /* indexes of the sites whose methods it calls, ascending */
    uint32_t n_calls;
    struct bbf_snap_throw *throws;  /* in the order of the code; of sites on leaked paths */
    uint32_t n_throws, more_throws; /* more: not listed */
};

/* Columns of a node row. `passed` counts the lives that reached this node (its own plus all below);
 * every other column counts only lives that are or ended exactly here. */
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
    uint64_t references;     /* sum of the references left, as the hooks counted; 0: not known */
    uint64_t oldest_seconds; /* age of the oldest when it was found, for aged: now */
    uint64_t p50_seconds;    /* median age, approximate */
    enum bbf_lost lost;
    uint64_t thread;       /* id of the thread that opened most of them, 0 = not known */
    uint64_t thread_count; /* how many it opened, at least */
};

/* A thread that a leak row names. */
struct bbf_snap_thread {
    uint64_t id; /* Thread.getId(), its low 32 bits */
    char *name;
};

/* Totals of the JSON document, in its order. lives = released + live + leaked + held + harmless +
 * unknown; aged and static are parts of live; undone opens do not count as lives. */
/* clang-format off */
#define BBF_TOTALS(XX)                                                                             \
    XX(lives) XX(released) XX(live) XX(aged) XX(static) XX(leaked) XX(held) XX(harmless)           \
    XX(unknown) XX(undone) XX(live_bytes) XX(leaked_bytes) XX(sampled) XX(raced_steps)             \
    XX(dropped_steps) XX(dropped_lives) XX(untracked_classes) XX(untracked_buffers)                \
    XX(holders_unknown) XX(elements_cut) XX(no_weakref) XX(misuse) XX(steps_after_release)         \
    XX(out_of_memory)                                                                              \
    XX(untouched_classes) XX(untouched_methods) XX(entry_only_methods) XX(internal_errors)
/* clang-format on */

struct bbf_snap_totals {
#define XX(name) uint64_t name##_;
    BBF_TOTALS(XX)
#undef XX
};

/* Lives since the tracker was made; resets do not change it. At rest released + live + leaked +
 * held + harmless + unknown + undone is the number of opens, and `generations`, the sum of the
 * records' generations, equals it modulo 2^32 (design.md: proof). Not in the JSON document: only
 * `status` shows it. */
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
    char *name;                /* the option's name: maxNodes, … */
    uint64_t used, limit, hit; /* hit: how often it was reached */
};

struct bbf_snap_pair {
    char *name;
    char *value;
};

#define BBF_NOT_TOLD UINT64_MAX /* a number that this version of Netty does not provide */

/*
 * Columns of a pool row. Three are bbflow's, since the start (resets do not change them): `lives`
 * and `bytes` that are open or were collected unreleased; `rounded`: the bytes, each life's rounded
 * up to Netty's size class. The others are Netty's, summed over all arenas: `netty_lives`,
 * allocations not returned, including those in thread caches; `netty_bytes`, their bytes, without
 * thread caches; `netty_used`, bytes of chunks that are not free; `reserved`, bytes of all chunks;
 * `thread_caches`, the number of threads' caches. `cached`: how many of netty_lives are released
 * buffers in those caches. If it is BBF_NOT_TOLD, they cannot be distinguished from buffers that
 * are not followed, and netty_lives is not compared. The last are of chunks that small buffers pin
 * (agent/report/pins.h): their number, their size, what of it is free, and the open buffers in
 * them.
 */
/* clang-format off */
#define BBF_POOL_COLUMNS(XX)                                                                       \
    XX(lives) XX(bytes) XX(rounded)                                                                \
    XX(netty_lives) XX(netty_bytes) XX(netty_used) XX(reserved) XX(thread_caches) XX(cached)       \
    XX(pinned_chunks) XX(pinned_bytes) XX(pinned_free) XX(pinned_by)
/* clang-format on */

struct bbf_snap_pool {
    enum bbf_pool pool;
    enum bbf_memory memory; /* direct or heap */
#define XX(name) uint64_t name##_;
    BBF_POOL_COLUMNS(XX)
#undef XX
};

/* Values of the whole process, of PlatformDependent.DIRECT_MEMORY_COUNTER and java.nio.Bits. Bytes;
 * nio_buffers is a count. The limits: what used_direct and nio_reserved cannot exceed; the first is
 * BBF_NOT_TOLD where several Nettys have one each. */
/* clang-format off */
#define BBF_PROCESS_COUNTS(XX)                                                                     \
    XX(used_direct) XX(direct_limit) XX(nio_reserved) XX(nio_limit) XX(nio_capacity)               \
    XX(nio_buffers)
/* clang-format on */

/* bbflow's numbers beside Netty's own (agent/report/reconcile.h). */
struct bbf_snap_reconciled {
    bool read;    /* false: nothing below was read */
    bool sampled; /* sampling skipped buffers: our numbers are not complete, nothing is compared */
    struct bbf_snap_pool *pools;
    size_t n_pools;
#define XX(name) uint64_t name##_;
    BBF_PROCESS_COUNTS(XX)
#undef XX
    char **causes; /* sentences: why the two differ, which numbers were not compared */
    size_t n_causes;
};

/* Open buffers of one path in chunks that small buffers pin. Each such chunk is counted once, at
 * the path that has most of its buffers; `buffers` and `bytes` count every buffer at its own path.
 * So the sums over the rows are those of the pool rows. Counts of followed buffers: not scaled. */
struct bbf_snap_pin {
    uint32_t node; /* index into nodes; before bbf_tracker_capture() the tracker's node */
    enum bbf_pool pool;
    enum bbf_memory memory;
    uint64_t buffers, bytes;    /* open, and their capacity */
    uint64_t smallest, largest; /* of these buffers, bytes */
    uint64_t chunks, reserved;  /* where this path has most buffers; bytes of those chunks */
};

/* A history: of what was lost at a place, or of what it holds (trie/growth.h). */
enum bbf_growth_of { BBF_GROWTH_LOST, BBF_GROWTH_HELD };
enum {
    BBF_GROWTH_KINDS = BBF_GROWTH_HELD + 1,
    BBF_HISTORY_MAX = 1440,
    BBF_HISTORY_SECONDS = 86400
};

/* lost: found lost in the interval. held: open for longer than an interval when it began. */
struct bbf_snap_interval {
    uint64_t lives, bytes;
};

struct bbf_snap_growth {
    uint32_t node; /* index into nodes; before bbf_tracker_capture() the tracker's node */
    enum bbf_growth_of of;
    enum bbf_memory memory;
    enum bbf_lost lost;
    int64_t first_ms, last_ms;    /* since 1970: when the first and the last were found */
    struct bbf_snap_interval *at; /* oldest first; the last one is not over. Rows have fewer than
                                     history.intervals where what is before them is 0 */
    uint32_t n;
};

/*
 * What buffers of one path took over time (trie/usage.h): `lives` that were open when some second
 * began, released or lost there or still open, with their bytes times seconds. Of the released ones
 * that were `measured`, as counted (not scaled by sample=), their capacities, and, scaled, bytes
 * times seconds of all and of the part that was not written. `not_read`: released ones that do not
 * say what was written.
 */
/* clang-format off */
#define BBF_USAGE_COLUMNS(XX)                                                                      \
    XX(lives) XX(byte_seconds) XX(measured) XX(measured_bytes) XX(measured_byte_seconds)           \
    XX(unwritten_byte_seconds) XX(not_read)
/* clang-format on */

struct bbf_snap_usage {
    uint32_t node; /* index into nodes; before bbf_tracker_capture() the tracker's node */
    enum bbf_memory memory;
#define XX(name) uint64_t name;
    BBF_USAGE_COLUMNS(XX)
#undef XX
};

/* context=on: what was seen of one life that was lost at a node (trie/context.h). */
enum bbf_hint { BBF_HINT_NONE, BBF_HINT_TEXT, BBF_HINT_HANDLER, BBF_HINT_CLASS };
struct bbf_snap_context {
    uint32_t node;   /* index into nodes; before bbf_tracker_capture() the tracker's node */
    int64_t lost_ms; /* since 1970: when it was found lost */
    uint64_t open_seconds;
    char *channel; /* "0x1a2b3c4d", "embedded", "?" where its id could not be read; NULL: none was
                      seen */
    char *address; /* of its other end: "/127.0.0.1:51324"; NULL: not known */
    enum bbf_hint hint_is; /* a text, the name of the handler that was next, a class's name */
    char *hint;            /* of touch(); NULL: NONE */
    char *thrown;          /* class of the exception that was caught, with dots; NULL: none was */
    char *caught_in; /* the method that caught it: "com.app.Codec.decode"; NULL: the pipeline */
};

/* The caller of a sampled allocation (rootCallers=), as far as its stack shows one. */
enum bbf_caller {
    BBF_CALLER_FOLLOWED, /* the nearest followed method */
    BBF_CALLER_NEAREST,  /* none is followed: the nearest that does more than forward */
    BBF_CALLER_NONE,     /* not even that */
    BBF_CALLER_OTHERS    /* methods beyond the table's room, together */
};
enum { BBF_CALLERS = BBF_CALLER_OTHERS + 1 };

/* Of the allocations of a root whose buffers leaked without a step, those that were sampled, by
 * their caller; `leaked`: how many of these leaked without a step. Not scaled by sample=. */
struct bbf_snap_caller {
    uint32_t root;   /* index into sites; before bbf_tracker_capture() the tracker's number */
    uint32_t caller; /* the same; NONE and OTHERS: the root */
    enum bbf_caller kind;
    uint64_t sampled, leaked;
};

/* The kind of a use after release. */
/* STEP: a followed method received it; whether that method then used it is not known. */
enum bbf_use { BBF_USE_RELEASE, BBF_USE_RETAIN, BBF_USE_ACCESS, BBF_USE_STEP };

/* Uses after release, of one kind, by one place in the code, of lives that ended at one place. */
struct bbf_snap_misuse {
    enum bbf_use use;
    uint64_t count;
    char **path; /* full names, root to release; empty: the place of the release is not known */
    size_t n_path;
    uint64_t released_thread; /* of the first use, an id as in leak rows; 0 = not known */
    uint64_t used_thread;
    char **used_by; /* the methods on the stack, innermost first; STEP: that method alone */
    size_t n_used_by;
};

/*
 * What bbflow itself took in a stretch of time (agent/cost/account.h says how each is measured).
 * Nanoseconds: `elapsed`; processor time of the whole `process`; of the `agent` thread, and what of
 * that went into `scan`s after collections and into `report`s; of the `server` thread; of the
 * thread that opens the `gate`; `running`: of these threads together, without class files; of the
 * process while a `window` was open (budget=, duty=), its grace with it; `rewrite`: elapsed while
 * class files were changed, in whatever thread loaded them. Counts: classes `rewritten`; `lives`
 * that were followed and the `steps` of their paths (lower bounds where paths have loops), and the
 * `passed_lives` that sampling left out, as those that it drew stand for them. Estimates:
 * `native_calls` of the hooks into the agent and what they took, and what the `hooks` themselves
 * took. `overhead` is the sum: agent, server, gate, rewriting in other threads, estimates. Once
 * windows have measured what following costs, `hook` is that, natives included, and `shut_gate` is
 * what the hooks take that find their gate shut (ADR 73).
 */
/* clang-format off */
#define BBF_COST_COLUMNS(XX)                                                                       \
    XX(elapsed_ns) XX(process_ns) XX(agent_ns) XX(scan_ns) XX(report_ns) XX(server_ns)             \
    XX(gate_ns) XX(running_ns) XX(window_ns) XX(rewritten) XX(rewrite_ns) XX(lives) XX(passed_lives) XX(steps)                              \
    XX(estimated_native_calls) XX(estimated_native_ns) XX(estimated_hook_ns)                       \
    XX(estimated_shut_gate_ns) XX(estimated_overhead_ns)

/* Measured cost, on this machine, of a life and of a step, followed or passed over, in picoseconds;
 * the longest rewriting of a class; native memory in bytes, by purpose; budget= in millionths (0 =
 * off, 1 = 0%); `sample`: one life in this number is followed; `raised`, `lowered`, `refused`: how often
 * an older bbflow changed that number for budget=, now 0. `share`: of the time, for windows now, 0 =
 * there are none; `pairs` of windows and the time beside them were measured, and by these following
 * is that part of the processor time in windows, with a 95 % interval (0 below 8 pairs). */
#define BBF_COST_VALUES(XX)                                                                        \
    XX(life_ps) XX(step_ps) XX(passed_life_ps) XX(passed_step_ps) XX(rewrite_longest_ns)           \
    XX(memory_nodes) XX(memory_lives) XX(memory_leaks) XX(memory_other)                            \
    XX(budget_ppm) XX(sample) XX(raised) XX(lowered) XX(refused)                                   \
    XX(share_ppm) XX(pairs) XX(part_ppm) XX(part_low_ppm) XX(part_high_ppm)
/* clang-format on */

struct bbf_snap_cost_row {
#define XX(name) uint64_t name##_;
    BBF_COST_COLUMNS(XX)
#undef XX
};

struct bbf_snap_cost {
    bool measured; /* false: nothing below is valid */
    /* Since the agent was loaded; the last whole interval (budgetSeconds=), all 0 before the first
     * has ended; the last whole interval in which the process was busy, since the last change of
     * settings; and the time since that change (a set, or an attach after a stop). The last two are
     * all 0 if there was none. */
    struct bbf_snap_cost_row since_start, interval, busy, since_change;
    uint64_t busy_ago_ns; /* how long ago that interval ended */
#define XX(name) uint64_t name##_;
    BBF_COST_VALUES(XX)
#undef XX
    int64_t sample_since_ms; /* when the budget chose the rate, since 1970; 0: the user chose it */
    uint64_t sample_ppm;     /* the overhead that made the budget choose it */
};

/*
 * What windows watched since the start or the last reset (options budget, duty): how much of the
 * time, in how many windows; lives that outlived theirs (`frozen`); of the allocations that part
 * was watched (`share`, in billionths, at least 1), by what was counted in windows and beside them,
 * or, where nothing was, by time; and the relative standard error of that share. Counts of a
 * snapshot are of what was watched.
 */
/* clang-format off */
#define BBF_WINDOWS_COLUMNS(XX)                                                                    \
    XX(elapsed_ns) XX(open_ns) XX(windows) XX(frozen) XX(share_ppb) XX(spread_ppm)
/* clang-format on */
struct bbf_snap_windows {
    bool used; /* false: every life was followed, or sample= chose; nothing below is valid */
#define XX(name) uint64_t name##_;
    BBF_WINDOWS_COLUMNS(XX)
#undef XX
};
enum { BBF_SHARE_ALL_PPB = 1000000000 };

struct bbf_snapshot {
    int64_t captured_at_ms; /* since 1970 */
    struct {
        int64_t pid;
        char *main;    /* main class or jar, "" if unknown */
        char *version; /* java.vm.version */
        char **netty;  /* one for each Netty seen: "4.1.140.Final io.netty", or its prefix */
        size_t n_netty;
        char **map_mode; /* ByteBuf classes without the hidden field, and why */
        size_t n_map_mode;
    } jvm;
    struct bbf_snap_pair *settings; /* every option that is set */
    size_t n_settings;
    struct bbf_snap_limit *limits;
    size_t n_limits;
    char **notes; /* sentences: data that are missing, and why; the first lines of every format */
    size_t n_notes;
    struct bbf_snap_totals totals;
    struct bbf_snap_since_start since_start;
    struct bbf_snap_reconciled reconciled;
    struct bbf_snap_cost cost;
    struct bbf_snap_windows windows;
    struct bbf_snap_site *sites;
    size_t n_sites;
    struct bbf_snap_node *nodes; /* a parent always precedes its children */
    size_t n_nodes;
    struct bbf_snap_thread *threads; /* by id */
    size_t n_threads;
    struct bbf_snap_leak *leaks; /* most bytes first, then most lives, then by node */
    size_t n_leaks;
    struct bbf_snap_pin *pins; /* most reserved bytes first, then most buffers, then by node */
    size_t n_pins;
    struct {
        uint64_t seconds;         /* length of an interval; 0: there is no history */
        uint64_t intervals;       /* that are kept */
        uint64_t current_seconds; /* how much of the last interval is over */
    } history;
    struct bbf_snap_growth *growth; /* what is lost first, most bytes first, then by node */
    size_t n_growth;
    struct {
        uint64_t seconds;  /* since the start or the last reset; 0: nothing was summed up */
        uint64_t unlisted; /* byte-seconds of paths without a row */
    } usage_of;
    struct bbf_snap_usage *usage; /* most byte-seconds first, then by node */
    size_t n_usage;
    struct bbf_snap_context *contexts; /* by node, the last that was lost first */
    size_t n_contexts;
    struct bbf_snap_caller *callers; /* by root, most leaked first */
    size_t n_callers;
    struct bbf_snap_misuse *misuses; /* ordered by first occurrence */
    size_t n_misuses;
    uint64_t folded_rows; /* nodes without room, whose counts are in their parents' rows */
    struct { /* memory charged for the rows, uncharged when they are freed; in the tracker */
        _Atomic uint64_t *used;
        uint64_t bytes;
        _Atomic bool *lent; /* set to false then; NULL: no reserved memory is in use */
    } charged;
};

struct bbf_snapshot *bbf_snapshot_new(void);           /* empty, or NULL without memory */
void bbf_snapshot_free(struct bbf_snapshot *snapshot); /* with all that it owns; NULL is allowed */

/* Free the texts of a row. */
void bbf_snap_context_free(struct bbf_snap_context *context);
/* A copy with texts of its own. BBF_ENOMEM: free it nevertheless. */
int bbf_snap_context_copy(struct bbf_snap_context *to, const struct bbf_snap_context *from);

/* Append a copy of `text` to one of the snapshot's lists of strings. Errors: BBF_ENOMEM. */
int bbf_snapshot_add_text(char ***list, size_t *n, const char *text);

/* The name of a leak row's thread; NULL: not known. */
const char *bbf_snapshot_thread(const struct bbf_snapshot *snapshot, uint64_t id);

/* Give the snapshot a thread's name, unless it has one for that id. BBF_ENOMEM. */
int bbf_snapshot_add_thread(struct bbf_snapshot *snapshot, uint64_t id, const char *name);

/*
 * Compute the values that follow from the rows: `passed_` of each node (sum over the subtree of
 * released + live + leaked + held + harmless + unknown), the totals that are column sums, and the
 * order of leaks. Leak rows with the same node, verdict, memory and loss become one (with p50 and
 * thread of the larger part); rows without lives are removed. The same for pins, growth and usage.
 * Leaked or aged lives of a node that no row names get a row with unknown memory, so that `leaks`
 * lists every node that lost a life. The code that filled the rows calls it once. Requires parents
 * before children. Errors: BBF_EFORMAT (bbf_snapshot_check() fails, two nodes with one id, a parent
 * that does not precede its child), BBF_ENOMEM; the rows are then unchanged.
 */
int bbf_snapshot_finish(struct bbf_snapshot *snapshot);

/* Is every index within its table, every enum within its range, and no string NULL? 0 or
 * BBF_EFORMAT. */
int bbf_snapshot_check(const struct bbf_snapshot *snapshot);

#define BBF_NO_PARENT UINT32_MAX

/*
 * Store the index of each node's parent in parents[n_nodes], BBF_NO_PARENT for roots.
 * Errors: BBF_EFORMAT (two nodes with one id, a parent that does not precede its child, more nodes
 * than an index can name; *bad, if not NULL, is the index of that node), BBF_ENOMEM.
 */
int bbf_snapshot_parents(const struct bbf_snapshot *snapshot, uint32_t *parents, size_t *bad);

/*
 * Maps ids to indexes, for rows (nodes, sites) that refer to each other by id. A plain array if the
 * ids are dense, as the tracker's are; otherwise (a document may have any ids) sorted pairs.
 */
struct bbf_id_index {
    uint32_t *direct; /* index + 1 by id - base, 0 = no such id; NULL: use pairs */
    uint64_t *pairs;  /* id << 32 | index, ascending */
    uint32_t base;
    size_t count; /* of direct or of pairs */
};

/*
 * Index `count` ids; the first is at `ids`, each further one `stride` bytes after the one before.
 * Errors: BBF_EFORMAT (an id twice; *bad is the index of the second), BBF_ENOMEM.
 */
int bbf_id_index_init(struct bbf_id_index *index, const uint32_t *ids, size_t count, size_t stride,
                      size_t *bad);
void bbf_id_index_free(struct bbf_id_index *index);
/* false: no such id. */
bool bbf_id_index_find(const struct bbf_id_index *index, uint64_t id, uint32_t *at);

#endif
