/*
 * tests/stress/context_twin.h - java.lang.BBFlowContext's half of the protocol of trie/context.h in
 * C, line by line as the Java has it. Change both together.
 */
#ifndef BBF_TESTS_STRESS_CONTEXT_TWIN_H
#define BBF_TESTS_STRESS_CONTEXT_TWIN_H

#include "trie/context.h"
#include "trie/model.h"

enum {
    TWIN_GUARD = BBF_L_CONTEXT_GUARD / 8,
    TWIN_CHANNEL = BBF_L_CONTEXT_CHANNEL / 8,
    TWIN_SIZES = BBF_L_CONTEXT_SIZES / 8,
    TWIN_THROWN = BBF_L_CONTEXT_THROWN / 8
};

static inline void context_dropped(struct bbf_tracker *t)
{
    atomic_fetch_add(bbf_shared_long(t, BBF_L_SHARED_CONTEXT_DROPPED), 1);
}

/* NULL: context= is off, or there is no memory. */
static inline struct bbf_context *context_at(struct bbf_tracker *t, uint64_t f)
{
    uint64_t base = atomic_load(bbf_shared_long(t, BBF_L_SHARED_CONTEXTS)), record = BBF_LOW(f);
    if (base == 0)
        return NULL;
    if (record < atomic_load(bbf_shared_long(t, BBF_L_SHARED_CONTEXTS_END)) ||
        bbf_context_reach(t, (uint32_t)record))
        return (struct bbf_context *)(uintptr_t)base + record;
    context_dropped(t);
    return NULL;
}

static inline void context_put(struct bbf_context *at, int word, uint64_t value)
{
    atomic_store_explicit(&at->word[word], value, memory_order_relaxed);
}

static inline bool context_lock(struct bbf_tracker *t, struct bbf_context *at, uint64_t f)
{
    uint64_t guard = atomic_load(&at->word[TWIN_GUARD]);
    int32_t newer = (int32_t)(BBF_GENERATION(guard) - BBF_GENERATION(f));
    if ((guard & 1) != 0 || newer > 0 ||
        !atomic_compare_exchange_strong(&at->word[TWIN_GUARD], &guard,
                                        BBF_WORD(BBF_GENERATION(f), BBF_LOW(guard) + 1))) {
        context_dropped(t);
        return false;
    }
    if (newer != 0) {
        context_put(at, TWIN_CHANNEL, 0);
        context_put(at, TWIN_SIZES, 0);
        context_put(at, TWIN_THROWN, 0);
    }
    return true;
}

static inline void context_unlock(struct bbf_context *at)
{
    uint64_t guard = atomic_load_explicit(&at->word[TWIN_GUARD], memory_order_relaxed);
    atomic_store_explicit(&at->word[TWIN_GUARD],
                          BBF_WORD(BBF_GENERATION(guard), BBF_LOW(guard) + 1),
                          memory_order_release);
}

#endif
