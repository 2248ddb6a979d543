/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/print.h - recordings as text and JSON, in the forms of the JDK's `jfr` tool (JDK 25): the
 * same fields, values and order, so that scripts for that tool take ours.
 *
 * Threads: one at a time per recording. Output: UTF-8 into the caller's buffer, which may have a
 * `flush`; text from the recording is escaped where a terminal could act on it.
 */
#ifndef BBF_JFR_PRINT_H
#define BBF_JFR_PRINT_H

#include <stdbool.h>

#include "core/buf.h"
#include "jfr/recording.h"

struct bbf_jfr_print {
    struct bbf_jfr_filter filter;
    unsigned stack_depth; /* frames of a stack that are shown */
    unsigned values_max;  /* of an event, with constants within constants; the rest is null, and
                           * counted as trouble. 0: BBF_JFR_VALUES_MAX */
    bool exact;           /* text: numbers in full */
};

/* The depth is the JDK's. A hostile file's constants can name each other so that one event has more
 * values than the file has bytes. */
enum { BBF_JFR_STACK_DEPTH = 5, BBF_JFR_VALUES_MAX = 1 << 20 };

/*
 * All return 0, or what bbf_jfr_next_chunk() stopped with once nothing more could be read (what was
 * read is in `out`); recording->trouble has the first thing that was wrong. BBF_ENOMEM; BBF_EIO:
 * the buffer's flush failed.
 */
int bbf_jfr_print_text(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                       const struct bbf_jfr_print *how);
int bbf_jfr_print_json(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                       const struct bbf_jfr_print *how);
/*
 * One line for each event: time, type, thread, name=value of the other fields, top frame. A value
 * with a space, a quotation mark, an equals sign or nothing in it is in quotation marks. And the
 * same as JSON: the objects of bbf_jfr_print_json() without line ends in them.
 */
int bbf_jfr_print_lines(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                        const struct bbf_jfr_print *how);
int bbf_jfr_print_json_lines(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                             const struct bbf_jfr_print *how);
/* Chunks, start, duration, and per event type count and bytes. */
int bbf_jfr_print_summary(struct bbf_buf *out, struct bbf_jfr_recording *recording);
/* Types, annotations and fields of the first chunk; of events only if the filter has something. */
int bbf_jfr_print_metadata(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                           const struct bbf_jfr_filter *filter);

#endif
