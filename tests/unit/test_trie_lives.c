/* link: bbf_trie bbf_core */
/* trie/lives.c and the shim's twin, one thread at a time: each verdict of design.md: verdicts,
 * records that are recycled, given back, and stripes whose thread ended. Lives that hold others:
 * test_trie_held.c.
 */
#include "tests/unit/trie_twin.h"

static void a_released_life_is_counted_where_it_stood(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 256);
    (void)state;
    twin_step(w->me, o, w->a);
    twin_step(w->me, o, w->b);
    uint32_t node = walk_node(w, o);
    assert_int_equal(bbf_node_at(w->t, node)->site, w->b);
    assert_int_equal(bbf_node_at(w->t, node)->depth, 3);
    walk_assert_totals(w, .live = 1);
    assert_int_equal(bbf_lives_open(w->t), 1);
    twin_release(w->me, o, true);
    assert_int_equal(bbf_lives_open(w->t), 0);
    walk_assert_totals(w, .released = 1);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(sample_row(s, node)->passed_, 1);
    assert_int_equal(sample_row(s, node)->released_, 0);
    const struct bbf_snap_node *end = &s->nodes[s->n_nodes - 1];
    assert_int_equal(end->parent, node);
    assert_int_equal(end->released_, 1);
    assert_int_equal(end->ref, BBF_REF_0);
    assert_string_equal(s->sites[end->site].class_name, "io.netty.buffer.PooledDirectByteBuf");
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, .released = 1);
    walk_free(w);
}

static void a_dropped_life_is_leaked_where_it_stood(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 4096);
    (void)state;
    twin_step(w->me, o, w->a);
    uint32_t node = walk_node(w, o);
    *bbf_shared_int(w->t, BBF_L_SHARED_NOW) = 40;
    bbf_lives_scan(w->t, &w->agent);
    walk_assert_totals(w, .live = 1); /* converted, and still held by its user */
    walk_gc(w);
    bbf_lives_scan(w->t, &w->agent);
    walk_assert_totals(w, .live = 1);
    twin_drop(w->heap, o);
    walk_assert_totals(w, .live = 1);
    walk_scan(w);
    walk_assert_totals(w, .leaked = 1);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->n_leaks, 1);
    assert_int_equal(s->nodes[s->leaks[0].node].id, node);
    assert_int_equal(s->leaks[0].count, 1);
    assert_int_equal(s->leaks[0].bytes, 4096);
    assert_int_equal(s->leaks[0].memory, BBF_MEM_DIRECT);
    assert_int_equal(s->leaks[0].verdict, BBF_VERDICT_LEAKED);
    assert_int_equal(s->leaks[0].oldest_seconds, 40);
    assert_int_equal(sample_row(s, node)->leaked_, 1);
    assert_int_equal(s->totals.leaked_bytes_, 4096);
    bbf_snapshot_free(s);
    assert_int_equal(w->heap->objects, 0); /* no weak reference is kept */
    walk_free(w);
}

static void what_costs_nothing_is_harmless_and_foreign_counts_are_unknown(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    twin_drop(w->heap, walk_buffer(w, BBF_MEM_HEAP | BBF_L_MEM_HARMLESS, 10));
    struct twin_object *o = walk_object(w);
    o->kind = (o->kind & ~(uint64_t)BBF_L_KIND_OWNER) | BBF_L_KIND_FOREIGN;
    twin_root(w->me, o, 10, w->root);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, .harmless = 1, .unknown = 1);
    walk_free(w);
}

