/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/netty.h - all knowledge of Netty by name: which types are tracked, which methods open,
 * end and link lives, and in which fields views and holders keep their buffer. Names are matched by
 * suffix (`…netty/buffer/X`), so relocated ("shaded") Nettys match as well. Source:
 * docs/netty-internals.md, read from 4.1.48, 4.1.140 and 4.2.20.
 *
 * Threads: any; constant tables.
 */
#ifndef BBF_INSTRUMENT_NETTY_H
#define BBF_INSTRUMENT_NETTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/classfile.h"
#include "core/terms.h"

enum bbf_type {
    BBF_TYPE_NONE,
    BBF_TYPE_BYTEBUF, /* …netty/buffer/ByteBuf itself: its parameters need no class test */
    BBF_TYPE_BUFFER,  /* …netty/buffer/XxxByteBuf: a class test decides */
    BBF_TYPE_HOLDER,  /* ReferenceCounted, ByteBufHolder and the known holders */
    BBF_TYPE_MESSAGE, /* HttpObject, RedisMessage …: treated like Object */
    /* Not types of Netty (instrument/plan.c): */
    BBF_TYPE_TRACKED, /* named by track= */
    BBF_TYPE_CARRIER  /* a carrier, or a super type of one (instrument/carriers.h) */
};

/* Classify a type by its internal name. */
enum bbf_type bbf_netty_type(const char *name, size_t len);

/* May a class with this Utf8 constant take, return or pass a buffer? */
bool bbf_netty_interesting(const char *utf8, size_t len);

/* Is it a handler's method whose Object parameters are checked for buffers (design.md:
 * insertion)? */
bool bbf_netty_handler_method(struct bbf_cf_str name);

/* Is it a handler's method that adds its results to a list parameter: decode, decodeLast,
 * encode? */
bool bbf_netty_adds_to_list(struct bbf_cf_str method);

/* Length of the name before `buffer/…` for a class of Netty's buffer package ("io/netty/" = 9); 0
 * for other classes. */
size_t bbf_netty_buffer_prefix(const char *name, size_t len);

/* Length of the prefix up to and including "netty/" for any class of Netty ("io/netty/" = 9); 0 for
 * other classes. */
size_t bbf_netty_prefix(const char *name, size_t len);

/* Is it internal to the allocator, the pool or util, or does it only forward messages? Such classes
 * are not followed unless include= names them (design.md: insertion, docs/adr/0032, 0036). */
bool bbf_netty_internal(const char *name, size_t len);
/* Does this method of a Netty class only read, write, compare or inspect its arguments, hand them
 * on, or do a part of what the method that calls it, a step, does with them (docs/adr/0032, 0036,
 * 0074)? */
bool bbf_netty_only_looks(const char *name, size_t len, struct bbf_cf_str method);
/* Does this method of a Netty class only return a buffer that was an argument, or that its object
 * has in a field? */
bool bbf_netty_returns_known(const char *name, size_t len, struct bbf_cf_str method);
/* Does this method of a Netty class return a buffer that its caller has no need to be seen with:
 * its own, filled anew each time, what the caller, a decoder, decodes next, or that of a holder
 * which had its step (docs/adr/0074)? */
bool bbf_netty_hands_back(const char *name, size_t len, struct bbf_cf_str method);

/* Is it the error that Netty throws when its direct memory has run out? */
bool bbf_netty_exhausted(const char *name, size_t len);
/* Is it the exception that Netty throws when a buffer is used after its release? */
bool bbf_netty_refused(const char *name, size_t len);

/* In a class of the adaptive allocator: is `type` (AbstractByteBuf) a chunk of the allocator's own
 * memory? */
bool bbf_netty_chunk(const char *class_name, size_t class_len, const char *type, size_t type_len);

