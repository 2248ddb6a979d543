/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/proto.h - fields of Protocol Buffers' wire format
 * (https://protobuf.dev/programming-guides/encoding/). A field that is 0 or empty is left out, as
 * proto3 has it; an element of a repeated field is not.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_PROTO_H
#define BBF_RENDER_PROTO_H

#include "core/buf.h"

void bbf_proto_varint(struct bbf_buf *out, uint64_t value);
/* uint64, int64 (as two's complement) and the like; nothing for 0. */
void bbf_proto_number(struct bbf_buf *out, unsigned field, uint64_t value);
void bbf_proto_fixed64(struct bbf_buf *out, unsigned field, uint64_t value);
/* A string, bytes, a packed list, or a message; also an empty one. */
void bbf_proto_bytes(struct bbf_buf *out, unsigned field, const void *bytes, size_t len);
/* The same of a buffer, which is empty afterwards. What failed in it has failed in `out`. */
void bbf_proto_message(struct bbf_buf *out, unsigned field, struct bbf_buf *message);

#endif
