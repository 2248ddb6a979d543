/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/lives.h - records of lives: taken by applications' threads, searched for what was collected
 * by the agent thread.
 *
 * Threads: stated at each function.
 */
#ifndef BBF_TRIE_LIVES_H
#define BBF_TRIE_LIVES_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

/* 64 fresh records, linked; the first one's number, 0 at a limit. Any thread, lock-free. */
uint32_t bbf_record_bump(struct bbf_tracker *t);
/* Take one record from the shared stack or fresh; 0 at a limit. Any thread, lock-free. */
uint32_t bbf_record_pop(struct bbf_tracker *t);
/* Give a chain of records (linked by next) to the shared stack. Any thread, lock-free. */
void bbf_record_push(struct bbf_tracker *t, uint32_t head);
/* A carrier thread ended: charge what its stripe holds, give its records back, free the stripe.
 * False: it had none, so it opened and released nothing. */
bool bbf_stripe_retire(struct bbf_tracker *t, uint64_t tid);

/* The JVM as the scan sees it. All calls come from the agent thread. */
struct bbf_jvm_refs {
    void *ctx;
    /* Make a weak reference to the object in strong slot `record`: its handle, 0 if none could be
     * had; *empty is set if the slot held nothing (a bug, counted). */
    uint64_t (*weaken)(void *ctx, uint32_t record, bool *empty);
    bool (*clear)(void *ctx, uint32_t record); /* empty the slot; false: it is as it was */
    /* Put a java.lang.ref.WeakReference in the place of the object in the slot, which the map finds
     * its lives by; false: the slot is as it was. */
    bool (*soften)(void *ctx, uint32_t record);
    bool (*collected)(void *ctx, uint64_t weak);
    void (*forget)(void *ctx, uint64_t weak);
};

/* Convert the slots of open lives, find what was collected, free what is free (design.md: convert
 * and collect). Agent. */
void bbf_lives_scan(struct bbf_tracker *t, const struct bbf_jvm_refs *heap);
/* Clear every slot, for good: no thread will scan again (the agent thread ends). Open lives can
 * still be released; dropped objects are collected by the JVM and stay `live` here. Agent. */
void bbf_lives_abandon(struct bbf_tracker *t, const struct bbf_jvm_refs *heap);
/* Mark every open life: it ends only as `unknown` from now on (design.md: stop). Agent. */
void bbf_lives_mark_stopped(struct bbf_tracker *t);
/* Lives not followed to an end yet: what tests at rest compare with. Any thread, no snapshot. */
uint64_t bbf_lives_open(const struct bbf_tracker *t);

#endif
