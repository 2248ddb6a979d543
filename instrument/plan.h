/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/plan.h - decides which calls are inserted into which method (design.md: insertion):
 * Netty's own hooks, and the steps of included classes. Turns names and descriptors into
 * bbf_cf_plan; knows no JVM.
 *
 * Threads: any; rules never change once published.
 */
#ifndef BBF_INSTRUMENT_PLAN_H
#define BBF_INSTRUMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "classfile/classfile.h"
#include "core/option.h"
#include "core/terms.h"

/* Which classes are followed: a copy of the options that decide this. Immutable. */
struct bbf_rules {
    struct bbf_options options;
};

/* A step or root that a hook reports by number. Names are as in Java, and borrowed for the call. */
struct bbf_plan_site {
    const char *class_name; /* dotted or with slashes */
    const char *method;
    const char *descriptor; /* "" if it has none */
    enum bbf_site_kind kind;
    enum bbf_memory memory; /* roots */
    bool harmless;          /* roots: an unreleased buffer costs nothing */
};

/* The caller's numbering of sites. `number` returns 0 at its limit; the hook is then left out. Any
 * thread calls it. */
struct bbf_plan_sites {
    uint32_t (*number)(void *ctx, const struct bbf_plan_site *site);
    void *ctx;
};

/* The plan of one class. */
struct bbf_plan_class {
    const struct bbf_plan_sites *sites;
    const struct bbf_rules *rules;
    struct bbf_cf_str name;
    size_t buffer_prefix; /* of a class in Netty's buffer package that has hooks, else 0 */
    bool counts;          /* is Netty's counting class */
    bool steps;           /* included */
    bool terse;        /* a class of Netty that include= does not name: fewer steps (ADR 32, 36) */
    bool constructors; /* trackConstructors */
    bool refused;      /* the exception for a use after release */
    bool exhausted;    /* the error for exhausted direct memory, or the class that throws it */
    bool jdk;          /* that class is the JDK's: BBF_PLAN_JDK_BITS */
    /* The value of track=, NULL without it. The inserted calls of constructors and closing methods
     * test the object's class, because the classes that a class inherits from are not known
     * here. */
    const char *tracks;
    bool named; /* an entry of track= names the class itself */
    /* Both are set by bbf_plan_declares() only. */
    bool closes; /* it declares a method named as a closing one */
    bool clones; /* its constants may contain the name `clone` */
    bool copies; /* and its superclass may be a buffer, which super.clone() copies (ADR 34) */
};

/* The JDK's class that counts direct memory against -XX:MaxDirectMemorySize. It is the only class
 * of the boot loader that bbflow changes, and only with file=, because only that report needs
 * it. */
#define BBF_PLAN_JDK_BITS "java/nio/Bits"

/* Is it the class whose retain and release methods refs=on hooks? */
bool bbf_plan_counts(const char *name, size_t len);

/* Fill `plan` for a class name (internal). False: by its name, the class needs no hooks. */
bool bbf_plan_class(struct bbf_plan_class *plan, const char *name, size_t len,
                    const struct bbf_rules *rules, const struct bbf_plan_sites *sites);
/* Does the class have hooks, as far as is known now? (`tracks` alone does not count: the class must
 * be read first.) */
bool bbf_plan_hooks(const struct bbf_plan_class *plan);
/* Read the class bytes, whatever bbf_plan_class() returned, to find closing methods of track= and
 * calls of super.clone(). False: the class needs no hooks. */
bool bbf_plan_declares(struct bbf_plan_class *plan, const uint8_t *bytes, size_t len);
/* Is it a class that is never followed or tracked, whatever the options, because our own hooks run
 * in it? */
bool bbf_plan_never(const char *name, size_t len);
/* Is it beside a class or package that include= or trackConstructors= names (core/pattern.h)? */
bool bbf_plan_near(const char *name, size_t len, const struct bbf_rules *rules);
/* Do include, exclude and trackConstructors select the class (apart from Netty's own hooks)? */
bool bbf_plan_follows(const char *name, size_t len, const struct bbf_rules *rules);

/* The configuration for bbf_cf_rewrite(); ctx is a struct bbf_plan_class. */
void bbf_plan_config(struct bbf_cf_config *config, struct bbf_plan_class *plan);

#endif
