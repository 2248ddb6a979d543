/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/dump.h - dump=DIR: writes each instrumented class, before and after, for a person
 * to read. The thread that loads the class writes it, by core/file.h, so no file in the folder can
 * block it. The first failure is logged; all are counted, and each report has a note.
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
/* How many class files could not be written, and the reason for the first; nothing if all were
 * written. */
void bbf_dump_note(struct bbf_buf *out);

#endif