/* What an unreleasable wrapper had is harmless where the collector gives its memory back. */
static void what_nobody_may_release_leaks_if_its_memory_is_lost_for_good(void **state)
{
    static const struct {
        enum bbf_lost lost;
        struct walk_totals totals;
    } table[] = {{BBF_LOST_FOR_GOOD, {.leaked = 1}},
                 {BBF_LOST_COUNTER, {.harmless = 1}},
                 {BBF_LOST_NOTHING, {.harmless = 1}},
                 {BBF_LOST_UNKNOWN, {.harmless = 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct walk *w = walk_new(sample_limits());
        bbf_class_lost(w->t, w->direct_class, table[i].lost);
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
        struct twin_object *wrapper = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
        twin_unreleasable(w->me, wrapper, o);
        twin_drop(w->heap, wrapper);
        twin_drop(w->heap, o);
        walk_scan(w);
        walk_assert_totals_are(w, table[i].totals);
        walk_free(w);
    }
}

static void a_static_buffer_is_live_and_never_leaks(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_HEAP, 10);
    struct twin_object *wrapper = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
    (void)state;
    twin_alias(w->me, wrapper, o); /* WrappedByteBuf's constructor runs first */
    twin_unreleasable(w->me, wrapper, o);
    uint32_t node = walk_node(w, o);
    twin_step(w->me, wrapper, w->a);
    assert_int_equal(walk_node(w, o), node); /* the wrapper is not followed */
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.static_, 1);
    assert_int_equal(s->totals.live_, 1);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    twin_drop(w->heap, wrapper);
    walk_scan(w);
    walk_assert_totals(w, .harmless = 1);
    walk_free(w);
}

/* ---- first sight ---- */

static void a_buffer_first_seen_in_a_constructor_is_one_life(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_object(w);
    (void)state;
    twin_step(w->me, o, w->a);
    walk_assert_totals(w, .live = 1);
    uint64_t handle = atomic_load(&o->bbf);
    twin_root(w->me, o, 64, w->root);
    assert_int_equal(atomic_load(&o->bbf), handle);
    assert_int_equal(bbf_node_at(w->t, walk_node(w, o))->site, w->root);
    /* A second root is a second life: whatever became of the first is not known. */
    twin_root(w->me, o, 64, w->root);
    assert_int_not_equal(atomic_load(&o->bbf), handle);
    walk_assert_totals(w, .live = 1, .unknown = 1);
    twin_release(w->me, o, true);
    walk_assert_totals(w, .released = 1, .unknown = 1);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

/* Pooled and wrapped for leak detection: the root hook is given the wrapper, whose constructor saw
 * the handle of the buffer's last life. */
static void a_root_that_meets_a_wrapper_opens_its_buffers_life(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    (void)state;
    twin_release(w->me, o, true);
    twin_root(w->me, o, 64, w->root);
    twin_release(w->me, o, true);
    struct twin_object *wrapper = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
    twin_wrap(w->me, wrapper, o);
    twin_step(w->me, wrapper, w->b); /* the last life is over: no step, and nothing is copied */
    assert_int_equal(twin_current(w->me, wrapper), atomic_load(&o->bbf));
    assert_int_equal(atomic_load(&wrapper->bbf), 0);
    twin_root(w->me, wrapper, 64, w->root);
    uint64_t handle = atomic_load(&o->bbf);
    assert_true(twin_is_open(w->me, handle));
    assert_int_equal(atomic_load(&wrapper->bbf), handle);
    twin_root_keep(w->me, wrapper, 64, w->a); /* an outer terminal keeps what is open */
    twin_step(w->me, wrapper, w->b);
    assert_int_equal(atomic_load(&o->bbf), handle);
    assert_int_equal(bbf_node_at(w->t, walk_node(w, o))->site, w->b);
    twin_release(w->me, o, true);
    walk_assert_totals(w, .released = 3);
    twin_drop(w->heap, o);
    twin_drop(w->heap, wrapper);
    walk_scan(w);
    walk_assert_totals(w, .released = 3);
    walk_free(w);
}

/* ---- records ---- */

static void a_recycled_object_keeps_its_record(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    (void)state;
    twin_release(w->me, o, true);
    twin_root(w->me, o, 64, w->root); /* met again: sticky from now on */
    uint64_t first = atomic_load(&o->bbf);
    for (uint32_t i = 1; i <= 70000; i++) { /* over the end of a run's 16 bits */
        twin_step(w->me, o, w->a);
        twin_release(w->me, o, true);
        twin_root(w->me, o, 64, w->root);
        if (i == 100 || i == 5000)
            walk_scan(w); /* its weak reference changes nothing */
    }
    assert_int_equal((uint32_t)atomic_load(&o->bbf), (uint32_t)first);
    assert_int_equal(atomic_load(&o->bbf) >> 32, (first >> 32) + 70000);
    walk_assert_totals(w, .released = 70001, .live = 1);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, .released = 70001, .leaked = 1);
    assert_int_equal(w->heap->objects, 0);
    walk_free(w);
}

