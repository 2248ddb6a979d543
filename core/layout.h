/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/layout.h - the words that C and the boot shim share: records (lives), nodes, stripes, the
 * shared page, and the bits in them. This is the only list: java-shim/layout_java.c prints it as
 * java.lang.BBFlowLayout at build time, and the stress test's C twin includes it.
 *
 * Widths: a word is always loaded and stored at the same width (8-byte loads after 4-byte stores
 * stall, design.md: record); only the low half of $bbf is also loaded alone. Every 8-byte word is
 * aligned. Specification: design.md: memory safety.
 *
 *   handle ($bbf)   generation:32 | record:32      0 = never seen; HANDLE_OVER: no life to end
 *   record, 64 B    path   generation:32 | node:32        where the life is
 *                   life   generation:32 | flags | state  who owns the record (design.md: record)
 *                   run    node:32 | class:16 | count:16  released lives not yet charged (sticky)
 *                   jweak  JNI weak reference             agent thread only
 *                   refs   generation:32 | memory:8 | class:12 | count:12   hint for the bucket
 *                   size   generation:32 | bytes:32
 *                   parent handle of the life it was derived from, 0
 *                   next   free list link while free; seconds since start at open while open
 *                   batch  link of the global stack of batches; while open low half of the tid
 *                          that opened it, or with MAPPED its place in the map;
 *                          CLOSED and STICKY: that released it by a plain close, 0 = another end
 *   node, 64 B      four children key:32 | node:32, site, parent, depth, flags, children, unknown
 *   key             site, or (bucket + 1) << 24 | site where the bucket differs from the parent's
 */
#ifndef BBF_CORE_LAYOUT_H
#define BBF_CORE_LAYOUT_H

#include <limits.h>
#include <stdint.h>

#include "core/terms.h"

