/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/tombs.h"

#include "trie/context.h"
#include "trie/growth.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/scopes.h"

struct bbf_tomb *bbf_tomb_find(const struct bbf_tracker *t, const struct bbf_loss *loss)
{
    for (uint32_t i = bbf_node_at(t, loss->node)->tomb; i != 0; i = bbf_tomb_at(t, i)->next) {
        struct bbf_tomb *tomb = bbf_tomb_at(t, i);
        if (tomb->end == loss->end && tomb->memory == loss->memory && tomb->lost == loss->lost)
            return tomb;
    }
    return NULL;
}

/* Make a new tomb; NULL without memory. */
static struct bbf_tomb *add_tomb(struct bbf_tracker *t, const struct bbf_loss *loss)
{
    uint32_t *first = &bbf_node_at(t, loss->node)->tomb;
    size_t upto = (t->n_tombs + 2) * sizeof(struct bbf_tomb);
    if (upto > atomic_load(&t->tombs.writable)) {
        size_t leaks = bbf_leak_bytes(t, t->tombs.step);
        if (!bbf_budget_charge(&t->budget, leaks))
            return NULL;
        if (!bbf_space_reach(&t->tombs, upto)) {
            bbf_budget_uncharge(&t->budget, leaks);
            return NULL;
        }
    }
    struct bbf_tomb *tomb = bbf_tomb_at(t, ++t->n_tombs);
    *tomb = (struct bbf_tomb){.node = loss->node,
                              .next = *first,
                              .end = (uint8_t)loss->end,
                              .memory = loss->memory,
                              .lost = loss->lost};
    *first = t->n_tombs;
    return tomb;
}

void bbf_tomb_charge(struct bbf_tracker *t, const struct bbf_loss *loss)
{
    struct bbf_tomb *tomb = bbf_tomb_find(t, loss);
    if (t->hear_end != NULL)
        t->hear_end(loss);
    if (t->hear_leak != NULL && loss->end == BBF_END_LEAKED)
        t->hear_leak(loss);
    if (tomb == NULL)
        tomb = add_tomb(t, loss);
    if (loss->end == BBF_END_LEAKED) {
        bbf_growth_lost(t, loss);
        bbf_context_lost(t, loss);
        bbf_scopes_lost(t, loss);
    }
    if (tomb != NULL)
        bbf_tomb_add(tomb, loss);
    else if (loss->end == BBF_END_LEAKED)
        bbf_node_at(t, loss->node)->leaked++;
    else
        bbf_node_unknown(t, loss->node);
}