static void a_recycled_object_that_dies_released_gives_its_record_back(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 64);
    (void)state;
    twin_release(w->me, o, true);
    twin_root(w->me, o, 64, w->root);
    uint32_t record = (uint32_t)atomic_load(&o->bbf);
    twin_release(w->me, o, true);
    assert_int_equal(atomic_load(&bbf_record_at(w->t, record)->life) & 0xfff,
                     BBF_L_CLOSED | BBF_L_STICKY);
    twin_drop(w->heap, o);
    walk_scan(w);
    assert_int_equal(atomic_load(&bbf_record_at(w->t, record)->life) & 0xfff, BBF_L_CLOSED);
    walk_assert_totals(w, .released = 2);
    assert_int_equal(bbf_record_pop(w->t), record); /* on the shared stack */
    walk_free(w);
}

static void without_weak_references_lives_are_followed_to_their_release(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *kept = walk_buffer(w, BBF_MEM_DIRECT, 1), *lost;
    (void)state;
    lost = walk_buffer(w, BBF_MEM_DIRECT, 1);
    w->heap->no_weak = true;
    bbf_lives_scan(w->t, &w->agent);
    assert_int_equal(w->t->no_weakref, 2);
    assert_int_equal(w->t->empty_slots, 0);
    twin_release(w->me, kept, true);
    twin_drop(w->heap, kept);
    twin_drop(w->heap, lost);
    assert_int_equal(w->heap->objects, 0); /* nothing is pinned */
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .live = 1);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.no_weakref_, 2);
    bbf_snapshot_free(s);
    walk_free(w);
}

static void a_slot_that_cannot_be_emptied_is_said_and_emptied_by_a_later_scan(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *released = walk_buffer(w, BBF_MEM_DIRECT, 1), *lost;
    (void)state;
    lost = walk_buffer(w, BBF_MEM_DIRECT, 1);
    w->heap->no_clear = true;
    bbf_lives_scan(w->t, &w->agent);
    assert_int_equal(w->t->kept_slots, 2);
    twin_release(w->me, released, true);
    twin_drop(w->heap, released);
    twin_drop(w->heap, lost);
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .live = 1); /* what we hold is no garbage */
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_true(s->totals.internal_errors_ >= 2);
    bbf_snapshot_free(s);
    w->heap->no_clear = false;
    bbf_lives_scan(w->t, &w->agent);
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .leaked = 1);
    walk_free(w);
}

static void at_the_limit_of_lives_buffers_are_not_followed_and_counted(void **state)
{
    struct bbf_limits limits = sample_limits();
    limits.max_lives = 64;
    struct walk *w = walk_new(limits);
    struct twin_object *o[70];
    (void)state;
    for (int i = 0; i < 70; i++) {
        o[i] = walk_object(w);
        twin_root(w->me, o[i], 1, w->root | BBF_MEM_DIRECT << BBF_L_META_MEM_SHIFT);
        twin_step(w->me, o[i], w->a);
        if (i >= 64)
            assert_int_equal(atomic_load(&o[i]->bbf), BBF_HANDLE_IGN);
    }
    walk_assert_totals(w, .live = 64);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.dropped_lives_, 6);
    bbf_snapshot_free(s);
    for (int i = 0; i < 70; i++)
        twin_release(w->me, o[i], true);
    walk_assert_totals(w, .released = 64);
    /* Room again, for those too that were not followed before. */
    twin_root(w->me, o[69], 1, w->root);
    walk_assert_totals(w, .released = 64, .live = 1);
    for (int i = 0; i < 70; i++)
        twin_drop(w->heap, o[i]);
    walk_scan(w);
    walk_assert_totals(w, .released = 64, .leaked = 1);
    walk_free(w);
}