/* Offsets in bytes, bits and reserved numbers. All fit an int. */
#define BBF_LAYOUT(XX)                                                                             \
    XX(RECORD_SHIFT, 6)                                                                            \
    XX(REC_PATH, 0)                                                                                \
    XX(REC_LIFE, 8)                                                                                \
    XX(REC_RUN, 16)                                                                                \
    XX(REC_JWEAK, 24)                                                                              \
    XX(REC_REFS, 32)                                                                               \
    XX(REC_SIZE, 40)                                                                               \
    XX(REC_PARENT, 48)                                                                             \
    XX(REC_NEXT, 56)                                                                               \
    XX(REC_BATCH, 60)                                                                              \
    /* life: state in the low byte, flags above */                                                 \
    XX(OPEN, 1)                                                                                    \
    XX(CLOSED, 2)                                                                                  \
    XX(DEAD, 3)                                                                                    \
    XX(STATE, 3)                                                                                   \
    XX(CONV, 0x100)                                                                                \
    XX(STICKY, 0x200)                                                                              \
    XX(STOPPED, 0x400)  /* opened before a stop: its end may be unseen (design.md: stop) */        \
    XX(MAPPED, 0x800)   /* its buffer has no field: an entry of the map leads here (trie/map.h) */ \
    XX(SEEN, 0x1000)    /* MAPPED, and only seen so far: no root has claimed it by CAS */          \
    XX(SKIPPED, 0x2000) /* CLOSED and STICKY: its object is alive, and sampling passed it over */  \
    XX(LATER, 0x4000)   /* it outlived its window: later steps may be missing (trie/windows.h) */  \
    /* in the handle of a life that is over, once a release beside a window has seen that */       \
    XX(HANDLE_OVER, INT_MIN)                                                                       \
    /* reserved records: 0 means "never seen", IGN and NEVER are handles without a life */         \
    XX(RECORD_IGN, INT_MIN | 1)                                                                    \
    XX(RECORD_NEVER, INT_MIN | 2)                                                                  \
    /* marks on a pooled object of the application without a life (docs/adr/0034): it is           \
     */                                                                                            \
    XX(RECORD_ENDING, 3)         /* in deallocate() */                                             \
    XX(RECORD_RETURNED, 4)       /* in deallocate(), and its count is back already */              \
    XX(RECORD_IDLE, 5)           /* in its pool without a count */                                 \
    XX(RECORD_COUNTED, 6)        /* in its pool with a count */                                    \
    XX(RECORD_AGAIN, 7)          /* its count is back: taken from the pool */                      \
    XX(HANDLE_GIVEN, 0x40000000) /* in a closed life's handle: the object is in its pool */        \
    XX(FIRST_RECORD, 64)                                                                           \
    XX(BATCH, 64)                                                                                  \
    /* refs: memory byte, class number, count (saturates; the bucket needs 6) */                   \
    XX(REFS_COUNT, 0xfff)                                                                          \
    XX(CLASS_SHIFT, 12)                                                                            \
    XX(CLASS_MASK, 0xfff)                                                                          \
    XX(MEM_SHIFT, 24)                                                                              \
    XX(MEM_HEAP, BBF_MEM_HEAP)                                                                     \
    XX(MEM_COMPOSITE, BBF_MEM_COMPOSITE)                                                           \
    XX(MEM_KIND, BBF_MEM_UNKNOWN)                                                                  \
    XX(MEM_HARMLESS, 4)                                                                            \
    XX(MEM_STATIC, 8)                                                                              \
    XX(MEM_FOREIGN, 16)                                                                            \
    XX(MEM_FIRST_SEEN, 32)                                                                         \
    /* nodes */                                                                                    \
    XX(NODE_SHIFT, 6)                                                                              \
    XX(NODE_SITE, 32)                                                                              \
    XX(NODE_PARENT, 36)                                                                            \
    XX(NODE_DEPTH, 40)                                                                             \
    XX(NODE_FLAGS, 44)                                                                             \
    XX(NODE_CHILDREN, 48)                                                                          \
    XX(NODE_UNKNOWN, 56)                                                                           \
    XX(INLINE_CHILDREN, 4)                                                                         \
    XX(FLAG_NO_STEPS, 1) /* depth limit, gap, ?raced, ?before-reset: no step leaves it */          \
    XX(FLAG_FULL, 2)     /* maxChildren reached: known children only */                            \
    XX(FLAG_LOOP, 4)     /* some edge leads back here */                                           \
    XX(FLAG_ALIAS, 8)    /* an edge of the overflow table, not a node: child 0 is its target */    \
    XX(FLAG_BUCKET_SHIFT, 8)                                                                       \
    XX(FLAG_RATE_SHIFT, 16) /* index of the sampling rate of its root; 0 = every life */           \
    XX(FLAG_RATE, 15)                                                                              \
    XX(FLAG_CLINIT, 0x100000) /* a class initialiser had the buffer, at this node or above */      \
    XX(KEY_BUCKET_SHIFT, 24)                                                                       \
    XX(ARENA_SHIFT, 20) /* node id = arena:11 | index:20; arena 0 holds the reserved nodes */      \
    XX(NODE_NONE, 0)                                                                               \
    XX(NODE_IGNORE, 1) /* for a root: not followed (trackDirectOnly, sample, off) */               \
    XX(NODE_RACED, 2)                                                                              \
    XX(NODE_BEFORE_RESET, 3)                                                                       \
    XX(OVERFLOW_BITS, 21) /* entries of an arena's overflow table, 4 B each */                     \
    /* reserved sites */                                                                           \
    XX(SITE_RACED, 1)                                                                              \
    XX(SITE_GAP, 2) /* behind it the life's steps were not watched (trie/windows.h) */             \
    XX(SITE_BEFORE_RESET, 3)                                                                       \
    XX(MAX_SITES, 65536)                                                                           \
    /* the int that a root hook passes: site | memory byte << 16 */                                \
    XX(META_MEM_SHIFT, 16)                                                                         \
    XX(SAMPLE_N, 0xffffff)                                                                         \
    XX(SAMPLE_RATE_SHIFT, 24)                                                                      \
    XX(RATES, 16) /* sampling rates since the start, with the rate 1 */                            \
    XX(META_SITE, 0xffff)                                                                          \
    /* slots: batches of 64 are 32 KiB apart (card-table sharing, design.md: garbage detection) */ \
    XX(CHUNK_SHIFT, 16)                                                                            \
    XX(CHUNKS, 256)                                                                                \
    /* stripes: one carrier thread each */                                                         \
    XX(STRIPE_SHIFT, 11)                                                                           \
    XX(STRIPES, 1024)                                                                              \
    XX(STRIPE_OWNER, 0)                                                                            \
    XX(STRIPE_HEAD, 8)                                                                             \
    XX(STRIPE_COUNT, 12)                                                                           \
    XX(STRIPE_TALLY, 16) /* six 8-byte counters, see TALLY_ */                                     \
    XX(STRIPE_RUN, 64)   /* 64 words node | class | count */                                       \
    XX(RUN_SLOTS, 64)                                                                              \
    XX(STRIPE_NEXT_ENDED, 576)                                                                     \
    XX(STRIPE_USE, 580)     /* class | USE_ << CLASS_SHIFT */                                      \
    XX(STRIPE_SUSPECT, 584) /* long: handle whose use Netty may refuse, 0 = none */                \
    XX(STRIPE_RANDOM, 592)  /* long: state of its thread's draws (sample=) */                      \
    XX(STRIPE_NEXT_SIGHT, 600)                                                                     \
    XX(STRIPE_ROOTS, 608)  /* long: calls of root hooks while SLOW_COUNT is set (windows.h) */     \
    XX(STRIPE_SCOPE, 616)  /* scopes=: half of its tid:32 | SCOPE_LOOP | number:24 */              \
    XX(STRIPE_SEEN, 624)   /* long: handle of the life that its thread saw last, 0 = none */       \
    XX(STRIPE_SIGHTS, 640) /* context=: handle, site:32 | second:32 (trie/context.h) */            \
    XX(SIGHT_SLOTS, 16)                                                                            \
    XX(STRIPE_ENDED, 1024) /* the last ends: handle, node:32 | tid:32 */                           \
    XX(ENDED_SLOTS, 64)                                                                            \
    XX(USE_RELEASE, 0)                                                                             \
    XX(USE_RETAIN, 1)                                                                              \
    XX(USE_ACCESS, 2)                                                                              \
    XX(RUN_FULL, 0xffff)                                                                           \
    XX(SPILL_ABOVE, 192)                                                                           \
    XX(TALLY_DROPPED_STEPS, 0)                                                                     \
    XX(TALLY_RACED_STEPS, 1)                                                                       \
    XX(TALLY_DROPPED_LIVES, 2)                                                                     \
    XX(TALLY_MISUSE, 3)                                                                            \
    XX(TALLY_HOLDERS_UNKNOWN, 4)                                                                   \
    XX(TALLY_DEEP_STEPS, 5) /* the dropped steps that maxDepth refused */                          \
    XX(TALLIES, 6)                                                                                 \
    /* the shared page: all that every hook reads is in 64 bytes, which only the agent writes */   \
    XX(SHARED_SLOW_HOOKS, 0) /* int: SLOW_ bits; 0: hooks may take their short path */             \
    XX(SHARED_FLAGS, 4)                                                                            \
    XX(SHARED_NOW, 8)        /* int: seconds since start, coarse */                                \
    XX(SHARED_SAMPLE, 12)    /* int rate's index << 24 | N: one life in N is followed; 0 = all */  \
    XX(SHARED_RECORDS, 16)   /* long: address of the records */                                    \
    XX(SHARED_OWN, 24)       /* int: 1 = there is a KIND_OWN */                                    \
    XX(SHARED_UNDONE, 64)    /* long: losers of a race to open */                                  \
    XX(SHARED_ERRORS, 72)    /* long: throwables caught in the shim */                             \
    XX(SHARED_UNTRACKED, 80) /* long: chunks of the adaptive allocator */                          \
    XX(SHARED_EXHAUSTED, 88) /* long: errors thrown because direct memory ran out */               \
    XX(SHARED_RANDOM, 96)    /* long: draws of threads without a stripe; seed of the others */     \
    XX(SHARED_CUT, 104)      /* long: elements of arrays and lists beyond SHARED_ELEMENTS */       \
    XX(SHARED_ELEMENTS, 112) /* int: how many elements one step reads */                           \
    XX(SHARED_FREE, 120)     /* long tag:32 | record:32, stack of batches */                       \
    XX(SHARED_TALLY, 128)    /* the six tallies of threads without a stripe */                     \
    XX(SHARED_UNSIZED, 176)  /* long: lives met late whose size is unknown */                      \
    XX(SHARED_SIZE_OF, 184)  /* int: class number of the last of them */                           \
    XX(SHARED_HIDER, 188)    /* int: the same of the next */                                       \
    XX(SHARED_HIDDEN, 192)   /* long: ends of buffers whose count came back unseen */              \
    XX(SHARED_EARLY, 200)    /* long: counts that came back before deallocate() was over */        \
    XX(SHARED_EARLY_OF, 208) /* int: class number of the last of them */                           \
    XX(SHARED_CONTEXTS, 216) /* long: address of the contexts; 0: context= is off */               \
    XX(SHARED_CONTEXTS_END, 224)      /* long: contexts below this number are writable */          \
    XX(SHARED_CONTEXT_DROPPED, 232)   /* long: notes that were not taken */                        \
    XX(SHARED_CONTEXT_UNREAD, 240)    /* long: channels whose id was not read */                   \
    XX(SHARED_CONTEXT_UNREAD_OF, 248) /* int: name of the class of the last of them */             \
    XX(SHARED_ROOTS, 256)             /* long: STRIPE_ROOTS of threads without a stripe */         \
    XX(SHARED_SCOPES, 264)            /* long: address of the scopes; 0: scopes= is off */         \
    XX(SHARED_SCOPES_END, 272)        /* long: scopes below this number are writable */            \
    XX(SHARED_SCOPE_DROPPED, 280)     /* long: lives whose scope had no room */                    \
    XX(SHARED_SCOPE_ONLY, 288)  /* int: the test that runs, and ran, alone; 0: no such test */     \
    XX(SHARED_SCOPE_CLASS, 292) /* int: the same of classes of tests */                            \
    XX(SHARED_USED, 1024)       /* a byte per stripe: 1 = it had a thread; only those are read */  \
    /* no class beside include= is loaded yet, or the gate is shut: hooks see ends alone. The      \
     * signs of two bytes: with the bit below, one compare of a byte asks for both. */             \
    XX(SLOW_IDLE, INT_MIN | 0x800000)                                                              \
    XX(SLOW_FIELDLESS,                                                                             \
       0x40000000)           /* some ByteBuf class has no hidden field (design.md: hot path) */    \
    XX(SLOW_COUNT, 0x400000) /* root hooks count their calls, gate open or shut */                 \
    XX(SLOW_NO_ROOTS, 2)     /* the gate is about to shut: no root opens a life (windows.h) */     \
    XX(SLOW_FREEZING, 4)     /* … and no derived life begins either */                           \
    XX(SLOW_GATE, 6)                                                                               \
    XX(SLOW_SCOPES, 16) /* scopes=: lives and steps pass BBFlowScopes */                           \
    XX(SHARED_NODES_FULL, 1)                                                                       \
    XX(SHARED_DIRECT_ONLY, 2)                                                                      \
    XX(SHARED_OFF, 4) /* tracking is off: roots and first sights open nothing */                   \
    XX(SHARED_PAUSED,                                                                              \
       8) /* hooks are being added or removed: nothing opens, and nothing is marked as ignored */  \
    XX(SHARED_MAP, 16) /* the table of map mode can be written to */                               \
    XX(SHARED_UNSEEN,                                                                              \
       32) /* the hooks were removed for a time: a first sight may be of a released buffer */      \
    XX(SHARED_ASKED, 64)    /* the agent asks for the callers of some root: ADR 49 */              \
    XX(SHARED_USAGE, 128)   /* byte-seconds are summed up: ADR 53 */                               \
    XX(SHARED_WINDOWS, 256) /* lives are followed by windows of time, from the start to the end */ \
    XX(SHARED_SELDOM, 512)  /* … and the gate is shut for most of the time: ADR 73 */            \
    XX(SHARED_FIELDS, 1024) /* … and only a ByteBuf with the hidden field is followed: ADR 75 */ \
    XX(USAGE_NOT_READ, -1)  /* in the place of the bytes that a life wrote: trie/usage.h */        \
    XX(USAGE_NOT_ASKED, -2)                                                                        \
    /* the table of map mode: buckets of 64 B, word 0 = overflowed, 7 entries */                   \
    XX(MAP_BUCKET_BITS, 18)                                                                        \
    XX(MAP_BUCKET_SHIFT, 6)                                                                        \
    XX(MAP_GENERATION_SHIFT, 24) /* entry = pending:1 | tag:7 | generation:32 | record:24 */       \
    XX(MAP_TAG_SHIFT, 56)                                                                          \
    XX(MAP_TAG_MASK, 0x7f)                                                                         \
    /* beside each record: the composite that owns the buffer, as generation:20 of the life |      \
     * generation:20 and record:24 of the composite's life (struct bbf_record_extra) */            \
    XX(AFTER_SIZE, 24)                                                                             \
    XX(AFTER_OWNER, 0)                                                                             \
    XX(OWNER_RECORD_BITS, 24)                                                                      \
    XX(OWNER_GENERATION_BITS, 20)                                                                  \
    /* beside each record with context=on, 192 B: what is known of its life beside its path. The   \
     * guard is generation:32 | version:32, odd while a thread writes (trie/context.h). */         \
    XX(CONTEXT_SIZE, 192)                                                                          \
    XX(CONTEXT_GUARD, 0)                                                                           \
    XX(CONTEXT_CHANNEL, 8) /* id:32 | kinds:32 */                                                  \
    XX(CONTEXT_SIZES, 16)  /* port:32 | bytes of the address:16 | of the hint:16 */                \
    XX(CONTEXT_THROWN, 24) /* site that caught it:32 | name of its class:32 */                     \
    XX(CONTEXT_ADDRESS, 32)                                                                        \
    XX(CONTEXT_ADDRESS_BYTES, 40)                                                                  \
    XX(CONTEXT_HINT, 72)                                                                           \
    XX(CONTEXT_HINT_BYTES, 120)                                                                    \
    XX(CONTEXT_OF_CHANNEL, 3)    /* kinds: 0 no channel was seen, or one of these */               \
    XX(CONTEXT_ID, 1)            /* its id is known */                                             \
    XX(CONTEXT_EMBEDDED, 2)      /* an EmbeddedChannel: all have the same id */                    \
    XX(CONTEXT_NO_ID, 3)         /* the id is of a class that is not known */                      \
    XX(CONTEXT_OF_ADDRESS, 0x70) /* 0 unknown, or one of these */                                  \
    XX(CONTEXT_IPV4, 0x10)                                                                         \
    XX(CONTEXT_IPV6, 0x20)                                                                         \
    XX(CONTEXT_LATIN1, 0x30)                                                                       \
    XX(CONTEXT_UTF16, 0x40)                                                                        \
    XX(CONTEXT_OF_HINT, 0x700) /* 0 never touched, or one of these */                              \
    XX(CONTEXT_TEXT, 0x100)                                                                        \
    XX(CONTEXT_HANDLER, 0x200) /* a pipeline did it: the name of the handler that is next */       \
    XX(CONTEXT_CLASS, 0x300)   /* the name of the class of the hint, a number of 8 bytes */        \
    XX(CONTEXT_WIDE, 0x800)    /* that text is in UTF-16, not in Latin-1 */                        \
    XX(CONTEXT_CUT, 0x1000)    /* that text is longer */                                           \
    XX(CONTEXT_CAUGHT, 0x2000) /* an exception was caught */                                       \
    XX(SIGHT_SECONDS, 1)       /* an exception belongs to a sight that is at most this old */      \
    /* beside each record with scopes=on, 16 B (trie/scopes.h): who opened its life */             \
    XX(SCOPE_SIZE, 16)                                                                             \
    XX(SCOPE_OF, 0)     /* generation:32 | number:32, 0: cannot be said */                         \
    XX(SCOPE_DURING, 8) /* generation:32 | SHARED_SCOPE_ONLY:32 */                                 \
    XX(SCOPE_NUMBER, 0xffffff)                                                                     \
    XX(SCOPE_LOOP, 0x1000000)  /* the number is that of the channel or task in hand */             \
    XX(SCOPE_BEGUN, 0x2000000) /* and a task has begun whose next hook is of the same one */       \
    /* what a hook of context= passes beside the site */                                           \
    XX(SIGHT_EXACT, 0x10000) /* the object is a ByteBuf by its type */                             \
    /* kind of a class for the shim (instrument/netty.c) in the low half, offset of a field above  \
     */                                                                                            \
    XX(KIND_CLASS, 0xfff) /* class number, names the release */                                    \
    XX(KIND_MEM_SHIFT, 16)                                                                         \
    XX(KIND_OWN, 0x1000)      /* an owner of a class outside Netty: it may be pooled */            \
    XX(KIND_CARRIER, 0x2000)  /* learned (ADR 43): HOLDER, or else four offsets of a byte each */  \
    XX(KIND_DOUBLED, 0x4000)  /* COUNT_INT of a ReferenceCountUpdater: odd when released */        \
    XX(KIND_RING, 0x8000)     /* with ELEMENTS: an ArrayDeque, the head's offset for the size's */ \
    XX(KIND_OWNER, 0x40000)   /* has a reference count of its own, and its release is hooked */    \
    XX(KIND_FOREIGN, 0x80000) /* a ByteBuf with its own count, which we cannot hook */             \
    XX(KIND_VIEW, 0x100000)   /* its owner is behind the field at the offset */                    \
    XX(KIND_HOLDER, 0x200000) /* its content is behind the field at the offset */                  \
    XX(KIND_FIELD, 0x400000)  /* inherits the hidden field */                                      \
    XX(KIND_UNKNOWN_HOLDER, 0x800000)                                                              \
    XX(KIND_MAPPED, 0x1000000)    /* a ByteBuf without the field: found by the map */              \
    XX(KIND_NEVER, 0x2000000)     /* constant, unreleasable: not in the map; harmless if OWNER */  \
    XX(KIND_COUNT_INT, 0x4000000) /* an owner: its count is an int at the offset (map mode) */     \
    XX(KIND_COUNT_REF, 0x8000000) /* … or in the RefCnt behind the offset */                     \
    XX(KIND_COUNTER, 0x10000000)  /* that RefCnt: the count is at the offset */                    \
    XX(KIND_ELEMENTS, 0x20000000) /* an array or list: array's and size's offsets, 16 bits each */ \
    XX(KIND_PERMANENT, 0x40000000) /* the class is never unloaded */                               \
    /* the table of such classes: groups of entries of 16 B, narrow klass:32, 0:32, kind */        \
    XX(KIND_ENTRY_SHIFT, 4)                                                                        \
    XX(KIND_WAYS, 4)                                                                               \
    XX(KIND_GROUP_SHIFT, 6)                                                                        \
    XX(KIND_GROUP_BITS, 8)                                                                         \
    /* natives return beside the kind: depths in the superclass chain, a field's number */         \
    XX(KIND_BYTEBUF_DEPTH, 32)                                                                     \
    XX(KIND_FIELD_DEPTH, 40)                                                                       \
    XX(KIND_FIELD_NAME, 48)                                                                        \
    XX(KIND_NO_DEPTH, 0xff)                                                                        \
    /* a step through a field chain gives up after this number of fields */                        \
    XX(MAX_UNWRAP, 8)                                                                              \
    /* depth of lists in lists, and of carriers in carriers; one carrier in the sum of both */     \
    XX(MAX_NESTED, 3)                                                                              \
    XX(MAX_CARRIERS, 4)                                                                            \
    XX(CARRIER_DEPTH, 8)

