/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/heal.h - makes metadata that every reader takes out of damaged ones.
 *
 * The JDK's parser refuses a whole file for one annotation without its value. So what it would
 * refuse is left out, and reported; types whose fields are all known stay as they are, with their
 * ids, so that their events can be read. A pool's type that is lost is replaced by one without
 * fields: its values are null.
 *
 * Threads: one at a time.
 */
#ifndef BBF_JFR_HEAL_H
#define BBF_JFR_HEAL_H

#include <stdint.h>

#include "core/buf.h"
#include "jfr/decode.h"

struct bbf_jfr_heal {
    /* May be NULL. `at`: offset in the event. `what` is constant text. */
    void (*lost)(void *ctx, uint64_t at, uint64_t len, const char *what);
    void *ctx;
    uint64_t id; /* of the new metadata: other than a neighbour's, whose types the JDK would take */
};

/* Append the metadata event at `event` to `out`, with all that can be kept; nothing is appended if
 * nothing is wrong with it. BBF_EFORMAT: it cannot be read at all; BBF_ENOMEM. */
int bbf_jfr_heal(struct bbf_buf *out, struct bbf_jfr_cursor event, const struct bbf_jfr_heal *heal);

#endif