static void a_thread_that_ends_leaves_nothing_behind(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    struct bbf_stripe *stripe = &w->t->stripes[77];
    (void)state;
    twin_step(w->me, o, w->a);
    uint32_t node = walk_node(w, o);
    twin_release(w->me, o, true);
    assert_int_equal(stripe->owner, 77);
    assert_int_not_equal(stripe->head, 0);
    walk_assert_totals(w, .released = 1);
    bbf_stripe_retire(w->t, 78); /* another thread's end */
    assert_int_equal(stripe->owner, 77);
    bbf_stripe_retire(w->t, 77);
    assert_int_equal(stripe->owner, 0);
    assert_int_equal(stripe->head, 0);
    for (int i = 0; i < BBF_L_RUN_SLOTS; i++)
        assert_int_equal(stripe->run[i], 0);
    walk_assert_totals(w, .released = 1);
    uint32_t key = (BBF_REF_0 + 1) << BBF_L_KEY_BUCKET_SHIFT | w->t->release_site[w->direct_class];
    assert_int_equal(*bbf_released_count(w->t, bbf_node_find(w->t, node, key)), 1);
    /* All 64 records of its batch can be had again before fresh ones are made. */
    uint32_t end = w->t->next_record;
    for (int i = 0; i < BBF_L_BATCH; i++)
        assert_true(bbf_record_pop(w->t) < end);
    assert_int_equal(w->t->next_record, end);
    assert_int_equal(bbf_record_pop(w->t), end);
    twin_drop(w->heap, o);
    walk_free(w);
}

static void a_thread_whose_places_are_taken_works_without_a_stripe(void **state)
{
    struct walk *w = walk_new(sample_limits());
    (void)state;
    w->t->stripes[77].owner = 1;
    w->t->stripes[(77 * UINT64_C(0x9E3779B97F4A7C15)) >> 54].owner = 1;
    assert_null(twin_stripe(w->me));
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1), *p;
    p = walk_buffer(w, BBF_MEM_DIRECT, 1);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    twin_drop(w->heap, p);
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .leaked = 1);
    /* The second place serves as well. */
    w->t->stripes[(77 * UINT64_C(0x9E3779B97F4A7C15)) >> 54].owner = 0;
    assert_ptr_equal(twin_stripe(w->me), &w->t->stripes[(77 * UINT64_C(0x9E3779B97F4A7C15)) >> 54]);
    walk_free(w);
}

/* ---- misuse and views ---- */

static void assert_ended(struct walk *w, uint64_t handle, uint32_t node, uint32_t tid)
{
    uint32_t at = 0, by = 0;
    assert_true(bbf_life_find_ended(w->t, handle, &at, &by));
    assert_int_equal(at, node);
    assert_int_equal(by, tid);
}

