/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/findings.h - what `bbflow doctor` finds, and the rules that find it: pure functions of the
 * facts about a JVM (client/jvm_facts.h) and our library.
 *
 * Threads: one owner. Texts may have hostile names in them, which the printer makes safe.
 */
#ifndef BBF_CLIENT_FINDINGS_H
#define BBF_CLIENT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "client/jvm_facts.h"

/* It keeps bbflow from seeing anything; from seeing some of it, or costs more; it is only good to
 * know. */
enum bbf_severity { BBF_STOPS, BBF_LIMITS, BBF_KNOW };

struct bbf_finding {
    enum bbf_severity severity;
    const char *id; /* "attach-off", the same in later versions */
    char *what, *where, *remedy;
};

struct bbf_findings {
    struct bbf_finding *items;
    size_t count;
    bool failed; /* out of memory: some are missing */
    char *next;  /* the option for the next start; NULL: none can be given */
    bool copy;   /* the library must be put at its path first */
};

/* "stops", "limits", "note" */
const char *bbf_severity_name(enum bbf_severity severity);

/* Add one with a text of each part; `where` may be "". The texts are copied. */
void bbf_findings_add(struct bbf_findings *findings, enum bbf_severity severity, const char *id,
                      const char *what, const char *where, const char *remedy);

/* A short-lived text, for the parts above: one of a few buffers that are used in turn. */
const char *bbf_findings_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is there one that stops or limits? */
bool bbf_findings_matter(const struct bbf_findings *findings);

void bbf_findings_free(struct bbf_findings *findings);

/* ---- Rules: the findings in `facts` ---------------------------------------------------------- */

/* Can the agent be loaded, is it, and does it answer? client/doctor_start.c */
void bbf_doctor_start(struct bbf_findings *findings, const struct bbf_jvm_facts *facts,
                      const struct bbf_library_facts *library);

/* What does it see, and what not? client/doctor_seen.c */
void bbf_doctor_seen(struct bbf_findings *findings, const struct bbf_jvm_facts *facts);

#endif
