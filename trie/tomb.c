#include "trie/tomb.h"

#include "trie/tracker.h"

static uint32_t bucket_of(uint32_t seconds)
{
    uint32_t bucket = seconds == 0 ? 0 : 32 - (uint32_t)__builtin_clz(seconds);
    return bucket < BBF_AGES ? bucket : BBF_AGES - 1;
}

static void add_opener(struct bbf_opener openers[BBF_OPENERS], uint32_t tid)
{
    struct bbf_opener *least = &openers[0];
    for (int i = 0; i < BBF_OPENERS; i++) {
        struct bbf_opener *o = &openers[i];
        if (o->lives == 0 || o->tid == tid) {
            o->tid = tid;
            o->lives += o->lives < UINT32_MAX;
            return;
        }
        if (o->lives < least->lives)
            least = o;
    }
    if (least->lives < UINT32_MAX)
        *least = (struct bbf_opener){tid, least->lives + 1, least->lives};
}

void bbf_tomb_add(struct bbf_tomb *tomb, const struct bbf_loss *loss)
{
    uint32_t *age = &tomb->ages[bucket_of(loss->seconds)];
    tomb->count++;
    tomb->bytes += loss->bytes;
    tomb->references += loss->references;
    if (loss->seconds > tomb->oldest)
        tomb->oldest = loss->seconds;
    *age += *age < UINT32_MAX;
    add_opener(tomb->openers, loss->tid);
}

uint32_t bbf_tomb_p50(const struct bbf_tomb *tomb)
{
    uint64_t all = 0, below = 0;
    uint32_t b = 0;
    for (int i = 0; i < BBF_AGES; i++)
        all += tomb->ages[i];
    uint64_t rank = (all + 1) / 2; /* from 1 */
    while (b < BBF_AGES - 1 && below + tomb->ages[b] < rank)
        below += tomb->ages[b++];
    if (b == 0 || tomb->ages[b] == 0)
        return 0;
    uint64_t low = UINT64_C(1) << (b - 1);
    uint64_t age = low + low * (rank - below - 1) / tomb->ages[b];
    return age < tomb->oldest ? (uint32_t)age : tomb->oldest;
}

uint32_t bbf_tomb_opener(const struct bbf_tomb *tomb, uint64_t *lives)
{
    const struct bbf_opener *most = &tomb->openers[0];
    for (int i = 1; i < BBF_OPENERS; i++)
        if (tomb->openers[i].lives > most->lives)
            most = &tomb->openers[i];
    *lives = most->tid != 0 ? most->lives - most->over : 0;
    return most->tid;
}

struct bbf_tomb *bbf_tomb_find(const struct bbf_tracker *t, const struct bbf_loss *loss)
{
    for (uint32_t i = bbf_node_at(t, loss->node)->tomb; i != 0; i = bbf_tomb_at(t, i)->next) {
        struct bbf_tomb *tomb = bbf_tomb_at(t, i);
        if (tomb->end == loss->end && tomb->memory == loss->memory && tomb->lost == loss->lost)
            return tomb;
    }
    return NULL;
}

/* A new one; NULL without memory. */
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
    if (tomb == NULL)
        tomb = add_tomb(t, loss);
    if (tomb != NULL)
        bbf_tomb_add(tomb, loss);
    else if (loss->end == BBF_END_LEAKED)
        bbf_node_at(t, loss->node)->leaked++;
    else
        bbf_node_unknown(t, loss->node);
}