static void a_released_life_is_known_by_its_handle_for_a_while(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    uint64_t handles[BBF_L_ENDED_SLOTS + 2], first = o->bbf;
    uint32_t node, tid;
    (void)state;
    assert_false(bbf_life_find_ended(w->t, first, &node, &tid)); /* open */
    twin_step(w->me, o, w->a);
    node = walk_node(w, o);
    twin_release(w->me, o, true);
    assert_ended(w, first, node, 77);
    /* Its record is another's, its object's next life is sticky: plain closes. */
    twin_root(w->me, o, 1, w->root);
    twin_release(w->me, o, true);
    twin_root(w->me, o, 1, w->root);
    uint32_t root = walk_node(w, o);
    twin_release(w->me, o, true);
    assert_ended(w, o->bbf, root, 77);
    /* An end that is no release, of a sticky record: not taken for the one before it. */
    twin_root(w->me, o, 1, w->root);
    assert_true(twin_end_by(w->me, o->bbf, true));
    assert_false(bbf_life_find_ended(w->t, o->bbf, &node, &tid));
    /* The last ENDED_SLOTS of a thread, and no more. */
    for (int i = 0; i < BBF_L_ENDED_SLOTS + 2; i++) {
        struct twin_object *p = walk_buffer(w, BBF_MEM_DIRECT, 1);
        handles[i] = p->bbf;
        twin_release(w->me, p, true);
        twin_drop(w->heap, p);
    }
    assert_false(bbf_life_find_ended(w->t, handles[1], &node, &tid));
    assert_ended(w, handles[2], root, 77);
    assert_ended(w, handles[BBF_L_ENDED_SLOTS + 1], root, 77);
    assert_false(bbf_life_find_ended(w->t, BBF_HANDLE_IGN, &node, &tid));
    assert_false(bbf_life_find_ended(w->t, BBF_WORD(1, UINT32_MAX), &node, &tid));
    twin_drop(w->heap, o);
    walk_free(w);
}

static void use_and_release_after_release_change_nothing(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1), *p;
    (void)state;
    twin_release(w->me, o, true);
    p = walk_buffer(w, BBF_MEM_DIRECT, 1); /* on the same record */
    assert_int_equal((uint32_t)atomic_load(&p->bbf), (uint32_t)atomic_load(&o->bbf));
    uint32_t node = walk_node(w, p);
    twin_step(w->me, o, w->a);
    twin_step(w->me, o, w->b);
    twin_release(w->me, o, true);
    assert_int_equal(walk_node(w, p), node);
    walk_assert_totals(w, .released = 1, .live = 1);
    twin_step(w->me, p, w->a);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.raced_steps_, 0);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    twin_drop(w->heap, p);
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .leaked = 1);
    walk_free(w);
}

static void a_late_store_of_the_life_before_is_repaired_and_counted(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    twin_release(w->me, o, true);
    twin_root(w->me, o, 1, w->root);
    uint64_t old = atomic_load(&walk_record(w, o)->path);
    twin_release(w->me, o, true);
    twin_root(w->me, o, 1, w->root);
    atomic_store(&walk_record(w, o)->path, old); /* design.md: late step */
    twin_step(w->me, o, w->a);
    assert_int_equal(walk_node(w, o), BBF_L_NODE_RACED);
    twin_release(w->me, o, true);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.raced_steps_, 1);
    assert_int_equal(s->totals.released_, 3);
    assert_int_equal(sample_row(s, BBF_L_NODE_RACED)->released_, 1);
    bbf_snapshot_free(s);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_free(w);
}

static void a_view_steps_for_its_owner_even_after_it_was_recycled(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    struct twin_object *view = twin_new(w->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
    (void)state;
    twin_alias(w->me, view, o);
    twin_step(w->me, view, w->a);
    assert_int_equal(bbf_node_at(w->t, walk_node(w, o))->site, w->a);
    twin_release(w->me, o, true);
    twin_root(w->me, o, 1, w->root);
    twin_step(w->me, view, w->b);
    assert_int_equal(bbf_node_at(w->t, walk_node(w, o))->site, w->b);
    assert_int_equal(atomic_load(&view->bbf), atomic_load(&o->bbf));
    twin_drop(w->heap, o);
    twin_drop(w->heap, view);
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .leaked = 1);
    walk_free(w);
}