/* Where a hook in one of Netty's own methods is, and what it does. */
enum bbf_hook_kind {
    BBF_HOOK_ROOT,        /* exit: opens a life; size = int parameter `slot` (or none) */
    BBF_HOOK_ROOT_KEEP,   /* exit of terminals that nest */
    BBF_HOOK_RELEASE,     /* entry of handleRelease */
    BBF_HOOK_RELEASE_N,   /* entry of release(int) */
    BBF_HOOK_RELEASE_ONE, /* entry of release() */
    BBF_HOOK_RETAIN,      /* entry and exit of retain() / retain(int) */
    BBF_HOOK_RECOUNT,     /* entry of setRefCnt(int) / resetRefCnt() */
    BBF_HOOK_DERIVE,      /* entry of init */
    BBF_HOOK_RESIZED,     /* exit of capacity(int) */
    BBF_HOOK_ALIAS,       /* exit of a view's constructor */
    BBF_HOOK_WRAP,        /* the same in a WrappedByteBuf, but never the handle of an ended life */
    BBF_HOOK_ALIAS_TEST,  /* the same, with a class test: the parameter's type is not specific */
    BBF_HOOK_NEVER,       /* exit of a constant's constructor */
    BBF_HOOK_CHUNK,       /* exit of a method that gives an allocator memory of its own */
    BBF_HOOK_UNRELEASABLE,
    BBF_HOOK_ADOPT,      /* entry: a composite becomes the owner of the first parameter */
    BBF_HOOK_ADOPT_ALL,  /* exit of a composite's constructor: the same for an array */
    BBF_HOOK_ADOPT_LAST, /* exit: its last components are new */
    BBF_HOOK_DISOWN,     /* entry: it removes the components from..to */
    BBF_HOOK_MISUSE      /* before athrow */
};

enum { BBF_NO_SIZE = 0xff, BBF_ARRAY_SIZE = 0x80 /* | slot of the byte[] */ };

struct bbf_netty_hook {
    const char *class_name; /* after `buffer/` */
    const char *method;
    const char *descriptor; /* its beginning */
    enum bbf_hook_kind kind;
    const char *site;       /* method name of the root's or derive's site */
    enum bbf_memory memory; /* roots; UNKNOWN: the buffer's class decides */
    bool harmless;
    uint8_t size; /* slot of an int parameter, BBF_ARRAY_SIZE | slot, or BBF_NO_SIZE */
};

/* The hook of a method of a class in a buffer package (`simple`: the class name after `buffer/`),
 * or NULL. */
const struct bbf_netty_hook *bbf_netty_hook_of(struct bbf_cf_str simple, struct bbf_cf_str method,
                                               struct bbf_cf_str descriptor);
/* Netty's counting class declares or calls a method of this name since 4.1.35. */
#define BBF_HANDLE_RELEASE "handleRelease"
#define BBF_DEALLOCATE     "deallocate"

/* In Netty's counting class: is this the call that returns the buffer to its pool or frees it? */
bool bbf_netty_gives_back(struct bbf_cf_str called, struct bbf_cf_str descriptor);
/* context=on: does the class (its name after `buffer/`) declare a touch(Object) that no other one
 * here is called by? */
bool bbf_netty_touches(struct bbf_cf_str simple);
/* context=on: does its method invokeExceptionCaught get the exceptions of a pipeline? */
bool bbf_netty_gets_exceptions(const char *name, size_t len);
/* Has a parameter of this type a channel, or is it one? */
bool bbf_netty_channel_type(const char *name, size_t len);

/* Does any method of the class have a hook? */
bool bbf_netty_hooked_class(struct bbf_cf_str simple);

/* A class that has its content or owner in a field. */
struct bbf_netty_field {
    const char *class_name; /* after "netty/" */
    const char *field;      /* NULL: a holder without a buffer */
    bool view;              /* the owner of a view or wrapper; else the content of a holder */
};
size_t bbf_netty_fields(const struct bbf_netty_field **fields);

/* The memory kind, direct, heap or composite, of a concrete class, by its simple name. */
enum bbf_memory bbf_netty_memory(const char *simple_name);

/* The loss if a buffer of this class (internal name) is never released. UNKNOWN: the class is not
 * in the table. */
enum bbf_lost bbf_netty_lost(const char *class_name);

/* Which of Netty's counters include a buffer of this class (internal name). False: none do. */
bool bbf_netty_pool(const char *class_name, enum bbf_pool *pool);

#endif
