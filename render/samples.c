/* SPDX-License-Identifier: Apache-2.0 */
#include "render/samples.h"

#include <stdlib.h>

#include "core/err.h"
#include "render/json_names.h"

const struct bbf_sample_name bbf_sample_names[BBF_SAMPLE_COUNT] = {
#define XX(id, name, unit) {name, unit},
    BBF_SAMPLE_TYPES(XX)
#undef XX
};

static struct bbf_sample of_leak(const struct bbf_snap_leak *leak)
{
    struct bbf_sample sample = {.node = leak->node, .leak = leak};
    bool open = leak->verdict == BBF_VERDICT_AGED;

    sample.values[open ? BBF_SAMPLE_OPEN : BBF_SAMPLE_LEAKED] = leak->count;
    sample.values[open ? BBF_SAMPLE_OPEN_BYTES : BBF_SAMPLE_LEAKED_BYTES] = leak->bytes;
    return sample;
}

/* Rows of a document need not agree: never less than nothing. */
static uint64_t without(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

int bbf_samples_each(const struct bbf_view *view,
                     void (*take)(void *ctx, const struct bbf_sample *sample), void *ctx)
{
    const struct bbf_snapshot *s = view->snapshot;
    uint64_t *aged = calloc(s->n_nodes + 1, sizeof *aged); /* bytes, by node */

    if (aged == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_leaks; i++) {
        const struct bbf_sample sample = of_leak(&s->leaks[i]);
        aged[sample.node] += sample.values[BBF_SAMPLE_OPEN_BYTES];
        take(ctx, &sample);
    }
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct bbf_snap_node *node = &s->nodes[i];
        struct bbf_sample sample = {.node = (uint32_t)i};
        sample.values[BBF_SAMPLE_OPEN] = without(node->live_, node->aged_);
        sample.values[BBF_SAMPLE_OPEN_BYTES] = without(node->live_bytes_, aged[i]);
        if (sample.values[BBF_SAMPLE_OPEN] != 0)
            take(ctx, &sample);
    }
    free(aged);
    return BBF_OK;
}

const char *bbf_sample_verdict(const struct bbf_sample *sample)
{
    return sample->leak != NULL ? bbf_json_verdicts[sample->leak->verdict] : "open";
}

uint64_t bbf_sample_period(const struct bbf_snapshot *snapshot)
{
    return snapshot->totals.sampled_ > 1 ? snapshot->totals.sampled_ : 1;
}

uint64_t bbf_sample_duration_ns(const struct bbf_snapshot *snapshot, int64_t since_ms)
{
    if (since_ms <= 0 || snapshot->captured_at_ms <= since_ms ||
        snapshot->captured_at_ms >= INT64_MAX / 1000000)
        return 0;
    return (uint64_t)(snapshot->captured_at_ms - since_ms) * 1000000;
}
