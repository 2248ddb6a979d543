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

#endif
