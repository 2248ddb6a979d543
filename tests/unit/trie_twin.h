/*
 * tests/unit/trie_twin.h - one tracker, one heap and one application thread, for tests that walk
 * single lives through both halves of the protocol (tests/stress/shim_twin.h, trie/lives.c).
 */
#ifndef BBF_TESTS_UNIT_TRIE_TWIN_H
#define BBF_TESTS_UNIT_TRIE_TWIN_H

#include "tests/stress/shim_twin.h"
#include "tests/unit/trie_sample.h"

struct walk {
    struct bbf_tracker *t;
    struct heap_twin *heap;
    struct bbf_jvm_refs agent;
    struct twin twin;
    struct twin_thread thread, *me;
    uint32_t root, a, b, derive; /* sites */
    uint32_t heap_class, direct_class;
};

static inline struct walk *walk_new(struct bbf_limits limits)
{
    struct walk *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->t = sample_tracker(limits);
    w->heap = calloc(1, sizeof *w->heap);
    assert_non_null(w->heap);
    atomic_store(&w->heap->clock, 1);
    w->agent = heap_twin_agent(w->heap);
    w->root = sample_site(w->t, BBF_SITE_ROOT, "directBuffer");
    w->a = sample_site(w->t, BBF_SITE_ENTER, "a");
    w->b = sample_site(w->t, BBF_SITE_ENTER, "b");
    w->derive = sample_site(w->t, BBF_SITE_DERIVE, "retainedSlice");
    w->heap_class = bbf_class_intern(w->t, "io/netty/buffer/UnpooledHeapByteBuf");
    w->direct_class = bbf_class_intern(w->t, "io/netty/buffer/PooledDirectByteBuf");
    w->twin = (struct twin){.t = w->t, .heap = w->heap};
    w->twin.first_site = sample_site(w->t, BBF_SITE_ROOT, "?first-seen PooledDirectByteBuf");
    w->thread = (struct twin_thread){.w = &w->twin, .tid = 77, .random = 1};
    w->me = &w->thread;
    return w;
}

static inline void walk_free(struct walk *w)
{
    for (uint32_t r = 0; r < HEAP_SLOTS; r++) {
        twin_set_slot(w->heap, r, NULL);
        if (r >= BBF_L_FIRST_RECORD && r < w->t->next_record &&
            atomic_load(&bbf_record_at(w->t, r)->jweak) > 1)
            twin_forget(w->heap, atomic_load(&bbf_record_at(w->t, r)->jweak));
    }
    assert_int_equal(w->heap->objects, 0); /* only slots and weak references hold any */
    free(w->heap);
    sample_free(w->t);
    free(w);
}

/* A ByteBuf that no hook has seen yet. */
static inline struct twin_object *walk_object(struct walk *w)
{
    uint64_t kind = BBF_L_KIND_OWNER | BBF_L_KIND_FIELD | w->direct_class;
    return twin_new(w->heap, kind, NULL);
}

/* As an allocator returns it: `size` bytes of `memory` (enum bbf_memory and MEM_ bits). */
static inline struct twin_object *walk_buffer(struct walk *w, uint32_t memory, uint32_t size)
{
    struct twin_object *o = walk_object(w);
    twin_root(w->me, o, size, w->root | memory << BBF_L_META_MEM_SHIFT);
    return o;
}

static inline void walk_gc(struct walk *w)
{
    twin_collect_garbage(w->heap);
}

/* Convert, collect garbage, see what is gone, with two more passes for held lives. */
static inline void walk_scan(struct walk *w)
{
    for (int i = 0; i < 3; i++) {
        bbf_lives_scan(w->t, &w->agent);
        walk_gc(w);
    }
    bbf_lives_scan(w->t, &w->agent);
    assert_int_equal(w->t->empty_slots, 0);
}

static inline struct bbf_record *walk_record(struct walk *w, struct twin_object *o)
{
    return bbf_record_at(w->t, (uint32_t)atomic_load(&o->bbf));
}

/* The node where the buffer is. */
static inline uint32_t walk_node(struct walk *w, struct twin_object *o)
{
    return (uint32_t)atomic_load(&walk_record(w, o)->path);
}

/* Totals as `released live leaked held harmless unknown`. */
static inline void walk_assert_totals(struct walk *w, const char *wanted)
{
    struct bbf_snapshot *s = sample_capture(w->t);
    const struct bbf_snap_totals *n = &s->totals;
    char got[200];
    snprintf(got, sizeof got, "%u %u %u %u %u %u", (unsigned)n->released_, (unsigned)n->live_,
             (unsigned)n->leaked_, (unsigned)n->held_, (unsigned)n->harmless_,
             (unsigned)n->unknown_);
    assert_string_equal(got, wanted);
    assert_int_equal(n->lives_,
                     n->released_ + n->live_ + n->leaked_ + n->held_ + n->harmless_ + n->unknown_);
    bbf_snapshot_free(s);
}

#endif
