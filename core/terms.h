/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/terms.h - kinds that all folders share: of a step, of memory, of the loss with a leaked
 * buffer. Their names in the JSON document are in render/json_names.h.
 *
 * Threads: constants.
 */
#ifndef BBF_CORE_TERMS_H
#define BBF_CORE_TERMS_H

enum bbf_site_kind {
    BBF_SITE_ROOT,
    BBF_SITE_ENTER,
    BBF_SITE_RETURN,
    BBF_SITE_DERIVE,
    BBF_SITE_RELEASE,
    BBF_SITE_RETAIN,   /* refs=on: this method called retain */
    BBF_SITE_DECREMENT /* refs=on: this method called release, which freed it or not */
};

/* The last step of a path whose buffer outlived its window (docs/adr/0054). */
#define BBF_GAP_STEP "(later steps were not watched)"

/* refCnt bucket of a node: 0 / 1-2 / 3-5 / 6+. */
enum bbf_bucket { BBF_REF_0, BBF_REF_1_2, BBF_REF_3_5, BBF_REF_6 };

enum bbf_memory { BBF_MEM_DIRECT, BBF_MEM_HEAP, BBF_MEM_COMPOSITE, BBF_MEM_UNKNOWN };

/* The loss if a buffer is never released. */
enum bbf_lost {
    BBF_LOST_UNKNOWN,  /* not a class of Netty, or a composite, where the components decide */
    BBF_LOST_FOR_GOOD, /* memory of a pool or without a cleaner: it is never freed */
    BBF_LOST_COUNTER,  /* the garbage collector frees the memory; Netty still counts it */
    BBF_LOST_NOTHING   /* the garbage collector frees it, and no counter includes it */
};

/* Which part of Netty accounts for a buffer, and so which of Netty's numbers include it. */
enum bbf_pool { BBF_POOL_POOLED, BBF_POOL_UNPOOLED, BBF_POOL_ADAPTIVE };
enum { BBF_POOLS = BBF_POOL_ADAPTIVE + 1 };

#endif
