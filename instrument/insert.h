/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/insert.h - private to instrument/: the shim's methods that inserted calls name, and
 * helpers that build a call and its site. No state; threads: any.
 */
#ifndef BBF_INSTRUMENT_INSERT_H
#define BBF_INSTRUMENT_INSERT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "classfile/classfile.h"
#include "core/terms.h"
#include "instrument/class_plan.h"

/* ---- targets in the shim ---- */

#define O "Ljava/lang/Object;"
#define TARGETS(XX)                                                                                \
    XX(STEP, "step", "(" O "I)V")                                                                  \
    XX(STEP2, "step2", "(" O O "I)V")                                                              \
    XX(STEP_OBJECT, "stepObject", "(" O "I)V")                                                     \
    XX(EXIT, "exit", "(" O O "I)V")                                                                \
    XX(EXIT2, "exit2", "(" O O O "I)V")                                                            \
    XX(EXIT_WALK, "exitWalk", "(" O "II)V")                                                        \
    XX(ROOT, "root", "(" O "II)V")                                                                 \
    XX(ROOT_KEEP, "rootKeep", "(" O "II)V")                                                        \
    XX(RELEASE, "release", "(" O "Z)V")                                                            \
    XX(RELEASE_N, "releaseN", "(" O "I)V")                                                         \
    XX(RECOUNT, "recount", "(" O "I)V")                                                            \
    XX(COPIED, "copied", "(" O O ")V")                                                             \
    XX(GIVEN_BACK, "givenBack", "(" O ")V")                                                        \
    XX(REFS, "refs", "(" O "I)V")                                                                  \
    XX(DERIVE, "derive", "(" O O "I)V")                                                            \
    XX(RESIZED, "resized", "(" O "I)V")                                                            \
    XX(ALIAS, "alias", "(" O O ")V")                                                               \
    XX(WRAP, "wrap", "(" O O ")V")                                                                 \
    XX(ALIAS_TEST, "aliasObject", "(" O O ")V")                                                    \
    XX(NEVER, "never", "(" O ")V")                                                                 \
    XX(CHUNK, "chunk", "(" O ")V")                                                                 \
    XX(UNRELEASABLE, "unreleasable", "(" O O ")V")                                                 \
    XX(REPORT_ACCESS, "reportAccess", "(" O ")V")                                                  \
    XX(EXHAUSTED, "exhausted", "()V")                                                              \
    XX(ADOPT, "adopt", "(" O O ")V")                                                               \
    XX(ADOPT_ALL, "adoptAll", "(" O O ")V")                                                        \
    XX(ADOPT_LAST, "adoptLast", "(" O ")V")                                                        \
    XX(DISOWN, "disown", "(" O "II)V")                                                             \
    XX(MADE, "made", "(" O ")V")                                                                   \
    XX(CLOSED, "closed", "(" O "I)V")                                                              \
    XX(CHECK_USE, "checkUse", "(" O "I)V")                                                         \
    XX(CONFIRM_MISUSE, "confirmMisuse", "()V")                                                     \
    XX(COUNTING, "counting", "(" O "I)V")
/* Those of context=on have a class of their own. */
#define CONTEXT_TARGETS(XX)                                                                        \
    XX(STEP_SEEN, "stepSeen", "(" O "I)V")                                                         \
    XX(STEP_SEEN_IN, "stepSeenIn", "(" O O "I)V")                                                  \
    XX(TOUCHED, "touched", "(" O O ")V")                                                           \
    XX(CAUGHT, "caught", "(" O "I)V")                                                              \
    XX(PIPELINE_CAUGHT, "pipelineCaught", "(" O O ")V")
/* Those of scopes=on, likewise. */
#define SCOPE_TARGETS(XX)                                                                          \
    XX(MADE_CHANNEL, "madeChannel", "(" O ")V")                                                    \
    XX(READS, "reads", "(" O ")V")                                                                 \
    XX(FIRES, "fires", "(" O ")V")                                                                 \
    XX(QUEUES, "queues", "(" O ")V")                                                               \
    XX(RUNS_SAFELY, "runsSafely", "(" O ")V")                                                      \
    XX(RUNS, "runs", "(" O ")V")

enum target {
#define XX(id, name, descriptor) TARGET_##id,
    TARGETS(XX) CONTEXT_TARGETS(XX) SCOPE_TARGETS(XX)
#undef XX
        N_TARGETS
};

/* ---- small builders ---- */

enum { ACC_STATIC = 8, ACC_BRIDGE = 0x40, ACC_INTERFACE = 0x200 }; /* JVMS table 4.6-A */

static inline struct bbf_cf_call call_of(enum target target)
{
    return (struct bbf_cf_call){.target = (uint16_t)target};
}

static inline void push(struct bbf_cf_call *call, enum bbf_cf_push kind, uint32_t value)
{
    call->args[call->n_args].push = (uint8_t)kind;
    call->args[call->n_args++].value = value;
}

static inline bool same(struct bbf_cf_str s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.s, text, s.len) == 0;
}

static inline bool head(struct bbf_cf_str s, const char *text)
{
    size_t k = strlen(text);
    return s.len >= k && memcmp(s.s, text, k) == 0;
}

static inline bool tail(struct bbf_cf_str s, const char *text)
{
    size_t k = strlen(text);
    return s.len >= k && memcmp(s.s + s.len - k, text, k) == 0;
}

static inline bool has(struct bbf_cf_str s, const char *text)
{
    return s.len > 0 && memmem(s.s, s.len, text, strlen(text)) != NULL;
}

static inline void plan_entry(struct bbf_cf_plan *plan, struct bbf_cf_call call)
{
    plan->entry[plan->n_entry++] = call;
}

/* Intern a site. Returns its number; 0 at the limit, or if a name is longer than any JVM tool
 * prints. Names are borrowed for the call; `suffix` is appended to the method's name. */
uint32_t bbf__plan_site(const struct bbf_plan_class *c, enum bbf_site_kind kind,
                        struct bbf_cf_str class_name, struct bbf_cf_str method, const char *suffix,
                        struct bbf_cf_str descriptor, enum bbf_memory memory, bool harmless);

#endif
