/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/frames.h - StackMapTable (JVMS 4.7.4) and the CLDC StackMap attribute.
 *
 * The types in a frame stay as they are, because no local is added and the stack at a frame does
 * not change. Only offsets change: the deltas, and the offsets of Uninitialized(new).
 *
 * Threads: no shared state.
 */
#ifndef BBF_CLASSFILE_FRAMES_H
#define BBF_CLASSFILE_FRAMES_H

#include "classfile/bytes.h"
#include "classfile/code.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Append the contents of a StackMapTable (without its 6 header bytes) to `out`, with new offsets.
 * False: malformed, or a frame type or verification type that is not known (such as 246,
 * early_larval of Valhalla).
 */
bool cf__frames_move(const struct cf__map *map, const uint8_t *p, uint32_t len,
                     struct cf__out *out);

/*
 * Does every StackMapTable frame of the method have a type of the parameter's `kind` (struct
 * cf__param) in local `slot`? A compiler may drop dead parameters from its frames. True below
 * version 50, where the verifier infers types. uninitializedThis counts as a reference.
 */
bool cf__frames_keep(const struct bbf_cf_code *code, uint32_t slot, char kind);

/*
 * Read the stack depths from the StackMapTable: at each frame depth[pc] = 1 + the depth in slots;
 * other entries do not change. *deepest is the greatest depth; *dangling is set if a type's index
 * is past the constant pool. False: there is no table. Of a malformed table, the frames before the
 * fault are read.
 */
bool cf__frames_depths(const struct bbf_cf_code *code, uint16_t *depth, uint32_t *deepest,
                       bool *dangling);

/*
 * Update the offsets of a CLDC StackMap in place (they are absolute; HotSpot ignores the attribute,
 * old libraries contain it). False: malformed.
 */
bool cf__cldc_move(const struct cf__map *map, uint8_t *p, uint32_t len);

#endif
