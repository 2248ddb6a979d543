/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/dump.h - dump=DIR: each instrumented class as it was and as it became, for a person
 * to look at. Written in the thread that loads the class, by core/file.h, so nothing in the folder
 * can hold it. The first failure is logged; all are counted, and each report has a note.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_CLASSES_DUMP_H
#define BBF_AGENT_CLASSES_DUMP_H

#include <stddef.h>

#include "core/buf.h"

/* Write DIR/NAME.WHAT.class; name: "com/app/Main". Nothing without the option. */
void bbf_dump(const char *name, const char *what, const unsigned char *bytes, size_t len);
/* Can a file be made in the folder? Errors of core/file.h, `why` filled. */
int bbf_dump_check(const char *folder, char *why, size_t why_size);
/* How many class files could not be written, and why the first could not; nothing if all were. */
void bbf_dump_note(struct bbf_buf *out);

#endif
