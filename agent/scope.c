/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/scope.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agent/commands/set.h"
#include "agent/report/ask.h"
#include "agent/state.h"
#include "core/err.h"
#include "render/render.h"
#include "trie/scopes.h"
#include "trie/switches.h"

enum { WAIT_MS = 30000, PLACES = 2000 };

void bbf_scope_start(struct bbf_buf *why)
{
    const struct bbf_entry on = {.key = {.s = "scopes", .len = 6},
                                 .value = {.kind = BBF_VALUE_BOOLEAN, .u.b = true}};
    struct bbf_buf answer = BBF_BUF_INIT;
    int err = BBF_OK;

    if (!bbf_scopes_on(bbf_agent.tracker) || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        err = bbf_set(NULL, &on, 1, &answer);
    if (err != BBF_OK || !bbf_scopes_on(bbf_agent.tracker))
        bbf_buf_printf(why, "%s", answer.len > 0 ? bbf_buf_cstr(&answer) : bbf_strerror(err));
    bbf_buf_free(&answer);
}

/* A leak row keeps no more than the scope lost there of that kind. */
static void narrow_row(struct bbf_snapshot *s, struct bbf_snap_leak *row,
                       const struct bbf_scope_loss *losses, size_t n)
{
    struct bbf_snap_node *node = &s->nodes[row->node];
    uint64_t count = 0, bytes = 0;

    for (size_t i = 0; i < n && row->verdict == BBF_VERDICT_LEAKED; i++)
        if (losses[i].node == node->id && losses[i].memory == row->memory &&
            losses[i].lost == row->lost) {
            count += losses[i].count;
            bytes += losses[i].bytes;
        }
    if (count >= row->count)
        return; /* all are its own, with what the row says of them */
    row->count = count;
    row->bytes = bytes < row->bytes ? bytes : row->bytes;
    row->references = 0;
    row->thread = 0;
    row->thread_count = 0;
}

/* Of all that was lost leave what the scope lost. The number of these lives; 0: nothing. */
static uint64_t narrow(struct bbf_snapshot *s, const struct bbf_scope_loss *losses, size_t n)
{
    uint64_t found = 0;

    for (size_t i = 0; i < s->n_nodes; i++) {
        struct bbf_snap_node *node = &s->nodes[i];
        node->leaked_ = node->leaked_bytes_ = node->aged_ = 0;
    }
    for (size_t i = 0; i < s->n_leaks; i++) {
        struct bbf_snap_leak *row = &s->leaks[i];
        narrow_row(s, row, losses, n);
        found += row->count;
        s->nodes[row->node].leaked_ += row->count;
        s->nodes[row->node].leaked_bytes_ += row->bytes;
    }
    return bbf_snapshot_finish(s) == BBF_OK ? found : 0;
}

static void render(struct bbf_buf *text, struct bbf_snapshot *s,
                   const struct bbf_scope_loss *losses, size_t n)
{
    static const struct bbf_render_options options = {.max_lines = 1, .places = true};
    struct bbf_buf places = BBF_BUF_INIT;
    uint64_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += losses[i].count;
    bbf_buf_printf(text, "%" PRIu64 "\n", count);
    uint64_t found = n > 0 ? narrow(s, losses, n) : 0;
    if (found > 0 && bbf_render(&places, s, BBF_FORMAT_LEAKS, &options) == BBF_OK)
        bbf_buf_add(text, places.data, places.len);
    if (found < count)
        bbf_buf_printf(text, "%" PRIu64 " of %" PRIu64 " at places that this report cannot name\n",
                       count - found, count);
    bbf_buf_free(&places);
}

void bbf_scope_report(struct bbf_buf *text, uint32_t number, uint32_t during, bool gc)
{
    struct bbf_scope_loss *losses = malloc(PLACES * sizeof *losses);
    int err;
    struct bbf_snapshot *snapshot = losses != NULL ? bbf_ask_snapshot(gc, WAIT_MS, &err) : NULL;

    /* After the scan that made the snapshot. */
    if (snapshot != NULL)
        render(text, snapshot, losses,
               bbf_scopes_list(bbf_agent.tracker, number, during, losses, PLACES));
    bbf_snapshot_free(snapshot);
    free(losses);
}

void bbf_scope_note(struct bbf_buf *text)
{
    struct bbf_scope_counts counts;

    bbf_scopes_counts(bbf_agent.tracker, &counts);
    if (bbf_tracker_sampled(bbf_agent.tracker))
        bbf_buf_str(text, "only a part of the buffers is followed (sample=, budget= or duty=)\n");
    if (counts.dropped > 0)
        bbf_buf_printf(text, "%" PRIu64 " buffers: no memory= for their test\n", counts.dropped);
    if (counts.evicted > 0)
        bbf_buf_printf(text,
                       "%" PRIu64 " channels and tasks: too many for their test to be known\n",
                       counts.evicted);
    if (counts.lost > 0)
        bbf_buf_printf(text, "%" PRIu64 " lost buffers: too many places for their test\n",
                       counts.lost);
}
