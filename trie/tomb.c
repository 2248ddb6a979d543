/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/tomb.h"

_Static_assert(sizeof(struct bbf_tomb) == 232, "docs/limits.md says what it takes of memory=");

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
