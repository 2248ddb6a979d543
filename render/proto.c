/* SPDX-License-Identifier: Apache-2.0 */
#include "render/proto.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static void tag(struct bbf_buf *out, unsigned field, unsigned type)
{
    bbf_proto_varint(out, field << 3 | type);
}

void bbf_proto_varint(struct bbf_buf *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    bbf_buf_add(out, bytes, n);
}

void bbf_proto_number(struct bbf_buf *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    tag(out, field, VARINT);
    bbf_proto_varint(out, value);
}

void bbf_proto_fixed64(struct bbf_buf *out, unsigned field, uint64_t value)
{
    char bytes[8];

    if (value == 0)
        return;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(value >> 8 * i);
    tag(out, field, FIXED64);
    bbf_buf_add(out, bytes, sizeof bytes);
}

void bbf_proto_bytes(struct bbf_buf *out, unsigned field, const void *bytes, size_t len)
{
    tag(out, field, BYTES);
    bbf_proto_varint(out, len);
    bbf_buf_add(out, bytes, len);
}

void bbf_proto_message(struct bbf_buf *out, unsigned field, struct bbf_buf *message)
{
    bbf_proto_bytes(out, field, message->data, message->len);
    out->failed = out->failed || message->failed;
    message->len = 0;
}
