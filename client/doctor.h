/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/doctor.h - `bbflow doctor`: why is nothing seen in a JVM, or less than expected? It only
 * reads: no attach, no signal, no file is made or removed.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_DOCTOR_H
#define BBF_CLIENT_DOCTOR_H

#include "client/client.h"
#include "client/findings.h"

/* Each JVM's findings with their remedies and the option for its next start. BBF_EXIT_LOST: one
 * finding at least keeps bbflow from seeing all. */
int bbf_verb_doctor(const struct bbf_command_line *request);

/* Apply all rules to the facts, and sort: what stops first. Free with bbf_findings_free(). */
void bbf_doctor_judge(struct bbf_findings *findings, const struct bbf_jvm_facts *facts,
                      const struct bbf_library_facts *library);

/* Append the findings as lines for a person, made safe. */
void bbf_doctor_text(struct bbf_buf *out, const struct bbf_jvm_facts *facts,
                     const struct bbf_findings *findings, const char *library);

/* Append one object of the array `jvms` of bbflow-doctor/1 (docs/bbflow-doctor-1.schema.json). */
void bbf_doctor_json(struct bbf_buf *out, const struct bbf_jvm_facts *facts,
                     const struct bbf_findings *findings, const char *library);

#endif
