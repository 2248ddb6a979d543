/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/v1/v1.h - the BTrace v1 commands (Java serialization) as the values of
 * wire/btrace/command.h: what the stock 2.2.6 client and agent speak. Knows no socket. Source:
 * docs/btrace-wire.md 4; Java Object Serialization Specification, chapter 6 (grammar).
 *
 * A v1 stream has a header, no frames, and state: objects may refer to earlier ones. So each
 * direction of each connection needs a reader; a writer has no state, because a reset precedes each
 * command, which then refers to no earlier object.
 *
 * Only v1 has a grid's format: text[1] of GRID_DATA ("" = none), in both directions. Only v2 has
 * columns of a grid, and index and total of RETRANSFORM_CLASS. A Throwable becomes class, message
 * and the text that printStackTrace() would give; an object of another class in a cell becomes the
 * text of its arrays.
 *
 * Threads: one owner of a reader.
 */
#ifndef BBF_WIRE_BTRACE_V1_H
#define BBF_WIRE_BTRACE_V1_H

#include "wire/btrace/command.h"
#include "wire/btrace/pieces.h"

/* The header that both sides send first: STREAM_MAGIC, STREAM_VERSION. */
#define BBF_V1_HEADER "\xAC\xED\x00\x05"
enum { BBF_V1_HEADER_LEN = 4 };

struct bbf_v1_reader;

/* NULL without memory. Owned by the caller. */
struct bbf_v1_reader *bbf_v1_reader_new(const struct bbf_wire_limits *limits);
void bbf_v1_reader_free(struct bbf_v1_reader *reader); /* NULL is allowed */
/* Bytes of memory that it uses: objects since the last reset, and room for those of a command. 0
 * for NULL. */
size_t bbf_v1_reader_bytes(const struct bbf_v1_reader *reader);
/* Between commands: free the memory in which no object is kept. */
void bbf_v1_reader_trim(struct bbf_v1_reader *reader);

/*
 * Decode the next command of a stream, after the header. Like bbf_command_decode(): BBF_OK with
 * *used; BBF_EMORE with *used = the length below which another try cannot succeed: call again with
 * the same bytes and more; other errors end the connection.
 */
int bbf_v1_decode(struct bbf_v1_reader *reader, struct bbf_command *out, const uint8_t *in,
                  size_t len, size_t *used, const char **why);

/*
 * Append a command, with a reset before it if `reset` (not needed for the first command of a
 * stream). A null string is written as "". Errors: BBF_ENOMEM; BBF_EINVAL (a value that v1 cannot
 * express, a text of more than 65,535 bytes where v1 allows no longer one, BigInteger or BigDecimal
 * text that is not a number). On an error nothing is appended.
 */
int bbf_v1_encode(struct bbf_buf *out, const struct bbf_command *command, bool reset);
/* The same command as pieces, which replace the contents of *out. Its long texts and code are not
 * copied (each is a block of its own), so the caller keeps them unchanged until the pieces are
 * sent. *out is empty on error. */
int bbf_v1_encode_pieces(struct bbf_pieces *out, const struct bbf_command *command, bool reset);

#endif