static void retain_and_release_move_between_buckets(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1);
    (void)state;
    twin_step(w->me, o, w->a);
    uint32_t node = walk_node(w, o);
    twin_refs(w->me, o, 1);
    assert_int_equal(walk_node(w, o), node);
    twin_refs(w->me, o, 1);
    assert_int_equal(sample_bucket(w->t, walk_node(w, o)), BBF_REF_3_5);
    twin_refs(w->me, o, 3);
    assert_int_equal(sample_bucket(w->t, walk_node(w, o)), BBF_REF_6);
    for (int i = 0; i < 4; i++)
        twin_release(w->me, o, false);
    assert_int_equal(walk_node(w, o), node);
    assert_int_equal(atomic_load(&walk_record(w, o)->refs) & BBF_L_REFS_COUNT, 2);
    twin_refs(w->me, o, 100000); /* the count stops at its top and touches nothing beside it */
    assert_int_equal(atomic_load(&walk_record(w, o)->refs) & UINT32_MAX,
                     w->direct_class << BBF_L_CLASS_SHIFT | BBF_L_REFS_COUNT);
    twin_release(w->me, o, true);
    twin_drop(w->heap, o);
    walk_scan(w);
    walk_assert_totals(w, .released = 1);
    walk_free(w);
}

/* ---- the end of tracking ---- */

static void once_it_is_off_nothing_new_is_followed(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 1), *sticky, *seen = walk_object(w);
    (void)state;
    sticky = walk_buffer(w, BBF_MEM_DIRECT, 1);
    for (int i = 0; i < 2; i++) {
        twin_release(w->me, sticky, true);
        if (i == 0)
            twin_root(w->me, sticky, 1, w->root);
    }
    bbf_tracker_off(w->t);
    bbf_tracker_direct_only(w->t, true);
    bbf_tracker_direct_only(w->t, false); /* opens no root again */
    struct twin_object *late = walk_buffer(w, BBF_MEM_DIRECT, 1);
    twin_root(w->me, sticky, 1, w->root);
    twin_step(w->me, seen, w->a);
    assert_int_equal(atomic_load(&late->bbf), BBF_HANDLE_IGN);
    assert_true(twin_is_skipped(w->me, atomic_load(&sticky->bbf))); /* it keeps its record */
    assert_int_equal(atomic_load(&seen->bbf), BBF_HANDLE_IGN);
    twin_step(w->me, o, w->a); /* an open life continues */
    assert_int_equal(bbf_node_at(w->t, walk_node(w, o))->site, w->a);
    twin_release(w->me, o, true);
    walk_assert_totals(w, .released = 3);
    struct twin_object *all[] = {o, sticky, late, seen};
    for (int i = 0; i < 4; i++)
        twin_drop(w->heap, all[i]);
    walk_scan(w);
    walk_assert_totals(w, .released = 3);
    walk_free(w);
}

static void abandoned_lives_are_pinned_by_nothing(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *kept = walk_buffer(w, BBF_MEM_DIRECT, 1), *lost;
    (void)state;
    lost = walk_buffer(w, BBF_MEM_DIRECT, 1);
    bbf_lives_abandon(w->t, &w->agent);
    twin_drop(w->heap, lost);
    assert_int_equal(w->heap->objects, 1);
    twin_release(w->me, kept, true);
    twin_drop(w->heap, kept);
    assert_int_equal(w->heap->objects, 0);
    walk_assert_totals(w, .released = 1, .live = 1);
    walk_free(w);
}

/* Tombs are charged to `memory`. Without room a leak is still counted where it was, without its
 * bytes, and what is harmless as unknown; after a reset there is room again. */
