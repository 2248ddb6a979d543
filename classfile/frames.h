/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/frames.h - StackMapTable (JVMS 4.7.4) and the CLDC StackMap attribute.
 *
 * What a frame says stays as it is, since no local is added and the stack at a frame does not
 * change; only where it says it moves: the deltas and the offsets of Uninitialized(new).
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
 * Append the moved contents of a StackMapTable (without its 6 bytes of header) to `out`. False:
 * malformed, or a frame or verification type that is not known (as 246, early_larval of Valhalla).
 */
bool cf__frames_move(const struct cf__map *map, const uint8_t *p, uint32_t len,
                     struct cf__out *out);

/*
 * Does every StackMapTable frame of the method hold in local `slot` what `kind` (struct cf__param)
 * says the parameter there was? A compiler may drop dead parameters from its frames. True below
 * version 50, where the verifier infers types. uninitializedThis counts as a reference.
 */
bool cf__frames_keep(const struct bbf_cf_code *code, uint32_t slot, char kind);

/*
 * What the StackMapTable says of the stack: depth[pc] = 1 + its depth in slots at each frame;
 * others stay as they are. *deepest is the deepest; *dangling is set if a type's index lies past
 * the constant pool. False: there is no table. Of a malformed one the frames before the fault are
 * told.
 */
bool cf__frames_depths(const struct bbf_cf_code *code, uint16_t *depth, uint32_t *deepest,
                       bool *dangling);

/*
 * Move the contents of a CLDC StackMap (absolute offsets; HotSpot ignores it, old libraries ship
 * it) in place. False: malformed.
 */
bool cf__cldc_move(const struct cf__map *map, uint8_t *p, uint32_t len);

#endif
