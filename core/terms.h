/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/terms.h - the kinds of things that every room names alike: of a step, of memory, of what a
 * lost buffer takes with it. The JSON document has their names (render/json_names.h).
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

/* refCnt bucket of a node: 0 / 1-2 / 3-5 / 6+. */
enum bbf_bucket { BBF_REF_0, BBF_REF_1_2, BBF_REF_3_5, BBF_REF_6 };

enum bbf_memory { BBF_MEM_DIRECT, BBF_MEM_HEAP, BBF_MEM_COMPOSITE, BBF_MEM_UNKNOWN };

/* What a buffer that is never released takes with it. */
enum bbf_lost {
    BBF_LOST_UNKNOWN,  /* a class that is not Netty's, or a composite: its components say it */
    BBF_LOST_FOR_GOOD, /* memory of a pool or without a cleaner: nothing gives it back */
    BBF_LOST_COUNTER,  /* the garbage collector frees the memory; Netty goes on counting it */
    BBF_LOST_NOTHING   /* the garbage collector takes it, and nobody counts it */
};

/* Who of Netty accounts for a buffer, and so which of its numbers it is part of. */
enum bbf_pool { BBF_POOL_POOLED, BBF_POOL_UNPOOLED, BBF_POOL_ADAPTIVE };
enum { BBF_POOLS = BBF_POOL_ADAPTIVE + 1 };

#endif
