/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/stack.h - finds classes that the verifier refuses, but would accept after rewriting:
 * code that needs more stack than its max_stack (the new max_stack is larger), and an index past
 * the constant pool (the new pool is longer). Such a method, or class, is left as it is, so that
 * the verifier still refuses it. Only methods whose max_stack would grow are checked. Source: JVMS
 * (Java SE 25) 4.10.1.9 and 6.5 for what each instruction pops and pushes, 4.7.4 for the frames.
 *
 * Threads: no shared state.
 */
#ifndef BBF_CLASSFILE_STACK_H
#define BBF_CLASSFILE_STACK_H

#include "classfile/code.h"

#include <stdbool.h>
#include <stdint.h>

enum cf__stack_result {
    CF__STACK_FITS,
    CF__STACK_DEEP,    /* somewhere deeper than max_stack */
    CF__STACK_DANGLING /* an index past the constant pool: in code, frames or the handlers */
};

/*
 * Walk code that cf__code_scan() has accepted. `depth` has room for code->len + 1 entries.
 *
 * Never returns DEEP for a class that verifies. Returns FITS where it cannot follow: where the
 * depth is unknown (after a jsr, in dead code without a frame), and for code that is refused for
 * another reason.
 */
enum cf__stack_result cf__stack_check(const struct bbf_cf_code *code, uint16_t *depth);

/*
 * The slots that the instruction at `p` pops and pushes. False: its constant has the wrong type, or
 * its index is past the constant pool (then *dangling is set).
 */
bool cf__stack_effect(const struct cf__class *c, const uint8_t *p, unsigned *pops, unsigned *pushes,
                      bool *dangling);

/* The end of the field type or V at p; NULL: malformed. Adds its slots to *slots. */
const char *cf__type_skip(const char *p, const char *end, unsigned *slots);

/* Does the instruction never continue with the next one? (After a jsr it may, at another depth.) */
bool cf__ends_flow(uint8_t opcode);

#endif
