/* SPDX-License-Identifier: Apache-2.0 */
#include "client/netty_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/netty_pins.h"
#include "client/netty_state.h"
#include "core/buf.h"
#include "core/err.h"
#include "render/text.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* ---- counts ---- */

/* Is it a buffer, and one that opened in the time that is reported? */
static bool is_reported(const struct bbf_netty_life *life)
{
    return life->address != 0 && life->node != BBF_NETTY_BEFORE;
}

static void count_open(struct bbf_netty_state *s)
{
    for (size_t i = 0; i < s->buffers.room; i++) {
        const struct bbf_netty_life *life = &s->buffers.places[i];
        if (!is_reported(life))
            continue;
        s->paths.nodes[life->node].live++;
        s->paths.nodes[life->node].live_bytes += life->bytes;
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Of a class `opened` were opened and `ended` ended, but not which. A path that opened more than
 * all that ended has the rest open; one that opened more than are open has released the rest. Of
 * those that ended, `before` may be ones that opened before what is reported.
 */
static void count_unpaired(struct bbf_netty_state *s)
{
    const struct bbf_netty_unpaired *u = &s->unpaired;

    for (size_t i = 0; i < u->n_shares; i++) {
        const struct bbf_netty_share *share = &u->shares[i];
        const struct bbf_netty_class *class = &u->classes[share->class];
        struct bbf_netty_node *node = &s->paths.nodes[share->node];
        uint64_t ended = least(class->ended, class->opened);
        uint64_t certain = class->ended - least(class->ended, class->before);
        uint64_t open = class->opened - least(certain, class->opened);
        uint64_t live = share->opened - least(share->opened, ended);
        uint64_t released = share->opened - least(share->opened, open);
        node->live += live;
        node->live_bytes += share->bytes / share->opened * live;
        node->released += released;
        node->unknown += share->opened - live - released;
    }
}

/* ---- rows ---- */

struct aged {
    uint32_t node;
    uint64_t age_ns, bytes;
};

static int compare_aged(const void *a, const void *b)
{
    const struct aged *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->age_ns > y->age_ns) - (x->age_ns < y->age_ns);
}

/* Those that were open for age_ns at the end, by node and age; NULL with *n > 0: no memory. */
static struct aged *find_aged(const struct bbf_netty_state *s, uint64_t age_ns, size_t *n)
{
    struct aged *list = age_ns > 0 ? calloc(s->buffers.n + 1, sizeof *list) : NULL;

    *n = age_ns > 0 && list == NULL ? 1 : 0;
    for (size_t i = 0; list != NULL && i < s->buffers.room; i++) {
        const struct bbf_netty_life *life = &s->buffers.places[i];
        uint64_t age = s->end_ns > life->start_ns ? (uint64_t)(s->end_ns - life->start_ns) : 0;
        if (is_reported(life) && age >= age_ns)
            list[(*n)++] = (struct aged){life->node, age, life->bytes};
    }
    if (*n > 1 && list != NULL)
        qsort(list, *n, sizeof *list, compare_aged);
    return list;
}

static int add_aged(struct bbf_snapshot *to, const struct bbf_netty_state *s, uint64_t age_ns)
{
    size_t n, end;
    struct aged *list = find_aged(s, age_ns, &n);

    if (list == NULL)
        return n > 0 ? BBF_ENOMEM : BBF_OK;
    for (size_t i = 0; i < n; i = end) {
        struct bbf_snap_leak *row = &to->leaks[to->n_leaks++];
        *row = (struct bbf_snap_leak){
            .node = list[i].node, .verdict = BBF_VERDICT_AGED, .memory = BBF_MEM_DIRECT};
        for (end = i; end < n && list[end].node == row->node; end++)
            row->bytes += list[end].bytes;
        row->count = end - i;
        row->oldest_seconds = list[end - 1].age_ns / NS_PER_SECOND;
        row->p50_seconds = list[i + (end - i) / 2].age_ns / NS_PER_SECOND;
        to->nodes[row->node].aged_ = row->count;
    }
    free(list);
    return BBF_OK;
}

/* The mean is what is known of their ages. */
static void add_lost(struct bbf_snapshot *to, const struct bbf_netty_state *s, size_t i)
{
    const struct bbf_netty_node *node = &s->paths.nodes[i];

    if (node->again == 0)
        return;
    if (s->lost_bytes > 0) {
        to->nodes[i].unknown_ += node->again;
        return;
    }
    to->nodes[i].leaked_ = node->again;
    to->nodes[i].leaked_bytes_ = node->again_bytes;
    to->leaks[to->n_leaks++] = (struct bbf_snap_leak){
        .node = (uint32_t)i,
        .verdict = BBF_VERDICT_LEAKED,
        .memory = BBF_MEM_DIRECT,
        .count = node->again,
        .bytes = node->again_bytes,
        .oldest_seconds = node->again_oldest_ns / NS_PER_SECOND,
        .p50_seconds = node->again_ages_ns / node->again / NS_PER_SECOND,
    };
}

static void add_node(struct bbf_snapshot *to, const struct bbf_netty_state *s, size_t i)
{
    const struct bbf_netty_node *node = &s->paths.nodes[i];

    to->nodes[i] = (struct bbf_snap_node){
        .id = (uint32_t)i,
        .parent = node->parent == BBF_NETTY_NO_NODE ? -1 : (int64_t)node->parent,
        .site = node->site,
        .ref = BBF_REF_1_2,
        .released_ = node->released,
        .live_ = node->live,
        .live_bytes_ = node->live_bytes,
        .unknown_ = node->unknown,
    };
    if (node->parent == BBF_NETTY_NO_NODE)
        to->sites[node->site].kind = BBF_SITE_ROOT;
    add_lost(to, s, i);
}

/* The sites' strings become the snapshot's. */
static void move_sites(struct bbf_snapshot *to, struct bbf_netty_paths *paths)
{
    for (size_t i = 0; i < paths->n_sites; i++) {
        struct bbf_netty_site *from = &paths->sites[i];
        to->sites[i] = (struct bbf_snap_site){
            .id = (uint32_t)i,
            .class_name = from->class_name,
            .method = from->method,
            .descriptor = from->descriptor,
            .kind = BBF_SITE_ENTER,
        };
        *from = (struct bbf_netty_site){0};
    }
    to->n_sites = paths->n_sites;
    paths->n_sites = 0;
}

static int fill_rows(struct bbf_snapshot *to, struct bbf_netty_state *s, uint64_t age_ns)
{
    struct bbf_netty_paths *paths = &s->paths;

    to->sites = calloc(paths->n_sites + 1, sizeof *to->sites);
    to->nodes = calloc(paths->n_nodes + 1, sizeof *to->nodes);
    to->leaks = calloc(2 * paths->n_nodes + 1, sizeof *to->leaks);
    if (to->sites == NULL || to->nodes == NULL || to->leaks == NULL)
        return BBF_ENOMEM;
    move_sites(to, paths);
    to->n_nodes = paths->n_nodes;
    for (size_t i = 0; i < paths->n_nodes; i++)
        add_node(to, s, i);
    to->folded_rows = paths->folded;
    return add_aged(to, s, age_ns);
}

static int fill_head(struct bbf_snapshot *to, struct bbf_netty_state *s)
{
    to->captured_at_ms = s->end_ns / 1000000;
    to->jvm.pid = s->pid;
    free(to->jvm.main);
    free(to->jvm.version);
    to->jvm.main = s->main != NULL ? s->main : strdup("");
    to->jvm.version = s->version != NULL ? s->version : strdup("");
    s->main = s->version = NULL;
    return to->jvm.main != NULL && to->jvm.version != NULL ? BBF_OK : BBF_ENOMEM;
}

/* ---- notes: what the numbers mean, and what cannot be known ---- */

struct notes {
    struct bbf_snapshot *to;
    struct bbf_buf text;
    int err;
};

static void end_note(struct notes *n)
{
    if (n->err == BBF_OK && n->text.failed)
        n->err = BBF_ENOMEM;
    if (n->err == BBF_OK)
        n->err = bbf_snapshot_add_text(&n->to->notes, &n->to->n_notes, bbf_buf_cstr(&n->text));
    n->text.len = 0;
}

static void note(struct notes *n, const char *text)
{
    bbf_buf_str(&n->text, text);
    end_note(n);
}

/* "12 one" or "12 many", if `count` is not 0. */
static void note_count(struct notes *n, uint64_t count, const char *one, const char *many)
{
    if (count == 0)
        return;
    bbf_buf_printf(&n->text, "%" PRIu64 " %s", count, count == 1 ? one : many);
    end_note(n);
}

static void note_open(struct notes *n, const struct bbf_netty_state *s, uint64_t age_ns)
{
    uint64_t bytes = 0, count = 0;

    for (size_t i = 0; i < s->buffers.room; i++) {
        bool is = is_reported(&s->buffers.places[i]);
        bytes += is ? s->buffers.places[i].bytes : 0;
        count += is;
    }
    if (count == 0 || age_ns > 0)
        return;
    bbf_buf_printf(&n->text, "%" PRIu64 " direct %s (", count, count == 1 ? "buffer" : "buffers");
    bbf_text_bytes(&n->text, bytes);
    bbf_buf_printf(&n->text,
                   ") had no FreeBuffer event %s: live, not known to be leaked; --age=60s shows "
                   "those that were open longer than that",
                   s->until_ns != 0 ? "before --until" : "at the recording's end");
    end_note(n);
}

static void note_unpaired(struct notes *n, const struct bbf_netty_state *s)
{
    note_count(
        n, s->late,
        "direct buffer has no address of its own in its event (PooledByteBufAllocator before "
        "JDK 25, or with Unsafe): its end is matched by size class, paths that share a class "
        "have 'unknown' lives; the adaptive allocator's events are exact",
        "direct buffers have no address of their own in their events "
        "(PooledByteBufAllocator before JDK 25, or with Unsafe): ends are matched by size "
        "class, paths that share a class have 'unknown' lives; the adaptive allocator's "
        "events are exact");
    note_count(n, s->heap,
               "heap buffer has no address: its end is matched by size class, paths that share a "
               "class have 'unknown' lives",
               "heap buffers have no address: ends are matched by size class, paths that share a "
               "class have 'unknown' lives");
    note_count(n, s->grown_unpaired,
               "buffer without an address grew: it counts again, where it grew",
               "buffers without an address grew: each counts again, where it grew");
}

static void note_missed(struct notes *n, const struct bbf_netty_state *s)
{
    uint64_t again = 0;

    for (size_t i = 0; i < s->paths.n_nodes; i++)
        again += s->paths.nodes[i].again;
    if (s->lost_bytes > 0) {
        bbf_buf_str(&n->text, "the JVM lost events (jdk.DataLoss, ");
        bbf_text_bytes(&n->text, s->lost_bytes);
        bbf_buf_str(&n->text, "): a buffer whose FreeBuffer was among them is shown as live");
        end_note(n);
        note_count(n, again, "address was opened again without a FreeBuffer: its end is unknown",
                   "addresses were opened again without a FreeBuffer: their ends are unknown");
    } else {
        note_count(n, again, "buffer is leaked: its address was opened again without a FreeBuffer",
                   "buffers are leaked: their addresses were opened again without a FreeBuffer");
    }
    if (s->frees == 0)
        note(n,
             "there is no FreeBuffer event: enable io.netty.FreeBuffer, or all are shown as live");
    if (s->allocations == 0)
        note(n, "there is no AllocateBuffer event: enable io.netty.AllocateBuffer");
    note_count(n, s->early, "buffer was freed that opened before the recording",
               "buffers were freed that opened before the recording");
    note_count(n, s->grown_early,
               "buffer grew that opened before the recording: its path begins where it grew",
               "buffers grew that opened before the recording: their paths begin where they grew");
}

static void note_paths(struct notes *n, const struct bbf_netty_state *s)
{
    note_count(n, s->paths.truncated,
               "stack is cut: -XX:FlightRecorderOptions=stackdepth=256 records more of it",
               "stacks are cut: -XX:FlightRecorderOptions=stackdepth=256 records more of them");
    note_count(n, s->paths.without_stack, "event has no stack: set io.netty.*#stackTrace=true",
               "events have no stack: set io.netty.*#stackTrace=true");
    note_count(n, s->paths.folded,
               "stack ends early, because --max-nodes is reached: its lives are at a caller",
               "stacks end early, because --max-nodes is reached: their lives are at a caller");
}

static int fill_notes(struct bbf_snapshot *to, const struct bbf_netty_state *s, uint64_t age_ns)
{
    struct notes n = {.to = to, .text = BBF_BUF_INIT};

    note(&n, "from Netty's flight recorder events: a path begins at the method that allocated, and "
             "its callers follow; where a buffer went afterwards is not recorded, and Unpooled "
             "fires no event");
    note_count(&n, s->outside, "event is left out by --from or --until",
               "events are left out by --from or --until");
    note_open(&n, s, age_ns);
    note_missed(&n, s);
    note_unpaired(&n, s);
    note_paths(&n, s);
    if (n.err == BBF_OK)
        n.err = bbf_netty_note_pins(to, s);
    bbf_buf_free(&n.text);
    return n.err;
}

int bbf_netty_report(struct bbf_netty_state *s, uint64_t age_ns, struct bbf_snapshot **out)
{
    struct bbf_snapshot *to = bbf_snapshot_new();

    if (to == NULL)
        return BBF_ENOMEM;
    count_open(s);
    count_unpaired(s);
    int err = fill_head(to, s);
    if (err == BBF_OK)
        err = fill_rows(to, s, age_ns);
    if (err == BBF_OK)
        err = fill_notes(to, s, age_ns);
    if (err == BBF_OK)
        err = bbf_snapshot_finish(to);
    if (err == BBF_OK)
        *out = to;
    else
        bbf_snapshot_free(to);
    return err;
}
