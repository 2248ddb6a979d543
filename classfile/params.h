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
    CF__PARAMS_HANDLERS = 32,  /* of which it is known what they take */
    CF__PARAMS_HELD = 32,      /* origins that are watched for exceptions */
    CF__PARAMS_HANDED = 31,    /* calls with an origin, likewise */
    CF__PARAMS_PENDING = 512,  /* calls of a method, before they are sifted */
    CF__PARAMS_THROWS = 8,     /* of a method, after that */
    CF__PARAMS_FRAME = 1024,   /* locals and stack */
    CF__PARAMS_SLOTS = 1 << 17 /* of all frames of a method: 1 MiB */
};

/* A call that may throw, until the method's handlers are known. */
struct cf__pending {
    uint32_t held, passed, handlers;
    uint16_t pc, index; /* of the method in the constant pool; 0: a throw of no known class */
    uint8_t rank;       /* as may_throw() has it; 0: a throw */
    bool is_throw;
};

/* The exceptions of one method: the first entries of each table are valid. */
struct cf__throws {
    uint32_t n_handlers;
    uint8_t handler_of[CF__PARAMS_RANGES]; /* by range; CF__PARAMS_HANDLERS: of no known one */
    uint16_t handler[CF__PARAMS_HANDLERS]; /* where it begins */
    uint32_t takes[CF__PARAMS_HANDLERS];   /* origins that it takes */
    uint32_t calls[CF__PARAMS_HANDLERS];   /* calls that it makes */
    uint16_t taken_at[CF__PARAMS_HELD];    /* by origin: where it is taken last, in the code */
    unsigned more;
};

/* Room that all methods of a class share, and what was found. All bytes zero: empty. */
struct cf__params {
    struct cf__out records;  /* of the class */
    struct cf__out calls;    /* of the current method */
    struct cf__out frames;   /* likewise: struct bbf_fact_call, uint64_t */
    struct cf__out frame_of; /* by pc, uint16_t: its frame's number, 0: none */
    struct cf__out pending;  /* of the current method: struct cf__pending */
    struct cf__out names;    /* of the class */
    struct cf__out name_of;  /* pairs of uint16_t: of this method of the constant pool, this name */
    uint32_t n_facts;        /* parameters, calls and throws */
    struct cf__throws throws;
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
