/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/doctor_show.h - the findings of `bbflow doctor` as text and as JSON.
 *
 * Threads: one owner of `out`.
 */
#ifndef BBF_CLIENT_DOCTOR_SHOW_H
#define BBF_CLIENT_DOCTOR_SHOW_H

#include "client/findings.h"
#include "core/buf.h"

/* Append the findings as lines for a person, made safe. */
void bbf_doctor_text(struct bbf_buf *out, const struct bbf_jvm_facts *facts,
                     const struct bbf_findings *findings, const char *library);

/* Append one object of the array `jvms` of bbflow-doctor/1 (docs/bbflow-doctor-1.schema.json). */
void bbf_doctor_json(struct bbf_buf *out, const struct bbf_jvm_facts *facts,
                     const struct bbf_findings *findings, const char *library);

#endif
