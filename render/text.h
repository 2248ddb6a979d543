/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/text.h - small pieces that the text renders share: text made safe for a terminal, bytes
 * for a person, the percentage of two counts, words for enums.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_TEXT_H
#define BBF_RENDER_TEXT_H

#include "core/buf.h"
#include "core/safe.h"
#include "snapshot/snapshot.h"

/* A value from outside, as bbf_safe_add() has it; `also` as there. */
void bbf_text_safe(struct bbf_buf *out, const char *text, char also);

/* "512 B", "10.2 KiB", "3.0 GiB": 1,024 a step, tenths rounded half up. */
void bbf_text_bytes(struct bbf_buf *out, uint64_t bytes);

/* "4711": quicker than printf(), for documents of a million rows. */
static inline void bbf_text_number(struct bbf_buf *out, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;

    do
        digits[--i] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    bbf_buf_add(out, digits + i, sizeof digits - i);
}

/* "97,588" */
void bbf_text_grouped(struct bbf_buf *out, uint64_t n);

/* "66.67%": part of whole in hundredths, rounded half up; "0.00%" of nothing. */
void bbf_text_percent(struct bbf_buf *out, uint64_t part, uint64_t whole);

/* "5.0%", "<0.1%": a part is never shown as 0% or 100%. */
void bbf_text_share(struct bbf_buf *out, uint64_t part, uint64_t whole);

/* "direct", "heap", "composite", "unknown". */
const char *bbf_memory_name(enum bbf_memory memory);

/* "10.2 KiB heap"; of a composite without bytes of its own who has them. */
void bbf_text_lost_bytes(struct bbf_buf *out, uint64_t bytes, enum bbf_memory memory);

/* The loss of a leak: "lost for good", …; "" if it is not known. */
const char *bbf_lost_text(enum bbf_lost lost);

/*
 * Who opened the lives of a leak row: "worker-3", "worker-3 (38 of 41)", "thread 17 (ended)";
 * nothing if that is not known. `also` as for bbf_text_safe().
 */
void bbf_text_opener(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                     const struct bbf_snap_leak *leak, char also);

/* The same without a snapshot: `part` of `count` lives are that thread's; `name` may be NULL. */
void bbf_text_thread_share(struct bbf_buf *out, const char *name, uint64_t id, uint64_t part,
                           uint64_t count, char also);

/* "0", "1", "3", "6": the least count of an enum bbf_bucket, as the text renders show it. */
const char *bbf_ref_name(uint8_t bucket);

#endif
