/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/stack.h - what the verifier would refuse as it is, and accept as we write it:
 * code that needs more stack than its max_stack (ours is larger), and an index past the constant
 * pool (ours is longer). Such a method, or class, is left as it is, so that it goes on being
 * refused. Only a method whose max_stack would grow is asked. Source: JVMS (Java SE 25) 4.10.1.9
 * and 6.5 for what each instruction pops and pushes, 4.7.4 for the frames.
 *
 * Threads: no shared state.
 */
#ifndef BBF_CLASSFILE_STACK_H
#define BBF_CLASSFILE_STACK_H

#include "classfile/code.h"

#include <stdint.h>

enum cf__stack_result {
    CF__STACK_FITS,
    CF__STACK_DEEP,    /* deeper than max_stack somewhere */
    CF__STACK_DANGLING /* an index past the constant pool: in code, frames or the handlers */
};

/*
 * Walk code that cf__code_scan() has accepted. `depth` is room for code->len + 1 entries.
 *
 * Never says DEEP of a class that verifies; says FITS of what it cannot follow: where nothing tells
 * the depth (behind a jsr, in dead code without a frame), and of what is refused for another
 * reason.
 */
enum cf__stack_result cf__stack_check(const struct bbf_cf_code *code, uint16_t *depth);

#endif