static void ends_without_room_are_still_counted(void **state)
{
    enum { TOMBS = (64 << 10) / sizeof(struct bbf_tomb) - 1 }; /* of the first step */
    struct bbf_limits limits = sample_limits();
    struct walk *w = walk_new(limits);
    (void)state;
    for (unsigned i = 0; i < TOMBS; i++) {
        struct twin_object *o = walk_buffer(w, BBF_MEM_DIRECT, 10);
        twin_step(w->me, o, sample_step(w->t, i / 50));
        twin_step(w->me, o, sample_step(w->t, i % 50));
        twin_drop(w->heap, o);
    }
    struct twin_object *bare = walk_buffer(w, BBF_MEM_DIRECT, 10);
    uint32_t node = walk_node(w, bare);
    uint64_t before = atomic_load(&w->t->budget.used);
    limits.memory = before + (64 << 10) + TOMBS * BBF_LEAK_BYTES + BBF_LEAK_BYTES;
    bbf_tracker_limit(w->t, &limits);
    walk_scan(w);
    assert_int_equal(w->t->n_tombs, TOMBS);
    assert_int_equal(w->t->budget.used, limits.memory);
    twin_drop(w->heap, bare);
    twin_drop(w->heap, walk_buffer(w, BBF_MEM_DIRECT | BBF_L_MEM_HARMLESS, 10));
    walk_scan(w);
    assert_int_equal(w->t->n_tombs, TOMBS);
    struct bbf_snapshot *s = sample_capture(w->t);
    assert_int_equal(s->totals.leaked_, TOMBS + 1);
    assert_int_equal(s->totals.leaked_bytes_, 10 * TOMBS);
    assert_int_equal(s->totals.unknown_, 1);
    assert_int_equal(sample_row(s, node)->leaked_, 1);
    assert_true(s->limits[5].hit > 0);
    bbf_snapshot_free(s);
    limits.memory += 1 << 20;
    bbf_tracker_limit(w->t, &limits);
    assert_int_equal(bbf_tracker_baseline(w->t), BBF_OK);
    walk_assert_totals(w, .live = 0);
    twin_drop(w->heap, walk_buffer(w, BBF_MEM_DIRECT, 10));
    walk_scan(w);
    walk_assert_totals(w, .leaked = 1);
    walk_free(w);
}

static void assert_owned(struct walk *w, uint64_t lives, uint64_t bytes, uint64_t rounded)
{
    struct bbf_owned_table table;
    bbf_owned_sum(w->t, &table);
    const struct bbf_owned *own = &table.at[BBF_POOL_POOLED][BBF_MEM_DIRECT];
    assert_int_equal(own->lives, lives);
    assert_int_equal(own->bytes, bytes);
    assert_int_equal(own->rounded, rounded);
}

static void what_netty_still_counts_is_open_or_lost_and_is_not_reset(void **state)
{
    struct walk *w = walk_new(sample_limits());
    struct twin_object *kept = walk_buffer(w, BBF_MEM_DIRECT, 100);
    struct twin_object *lost = walk_buffer(w, BBF_MEM_DIRECT, 300);
    struct twin_object *freed = walk_buffer(w, BBF_MEM_DIRECT, 7);
    uint64_t refs = atomic_load(&bbf_record_at(w->t, BBF_LOW(kept->bbf))->refs);
    struct bbf_owned_life life;
    uint32_t class_id = (uint32_t)(refs >> BBF_L_CLASS_SHIFT) & BBF_L_CLASS_MASK;
    (void)state;
    assert_int_not_equal(class_id, 0);
    assert_owned(w, 0, 0, 0); /* of a class that is of no pool */
    bbf_owned_class(w->t, class_id, BBF_POOL_POOLED);
    assert_owned(w, 3, 407, 112 + 320 + 16);
    twin_release(w->me, freed, true);
    assert_owned(w, 2, 400, 112 + 320);
    assert_int_equal(bbf_owned_next(w->t, 0, &life), 0); /* before a scan there are slots */
    twin_drop(w->heap, lost);
    walk_scan(w);
    walk_assert_totals(w, .released = 1, .live = 1, .leaked = 1);
    assert_owned(w, 2, 400, 112 + 320);
    assert_int_equal(bbf_owned_next(w->t, 0, &life), BBF_LOW(kept->bbf));
    assert_int_equal(life.bytes, 100);
    assert_int_equal(life.memory, BBF_MEM_DIRECT);
    assert_int_equal(life.pool, BBF_POOL_POOLED);
    const struct bbf_owned_life of_kept = life;
    assert_true(bbf_owned_is_open(w->t, BBF_LOW(kept->bbf), &of_kept));
    assert_int_equal(bbf_owned_next(w->t, BBF_LOW(kept->bbf) + 1, &life), 0);
    assert_int_equal(bbf_tracker_baseline(w->t), 0);
    walk_assert_totals(w, .live = 1);
    assert_owned(w, 2, 400, 112 + 320);
    uint32_t r = BBF_LOW(kept->bbf);
    twin_release(w->me, kept, true);
    assert_false(bbf_owned_is_open(w->t, r, &of_kept));
    twin_drop(w->heap, kept);
    twin_drop(w->heap, freed);
    walk_scan(w);
    assert_owned(w, 1, 300, 320);
    walk_free(w);
}

