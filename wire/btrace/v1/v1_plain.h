/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/v1_plain.h - the short way through a v1 stream, for commands without objects:
 * nearly all that clients send, and all reports. Whatever is not as expected is left to
 * wire/btrace/v1/v1_decode.c, which knows every case and says what is wrong.
 *
 * Threads: any, no state.
 */
#ifndef BBF_WIRE_BTRACE_V1_PLAIN_H
#define BBF_WIRE_BTRACE_V1_PLAIN_H

#include "wire/btrace/command.h"

/*
 * Decode the command at `in`, between two blocks: EVENT, RENAME, DISCONNECT, RECONNECT, EXIT,
 * STATUS, RETRANSFORMATION_START, INSTRUMENT, MESSAGE, STRING_MAP or a list. True: *out is filled,
 * *used bytes belong to it. False: nothing was done, because the command has objects, is
 * incomplete, ends inside a block, has a text in two blocks, is a MESSAGE that is not ASCII, has a
 * negative count, or exceeds `limits` (or half of a frame).
 */
bool bbf_v1_plain(struct bbf_command *out, const uint8_t *in, size_t len, size_t *used,
                  const struct bbf_wire_limits *limits);

/* For tests: make a reader never take the fast path. */
struct bbf_v1_reader;
void bbf_v1_reader_the_long_way(struct bbf_v1_reader *reader);

#endif
