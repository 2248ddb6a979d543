/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sinks/flow.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/err.h"
#include "render/line.h"

enum { SLOTS = 2 * BBF_FLOW_PLACES };

/* Lives that had ended at a node when its line was made. */
struct place {
    uint64_t key; /* the node's id + 1; 0: free */
    uint64_t ended;
};

static struct places {
    struct place slots[SLOTS]; /* open addressing */
    size_t n;
    uint64_t before_reset; /* lives that resets took out of the totals */
} * places;                /* NULL: no session wants to know */

struct round {
    const struct bbf_snapshot *snapshot;
    const uint32_t *parents;
    bbf_flow_take *take;
    void *context;
    size_t lines, more, lost;
};

/* NULL: there is no room. */
static struct place *place_of(uint32_t id)
{
    uint64_t key = (uint64_t)id + 1;
    size_t slot = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) % SLOTS;

    while (places->slots[slot].key != 0 && places->slots[slot].key != key)
        slot = (slot + 1) % SLOTS;
    if (places->slots[slot].key == key)
        return &places->slots[slot];
    if (places->n == BBF_FLOW_PLACES)
        return NULL;
    places->n++;
    places->slots[slot].key = key;
    return &places->slots[slot];
}

static uint64_t ended(const struct bbf_snap_node *node)
{
    return node->released_ + node->leaked_ + node->held_ + node->harmless_ + node->unknown_;
}

static void add_path(const struct round *round, size_t i, struct bbf_path *path)
{
    const struct bbf_snapshot *s = round->snapshot;

    *path = (struct bbf_path)BBF_PATH_INIT;
    for (uint32_t at = (uint32_t)i; at != BBF_NO_PARENT; at = round->parents[at]) {
        const struct bbf_snap_site *site = &s->sites[s->nodes[at].site];
        if (!bbf_path_climb(path, site->class_name, site->method))
            return;
    }
}

static void give(struct round *round, size_t i, uint64_t added)
{
    const struct bbf_snap_node *node = &round->snapshot->nodes[i];
    const struct bbf_line_flow flow = {.estimated = round->snapshot->totals.sampled_ > 0,
                                       .added = added,
                                       .ended = ended(node),
                                       .released = node->released_,
                                       .leaked = node->leaked_,
                                       .open = node->live_};
    struct bbf_buf line = BBF_BUF_INIT;
    struct bbf_path path;

    add_path(round, i, &path);
    bbf_line_flow(&line, &flow, &path);
    if (line.failed)
        round->lost++;
    else
        round->take(bbf_buf_cstr(&line), &path, round->context);
    bbf_buf_free(&line);
    round->lines++;
}

static void look(struct round *round, size_t i)
{
    const struct bbf_snap_node *node = &round->snapshot->nodes[i];
    uint64_t now = ended(node);

    if (now == 0)
        return;
    struct place *place = place_of(node->id);
    if (place == NULL) {
        round->lost++;
        return;
    }
    if (now == place->ended)
        return;
    if (round->lines == BBF_FLOW_LINES) {
        round->more++;
        return;
    }
    bool is_known = place->ended > 0 && place->ended < now;
    give(round, i, is_known ? now - place->ended : 0);
    place->ended = now;
}

static void give_more(struct round *round)
{
    const struct bbf_path none = BBF_PATH_INIT;
    struct bbf_buf line = BBF_BUF_INIT;

    if (round->more == 0)
        return;
    bbf_buf_str(&line, "FLOW ");
    bbf_line_more_places(&line, round->more);
    if (!line.failed)
        round->take(bbf_buf_cstr(&line), &none, round->context);
    bbf_buf_free(&line);
}

void bbf_flow_forget(void)
{
    free(places);
    places = NULL;
}

/* After a reset the counts begin at 0 again. With sampling the two columns have different units: a
 * reset is then seen at the nodes whose count is smaller than before. */
static bool make_room(const struct bbf_snapshot *s)
{
    bool is_sampled = s->totals.sampled_ > 0;
    uint64_t before_reset = is_sampled ? 0 : s->since_start.released_ - s->totals.released_;

    if (places != NULL && places->before_reset != before_reset)
        bbf_flow_forget();
    if (places == NULL)
        places = calloc(1, sizeof *places);
    if (places != NULL)
        places->before_reset = before_reset;
    return places != NULL;
}

static size_t count_used(const struct bbf_snapshot *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_nodes; i++)
        n += ended(&s->nodes[i]) > 0;
    return n;
}

size_t bbf_flow_lines(const struct bbf_snapshot *snapshot, bbf_flow_take *take, void *context)
{
    struct round round = {.snapshot = snapshot, .take = take, .context = context};

    if (!make_room(snapshot))
        return count_used(snapshot);
    uint32_t *parents = calloc(snapshot->n_nodes + 1, sizeof *parents);
    if (parents == NULL || bbf_snapshot_parents(snapshot, parents, NULL) != BBF_OK) {
        free(parents);
        return count_used(snapshot);
    }
    round.parents = parents;
    for (size_t i = 0; i < snapshot->n_nodes; i++)
        look(&round, i);
    give_more(&round);
    free(parents);
    return round.lost;
}
