/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/netty.h - everything that is known of Netty by name: which types are tracked, which
 * methods open, end and link lives, which fields views and holders keep their buffer in. Names are
 * matched by suffix (`…netty/buffer/X`), so relocated ("shaded") Nettys are Nettys too. Source:
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
    BBF_TYPE_MESSAGE, /* HttpObject, RedisMessage …: looked at where an Object is */
    BBF_TYPE_TRACKED  /* not Netty's: named by track= (instrument/plan.c) */
};

/* What a type name (internal) stands for. */
enum bbf_type bbf_netty_type(const char *name, size_t len);

/* May a class with this Utf8 constant take, return or pass a buffer? */
bool bbf_netty_interesting(const char *utf8, size_t len);

/* A handler's method whose Object parameters are looked at (design.md: insertion). */
bool bbf_netty_handler_method(struct bbf_cf_str name);

/* A handler's method that puts what it makes into a list parameter: decode, decodeLast, encode. */
bool bbf_netty_adds_to_list(struct bbf_cf_str name);

/* Length of what stands before `buffer/…` in a class of Netty's buffer package ("io/netty/" = 9);
 * 0 if the class is not in one. */
size_t bbf_netty_buffer_prefix(const char *name, size_t len);

/* Length of the relocation and "netty/" of any Netty class ("io/netty/" = 9), 0 for others. */
size_t bbf_netty_prefix(const char *name, size_t len);

/* Allocator, pool and util internals, and what only hands a message on: not followed unless named
 * (design.md: insertion, docs/adr/0032, 0036). */
bool bbf_netty_internal(const char *name, size_t len);
/* Does that method of a Netty class read, write, compare or judge what it is given, and keep none
 * of it? */
bool bbf_netty_only_looks(const char *name, size_t len, struct bbf_cf_str method);

/* The error that Netty throws when its direct memory has run out. */
bool bbf_netty_exhausted(const char *name, size_t len);
/* The exception that it throws when a buffer is used after its release. */
bool bbf_netty_refused(const char *name, size_t len);

/* What the adaptive allocator's classes call AbstractByteBuf is a chunk of its own memory. */
bool bbf_netty_chunk(const char *class_name, size_t class_len, const char *type, size_t type_len);

/* What a hook of Netty's own methods does. */
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
    BBF_HOOK_WRAP,        /* the same of a WrappedByteBuf: not the handle of an ended life */
    BBF_HOOK_ALIAS_TEST,  /* the same, the parameter's type says nothing */
    BBF_HOOK_NEVER,       /* exit of a constant's constructor */
    BBF_HOOK_CHUNK,       /* exit of what gives an allocator memory of its own */
    BBF_HOOK_UNRELEASABLE,
    BBF_HOOK_ADOPT,      /* entry: a composite takes its first parameter over */
    BBF_HOOK_ADOPT_ALL,  /* exit of a composite's constructor: an array of them */
    BBF_HOOK_ADOPT_LAST, /* exit: its last components are new */
    BBF_HOOK_DISOWN,     /* entry: it takes the components from..to out */
    BBF_HOOK_MISUSE      /* before athrow */
};

enum { BBF_NO_SIZE = 0xff, BBF_ARRAY_SIZE = 0x80 /* | slot of the byte[] */ };

struct bbf_netty_hook {
    const char *class_name; /* behind `buffer/` */
    const char *method;
    const char *descriptor; /* its beginning */
    enum bbf_hook_kind kind;
    const char *site;       /* method name of the root's or derive's site */
    enum bbf_memory memory; /* roots; UNKNOWN: the buffer's class decides */
    bool harmless;
    uint8_t size; /* slot of an int parameter, BBF_ARRAY_SIZE | slot, or BBF_NO_SIZE */
};

/* The hook of a method of a class in a buffer package (`simple` = behind `buffer/`), or NULL. */
const struct bbf_netty_hook *bbf_netty_hook_of(struct bbf_cf_str simple, struct bbf_cf_str method,
                                               struct bbf_cf_str descriptor);
/* In handleRelease of Netty's counting class: is that the call that gives the buffer back? */
bool bbf_netty_gives_back(struct bbf_cf_str method, struct bbf_cf_str called,
                          struct bbf_cf_str descriptor);
/* Has any method of that class a hook? */
bool bbf_netty_hooked_class(struct bbf_cf_str simple);

/* A class whose content or owner lies behind a field. */
struct bbf_netty_field {
    const char *class_name; /* behind "netty/" */
    const char *field;      /* NULL: a holder that holds no buffer */
    bool view;              /* the owner of a view or wrapper; else the content of a holder */
};
size_t bbf_netty_fields(const struct bbf_netty_field **fields);

/* direct, heap or composite by a concrete class's simple name. */
enum bbf_memory bbf_netty_memory(const char *simple_name);

/* What a buffer of that class (internal name) takes with it when it is never released; UNKNOWN: it
 * is not in the table. */
enum bbf_lost bbf_netty_lost(const char *class_name);

/* Whose counters a buffer of that class (internal name) is part of; false: of nobody's. */
bool bbf_netty_pool(const char *class_name, enum bbf_pool *pool);

#endif
