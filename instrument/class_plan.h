/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/class_plan.h - what a plan is made from: the rules that the options give, who numbers
 * sites, and what is known of one class.
 *
 * Threads: any; rules never change once published.
 */
#ifndef BBF_INSTRUMENT_CLASS_PLAN_H
#define BBF_INSTRUMENT_CLASS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/classfile.h"
#include "core/option.h"
#include "core/terms.h"
#include "instrument/netty.h"

struct bbf_carriers;

/* Which classes are followed: a copy of the options that decide this. Immutable, except that names
 * of carriers are added as they are learned. */
struct bbf_rules {
    struct bbf_options options;
    uint32_t number;               /* each copy has another */
    struct bbf_carriers *carriers; /* borrowed (instrument/carriers.h); NULL: carriers=off */
};

/* A step or root that a hook reports by number. Names are as in Java, and borrowed for the call. */
struct bbf_plan_site {
    const char *class_name; /* dotted or with slashes */
    const char *method;
    const char *descriptor; /* "" where there is none */
    enum bbf_site_kind kind;
    enum bbf_memory memory; /* roots */
    bool harmless;          /* roots: an unreleased buffer costs nothing */
    uint32_t line;          /* of the method's first instruction; 0: not known */
    const char *enclosing;  /* "a/Owner.method": what the class was written in; "": no method */
};

/* What a class's methods do with buffers: records of core/facts.h. Borrowed for the call. */
struct bbf_plan_facts {
    struct bbf_cf_str class_name, super_name; /* internal */
    const struct bbf_fact_block *block;
};

/* The caller's numbering of sites, and its store of facts (NULL: none). `number` returns 0 at its
 * limit; the hook is then left out. Any thread calls it. */
struct bbf_plan_sites {
    uint32_t (*number)(void *ctx, const struct bbf_plan_site *site);
    void (*keep_facts)(void *ctx, const struct bbf_plan_facts *facts);
    void *ctx;
};

/* A type that was classified for facts (instrument/uses.c); the name is the class file's. */
enum { BBF_PLAN_SEEN_TYPES = 32 };
struct bbf_plan_seen_type {
    struct bbf_cf_str name;
    unsigned kind;
};

enum { BBF_PLAN_NO_SLOT = 0xffff };
struct bbf_plan_class;
typedef enum bbf_type bbf_plan_type_of(const struct bbf_plan_class *c, const char *name,
                                       size_t len);

/* What one class gets. */
struct bbf_plan_class {
    const struct bbf_plan_sites *sites;
    const struct bbf_rules *rules;
    struct bbf_cf_str name;
    size_t buffer_prefix;   /* of a class in Netty's buffer package that has hooks, else 0 */
    bool is_refcount_class; /* Netty's own */
    bool releases_itself;   /* and it has no handleRelease() (before 4.1.35) */
    bool steps;             /* included */
    bool skip_forwarders; /* a class of Netty that include= does not name: fewer steps (ADR 32, 36)
                           */
    bool constructors;    /* trackConstructors */
    bool throws_refcount_error;    /* that a buffer was used after its release */
    bool reports_oom;              /* that direct memory ran out */
    bool touches, gets_exceptions; /* context=on: Netty's, with those methods */
    bool has_scopes;               /* scopes=on: one of instrument/scopes.c */
    bool is_jdk;                   /* that class is the JDK's: BBF_PLAN_JDK_BITS */
    /* The value of track=, NULL without it. The inserted calls of constructors and closing methods
     * test the object's class, because the classes that a class inherits from are not known
     * here. */
    const char *tracks;
    const struct bbf_cf_method *method; /* whose calls are being planned */
    uint16_t channel_slot;              /* its parameter with a channel; BBF_PLAN_NO_SLOT: none */
    bool named;                         /* an entry of track= names the class itself */
    /* Both known after bbf_plan_inspect() alone. */
    bool closes;               /* it declares a method named as a closing one */
    bool clones;               /* its constants may contain the name `clone` */
    bbf_plan_type_of *type_of; /* for facts */
    struct bbf_plan_seen_type seen_types[BBF_PLAN_SEEN_TYPES];
    bool may_carry; /* its constants may contain the type of a carrier's field, or a carrier */
    bool copies;    /* and its superclass may be a buffer, which super.clone() copies (ADR 34) */
};

#endif
