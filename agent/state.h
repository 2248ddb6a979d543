/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/state.h - the one agent of a process: its JVMTI environments, tracker, options and threads.
 *
 * Two environments (design.md: hidden field): `field` adds the hidden field to ByteBuf and is not
 * retransform-capable, so that its bytes are the base of all agents' retransformations; `code`
 * changes method bodies only.
 *
 * Threads: as noted at each field.
 */
#ifndef BBF_AGENT_STATE_H
#define BBF_AGENT_STATE_H

#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "classfile/classfile.h"
#include "instrument/plan.h"
#include "core/option.h"
#include "trie/trie.h"
#include "wire/server/server.h"

/* The agent's phase; agent/lifecycle.h has a drawing. */
enum bbf_phase { BBF_PHASE_OUT, BBF_PHASE_ATTACHING, BBF_PHASE_IN, BBF_PHASE_DETACHING };

enum { BBF_MAX_NETTYS = 32, BBF_MAX_PREFIX = 200 };

/* A ByteBuf class that was met: one per prefix and kind of treatment. */
struct bbf_netty_seen {
    char prefix[BBF_MAX_PREFIX]; /* "io.netty" */
    bool has_field;
    const char *why; /* constant text when it has none */
};

struct bbf_agent {
    JavaVM *vm;
    jvmtiEnv *field, *code;
    int jdk; /* 11, 17, 21, 25, … */
    struct bbf_tracker *tracker;
    _Atomic(const struct bbf_rules *)
        rules;                     /* replaced as a whole; readers hold it by agent/rules.h */
    struct bbf_carriers *carriers; /* made by the first attach that needs them, never freed */
    struct bbf_options options;    /* in force; under lock */
    pthread_mutex_t lock;
    struct timespec started;
    _Atomic int phase;     /* enum bbf_phase */
    _Atomic bool attached; /* not there since the JVM's start */

    /* class load hooks: any thread, atomics */
    _Atomic uint64_t classes[BBF_CF_CLASS_RESULTS];
    _Atomic uint64_t methods[BBF_CF_METHOD_RESULTS];
    _Atomic uint64_t hooked, rewrite_ns, retransform_failed;
    _Atomic uint64_t followed_classes; /* matched by include and changed */
    _Atomic bool netty_loaded;
    pthread_mutex_t seen_lock;
    struct bbf_netty_seen seen[BBF_MAX_NETTYS];
    size_t n_seen;

    /* shim */
    jclass shim, natives, track, kind, exit; /* global references; exit: with gc=exit only */
    jobjectArray slots;
    jobject group; /* the thread group "system", global reference, or NULL */
    jfieldID tid;  /* Thread.tid */

    _Atomic bool dying;
    _Atomic(const char *) off_why; /* the reason why tracking is off, NULL = it is on */
    struct bbf_server *server;
    char uuid[37];
};

extern struct bbf_agent bbf_agent;

/* The limits among the options. */
static inline struct bbf_limits bbf_limits_of(const struct bbf_options *o)
{
    return (struct bbf_limits){.max_nodes = o->max_nodes,
                               .max_depth = o->max_depth,
                               .max_children = o->max_children,
                               .max_lives = o->max_lives,
                               .max_elements = o->max_elements,
                               .max_sites = o->max_sites,
                               .max_facts = o->max_facts,
                               .max_growth = o->max_growth,
                               .growth_seconds = o->growth_seconds,
                               .growth_keep = o->growth_keep,
                               .context_keep = o->context_keep,
                               .max_contexts = o->max_contexts,
                               .memory = o->memory,
                               .age = o->age,
                               .usage = o->usage};
}

/* Turn tracking off for good after an internal fault. Logs `why`, a constant text, once; the server
 * reports it from then on. Any thread. */
void bbf_agent_disable(const char *why);

#endif
