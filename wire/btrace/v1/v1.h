/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/v1.h - the BTrace v1 commands (Java serialization) as the values of
 * wire/btrace/command.h: what the stock 2.2.6 client and agent speak. Knows no socket. Source:
 * docs/btrace-wire.md 4; Java Object Serialization Specification, chapter 6 (grammar).
 *
 * A v1 stream has a header, no frames, and state: objects may refer to earlier ones. So reading
 * needs a reader for each direction of each connection; writing needs none, because each command
 * is preceded by a reset and refers to nothing.
 *
 * What v1 has and v2 has not: a grid's format is text[1] of GRID_DATA ("" = none), in both
 * directions. What v2 has and v1 has not: columns of a grid, index and total of RETRANSFORM_CLASS.
 * A Throwable becomes class, message and the text that printStackTrace() would give; an object of
 * another class in a cell becomes the text of its arrays.
 *
 * Threads: one owner of a reader.
 */
#ifndef BBF_WIRE_BTRACE_V1_H
#define BBF_WIRE_BTRACE_V1_H

#include "wire/btrace/command.h"
#include "wire/btrace/pieces.h"

/* What both sides send first: STREAM_MAGIC, STREAM_VERSION. */
#define BBF_V1_HEADER "\xAC\xED\x00\x05"
enum { BBF_V1_HEADER_LEN = 4 };

struct bbf_v1_reader;

/* NULL without memory. Owned by the caller. */
struct bbf_v1_reader *bbf_v1_reader_new(const struct bbf_wire_limits *limits);
void bbf_v1_reader_free(struct bbf_v1_reader *reader); /* NULL is allowed */
/* Bytes that it takes: objects since the last reset, and room for those of a command. 0 for NULL.
 */
size_t bbf_v1_reader_bytes(const struct bbf_v1_reader *reader);
/* Between commands: give back what no object is kept in. */
void bbf_v1_reader_trim(struct bbf_v1_reader *reader);

/*
 * The next command of a stream, behind the header. As bbf_command_decode(): BBF_OK with *used;
 * BBF_EMORE with *used = the length below which trying again is in vain, and the same bytes are to
 * be given again, with more; other errors end the connection.
 */
int bbf_v1_decode(struct bbf_v1_reader *reader, struct bbf_command *out, const uint8_t *in,
                  size_t len, size_t *used, const char **why);

/*
 * Append a command, with a reset before it if `reset` (not needed for the first of a stream). Any
 * null string is "". Errors: BBF_ENOMEM; BBF_EINVAL (a value that v1 cannot say, a text of more
 * than 65,535 bytes where v1 has no longer one, BigInteger or BigDecimal text that is no number):
 * nothing is appended then.
 */
int bbf_v1_encode(struct bbf_buf *out, const struct bbf_command *command, bool reset);
/* The same command as pieces, in place of what *out had: its long texts and code are not copied
 * (each is a block of its own), so they are to stay as they are until these are sent. *out is empty
 * on error. */
int bbf_v1_encode_pieces(struct bbf_pieces *out, const struct bbf_command *command, bool reset);

#endif