/* As SizeClasses.sizeIdx2size() of Netty 4.1.140 and 4.2.20 has them (chunk of 4 MiB). */
static void pooled_bytes_are_rounded_to_nettys_size_classes(void **state)
{
    static const uint32_t sizes[][2] = {
        {0, 16},           {1, 16},        {16, 16},         {17, 32},           {112, 112},
        {113, 128},        {129, 160},     {161, 192},       {256, 256},         {257, 320},
        {1000, 1024},      {1025, 1280},   {5000, 5120},     {9000, 10240},      {28672, 28672},
        {28673, 32768},    {40000, 40960}, {100000, 114688}, {4194304, 4194304}, {3145729, 3670016},
        {4194305, 4194305}};
    struct walk *w = walk_new(sample_limits());
    uint64_t bytes = 0, rounded = 0;
    (void)state;
    bbf_owned_class(w->t, 5, BBF_POOL_POOLED);
    bbf_owned_class(w->t, 6, BBF_POOL_UNPOOLED);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bbf_owned_lost(w->t, 5 << BBF_L_CLASS_SHIFT, sizes[i][0]);
        bbf_owned_lost(w->t, 6 << BBF_L_CLASS_SHIFT, sizes[i][0]);
        bytes += sizes[i][0];
        rounded += sizes[i][1];
        assert_owned(w, i + 1, bytes, rounded);
        assert_int_equal(w->t->lost.at[BBF_POOL_UNPOOLED][BBF_MEM_DIRECT].rounded, bytes);
    }
    walk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_released_life_is_counted_where_it_stood),
        cmocka_unit_test(a_dropped_life_is_leaked_where_it_stood),
        cmocka_unit_test(ends_without_room_are_still_counted),
        cmocka_unit_test(what_costs_nothing_is_harmless_and_foreign_counts_are_unknown),
        cmocka_unit_test(what_nobody_may_release_leaks_if_its_memory_is_lost_for_good),
        cmocka_unit_test(a_static_buffer_is_live_and_never_leaks),
        cmocka_unit_test(a_buffer_first_seen_in_a_constructor_is_one_life),
        cmocka_unit_test(a_root_that_meets_a_wrapper_opens_its_buffers_life),
        cmocka_unit_test(a_recycled_object_keeps_its_record),
        cmocka_unit_test(a_recycled_object_that_dies_released_gives_its_record_back),
        cmocka_unit_test(without_weak_references_lives_are_followed_to_their_release),
        cmocka_unit_test(a_slot_that_cannot_be_emptied_is_said_and_emptied_by_a_later_scan),
        cmocka_unit_test(at_the_limit_of_lives_buffers_are_not_followed_and_counted),
        cmocka_unit_test(a_thread_that_ends_leaves_nothing_behind),
        cmocka_unit_test(a_released_life_is_known_by_its_handle_for_a_while),
        cmocka_unit_test(a_thread_whose_places_are_taken_works_without_a_stripe),
        cmocka_unit_test(use_and_release_after_release_change_nothing),
        cmocka_unit_test(a_late_store_of_the_life_before_is_repaired_and_counted),
        cmocka_unit_test(a_view_steps_for_its_owner_even_after_it_was_recycled),
        cmocka_unit_test(retain_and_release_move_between_buckets),
        cmocka_unit_test(once_it_is_off_nothing_new_is_followed),
        cmocka_unit_test(abandoned_lives_are_pinned_by_nothing),
        cmocka_unit_test(what_netty_still_counts_is_open_or_lost_and_is_not_reset),
        cmocka_unit_test(pooled_bytes_are_rounded_to_nettys_size_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