enum bbf_layout {
#define XX(name, value) BBF_L_##name = (value),
    BBF_LAYOUT(XX)
#undef XX
};

_Static_assert((BBF_L_SLOW_IDLE | BBF_L_SLOW_FIELDLESS) >> 24 ==
                   (int8_t)((BBF_L_SLOW_IDLE | BBF_L_SLOW_COUNT) >> 16 & 0xff),
               "one compare of a byte for both gates");

#define BBF_GENERATION(word) ((uint32_t)((word) >> 32))
#define BBF_LOW(word)        ((uint32_t)(word))
#define BBF_WORD(high, low)  ((uint64_t)(high) << 32 | (uint32_t)(low))

#define BBF_HANDLE_IGN        BBF_WORD(UINT32_MAX, BBF_L_RECORD_IGN)
#define BBF_HANDLE_NEVER      BBF_WORD(UINT32_MAX, BBF_L_RECORD_NEVER)
#define BBF_HANDLE_MARK(name) BBF_WORD(UINT32_MAX, BBF_L_RECORD_##name)

/* Placeholders in the shim's constant pool, which the agent replaces by addresses before
 * DefineClass: MAGIC + number << 32. javac folds offsets into them, so the low half is kept and
 * added. */
#define BBF_SHIM_ADDRESSES(XX)                                                                     \
    XX(NODES, 2)                                                                                   \
    XX(OVERFLOW, 3)                                                                                \
    XX(ROOTS, 4)                                                                                   \
    XX(STRIPES_AT, 5)                                                                              \
    XX(SHARED, 6)                                                                                  \
    XX(RECORD_MASK, 7)                                                                             \
    XX(ARRAY_BASE, 8)                                                                              \
    XX(ARRAY_SCALE, 9)                                                                             \
    XX(MAP, 10)                                                                                    \
    XX(RATE_ROOTS, 11)                                                                             \
    XX(AFTER, 12)                                                                                  \
    XX(KINDS_AT, 13)
#define BBF_SHIM_MAGIC        UINT64_C(0x7bbf10c000000000)
#define BBF_SHIM_ADDRESS_MASK 15 /* of the number, above the low half */

enum bbf_shim_address {
#define XX(name, number) BBF_SHIM_##name = (number),
    BBF_SHIM_ADDRESSES(XX)
#undef XX
};
#define XX(name, number)                                                                           \
    _Static_assert((number) > 0 && (number) <= BBF_SHIM_ADDRESS_MASK, #name " has no place");
BBF_SHIM_ADDRESSES(XX)
#undef XX

#endif
