/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/params.h - what a method does with its parameters, by one linear pass over its code:
 * the locals and the stack hold sets of origins instead of values. Jumps carry their frame forward
 * and frames are merged there; backward jumps are not followed, so a value that comes back only in
 * a loop's next turn is missed (ADR 44: 0.1-0.5 % of the verdicts). The result is core/facts.h's.
 *
 * Threads: no shared state. Memory: bounded by the limits below; what exceeds one has no facts but
 * BBF_FACT_UNKNOWN.
 */
#ifndef BBF_CLASSFILE_PARAMS_H
#define BBF_CLASSFILE_PARAMS_H

#include "classfile/bytes.h"
#include "classfile/classfile.h"

#include <stdint.h>

enum {
    CF__PARAMS_ORIGINS = 64, /* bits of a set */
    CF__PARAMS_CALLS = 1024,
    CF__PARAMS_RANGES = 128,   /* entries of the exception table */
    CF__PARAMS_FRAME = 1024,   /* locals and stack */
    CF__PARAMS_SLOTS = 1 << 17 /* of all frames of a method: 1 MiB */
};

/* Room that all methods of a class share, and what was found. All bytes zero: empty. */
struct cf__params {
    struct cf__out records;  /* of the class */
    struct cf__out calls;    /* of the current method */
    struct cf__out frames;   /* likewise: struct bbf_fact_call, uint64_t */
    struct cf__out frame_of; /* by pc, uint16_t: its frame's number, 0: none */
    uint32_t n_facts;        /* parameters and calls */
};

/*
 * Append a record of `method`, unless it would be empty. `followed`: code is inserted into it.
 * `marks` are those of cf__code_scan(); only the bit CF__RANGE is written. Does not fail: without
 * memory a buffer has `failed` set.
 */
void cf__params_method(struct cf__params *params, const struct bbf_cf_config *config,
                       const struct bbf_cf_method *method, bool followed, uint8_t *marks);
void cf__params_free(struct cf__params *params);

#endif
