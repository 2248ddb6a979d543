/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/origin.h - private to classfile/: lines of code (JVMS 4.7.12).
 *
 * Threads: no shared state.
 */
#ifndef BBF_CLASSFILE_ORIGIN_H
#define BBF_CLASSFILE_ORIGIN_H

#include "classfile/code.h"

#include <stdint.h>

/* The line of the instruction at `pc`; 0: the class file has none. */
uint32_t cf__line_at(const struct bbf_cf_code *code, uint32_t pc);

#endif
