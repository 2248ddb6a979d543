/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/debug.h - the attributes of Code that the verifier does not read: line and local tables
 * (JVMS 4.7.12-14) and type annotations (4.7.20). All offsets are updated in place, in the copy.
 *
 * Offset 0 stays 0, so that the prologue belongs to the first line and parameters are visible in
 * it. Offsets may point inside an instruction (obfuscators).
 *
 * Threads: no shared state. Errors: false is "malformed", which HotSpot's format check refuses
 * (ClassFileParser::parse_linenumber_table and so on).
 */
#ifndef BBF_CLASSFILE_DEBUG_H
#define BBF_CLASSFILE_DEBUG_H

#include "classfile/code.h"

#include <stdbool.h>
#include <stdint.h>

bool cf__lines_move(const struct cf__map *map, uint8_t *p, uint32_t len);
/* LocalVariableTable and LocalVariableTypeTable. */
bool cf__locals_move(const struct cf__map *map, uint8_t *p, uint32_t len);

/*
 * Runtime(In)VisibleTypeAnnotations. Tolerant, because javac writes odd ones and HotSpot only
 * stores them: from the first unknown item to the end the bytes stay as they are. An offset that
 * names an instruction is moved to the instruction itself (P), not to the code inserted before it.
 */
void cf__annotations_move(const struct cf__map *map, uint8_t *p, uint32_t len);

#endif
