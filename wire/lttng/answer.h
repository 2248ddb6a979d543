/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/lttng/answer.h - what the application answers to a session daemon's commands, and what it
 * remembers of them. Knows no socket and no time.
 *
 * ENABLE is answered by success for every name, also one that bbflow does not have: the daemon
 * sends it to all JUL applications of the machine and stops at the first that fails.
 *
 * Threads: one owner.
 */
#ifndef BBF_WIRE_LTTNG_ANSWER_H
#define BBF_WIRE_LTTNG_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/lttng/codec.h"
#include "wire/lttng/enabled.h"

/* One connection. */
struct bbf_lttng_state {
    enum bbf_lttng_version version;
    const char *const *loggers; /* what LIST is answered: the caller's */
    size_t n_loggers;
    bool is_registered; /* the daemon has sent all that its sessions have enabled */
    struct bbf_lttng_enabled enabled;
};

/*
 * Take the first command of `in` and append its answer. BBF_OK; BBF_EFORMAT: it was malformed,
 * which was answered; BBF_EMORE; the connection has to end after BBF_ELIMIT, BBF_EVERSION and
 * BBF_ENOMEM. *used and *why: as bbf_lttng_decode().
 */
int bbf_lttng_answer(struct bbf_lttng_state *state, const uint8_t *in, size_t len, size_t *used,
                     const char **why, struct bbf_buf *out);

/* The connection has ended: the next one begins with nothing enabled. */
void bbf_lttng_state_clear(struct bbf_lttng_state *state);

#endif
