/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/print_value.h - what the text and the JSON form share: a number's meaning by its annotations,
 * and the walk over the events of a recording in the order of time.
 *
 * Threads: as jfr/print.h.
 */
#ifndef BBF_JFR_PRINT_VALUE_H
#define BBF_JFR_PRINT_VALUE_H

#include <stdbool.h>

#include "jfr/format.h"
#include "jfr/print.h"
#include "jfr/value.h"

/* A number that is a time, a duration, or neither. */
struct bbf_jfr_moment {
    enum {
        BBF_JFR_NO_MOMENT,
        BBF_JFR_TIME,
        BBF_JFR_NO_TIME,
        BBF_JFR_SPAN,
        BBF_JFR_NO_SPAN,
        BBF_JFR_FOREVER
    } what;                       /* NO_…: the value that stands for "not known" */
    int64_t epoch_ns;             /* TIME */
    struct bbf_jfr_duration span; /* SPAN */
};

struct bbf_jfr_moment bbf_jfr_moment_of(const struct bbf_jfr_chunk *chunk,
                                        const struct bbf_jfr_value *value);

/* One more value of the event; false: it has too many. *left is how many it may have yet. */
bool bbf_jfr_take_value(struct bbf_jfr_recording *recording, unsigned *left);

/* Call `each` for the events that `how` wants, chunk by chunk. Result as in jfr/print.h. */
int bbf_jfr_each_event(struct bbf_jfr_recording *recording, const struct bbf_jfr_print *how,
                       void (*each)(void *ctx, const struct bbf_jfr_chunk *chunk,
                                    const struct bbf_jfr_event *event),
                       void *ctx);

#endif
